"""Several managers on one PostgreSQL database: nothing granted twice, nothing written late."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from odometer import REF, TAP, Garage
from postgres_server import PostgresServer
from test_journal_contract import a_free, a_lease, an_intent

from screenloop.bench.lease.faults import Faults, HandClock, Life, Wire
from screenloop.errors import ConfigError, InfraFault, LeaseLost
from screenloop.manager.clock import SystemClock
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.ownership import JournalOwner
from screenloop.manager.journal.postgres import PostgresJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.on_demand import OnDemandSupply

DOOMED = """
import asyncio, sys
sys.path[:0] = sys.argv[3:]
from test_journal_contract import a_lease, an_intent
from screenloop.manager.journal.ownership import JournalOwner
from screenloop.manager.journal.postgres import PostgresJournal

async def live():
    journal = PostgresJournal(sys.argv[1], JournalOwner(manager="a"), schema=sys.argv[2])
    await journal.grant(a_lease())
    await journal.intend(an_intent("e/0/0"))
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(live())
"""


class Database:
    """One schema and the managers that share it."""

    def __init__(self, server: PostgresServer, stack: AsyncExitStack) -> None:
        self.server = server
        self.schema = server.new_schema()
        self.replaced: list[str] = []
        self._stack = stack

    def manager(self, name: str, fleet: str = "") -> PostgresJournal:
        journal = PostgresJournal(
            self.server.url,
            JournalOwner(manager=name, fleet=fleet),
            schema=self.schema,
            replaced=lambda: self.replaced.append(name),
        )
        self._stack.push_async_callback(journal.close)
        return journal

    async def silence(self, *names: str) -> None:
        """Let managers have been silent for long."""
        await self.server.run(
            f"UPDATE {self.schema}.managers SET seen = seen - interval '1 hour'"
            " WHERE manager = ANY ($1::text[])",
            names,
        )


@pytest.fixture
async def database(postgres: PostgresServer) -> AsyncIterator[Database]:
    async with AsyncExitStack() as stack:
        yield Database(postgres, stack)


def writes_of(journal: PostgresJournal) -> list[Callable[[], Awaitable[object]]]:
    return [
        lambda: journal.grant(a_lease(9, "new", "run/n")),
        lambda: journal.grant(a_lease(9)),
        lambda: journal.end(a_free(9)),
        lambda: journal.forget("one"),
        lambda: journal.intend(an_intent("e/9/0")),
        lambda: journal.settle("one", 1, "e/0/0"),
        journal.load,
    ]


async def test_of_two_managers_one_gets_an_instance_whatever_the_fences(
    database: Database,
) -> None:
    pair = database.manager("a"), database.manager("b")
    names = [f"phone-{number}" for number in range(20)]
    grants = [
        journal.grant(a_lease(1 + (number + place) % 3, name, f"run/{number}-{place}"))
        for number, name in enumerate(names)
        for place, journal in enumerate(pair)
    ]
    ends = await asyncio.gather(*grants, return_exceptions=True)
    assert [sum(one is None for one in ends[at : at + 2]) for at in range(0, 40, 2)] == [1] * 20
    assert sum(isinstance(one, LeaseLost) for one in ends) == 20
    first, second = [{one.instance for one in (await journal.load()).leases} for journal in pair]
    assert first.isdisjoint(second)
    assert first | second == set(names)


async def test_a_manager_changes_nothing_of_what_another_owns(database: Database) -> None:
    a, b = database.manager("a"), database.manager("b")
    await a.grant(a_lease())
    await a.intend(an_intent("e/0/0"))
    with pytest.raises(LeaseLost, match="another manager owns it"):
        await b.grant(a_lease(5))
    await b.end(a_free(5))
    await b.forget("one")
    assert (await b.load()).leases == ()
    state = await a.load()
    assert (state.leases, state.intents) == ((a_lease(),), (an_intent("e/0/0"),))


async def test_a_killed_manager_is_taken_over_once_it_was_silent_long_enough(
    database: Database,
) -> None:
    command = [sys.executable, "-c", DOOMED, database.server.url, database.schema]
    here = Path(__file__).parent
    command += [str(here), str(here.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as doomed:
        try:
            assert doomed.stdout is not None
            assert doomed.stdout.readline() == b"ready\n"
        finally:
            doomed.kill()
    b = database.manager("b")
    assert (await b.load()).leases == ()
    await database.silence("a")
    state = await b.load()
    assert (state.leases, state.intents) == ((a_lease(),), (an_intent("e/0/0"),))
    await b.end(a_free(2))
    assert (await b.load()).free == (a_free(2),)


@pytest.mark.parametrize("number", range(7))
async def test_every_call_of_a_manager_that_was_taken_over_is_refused(
    database: Database, number: int
) -> None:
    a, b = database.manager("a"), database.manager("b")
    await a.grant(a_lease())
    await a.intend(an_intent("e/0/0"))
    await database.silence("a")
    before = await b.load()
    calls = writes_of(a)
    for call in (calls[number], *calls):
        with pytest.raises(InfraFault, match=r"manager, a of epoch \d+, was replaced"):
            await call()
    assert await b.load() == before
    assert before.leases == (a_lease(),)
    assert database.replaced == ["a"]


async def test_a_process_of_the_same_name_takes_its_place_at_once(database: Database) -> None:
    old = database.manager("a")
    await old.grant(a_lease())
    new = database.manager("a")
    assert (await new.load()).leases == (a_lease(),)
    with pytest.raises(InfraFault, match="was replaced"):
        await old.end(a_free(2))
    assert (await new.load()).leases == (a_lease(),)
    await new.end(a_free(2))


async def test_a_manager_that_was_taken_over_starts_again_with_nothing(database: Database) -> None:
    old, b = database.manager("a"), database.manager("b")
    await old.grant(a_lease())
    await database.silence("a")
    await b.load()
    new = database.manager("a")
    assert (await new.load()).leases == ()
    await new.grant(a_lease(1, "two", "run/b"))
    with pytest.raises(InfraFault, match="was replaced"):
        await old.grant(a_lease(1, "three", "run/c"))


async def test_one_that_left_in_good_order_is_taken_over_at_once(database: Database) -> None:
    a, b = database.manager("a"), database.manager("b")
    await a.grant(a_lease())
    await a.close()
    assert (await b.load()).leases == (a_lease(),)


async def test_managers_of_another_fleet_take_nothing_over(database: Database) -> None:
    a, b, c = database.manager("a", "x"), database.manager("b", "y"), database.manager("c", "x")
    await a.grant(a_lease())
    await database.silence("a")
    assert (await b.load()).leases == ()
    assert (await c.load()).leases == (a_lease(),)


async def test_of_several_who_take_over_at_once_each_silent_one_has_one_heir(
    database: Database,
) -> None:
    names = [f"dead-{number}" for number in range(6)]
    for name in names:
        dead = database.manager(name)
        for number in range(3):
            await dead.grant(a_lease(1, f"{name}/{number}", f"run/{name}-{number}"))
    heirs = [database.manager(f"heir-{number}") for number in range(3)]
    for heir in heirs:
        await heir.load()
    await database.silence(*names)
    states = await asyncio.gather(*(heir.load() for heir in heirs))
    got = [one.instance for state in states for one in state.leases]
    assert sorted(got) == sorted(f"{name}/{number}" for name in names for number in range(3))
    for state in states:
        owners = [one.instance.partition("/")[0] for one in state.leases]
        assert all(owners.count(owner) == 3 for owner in owners)


@asynccontextmanager
async def held_up(database: Database) -> AsyncIterator[None]:
    """Keep writes of the Instance `one` waiting in the server, in the middle of themselves."""
    connection = await asyncpg.connect(
        database.server.url, server_settings={"search_path": database.schema}
    )
    try:
        async with connection.transaction():
            await connection.execute("SELECT FROM instances WHERE instance = 'one' FOR UPDATE")
            yield
    finally:
        await connection.close()


async def waiting(database: Database, count: int, *tasks: asyncio.Task[Any]) -> None:
    """Return once so many statements wait in the server, none of these being through."""
    query = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    while len(await database.server.run(query)) < count:
        assert not any(task.done() for task in tasks)


async def test_a_write_on_its_way_is_known_to_the_one_who_takes_the_place(
    database: Database,
) -> None:
    old, new = database.manager("a"), database.manager("a")
    await old.grant(a_lease())
    async with held_up(database):
        writing = asyncio.create_task(old.end(a_free(8)))
        await waiting(database, 1, writing)
        taking = asyncio.create_task(new.load())
        await waiting(database, 2, writing, taking)
    await writing
    assert (await taking).free == (a_free(8),)


async def test_a_manager_that_is_writing_is_not_silent(database: Database) -> None:
    a, b = database.manager("a"), database.manager("b")
    await a.grant(a_lease())
    await database.silence("a")
    async with held_up(database):
        writing = asyncio.create_task(a.end(a_free(8)))
        await waiting(database, 1, writing)
        assert (await b.load()).leases == ()
    await writing
    assert (await b.load()).free == (a_free(8),)


async def test_heartbeats_keep_others_from_taking_over(database: Database) -> None:
    ticks: asyncio.Queue[None] = asyncio.Queue()

    class TickedClock(SystemClock):
        async def sleep(self, seconds: float) -> None:
            await ticks.get()

    a = PostgresJournal(
        database.server.url, JournalOwner(manager="a"), schema=database.schema, clock=TickedClock()
    )
    b = database.manager("b")
    await a.grant(a_lease())
    await database.silence("a")
    ticks.put_nowait(None)
    fresh = (
        f"SELECT FROM {database.schema}.managers"
        " WHERE manager = 'a' AND seen > now() - interval '1 minute'"
    )
    while not await database.server.run(fresh):
        pass
    assert (await b.load()).leases == ()
    await a.end(a_free(2))
    await a.close()


async def test_a_heartbeat_finds_out_that_the_place_is_lost(database: Database) -> None:
    ticks: asyncio.Queue[None] = asyncio.Queue()
    lost = asyncio.Event()

    class TickedClock(SystemClock):
        async def sleep(self, seconds: float) -> None:
            await ticks.get()

    old = PostgresJournal(
        database.server.url,
        JournalOwner(manager="a"),
        schema=database.schema,
        clock=TickedClock(),
        replaced=lost.set,
    )
    await old.load()
    await database.manager("a").load()
    ticks.put_nowait(None)
    await asyncio.wait_for(lost.wait(), 240)
    await old.close()


@pytest.mark.parametrize("wrong", [{"manager": ""}, {"manager": "a", "silent_s": 0.0}])
def test_a_member_needs_a_name_and_a_limit(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="manager"):
        JournalOwner(**wrong)  # type: ignore[arg-type]


async def test_a_lease_goes_on_under_another_manager_and_steps_are_done_once(
    database: Database,
) -> None:
    garage, clock = Garage(), HandClock()
    host = InstanceHost("h", garage.open, clock=clock, boot="b1")

    def a_service(name: str) -> ManagerService:
        supply = OnDemandSupply(Wire(host, Life(), Faults()), boot="b1", prefix=f"{name}-")
        return ManagerService(supply, database.manager(name), clock=clock)

    a, b = a_service("a"), a_service("b")
    await a.start()
    lease = await a.acquire(REF, "run", ttl_s=60)
    first = await a.step(lease, "e/0/0", TAP, deadline_s=60)
    await database.silence("a")
    assert (await b.start()).leases == (lease.id,)
    assert await b.step(lease, "e/0/0", TAP, deadline_s=60) == first
    with pytest.raises(InfraFault, match="was replaced"):
        await a.step(lease, "e/1/0", TAP, deadline_s=5)
    with pytest.raises(InfraFault, match="was replaced"):
        await a.acquire(REF, "run", ttl_s=60)
    await b.step(lease, "e/1/0", TAP, deadline_s=60)
    assert garage.made[0].steps == 2
    await b.release(lease)
    await a.detach()
    await b.detach()
