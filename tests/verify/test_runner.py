import asyncio
import os
import signal
from pathlib import Path

import pytest

from screenloop.criteria import Code
from screenloop.errors import TaskError
from screenloop.types import Claim, Evidence
from screenloop.verify.runner import VerifierWorker

VERIFIERS = """
import os, subprocess, sys, time
from screenloop.verify.finding import Finding

def fine(evidence, claim, params):
    print("noise on stdout")
    return Finding(passed=claim.answer == params["answer"], detail=str(os.getpid()))

def raises(evidence, claim, params):
    raise ValueError("no such window")

def crashes(evidence, claim, params):
    sys.stderr.write("about to die")
    os._exit(3)

def hangs(evidence, claim, params):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(evidence.native["pids"], "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    time.sleep(600)

def returns_nonsense(evidence, claim, params):
    return 7
"""


@pytest.fixture
def verifiers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sample_verifiers.py").write_text(VERIFIERS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


async def found(worker: VerifierWorker, name: str, deadline_s: float = 60, **native: str):
    check = Code(says="done", path=f"sample_verifiers:{name}", params={"answer": "yes"})
    evidence = Evidence(before={}, after={}, native=native)
    return await worker.find(check, evidence, Claim(answer="yes"), deadline_s=deadline_s)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_one_worker_serves_many_verdicts(verifiers: Path):
    worker = VerifierWorker()
    first, second = [await found(worker, "fine") for _ in range(2)]
    await worker.close()
    await worker.close()
    assert first.passed
    assert first.detail == second.detail
    assert not is_running(int(first.detail))


async def test_concurrent_verdicts_take_turns(verifiers: Path):
    worker = VerifierWorker()
    findings = await asyncio.gather(*(found(worker, "fine") for _ in range(5)))
    await worker.close()
    assert all(finding.passed for finding in findings)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("raises", "ValueError: no such window"),
        ("crashes", "about to die"),
        ("returns_nonsense", "Expected `object`"),
        ("missing", "Cannot load"),
    ],
)
async def test_a_failing_verifier_blames_the_task_and_the_next_one_runs(
    verifiers: Path, name: str, said: str
):
    worker = VerifierWorker()
    with pytest.raises(TaskError, match=said):
        await found(worker, name)
    assert (await found(worker, "fine")).passed
    await worker.close()


async def test_a_hanging_verifier_is_killed_with_all_it_started(verifiers: Path):
    worker = VerifierWorker()
    await found(worker, "fine")
    pids = verifiers / "pids"
    with pytest.raises(TaskError, match="gave no verdict within 2 s"):
        await found(worker, "hangs", deadline_s=2, pids=str(pids))
    async with asyncio.timeout(120):
        # The kernel ends what the worker started a moment after the worker itself.
        while any(is_running(int(pid)) for pid in pids.read_text().split()):
            await asyncio.sleep(0.01)
    assert (await found(worker, "fine")).passed
    await worker.close()


async def test_a_cancelled_verdict_leaves_no_process(verifiers: Path):
    worker = VerifierWorker()
    await found(worker, "fine")
    pids = verifiers / "pids"
    hanging = asyncio.create_task(found(worker, "hangs", pids=str(pids)))
    while not (pids.exists() and len(pids.read_text().split()) == 2):
        await asyncio.sleep(0.01)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert not is_running(int(pids.read_text().split()[0]))
    assert os.getpid() not in [int(pid) for pid in pids.read_text().split()]


async def test_a_worker_that_was_killed_between_two_verdicts_is_started_again(verifiers: Path):
    worker = VerifierWorker()
    pid = int((await found(worker, "fine")).detail)
    os.kill(pid, signal.SIGKILL)
    while is_running(pid):
        await asyncio.sleep(0.01)
    assert int((await found(worker, "fine")).detail) != pid
    await worker.close()
