from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.errors import ConfigError
from screenloop.train.credit.step_advantage import StepRows, gigpo, hgpo, step_returns

# Three attempts of two steps: success, failure, success; the last one left the common path.
OWNERS = torch.tensor([0, 0, 1, 1, 2, 2])
REWARDS = torch.tensor([0.0, 1, 0, 0, 0, 1])
ANCHORS = ("s0", "s1", "s0", "s1", "s0", "s9")
SCORES, GROUP = torch.tensor([1.0, 0, 1]), torch.tensor([0, 0, 0])
ROWS = StepRows(attempts_E=OWNERS, rewards_E=REWARDS, anchors_E=ANCHORS)


def test_printed_values_of_gigpo_by_the_mean():
    found = gigpo(ROWS, SCORES, GROUP)
    assert found.advantages_E.tolist() == pytest.approx(
        [0.65, 0.8333, -1.3, -1.1667, 0.65, 0.3333], abs=1e-4
    )
    assert found.episode_E.tolist() == pytest.approx([1 / 3, 1 / 3, -2 / 3, -2 / 3, 1 / 3, 1 / 3])


def test_printed_values_of_gigpo_by_standard_deviation_and_pooled_steps():
    found = gigpo(ROWS, SCORES, GROUP, normalise="std", pool_steps=True)
    assert found.advantages_E.tolist() == pytest.approx(
        [1.2228, 1.3526, -2.4457, -1.9981, 1.2228, 0.6455], abs=1e-4
    )


def test_episode_statistics_are_per_attempt_unless_pooled():
    rows = StepRows(
        attempts_E=torch.tensor([0, 0, 0, 0, 1, 2]),
        rewards_E=torch.tensor([0.0, 0, 0, 1, 0, 0]),
        anchors_E=tuple("abcdef"),
    )
    scores = torch.tensor([1.0, 0, 0])
    assert gigpo(rows, scores, GROUP).episode_E[0] == pytest.approx(2 / 3)
    assert gigpo(rows, scores, GROUP, pool_steps=True).episode_E[0] == pytest.approx(1 / 3)


def test_a_step_alone_at_its_anchor_and_an_attempt_alone_in_its_group_get_nothing():
    alone = StepRows(
        attempts_E=torch.tensor([0, 0]),
        rewards_E=torch.tensor([0.0, 1.0]),
        anchors_E=("a", "b"),
    )
    found = gigpo(alone, torch.tensor([1.0]), torch.tensor([0]))
    assert found.advantages_E.tolist() == [0, 0]
    assert found.anchors.singletons == 2
    assert found.anchors.singleton_share == 1.0


def test_equal_anchors_of_different_tasks_are_not_compared():
    rows = StepRows(
        attempts_E=torch.tensor([0, 1, 2, 3]),
        rewards_E=torch.tensor([1.0, 0, 1, 1]),
        anchors_E=("s",) * 4,
    )
    found = gigpo(rows, torch.tensor([1.0, 0, 1, 1]), torch.tensor([0, 0, 1, 1]))
    assert found.step_E.tolist() == pytest.approx([0.5, -0.5, 0, 0])
    assert found.anchors.groups == 2


def test_figures_tell_the_sizes_of_anchor_groups():
    rows = StepRows(
        attempts_E=torch.tensor([0, 0, 0, 1, 1]),
        rewards_E=torch.zeros(5),
        anchors_E=("a", "b", "b", "a", "c"),
    )
    figures = gigpo(rows, torch.tensor([1.0, 0.0]), torch.tensor([0, 0])).anchors
    assert figures.steps == 5
    assert figures.groups == 3
    assert figures.sizes == {1: 1, 2: 2}
    assert figures.singletons == 1
    assert figures.within_one_attempt == 1
    assert sum(size * count for size, count in figures.sizes.items()) == figures.steps


def test_a_cost_stays_on_its_own_step():
    costs = torch.tensor([0.0, 0.1, 0, 0, 0, 0])
    rows = StepRows(attempts_E=OWNERS, rewards_E=REWARDS, anchors_E=ANCHORS, costs_E=costs)
    change = gigpo(rows, SCORES, GROUP).step_E - gigpo(ROWS, SCORES, GROUP).step_E
    assert change.tolist() == pytest.approx([0, -0.05, 0, 0.05, 0, 0], abs=1e-6)


@st.composite
def step_batches(draw):
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    owners = [n for n, length in enumerate(lengths) for _ in range(length)]
    anchors = draw(st.lists(st.sampled_from("xyz"), min_size=len(owners), max_size=len(owners)))
    rewards = draw(
        st.lists(st.integers(0, 8).map(lambda k: k / 8), min_size=len(owners), max_size=len(owners))
    )
    groups = draw(st.lists(st.integers(0, 1), min_size=len(lengths), max_size=len(lengths)))
    rows = StepRows(
        attempts_E=torch.tensor(owners),
        rewards_E=torch.tensor(rewards, dtype=torch.float64),
        anchors_E=tuple(anchors),
    )
    return rows, torch.tensor(groups)


