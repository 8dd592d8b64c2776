"""What every Journal keeps, and what the one in a file keeps over a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from postgres_server import PostgresServer

from screenloop.actions import Tap
from screenloop.errors import ConfigError, InfraFault, LeaseLost
from screenloop.manager.base import LeaseToken, TakeStep
from screenloop.manager.journal.base import FreeRecord, Intent, Journal, LeaseRecord
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.journal.ownership import JournalOwner
from screenloop.manager.journal.postgres import PostgresJournal
from screenloop.manager.journal.sqlite import SqliteJournal
from screenloop.types import EnvRef

REF = EnvRef(kind="odometer", size_px=(8, 9))


def a_lease(fence: int = 1, instance: str = "one", lease_id: str = "run/a") -> LeaseRecord:
    return LeaseRecord(
        instance=instance,
        fence=fence,
        lease_id=lease_id,
        run_id="run",
        request_id="req",
        ttl_s=2.5,
        env=REF,
        host="h",
        boot="b",
    )


def a_free(fence: int, instance: str = "one") -> FreeRecord:
    return FreeRecord(instance=instance, fence=fence, env=REF, host="h", boot="b")


def an_intent(action_id: str, fence: int = 1, instance: str = "one") -> Intent:
    return Intent(
        token=LeaseToken(instance=instance, fence=fence, lease_id="run/a"),
        step=TakeStep(action_id=action_id, action=Tap(at=(0.25, 0.5))),
        deadline_s=60,
    )


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journal]:
    kept: Journal
    if request.param == "memory":
        kept = MemoryJournal()
    elif request.param == "sqlite":
        kept = SqliteJournal(tmp_path / "j.db")
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        kept = PostgresJournal(server.url, JournalOwner(manager="m"), schema=server.new_schema())
    yield kept
    await kept.close()


async def test_an_empty_journal_knows_nothing(journal: Journal) -> None:
    state = await journal.load()
    assert (state.leases, state.free, state.intents) == ((), (), ())


async def test_a_grant_is_known_until_its_end_and_its_fence_longer(journal: Journal) -> None:
    await journal.grant(a_lease())
    assert (await journal.load()).leases == (a_lease(),)
    await journal.end(a_free(2))
    state = await journal.load()
    assert (state.leases, state.free) == ((), (a_free(2),))


async def test_the_end_of_an_instance_that_was_not_known_keeps_its_fence(journal: Journal) -> None:
    await journal.end(a_free(4))
    assert (await journal.load()).free == (a_free(4),)


@pytest.mark.parametrize("fence", [1, 2, 3])
async def test_a_fence_that_is_not_above_the_known_one_is_not_granted(
    journal: Journal, fence: int
) -> None:
    await journal.grant(a_lease(3))
    with pytest.raises(LeaseLost, match="cannot be granted"):
        await journal.grant(a_lease(fence, lease_id="run/b"))
    assert (await journal.load()).leases == (a_lease(3),)


async def test_a_late_end_changes_nothing(journal: Journal) -> None:
    await journal.grant(a_lease(5))
    await journal.intend(an_intent("e/0/0", fence=5))
    await journal.end(a_free(4))
    state = await journal.load()
    assert state.leases == (a_lease(5),)
    assert len(state.intents) == 1


async def test_a_forgotten_instance_leaves_no_trace(journal: Journal) -> None:
    await journal.grant(a_lease())
    await journal.intend(an_intent("e/0/0"))
    await journal.forget("one")
    await journal.forget("one")
    await journal.grant(a_lease())
    state = await journal.load()
    assert (len(state.leases), state.free, state.intents) == (1, (), ())


async def test_intents_are_known_in_order_until_settled(journal: Journal) -> None:
    await journal.grant(a_lease())
    await journal.grant(a_lease(1, "two", "run/b"))
    for action_id in ("e/2/0", "e/0/0", "e/1/0"):
        await journal.intend(an_intent(action_id))
    await journal.intend(an_intent("f/0/0", instance="two"))
    await journal.settle("one", 1, "e/0/0")
    await journal.settle("one", 1, "e/9/9")
    state = await journal.load()
    assert [i for i in state.intents if i.token.instance == "one"] == [
        an_intent("e/2/0"),
        an_intent("e/1/0"),
    ]
    assert len(state.intents) == 3


async def test_the_same_intent_again_is_one_intent(journal: Journal) -> None:
    await journal.grant(a_lease())
    await journal.intend(an_intent("e/0/0"))
    await journal.intend(an_intent("e/0/0"))
    assert len((await journal.load()).intents) == 1
    await journal.settle("one", 1, "e/0/0")
    assert (await journal.load()).intents == ()


async def test_intents_of_an_ended_lease_are_not_asked_for_again(journal: Journal) -> None:
    await journal.grant(a_lease())
    await journal.intend(an_intent("e/0/0"))
    await journal.end(a_free(2))
    # This one was on its way when the lease ended.
    await journal.intend(an_intent("e/1/0"))
    await journal.grant(a_lease(3))
    assert (await journal.load()).intents == ()


async def test_a_file_remembers_after_its_process_is_gone(tmp_path: Path) -> None:
    first = SqliteJournal(tmp_path / "deep" / "j.db")
    await first.grant(a_lease())
    await first.intend(an_intent("e/0/0"))
    await first.end(a_free(7, "two"))
    await first.close()
    second = SqliteJournal(tmp_path / "deep" / "j.db")
    state = await second.load()
    assert (state.leases, state.free) == ((a_lease(),), (a_free(7, "two"),))
    assert state.intents == (an_intent("e/0/0"),)
    await second.intend(an_intent("e/1/0"))
    assert [i.step.action_id for i in (await second.load()).intents] == ["e/0/0", "e/1/0"]
    await second.close()


async def test_a_second_manager_cannot_use_the_file(tmp_path: Path) -> None:
    first = SqliteJournal(tmp_path / "j.db")
    await first.grant(a_lease())
    with pytest.raises(InfraFault, match="another manager serves from this folder"):
        SqliteJournal(tmp_path / "j.db")
    await first.close()


def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path) -> None:
    words = tmp_path / "notes.txt"
    words.write_text("these are no tables " * 100)
    with pytest.raises(ConfigError, match="is no journal"):
        SqliteJournal(words)
    assert words.read_text().startswith("these are")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(ConfigError, match="no journal of layout 1"):
        SqliteJournal(other)


def test_a_journal_that_cannot_be_opened_is_infrastructure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfraFault, match="cannot open the journal"):
        SqliteJournal(tmp_path / "file" / "j.db")


async def test_a_full_disk_is_infrastructure_changes_nothing_and_passes(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "j.db", max_pages=8)
    long = "x" * 3000

    async def fill() -> None:
        for number in range(40):
            await journal.grant(a_lease(1, f"{number}-{long}"))

    with pytest.raises(InfraFault, match="full"):
        await fill()
    state = await journal.load()
    assert 0 < len(state.leases) < 40
    await journal.forget(state.leases[0].instance)
    await journal.grant(msgspec.structs.replace(a_lease(), instance=f"new-{long}"))
    await journal.close()
