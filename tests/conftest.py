"""What all tests share."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Hypothesis measures each example with the wall clock, which a busy machine can miss.
settings.register_profile(
    "any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any_machine")


def pytest_configure() -> None:
    """Let child processes be interrupted, also where the tests run in the background.

    A shell starts background jobs with SIGINT ignored, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
