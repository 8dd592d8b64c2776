"""What an action may do besides writing its state: look at the clock, move on, notify, call."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import NoReturn, Protocol, TypeVar

from screenloop.phone.commands import Call, Do, Go
from screenloop.phone.declare.document import Doc
from screenloop.phone.declare.state import AppState

S = TypeVar("S", bound=AppState)


class Refused(Exception):
    """Raised by an action that cannot be done now; changes nothing, the reason is shown."""


class Change(Protocol):
    """The change that an action is part of; `dispatch.Transaction` fulfils it."""

    doc: Doc
    lang: str
    navigation: list[Do]
    toast: str

    def state(self, state: type[S]) -> S:
        """Return the draft of an app."""

    def run(self, call: Call) -> None:
        """Run another action inside."""

    def schedule(self, due_s: int, call: Call) -> None:
        """Keep an action for later."""

    def notify(self, app: str, title: str, text: str, go: Go) -> None:
        """Post a notification."""


class Ctx:
    """Handed to actions and queries. All of it is deterministic."""

    def __init__(self, transaction: Change, app: str) -> None:
        self._transaction = transaction
        self.app = app
        self.now_s = transaction.doc.now_s
        self.lang: str = transaction.lang

    # ---- reading -------------------------------------------------------------------------

    def today(self) -> str:
        """Return today's ISO date."""
        return datetime.fromtimestamp(self.now_s, UTC).date().isoformat()

    def rng(self, purpose: str) -> random.Random:
        """Return a random stream for a purpose; it depends on the seed and the clock only."""
        doc = self._transaction.doc
        return random.Random(f"{doc.seed}/{self.app}/{purpose}/{doc.clock_ms}")

    def of(self, state: type[S]) -> S:
        """Return another app's state; writable where `writes` names `app.table`."""
        return self._transaction.state(state)

    def t(self, en: str, zh: str) -> str:
        """Return the text in the device's language."""
        return zh if self.lang == "zh" else en

    # ---- acting --------------------------------------------------------------------------

    def call(self, call: Call) -> None:
        """Run another action inside this one; all of it happens or none."""
        self._transaction.run(call)

    def after(self, seconds: int, call: Call) -> None:
        """Run an action later, when the device's clock gets there."""
        self._transaction.schedule(self.now_s + seconds, call)

    def notify(self, title: str, text: str, go: Go) -> None:
        """Post a notification that opens a page."""
        self._transaction.notify(self.app, title, text, go)

    def refuse(self, why: str) -> NoReturn:
        """Stop here, change nothing, and tell why.

        Raises:
            Refused: always.
        """
        raise Refused(why)

    # ---- moving (only when a person touched the screen) -------------------------------------

    def move(self, do: Do) -> None:
        """Go to a page, back, or to another app once the change is made."""
        self._transaction.navigation.append(do)

    def toast(self, words: str) -> None:
        """Show a short note."""
        self._transaction.toast = words
