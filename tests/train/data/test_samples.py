import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from train_parts import (
    END,
    IMAGE,
    IMAGE_END,
    IMAGE_START,
    PAD,
    ToyPolicy,
    played_calls,
    prompts,
    synthetic_calls,
    token_scores,
    whole_rows,
)

from screenloop.agent.history import windows
from screenloop.config import Window
from screenloop.errors import ConfigError
from screenloop.train.data.records import expand_prompts
from screenloop.train.data.samples import (
    step_samples,
    window_samples,
    with_attempt_advantage,
    with_step_advantages,
    with_token_advantages,
)
from screenloop.train.guard.parity import judge_parity, measure_parity
from screenloop.train.loss.scoring import sampled_rows
from screenloop.train.types import CallTokens

BANNED = (PAD, IMAGE_START, IMAGE_END, IMAGE)


@st.composite
def any_window(draw):
    steps = draw(st.integers(1, 12))
    return Window(steps=steps, overlap=draw(st.integers(0, steps - 1)))


@functools.lru_cache(maxsize=64)
def _calls(length, window):
    return synthetic_calls(length, window)


def _trained(samples):
    """Return each trained token as (call, offset, id, log-probability)."""
    return [
        (span.call_id, i - span.start, sample.token_ids[i], sample.rollout_log_probs[i])
        for sample in samples
        for span in sample.spans
        for i in range(span.start, span.end)
    ]


def _sampled(calls):
    return [
        (call.call_id, i, token, call.log_probs[i])
        for call in calls
        for i, token in enumerate(call.reply_ids)
    ]


def test_each_sampled_token_is_trained_exactly_once_for_every_length_from_1_to_200():
    calls = synthetic_calls(200, Window())
    for length in range(1, 201):
        samples = window_samples("e", calls[:length])
        assert _trained(samples) == _sampled(calls[:length])
        assert len(samples) == len(windows(length, Window()))


@given(any_window(), st.integers(1, 45))
@settings(max_examples=60, deadline=None)
def test_each_sampled_token_is_trained_exactly_once_in_any_window(window, length):
    calls = _calls(45, window)[:length]
    samples = window_samples("e", calls, placeholder_id=IMAGE)
    assert _trained(samples) == _sampled(calls)
    assert _trained(step_samples("e", calls, placeholder_id=IMAGE)) == _sampled(calls)
    assert [s.window_index for s in samples] == [w.index for w in windows(length, window)]


@given(any_window(), st.integers(1, 45))
@settings(max_examples=40, deadline=None)
def test_the_context_of_each_reply_is_the_prompt_that_the_model_saw(window, length):
    calls = _calls(45, window)[:length]
    seen = expand_prompts(calls)
    for layout in (window_samples, step_samples):
        for sample in layout("e", calls):
            for span in sample.spans:
                assert sample.token_ids[: span.start] == seen[span.call_id]


@given(any_window(), st.integers(1, 45))
@settings(max_examples=40, deadline=None)
def test_deltas_give_the_exact_prompts_and_break_only_at_window_boundaries(window, length):
    calls = _calls(45, window)[:length]
    seen = expand_prompts(calls)
    boundaries = {w.first_new_step for w in windows(length, window)}
    before = ()
    for i, (ids, _, _) in enumerate(prompts(length, window)):
        assert seen[f"e/c{i}"] == ids
        assert (ids[: len(before)] == before and i > 0) == (i not in boundaries)
        before = ids + calls[i].reply_ids


