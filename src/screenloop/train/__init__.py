"""Online RL on the rollout path: samples, advantages, losses, rewards, curriculum.

Axis suffixes of tensors: `b` rows (training sequences), `t` tokens of a row, `v` vocabulary,
`n` attempts, `s` steps of all attempts in order. Everything but the trainer is pure.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _TrainRoom(ModuleType):
    """Lets `screenloop.train(...)` train, although the room has the same name as the verb."""

    def __call__(self, *words: Any, **options: Any) -> Any:
        """See `facade.train`."""
        from screenloop.train.facade import train

        return train(*words, **options)


sys.modules[__name__].__class__ = _TrainRoom
