"""Finding out what the apps offer by touching everything: routes, actions, transitions, depth.

The search is breadth-first from the launcher, each touch on a fork. Two states are the same page
when they show the same route with the same kinds of touches, so the search is over pages, not over
data, and each kind of touch is tried a bounded number of times. What the flows reach is searched
from as well. Nothing is painted.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from screenloop.errors import TaskError
from screenloop.phone.commands import Back, Call, Focus, OpenApp
from screenloop.phone.declare.app import Flow
from screenloop.phone.declare.flow_steps import Enter
from screenloop.phone.declare.state import NEXT_ID
from screenloop.phone.declare.system import OS_ID
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Apps, Device
from screenloop.phone.device.dispatch import Outcome
from screenloop.phone.prove.affordances import (
    Affordance,
    affordances_of,
    broken_link,
    scroll_to,
    touch,
)
from screenloop.phone.prove.flows import run_step
from screenloop.types import Channel, Struct

PageSignature = tuple[object, ...]
SAMPLES = {"text": ("Fern",), "search": ("a",), "number": ("12",), "phone": ("555-0101",)}
"""What is typed into a field that no flow fills, by its keyboard."""
HARDWARE = ("volume_up", "volume_down")


class Bounds(Struct, frozen=True, kw_only=True):
    """How much is tried."""

    states_per_route: int = 40
    touches_per_key: int = 24
    """Of one kind of touch on one route."""
    touches_per_state: int = 3
    """Of one kind of touch in one state."""


FEW = Bounds(states_per_route=12, touches_per_key=8, touches_per_state=2)
"""Enough to learn which pages lead where."""


class RouteAction(Struct, frozen=True, kw_only=True, order=True):
    """A kind of touch that a page offers."""

    route: str
    key: str


class Transition(Struct, frozen=True, kw_only=True, order=True):
    """A page that a kind of touch leads to."""

    route: str
    key: str
    to: str


class AppCoverage(Struct, frozen=True, kw_only=True):
    """What was found of one app."""

    app: str
    routes: tuple[str, ...]
    """Route templates reached."""
    unreached: tuple[str, ...]
    """Route templates declared but never reached."""
    actions: tuple[RouteAction, ...]
    transitions: tuple[Transition, ...]
    depth: int
    """Touches from the launcher to the farthest route template, scrolling not counted."""
    uncovered: tuple[str, ...]
    """Actions that no page offers and nothing else runs (no timer, no other action, no key)."""


class Coverage(Struct, frozen=True, kw_only=True):
    """What an exploration found."""

    apps: dict[str, AppCoverage]
    states: int
    """Pages searched from."""
    touches: int
    """Touches tried."""
    broken: tuple[str, ...]
    """Links that lead to no page, as sentences."""

    def offering(self, action: str) -> frozenset[str]:
        """Return the routes that offer an action, by its tool name."""
        return frozenset(
            kind.route
            for app in self.apps.values()
            for kind in app.actions
            if action in names_in(kind.key)
        )


def names_in(key: str) -> tuple[str, ...]:
    """Return the parts of a widget key template: tool names of actions among them."""
    return tuple(key.partition(":")[2] if _GESTURE.match(key) else key for key in key.split(">"))


_GESTURE = re.compile(r"(hold|double|swipe_left|swipe_right|pinch|submit):")


class Explorer:
    """A search in progress."""

    def __init__(self, apps: Apps, bounds: Bounds, inside: frozenset[str]) -> None:
        self.apps = apps
        self.bounds = bounds
        self.inside = inside
        """Apps whose pages are searched on; others are only noted."""
        self.offers: set[RouteAction] = set()
        self.transitions: set[Transition] = set()
        self.depth: dict[str, int] = {}
        self.ran: set[str] = set()
        """Actions that ran or wait for their time: by touch, key, timer, or another action."""
        self.broken: set[str] = set()
        self.touches = 0
        self._queue: list[tuple[int, int, Device]] = []
        self._count = 0
        self._seen: dict[PageSignature, int] = {}
        self._done: set[PageSignature] = set()
        self._per_route: Counter[str] = Counter()
        self._per_key: Counter[RouteAction] = Counter()
        self._texts = _flow_texts(apps)

    @property
    def states(self) -> int:
        """Pages searched from."""
        return len(self._done)

    def listen(self, call: Call, channel: Channel, outcome: Outcome) -> None:
        """Note what ran; a Device's `on_call`."""
        self.ran.update((f"{call.app}.{call.action}", *outcome.inner))

    def visit(self, device: Device, depth: int) -> None:
        """Note the page in front; search on from it unless one like it is known."""
        route = device.screen.route
        self.depth[route] = min(depth, self.depth.get(route, depth))
        known = self._working(device)
        self.offers.update(
            RouteAction(route=route, key=o.key(device.apps)) for o in known if not o.chrome
        )
        self.ran.update(f"{timer.app}.{timer.action}" for timer in device.system.timers)
        if device.doc.front not in self.inside:
            return
        signature = _signature(device, known)
        if self._seen.get(signature, depth + 1) <= depth:
            return
        self._seen[signature] = depth
        self._count += 1
        heapq.heappush(self._queue, (depth, self._count, device))

    def _working(self, device: Device) -> list[Affordance]:
        """Return what the page offers, touches that lead nowhere left out and noted."""
        working = []
        for offer in affordances_of(device):
            wrong = broken_link(offer.do, device.apps)
            if wrong:
                self.broken.add(f"{device.screen.route}: {offer.node.label!r}: {wrong}")
            else:
                working.append(offer)
        return working

    def run(self) -> None:
        """Search on until nothing new comes up."""
        while self._queue:
            depth, _, device = heapq.heappop(self._queue)
            known = self._working(device)
            signature, route = _signature(device, known), device.screen.route
            if signature in self._done or self._per_route[route] >= self.bounds.states_per_route:
                continue
            self._done.add(signature)
            self._per_route[route] += 1
            self._expand(device, known, depth)

    def walk(self, device: Device, flow: Flow, depth: int) -> None:
        """Search on from every page that a flow passes; `replay` tells where one breaks."""
        for step in flow.steps:
            device.begin()
            try:
                effect = run_step(device, step)
            except TaskError:
                return
            device.end()
            if not effect.ok:
                return
            depth += 1
            self.visit(device.fork(), depth)

    # ---- one state -------------------------------------------------------------------------

    def _expand(self, device: Device, known: list[Affordance], depth: int) -> None:
        here: Counter[str] = Counter()
        for offer in _spread(known, device.apps):
            key = offer.key(device.apps)
            kind = RouteAction(route=device.screen.route, key=key)
            if here[key] >= self.bounds.touches_per_state:
                continue
            if self._per_key[kind] >= self.bounds.touches_per_key:
                continue
            here[key] += 1
            self._per_key[kind] += 1
            self._try(device, offer, depth)
        fields = [o for o in known if isinstance(o.do, Focus)]
        if len(fields) > 1:
            self._fill(device, fields, depth)
        self._let_time_pass(device, depth)
        if device.doc.front == OS_ID and depth == 0:
            self._press_hardware(device)

    def _try(self, device: Device, offer: Affordance, depth: int) -> None:
        shares = (0.2, 0.8) if offer.gesture == "place" else (0.5,)
        for share in shares:
            twin = device.fork()
            twin.begin()
            reached = scroll_to(twin, offer)
            if reached is None:
                return
            node, _ = reached
            self.touches += 1
            effect = touch(twin, offer.gesture, node, share=share)
            twin.end()
            if not effect.ok:
                continue
            self._note(device, offer, twin)
            self.visit(twin, depth + 1)
            if isinstance(offer.do, Focus) and offer.gesture == "tap":
                self._type(device, twin, offer, depth + 1)

    def _type(self, before: Device, device: Device, offer: Affordance, depth: int) -> None:
        for text in self._samples(offer):
            twin = device.fork()
            twin.begin()
            twin.type_text(text, clear=True)
            submitting = twin.fork()
            twin.press("back")
            twin.end()
            self.visit(twin, depth + 1)
            if offer.node.submit is not None:
                submit = submitting.screen.field(offer.node.field)
                if submit is None or submit.submit is None:
                    continue
                submitting.press("enter")
                submitting.end()
                sent = Affordance(gesture="submit", do=submit.submit, node=submit)
                self._note(before, sent, submitting)
                self.visit(submitting, depth + 1)

    def _fill(self, device: Device, fields: list[Affordance], depth: int) -> None:
        twin = device.fork()
        twin.begin()
        for offer in fields:
            reached = scroll_to(twin, offer)
            if reached is None or not touch(twin, "tap", reached[0]).ok:
                continue
            twin.type_text(self._samples(offer)[0], clear=True)
            twin.press("back")
            depth += 2
        twin.end()
        self.visit(twin, depth)

    def _let_time_pass(self, device: Device, depth: int) -> None:
        due = min(device.system.timers, key=lambda t: t.due_s, default=None)
        if due is None:
            return
        kind = RouteAction(route=device.screen.route, key=f"wait:{due.app}.{due.action}")
        if self._per_key[kind] >= self.bounds.touches_per_state:
            return
        self._per_key[kind] += 1
        twin = device.fork()
        twin.begin()
        twin.end(extra_ms=max(0, due.due_s * 1000 - device.doc.clock_ms))
        self.visit(twin, depth + 1)

    def coverage(self) -> Coverage:
        """Return what was found so far."""
        named = {name for kind in self.offers for name in names_in(kind.key)}
        return Coverage(
            apps={app_id: self._coverage_of(app_id, named) for app_id in self.apps},
            states=self.states,
            touches=self.touches,
            broken=tuple(sorted(self.broken)),
        )

    def _coverage_of(self, app_id: str, named: set[str]) -> AppCoverage:
        app = self.apps[app_id]
        declared = [f"{app_id}{template}" for template in app.routes]
        routes = tuple(route for route in declared if route in self.depth)
        names = [action.tool_name for action in app.actions.values()]
        return AppCoverage(
            app=app_id,
            routes=routes,
            unreached=tuple(route for route in declared if route not in self.depth),
            actions=tuple(sorted(o for o in self.offers if o.route in routes)),
            transitions=tuple(sorted(t for t in self.transitions if t.route in routes)),
            depth=max((self.depth[route] for route in routes), default=0),
            uncovered=tuple(n for n in names if n not in named and n not in self.ran),
        )

    def _press_hardware(self, device: Device) -> None:
        for key in HARDWARE:
            twin = device.fork()
            twin.begin()
            twin.press(key)
            twin.end()

    def _note(self, before: Device, offer: Affordance, after: Device) -> None:
        if not offer.chrome:
            route, to = before.screen.route, after.screen.route
            key = offer.key(before.apps)
            self.transitions.add(Transition(route=route, key=key, to=to))

    def _samples(self, offer: Affordance) -> tuple[str, ...]:
        node = offer.node
        return self._texts.get(node.field, SAMPLES.get(node.keyboard, SAMPLES["text"]))


