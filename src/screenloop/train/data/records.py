"""Token-exact records of model calls: what training needs, checked before anything is trained.

Prompt ids are stored as a delta: the call before, how many of its ids (prompt, then reply) come
first, and the ids after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite, prod

from screenloop.errors import ConfigError
from screenloop.store.episodes import CallRecord
from screenloop.train.types import CallTokens


def call_tokens(records: Iterable[CallRecord]) -> tuple[CallTokens, ...]:
    """Return the token records of an Episode's calls.

    Raises:
        ConfigError: a call lacks ids, log-probabilities or a weights version, its distribution
            cannot be recomputed, or it shows pictures that no record places in the ids.
    """
    made: list[CallTokens] = []
    for record in records:
        prompt, reply, log_probs, version = _token_facts(record)
        made.append(
            CallTokens(
                call_id=record.call_id,
                step_index=record.step_index,
                window_index=record.window_index,
                prefix_call_id=record.parent_call_id if record.prompt_prefix_length else None,
                prefix_length=record.prompt_prefix_length,
                prompt_delta_ids=prompt,
                images=record.images,
                reply_ids=reply,
                log_probs=log_probs,
                weights_version=version,
                temperature=record.sampling.temperature,
                banned_ids=record.banned_token_ids,
                cached_tokens=record.usage.cached,
                stack=record.token_stack,
            )
        )
    return tuple(made)


def expand_prompts(calls: Iterable[CallTokens]) -> dict[str, tuple[int, ...]]:
    """Return the exact prompt ids of each call from the deltas.

    Raises:
        ConfigError: a call goes on from one that does not come before it or is too short.
    """
    prompts: dict[str, tuple[int, ...]] = {}
    whole: dict[str, tuple[int, ...]] = {}
    for call in calls:
        prompt = call.prompt_delta_ids
        if call.prefix_call_id is not None:
            before = whole.get(call.prefix_call_id)
            if before is None or call.prefix_length > len(before):
                raise ConfigError(
                    f"call {call.call_id} begins with {call.prefix_length} ids of "
                    f"{call.prefix_call_id}, which does not come before it or is shorter; the "
                    "episode file is incomplete"
                )
            prompt = before[: call.prefix_length] + prompt
        prompts[call.call_id] = prompt
        whole[call.call_id] = prompt + call.reply_ids
    return prompts


def require_consistent(
    call: CallTokens, prompt: Sequence[int], *, placeholder_id: int | None = None, merge: int = 2
) -> None:
    """Refuse a call that training would get wrong.

    Args:
        call: The record.
        prompt: Its whole prompt.
        placeholder_id: The id that stands for an image patch; `None` for text-only policies.
        merge: Patches a side that become one token.

    Raises:
        ConfigError: ids and log-probabilities differ in number, a log-probability is none, a
            banned id was sampled, or placeholders do not agree with the pictures.
    """
    if len(call.reply_ids) != len(call.log_probs):
        raise ConfigError(
            f"call {call.call_id} has {len(call.reply_ids)} reply ids but {len(call.log_probs)} "
            "log-probabilities; each sampled token, the stop token included, needs one"
        )
    if any(not isfinite(value) or value > 1e-6 for value in call.log_probs):
        raise ConfigError(
            f"call {call.call_id} has a log-probability that is not a number at or below 0"
        )
    sampled = set(call.banned_ids).intersection(call.reply_ids)
    if sampled:
        raise ConfigError(
            f"call {call.call_id} sampled the banned id {min(sampled)}; the sampler must take "
            "banned ids out of the distribution before it draws"
        )
    _require_images(call, prompt, placeholder_id, merge)


def _require_images(
    call: CallTokens, prompt: Sequence[int], placeholder_id: int | None, merge: int
) -> None:
    at = 0
    for image in call.images:
        expected = prod(image.grid_thw) // merge**2
        if image.length != expected:
            raise ConfigError(
                f"call {call.call_id}: picture {image.key} has {image.length} placeholder tokens, "
                f"but its grid {image.grid_thw} makes {expected}"
            )
        if image.start < at or image.end > len(prompt):
            raise ConfigError(
                f"call {call.call_id}: picture {image.key} lies at {image.start}-{image.end}, "
                f"outside of or out of order in a prompt of {len(prompt)} ids"
            )
        at = image.end
    if placeholder_id is None:
        return
    spans = {i for image in call.images for i in range(image.start, image.end)}
    placeholders = {i for i, token in enumerate(prompt) if token == placeholder_id}
    if spans != placeholders or placeholder_id in call.reply_ids:
        raise ConfigError(
            f"call {call.call_id} has {len(placeholders)} placeholder tokens where its pictures "
            f"account for {len(spans)}; an image was cut or its token was sampled (ban it)"
        )


def _token_facts(
    record: CallRecord,
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...], int]:
    facts = {
        "prompt ids": record.prompt_token_ids,
        "reply ids": record.token_ids,
        "log-probabilities": record.logprobs,
        "weights version": record.weights_version,
    }
    missing = [name for name, value in facts.items() if value is None]
    if missing:
        raise ConfigError(
            f"call {record.call_id} of model {record.model!r} has no {', no '.join(missing)}: it "
            "can be evaluated but not trained on. Use a server that returns token ids and "
            "log-probabilities, or `screenloop serve-model`."
        )
    sampling = record.sampling
    if sampling.top_p != 1.0 or sampling.top_k is not None or sampling.temperature <= 0:
        raise ConfigError(
            f"call {record.call_id} was sampled at temperature {sampling.temperature:g}, top_p "
            f"{sampling.top_p:g}, top_k {sampling.top_k}; training recomputes the distribution "
            "from temperature and banned ids alone: sample with temperature above 0 and without "
            "top_p and top_k"
        )
    assert record.prompt_token_ids is not None
    assert record.token_ids is not None
    assert record.logprobs is not None
    assert record.weights_version is not None
    if not record.weights_version.isdecimal():
        raise ConfigError(
            f"call {record.call_id} has weights version {record.weights_version!r}; training "
            "counts versions as whole numbers"
        )
    return (record.prompt_token_ids, record.token_ids, record.logprobs, int(record.weights_version))
