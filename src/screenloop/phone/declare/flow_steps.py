"""Reference walks: what a person does in an app, step by step; each is replayed by `prove.replay`.

app.flow("save a contact", tap("New contact"), enter("name", "Zoe"), tap(add))
"""

from __future__ import annotations

from typing import Any, Protocol

from screenloop.types import Struct


class Bindable(Protocol):
    """What a touch can be bound to: an action, or a page."""

    @property
    def target(self) -> str:
        """`app.action`, or `app` and the route template."""


class Touch(Struct, frozen=True, kw_only=True):
    """Touch what has this label, or what is bound to this action or page, scrolling to it."""

    label: str = ""
    target: str = ""
    """`app.action`, or `app` and the route template."""
    args: dict[str, Any] = {}
    """Arguments or slots that must be the bound ones."""
    hold: bool = False


class Enter(Struct, frozen=True, kw_only=True):
    """Put text into a field, in place of what is there."""

    field: str
    text: str
    submit: bool = False


class PressKey(Struct, frozen=True, kw_only=True):
    """Press a key."""

    key: str


class OpenFlowApp(Struct, frozen=True, kw_only=True):
    """Go on in another app."""

    app: str


class Pass(Struct, frozen=True, kw_only=True):
    """Let time go by."""

    seconds: int


FlowStep = Touch | Enter | PressKey | OpenFlowApp | Pass


def tap(what: str | Bindable, **args: Any) -> Touch:
    """Touch a label, or whatever is bound to an action or leads to a page."""
    return _touch(what, args, hold=False)


def hold(what: str | Bindable, **args: Any) -> Touch:
    """Press long."""
    return _touch(what, args, hold=True)


def enter(field: str, text: str, *, submit: bool = False) -> Enter:
    """Fill a field."""
    return Enter(field=field, text=text, submit=submit)


def press(key: str) -> PressKey:
    """Press a key: back, home, enter, ..."""
    return PressKey(key=key)


def open_app(app: str) -> OpenFlowApp:
    """Go on in another app."""
    return OpenFlowApp(app=app)


def wait(seconds: int) -> Pass:
    """Let time go by."""
    return Pass(seconds=seconds)


def _touch(what: str | Bindable, args: dict[str, Any], *, hold: bool) -> Touch:
    if isinstance(what, str):
        return Touch(label=what, hold=hold)
    return Touch(target=what.target, args=args, hold=hold)
