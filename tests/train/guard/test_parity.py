import math

import pytest
import torch
from train_parts import (
    IMAGE,
    IMAGE_END,
    IMAGE_START,
    PAD,
    ToyPolicy,
    played_calls,
    token_scores,
    whole_rows,
)

from screenloop.config import Window
from screenloop.train.data.samples import window_samples
from screenloop.train.guard.parity import judge_parity, measure_parity
from screenloop.train.settings import ParityLimits

BANNED = (PAD, IMAGE_START, IMAGE_END, IMAGE)


def _measured(policy, calls, banned=BANNED):
    samples = window_samples("e", calls)
    rollout, mask, ids = whole_rows(samples, "rollout_log_probs", "loss_mask", "token_ids")
    log_probs, _ = token_scores(policy(ids), ids, banned_ids=banned)
    return measure_parity(rollout, log_probs, mask, ids, [s.name for s in samples])


def _calls():
    return played_calls(ToyPolicy(), 6, Window(steps=4, overlap=1), BANNED)


def test_the_policy_that_sampled_passes():
    parity = _measured(ToyPolicy(), _calls())
    assert parity.max_abs < 1e-5
    assert judge_parity(parity) is None


def test_one_corrupted_weight_is_refused_in_the_first_batch_with_the_evidence():
    policy = ToyPolicy()
    with torch.no_grad():
        policy.head[3, 25] += 0.5
    parity = _measured(policy, _calls())
    refusal = judge_parity(parity)
    assert refusal is not None
    assert "max |difference|" in refusal.reason
    worst = refusal.parity.worst[0]
    assert abs(worst.engine_log_prob - worst.trainer_log_prob) == pytest.approx(parity.max_abs)
    assert worst.row.startswith("e/r")
    gaps = [abs(w.engine_log_prob - w.trainer_log_prob) for w in parity.worst]
    assert gaps == sorted(gaps, reverse=True)


def test_a_ban_that_only_the_sampler_knows_is_refused():
    assert judge_parity(_measured(ToyPolicy(), _calls(), banned=())) is not None


def test_what_is_not_a_number_is_refused():
    engine = torch.tensor([[0.0, -1.0]])
    broken = torch.tensor([[0.0, float("nan")]])
    parity = measure_parity(
        engine, broken, torch.tensor([[0.0, 1.0]]), torch.tensor([[4, 5]]), ["r"]
    )
    assert parity.max_abs == math.inf
    assert parity.worst[0].token_id == 5
    assert judge_parity(parity, ParityLimits(max_abs=math.inf)) is not None


def test_each_limit_can_refuse():
    engine, mask = torch.zeros(1, 1000), torch.ones(1, 1000)
    trainer = engine.clone()
    trainer[0, 7] = 9e-5
    parity = measure_parity(engine, trainer, mask, torch.zeros(1, 1000), ["r"])
    assert judge_parity(parity) is None
    for name in ("max_abs", "mean_abs", "k3"):
        limits = ParityLimits(**{name: getattr(parity, name) / 2})
        refusal = judge_parity(parity, limits)
        assert refusal is not None
        assert refusal.reason.count("limit") == 1


def test_a_batch_without_sampled_tokens_has_no_difference():
    parity = measure_parity(
        torch.zeros(1, 2), torch.ones(1, 2), torch.zeros(1, 2), torch.zeros(1, 2), ["r"]
    )
    assert parity.tokens == 0
    assert judge_parity(parity) is None
