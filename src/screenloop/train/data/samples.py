"""Samples: windows of an Episode as causal sequences, loss on sampled tokens only; pure.

The window layout puts the calls of a window into one sequence, since each prompt begins with the
prompt and reply before it. The per-step layout makes one sequence a call and repeats the context
each time; it is here to be compared with. In both, each sampled token is trained exactly once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from screenloop.errors import ConfigError
from screenloop.train.data.records import expand_prompts, require_consistent
from screenloop.train.types import CallTokens, Sample, SampledSpan
from screenloop.types import Struct


def window_samples(
    attempt_id: str,
    calls: Sequence[CallTokens],
    *,
    placeholder_id: int | None = None,
    merge: int = 2,
) -> tuple[Sample, ...]:
    """Return the Samples of an attempt, window by window.

    A sequence goes on as long as the next prompt begins with all ids so far. Where it does not (a
    window boundary; a template that rewrites the past), a new sequence begins with that call's
    whole prompt as context, so that the model is trained on exactly what it saw.

    Raises:
        ConfigError: the records are incomplete or inconsistent; see `records`.
    """
    return _samples(attempt_id, _checked(attempt_id, calls, placeholder_id, merge), join=True)


def step_samples(
    attempt_id: str,
    calls: Sequence[CallTokens],
    *,
    placeholder_id: int | None = None,
    merge: int = 2,
) -> tuple[Sample, ...]:
    """Return one Sample a call: its whole prompt as context, loss on its reply.

    Raises:
        ConfigError: the records are incomplete or inconsistent; see `records`.
    """
    return _samples(attempt_id, _checked(attempt_id, calls, placeholder_id, merge), join=False)


def with_attempt_advantage(sample: Sample, advantage: float) -> Sample:
    """Return the Sample with one advantage on all of its sampled tokens."""
    return with_step_advantages(sample, {s.step_index: advantage for s in sample.spans})


def with_step_advantages(sample: Sample, by_step: Mapping[int, float]) -> Sample:
    """Return the Sample with each step's advantage on that step's tokens.

    Raises:
        ConfigError: a step has none.
    """
    values = [0.0] * len(sample.token_ids)
    for span in sample.spans:
        if span.step_index not in by_step:
            raise ConfigError(f"step {span.step_index} of {sample.name} has no advantage")
        width = span.end - span.start
        values[span.start : span.end] = [by_step[span.step_index]] * width
    return replace(sample, advantages=tuple(values))


def with_token_advantages(
    samples: Sequence[Sample], by_token: Sequence[float]
) -> tuple[Sample, ...]:
    """Return an attempt's Samples with the advantages of its sampled tokens, given in order.

    Sampled tokens are trained once, so an attempt is one row of them, windows joined: estimators
    that work on tokens (GAE, REINFORCE++) get such rows and are laid back here.

    Raises:
        ConfigError: their number is not that of the attempt's sampled tokens.
    """
    total = sum(sample.sampled for sample in samples)
    if len(by_token) != total:
        raise ConfigError(f"{len(by_token)} advantages were given for {total} sampled tokens")
    made: list[Sample] = []
    taken = 0
    for sample in samples:
        values = [0.0] * len(sample.token_ids)
        for span in sample.spans:
            width = span.end - span.start
            values[span.start : span.end] = by_token[taken : taken + width]
            taken += width
        made.append(replace(sample, advantages=tuple(values)))
    return tuple(made)


class _Whole(Struct, frozen=True, kw_only=True):
    call: CallTokens
    prompt: tuple[int, ...]


def _checked(
    attempt_id: str, calls: Sequence[CallTokens], placeholder_id: int | None, merge: int
) -> tuple[_Whole, ...]:
    prompts = expand_prompts(calls)
    if len(prompts) != len(calls):
        raise ConfigError(
            "two calls of one attempt have the same id; tokens would be trained twice"
        )
    for call in calls:
        require_consistent(call, prompts[call.call_id], placeholder_id=placeholder_id, merge=merge)
    return tuple(_Whole(call=call, prompt=prompts[call.call_id]) for call in calls)


def _samples(attempt_id: str, calls: Sequence[_Whole], *, join: bool) -> tuple[Sample, ...]:
    rows: list[list[_Whole]] = []
    for whole in calls:
        if join and rows and _goes_on(rows[-1][-1], whole):
            rows[-1].append(whole)
        else:
            rows.append([whole])
    trained = [row for row in rows if any(whole.call.reply_ids for whole in row)]
    return tuple(_sample(attempt_id, index, row) for index, row in enumerate(trained))


def _goes_on(before: _Whole, after: _Whole) -> bool:
    """Whether a call can share the sequence of the one before."""
    one, two = before.call, after.call
    so_far = before.prompt + one.reply_ids
    return (
        two.window_index == one.window_index
        and two.banned_ids == one.banned_ids
        and two.temperature == one.temperature
        and after.prompt[: len(so_far)] == so_far
        and two.images[: len(one.images)] == one.images
    )


def _sample(attempt_id: str, row: int, calls: Sequence[_Whole]) -> Sample:
    last = calls[-1]
    token_ids = last.prompt + last.call.reply_ids
    log_probs = [0.0] * len(token_ids)
    spans: list[SampledSpan] = []
    for whole in calls:
        start = len(whole.prompt)
        end = start + len(whole.call.reply_ids)
        log_probs[start:end] = whole.call.log_probs
        spans.append(
            SampledSpan(
                call_id=whole.call.call_id, step_index=whole.call.step_index, start=start, end=end
            )
        )
    versions = [whole.call.weights_version for whole in calls]
    return Sample(
        attempt_id=attempt_id,
        row=row,
        window_index=last.call.window_index,
        token_ids=token_ids,
        rollout_log_probs=tuple(log_probs),
        advantages=(0.0,) * len(token_ids),
        spans=tuple(spans),
        images=last.call.images,
        banned_ids=last.call.banned_ids,
        temperature=last.call.temperature,
        weights_versions=(min(versions), max(versions)),
    )
