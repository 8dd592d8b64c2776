"""A toy tokenizer, a toy policy and synthetic Episodes, through the real windowed history."""

from __future__ import annotations

import torch

from screenloop.agent.history import PastStep, window_at, windowed_prompt
from screenloop.config import Window
from screenloop.messages import ImagePart, ImageSpan, Sampling, shared_length
from screenloop.store.episodes import CallRecord, EndRecord, Episode, StartRecord
from screenloop.train.loss.aggregate import token_weights
from screenloop.train.loss.masking import masked
from screenloop.train.loss.scoring import drawn_log_probs, entropy
from screenloop.train.types import CallTokens
from screenloop.types import (
    Budget,
    EndReason,
    EnvRef,
    Goal,
    Observation,
    Step,
    Task,
    Usage,
    Verdict,
    World,
)

PAD, SYSTEM, USER, ASSISTANT, END, IMAGE_START, IMAGE_END, IMAGE = range(8)
VOCABULARY = 40
GRID = (1, 4, 2)
IMAGE_TOKENS = 2
ROLES = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}


def text_ids(text):
    return [10 + ord(c) % 30 for c in text]


def encode(messages):
    """Return expanded prompt ids and picture spans of a chat, ready for a reply."""
    ids, images = [], []
    for message in messages:
        ids.append(ROLES[message.role])
        for part in message.parts:
            if isinstance(part, ImagePart):
                ids.append(IMAGE_START)
                images.append(
                    ImageSpan(key=part.key, start=len(ids), length=IMAGE_TOKENS, grid_thw=GRID)
                )
                ids += [IMAGE] * IMAGE_TOKENS + [IMAGE_END]
            else:
                ids += text_ids(part.text)
        ids.append(END)
    return (*ids, ASSISTANT), tuple(images)


def reply_ids(text):
    return (*text_ids(text), END)


def past_step(index, replied=True):
    return PastStep(
        words=f"w{index}",
        image=ImagePart(key=f"sha256-{index:064x}.png", mime="image/png", size_px=(32, 32)),
        reply=f"r{index}" if replied else None,
    )


def prompts(length, window):
    """Return (prompt ids, spans, window span) of each step of an Episode."""
    steps = [past_step(i) for i in range(length)]
    return [
        (
            *encode(windowed_prompt("head", [*steps[:i], past_step(i, replied=False)], window)),
            window_at(i, window),
        )
        for i in range(length)
    ]


def synthetic_calls(length, window=Window(), version=0, banned=()):
    """Return the token records of an Episode; log-probabilities are made up."""
    calls, before = [], ()
    for i, (ids, images, span) in enumerate(prompts(length, window)):
        goes_on = i > span.first_new_step
        reply = reply_ids(f"r{i}")
        calls.append(
            CallTokens(
                call_id=f"e/c{i}",
                step_index=i,
                window_index=span.index,
                prefix_call_id=f"e/c{i - 1}" if goes_on else None,
                prefix_length=len(before) if goes_on else 0,
                prompt_delta_ids=ids[len(before) :] if goes_on else ids,
                images=images,
                reply_ids=reply,
                log_probs=tuple(-0.01 * (k + 1) - 0.001 * i for k in range(len(reply))),
                weights_version=version,
                banned_ids=banned,
            )
        )
        before = ids + reply
    return tuple(calls)


def call_records(length, window=Window(), **changes):
    """Return the calls as the harness writes them: prompt ids as deltas inside a window."""
    records = []
    whole = ()
    for i, (ids, _, span) in enumerate(prompts(length, window)):
        reply = reply_ids(f"r{i}")
        shared = shared_length(ids, whole) if i > span.first_new_step else 0
        whole = (*ids, *reply)
        facts = {
            "call_id": f"e/c{i}",
            "parent_call_id": f"e/c{i - 1}" if i > span.first_new_step else None,
            "window_index": span.index,
            "step_index": i,
            "messages": (),
            "sampling": Sampling(temperature=1.0),
            "model": "toy",
            "reply": f"r{i}",
            "finish_reason": "stop",
            "prompt_prefix_length": shared,
            "prompt_token_ids": ids[shared:],
            "token_ids": reply,
            "logprobs": (-0.5,) * len(reply),
            "weights_version": "3",
            "took_s": 0.0,
        }
        records.append(CallRecord(**{**facts, **changes}))
    return records


class ToyPolicy(torch.nn.Module):
    """A causal policy of a few hundred weights: mixes the past by a decaying sum."""

    def __init__(self, seed=0, width=8):
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.embed = torch.nn.Parameter(torch.randn(VOCABULARY, width, generator=draw))
        self.head = torch.nn.Parameter(torch.randn(width, VOCABULARY, generator=draw))

    def forward(self, token_ids_B_T):
        states, state = [], torch.zeros(len(token_ids_B_T), self.embed.shape[1])
        for token_B in token_ids_B_T.T:
            state = 0.7 * state + 0.3 * self.embed[token_B]
            states.append(state)
        return torch.tanh(torch.stack(states, dim=1)) @ self.head


