"""Bench: prompt tokens that the engine really takes from its cache, against what `prefix` computes.

Real Episodes of many steps on mocked phones, played by tiny policies through the harness, each on
an empty cache, so that only what the same Episode left behind can be taken. `hit_engine` is the
engine's own count of prompt tokens taken from the cache. `hit_computed` is what `bench prefix`
computes for the same Episodes from their messages alone, counted with the policy's tokenizer: the
longest common beginning with the prompt before, the reply not counted. The engine may save a
little more, since it keeps the reply as well. In a training run, attempts of a group help each
other on top of this; that part is left out here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec
import torch

from screenloop.agent.dialects.base import Dialect
from screenloop.agent.dialects.tiny.touches import Tiny, TinyTree
from screenloop.agent.harness import reconstruct
from screenloop.bench.prefix.reuse import reuse
from screenloop.config import Window
from screenloop.engine.cache import common_prefix
from screenloop.engine.local import LocalEngine
from screenloop.engine.policy import Policy
from screenloop.engine.tiny import PIXEL_SIZE, TEXT_SIZE, TinySize, tiny_pixels, tiny_text
from screenloop.engine.tokenizer import TinyWords, frequent_words
from screenloop.engine.weights import weights_of
from screenloop.envs.phone import PhoneEnvironments
from screenloop.manager.direct import DirectManager
from screenloop.messages import Sampling
from screenloop.rollout.context import RunContext
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite, select
from screenloop.train.rollouts import Rollouts, one_each, training_config
from screenloop.types import Budget, SizePx, Struct, Task, Want

CONTEXT_TOKENS = 8192
_KEYS = frozenset({"back", "home", "recents", "wait"})
"""Actions of one token."""
_MARKS = frozenset({f"<e{number}>" for number in range(6)})
"""The same for a policy that reads lists; so many are listed nearly everywhere."""
TASKS = "*_photo"
"""Of phone-core; the goals do not matter to a policy that knows nothing."""


class EngineHits(Struct, frozen=True, kw_only=True):
    """One policy's Episodes."""

    policy: str
    dialect: str
    episodes: int
    calls: int
    prompt_tokens: int
    hit_engine: float
    hit_computed: float
    difference_points: float
    """Engine less computed, in percentage points."""


class PrefixEngineBench(Struct, frozen=True, kw_only=True):
    """What was measured."""

    hit_engine: float
    """Lowest of the rows."""
    difference_points: float
    """Largest of the rows, without its sign."""
    steps: int
    window_steps: int
    window_overlap: int
    table: tuple[EngineHits, ...]


class TokenizerCounting:
    """What pieces of a prompt cost with a policy's own tokenizer."""

    turn_tokens = 1

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def text(self, text: str) -> int:
        return len(self._ids(text))

    def image(self, size_px: SizePx) -> int:
        """Return the tokens of a picture, its two marks included."""
        vision = self._policy.vision
        assert vision is not None
        return vision.tokens(vision.grid(size_px)) + 2

    def shared(self, one: str, two: str) -> int:
        return common_prefix(self._ids(one), self._ids(two))

    def _ids(self, text: str) -> list[int]:
        return list(self._policy.tokenizer.encode(text, add_special_tokens=False))


async def run(
    steps: int = 40, window: Window = Window(), *, episodes: int = 3
) -> PrefixEngineBench:
    """Measure a policy that reads element lists and one that sees.

    Args:
        steps: Most steps an Episode takes.
        window: How history is windowed.
        episodes: How many each policy plays.
    """
    # One thread, as in training: passes are small.
    torch.set_num_threads(1)
    tasks = [
        msgspec.structs.replace(task, budget=Budget(steps=steps))
        for task in select(find_suite("phone-core"), glob=TASKS, limit=episodes)
    ]
    rows = [
        await measure(tasks, window, TinyTree(), tiny_text, TEXT_SIZE),
        await measure(tasks, window, Tiny(), tiny_pixels, PIXEL_SIZE),
    ]
    return PrefixEngineBench(
        hit_engine=min(row.hit_engine for row in rows),
        difference_points=max(abs(row.difference_points) for row in rows),
        steps=steps,
        window_steps=window.steps,
        window_overlap=window.overlap,
        table=tuple(rows),
    )


async def measure(
    tasks: Sequence[Task],
    window: Window,
    dialect: Dialect,
    make: Callable[..., Policy],
    size: TinySize,
) -> EngineHits:
    """Play Episodes with an untrained policy and compare the two counts."""
    policy = _wanderer(make, tasks, size)
    want: tuple[Want, ...] = ("tree",) if policy.vision is None else ("frame",)
    blobs = MemoryBlobs()
    opener = PhoneEnvironments(blobs, want=want)
    manager = DirectManager(opener.open)
    engine = LocalEngine(policy, blobs, threaded=False)
    rollouts = Rollouts(
        RunContext(manager=manager, want=want),
        blobs,
        config=training_config(
            tasks, dialect=dialect, model="policy", window=window, sampling=Sampling(max_tokens=1)
        ),
        dialect=dialect,
        run_id="bench",
    )
    counting, total, cached, calls = TokenizerCounting(policy), 0, 0, 0
    try:
        for attempt in one_each("e", tasks):
            await engine.swap(weights_of(policy.model), attempt.episode_id)
            (played,) = await rollouts.play([attempt], engine, temperature=1.0)
            told = reuse(reconstruct(played.episode.calls), counting)
            total, cached = total + told[0], cached + told[1]
            calls += len(played.episode.calls)
    finally:
        await engine.close()
        await manager.close()
    counted = engine.counters
    hits = counted.cached_tokens / counted.prompt_tokens, cached / total
    return EngineHits(
        policy=policy.name,
        dialect=dialect.name,
        episodes=len(tasks),
        calls=calls,
        prompt_tokens=counted.prompt_tokens,
        hit_engine=round(hits[0], 4),
        hit_computed=round(hits[1], 4),
        difference_points=round(100 * (hits[0] - hits[1]), 2),
    )


def _wanderer(make: Callable[..., Policy], tasks: Sequence[Task], size: TinySize) -> Policy:
    """Return an untrained policy whose every token is an Action, so that its Episodes go on."""
    words = frequent_words((task.goal.text for task in tasks), 200)
    policy = make(
        TinyWords(words=words), size=msgspec.structs.replace(size, context_tokens=CONTEXT_TOKENS)
    )
    vocab = policy.tokenizer.get_vocab()
    said = _KEYS if policy.vision is not None else _KEYS | _MARKS
    banned = {number for token, number in vocab.items() if token not in said}
    return replace(policy, banned_ids=tuple(sorted(banned)))
