"""What an accessibility tree says, as a flat list: the same for phones, pages and fakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from screenloop.actions import Point
from screenloop.errors import EnvironmentFault
from screenloop.types import SizePx, Struct

_WEB_TAPS = frozenset(
    "button link checkbox radio switch tab menuitem option textbox searchbox combobox "
    "spinbutton slider treeitem gridcell".split()
)
SYSTEM = "system"
"""Role of what lies in a phone's status and navigation bars, whatever the tree calls it."""
_BAR_PX = 48
_Box = tuple[float, float, float, float]
_Side = Annotated[float, Meta(gt=0)]


class Element(Struct, frozen=True, kw_only=True):
    """One thing on the screen."""

    role: str
    label: str
    at: Point
    """The middle of its box, in shares of the frame."""
    taps: bool = False
    """Whether a tap on it does something."""
    value: str = ""
    """What a field holds."""
    checked: bool | None = None
    selected: bool = False


class _Widget(msgspec.Struct, frozen=True):
    """The fake device's: `box_px` is left, top, right, bottom."""

    label: str
    box_px: _Box
    does: str = ""


class _Leaf(msgspec.Struct, frozen=True):
    """A phone's: `box` is left, top, width, height in layout pixels."""

    role: str
    label: str
    box: _Box
    can: tuple[str, ...] = ()
    value: Any = None
    checked: bool | None = None
    selected: bool = False


class _Leaves(msgspec.Struct, frozen=True):
    size_px: tuple[_Side, _Side]
    nodes: tuple[_Leaf, ...]


class _Branch(msgspec.Struct, frozen=True):
    """A page's: `box` is left, top, width, height in frame pixels."""

    role: str
    name: str = ""
    box: _Box | None = None
    value: Any = None
    checked: bool | None = None
    selected: bool = False
    disabled: bool = False
    children: tuple[_Branch, ...] = ()


def read_elements(tree: bytes, size_px: SizePx) -> tuple[Element, ...]:
    """Read the elements of a tree that lie on the screen, in its own order.

    Args:
        tree: JSON as phones (`{"size_px", "nodes"}`), pages (nested nodes) or the fake device
            (a list of widgets) write it.
        size_px: Of the frame.

    Raises:
        EnvironmentFault: it is in none of these forms.
    """
    try:
        data = msgspec.json.decode(tree)
        if isinstance(data, list):
            found = _of_widgets(msgspec.convert(data, tuple[_Widget, ...]), size_px)
        elif isinstance(data, dict) and "nodes" in data:
            found = _of_leaves(msgspec.convert(data, _Leaves))
        else:
            found = _of_branch(msgspec.convert(data, _Branch), size_px)
        return tuple(found)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EnvironmentFault(f"the screen's tree cannot be read: {error}") from error


def _of_widgets(widgets: tuple[_Widget, ...], size_px: SizePx) -> Iterator[Element]:
    for widget in widgets:
        left, top, right, bottom = widget.box_px
        at = _middle((left, top, right - left, bottom - top), size_px)
        if at is not None:
            yield Element(role="button", label=widget.label, at=at, taps=bool(widget.does))


def _of_leaves(leaves: _Leaves) -> Iterator[Element]:
    for leaf in leaves.nodes:
        at = _middle(leaf.box, leaves.size_px)
        if at is not None:
            yield Element(
                role=SYSTEM if _is_system_bar(leaf.box, leaves.size_px) else leaf.role,
                label=leaf.label,
                at=at,
                taps="tap" in leaf.can,
                value=str(leaf.value or ""),
                checked=leaf.checked,
                selected=leaf.selected,
            )


def _of_branch(node: _Branch, size_px: SizePx) -> Iterator[Element]:
    at = None if node.box is None else _middle(node.box, size_px)
    if at is not None:
        yield Element(
            role=node.role,
            label=node.name,
            at=at,
            taps=node.role in _WEB_TAPS and not node.disabled,
            value=str(node.value or ""),
            checked=node.checked,
            selected=node.selected,
        )
    for child in node.children:
        yield from _of_branch(child, size_px)


def _is_system_bar(box: _Box, size_px: tuple[float, float]) -> bool:
    """Tell whether a box lies in a phone's status or navigation bar."""
    _, top, _, height = box
    return height <= _BAR_PX and (top <= 0 or top + height >= size_px[1])


def _middle(box: _Box, size_px: tuple[float, float]) -> Point | None:
    """Return the middle in shares of the frame; `None` where it is off the screen or empty."""
    left, top, width, height = box
    x, y = (left + width / 2) / size_px[0], (top + height / 2) / size_px[1]
    return (x, y) if 0 <= x <= 1 and 0 <= y <= 1 and width > 0 and height > 0 else None