def _flow_texts(apps: Apps) -> dict[str, tuple[str, ...]]:
    """Return what the flows type into each field: values that the apps take."""
    texts: dict[str, tuple[str, ...]] = {}
    for app in apps.values():
        for flow in app.flows:
            for step in flow.steps:
                if isinstance(step, Enter) and step.text not in texts.get(step.field, ()):
                    texts[step.field] = (*texts.get(step.field, ()), step.text)[:2]
    return texts


def _spread(known: list[Affordance], apps: Apps) -> Iterable[Affordance]:
    """Return the touches so that the first few of a kind are the first, the last, the others."""
    kinds: dict[str, list[Affordance]] = {}
    for offer in known:
        if not _aimless(offer):
            kinds.setdefault(offer.key(apps), []).append(offer)
    for same in kinds.values():
        yield from (same[0], *same[-1:], *same[1:-1]) if len(same) > 2 else same


def _aimless(offer: Affordance) -> bool:
    """Whether a touch only leaves, as the back and home buttons do from every page."""
    leaves = offer.chrome and isinstance(offer.do, Back | OpenApp)
    return leaves or offer.gesture == "submit"


def _signature(device: Device, known: list[Affordance]) -> PageSignature:
    """Return what makes a state a page of its own: equal signature, equal page."""
    doc = device.doc
    under = (
        ""
        if doc.overlay is None
        else device.apps[doc.front].resolve(doc.apps[doc.front].page.path)[0].template
    )
    if doc.overlay is not None and doc.overlay.path in ("/shade", "/recents"):
        under = ""
    data = doc.apps[doc.front].data.fields
    amounts = frozenset((n, _amount(v)) for n, v in data.items() if n != NEXT_ID)
    set_values = frozenset((n, _kind(v)) for n, v in doc.page.locals.items() if v)
    return (
        device.screen.route,
        under,
        bool(doc.focus),
        amounts,
        set_values,
        frozenset(o.key(device.apps) for o in known if not o.chrome),
    )


