"""Our functions against recorded outputs of the references; see fixtures/README.md."""

import json
from pathlib import Path

import pytest
import torch
from train_parts import aggregate

from screenloop.train.credit.gae import gae
from screenloop.train.credit.group_advantage import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from screenloop.train.credit.step_advantage import StepRows, hgpo
from screenloop.train.loss.kl import kl_estimate
from screenloop.train.loss.mismatch import rejection_mask, rollout_weights
from screenloop.train.loss.policy import policy_loss
from screenloop.train.loss.value import value_loss
from screenloop.train.settings import Clip, Rejection

FIXTURES = Path(__file__).parents[1] / "fixtures"
VERL = json.loads((FIXTURES / "verl.json").read_text())["cases"]
HGPO = json.loads((FIXTURES / "hgpo.json").read_text())["cases"]
GROUPS = torch.tensor([0, 0, 0, 1, 1, 1])


@pytest.fixture(params=VERL, ids=lambda case: f"seed{VERL.index(case) + 1}")
def case(request):
    given = {name: torch.tensor(value) for name, value in request.param["inputs"].items()}
    return given, request.param["outputs"]


def close(ours, theirs):
    ours = torch.as_tensor(ours, dtype=torch.float32)
    theirs = torch.as_tensor(theirs, dtype=torch.float32)
    assert ours.shape == theirs.shape
    assert torch.allclose(ours, theirs, atol=1e-5, rtol=1e-5), (ours, theirs)


@pytest.mark.parametrize("ours", [grpo, dr_grpo, rloo])
def test_group_advantages(case, ours):
    x, expected = case
    advantages_N = ours(x["rewards"].sum(dim=1), GROUPS)
    close(advantages_N.unsqueeze(1) * x["mask"], expected[ours.__name__])


def test_reinforce_plus_plus(case):
    x, expected = case
    ours = reinforce_plus_plus(x["rewards"], x["mask"], gamma=0.9, statistics="token")
    close(ours, expected["reinforce_plus_plus"])


def test_reinforce_plus_plus_baseline(case):
    x, expected = case
    ours = reinforce_plus_plus_baseline(
        x["rewards"].sum(dim=1), GROUPS, x["mask"], statistics="token"
    )
    close(ours, expected["reinforce_plus_plus_baseline"])


def test_gae(case):
    x, expected = case
    ours = gae(x["rewards"], x["values"], x["mask"], gamma=0.97, lam=0.9, statistics="token")
    close(ours.advantages_B_T, torch.tensor(expected["gae_advantages"]) * x["mask"])
    close(ours.returns_B_T, expected["gae_returns"])


LOSSES = {
    "ppo": ("ppo", Clip(), False),
    "ppo_clip_higher": ("ppo", Clip(high=0.28), False),
    "ppo_weighted": ("ppo", Clip(), True),
    "ppo_dual": ("ppo", Clip(dual=1.2), False),
    "gspo": ("gspo", Clip(low=0.01, high=0.02, dual=None), False),
    "cispo": ("cispo", Clip(high=0.28, dual=None), False),
}


@pytest.mark.parametrize("name", LOSSES)
def test_policy_losses_and_their_gradients(case, name):
    x, expected = case
    kind, clip, weighted = LOSSES[name]
    weights = rollout_weights(x["old"], x["rollout"], x["mask"]) if weighted else None
    new = x["new"].clone().requires_grad_()
    of = (new, x["old"], x["advantages"], x["mask"])
    found = policy_loss(kind, *of, clip=clip, weights_B_T=weights)
    loss = aggregate(found.loss_B_T, x["mask"], "token-mean")
    loss.backward()
    close(loss.detach(), expected[name]["loss"])
    close(new.grad, expected[name]["gradient"])
    close(found.clip_fraction, expected[name]["clip_fraction"])
    close(found.clip_fraction_lower, expected[name]["clip_fraction_lower"])
    close(found.approx_kl, expected[name]["approx_kl"])


def test_the_dual_clip_was_reached_in_the_recorded_batches():
    assert any(case["outputs"]["ppo_dual"]["clip_fraction_lower"] > 0 for case in VERL)


def test_value_loss(case):
    x, expected = case
    found = value_loss(x["new_values"], x["values"], x["returns"], x["mask"], clip=0.5)
    close(aggregate(found.loss_B_T, x["mask"]), expected["value"]["loss"])
    close(found.clip_fraction, expected["value"]["clip_fraction"])


@pytest.mark.parametrize("mode", sorted(VERL[0]["outputs"]["aggregate"]))
def test_aggregation_with_a_row_that_samples_nothing(case, mode):
    x, expected = case
    mask = x["mask"].clone()
    mask[2] = 0.0
    close(aggregate(x["advantages"], mask, mode, length=5), expected["aggregate"][mode])


@pytest.mark.parametrize("kind", sorted(VERL[0]["outputs"]["kl"]))
def test_kl_estimators_and_their_gradients(case, kind):
    x, expected = case
    new = x["new"].clone().requires_grad_()
    ours = kl_estimate(new, x["ref"], kind)
    ours.sum().backward()
    close(ours.detach(), expected["kl"][kind]["value"])
    close(new.grad, expected["kl"][kind]["gradient"])


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("low", [None, 0.7])
def test_rollout_weights(case, level, low):
    x, expected = case
    ours = rollout_weights(x["old"], x["rollout"], x["mask"], level=level, high=1.3, low=low)
    close(ours, expected["weights"][f"{level}_{'truncated' if low is None else 'masked'}"])


@pytest.mark.parametrize("statistic", sorted(VERL[0]["outputs"]["rejection"]))
def test_rejection(case, statistic):
    x, expected = case
    is_k1 = statistic.endswith("k1")
    rule = Rejection(statistic=statistic, high=1.25 if is_k1 else 0.04, low=0.8 if is_k1 else None)
    close(
        rejection_mask(x["old"], x["rollout"], x["mask"], [rule]),
        expected["rejection"][statistic],
    )


def test_each_rejection_statistic_both_kept_and_rejected_tokens():
    for statistic in VERL[0]["outputs"]["rejection"]:
        shares = [
            torch.tensor(c["outputs"]["rejection"][statistic]).sum()
            / torch.tensor(c["inputs"]["mask"]).sum()
            for c in VERL
        ]
        assert min(shares) < 1
        assert max(shares) > 0


@pytest.mark.parametrize("name", sorted(HGPO[0]["outputs"]))
@pytest.mark.parametrize("seed", range(len(HGPO)))
def test_hgpo(seed, name):
    given = HGPO[seed]["inputs"]
    mode, alpha, history = name.replace("_norm", "").rsplit("_", 2)
    # The recipe takes returns as they are; rewards whose discount is 0 are their own returns.
    rows = StepRows(
        attempts_E=torch.tensor(given["owners"]),
        rewards_E=torch.tensor(given["returns"]),
        anchors_E=tuple(given["anchors"]),
    )
    ours = hgpo(
        rows,
        torch.tensor(given["scores"]),
        torch.tensor(given["groups"]),
        gamma=0.0,
        history=int(history.removeprefix("history")),
        alpha=float(alpha.removeprefix("alpha")),
        normalise="std" if mode == "mean_std" else "none",
    )
    close(ours.advantages_E, HGPO[seed]["outputs"][name])
