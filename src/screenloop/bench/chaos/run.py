"""Bench of chaos: Episodes through a manager whose processes, disk, network and clock go wrong.

Real processes on the loopback address: a manager, hosts of fake devices, a proxy in between that
loses, delays and repeats requests. Half of the Episodes are played to success, half fall short by
one action; what was done to each device is in a log that no fault touches. With fencing switched
off the same run must find violations, or it would prove nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from screenloop.bench.chaos.account import account_of_devices, account_of_run
from screenloop.bench.chaos.devices import read_deeds
from screenloop.bench.chaos.players import Part, Players, parts_of
from screenloop.bench.chaos.schedule import LEASE_TTL_S, Move, amounts_for, draw_fates, draw_moves
from screenloop.bench.chaos.world import ChaosWorld, Disk
from screenloop.config import HarnessConfig, RunConfig
from screenloop.errors import ConfigError, ScreenloopError
from screenloop.manager.client import connect
from screenloop.rollout.batch import Planned, plan_episodes, run_batch
from screenloop.rollout.context import Deadlines, RunContext
from screenloop.store.runs import EpisodeRow, RunFolder
from screenloop.testing.unreliable_network import UnreliableProxy
from screenloop.types import Struct

CONCURRENCY = 6
LEAST_EPISODES = 10
LIMIT_S = 900.0
"""After which a run is cut off; what has not ended by then is lost."""
DEADLINES = Deadlines(
    lease_ttl_s=LEASE_TTL_S,
    acquire_s=180.0,
    reset_s=60.0,
    observe_s=30.0,
    step_s=30.0,
    evaluate_s=10.0,
)
_LOOK_S = 0.02
_HOST_WAIT_S = 60.0


class ChaosBench(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What was counted."""

    episodes: int
    killed: int
    """Processes ended by SIGKILL: hosts and managers."""
    lost: int
    """Planned Episodes without exactly one end."""
    duplicated: int
    """Actions carried out again, Episodes reset again after their first step, and steps on a
    device that another Episode had been given."""
    misscored: int
    """Scored Episodes whose verdict is not that of what was played."""
    unscored: int
    """Episodes without a score after their retries, although their verifier was sound."""
    unscored_ratio: float
    """Of the Episodes with a sound verifier."""
    unsound: int
    """Episodes with a verifier that hangs or crashes; they cannot have a score."""
    task_faults: int
    """Of these, those whose verifier was reached, blamed on the task, and not tried again."""
    attempts: int
    faulted: dict[str, int]
    """Attempts that a failure ended, by blame."""
    faults: dict[str, int]
    """What was done, by kind."""
    seconds: float
    seed: int
    fencing: bool
    disk: Disk
    broke: str
    """What ended the run before its time, if anything."""
    reasons: tuple[str, ...]
    """Why Episodes were left unscored or misscored, the first few."""


class Watch:
    """Counts attempts and Episodes that are over."""

    def __init__(self) -> None:
        self.attempts = 0
        self._over = 0
        self._news = asyncio.Event()

    def planned(self, total: int, kept: int) -> None:
        """Nothing is known yet."""

    def began(self, planned: Planned, attempt: int) -> None:
        self.attempts += 1

    def ended(self, row: EpisodeRow) -> None:
        self._over += 1
        self._news.set()

    async def until(self, episodes: int) -> None:
        """Wait until so many Episodes are over."""
        while self._over < episodes:
            self._news.clear()
            await self._news.wait()


class Monkey:
    """Does what a schedule says, as Episodes come to their ends."""

    def __init__(self, world: ChaosWorld, watch: Watch) -> None:
        self.done: Counter[str] = Counter()
        """What was really done, by kind."""
        self._world = world
        self._watch = watch
        self._skew_s = 0.0

    async def play(self, moves: tuple[Move, ...]) -> None:
        """Carry out the moves; stalls and full disks go on while the next ones come."""
        async with asyncio.TaskGroup() as lasting:
            for move in moves:
                await self._watch.until(move.after)
                match move.kind:
                    case "kill_manager":
                        await self._world.kill_manager()
                        self.done[move.kind] += 1
                        await self._world.start_manager()
                    case "kill_host":
                        await self._kill_host(move)
                    case "stall_host":
                        lasting.create_task(self._stall_host(move))
                    case "skew_clock":
                        self._skew_s += move.seconds
                        self._world.skew_clock(self._skew_s)
                        self.done[move.kind] += 1
                    case "fill_disk":
                        lasting.create_task(self._fill_disk(move))

    async def _kill_host(self, move: Move) -> None:
        by_s = time.monotonic() + _HOST_WAIT_S
        while time.monotonic() < by_s:
            card = self._world.pick(move.pick)
            if card is not None and self._world.kill_host(card):
                self.done[move.kind] += 1
                return
            await asyncio.sleep(_LOOK_S)

    async def _stall_host(self, move: Move) -> None:
        card = self._world.pick(move.pick)
        if card is not None:
            self.done[move.kind] += 1
            with self._world.stalled(card):
                await asyncio.sleep(move.seconds)

    async def _fill_disk(self, move: Move) -> None:
        self.done[move.kind] += 1
        async with self._world.full_disk():
            await asyncio.sleep(move.seconds)


