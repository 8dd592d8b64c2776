"""The process that runs code verifiers: `python -m screenloop.verify.worker`.

An empty line on stdout says that it is up. Then each line on stdin, a JSON job, gives two on
stdout: an empty one once it is taken, and a JSON result. A job's check names a verifier by its
dotted path; the verifier is called as `verify(evidence, claim, params)` and returns a Finding. What
it prints goes to stderr. When the other side goes away, the process ends, even in the middle of a
job.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from typing import IO

import msgspec

from screenloop.criteria import Code
from screenloop.registry import find
from screenloop.types import Claim, Evidence, Struct
from screenloop.verify.finding import Finding


class JudgeJob(Struct, frozen=True, kw_only=True):
    """One check to judge."""

    check: Code
    evidence: Evidence
    claim: Claim


class Result(Struct, frozen=True, kw_only=True):
    """What the verifier said, or why it failed."""

    finding: Finding | None = None
    fault: str = ""


def run_job(line: bytes) -> Result:
    """Run one job; whatever the verifier raises becomes a fault."""
    try:
        job = msgspec.json.decode(line, type=JudgeJob)
        found = find("judge", job.check.path, {})(job.evidence, job.claim, job.check.params)
        return Result(finding=msgspec.convert(msgspec.to_builtins(found), Finding))
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        return Result(fault=f"{type(error).__name__}: {error}")


def main() -> None:
    """Serve jobs until stdin closes."""
    results = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    results.write(b"\n")
    while True:
        job = jobs.get()
        results.write(b"\n")
        result = run_job(job)
        # `write` on an unbuffered pipe may take a part only.
        left = memoryview(msgspec.json.encode(result) + b"\n")
        while left:
            left = left[results.write(left) :]


def _read_jobs(stdin: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    for line in stdin:
        jobs.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
