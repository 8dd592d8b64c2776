"""The shortest known path by touch from where a phone is to a goal: a call, or a page.

A* over forks of the device. The heuristic counts how many kinds of touches a page lies from one
that offers the action (learnt by `explore`), and for a form how many inputs differ from the goal.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from screenloop.actions import Action, Key, Open
from screenloop.errors import TaskError
from screenloop.phone.commands import (
    Back,
    Both,
    Call,
    Copy,
    Do,
    Focus,
    Go,
    OpenApp,
    Paste,
    Share,
    calls_in,
)
from screenloop.phone.declare.system import OS_ID
from screenloop.phone.device import navigation
from screenloop.phone.device.boot import installed
from screenloop.phone.device.device import Device
from screenloop.phone.device.dispatch import dispatch
from screenloop.phone.prove.affordances import Affordance, affordances_of, broken_link
from screenloop.phone.prove.explore import explore_app
from screenloop.phone.prove.search_goal import UNKNOWN_COST, SearchGoal
from screenloop.phone.prove.search_steps import (
    SearchEdge,
    SearchState,
    Tolerate,
    route_of,
    state_key,
    try_edge,
)

FAR = 3
"""Touches that a page is thought to be away when exploration never saw a way from it."""
CROWD = 6
"""More touches of one kind than this are tried in order of relevance."""
NARROW_SHARE = 4
"""A quarter of the budget goes to likely touches in the app itself, the rest to everything."""


class _QueueEntry(NamedTuple):
    """An edge to try or a state to expand; the smallest comes first, the deepest among equals."""

    total: float
    """Cost so far and heuristic: f = g + h."""
    minus_cost: int
    number: int
    entry: SearchEdge | SearchState
    form: int | None
    """The estimate for the form that `total` holds, if it holds one."""


class ClosestPage(NamedTuple):
    """The page that came closest to the goal."""

    distance: int
    """Kinds of touches from a page that offers it."""
    left: int
    """Touches left, about."""
    route: str


class SearchResult(NamedTuple):
    """The path, and the phone after it."""

    actions: tuple[Action, ...]
    device: Device
    tried: int


@lru_cache(maxsize=32)
def _links(app_ids: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Return, for each route, the routes that one touch of a page leads from to it."""
    links: dict[str, set[str]] = defaultdict(set)
    for app_id in app_ids:
        for app in explore_app(app_id).apps.values():
            for transition in app.transitions:
                links[transition.to].add(transition.route)
    return {to: frozenset(sources) for to, sources in links.items()}


def distances(app_ids: tuple[str, ...], goals: frozenset[str]) -> dict[str, int]:
    """Return, for each route, how many kinds of touches it lies from one of the goal routes."""
    links = _links(app_ids)
    away = dict.fromkeys(goals, 0)
    queue = deque(sorted(goals))
    while queue:
        to = queue.popleft()
        for source in sorted(links.get(to, ())):
            if source not in away:
                away[source] = away[to] + 1
                queue.append(source)
    return away


