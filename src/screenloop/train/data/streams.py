"""Random streams named by what they are for, so that a resumed run draws what it would have; pure.

No stream depends on how many numbers another one gave: attempt 3 of group 5 of update 7 draws the
same whether it runs first, last, alone or again after a kill.
"""

from __future__ import annotations

import hashlib
import random


def stream_seed(run_seed: int, *names: int | str) -> int:
    """Return the seed of the stream with these names: 48 bits of SHA-256."""
    words = "\n".join(f"{type(name).__name__}:{name}" for name in (run_seed, *names))
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:6])


def attempt_seed(run_seed: int, *, update: int, group: int, attempt: int) -> int:
    """Return the seed from which one attempt samples."""
    return stream_seed(run_seed, "attempt", update, group, attempt)


def stream(run_seed: int, *names: int | str) -> random.Random:
    """Return the stream with these names, at its start."""
    return random.Random(stream_seed(run_seed, *names))
