"""The one document a device is: clock, world, what is in front, every app's data and pages.

Immutable: a change makes a new Doc that shares what did not change, so a snapshot is a reference,
a fork is free, and a reset is a pointer swap.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from screenloop.phone.declare.state import AppData
from screenloop.types import Struct

Keyboard = Literal["letters", "capitals", "symbols"]


class PageDoc(Struct, frozen=True, kw_only=True):
    """One page on an app's stack."""

    path: str
    scroll_px: int = 0
    locals: dict[str, Any] = {}
    """Values of the page: typed text, chosen chips, opened dialogs. Never changed in place."""


class AppDoc(Struct, frozen=True, kw_only=True):
    """One app on a device: what it keeps and where the user is in it."""

    data: AppData
    stack: tuple[PageDoc, ...]
    """From the first page to the one shown; never empty."""

    @property
    def page(self) -> PageDoc:
        """The page shown."""
        return self.stack[-1]


class Doc(Struct, frozen=True, kw_only=True):
    """The whole state of a device."""

    world: str
    seed: int
    clock_ms: int
    """Virtual time, milliseconds since 1970."""
    front: str
    """Id of the app in front; `os` is the launcher."""
    apps: dict[str, AppDoc]
    overlay: PageDoc | None = None
    """A page of the system above everything: shade, recents, share sheet, picker."""
    focus: str = ""
    """Name of the focused text field of the page in front."""
    keyboard: Keyboard = "letters"
    toast: str = ""
    recents: tuple[str, ...] = ()
    """App ids, the latest first."""

    @property
    def page(self) -> PageDoc:
        """The page that takes touches: the overlay, else the front app's."""
        return self.overlay or self.apps[self.front].page

    @property
    def now_s(self) -> int:
        """Virtual time in whole seconds."""
        return self.clock_ms // 1000


_ENCODER = msgspec.json.Encoder(enc_hook=lambda data: data.digest)
"""Writes an AppData, the one type of a Doc that JSON does not know, as its digest."""


def state_hash(doc: Doc) -> str:
    """Return the hash of the whole device state: data, pages, clock, focus."""
    return hashlib.sha256(_ENCODER.encode(doc)).hexdigest()


def scene_hash(doc: Doc) -> str:
    """Return the hash of the device state without its clock."""
    return state_hash(replace(doc, clock_ms=0))


def business_hash(doc: Doc) -> str:
    """Return the hash of `apps.*.data` only: what verifiers judge."""
    digests = {app: part.data.business_digest for app, part in sorted(doc.apps.items())}
    return hashlib.sha256(msgspec.json.encode(digests)).hexdigest()


def business_data(doc: Doc) -> dict[str, Any]:
    """Return `{app: data}` as plain JSON values."""
    return {app: part.data.builtins() for app, part in doc.apps.items()}
