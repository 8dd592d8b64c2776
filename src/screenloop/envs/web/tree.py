"""The accessibility tree of a page as JSON, with boxes in frame pixels; and its visible text."""

from __future__ import annotations

import asyncio
from typing import Any

from screenloop.browser.cdp import Result
from screenloop.browser.page import BrowserTab
from screenloop.types import Struct

_IGNORED_ROLES = frozenset({"InlineTextBox", "LineBreak", "none", "generic"})

Box = tuple[int, int, int, int]
"""Left, top, width, height in frame pixels."""


class TreeNode(Struct, frozen=True, kw_only=True):
    """One element as assistive technology sees it, with what it holds."""

    id: str
    """Of this node within the page; the same while the element lives."""
    role: str
    name: str = ""
    value: str | None = None
    box: Box | None = None
    """`None` for what has no place on the screen."""
    focused: bool = False
    checked: bool | None = None
    selected: bool = False
    disabled: bool = False
    children: tuple[TreeNode, ...] = ()


async def page_tree(page: BrowserTab) -> TreeNode:
    """Return the tree of what the page shows."""
    accessible, layout = await asyncio.gather(
        page.session.post("Accessibility.getFullAXTree"),
        page.session.post(
            "DOMSnapshot.captureSnapshot", {"computedStyles": [], "includeDOMRects": True}
        ),
    )
    return build_tree(accessible["nodes"], boxes_of(layout))


async def page_text(page: BrowserTab) -> str:
    """Return the text that the page shows, without empty lines."""
    text = str(await page.evaluate("document.body ? document.body.innerText : ''"))
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def boxes_of(snapshot: Result) -> dict[int, Box]:
    """Return each laid out element's box in the viewport, by its backend node id.

    A snapshot's bounds are frame pixels from the document's corner.
    """
    boxes: dict[int, Box] = {}
    for document in snapshot["documents"]:
        left, top = document.get("scrollOffsetX", 0.0), document.get("scrollOffsetY", 0.0)
        ids = document["nodes"]["backendNodeId"]
        layout = document["layout"]
        for index, (x, y, width, height) in zip(layout["nodeIndex"], layout["bounds"], strict=True):
            boxes[ids[index]] = (round(x - left), round(y - top), round(width), round(height))
    return boxes


def build_tree(nodes: list[Result], boxes: dict[int, Box]) -> TreeNode:
    """Return the tree of an accessibility dump; nodes that say nothing new are left out."""
    by_id = {node["nodeId"]: node for node in nodes}

    def build(node: Result) -> tuple[TreeNode, ...]:
        children = tuple(
            child
            for child_id in node.get("childIds", ())
            if child_id in by_id
            for child in build(by_id[child_id])
        )
        if node.get("ignored") or _value(node.get("role")) in _IGNORED_ROLES:
            return children
        name = _value(node.get("name"))
        told = tuple(c for c in children if c.role != "StaticText" or c.name != name)
        return (_node(node, boxes, told),)

    return build(nodes[0])[0]


def _node(node: Result, boxes: dict[int, Box], children: tuple[TreeNode, ...]) -> TreeNode:
    properties = {p["name"]: _value(p["value"]) for p in node.get("properties", ())}
    value = _value(node.get("value"))
    checked = properties.get("checked")
    backend_id = node.get("backendDOMNodeId", 0)
    return TreeNode(
        id=f"n{backend_id}",
        role=str(_value(node.get("role")) or ""),
        name=str(_value(node.get("name")) or ""),
        value=None if value in (None, "") else str(value),
        box=boxes.get(backend_id),
        focused=bool(properties.get("focused", False)),
        checked=None if checked is None else checked in (True, "true"),
        selected=bool(properties.get("selected", False)),
        disabled=bool(properties.get("disabled", False)),
        children=children,
    )


def _value(field: Result | None) -> Any:
    return None if field is None else field.get("value")
