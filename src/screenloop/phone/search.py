"""The shortest known way by touch from where a phone is to a touch that makes a wanted call.

A* over forks of the device. Pages are ordered by how many kinds of touches they lie from a page
that offers the action (learnt by `explore`), forms by how many of their inputs are not as wanted.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from screenloop.actions import Action, Key, Open, Scroll, Swipe, Tap, Type
from screenloop.errors import TaskError
from screenloop.phone.boot import installed
from screenloop.phone.device import Device
from screenloop.phone.dispatch import dispatch
from screenloop.phone.do import Back, Both, Call, Copy, Do, Focus, Go, OpenApp, Paste, Share
from screenloop.phone.explore import explore_app
from screenloop.phone.flows import calls_in
from screenloop.phone.gestures import run_action, unit
from screenloop.phone.touches import (
    MAX_SCROLLS,
    SCROLL_SCREENS,
    Offered,
    identity,
    offers,
    place_x,
)
from screenloop.phone.wanted import UNKNOWN_COST, Wanted
from screenloop.types import DiffRow

Tolerate = Callable[[DiffRow], bool]
FAR = 3
"""Touches that a page is thought to be away when exploration never saw it."""
CROWD = 6
"""More touches of one kind than this are tried in order of relevance."""


class _Way(NamedTuple):
    """A linked list of Actions, the latest first."""

    actions: tuple[Action, ...]
    past: _Way | None

    def listed(self) -> tuple[Action, ...]:
        return (*(self.past.listed() if self.past else ()), *self.actions)


class _State(NamedTuple):
    """A phone that was reached, and how."""

    device: Device
    cost: int
    way: _Way | None


class _Edge(NamedTuple):
    """One more touch (or text, or key) from a state, not yet tried."""

    state: _State
    offered: Offered | None
    action: Action | None
    """Given whole (open, back); else made from the offered touch."""
    text: str = ""
    submit: bool = False
    share: float = 0.5
    is_goal: bool = False


class _Entry(NamedTuple):
    """Something to go on with; the smallest `total` comes first, the deepest among equals."""

    total: float
    minus_cost: int
    number: int
    entry: _Edge | _State
    form: int | None
    """The estimate for the form that `total` holds, if it holds one."""


class Found(NamedTuple):
    """The way to the call, and the phone after it."""

    actions: tuple[Action, ...]
    device: Device
    tried: int


@lru_cache(maxsize=8)
def route_links(app_ids: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Return, for each route, the routes that one touch of a page leads from to it."""
    links: dict[str, set[str]] = defaultdict(set)
    for app_id in app_ids:
        for app in explore_app(app_id).apps.values():
            for transition in app.transitions:
                links[transition.to].add(transition.route)
    return {to: frozenset(sources) for to, sources in links.items()}


def distances(app_ids: tuple[str, ...], action: str) -> dict[str, int]:
    """Return, for each route, how many kinds of touches it lies from one that offers the action."""
    links = route_links(app_ids)
    offering = {r for app_id in app_ids for r in explore_app(app_id).offering(action)}
    away = dict.fromkeys(offering, 0)
    queue = deque(sorted(offering))
    while queue:
        to = queue.popleft()
        for source in sorted(links.get(to, ())):
            if source not in away:
                away[source] = away[to] + 1
                queue.append(source)
    return away