class Search:
    """One A* search."""

    def __init__(
        self, device: Device, goal: SearchGoal, *, tolerate: Tolerate, budget: int, wide: bool
    ) -> None:
        self.goal = goal
        self.tolerate = tolerate
        self.budget = budget
        self.wide = wide
        """Whether other apps and unlikely touches are tried as well."""
        self.tried = 0
        self.closest = ClosestPage(FAR, 1 << 30, "")
        app_ids = tuple(installed()) if wide else (goal.app,)
        self.distances = distances(app_ids, self._goal_routes(device, app_ids))
        self._start = device
        self._form = 0
        """Touches that the form on a goal page needs when it is fresh."""
        self._fresh: int | None = None
        self._shown: dict[tuple[str, str], Any] = {}
        """What the inputs of a route showed first."""
        self._costs: dict[tuple[str, str], int] = {}
        """Touches that an input of a route takes, where it was seen."""
        self._queue: list[_QueueEntry] = []
        self._count = 0
        self._best: dict[bytes, int] = {}

    def run(self) -> SearchResult | None:
        """Return the path, or `None` when the budget is spent or nothing is left."""
        self._enqueue(SearchState(self._start.fork(), 0, None))
        while self._queue and self.tried < self.budget:
            entry = self._pop()
            if isinstance(entry, SearchState):
                if self.goal.is_shown(entry.device):
                    return self._found(entry)
                self._expand(entry)
                continue
            self.tried += 1
            reached = try_edge(entry, self.tolerate)
            if reached is None:
                continue
            if entry.is_goal:
                return self._found(reached)
            self._enqueue(reached)
        return None

    def _found(self, state: SearchState) -> SearchResult:
        return SearchResult(state.chain.listed() if state.chain else (), state.device, self.tried)

    def _goal_routes(self, device: Device, app_ids: tuple[str, ...]) -> frozenset[str]:
        call = self.goal.call
        if call is None:
            return frozenset({route_of(device, Go(app=self.goal.app, path=self.goal.path))})
        name = f"{call.app}.{call.action}"
        return frozenset(r for app_id in app_ids for r in explore_app(app_id).offering(name))

    # ---- the queue -------------------------------------------------------------------------

    def _enqueue(self, state: SearchState) -> None:
        key = state_key(state.device)
        if self._best.get(key, 1 << 30) <= state.cost:
            return
        self._best[key] = state.cost
        left = self._heuristic(state.device, self._known(state.device))
        counts = not self._at_goal(state.device)
        self._push(state.cost + left, state, state, counts_form=counts)

    def _push(
        self,
        total: float,
        state: SearchState,
        entry: SearchEdge | SearchState,
        *,
        counts_form: bool = False,
    ) -> None:
        self._count += 1
        form = self._form if counts_form else None
        heapq.heappush(self._queue, _QueueEntry(total, -state.cost, self._count, entry, form))

    def _pop(self) -> SearchEdge | SearchState:
        """Return the most promising entry, by what is known of the form by now."""
        while True:
            entry = heapq.heappop(self._queue)
            grown = 0 if entry.form is None else self._form - entry.form
            if grown <= 0:
                return entry.entry
            again = entry._replace(total=entry.total + grown, form=self._form)
            heapq.heappush(self._queue, again)

    # ---- how far it is ---------------------------------------------------------------------

    def _known(self, device: Device) -> list[Affordance]:
        return [o for o in affordances_of(device) if not broken_link(o.do, device.apps)]

    def _heuristic(self, device: Device, known: list[Affordance]) -> int:
        """Return about how many touches are left: the heuristic."""
        argument = self._picker_argument(device)
        if argument:
            return self._heuristic_after_pick(device, argument)
        route = device.screen.route
        bound = [(o, c) for o in known if (c := self.goal.same_action(o.do)) is not None]
        if bound:
            left = min(self._touches_left(device, known, o, c) for o, c in bound)
        elif self.distances.get(route) == 0:
            left = self._inputs_left(device, known, None)
            if self.goal.call is not None or device.doc.page.path != self.goal.path:
                left += 1
        else:
            left = (self.goal.call is not None) + self._distance(device, route) + self._form
        away = 0 if bound else self.distances.get(route, FAR)
        self.closest = min(self.closest, ClosestPage(away, left, route))
        return left

    def _at_goal(self, device: Device) -> bool:
        """Whether a page is in front, or under a picker, that offers the goal."""
        return self.distances.get(device.screen.route) == 0 or bool(self._picker_argument(device))

    def _picker_argument(self, device: Device) -> str:
        """Return the argument that the media picker in front is open for, if it is."""
        over = device.doc.overlay
        name = str(over.locals.get("local", "")) if over is not None else ""
        return name if name in self.goal.args else ""

    def _heuristic_after_pick(self, device: Device, name: str) -> int:
        """Return the estimate with the goal's picture chosen, and the touches to choose it."""
        under = device.fork()
        assert device.doc.overlay is not None
        touches = 1 if device.doc.overlay.path == "/pick" else 2
        page = replace(device.doc, overlay=None)
        under.doc = navigation.set_locals(page, {name: self.goal.args[name]})
        return touches + self._heuristic(under, self._known(under))

    def _touches_left(
        self, device: Device, known: list[Affordance], offer: Affordance, call: Call
    ) -> int:
        left = 1 + offer.scrolls
        return left if offer.gesture == "place" else left + self._inputs_left(device, known, call)

    def _inputs_left(self, device: Device, known: list[Affordance], call: Call | None) -> int:
        """Return the touches that the inputs of a page still need."""
        route, values = device.screen.route, device.doc.page.locals
        left = form = 0
        for name, now in self._missing(device, known, call).items():
            if now == self.goal.args[name]:
                left += 1
                continue
            cost = self.goal.cost(name, now, known, values)
            has_input = cost < UNKNOWN_COST or (route, name) in self._costs
            if cost >= UNKNOWN_COST:
                cost = self._costs.get((route, name), self.goal.guess(name, now))
            elif not values.get(f"{name}.open"):
                self._costs[route, name] = cost
            left += cost
            form += cost if has_input or name not in self.goal.references else 0
        if not values:
            self._form = form if self._fresh is None else min(form, self._fresh)
            self._fresh = self._form
        return left

    def _missing(
        self, device: Device, known: list[Affordance], call: Call | None
    ) -> dict[str, Any]:
        """Return what differs from the goal's arguments, or has its chooser open, as it is now."""
        route, values = device.screen.route, device.doc.page.locals
        args = None if call is None else self.goal.bound(device, call)
        found = {}
        for name, target in self.goal.args.items():
            now = self.goal.shown(name, known, device) if args is None else args.get(name)
            if now is None and args is None:
                assumed = self.goal.defaults.get(name, target)
                now = self._shown.get((route, name), assumed)
            elif name not in self.goal.references:
                self._shown.setdefault((route, name), now)
            if now != target or values.get(f"{name}.open"):
                found[name] = now
        return found

    def _inputs_to_change(self, device: Device, known: list[Affordance]) -> set[str]:
        """Return the arguments that inputs of this page should change, doubtful ones included."""
        calls = [c for o in known if (c := self.goal.same_action(o.do)) is not None]
        if calls:
            closest = min(calls, key=lambda call: len(self.goal.missing(device, call)))
            return set(self._missing(device, known, closest))
        doubtful = {n for n in self.goal.args if self.goal.shown(n, known, device) is None}
        return doubtful | set(self._missing(device, known, None))

    def _distance(self, device: Device, route: str) -> int:
        here = self.distances.get(route, FAR)
        if device.doc.front == self.goal.app:
            return here
        return min(here, 1 + self._distance_of(device, self.goal.app))

    def _distance_of(self, device: Device, app: str, below: int = 1) -> int:
        """Return how far the page is that an app shows, or the one under it."""
        path = device.doc.apps[app].stack[-below].path
        return self.distances.get(route_of(device, Go(app=app, path=path)), FAR)

    # ---- what to try -----------------------------------------------------------------------

    def _expand(self, state: SearchState) -> None:
        device, values = state.device, state.device.doc.page.locals
        known = self._known(device)
        left = self._heuristic(device, known)
        at_goal = self._at_goal(device)
        missing = self._inputs_to_change(device, known)
        self._push_goal_edges(state, known)
        helpful: dict[str, list[tuple[int, SearchEdge]]] = defaultdict(list)
        crowds: dict[str, list[Affordance]] = defaultdict(list)
        for edge, offer in self._texts(state, known):
            field, scrolls = offer.node.field, offer.scrolls
            if field in missing:
                helpful[field].append((scrolls, edge))
            elif field not in self.goal.args:
                total = state.cost + 1 + scrolls + left
                self._push(total, state, edge, counts_form=not at_goal)
        for offer in known:
            if not self._is_worth_trying(offer, values):
                continue
            if offer.gesture == "place":
                for name in sorted(missing):
                    for share in self._shares(device, offer, name):
                        edge = SearchEdge(state, offer, share=share)
                        helpful[name].append((offer.scrolls, edge))
                continue
            name = self.goal.helps(offer.do, values)
            if name in missing:
                helpful[name].append((offer.scrolls, SearchEdge(state, offer)))
            elif not name:
                crowds[offer.key(device.apps)].append(offer)
        # Inputs of a form can be set in any order: one order is enough.
        if helpful:
            first = min(helpful.values(), key=lambda edges: min(e[0] for e in edges))
            for scrolls, edge in first:
                self._push(state.cost + scrolls + max(1, left), state, edge)
        for same in crowds.values():
            self._push_crowd(state, same, left)
        self._push_exits(state, left)

    def _push_goal_edges(self, state: SearchState, known: list[Affordance]) -> None:
        """Queue the touches that would make the call, or the same with a nearer number."""
        goal_call = self.goal.call
        for offer in known:
            call = self.goal.same_action(offer.do)
            if call is None or offer.gesture == "submit":
                continue
            total = state.cost + 1 + offer.scrolls
            if offer.gesture == "place":
                for share in self._shares(state.device, offer, ""):
                    edge = SearchEdge(state, offer, share=share, makes=goal_call, is_goal=True)
                    self._push(total, state, edge)
            elif not self.goal.missing(state.device, call):
                edge = SearchEdge(state, offer, makes=goal_call, is_goal=True)
                self._push(total, state, edge)
            elif steps := self.goal.steps_left(state.device, call):
                self._push(total + steps, state, SearchEdge(state, offer, makes=call))

    def _shares(self, device: Device, offer: Affordance, name: str) -> Iterator[float]:
        """Return where on a slider's track a value of the page, or the call, is the goal's."""
        node = offer.node
        if node.place is None:
            return
        for pixel in range(node.box.w):
            share = pixel / max(1, node.box.w - 1)
            do = node.place(share)
            if name:
                is_it = getattr(do, "values", {}).get(name, do) == self.goal.args[name]
            else:
                call = self.goal.same_action(do)
                is_it = call is not None and not self.goal.missing(device, call)
            if is_it:
                yield share
                return

    def _texts(
        self, state: SearchState, known: list[Affordance]
    ) -> Iterator[tuple[SearchEdge, Affordance]]:
        fields = [o for o in known if isinstance(o.do, Focus) and o.gesture == "tap"]
        named = {o.node.field for o in fields}
        for offer in fields:
            submit = offer.node.submit
            for text in self.goal.texts(offer, named):
                yield SearchEdge(state, offer, text=text), offer
                if submit is not None:
                    makes = self.goal.call if self.goal.same_action(submit) else None
                    edge = SearchEdge(state, offer, text=text, submit=True, makes=makes)
                    yield edge._replace(is_goal=makes is not None), offer

    def _is_worth_trying(self, offer: Affordance, values: dict[str, object]) -> bool:
        """Whether a touch is worth trying on the way."""
        do = offer.do
        if offer.gesture in ("pinch", "submit") or isinstance(do, Focus | Back | OpenApp | Copy):
            return False
        if offer.chrome and not self.wide and self.goal.app != OS_ID:
            return False
        if any(isinstance(part, Call) for part in calls_in(do)) and not isinstance(do, Both):
            return self.wide and self.goal.same_action(do) is None
        if self.wide:
            return True
        if isinstance(do, Share | Paste):
            return False
        return not self.goal.leads_astray(do, values)

    def _push_crowd(self, state: SearchState, same: list[Affordance], left: int) -> None:
        crowded = len(same) > CROWD
        at_goal = self._at_goal(state.device)
        for offer in same:
            total: float = state.cost + 1 + offer.scrolls
            total += self._heuristic_after(state.device, offer.do, left)
            if crowded and not self.goal.is_relevant(offer.do):
                total += 0.5
            moves = any(isinstance(part, Go) for part in calls_in(offer.do))
            counts = moves or not at_goal
            self._push(total, state, SearchEdge(state, offer), counts_form=counts)

    def _heuristic_after(self, device: Device, do: Do, left: int) -> int:
        """Return the estimate for the page that a touch leads to, without trying it."""
        gone = [part for part in calls_in(do) if isinstance(part, Go)]
        if not gone:
            return left
        away = self.distances.get(route_of(device, gone[-1]), FAR)
        return (self.goal.call is not None) + away + self._form

    def _push_exits(self, state: SearchState, left: int) -> None:
        """Queue other apps, and the way back."""
        doc, cost = state.device.doc, state.cost
        targets = tuple(installed()) if self.wide else (self.goal.app,)
        for app in targets:
            if app not in (doc.front, OS_ID):
                total = cost + 2 + self._distance_of(state.device, app) + self._form
                edge = SearchEdge(state, None, Open(app=app))
                self._push(total, state, edge, counts_form=True)
        back = SearchEdge(state, None, Key(name="back"))
        if doc.focus or doc.overlay is not None:
            self._push(cost + 1 + left, state, back)
        elif len(doc.apps[doc.front].stack) > 1:
            total = cost + 2 + self._distance_of(state.device, doc.front, below=2) + self._form
            self._push(total, state, back, counts_form=True)