def _amount(value: object) -> int:
    """Return the template of a table or a number of an app's data: none, one, or many."""
    if isinstance(value, dict):
        return min(2, len(value))
    return min(2, max(-1, value)) if type(value) is int else 0


def _kind(value: object) -> object:
    """Return the template of a page's value: flags as they are, texts without digits."""
    if isinstance(value, str):
        return re.sub(r"\d+", "*", value) if len(value) < 16 else "*"
    return value if isinstance(value, bool) else bool(value)


def explore(device: Device | None = None, bounds: Bounds | None = None) -> Coverage:
    """Explore all apps of a device together, from the state it is in.

    Args:
        device: where to begin; by default the launcher of the default world. It is not changed.
        bounds: how much is tried.
    """
    device = device or new_device(quantum_ms=0)
    return _explore(device, bounds or Bounds(), frozenset(device.apps))


@lru_cache(maxsize=64)
def explore_app(app_id: str) -> Coverage:
    """Explore one app from its first page, a few touches of each kind; kept for the process."""
    device = new_device(quantum_ms=0)
    device.open(app_id)
    device.end()
    return _explore(device, FEW, frozenset({app_id}))


def _explore(device: Device, bounds: Bounds, inside: frozenset[str]) -> Coverage:
    explorer = Explorer(device.apps, bounds, inside)
    device = device.fork()
    device.on_call = explorer.listen
    explorer.visit(device.fork(), 0)
    explorer.run()
    for app in device.apps.values():
        for flow in app.flows if app.id in inside else ():
            twin = device.fork()
            twin.open(app.id)
            twin.end()
            explorer.walk(twin, flow, 1)
    explorer.run()
    return explorer.coverage()
