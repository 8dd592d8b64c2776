"""States and edges of a search over a phone: what was reached, which touches to try from there.

Each touch is tried as the Actions that an agent would send, scrolling included, on a fork.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from screenloop.actions import Action, Scroll, Swipe, Tap, Type
from screenloop.phone.commands import Call, Focus, Go
from screenloop.phone.device.device import Device
from screenloop.phone.device.dispatch import dispatch
from screenloop.phone.device.gestures import run_action, unit
from screenloop.phone.device.screen import SIZE_PX
from screenloop.phone.draw.canvas import Node
from screenloop.phone.prove.affordances import SCROLL_SCREENS, Affordance, place_x, scroll_to
from screenloop.types import DiffRow

Tolerate = Callable[[DiffRow], bool]
"""Whether a change is fine on the way to something else."""
SWIPE_PX = 160


class ActionChain(NamedTuple):
    """A linked list of Actions, the latest last; states share what they have in common."""

    actions: tuple[Action, ...]
    past: ActionChain | None

    def listed(self) -> tuple[Action, ...]:
        """Return all Actions, the first first."""
        return (*(self.past.listed() if self.past else ()), *self.actions)


class SearchState(NamedTuple):
    """A phone that was reached, and how."""

    device: Device
    cost: int
    """Actions it took."""
    chain: ActionChain | None


class SearchEdge(NamedTuple):
    """One more touch, text or key from a state, not yet tried."""

    state: SearchState
    offer: Affordance | None
    action: Action | None = None
    """Given whole (open, back); else made from the affordance."""
    text: str = ""
    submit: bool = False
    share: float = 0.5
    """Where on a slider's track."""
    makes: Call | None = None
    """The call whose changes it must make: the wanted one, or a step towards it."""
    is_goal: bool = False


def try_edge(edge: SearchEdge, tolerate: Tolerate) -> SearchState | None:
    """Carry out an edge on a fork.

    Args:
        edge: what to do.
        tolerate: which changes are fine besides those of the call that it makes.

    Returns:
        The state after it; `None` if it cannot be done or changes what it must not.
    """
    device = edge.state.device.fork()
    actions: list[Action] = []
    action = edge.action or _reach(device, edge, actions)
    if action is None:
        return None
    before = device.doc
    done = run_action(device, action)
    actions.append(action)
    if not done.effect.ok:
        return None
    ours = [row for row in done.rows if row.channel != "system"]
    if edge.makes is not None:
        others = _without(ours, dispatch(before, device.apps, edge.makes).rows)
        if others is None:
            return None
        ours = others
    if not all(map(tolerate, ours)):
        return None
    cost = edge.state.cost + len(actions)
    chain = ActionChain(tuple(actions), edge.state.chain)
    return SearchState(device, cost, chain)


def _reach(device: Device, edge: SearchEdge, actions: list[Action]) -> Action | None:
    """Scroll until the touch is in reach and return the Action that makes it."""
    offer = edge.offer
    assert offer is not None
    scroll = Scroll(direction=offer.scroll or "down", screens=SCROLL_SCREENS)
    reached = scroll_to(device, offer, lambda: run_action(device, scroll).effect.ok)
    if reached is None:
        return None
    node, scrolls = reached
    actions += [scroll] * scrolls
    return _action(edge, offer, node)


def _action(edge: SearchEdge, offer: Affordance, node: Node) -> Action:
    x, y = node.box.center
    at = unit(x, y)
    if isinstance(offer.do, Focus) and offer.gesture == "tap":
        return Type(text=edge.text, at=at, clear=True, submit=edge.submit)
    match offer.gesture:
        case "hold":
            return Tap(at=at, hold_ms=600)
        case "double":
            return Tap(at=at, count=2)
        case "swipe_left":
            return Swipe(path=(at, unit(max(0, x - SWIPE_PX), y)))
        case "swipe_right":
            return Swipe(path=(at, unit(min(SIZE_PX[0] - 1, x + SWIPE_PX), y)))
        case "place":
            return Tap(at=unit(place_x(node, edge.share), y))
        case _:
            return Tap(at=at)


def _without(rows: list[DiffRow], expected: tuple[DiffRow, ...]) -> list[DiffRow] | None:
    """Return the rows besides the expected ones, or `None` if one of those is missing."""
    left = [msgspec.structs.replace(row, action_id="", channel="gui") for row in rows]
    for row in expected:
        if row not in left:
            return None
        left.remove(row)
    return left


def route_of(device: Device, go: Go) -> str:
    """Return the route template that a move leads to, with its app."""
    return f"{go.app}{device.apps[go.app].resolve(go.path)[0].template}"


def state_key(device: Device) -> bytes:
    """Return what tells two states apart for a search; how far a page is scrolled does not."""
    doc = device.doc
    parts = [
        (app, id(part.data), [(page.path, page.locals) for page in part.stack])
        for app, part in doc.apps.items()
    ]
    over = (doc.overlay.path, doc.overlay.locals) if doc.overlay else None
    return msgspec.json.encode((doc.front, doc.focus, over, parts), order="sorted")
