"""Bench: what one update costs on window samples, and on per-step samples of the same episodes.

Episodes are laid out by the real windowed history (K steps a window, O of them shared) with a fixed
head, a screen and a reply of realistic lengths; a policy of tiny_text's size reads them on the
CPU. The window layout makes one sequence of all calls of a window, the per-step layout one sequence
of each call with its whole prompt. Either way each reply token is trained once, with the same
advantage and in the same context, since inside a window each prompt begins with the prompt and
reply before it. So the gradient of the summed loss must be the same; nothing is left out of the
comparison. What is timed is one forward and one backward pass over all samples, in parts of at most
`MICRO_TOKENS` tokens, padding included; the optimiser's step is the same for both.

`tokens_ratio` counts the tokens read, `ratio` the seconds, windows over per-step.
`grad_max_diff` is the largest difference of an entry of the two gradients, over the largest entry
of the per-step gradient.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from screenloop.agent.history import PLACEHOLDER, PastStep, window_at, windowed_prompt
from screenloop.config import Window
from screenloop.engine.policy import Policy
from screenloop.engine.tiny import TinySize, tiny_text
from screenloop.engine.tokenizer import TinyWords
from screenloop.messages import Message, TextPart
from screenloop.train.data.samples import step_samples, window_samples, with_step_advantages
from screenloop.train.loss.scoring import micro_batches, sampled_rows, score
from screenloop.train.types import CallTokens, Sample
from screenloop.types import Struct

HEAD_TOKENS = 1000
"""System prompt with tools, and the goal."""
SCREEN_TOKENS = 377
"""A 412x915 picture at 32x32 px a token; here words, since the policy reads text."""
WORDS_TOKENS = 20
"""What the harness says in front of a screen."""
REPLY_TOKENS = 100
MICRO_TOKENS = 32_768
_WORDS = 400


class Lengths(Struct, frozen=True, kw_only=True):
    """Tokens that an episode is made of."""

    head: int = HEAD_TOKENS
    screen: int = SCREEN_TOKENS
    words: int = WORDS_TOKENS
    reply: int = REPLY_TOKENS


class UpdateBench(Struct, frozen=True, kw_only=True):
    """What was measured."""

    window_s: float
    """Wall time of forward and backward on window samples."""
    per_step_s: float
    ratio: float
    tokens_ratio: float
    grad_max_diff: float
    steps: int
    window_steps: int
    window_overlap: int
    window_samples: int
    per_step_samples: int
    window_tokens: int
    per_step_tokens: int
    trained_tokens: int
    """Tokens in the loss, the same in both."""
    threads: int


async def run(
    steps: int = 40,
    window: Window = Window(),
    *,
    lengths: Lengths = Lengths(),
    clock: Callable[[], float] = time.perf_counter,
) -> UpdateBench:
    """Measure one update of both layouts.

    Args:
        steps: Length of the episode.
        window: How history is windowed.
        lengths: What the episode is made of.
        clock: Gives seconds.
    """
    policy = tiny_text(
        TinyWords(words=tuple(f"word{i}" for i in range(_WORDS))),
        size=TinySize(context_tokens=65_536),
    )
    calls = _episode(policy, steps, window, lengths)
    source = random.Random(1)
    by_step = {step: source.uniform(-1, 1) for step in range(steps)}
    by_window = [with_step_advantages(s, by_step) for s in window_samples("e", calls)]
    by_call = [with_step_advantages(s, by_step) for s in step_samples("e", calls)]
    # The first pass pays for what torch sets up once.
    _gradient(policy, by_call[:1])
    began = clock()
    one = _gradient(policy, by_window)
    between = clock()
    other = _gradient(policy, by_call)
    ended = clock()
    read = [sum(len(s.token_ids) for s in some) for some in (by_window, by_call)]
    return UpdateBench(
        window_s=round(between - began, 4),
        per_step_s=round(ended - between, 4),
        ratio=round((between - began) / (ended - between), 4),
        tokens_ratio=round(read[0] / read[1], 4),
        grad_max_diff=_largest([a - b for a, b in zip(one, other, strict=True)]) / _largest(other),
        steps=steps,
        window_steps=window.steps,
        window_overlap=window.overlap,
        window_samples=len(by_window),
        per_step_samples=len(by_call),
        window_tokens=read[0],
        per_step_tokens=read[1],
        trained_tokens=sum(s.sampled for s in by_call),
        threads=torch.get_num_threads(),
    )


def _gradient(policy: Policy, samples: Sequence[Sample]) -> list[Tensor]:
    """Return the gradient of the mean policy-gradient loss over all trained tokens."""
    policy.model.zero_grad(set_to_none=True)
    tokens = sum(sample.sampled for sample in samples)
    for part in micro_batches(samples, MICRO_TOKENS):
        rows = sampled_rows([samples[i] for i in part])
        log_probs_B_S = score(policy, rows.samples, {}).log_probs_B_S
        loss = -(log_probs_B_S * rows.advantages_B_S * rows.mask_B_S).sum() / tokens
        loss.backward()  # type: ignore[no-untyped-call]
    return [p.grad.clone() for p in policy.model.parameters() if p.grad is not None]


def _largest(some: Sequence[Tensor]) -> float:
    return max(float(one.abs().max()) for one in some)


def _episode(
    policy: Policy, steps: int, window: Window, lengths: Lengths
) -> tuple[CallTokens, ...]:
    """Return the token records of one episode of random words."""
    source = random.Random(0)
    vocab = policy.tokenizer.get_vocab()
    known = sorted(vocab[f"word{i}"] for i in range(_WORDS))
    marks = {role: vocab[f"<|{role}|>"] for role in ("system", "user", "assistant")}
    end = vocab["<|end|>"]

    def some(count: int) -> str:
        return " ".join(str(source.choice(known)) for _ in range(count))

    def ids(text: str) -> list[int]:
        text = text.replace(PLACEHOLDER, " ".join(str(i) for i in known[:8]))
        return [int(word) for word in text.split()]

    def encode(messages: Sequence[Message]) -> tuple[int, ...]:
        told: list[int] = []
        for message in messages:
            words = " ".join(part.text for part in message.parts if isinstance(part, TextPart))
            told += [marks[message.role], *ids(words), end]
        return (*told, marks["assistant"])

    head = some(lengths.head)
    past: list[PastStep] = []
    calls: list[CallTokens] = []
    for index in range(steps):
        now = PastStep(words=some(lengths.words), image=TextPart(text=some(lengths.screen)))
        reply = some(lengths.reply - 1)
        calls.append(
            CallTokens(
                call_id=f"e/c{index}",
                step_index=index,
                window_index=window_at(index, window).index,
                prompt_delta_ids=encode(windowed_prompt(head, [*past, now], window)),
                reply_ids=(*ids(reply), end),
                log_probs=(-1.0,) * lengths.reply,
                weights_version=0,
                banned_ids=policy.banned_ids,
            )
        )
        past.append(PastStep(words=now.words, image=now.image, reply=reply))
    return tuple(calls)
