"""Adapters on a real small network."""

from copy import deepcopy

import pytest
import torch
from engine_parts import pixel_policy, text_policy

from screenloop.engine.adapters import (
    LoraSettings,
    adapters_off,
    begin_adapters,
    fold_adapters,
    merged_weights,
    with_adapters,
)
from screenloop.engine.weights import check_weights, copy_weights, weights_of
from screenloop.errors import ConfigError

IDS = torch.tensor([[5, 9, 2, 7, 11, 3]])


def said(policy):
    with torch.no_grad():
        return policy.model(input_ids=IDS).logits


def taught(policy, seed=0):
    """Return the policy with adapters that have learnt something."""
    source = torch.Generator().manual_seed(seed)
    made = with_adapters(policy, LoraSettings(rank=4, alpha=8))
    with torch.no_grad():
        for name, weight in made.model.named_parameters():
            if "lora_B" in name:
                weight.normal_(0, 0.1, generator=source)
    return made


def test_fresh_adapters_change_nothing_and_leave_the_given_policy_alone():
    base = text_policy()
    before = weights_of(base.model)
    adapted = with_adapters(base, LoraSettings())
    assert torch.equal(said(adapted), said(base))
    assert all(torch.equal(value, before[name]) for name, value in weights_of(base.model).items())
    assert type(adapted.model) is type(base.model)


def test_adapters_alone_are_trained():
    adapted = with_adapters(text_policy(), LoraSettings(rank=2, targets=("q_proj", "down_proj")))
    trained = [name for name, p in adapted.model.named_parameters() if p.requires_grad]
    assert trained
    assert all("lora_" in name for name in trained)
    assert {name.split(".")[-4] for name in trained} == {"q_proj", "down_proj"}


@pytest.mark.parametrize("policy", [text_policy, pixel_policy])
def test_merged_weights_fit_the_plain_network_and_say_what_the_adapters_say(policy):
    base, adapted = policy(), taught(policy())
    merged = merged_weights(adapted.model)
    check_weights(base.model, merged)
    assert not torch.allclose(said(adapted), said(base), atol=1e-3)
    plain = deepcopy(base)
    copy_weights(plain.model, merged)
    torch.testing.assert_close(said(plain), said(adapted), rtol=1e-5, atol=2e-5)


def test_a_network_without_adapters_is_its_own_merge():
    base = text_policy()
    merged = merged_weights(base.model)
    assert all(torch.equal(merged[name], v) for name, v in base.model.state_dict().items())
    name = next(iter(merged))
    merged[name].zero_()
    assert base.model.state_dict()[name].abs().sum() > 0


def test_switched_off_it_says_what_its_base_says_and_learns_again_afterwards():
    base, adapted = text_policy(), taught(text_policy())
    with adapters_off(adapted.model):
        assert torch.equal(said(adapted), said(base))
    assert not torch.equal(said(adapted), said(base))
    assert any(p.requires_grad for p in adapted.model.parameters())


def test_folded_adapters_stay_in_the_base_and_begin_anew():
    adapted = taught(text_policy())
    before = said(adapted)
    fold_adapters(adapted.model)
    torch.testing.assert_close(said(adapted), before, rtol=1e-5, atol=2e-5)
    with adapters_off(adapted.model):
        torch.testing.assert_close(said(adapted), before, rtol=1e-5, atol=2e-5)


def test_the_seed_alone_decides_the_fresh_adapters():
    one, other = (with_adapters(text_policy(), LoraSettings(), seed=s).model for s in (0, 1))
    name = next(n for n in one.state_dict() if "lora_A" in n)
    assert not torch.equal(one.state_dict()[name], other.state_dict()[name])
    begin_adapters(other, 0)
    assert torch.equal(one.state_dict()[name], other.state_dict()[name])


def test_weights_with_adapters_can_be_kept_and_copied_back():
    adapted = taught(text_policy())
    kept, before = weights_of(adapted.model), said(adapted)
    begin_adapters(adapted.model, 3)
    assert not torch.equal(said(adapted), before)
    copy_weights(adapted.model, kept)
    assert torch.equal(said(adapted), before)


@pytest.mark.parametrize("targets", [("q_porj",), ("lm_head",), ("embed_tokens",), ()])
def test_targets_that_cannot_be_adapted_are_refused_with_those_that_can(targets):
    with pytest.raises(ConfigError, match=r"lora\.targets .*q_proj"):
        with_adapters(text_policy(), LoraSettings(targets=targets))
