"""Shapes that several apps share, on the way to whole patterns of pages and actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from screenloop.phone.commands import Do, Go
from screenloop.phone.draw.canvas import Words
from screenloop.phone.draw.page import Tab
from screenloop.phone.draw.rows import Lead, Row
from screenloop.phone.draw.widgets import Card, Widget

Holds = Callable[[Any, Any, Any], bool]
"""What must hold after an action: `(before, after, args) -> bool`, see `App.action`."""


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


def card(*children: Widget, do: Do | None = None, label: Words = "", pad_px: int = 4) -> Card:
    """Return a raised surface that holds the given widgets."""
    return Card(children, do=do, label=label, pad_px=pad_px)


def link(title: Words, subtitle: Words, lead: Lead | None, do: Do) -> Row:
    """Return the row that leads to a page of its own, with the arrow that says so."""
    return Row(title, subtitle, lead, trailing_icon="chevron_right", do=do)


# ---- checks of actions -----------------------------------------------------------------------


def one_more(table: str) -> Holds:
    """Return the check that a table has one row more."""
    return lambda before, after, a: len(getattr(after, table)) == len(getattr(before, table)) + 1


def gone(table: str, row: str) -> Holds:
    """Return the check that the row which an argument names is gone."""
    return lambda before, after, a: getattr(a, row) not in getattr(after, table)


def value_is(field: str, argument: str) -> Holds:
    """Return the check that a field of the state is what an argument says."""
    return lambda before, after, a: bool(getattr(after, field) == getattr(a, argument))


def row_has(table: str, row: str, **fields: str | int) -> Holds:
    """Return the check of the row which an argument names.

    Args:
        table: its table.
        row: the argument that names it.
        fields: what they are afterwards: a number or truth value, or the name of an argument.
    """

    def holds(before: Any, after: Any, a: Any) -> bool:
        kept = getattr(after, table)[getattr(a, row)]
        return all(
            getattr(kept, field) == (getattr(a, value) if isinstance(value, str) else value)
            for field, value in fields.items()
        )

    return holds
