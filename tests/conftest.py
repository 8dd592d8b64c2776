"""What all tests share."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let child processes be interrupted, also where the tests run in the background.

    A shell starts background jobs with SIGINT ignored, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
