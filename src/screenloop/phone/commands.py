"""Commands: what a gesture makes a phone do, an app's bound action or navigation. Plain data.

Views hold no handlers; a widget holds one of these, and `Device.perform` carries it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from screenloop.types import Struct


class Call(Struct, frozen=True, kw_only=True, tag="call"):
    """Run an app's action with arguments: the only thing that changes business state."""

    app: str
    action: str
    """Dotted name, e.g. `people.add`."""
    args: dict[str, Any] = {}


class Go(Struct, frozen=True, kw_only=True, tag="go"):
    """Open a page of an app on top of its stack."""

    app: str
    path: str
    replace: bool = False
    """Take the place of the app's whole stack instead of covering it (tabs)."""

    def at_root(self) -> Go:
        """Return the same command for a main page: nothing below it."""
        return Go(app=self.app, path=self.path, replace=True)


class Back(Struct, frozen=True, kw_only=True, tag="back"):
    """Leave the current page, dialog, keyboard or overlay."""


class OpenApp(Struct, frozen=True, kw_only=True, tag="open"):
    """Bring an app to the front as it was left."""

    app: str


class SetLocal(Struct, frozen=True, kw_only=True, tag="set"):
    """Set values that belong to the current page only; not business state."""

    values: dict[str, Any]


class Focus(Struct, frozen=True, kw_only=True, tag="focus"):
    """Put the caret into a text field of the current page and raise the keyboard."""

    field: str


class Press(Struct, frozen=True, kw_only=True, tag="press"):
    """Press one key of the soft keyboard: a character, or `backspace`, `enter`, `shift`, ..."""

    key: str


class Overlay(Struct, frozen=True, kw_only=True, tag="overlay"):
    """Cover the screen with a system page (shade, recents, share sheet, picker)."""

    path: str
    locals: dict[str, Any] = {}


class PickMedia(Struct, frozen=True, kw_only=True, tag="pick"):
    """Open the media picker; the chosen picture's id is set as the page's local."""

    local: str


class Share(Struct, frozen=True, kw_only=True, tag="share"):
    """Open the share sheet with a text or a picture."""

    text: str = ""
    image: str = ""


class Copy(Struct, frozen=True, kw_only=True, tag="copy"):
    """Put a text on the clipboard."""

    text: str


class Paste(Struct, frozen=True, kw_only=True, tag="paste"):
    """Insert the clipboard at the end of a text field."""

    field: str


class Both(Struct, frozen=True, kw_only=True, tag="both"):
    """One after the other."""

    first: Do
    then: Do


Do = (
    Call
    | Go
    | Back
    | OpenApp
    | SetLocal
    | Focus
    | Press
    | Overlay
    | PickMedia
    | Share
    | Copy
    | Paste
    | Both
)
"""Any command."""

Placing = Callable[[float], Do]
"""For sliders: from the share of the track that was touched to the command."""


def key_of(do: Do) -> str:
    """Return the template of a command: gestures with equal keys are the same kind of gesture."""
    match do:
        case Call(app=app, action=action):
            return f"{app}.{action}"
        case Go(app=app, path=path):
            return f"go:{app}{_template(path)}"
        case OpenApp():
            return "open"
        case SetLocal(values=values):
            return "set:" + "+".join(values)
        case Focus(field=field) | Paste(field=field):
            return f"{do.__struct_config__.tag}:{field}"
        case Press(key=key):
            return f"press:{key}" if len(key) > 1 else "press"
        case Overlay(path=path):
            return f"overlay:{_template(path)}"
        case Both(first=first, then=then):
            return f"{key_of(first)}>{key_of(then)}"
        case _:
            return str(do.__struct_config__.tag)


def _template(path: str) -> str:
    """Replace row ids in a path: `/p/person12` becomes `/p/*`."""
    return re.sub(r"/[^/]*\d[^/]*", "/*", path)


def calls_in(do: Do | None) -> tuple[Call | Go, ...]:
    """Return the actions and page changes inside a command."""
    match do:
        case Both(first=first, then=then):
            return (*calls_in(first), *calls_in(then))
        case Call() | Go():
            return (do,)
        case _:
            return ()
