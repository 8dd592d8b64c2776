import asyncio
import os
from pathlib import Path

import pytest

from screenloop.criteria import AnswerIs
from screenloop.errors import TaskError
from screenloop.types import Claim, EnvRef, Evidence, Goal, Task
from screenloop.verify.runner import VerifierWorker

VERIFIERS = """
import os, subprocess, sys, time
from screenloop.types import CheckResult

def check(passed, detail=""):
    return CheckResult(says="done", passed=passed, weight=1.0, critical=True, detail=detail)

def fine(task, evidence, claim):
    print("noise on stdout")
    return [check(claim.answer == task.goal.text, detail=str(os.getpid()))]

def raises(task, evidence, claim):
    raise ValueError("no such window")

def crashes(task, evidence, claim):
    sys.stderr.write("about to die")
    os._exit(3)

def hangs(task, evidence, claim):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(evidence.native["pids"], "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    time.sleep(600)

def returns_nonsense(task, evidence, claim):
    return 7
"""


@pytest.fixture
def verifiers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sample_verifiers.py").write_text(VERIFIERS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


async def judged(worker: VerifierWorker, name: str, deadline_s: float = 60, **native: str):
    task = Task(id="s/t@1", env=EnvRef(kind="fake", size_px=(1, 1)), goal=Goal(text="yes"),
                checks=(AnswerIs(says="x", to="yes"),))  # fmt: skip
    evidence = Evidence(before={}, after={}, native=native)
    return await worker.judge(
        f"sample_verifiers:{name}", task, evidence, Claim(answer="yes"), deadline_s=deadline_s
    )


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_one_worker_serves_many_verdicts(verifiers: Path):
    worker = VerifierWorker()
    first, second = [await judged(worker, "fine") for _ in range(2)]
    await worker.close()
    await worker.close()
    assert (first.reward, first.success) == (1.0, True)
    assert first.checks[0].detail == second.checks[0].detail
    assert not is_running(int(first.checks[0].detail))


async def test_concurrent_verdicts_take_turns(verifiers: Path):
    worker = VerifierWorker()
    verdicts = await asyncio.gather(*(judged(worker, "fine") for _ in range(5)))
    await worker.close()
    assert all(verdict.success for verdict in verdicts)


@pytest.mark.parametrize(
    ("name", "said"),
    [("raises", "ValueError: no such window"), ("crashes", "about to die"),
     ("returns_nonsense", "Expected `array`"), ("missing", "Cannot load")],
)  # fmt: skip
async def test_a_failing_verifier_blames_the_task_and_the_next_one_runs(
    verifiers: Path, name: str, said: str
):
    worker = VerifierWorker()
    with pytest.raises(TaskError, match=said):
        await judged(worker, name)
    assert (await judged(worker, "fine")).success
    await worker.close()


async def test_a_hanging_verifier_is_killed_with_all_it_started(verifiers: Path):
    worker = VerifierWorker()
    await judged(worker, "fine")
    pids = verifiers / "pids"
    with pytest.raises(TaskError, match="gave no verdict within 2 s"):
        await judged(worker, "hangs", deadline_s=2, pids=str(pids))
    assert [is_running(int(pid)) for pid in pids.read_text().split()] == [False, False]
    assert (await judged(worker, "fine")).success
    await worker.close()


async def test_a_cancelled_verdict_leaves_no_process(verifiers: Path):
    worker = VerifierWorker()
    await judged(worker, "fine")
    pids = verifiers / "pids"
    hanging = asyncio.create_task(judged(worker, "hangs", pids=str(pids)))
    while not (pids.exists() and len(pids.read_text().split()) == 2):
        await asyncio.sleep(0.01)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert not is_running(int(pids.read_text().split()[0]))
    assert os.getpid() not in [int(pid) for pid in pids.read_text().split()]