class Search:
    """One search for one call."""

    def __init__(
        self, device: Device, call: Call, *, tolerate: Tolerate, budget: int, wide: bool
    ) -> None:
        self.wanted = Wanted(device, call)
        self.tolerate = tolerate
        self.budget = budget
        self.wide = wide
        """Whether other apps and unlikely touches are tried as well."""
        self.tried = 0
        self.nearest = (1 << 30, "")
        """Estimate and route of the page that came closest."""
        app_ids = tuple(installed()) if wide else (call.app,)
        self.away = distances(app_ids, self.wanted.action.tool_name)
        self._start = device
        self._form = 0
        """Touches that the form on an offering page needs when it is fresh."""
        self._fresh: int | None = None
        self._shown: dict[tuple[str, str], Any] = {}
        """What the inputs of a route showed first."""
        self._costs: dict[tuple[str, str], int] = {}
        self._queue: list[_Entry] = []
        self._count = 0
        self._best: dict[bytes, int] = {}

    def run(self) -> Found | None:
        """Return the way, or `None` when the budget is spent or nothing is left."""
        self._arrive(_State(self._start.fork(), 0, None))
        while self._queue and self.tried < self.budget:
            entry = self._pop()
            if isinstance(entry, _State):
                self._expand(entry)
                continue
            self.tried += 1
            reached = self._try(entry)
            if reached is None:
                continue
            if entry.is_goal:
                way = reached.way.listed() if reached.way else ()
                return Found(way, reached.device, self.tried)
            self._arrive(reached)
        return None

    # ---- states ----------------------------------------------------------------------------

    def _arrive(self, state: _State) -> None:
        key = _key(state.device)
        if self._best.get(key, 1 << 30) <= state.cost:
            return
        self._best[key] = state.cost
        left = self._estimate(state.device, offers(state.device))
        offering = self.away.get(state.device.screen.route) == 0
        self._push(state.cost + left, state.cost, state, counts_form=not offering)

    def _push(
        self, total: float, cost: int, entry: _Edge | _State, *, counts_form: bool = False
    ) -> None:
        self._count += 1
        form = self._form if counts_form else None
        heapq.heappush(self._queue, _Entry(total, -cost, self._count, entry, form))

    def _pop(self) -> _Edge | _State:
        """Return the most promising entry, by what is known of the form by now."""
        while True:
            entry = heapq.heappop(self._queue)
            grown = 0 if entry.form is None else self._form - entry.form
            if grown <= 0:
                return entry.entry
            heapq.heappush(self._queue, entry._replace(total=entry.total + grown, form=self._form))

    def _estimate(self, device: Device, known: list[Offered]) -> int:
        """Return about how many touches are left."""
        route = device.screen.route
        bound = [(o, c) for o in known if (c := self.wanted.same_action(o.do)) is not None]
        if bound:
            left = min(self._left_for(device, known, o, c) for o, c in bound)
        elif self.away.get(route) == 0:
            left = 1 + self._unset(device, known, None)
        else:
            left = 1 + self._away(device, route) + self._form
        if left < self.nearest[0]:
            self.nearest = (left, route)
        return left

    def _left_for(self, device: Device, known: list[Offered], offered: Offered, call: Call) -> int:
        if offered.gesture == "place":
            return 1 + offered.scrolls
        return 1 + offered.scrolls + self._unset(device, known, call)

    def _unset(self, device: Device, known: list[Offered], call: Call | None) -> int:
        """Return the touches that the inputs of a page still need."""
        route, values = device.screen.route, device.doc.page.locals
        left = form = 0
        for name, wanted in self.wanted.args.items():
            if call is not None:
                now = self._plain(call).get(name)
            else:
                now = self.wanted.shown(name, known, device)
                if now is None:
                    now = self._shown.get((route, name), wanted)
            self._shown.setdefault((route, name), now)
            if now == wanted:
                left += bool(values.get(f"{name}.open"))
                continue
            cost = self.wanted.cost(name, now, known, values)
            if cost >= UNKNOWN_COST:
                cost = self._costs.get((route, name), cost)
            elif not values.get(f"{name}.open"):
                self._costs[route, name] = cost
            left += cost
            form += cost if name not in self.wanted.references else 0
        if not values:
            self._form = form if self._fresh is None else min(form, self._fresh)
            self._fresh = self._form
        return left

    def _plain(self, call: Call) -> dict[str, Any]:
        try:
            return self.wanted.plain(call)
        except msgspec.ValidationError:
            return call.args

    def _away(self, device: Device, route: str) -> int:
        here = self.away.get(route, FAR)
        app = self.wanted.call.app
        if device.doc.front == app:
            return here
        top = device.doc.apps[app].page.path
        return min(here, 1 + self.away.get(_route(device, Go(app=app, path=top)), FAR))

    # ---- edges -----------------------------------------------------------------------------

    def _expand(self, state: _State) -> None:
        device, values = state.device, state.device.doc.page.locals
        known = offers(device)
        left = self._estimate(device, known)
        offering = self.away.get(device.screen.route) == 0
        self._aim(state, known)
        helpful: dict[str, list[tuple[int, _Edge]]] = defaultdict(list)
        crowds: dict[str, list[Offered]] = defaultdict(list)
        for edge in self._texts(state, known):
            assert edge.offered is not None
            field = edge.offered.node.field
            scrolls = edge.offered.scrolls
            if field in self.wanted.args:
                helpful[field].append((scrolls, edge))
            else:
                self._push(
                    state.cost + 1 + scrolls + left, state.cost, edge, counts_form=not offering
                )
        for offered in known:
            if not self._may(offered, values):
                continue
            for edge in self._sliding(state, offered):
                helpful[self.wanted.helps(offered.do, {})].append((offered.scrolls, edge))
            name = self.wanted.helps(offered.do, values)
            if name and offered.gesture != "place":
                helpful[name].append((offered.scrolls, _Edge(state, offered, None)))
            elif offered.gesture != "place":
                crowds[offered.key(device.apps)].append(offered)
        # Inputs of a form can be set in any order: one order is enough.
        if helpful:
            first = min(helpful.values(), key=lambda edges: min(e[0] for e in edges))
            for scrolls, edge in first:
                self._push(state.cost + scrolls + max(1, left), state.cost, edge)
        for same in crowds.values():
            self._push_crowd(state, same, left)
        self._leave(state, left)

    def _aim(self, state: _State, known: list[Offered]) -> None:
        """Queue the touches that would make the call."""
        for offered in known:
            call = self.wanted.same_action(offered.do)
            if call is None:
                continue
            total = state.cost + 1 + offered.scrolls
            if offered.gesture == "place":
                for share in self._shares(offered, None):
                    goal = _Edge(state, offered, None, share=share, is_goal=True)
                    self._push(total, state.cost, goal)
            elif not self.wanted.missing(call):
                goal = _Edge(state, offered, None, is_goal=True)
                self._push(total, state.cost, goal)

    def _shares(self, offered: Offered, name: str | None) -> Iterator[float]:
        """Return where on a slider's track the wanted value lies, if it does."""
        node = offered.node
        if node.place is None:
            return
        for pixel in range(node.box.w):
            share = pixel / max(1, node.box.w - 1)
            do = node.place(share)
            call = self.wanted.same_action(do)
            if name is None and call is not None and not self.wanted.missing(call):
                yield share
                return
            if name is not None and self.wanted.args[name] in getattr(do, "values", {}).values():
                yield share
                return

    def _sliding(self, state: _State, offered: Offered) -> Iterator[_Edge]:
        name = self.wanted.helps(offered.do, {}) if offered.gesture == "place" else ""
        if name:
            for share in self._shares(offered, name):
                yield _Edge(state, offered, None, share=share)

    def _texts(self, state: _State, known: list[Offered]) -> Iterator[_Edge]:
        fields = [o for o in known if isinstance(o.do, Focus) and o.gesture == "tap"]
        named = {o.node.field for o in fields}
        for offered in fields:
            for text in self.wanted.texts(offered, named):
                yield _Edge(state, offered, None, text=text)
                if offered.node.submit is not None:
                    is_goal = self.wanted.same_action(offered.node.submit) is not None
                    yield _Edge(state, offered, None, text=text, submit=True, is_goal=is_goal)

    def _may(self, offered: Offered, values: dict[str, object]) -> bool:
        """Whether a touch is worth trying on the way."""
        do = offered.do
        if offered.gesture in ("pinch", "submit") or isinstance(do, Focus | Back | OpenApp | Copy):
            return False
        if offered.chrome and not self.wide and self.wanted.call.app != "os":
            return False
        if any(isinstance(part, Call) for part in calls_in(do)) and not isinstance(do, Both):
            return self.wide and self.wanted.same_action(do) is None
        if self.wide:
            return True
        if isinstance(do, Share | Paste):
            return False
        return not self.wanted.leads_astray(do, values)

    def _push_crowd(self, state: _State, same: list[Offered], left: int) -> None:
        crowded = len(same) > CROWD
        offering = self.away.get(state.device.screen.route) == 0
        for offered in same:
            total: float = state.cost + 1 + offered.scrolls
            total += self._after(state.device, offered.do, left)
            if crowded and not self.wanted.is_relevant(offered.do):
                total += 0.5
            moves = any(isinstance(part, Go) for part in calls_in(offered.do))
            edge = _Edge(state, offered, None)
            self._push(total, state.cost, edge, counts_form=moves or not offering)

    def _after(self, device: Device, do: Do, left: int) -> int:
        """Return the estimate for the page that a touch leads to, without trying it."""
        gone = [part for part in calls_in(do) if isinstance(part, Go)]
        if not gone:
            return left
        return 1 + self.away.get(_route(device, gone[-1]), FAR) + self._form

    def _leave(self, state: _State, left: int) -> None:
        doc = state.device.doc
        targets = tuple(installed()) if self.wide else (self.wanted.call.app,)
        for app in targets:
            if app not in (doc.front, "os"):
                top = _route(state.device, Go(app=app, path=doc.apps[app].page.path))
                total = state.cost + 2 + self.away.get(top, FAR) + self._form
                edge = _Edge(state, None, Open(app=app))
                self._push(total, state.cost, edge, counts_form=True)
        part = doc.apps[doc.front]
        if doc.focus or doc.overlay is not None:
            self._push(state.cost + 1 + left, state.cost, _Edge(state, None, Key(name="back")))
        elif len(part.stack) > 1:
            below = _route(state.device, Go(app=doc.front, path=part.stack[-2].path))
            total = state.cost + 2 + self.away.get(below, FAR) + self._form
            self._push(total, state.cost, _Edge(state, None, Key(name="back")), counts_form=True)

    # ---- trying ----------------------------------------------------------------------------

    def _try(self, edge: _Edge) -> _State | None:
        """Carry an edge out on a fork; `None` where it cannot be done or changes what it must not."""
        device = edge.state.device.fork()
        actions: list[Action] = []
        action = edge.action
        if action is None:
            assert edge.offered is not None
            action = self._reach(device, edge, actions)
            if action is None:
                return None
        before = device.doc
        done = run_action(device, action)
        actions.append(action)
        if not done.effect.ok:
            return None
        ours = [row for row in done.rows if row.channel != "system"]
        if edge.is_goal:
            expected = dispatch(before, device.apps, self.wanted.call).rows
            others = _without(ours, expected)
            if others is None:
                return None
            ours = others
        if not all(map(self.tolerate, ours)):
            return None
        way = _Way(tuple(actions), edge.state.way)
        return _State(device, edge.state.cost + len(actions), way)

    def _reach(self, device: Device, edge: _Edge, actions: list[Action]) -> Action | None:
        """Scroll until the touch is in reach and return the Action that makes it."""
        offered = edge.offered
        assert offered is not None
        wanted = identity(offered.node)
        for _ in range(MAX_SCROLLS):
            for node in device.screen.reachable():
                if identity(node) == wanted:
                    return _action(edge, offered, node.box.center, place_x(node, edge.share))
            if not offered.scroll:
                return None
            scroll = Scroll(direction=offered.scroll, screens=SCROLL_SCREENS)
            if not run_action(device, scroll).effect.ok:
                return None
            actions.append(scroll)
        return None