def find_path(device: Device, goal: SearchGoal, *, tolerate: Tolerate, budget: int) -> SearchResult:
    """Return the shortest known path to a touch that makes a call, or to a page.

    A call that would change nothing is there already.

    Args:
        device: where from; it is not changed.
        goal: what to look for.
        tolerate: which other changes may happen on the way.
        budget: touches to try at most.

    Raises:
        TaskError: the call is refused from here, or no path was found.
    """
    call = goal.call
    name = f"{goal.app}{goal.path}"
    if call is not None:
        name = f"{call.app}.{call.action} {call.args}"
        outcome = dispatch(device.doc, device.apps, call)
        if not outcome.ok:
            raise TaskError(f"{name} is refused: {outcome.message}")
        if not outcome.rows:
            return SearchResult((), device.fork(), 0)
    tried = 0
    closest = ClosestPage(FAR, 1 << 30, "")
    for wide in (False, True):
        room = budget - tried if wide else budget // NARROW_SHARE
        search = Search(device, goal, tolerate=tolerate, budget=room, wide=wide)
        found = search.run()
        tried += search.tried
        closest = min(closest, search.closest)
        if found is not None:
            return found._replace(tried=tried)
    raise TaskError(
        f"no way by touch was found to {name} within {tried} touches; the closest page was "
        f"{closest.route}, about {closest.left} touches away"
    )