@given(any_window(), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_ids_mask_log_probs_and_advantages_have_one_length(window, length):
    for sample in window_samples("e", _calls(45, window)[:length]):
        sizes = {
            len(sample.token_ids),
            len(sample.loss_mask),
            len(sample.rollout_log_probs),
            len(sample.advantages),
        }
        assert len(sizes) == 1
        assert sum(sample.loss_mask) == sample.sampled


@given(any_window(), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_placeholders_of_a_sample_are_those_of_its_pictures(window, length):
    for sample in window_samples("e", _calls(45, window)[:length]):
        spans = [i for image in sample.images for i in range(image.start, image.end)]
        assert spans == [i for i, token in enumerate(sample.token_ids) if token == IMAGE]
        assert 1 <= len(sample.images) <= window.steps


def test_a_template_that_rewrites_the_past_begins_a_new_sequence():
    from msgspec.structs import replace

    calls = list(synthetic_calls(4))
    broken = calls[2]
    keep = broken.prefix_length - 3
    whole = expand_prompts(calls)["e/c2"]
    calls[2] = replace(
        broken, prefix_length=keep, prompt_delta_ids=(*whole[keep : keep + 1], 20, *whole[keep:])
    )
    # The picture of step 2 now lies two ids later.
    calls[2] = replace(calls[2], images=())
    calls[3] = replace(
        calls[3], prefix_length=0, prefix_call_id=None, prompt_delta_ids=(1, 11, 4), images=()
    )
    samples = window_samples("e", calls)
    assert [[s.call_id for s in sample.spans] for sample in samples] == [
        ["e/c0", "e/c1"],
        ["e/c2"],
        ["e/c3"],
    ]
    assert _trained(samples) == _sampled(calls)


def _grown(call_id, window_index, before, **changes):
    """Return a text-only call whose prompt goes on from the one before."""
    facts = {
        "call_id": call_id,
        "step_index": int(call_id),
        "window_index": window_index,
        "prefix_call_id": before.call_id if before else None,
        "prefix_length": before.prefix_length + len(before.prompt_delta_ids + before.reply_ids)
        if before
        else 0,
        "prompt_delta_ids": (11, 12),
        "reply_ids": (13, END),
        "log_probs": (-1.0, -1.0),
        "weights_version": 0,
    }
    return CallTokens(**{**facts, **changes})


def test_samples_keep_to_the_windows_even_where_a_text_prompt_only_grows():
    first = _grown("0", 0, None)
    second = _grown("1", 0, first)
    third = _grown("2", 1, second)
    samples = window_samples("e", [first, second, third])
    assert [[s.call_id for s in sample.spans] for sample in samples] == [["0", "1"], ["2"]]
    assert samples[1].token_ids[: samples[1].spans[0].start] == (11, 12, 13, END) * 2 + (11, 12)


@pytest.mark.parametrize("changes", [{"banned_ids": (5,)}, {"temperature": 0.7}])
def test_calls_drawn_from_other_distributions_do_not_share_a_sequence(changes):
    first = _grown("0", 0, None)
    second = _grown("1", 0, first, **changes)
    samples = window_samples("e", [first, second])
    assert len(samples) == 2
    assert samples[1].banned_ids == second.banned_ids
    assert samples[1].temperature == second.temperature


def test_log_probs_recomputed_on_samples_are_those_of_the_rollout():
    policy = ToyPolicy()
    calls = played_calls(policy, 14, Window(steps=5, overlap=2), BANNED)
    assert not set(BANNED) & {token for call in calls for token in call.reply_ids}
    samples = window_samples("e", calls, placeholder_id=IMAGE)
    rollout, mask, ids = whole_rows(samples, "rollout_log_probs", "loss_mask", "token_ids")
    log_probs, _ = token_scores(policy(ids), ids, banned_ids=BANNED)
    parity = measure_parity(rollout, log_probs, mask, ids, [s.name for s in samples])
    assert parity.tokens == sum(len(call.reply_ids) for call in calls)
    assert parity.k3 < 1e-6
    assert judge_parity(parity) is None


def test_windows_and_single_steps_give_equal_gradients_from_fewer_tokens():
    gradients, tokens = [], []
    for layout in (window_samples, step_samples):
        policy = ToyPolicy()
        calls = played_calls(policy, 12, Window(), BANNED)
        advantages = {i: 0.3 * i - 1 for i in range(12)}
        samples = [with_step_advantages(s, advantages) for s in layout("e", calls)]
        ids, laid, mask = whole_rows(samples, "token_ids", "advantages", "loss_mask")
        log_probs, _ = token_scores(policy(ids), ids, banned_ids=BANNED)
        loss = -(log_probs * laid * mask).sum()
        loss.backward()
        gradients.append(torch.cat([p.grad.flatten() for p in policy.parameters()]))
        tokens.append(sum(len(s.token_ids) for s in samples))
    assert torch.allclose(*gradients, atol=1e-4)
    assert tokens[0] < 0.4 * tokens[1]


def test_advantages_lie_on_sampled_tokens_only():
    samples = window_samples("e", synthetic_calls(12))
    for sample in samples:
        one = with_attempt_advantage(sample, 0.5)
        assert one.advantages == tuple(0.5 * m for m in sample.loss_mask)
    total = sum(s.sampled for s in samples)
    laid = with_token_advantages(samples, [float(i + 1) for i in range(total)])
    given_back = [a for s in laid for a, m in zip(s.advantages, s.loss_mask, strict=True) if m]
    assert given_back == [float(i + 1) for i in range(total)]


def test_a_wrong_number_of_advantages_is_refused():
    samples = window_samples("e", synthetic_calls(3))
    with pytest.raises(ConfigError, match="3 advantages were given for 9 sampled tokens"):
        with_token_advantages(samples, [0.0, 0.0, 0.0])
    with pytest.raises(ConfigError, match="step 1 of e/r0 has no advantage"):
        with_step_advantages(samples[0], {0: 1.0})


def test_a_sample_says_which_weights_sampled_it():
    from msgspec.structs import replace

    calls = [replace(call, weights_version=v) for v, call in enumerate(synthetic_calls(3))]
    assert window_samples("e", calls)[0].weights_versions == (0, 2)


def test_a_batch_refuses_samples_drawn_under_different_bans():
    one = window_samples("a", synthetic_calls(1, banned=(7,)))
    other = window_samples("b", synthetic_calls(1))
    with pytest.raises(ConfigError, match="separate batches"):
        sampled_rows([*one, *other])
    with pytest.raises(ConfigError, match="at least one Sample"):
        sampled_rows([])