def _action(edge: _Edge, offered: Offered, center: tuple[int, int], slide_x: int) -> Action:
    x, y = center
    at = unit(x, y)
    if isinstance(offered.do, Focus) and offered.gesture == "tap":
        return Type(text=edge.text, at=at, clear=True, submit=edge.submit)
    match offered.gesture:
        case "hold":
            return Tap(at=at, hold_ms=600)
        case "double":
            return Tap(at=at, count=2)
        case "swipe_left" | "swipe_right":
            side = x - 160 if offered.gesture == "swipe_left" else x + 160
            return Swipe(path=(at, unit(min(411, max(0, side)), y)))
        case "place":
            return Tap(at=unit(slide_x, y))
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


def _route(device: Device, go: Go) -> str:
    return f"{go.app}{device.apps[go.app].resolve(go.path)[0].template}"


def _key(device: Device) -> bytes:
    """Return what tells two states apart for a search; how far a page is scrolled does not."""
    doc = device.doc
    parts = [
        (app, id(part.data), [(page.path, page.locals) for page in part.stack])
        for app, part in doc.apps.items()
    ]
    over = (doc.overlay.path, doc.overlay.locals) if doc.overlay else None
    return msgspec.json.encode((doc.front, doc.focus, over, parts), order="sorted")


def find(device: Device, call: Call, *, tolerate: Tolerate, budget: int = 20_000) -> Found:
    """Return the shortest known way to a touch that makes the call.

    Args:
        device: where from; it is not changed.
        call: what to make happen.
        tolerate: which other changes may happen on the way.
        budget: touches to try at most.

    Raises:
        TaskError: the call is refused from here, or no way was found.
    """
    outcome = dispatch(device.doc, device.apps, call)
    if not outcome.ok:
        raise TaskError(f"{call.app}.{call.action} {call.args} is refused: {outcome.message}")
    tried = 0
    nearest = (1 << 30, "")
    for wide in (False, True):
        search = Search(
            device, call, tolerate=tolerate, budget=budget // 2 if not wide else budget - tried,
            wide=wide,
        )  # fmt: skip
        found = search.run()
        tried += search.tried
        nearest = min(nearest, search.nearest)
        if found is not None:
            return found._replace(tried=tried)
    raise TaskError(
        f"no way by touch was found to {call.app}.{call.action} {call.args} within {tried} "
        f"touches; the closest page was {nearest[1]}, about {nearest[0]} touches away"
    )
