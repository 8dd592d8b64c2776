"""What the chaos bench counts, and what its schedules are made of."""

from __future__ import annotations

from collections import Counter

import pytest

from screenloop.bench.chaos.account import account_of_devices
from screenloop.bench.chaos.devices import Deed
from screenloop.bench.chaos.players import parts_of
from screenloop.bench.chaos.run import run
from screenloop.bench.chaos.schedule import amounts_for, draw_fates, draw_moves
from screenloop.errors import ConfigError


def deed(device: str, what: str, id: str) -> Deed:
    return Deed(device=device, what=what, id=id)  # type: ignore[arg-type]


RESET = deed("d", "reset", "fake/a@1#0")
FIRST, SECOND = (deed("d", "step", f"fake-a-1-0-r0-a0/{number}/0") for number in range(2))


def counts(*deeds: Deed) -> tuple[int, int, int]:
    account = account_of_devices(deeds)
    return account.duplicated, account.rewound, account.trespassed


def test_an_episode_in_order_has_nothing_to_count() -> None:
    assert counts(RESET, RESET, FIRST, SECOND, RESET) == (0, 0, 0)


def test_an_action_that_was_carried_out_twice_counts_on_any_device() -> None:
    elsewhere = [deed("e", one.what, one.id) for one in (RESET, FIRST)]
    assert counts(RESET, FIRST, FIRST) == (1, 0, 0)
    assert counts(RESET, FIRST, *elsewhere) == (1, 0, 0)


def test_a_reset_between_two_steps_of_an_attempt_counts() -> None:
    assert counts(RESET, FIRST, RESET, SECOND) == (0, 1, 0)


def test_a_step_on_a_device_that_another_episode_was_given_counts() -> None:
    assert counts(RESET, FIRST, deed("d", "reset", "fake/b@1#0"), SECOND) == (0, 1, 1)
    assert counts(FIRST) == (0, 0, 1)


def test_the_same_seed_gives_the_same_faults_and_another_one_others() -> None:
    drawn = [draw_moves(seed, 300, amounts_for(300)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    deciders = draw_fates(1, 300), draw_fates(1, 300), draw_fates(2, 300)
    fates = [[decide("/v1/leases/step") for _ in range(500)] for decide in deciders]
    assert fates[0] == fates[1] != fates[2]
    assert {fate.kind for fate in fates[0]} == {
        "pass",
        "lose_request",
        "lose_reply",
        "slow",
        "twice",
        "late",
    }


@pytest.mark.parametrize("episodes", [10, 20, 300, 1000])
def test_every_kind_of_fault_comes_while_there_is_something_left_to_play(episodes: int) -> None:
    moves = draw_moves(3, episodes, amounts_for(episodes))
    assert [move.after for move in moves] == sorted(move.after for move in moves)
    assert max(move.after for move in moves) < episodes - 1
    kinds = Counter(move.kind for move in moves)
    assert set(kinds) == {"kill_host", "kill_manager", "stall_host", "skew_clock", "fill_disk"}
    assert kinds["kill_host"] + kinds["kill_manager"] >= (15 if episodes >= 300 else 3)


def test_about_half_of_the_episodes_are_to_fail_and_a_few_cannot_be_judged() -> None:
    expected = Counter(part.expected for part in parts_of(300))
    assert expected["task_fault"] == 9
    assert abs(expected["success"] - expected["failure"]) < 10


async def test_too_few_episodes_are_refused() -> None:
    with pytest.raises(ConfigError, match="at least 10 episodes, not 3"):
        await run(3)
