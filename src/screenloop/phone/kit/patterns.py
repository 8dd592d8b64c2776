"""Shapes that several apps share, on the way to whole patterns of pages and actions."""

from __future__ import annotations

from collections.abc import Mapping

from screenloop.phone.commands import Go
from screenloop.phone.draw.canvas import Words
from screenloop.phone.draw.page import Tab


def tabs(
    shown: str, *pages: tuple[str, str, Words, Go], badges: Mapping[str, int] = {}
) -> tuple[Tab, ...]:
    """Return the tabs of an app's main pages: of each a name, an icon, its words and the page.

    Args:
        shown: name of the page in front.
        pages: from left to right.
        badges: numbers on tabs, by name.
    """
    return tuple(
        Tab(
            icon=icon,
            words=words,
            do=page.at_root(),
            selected=name == shown,
            badge=badges.get(name, 0),
        )
        for name, icon, words, page in pages
    )
