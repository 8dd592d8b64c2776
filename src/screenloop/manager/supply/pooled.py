"""The Supply with warm pools: Instances are kept ready on hosts that launchers start."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from screenloop.errors import ConfigError, InfraFault, ScreenloopError
from screenloop.manager.clock import Clock, SystemClock, first_of
from screenloop.manager.hosts.base import Host, HostSeen, Launcher
from screenloop.manager.supply.base import (
    AdoptedInstances,
    KnownInstance,
    ReadyInstance,
    SupplyListener,
)
from screenloop.manager.supply.context import PoolContext
from screenloop.manager.supply.desired import PoolPlan, Timing
from screenloop.manager.supply.keeper import PoolReconciler
from screenloop.manager.supply.plan import HostNow
from screenloop.manager.supply.pool import Pool, kind_name, pool_name
from screenloop.manager.supply.queue import AcquireQueue
from screenloop.manager.supply.tokens import HostTokens
from screenloop.manager.wire.bodies import PoolStatus, Quarantined
from screenloop.registry import unknown
from screenloop.types import EnvRef, EnvSpec

SPEC_S = 120.0
"""How long `spec` waits for a first Instance."""
_LEAST_PAUSE_S = 0.02
_PAUSE_S_PER_INSTANCE = 4e-6
"""A look costs time for each Instance: looks of large pools keep a distance in proportion."""
_HOST = re.compile(r"(?P<kind>.+)-(?P<width>\d+)x(?P<height>\d+)-[^-]+")

_log = logging.getLogger(__name__)


class PooledSupply:
    """Keeps one pool an Environment, as its plan says, and gives out what is ready.

    Sizes of a planned kind that no plan names get a pool like the kind's first one, with nothing
    kept warm. The loop starts with the first use, or with `adopt`.
    """

    def __init__(
        self,
        plans: Sequence[PoolPlan],
        launchers: Mapping[str, Launcher],
        *,
        tokens: HostTokens,
        blobs: str,
        clock: Clock | None = None,
        timing: Timing | None = None,
        seed: int = 0,
        direct: bool = False,
        queue_limit: int = 100_000,
        started: Callable[[str, float], None] = lambda kind, seconds: None,
    ) -> None:
        """Prepare; starts nothing.

        Args:
            plans: the pools that are wanted.
            launchers: by kind, who starts and ends hosts; several kinds may share one.
            tokens: bearer tokens of hosts.
            blobs: URL of the store that hosts share with us.
            clock: of all time-outs.
            timing: how often to look and how long to wait.
            seed: of the jitter in waits after failures.
            direct: whether clients may go straight to hosts.
            queue_limit: requests that may wait, over all Runs.
            started: told the kind and seconds of each start of an Instance.

        Raises:
            ConfigError: a kind has no launcher, or two plans are for one Environment.
        """
        _check(plans, launchers)
        self._plans = tuple(plans)
        self._launchers = dict(launchers)
        self._clock = clock or SystemClock()
        self._timing = timing or Timing()
        self._queue: AcquireQueue[ReadyInstance] = AcquireQueue(
            clock=self._clock, unclaimed=self._unclaimed, limit=queue_limit
        )
        self._keepers: dict[EnvRef, PoolReconciler] = {}
        self._by_name: dict[str, PoolReconciler] = {}
        self._wanted = asyncio.Event()
        self._around = PoolContext(
            queue=self._queue,
            tokens=tokens,
            blobs=blobs,
            clock=self._clock,
            timing=self._timing,
            jitter=random.Random(seed),
            direct=direct,
            wake=self._wanted.set,
            started=started,
        )
        self._loop: asyncio.Task[None] | None = None
        self._draining_by_s: float | None = None
        self._closed = False
        for plan in plans:
            self._add(plan)

    # ---- the Supply contract -----------------------------------------------------------------

    def listen(self, listener: SupplyListener) -> None:
        self._around.listener = listener

    async def spec(self, env: EnvRef) -> EnvSpec:
        """Tell what Instances of this kind can do; waits for a first one."""
        pool = self._keeper(env).pool
        if pool.spec is None:
            taken = await self.take(env, "", deadline_s=SPEC_S)
            self._give_back(taken.instance, healthy=True, reason="", used=False)
            return taken.spec
        return pool.spec

    async def take(self, env: EnvRef, run_id: str, *, deadline_s: float) -> ReadyInstance:
        if self._closed or self._draining_by_s is not None:
            raise InfraFault("the supply gives out nothing more: it is drained or closed")
        self.start()
        keeper = self._keeper(env)
        taken = keeper.desk.take_free(run_id)
        self._wanted.set()
        if taken is None:
            taken = await self._queue.wait(env, run_id, wait_s=deadline_s)
        return taken

    async def give_back(self, instance: str, *, healthy: bool, reason: str = "") -> None:
        self._give_back(instance, healthy=healthy, reason=reason, used=True)

    def host_of(self, instance: str) -> Host:
        keeper = self._keeper_of(instance)
        unit = keeper.pool.units.get(instance) if keeper is not None else None
        if keeper is None or unit is None or unit.run_id is None:
            raise InfraFault(f"instance {instance} is not in use here (any more)")
        return keeper.pool.way_of(unit)

    async def adopt(self, known: Sequence[KnownInstance]) -> AdoptedInstances:
        held = frozenset(one.instance for one in known if one.held)
        for one in known:
            # A kind that is no longer planned has no pool; its Instances are gone for us.
            with contextlib.suppress(ConfigError):
                self._keeper(one.env)
        for keeper in self._keepers.values():
            keeper.watch.held = held
        await self._look()
        for keeper in list(self._keepers.values()):
            await keeper.watch.connected(self._timing.adopt_s)
        found: dict[str, ReadyInstance] = {}
        gone: dict[str, str] = {}
        for one in known:
            what = self._found(one)
            if isinstance(what, ReadyInstance):
                found[one.instance] = what
            else:
                gone[one.instance] = what
        for keeper in self._keepers.values():
            keeper.watch.held = frozenset()
        self.start()
        return AdoptedInstances(found=found, gone=gone)

    async def detach(self) -> None:
        await self._end_loop("the manager lets go")
        for keeper in self._keepers.values():
            await keeper.let_go()
        await self._close_launchers()

    async def close(self) -> None:
        await self._end_loop("the supply is closed")
        for keeper in self._keepers.values():
            keeper.end_all()
        by_s = self._clock.now_s() + self._timing.close_s
        while not all(keeper.is_over for keeper in self._keepers.values()):
            if self._clock.now_s() >= by_s:
                _log.warning("hosts are still there %g s after the end", self._timing.close_s)
                break
            await self._clock.sleep(_LEAST_PAUSE_S)
            await self._look(act=False)
        for keeper in self._keepers.values():
            await keeper.let_go()
        await self._close_launchers()

    # ---- besides -----------------------------------------------------------------------------

    def start(self) -> None:
        """Start the loop that keeps the pools; starting twice is harmless."""
        if self._loop is None and not self._closed:
            self._loop = asyncio.create_task(self._run())

    async def drain(self, *, limit_s: float) -> None:
        """Give out nothing more, wait until Episodes ended or the limit came, end all hosts."""
        self.start()
        self._draining_by_s = self._clock.now_s() + limit_s
        self._queue.refuse_all("the supply is drained: ask another manager")
        for keeper in self._keepers.values():
            keeper.pool.draining, keeper.pool.drain_by_s = True, self._draining_by_s
        self._wanted.set()
        while any(keeper.pool.hosts for keeper in self._keepers.values()):
            await self._clock.sleep(_LEAST_PAUSE_S)
            if self._closed:
                return

    def status(self) -> tuple[PoolStatus, ...]:
        return tuple(
            keeper.pool.status(self._queue.fair.waiting(env))
            for env, keeper in self._keepers.items()
        )

    def hosts(self) -> tuple[HostNow, ...]:
        return tuple(
            record.now for keeper in self._keepers.values() for record in keeper.pool.hosts.values()
        )

    def quarantined(self) -> tuple[Quarantined, ...]:
        """Return the Instances that were taken out lately, and why."""
        return tuple(one for keeper in self._keepers.values() for one in keeper.pool.quarantined)

    # ---- the loop ----------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._wanted.clear()
            try:
                await self._look()
            except ScreenloopError as error:
                _log.warning("a look at the hosts failed: %s", error)
            except Exception:
                _log.exception("a look at the hosts failed in an unforeseen way")
            await self._pause()

    async def _look(self, *, act: bool = True) -> None:
        """Look once at everything, and begin what is to be done."""
        seen: dict[PoolReconciler, list[HostSeen]] = {one: [] for one in self._keepers.values()}
        for launcher in {id(one): one for one in self._launchers.values()}.values():
            try:
                there = await launcher.seen()
            except ScreenloopError as error:
                # Nothing is known of its hosts now: what was known stays, heartbeats go on.
                _log.warning("launcher %s cannot say what is there: %s", launcher.name, error)
                for keeper in [one for one in seen if one.launcher is launcher]:
                    del seen[keeper]
                continue
            for one in there:
                owner = self._keeper_of(one.host)
                if owner is not None:
                    seen.setdefault(owner, []).append(one)
        for keeper, hosts in seen.items():
            keeper.watch.observe(hosts)
        self._queue.expire()
        if act:
            for keeper in list(self._keepers.values()):
                keeper.watch.beat()
                keeper.act()

    async def _pause(self) -> None:
        """Wait for something to do, or for the next look."""
        count = sum(len(keeper.pool.units) for keeper in self._keepers.values())
        least_s = _LEAST_PAUSE_S + _PAUSE_S_PER_INSTANCE * count
        await self._clock.sleep(least_s)
        if self._wanted.is_set():
            return
        await first_of(self._wanted.wait(), self._clock.sleep(self._timing.look_s))

    async def _end_loop(self, why: str) -> None:
        self._closed = True
        self._queue.refuse_all(why)
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})

    async def _close_launchers(self) -> None:
        for launcher in {id(one): one for one in self._launchers.values()}.values():
            await launcher.close()

    # ---- pools -------------------------------------------------------------------------------

    def _keeper(self, env: EnvRef) -> PoolReconciler:
        keeper = self._keepers.get(env)
        if keeper is not None:
            return keeper
        like = next((plan for plan in self._plans if plan.env.kind == env.kind), None)
        if like is None:
            raise unknown("environment kind", env.kind, {plan.env.kind for plan in self._plans})
        return self._add(replace(like, env=env, target=0, spares=0))

    def _add(self, plan: PoolPlan) -> PoolReconciler:
        pool = Pool(plan)
        pool.draining = self._draining_by_s is not None
        pool.drain_by_s = self._draining_by_s
        keeper = PoolReconciler(pool, self._launchers[plan.env.kind], self._around)
        self._keepers[plan.env] = keeper
        self._by_name[pool_name(plan.env)] = keeper
        return keeper

    def _keeper_of(self, name: str) -> PoolReconciler | None:
        """Return the pool of a host or Instance, by the name that we gave it."""
        host = name.partition("/")[0]
        pool = host.rpartition("-")[0]
        if pool not in self._by_name:
            form = _HOST.fullmatch(host)
            kinds = {kind_name(plan.env.kind): plan.env.kind for plan in self._plans}
            if form is None or form["kind"] not in kinds:
                return None
            size_px = int(form["width"]), int(form["height"])
            return self._keeper(EnvRef(kind=kinds[form["kind"]], size_px=size_px))
        return self._by_name[pool]

    def _found(self, known: KnownInstance) -> ReadyInstance | str:
        """Return an earlier manager's Instance, or why it is gone."""
        keeper = self._keepers.get(known.env)
        if keeper is None:
            return f"environment kind {known.env.kind} is no longer served here"
        record = keeper.pool.hosts.get(known.host)
        if record is None or record.way is None:
            why = record.now.reason if record is not None else "no such host is there"
            return f"host {known.host} is gone: {why or 'it does not answer'}"
        if record.boot != known.boot:
            return f"host {known.host} is another process now"
        unit = keeper.pool.units.get(known.instance)
        if unit is None:
            return f"host {known.host} no longer has it"
        return keeper.pool.taken(unit, direct=self._around.direct)

    def _give_back(self, instance: str, *, healthy: bool, reason: str, used: bool) -> None:
        keeper = self._keeper_of(instance)
        unit = keeper.pool.units.get(instance) if keeper is not None else None
        if keeper is not None and unit is not None and unit.run_id is not None:
            keeper.desk.give_back(unit, healthy=healthy, reason=reason, used=used)

    def _unclaimed(self, env: EnvRef, run_id: str, taken: ReadyInstance) -> None:
        self._give_back(taken.instance, healthy=True, reason="", used=False)


def _check(plans: Sequence[PoolPlan], launchers: Mapping[str, Launcher]) -> None:
    """Refuse plans that cannot be kept."""
    for plan in plans:
        if plan.env.kind not in launchers:
            raise unknown("environment kind without a launcher", plan.env.kind, launchers)
    if len({plan.env for plan in plans}) < len(plans):
        raise ConfigError("two plans are for one environment; merge them")
