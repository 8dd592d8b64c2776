"""Handed to page functions: the page's own values, the clock, other apps' states, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from screenloop.phone.commands import Do, SetLocal
from screenloop.phone.declare.cast import Cast
from screenloop.phone.declare.document import Doc, PageDoc
from screenloop.phone.declare.state import AppState
from screenloop.phone.declare.system import SystemState
from screenloop.phone.draw.canvas import Words
from screenloop.phone.draw.choosers import DateField, TimeField
from screenloop.phone.draw.inputs import (
    MONTHS,
    WEEKDAYS,
    Chip,
    Chips,
    Field,
    FieldKind,
    Stepper,
    Switch,
)
from screenloop.phone.draw.page import CANCEL, Dialog
from screenloop.phone.draw.widgets import Widget

V = TypeVar("V")
S = TypeVar("S", bound=AppState)
Title = tuple[str, str]
"""English, Chinese."""


class AppCard(Protocol):
    """What a page may know of an installed app."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> Title: ...
    @property
    def icon(self) -> str: ...
    @property
    def tint(self) -> str: ...
    @property
    def share_path(self) -> str:
        """Where shared things go; empty when it takes none."""


class Ui:
    """What a page may know besides its state. Pages are pure functions of both."""

    def __init__(
        self, doc: Doc, page: PageDoc, cast: Cast, app: str, apps: Mapping[str, AppCard]
    ) -> None:
        self._doc = doc
        self._page = page
        self._cast = cast
        self.app = app
        self.apps = apps
        """All apps of the device, by id."""
        self.now_s = doc.now_s
        self.system = self.of(SystemState)
        self.lang: str = self.system.language
        self.recents = doc.recents

    # ---- reading -------------------------------------------------------------------------

    def of(self, state: type[S]) -> S:
        """Return another app's state, to read."""
        return state(self._doc.apps[state.app_id].data, self._cast)

    def get(self, name: str, initial: V) -> V:
        """Return a value of the page."""
        value: V = self._page.locals.get(name, initial)
        return value

    def set(self, **values: Any) -> SetLocal:
        """Return the touch that sets values of the page."""
        return SetLocal(values=values)

    def t(self, en: str, zh: str) -> str:
        """Return the text in the device's language."""
        return zh if self.lang == "zh" else en

    # ---- inputs --------------------------------------------------------------------------

    def field(
        self,
        name: str,
        label: Words,
        initial: str = "",
        *,
        kind: FieldKind = "text",
        lines: int = 1,
        hint: Words = "",
        submit: Do | None = None,
        secret: bool = False,
    ) -> Field:
        """Return a text field; name it like the argument it feeds."""
        return Field(
            name=name,
            value=self.get(name, initial),
            label=label,
            kind=kind,
            lines=lines,
            hint=hint,
            submit=submit,
            secret=secret,
            focused=self._doc.focus == name,
        )

    def switch(self, name: str, label: Words, initial: bool = False) -> Switch:
        """Return a switch for a value of the page."""
        value = self.get(name, initial)
        return Switch(label=label, value=value, do=SetLocal(values={name: not value}))

    def chips(
        self, name: str, options: Sequence[tuple[V, Words]], initial: V, label: Words = ""
    ) -> Chips:
        """Return chips of which one is chosen."""
        value = self.get(name, initial)
        return Chips(
            label=label,
            value=value,
            chips=tuple(
                Chip(words=words, do=SetLocal(values={name: option}), selected=option == value)
                for option, words in options
            ),
        )

    def stepper(
        self,
        name: str,
        label: Words,
        initial: int = 1,
        *,
        low: int = 0,
        high: int = 99,
        step: int = 1,
        unit: Words = "",
    ) -> Stepper:
        """Return a stepper for a whole number."""
        value = self.get(name, initial)

        def to(new: int) -> Do | None:
            return SetLocal(values={name: new}) if low <= new <= high else None

        return Stepper(
            label=label, value=value, less=to(value - step), more=to(value + step), unit=unit
        )

    def date(self, name: str, label: Words, initial: str) -> DateField:
        """Return a day chooser; its value is an ISO date."""
        opened = self.get(f"{name}.open", "")
        return DateField(name=name, label=label, value=self.get(name, initial), opened=opened)

    def time(self, name: str, label: Words, initial: str) -> TimeField:
        """Return a time chooser; its value is `HH:MM`."""
        opened = self.get(f"{name}.open", "")
        return TimeField(name=name, label=label, value=self.get(name, initial), opened=opened)

    def question(
        self,
        title: Words,
        yes: Words,
        do: Do,
        text: Words = "",
        *,
        no: Words = CANCEL,
        body: tuple[Widget, ...] = (),
        danger: bool = True,
    ) -> Dialog | None:
        """Return the question before something final, open while the page's `sure` is true."""
        if not self.get("sure", False):
            return None
        return Dialog.question(
            title,
            text=text,
            body=body,
            yes=yes,
            do=do,
            no=no,
            danger=danger,
            dismiss=self.set(sure=False),
        )

    # ---- words for times and money -----------------------------------------------------------

    def when(self, epoch_s: int) -> datetime:
        """Return the date and time of an epoch second."""
        return datetime.fromtimestamp(epoch_s, UTC)

    def today(self) -> str:
        """Return today's ISO date."""
        return self.when(self.now_s).date().isoformat()

    def clock(self, epoch_s: int) -> str:
        """Return `HH:MM`."""
        return self.when(epoch_s).strftime("%H:%M")

    def day(self, epoch_s: int) -> str:
        """Return a short date: `Mon 2 Mar`."""
        when = self.when(epoch_s)
        en, zh = WEEKDAYS[when.weekday()]
        if self.lang == "zh":
            return f"{when.month}月{when.day}日 {zh}"
        return f"{en} {when.day} {MONTHS[when.month - 1][0][:3]}"

    def ago(self, epoch_s: int) -> str:
        """Return the clock for today, `Yesterday`, else the short date."""
        days = (self.when(self.now_s).date() - self.when(epoch_s).date()).days
        if days == 0:
            return self.clock(epoch_s)
        if days == 1:
            return self.t("Yesterday", "昨天")
        return self.day(epoch_s)

    def money(self, cents: int) -> str:
        """Return `$12.50`."""
        sign = "-" if cents < 0 else ""
        return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"
