"""Running code verifiers in a process of their own, so that a hang or crash stays theirs.

Declarative checks are judged in-process by `judge`; verifiers that are code (desktops, the web,
third parties) run here: in a long-lived worker, its own process group, killed at the deadline.
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

from screenloop.errors import TaskError
from screenloop.types import Claim, Evidence, Task, Verdict
from screenloop.verify.judge import verdict_of
from screenloop.verify.worker import Job, Result

_STDERR_BYTES = 2_000
_MAX_RESULT_BYTES = 8 * 1024 * 1024


class VerifierWorker:
    """Judges one verdict at a time; starts its process when needed and again after a kill."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._stderr: IO[bytes] | None = None
        self._turn = asyncio.Lock()

    async def judge(
        self, verifier: str, task: Task, evidence: Evidence, claim: Claim, *, deadline_s: float
    ) -> Verdict:
        """Return the Verdict of the verifier at a dotted path `package.module:function`.

        Raises:
            TaskError: the verifier cannot be loaded, raised, crashed, hung past the deadline, or
                returned no proper check results. Not worth a retry.
        """
        job = Job(verifier=verifier, task=task, evidence=evidence, claim=claim)
        async with self._turn:
            try:
                async with asyncio.timeout(deadline_s):
                    line = await self._exchange(msgspec.json.encode(job) + b"\n")
            except TimeoutError:
                await self._kill()
                raise TaskError(
                    f"verifier {verifier} gave no verdict within {deadline_s:g} s and was killed."
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
        if result.fault:
            raise TaskError(f"verifier {verifier} failed: {result.fault}")
        return verdict_of(result.checks, native=evidence.native)

    async def close(self) -> None:
        """End the worker process; may be called twice."""
        async with self._turn:
            await self._kill()

    async def _exchange(self, line: bytes) -> bytes:
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line)
        await process.stdin.drain()
        return await process.stdout.readline()

    async def _start(self) -> asyncio.subprocess.Process:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _kill
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "screenloop.verify.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
            limit=_MAX_RESULT_BYTES,
        )
        return self._process

    async def _kill(self) -> None:
        """Kill the worker and everything it started."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def _last_words(self) -> str:
        if self._stderr is None:
            return ""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_BYTES))
        return self._stderr.read().decode("utf-8", errors="replace").strip() or "nothing"