@settings(max_examples=40, deadline=None)
@given(step_batches(), st.floats(0, 1))
def test_returns_are_discounted_sums_of_the_attempt(batch, gamma):
    rows, _ = batch
    found = step_returns(rows.rewards_E, rows.attempts_E, gamma).tolist()
    owners, rewards = rows.attempts_E.tolist(), rows.rewards_E.tolist()
    for s in range(len(owners)):
        later = [r for r, o in zip(rewards[s:], owners[s:], strict=True) if o == owners[s]]
        assert found[s] == pytest.approx(sum(gamma**k * r for k, r in enumerate(later)))


@settings(max_examples=40, deadline=None)
@given(step_batches())
def test_step_advantages_sum_to_zero_at_each_anchor(batch):
    rows, groups = batch
    scores = torch.ones(len(groups), dtype=torch.float64)
    found = gigpo(rows, scores, groups)
    sums = {}
    for owner, anchor, value in zip(
        rows.attempts_E.tolist(), rows.anchors_E, found.step_E.tolist(), strict=True
    ):
        key = int(groups[owner]), anchor
        sums[key] = sums.get(key, 0.0) + value
    assert max(abs(total) for total in sums.values()) < 1e-9


def _brute_hgpo(rows, groups, history, gamma, alpha):
    owners, anchors = rows.attempts_E.tolist(), rows.anchors_E
    returns = step_returns(rows.rewards_E, rows.attempts_E, gamma).tolist()
    starts = {owner: owners.index(owner) for owner in owners}

    def past(s, k):
        first = s - k + 1
        return tuple(anchors[first : s + 1]) if first >= starts[owners[s]] else None

    made = []
    for s in range(len(owners)):
        items = []
        for k in range(1, history + 2):
            if past(s, k) is None:
                continue
            same = [
                returns[o]
                for o in range(len(owners))
                if groups[owners[o]] == groups[owners[s]] and past(o, k) == past(s, k)
            ]
            mean = sum(same) / len(same)
            std = (sum((x - mean) ** 2 for x in same) / len(same)) ** 0.5
            if abs(returns[s] - mean) > 1e-12:
                items.append(((k + 1) ** alpha, (returns[s] - mean) / (std + 1e-6)))
        total = sum(weight for weight, _ in items)
        made.append(sum(w * a for w, a in items) / (total + 1e-6) if items else 0.0)
    return made


@settings(max_examples=40, deadline=None)
@given(step_batches(), st.integers(0, 3), st.sampled_from([0.5, 1.0, 2.0]))
def test_hgpo_is_its_definition_term_by_term(batch, history, alpha):
    rows, groups = batch
    scores = torch.zeros(len(groups), dtype=torch.float64)
    found = hgpo(rows, scores, groups, history=history, gamma=0.5, alpha=alpha)
    assert found.advantages_E.tolist() == pytest.approx(
        _brute_hgpo(rows, groups.tolist(), history, 0.5, alpha), abs=1e-6
    )


def test_hgpo_tells_apart_the_same_screen_with_another_history():
    # The last screen is the same for all; the two that came from `a` differ in reward from `b`.
    owners = [n for n in range(4) for _ in range(2)]
    rows = StepRows(
        attempts_E=torch.tensor(owners),
        rewards_E=torch.tensor([0.0, 1, 0, 0.5, 0, 0, 0, 0.25]),
        anchors_E=("a", "z", "a", "z", "b", "z", "b", "z"),
    )
    scores, groups = torch.tensor([1.0, 0.5, 0, 0.25]), torch.zeros(4, dtype=torch.long)
    blind = hgpo(rows, scores, groups, history=0).advantages_E
    aware = hgpo(rows, scores, groups, history=1).advantages_E
    assert blind[3] > 0
    assert aware[3] < blind[3]


def test_hgpo_can_carry_the_episode_along():
    found = hgpo(ROWS, SCORES, GROUP, history=0, with_episode=True, normalise="none", gamma=0.95)
    # s9 has no sibling, so only the episode part is left: 1 - 2/3.
    assert float(found.advantages_E[5]) == pytest.approx(1 / 3, abs=1e-5)
    step, episode = 0.95 - 0.95 * 2 / 3, 1 / 3
    assert float(found.advantages_E[0]) == pytest.approx((2 * step + 1 * episode) / 3, abs=1e-5)


def test_rows_of_an_attempt_must_stand_together():
    with pytest.raises(ConfigError, match="do not stand together"):
        step_returns(torch.zeros(3), torch.tensor([0, 1, 0]), 0.9)


def test_later_rewards_reach_earlier_steps_by_the_discount():
    found = step_returns(torch.tensor([0.0, 0, 1]), torch.tensor([0, 0, 0]), 0.9).tolist()
    assert all(later == pytest.approx(earlier / 0.9) for earlier, later in pairwise(found))
