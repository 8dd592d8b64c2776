"""The live phone's server as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

MAIN = "from screenloop.cli import main; main()"


class Server:
    """`screenloop phone --port 0` in a process of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "phone", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert found, line
        self.url = found[0]

    def stop(self) -> tuple[int, str]:
        """Interrupt it the way a terminal does; return its status and what it complained of."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=120)
        return self.process.returncode, errors