def token_scores(logits_B_T_V, token_ids_B_T, **distribution):
    """Return log-probability and entropy of each token given those before it, 0 in column 0."""
    every_B_T_V = drawn_log_probs(logits_B_T_V[:, :-1], **distribution)
    taken_B_T = every_B_T_V.gather(-1, token_ids_B_T[:, 1:].unsqueeze(-1)).squeeze(-1)
    first_B_1 = torch.zeros_like(taken_B_T[:, :1])
    return (
        torch.cat([first_B_1, taken_B_T], dim=1),
        torch.cat([first_B_1, entropy(every_B_T_V)], dim=1),
    )


def aggregate(loss_B_T, mask_B_T, mode="token-mean", **sequences):
    """Return the loss of a whole batch; see `token_weights`."""
    return (masked(loss_B_T, mask_B_T) * token_weights(mask_B_T, mode, **sequences)).sum()


def whole_rows(samples, *fields):
    """Return fields of Samples as tensors `[rows, tokens]`, 0 behind the end of a row."""
    return [
        torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(getattr(sample, field)) for sample in samples], batch_first=True
        )
        for field in fields
    ]


def played_calls(policy, length, window, banned, seed=0, max_tokens=4):
    """Sample replies from a policy, call by call, and return the records."""
    draw = torch.Generator().manual_seed(seed)
    calls, before, kept = [], (), []
    for i in range(length):
        span = window_at(i, window)
        goes_on = i > span.first_new_step
        ids, images = encode(windowed_prompt("head", [past_step(i, replied=False)], window))
        if goes_on:
            ids = before + ids[len(encode_head()) :]
            images = kept + tuple(
                ImageSpan(
                    key=image.key,
                    start=image.start + len(before) - len(encode_head()),
                    length=image.length,
                    grid_thw=image.grid_thw,
                )
                for image in images
            )
        reply, log_probs = [], []
        while len(reply) < max_tokens and (not reply or reply[-1] != END):
            with torch.no_grad():
                logits = policy(torch.tensor([[*ids, *reply]]))[:, -1:]
                scores = drawn_log_probs(logits, banned_ids=banned)[0, 0]
            token = int(torch.multinomial(scores.exp(), 1, generator=draw))
            reply.append(token)
            log_probs.append(float(scores[token]))
        calls.append(
            CallTokens(
                call_id=f"e/c{i}",
                step_index=i,
                window_index=span.index,
                prefix_call_id=f"e/c{i - 1}" if goes_on else None,
                prefix_length=len(before) if goes_on else 0,
                prompt_delta_ids=tuple(ids[len(before) :]) if goes_on else tuple(ids),
                images=images,
                reply_ids=tuple(reply),
                log_probs=tuple(log_probs),
                weights_version=0,
                banned_ids=banned,
            )
        )
        before, kept = (*ids, *reply), images
    return tuple(calls)


def encode_head():
    """Return the ids of the system turn alone."""
    return (SYSTEM, *text_ids("head"), END)


def task(name="tap", seed=0, goal="Tap it.", kind="fake", apps="notes", world=World(), optimal=2):
    from screenloop.criteria import Count

    return Task(
        id=f"toy/{name}@1",
        seed=seed,
        env=EnvRef(kind=kind, size_px=(32, 32)),
        world=world,
        goal=Goal(text=goal),
        checks=(Count(says="x", app="notes", table="items", equals=1),),
        tags={"domain": kind, "difficulty": "easy", "apps": apps},
        budget=Budget(steps=10),
        optimal_steps=optimal,
    )


def episode(steps, verdict, optimal=2):
    """Return an Episode whose steps are given as keyword arguments of Step."""
    made = tuple(
        Step(index=i, observation=Observation(size_px=(32, 32)), **facts)
        for i, facts in enumerate(steps)
    )
    return Episode(
        start=StartRecord(
            episode_id="e",
            run_id="r",
            task=task(optimal=optimal),
            mode="gui_only",
            config_hash="c",
            harness_hash="h",
            started_at=0.0,
        ),
        calls=(),
        steps=made,
        verdict=verdict,
        end=EndRecord(reason=EndReason.FINISHED, steps=len(made), usage=Usage(), seconds=1.0),
    )


def verdict(success=True, reward=None, checks=(), unscored=None):
    return Verdict(
        reward=float(success) if reward is None else reward,
        success=success,
        checks=checks,
        unscored=unscored,
    )
