"""Navigation: what changes no business state (pages, their values, focus, overlays). Pure."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from screenloop.phone.commands import Go
from screenloop.phone.declare.document import AppDoc, Doc, PageDoc
from screenloop.phone.declare.system import OS_ID

MAX_RECENTS = 8


def with_part(doc: Doc, app_id: str, part: AppDoc) -> Doc:
    """Return the Doc with one app's part replaced."""
    return replace(doc, apps={**doc.apps, app_id: part})


def open_app(doc: Doc, app_id: str) -> Doc:
    """Bring an app to the front as it was left; the launcher starts over."""
    recents = doc.recents
    if app_id != OS_ID:
        recents = (app_id, *(a for a in recents if a != app_id))[:MAX_RECENTS]
    doc = replace(doc, front=app_id, recents=recents, overlay=None, focus="", keyboard="letters")
    if app_id == OS_ID:
        home = doc.apps[OS_ID].stack[0]
        doc = with_part(doc, OS_ID, replace(doc.apps[OS_ID], stack=(replace(home, locals={}),)))
    return doc


def go(doc: Doc, move: Go) -> Doc:
    """Open a page: on top of the app's stack, or in place of all of it."""
    part = doc.apps[move.app]
    page = PageDoc(path=move.path)
    if move.replace:
        stack: tuple[PageDoc, ...] = (page,)
    elif part.page.path == move.path:
        stack = (*part.stack[:-1], page)
    else:
        stack = (*part.stack, page)
    doc = with_part(doc, move.app, replace(part, stack=stack))
    if doc.front != move.app:
        return open_app(doc, move.app)
    return replace(doc, overlay=None, focus="", keyboard="letters")


def back(doc: Doc) -> Doc:
    """Lower the keyboard, else close the overlay, else leave the page, else go home."""
    if doc.focus:
        return replace(doc, focus="", keyboard="letters")
    if doc.overlay is not None:
        return replace(doc, overlay=None)
    part = doc.apps[doc.front]
    if len(part.stack) > 1:
        return with_part(doc, doc.front, replace(part, stack=part.stack[:-1]))
    return open_app(doc, OS_ID)


def leave_page(doc: Doc) -> Doc:
    """Leave the page of the app in front, whatever covers it (what an action's `Back` means)."""
    return back(replace(doc, focus="", keyboard="letters", overlay=None))


def with_page(doc: Doc, page: PageDoc) -> Doc:
    """Return the Doc with the page that takes touches replaced."""
    if doc.overlay is not None:
        return replace(doc, overlay=page)
    part = doc.apps[doc.front]
    return with_part(doc, doc.front, replace(part, stack=(*part.stack[:-1], page)))


def set_locals(doc: Doc, values: dict[str, Any]) -> Doc:
    """Set values of the page that takes touches."""
    page = doc.page
    return with_page(doc, replace(page, locals={**page.locals, **values}))


def scroll(doc: Doc, offset_px: int) -> Doc:
    """Set the scroll offset of the page that takes touches."""
    return with_page(doc, replace(doc.page, scroll_px=offset_px))
