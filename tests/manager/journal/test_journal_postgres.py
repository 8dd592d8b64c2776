"""The Journal in PostgreSQL: its values, its losses, and what is wrong with a URL."""

from __future__ import annotations

import random
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from postgres_server import PostgresServer
from test_journal_contract import a_free, a_lease, an_intent

from screenloop.actions import Type
from screenloop.bench.lease.schedules import draw_schedule, play_schedule
from screenloop.errors import ConfigError, InfraFault
from screenloop.manager.base import TakeStep
from screenloop.manager.journal.base import Intent, LeaseRecord
from screenloop.manager.journal.ownership import JournalOwner
from screenloop.manager.journal.postgres import PostgresJournal
from screenloop.types import EnvRef

T = TypeVar("T")
ATTEMPTS = 20
"""More than the journal has connections, each of which may be found broken once."""


def a_journal(server: PostgresServer, schema: str, manager: str = "m") -> PostgresJournal:
    return PostgresJournal(server.url, JournalOwner(manager=manager), schema=schema)


async def until_it_works(call: Callable[[], Awaitable[T]]) -> T:
    """Call again as the manager does after an infrastructure failure."""
    for _ in range(ATTEMPTS):
        try:
            return await call()
        except InfraFault:
            continue
    return await call()


async def test_a_database_remembers_after_its_manager_is_gone(postgres: PostgresServer) -> None:
    schema = postgres.new_schema()
    first = a_journal(postgres, schema)
    await first.grant(a_lease())
    await first.intend(an_intent("e/0/0"))
    await first.end(a_free(7, "two"))
    await first.close()
    second = a_journal(postgres, schema)
    state = await second.load()
    assert (state.leases, state.free) == ((a_lease(),), (a_free(7, "two"),))
    await second.intend(an_intent("e/1/0"))
    assert [i.step.action_id for i in (await second.load()).intents] == ["e/0/0", "e/1/0"]
    await second.close()


words = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), min_size=1, max_size=30
)
numbers = st.integers(min_value=1, max_value=2**62)
seconds = st.floats(min_value=0.001, allow_nan=False)
pixels = st.integers(min_value=1, max_value=2**31 - 1)
leases = st.builds(
    LeaseRecord,
    instance=words,
    fence=numbers,
    lease_id=words,
    run_id=words,
    request_id=words,
    ttl_s=seconds,
    env=st.builds(EnvRef, kind=words, size_px=st.tuples(pixels, pixels)),
    host=words,
    boot=words,
)
texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=30)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lease=leases, action_id=words, text=texts, deadline_s=seconds)
async def test_values_come_back_as_they_were(
    postgres: PostgresServer, lease: LeaseRecord, action_id: str, text: str, deadline_s: float
) -> None:
    journal = a_journal(postgres, "round_trips")
    intent = Intent(
        token=lease.token,
        step=TakeStep(action_id=action_id, action=Type(text=text)),
        deadline_s=deadline_s,
    )
    await journal.grant(lease)
    await journal.intend(intent)
    state = await journal.load()
    assert (state.leases, state.free, state.intents) == ((lease,), (), (intent,))
    await journal.forget(lease.instance)
    await journal.close()


@pytest.mark.parametrize(
    "wrong", [{"run_id": "a\x00b"}, {"run_id": "\ud800"}, {"fence": 2**63}], ids=repr
)
async def test_what_the_server_cannot_keep_is_refused_and_changes_nothing(
    postgres: PostgresServer, wrong: dict[str, object]
) -> None:
    journal = a_journal(postgres, postgres.new_schema())
    with pytest.raises(ConfigError, match="cannot keep a value"):
        await journal.grant(replace(a_lease(), **wrong))
    assert (await journal.load()).leases == ()
    await journal.grant(a_lease())
    await journal.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
async def test_a_server_that_is_down_is_infrastructure_and_comes_back(
    postgres: PostgresServer, how: signal.Signals
) -> None:
    journal = a_journal(postgres, postgres.new_schema())
    await journal.grant(a_lease())
    await journal.intend(an_intent("e/0/0"))
    postgres.stop(how)
    try:
        for _ in range(3):
            with pytest.raises(InfraFault, match="the journal at"):
                await journal.intend(an_intent("e/1/0"))
        with pytest.raises(InfraFault):
            await journal.load()
    finally:
        postgres.start()
    await until_it_works(lambda: journal.intend(an_intent("e/2/0")))
    state = await journal.load()
    assert state.leases == (a_lease(),)
    assert [one.step.action_id for one in state.intents] == ["e/0/0", "e/2/0"]
    await journal.close()


async def test_a_journal_is_there_before_its_server(postgres: PostgresServer) -> None:
    postgres.stop()
    journal = a_journal(postgres, postgres.new_schema())
    try:
        with pytest.raises(InfraFault, match="cannot open"):
            await journal.load()
    finally:
        postgres.start()
    await journal.grant(a_lease())
    await journal.close()


async def test_a_cut_connection_costs_one_call_at_most(postgres: PostgresServer) -> None:
    journal = a_journal(postgres, postgres.new_schema(), manager="cut")
    for number in range(5):
        await until_it_works(partial(journal.end, a_free(number + 1)))
        await postgres.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'screenloop cut'"
        )
    assert (await until_it_works(journal.load)).free == (a_free(5),)
    await journal.close()


async def test_closing_without_the_server_ends(postgres: PostgresServer) -> None:
    journal = a_journal(postgres, postgres.new_schema())
    await journal.grant(a_lease())
    postgres.stop()
    try:
        await journal.close()
    finally:
        postgres.start()
    with pytest.raises(InfraFault, match="closed"):
        await journal.load()


@pytest.mark.parametrize("seed", range(6))
async def test_random_schedules_with_crashes_of_the_manager_hold(
    postgres: PostgresServer, seed: int
) -> None:
    journal = a_journal(postgres, postgres.new_schema())
    world = await play_schedule(draw_schedule(random.Random(seed)), journal=journal)
    assert not world.violations
    await journal.close()


async def test_a_journal_of_another_layout_is_refused_and_left_alone(
    postgres: PostgresServer,
) -> None:
    schema = postgres.new_schema()
    first = a_journal(postgres, schema)
    await first.grant(a_lease())
    await first.close()
    await postgres.run(f"UPDATE {schema}.layout SET number = 2")
    other = a_journal(postgres, schema)
    with pytest.raises(ConfigError, match="no journal of layout 1"):
        await other.load()
    await other.close()
    assert len(await postgres.run(f"SELECT FROM {schema}.instances")) == 1


async def test_a_database_that_is_not_there_is_a_wrong_setting(postgres: PostgresServer) -> None:
    url = postgres.url.replace("/postgres?", "/nothing?")
    journal = PostgresJournal(url, JournalOwner(manager="m"))
    with pytest.raises(ConfigError, match='"nothing" does not exist'):
        await journal.load()
    await journal.close()


@pytest.mark.parametrize("url", ["mysql://u:secret@h/d", "u:secret@h/d", ""])
def test_another_url_is_refused_without_repeating_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match="postgresql://USER") as told:
        PostgresJournal(url, JournalOwner(manager="m"))
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("schema", ["", "Screen", 'a"; DROP TABLE x; --', "x" * 64])
def test_only_plain_names_are_schemas(schema: str) -> None:
    with pytest.raises(ConfigError, match="no plain name of a schema"):
        PostgresJournal("postgresql://h/d", JournalOwner(manager="m"), schema=schema)
