"""Running code verifiers in a process of their own, so that a hang or crash stays theirs.

Declarative checks are judged in-process by `judge`; checks that are code run here: in a long-lived
worker, its own process group, killed at the deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from typing import IO

import msgspec

from screenloop.criteria import Code
from screenloop.errors import DeadlinePassed, InfraFault, TaskError
from screenloop.types import Claim, Evidence
from screenloop.verify.finding import Finding
from screenloop.verify.worker import JudgeJob, Result

_STDERR_BYTES = 2_000
_MAX_RESULT_BYTES = 8 * 1024 * 1024


class VerifierWorker:
    """Judges one check at a time; starts its process when needed and again after a kill."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._stderr: IO[bytes] | None = None
        self._turn = asyncio.Lock()

    async def find(
        self, check: Code, evidence: Evidence, claim: Claim, *, deadline_s: float
    ) -> Finding:
        """Return what the check's code finds.

        Raises:
            TaskError: the verifier cannot be loaded, raised, crashed, hung past the deadline, or
                returned something else than a Finding. Not worth a retry.
            DeadlinePassed: no worker took the check before the deadline.
            InfraFault: no worker can be started.
        """
        verifier = check.path
        job = JudgeJob(check=check, evidence=evidence, claim=claim)
        async with self._turn:
            taken = False
            try:
                async with asyncio.timeout(deadline_s):
                    process = await self._given(msgspec.json.encode(job) + b"\n")
                    taken = True
                    assert process.stdout is not None
                    line = await process.stdout.readline()
            except TimeoutError:
                await self._kill()
                if not taken:
                    raise DeadlinePassed(
                        f"no worker took {verifier} within {deadline_s:.3g} s"
                    ) from None
                raise TaskError(
                    f"verifier {verifier} gave no verdict within {deadline_s:.3g} s and was killed."
                ) from None
            except (ConnectionError, ValueError) as error:
                await self._kill()
                raise TaskError(f"verifier {verifier} broke its worker: {error}.") from error
            except asyncio.CancelledError:
                await self._kill()
                raise
            if not line.endswith(b"\n"):
                said = self._last_words()
                await self._kill()
                raise TaskError(f"verifier {verifier} crashed its worker. It said: {said}")
        result = msgspec.json.decode(line, type=Result)
        if result.finding is None:
            raise TaskError(f"verifier {verifier} failed: {result.fault}")
        return result.finding

    async def close(self) -> None:
        async with self._turn:
            await self._kill()

    async def _given(self, job: bytes) -> asyncio.subprocess.Process:
        """Return a worker that has taken the job.

        One that ended between two verdicts, which is no verifier's doing, is replaced.

        Raises:
            InfraFault: no worker takes it.
        """
        for process in (self._process, None):
            if process is None:
                await self._kill()
                process = await self._start()
            if await _takes(process, job):
                return process
        raise InfraFault("a verifier worker that had just come up took no job")

    async def _start(self) -> asyncio.subprocess.Process:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _kill
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "screenloop.verify.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
            limit=_MAX_RESULT_BYTES,
        )
        assert process.stdout is not None
        if await process.stdout.readline() != b"\n":
            said = self._last_words()
            await self._kill()
            raise InfraFault(f"no verifier worker came up; it said: {said}")
        return process

    async def _kill(self) -> None:
        """Kill the worker and everything it started."""
        process, self._process = self._process, None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()

    def _last_words(self) -> str:
        if self._stderr is None:
            return ""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_BYTES))
        return self._stderr.read().decode("utf-8", errors="replace").strip() or "nothing"


async def _takes(process: asyncio.subprocess.Process, job: bytes) -> bool:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(job)
        await process.stdin.drain()
        return await process.stdout.readline() == b"\n"
    except ConnectionError:
        return False
