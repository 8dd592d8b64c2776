import pytest

from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.train.settings import (
    RELATIVE,
    Clip,
    LearningSettings,
    read_settings,
    require_learnable,
    usual_clip,
)

SAMPLING = Sampling(temperature=1.0)


def _settings(**sections):
    return read_settings(sections, LearningSettings)


def test_the_defaults_can_learn():
    require_learnable(LearningSettings(), SAMPLING, max_steps=1)


@pytest.mark.parametrize("estimator", sorted(RELATIVE))
@pytest.mark.parametrize("name", ["attempts", "attempts_unsolved", "attempts_mastered"])
def test_groups_of_one_are_refused_for_estimators_that_compare(estimator, name):
    settings = _settings(advantage={"estimator": estimator}, curriculum={name: 1})
    with pytest.raises(ConfigError, match=rf"{name} is 1: set it to 2 or more"):
        require_learnable(settings, SAMPLING, max_steps=10)


def test_groups_of_one_are_fine_where_nothing_is_compared():
    one = {"adaptive": False, "attempts": 1}
    plus = _settings(advantage={"estimator": "reinforce++"}, curriculum=one)
    require_learnable(plus, SAMPLING, max_steps=1)
    fixed = _settings(curriculum={"adaptive": False, "attempts": 4, "attempts_mastered": 1})
    require_learnable(fixed, SAMPLING, max_steps=1)


@pytest.mark.parametrize("estimator", ["gigpo", "hgpo"])
def test_step_credit_with_a_one_step_cap_is_refused(estimator):
    settings = _settings(advantage={"estimator": estimator})
    require_learnable(settings, SAMPLING, max_steps=2)
    with pytest.raises(ConfigError, match="raise the step limit to 2 or more"):
        require_learnable(settings, SAMPLING, max_steps=1)


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        ({"advantage": {"estimator": "ppo"}}, "needs a value head: add `value`"),
        ({"value": {}}, "uses no value head: remove `value`"),
        ({"loss": {"kind": "gspo", "clip": {}}}, "set loss.clip.dual to null"),
        ({"loss": {"aggregation": "seq-mean-token-sum-norm"}}, "needs loss.length"),
    ],
)
def test_combinations_that_do_not_go_together_are_refused(sections, says):
    with pytest.raises(ConfigError, match=says):
        require_learnable(_settings(**sections), SAMPLING, max_steps=10)


@pytest.mark.parametrize(
    ("sampling", "says"),
    [
        (Sampling(temperature=0.0), "Set sampling.temperature to 1"),
        (Sampling(temperature=1.0, top_p=0.9), "set top_p to 1"),
        (Sampling(temperature=1.0, top_k=3), "remove top_k"),
    ],
)
def test_sampling_that_the_loss_cannot_follow_is_refused(sampling, says):
    with pytest.raises(ConfigError, match=says):
        require_learnable(LearningSettings(), sampling, max_steps=10)


def test_unknown_keys_are_refused_with_their_place_and_the_nearest():
    with pytest.raises(ConfigError, match=r"Unknown setting 'los'.*Did you mean 'loss'"):
        _settings(los={})
    with pytest.raises(ConfigError, match=r"setting in 'loss.clip' 'hi'.*Valid: dual, high, low"):
        _settings(loss={"clip": {"hi": 0.3}})
    with pytest.raises(ConfigError, match=r"setting in 'value' 'coeff'.*'coefficient'"):
        _settings(value={"coeff": 1.0})


def test_wrong_values_are_refused_with_their_place():
    with pytest.raises(ConfigError, match=r"wrong setting: .*advantage\.estimator"):
        _settings(advantage={"estimator": "grop"})
    with pytest.raises(ConfigError, match=r"clip low 2 must lie"):
        _settings(loss={"clip": {"low": 2.0}})
    with pytest.raises(ConfigError, match=r"low 2 is above high"):
        _settings(mismatch={"reject": [{"statistic": "token_k1", "low": 2.0, "high": 1.5}]})


def test_each_kind_of_loss_has_a_usual_clip_that_it_accepts():
    assert usual_clip("ppo") == Clip()
    for kind in ("gspo", "cispo", "reinforce"):
        settings = _settings(loss={"kind": kind})
        require_learnable(settings, SAMPLING, max_steps=2)
        assert usual_clip(kind).dual is None


def test_the_discount_is_of_tokens_or_of_steps():
    assert _settings().advantage.discount == 1.0
    assert _settings(advantage={"estimator": "gigpo"}).advantage.discount == 0.95
    assert _settings(advantage={"estimator": "hgpo", "gamma": 0.5}).advantage.discount == 0.5
