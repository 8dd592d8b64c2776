"""Tasks whose checks are partly code."""

from __future__ import annotations

from pathlib import Path

import pytest

from screenloop.criteria import Check, Code, Value
from screenloop.errors import DeadlinePassed, TaskError
from screenloop.types import Claim, EnvRef, Evidence, Goal, Task
from screenloop.verify.judge import judge
from screenloop.verify.verifiers import Verifiers

CODE = """
import os, time
from screenloop.verify.finding import Finding

def doubled(evidence, claim, params):
    rows = tuple(row for row in evidence.diff if row.table == params["of"])
    after = evidence.after["counter"][params["of"]]
    return Finding(passed=after == 2 * evidence.before["counter"][params["of"]],
                   detail=f"it is {after}", accounts_for=rows)

def hangs(evidence, claim, params):
    time.sleep(600)
"""
DOUBLED = Code(says="x doubled", path="sample_code:doubled", params={"of": "x"}, weight=3.0)


@pytest.fixture(autouse=True)
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_code.py").write_text(CODE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def task(*checks: Check) -> Task:
    return Task(
        id="s/t@1", env=EnvRef(kind="fake", size_px=(1, 1)), goal=Goal(text="go"), checks=checks
    )


def evidence(**after: int) -> Evidence:
    before = {"x": 2, "y": 0}
    return Evidence(before={"counter": before}, after={"counter": {**before, **after}})


async def test_code_and_declarative_checks_are_weighed_together() -> None:
    verifiers = Verifiers()
    value = Value(says="y is 1", app="counter", path="y", to=1)
    verdict = await verifiers.judge(
        task(value, DOUBLED), evidence(x=4, y=0), Claim(), deadline_s=60
    )
    assert (verdict.reward, verdict.success) == (0.75, False)
    assert [one.passed for one in verdict.checks] == [False, True, True]
    await verifiers.close()


async def test_what_code_accounts_for_is_no_side_effect_and_the_rest_is() -> None:
    verifiers = Verifiers()
    good = await verifiers.judge(task(DOUBLED), evidence(x=4), Claim(), deadline_s=60)
    assert (good.success, good.side_effects) == (True, ())
    bad = await verifiers.judge(task(DOUBLED), evidence(x=4, y=1), Claim(), deadline_s=60)
    assert not bad.success
    assert [row.table for row in bad.side_effects] == ["y"]
    await verifiers.close()


async def test_where_code_fails_nothing_is_accounted_for() -> None:
    verifiers = Verifiers()
    verdict = await verifiers.judge(task(DOUBLED), evidence(x=5), Claim(), deadline_s=60)
    assert (verdict.reward, verdict.checks[0].detail) == (0.0, "it is 5")
    assert [row.table for row in verdict.side_effects] == ["x"]
    await verifiers.close()


async def test_a_hanging_verifier_holds_up_the_next_one_no_longer_than_its_deadline() -> None:
    verifiers = Verifiers(workers=1)
    await verifiers.judge(task(DOUBLED), evidence(x=4), Claim(), deadline_s=60)
    hanging = Code(says="never", path="sample_code:hangs")
    with pytest.raises(TaskError, match="gave no verdict within"):
        await verifiers.judge(task(hanging), evidence(), Claim(), deadline_s=1)
    assert (await verifiers.judge(task(DOUBLED), evidence(x=4), Claim(), deadline_s=60)).success
    await verifiers.close()


async def test_a_worker_that_cannot_come_up_in_time_is_no_fault_of_the_task() -> None:
    verifiers = Verifiers()
    with pytest.raises(DeadlinePassed, match="no worker took"):
        await verifiers.judge(task(DOUBLED), evidence(x=4), Claim(), deadline_s=0.001)
    await verifiers.close()


def test_the_pure_judge_refuses_a_task_whose_code_was_not_run() -> None:
    with pytest.raises(TaskError, match="1 checks of s/t@1#0 are code"):
        judge(task(DOUBLED), evidence(x=4), Claim())
