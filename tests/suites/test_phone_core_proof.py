"""Every phone-core task is accepted: three states, a path by touch, all mutants killed."""

from __future__ import annotations

import pytest

from screenloop.envs.kinds import Environments
from screenloop.rollout.proof import prove_task
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.phone_core.suite import PhoneCore
from screenloop.verify.verifiers import Verifiers

SUITE = PhoneCore()
MEASURED_SEEDS = (0, 1, 2)


@pytest.mark.parametrize("name", SUITE.names())
async def test_verifier_is_proven(name: str) -> None:
    task = SUITE.task(name, 0)
    environments = Environments(MemoryBlobs())
    verifiers = Verifiers()
    proof = await prove_task(task, environments, verifiers)
    await verifiers.close()
    await environments.close()
    assert proof.reasons == ()
    assert proof.mutants == proof.killed > 0
    assert proof.steps == task.optimal_steps, "run scripts/measure_optimal.py"


def test_shortest_paths_are_measured_for_every_template() -> None:
    wanted = {SUITE.task(name, seed).key for name in SUITE.names() for seed in MEASURED_SEEDS}
    assert set(SUITE.optimal) == wanted, "run scripts/measure_optimal.py"


def test_the_suite_is_as_large_and_as_mixed_as_promised() -> None:
    tasks = [SUITE.task(name, 0) for name in SUITE.names()]
    apps = [task.tags["apps"].split("+") for task in tasks]
    assert len(tasks) >= 60
    assert sum(len(names) >= 2 for names in apps) >= 15
    assert {name for names in apps for name in names} >= {
        "contacts",
        "messages",
        "notes",
        "calendar",
        "clock",
        "settings",
        "gallery",
        "shop",
        "wallet",
    }
    assert {task.tags["difficulty"] for task in tasks} == {"easy", "medium", "hard"}
