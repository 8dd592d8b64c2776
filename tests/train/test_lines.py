"""An update put into its line."""

import msgspec
import pytest
from train_parts import synthetic_calls

from screenloop.config import Window
from screenloop.report.training.metrics import StageSeconds, UpdateLine
from screenloop.train.credit.advantage import update_samples
from screenloop.train.data.samples import window_samples
from screenloop.train.learner import UpdateFigures
from screenloop.train.lines import PlayedBatch, UpdateOutcome, update_line
from screenloop.train.loss.kl import KlCosts
from screenloop.train.preparation import PreparedUpdate
from screenloop.train.settings import AdvantageSettings
from screenloop.train.types import AttemptReward, TrainAttempt

USED = ("prompt_tokens", "cached_tokens", "decoded_tokens", "session_cached_tokens")


def attempt(name, total, anchors):
    reward = AttemptReward(
        success=total > 0,
        total=total,
        components={"outcome": total},
        step_rewards=(0.0, total),
        step_costs=(0.0, 0.0),
    )
    return TrainAttempt(
        attempt_id=name,
        group_id="g",
        reward=reward,
        anchors=anchors,
        samples=window_samples(name, synthetic_calls(2, Window())),
    )


ATTEMPTS = (attempt("a", 1.0, ("s", "x")), attempt("b", 0.0, ("s", "y")))


def line(estimator="grpo", costs=None, attempts=ATTEMPTS):
    prepared = PreparedUpdate(
        chosen=update_samples(attempts, AdvantageSettings(estimator=estimator)), costs=costs
    )
    batch = PlayedBatch(
        played=(),
        seconds=1.0,
        before=dict.fromkeys(USED, 10),
        after={
            "prompt_tokens": 110,
            "cached_tokens": 90,
            "decoded_tokens": 20,
            "session_cached_tokens": 40,
        },
    )
    outcome = UpdateOutcome(
        update=3,
        batch=batch,
        attempts=attempts,
        prepared=prepared,
        version=2,
        figures=UpdateFigures(kl=0.5),
        held_out=None,
        seconds=StageSeconds(rollout=1.0),
        cpu_s=7.0,
    )
    return update_line(outcome)


def test_counts_shares_and_staleness_of_an_update():
    told = line()
    assert (told.success, told.reward, told.trained, told.groups_with_spread) == (0.5, 0.5, 2, 1)
    assert (told.prompt_tokens, told.prefix_hit_share, told.session_hit_share) == (100, 0.8, 0.3)
    assert told.staleness == 2
    assert told.kl == 0.5


def test_groups_with_spread_are_counted_where_all_are_trained_on_too():
    alike = tuple(
        msgspec.structs.replace(attempt(name, 1.0, ("s", "x")), group_id="h") for name in "cd"
    )
    told = line("reinforce++", attempts=(*ATTEMPTS, *alike))
    assert (told.groups, told.trained, told.groups_with_spread) == (2, 4, 1)
    assert line(attempts=(*ATTEMPTS, *alike)).groups_with_spread == 1


def test_credit_of_steps_tells_how_large_its_groups_are():
    assert line().anchor_singletons is None
    told = line("gigpo")
    assert told.anchor_sizes == {1: 2, 2: 1}
    assert told.anchor_singletons == 0.5
    again = msgspec.json.decode(msgspec.json.encode(told), type=UpdateLine)
    assert again == told


def test_what_tokens_pay_is_a_component_and_lowers_the_reward_alone():
    told = line(costs=KlCosts(by_attempt={"a": [0.1] * 6, "b": [0.0] * 6}, mean_kl=0.25))
    assert told.reward_components == pytest.approx({"outcome": 0.5, "kl": -0.3})
    assert told.reward == pytest.approx(0.2)
    assert told.success == 0.5
    assert told.kl == 0.25