async def run(episodes: int = 300, *, seed: int = 0, fencing: bool = True) -> ChaosBench:
    """Play and count.

    Args:
        episodes: to play.
        seed: of the faults.
        fencing: False takes the fences away; then violations must be found.

    Raises:
        ConfigError: there are too few Episodes for anything to go wrong between.
        InfraFault: no manager comes up.
    """
    if episodes < LEAST_EPISODES:
        raise ConfigError(f"chaos needs at least {LEAST_EPISODES} episodes, not {episodes}")
    with tempfile.TemporaryDirectory(prefix="screenloop-chaos-") as name:
        folder = Path(name)
        moves = draw_moves(seed, episodes, amounts_for(episodes))
        began_s = time.monotonic()
        async with ChaosWorld(folder, fencing=fencing, instances=CONCURRENCY) as world:
            proxy = UnreliableProxy(world.port, draw_fates(seed, episodes))
            async with proxy:
                watch = Watch()
                monkey = Monkey(world, watch)
                parts = parts_of(episodes)
                async with _while_playing(monkey, moves):
                    broke = await play(folder / "run", parts, proxy.url, world.token, watch)
        config = _config(parts)
        plan = plan_episodes(config, [part.task for part in parts])
        expected = {part.task.key: part.expected for part in parts}
        of_run = account_of_run(RunFolder(folder / "run"), plan, expected)
        of_devices = account_of_devices(read_deeds(world.control))
    faults = monkey.done + Counter({f"request_{k}": n for k, n in proxy.counts.items()})
    return ChaosBench(
        episodes=episodes,
        killed=monkey.done["kill_host"] + monkey.done["kill_manager"],
        lost=of_run.lost,
        duplicated=of_devices.duplicated + of_devices.rewound + of_devices.trespassed,
        misscored=of_run.misscored,
        unscored=of_run.unscored,
        unscored_ratio=of_run.unscored / (episodes - of_run.unsound),
        unsound=of_run.unsound,
        task_faults=of_run.task_faults,
        attempts=watch.attempts,
        faulted=of_run.faulted,
        faults=dict(sorted(faults.items())),
        seconds=time.monotonic() - began_s,
        seed=seed,
        fencing=fencing,
        disk=world.disk,
        broke=broke,
        reasons=of_run.reasons,
    )


async def play(out: Path, parts: tuple[Part, ...], url: str, token: str, watch: Watch) -> str:
    """Play the Episodes through a manager; returns what ended the run before its time, if any."""
    players = Players(parts)
    manager = await connect(url, token=token, own=RunFolder(out).blobs)
    setting = RunContext(manager=manager, prepare=players.prepare, deadlines=DEADLINES)
    try:
        async with asyncio.timeout(LIMIT_S):
            await run_batch(
                _config(parts),
                [part.task for part in parts],
                setting,
                players.new,
                out,
                concurrency=CONCURRENCY,
                progress=watch,
            )
    except TimeoutError:
        return f"the run was not over after {LIMIT_S:g} s"
    except ScreenloopError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        await manager.close()
    return ""


def _config(parts: tuple[Part, ...]) -> RunConfig:
    harness = HarnessConfig(
        suite="fake", suite_version="1", tasks=tuple(sorted(part.task.key for part in parts))
    )
    return RunConfig(harness=harness, model="chaos")


@asynccontextmanager
async def _while_playing(monkey: Monkey, moves: tuple[Move, ...]) -> AsyncIterator[None]:
    """Let the monkey go about; it stops, and lets go of what it holds, at the end."""
    work = asyncio.create_task(monkey.play(moves))
    try:
        yield
        if work.done():
            await work
    finally:
        work.cancel()
        await asyncio.wait({work})
