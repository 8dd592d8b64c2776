"""Judging any Task: declarative checks in this process, checks that are code in workers."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from screenloop.criteria import Code
from screenloop.errors import DeadlinePassed
from screenloop.types import Claim, Evidence, Task, Verdict
from screenloop.verify.diff import diff
from screenloop.verify.finding import Finding
from screenloop.verify.judge import judge, require_judgeable
from screenloop.verify.runner import VerifierWorker

WORKERS = 2
"""Worker processes at most."""


class Verifiers:
    """A pool of workers; a process starts when the first check that is code comes."""

    def __init__(self, workers: int = WORKERS) -> None:
        """Prepare; starts nothing."""
        self._free = asyncio.Semaphore(workers)
        self._idle: list[VerifierWorker] = []
        self._all: list[VerifierWorker] = []

    async def judge(
        self, task: Task, evidence: Evidence, claim: Claim, *, deadline_s: float
    ) -> Verdict:
        """Judge what the evidence and the claim say about the Task.

        Raises:
            TaskError: the Task cannot be judged; its code raised, crashed, or gave no answer
                before the deadline and was killed.
            DeadlinePassed: no worker was free, or none could be started, before the deadline.
        """
        codes = [check for check in task.checks if isinstance(check, Code)]
        if not codes:
            return judge(task, evidence, claim)
        require_judgeable(task)
        whole = replace(evidence, diff=tuple(diff(evidence.before, evidence.after, evidence.diff)))
        loop = asyncio.get_running_loop()
        end_s = loop.time() + deadline_s
        findings = [
            await self._find(check, whole, claim, deadline_s=end_s - loop.time()) for check in codes
        ]
        return judge(task, evidence, claim, findings)

    async def close(self) -> None:
        for worker in self._all:
            await worker.close()

    async def _find(
        self, check: Code, evidence: Evidence, claim: Claim, *, deadline_s: float
    ) -> Finding:
        loop = asyncio.get_running_loop()
        end_s = loop.time() + deadline_s
        try:
            async with asyncio.timeout(deadline_s):
                await self._free.acquire()
        except TimeoutError as error:
            raise DeadlinePassed(
                f"no worker for {check.path} came free within {deadline_s:.3g} s"
            ) from error
        try:
            if not self._idle:
                self._all.append(VerifierWorker())
                self._idle.append(self._all[-1])
            worker = self._idle.pop()
            try:
                return await worker.find(check, evidence, claim, deadline_s=end_s - loop.time())
            finally:
                self._idle.append(worker)
        finally:
            self._free.release()
