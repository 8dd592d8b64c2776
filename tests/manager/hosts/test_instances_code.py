"""Hosts and what comes to them that is code, or comes out of turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from odometer import REF, START, TAP, TASK, Garage

from screenloop.criteria import Code
from screenloop.errors import ConfigError, TaskError
from screenloop.manager.base import LeaseToken
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.types import Claim, Start

CODE = """
import os, time
from screenloop.verify.finding import Finding

def says_so(evidence, claim, params):
    return Finding(passed=claim.answer == params["answer"])

def crashes(evidence, claim, params):
    os._exit(3)

def hangs(evidence, claim, params):
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "host_code.py").write_text(CODE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def start(name: str) -> Start:
    check = Code(says="so", path=f"host_code:{name}", params={"answer": "42"})
    return Start(task=replace(TASK, checks=(check,)))


def grip(turn: int = 0) -> LeaseToken:
    return LeaseToken(instance="one", lease_id="run/1", fence=1, turn=turn)


async def opened(garage: Garage) -> InstanceHost:
    host = InstanceHost("h", garage.open, boot="b")
    await host.open("one", REF, deadline_s=60)
    await host.bind(grip(), ttl_s=60, deadline_s=60)
    return host


async def test_checks_that_are_code_are_judged_by_a_worker() -> None:
    host = await opened(Garage())
    await host.reset(grip(), start("says_so"), deadline_s=60)
    verdicts = [
        await host.evaluate(grip(), Claim(answer=answer), deadline_s=60) for answer in ("42", "7")
    ]
    assert [verdict.success for verdict in verdicts] == [True, False]
    await host.close()


async def test_a_verifier_that_crashes_is_the_tasks_fault_and_costs_no_instance() -> None:
    garage = Garage()
    host = await opened(garage)
    await host.reset(grip(), start("crashes"), deadline_s=60)
    with pytest.raises(TaskError, match="crashed its worker"):
        await host.evaluate(grip(), Claim(), deadline_s=60)
    await host.reset(grip(), START, deadline_s=60)
    assert (await host.evaluate(grip(), Claim(answer="42"), deadline_s=60)).success
    assert garage.made[0].closed == 0
    await host.close()


async def test_a_verifier_that_hangs_is_killed_before_the_operations_deadline() -> None:
    garage = Garage()
    host = await opened(garage)
    await host.reset(grip(), start("says_so"), deadline_s=60)
    await host.evaluate(grip(), Claim(), deadline_s=60)
    await host.reset(grip(), start("hangs"), deadline_s=60)
    with pytest.raises(TaskError, match="gave no verdict within"):
        await host.evaluate(grip(), Claim(), deadline_s=4)
    assert garage.made[0].closed == 0
    await host.close()


async def test_a_reset_that_comes_after_a_later_operation_is_refused_and_undoes_nothing() -> None:
    garage = Garage()
    host = await opened(garage)
    await host.reset(grip(turn=1), START, deadline_s=60)
    await host.reset(grip(turn=1), START, deadline_s=60)
    await host.step(grip(turn=2), "e/0/0", TAP, deadline_s=60)
    with pytest.raises(ConfigError, match="comes too late: it is operation 1"):
        await host.reset(grip(turn=1), START, deadline_s=5)
    assert garage.made[0].steps == 1
    await host.reset(grip(turn=3), START, deadline_s=60)
    assert garage.made[0].steps == 0
    await host.close()


async def test_turns_are_counted_for_each_lease_by_itself() -> None:
    host = await opened(Garage())
    await host.reset(grip(turn=5), START, deadline_s=60)
    other = LeaseToken(instance="one", lease_id="run/2", fence=2, turn=1)
    await host.bind(other, ttl_s=60, deadline_s=60)
    await host.reset(other, START, deadline_s=60)
    await host.close()
