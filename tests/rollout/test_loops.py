"""Episodes that go round in circles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from screenloop.actions import Action, Tap, Wait
from screenloop.rollout.limits import Turned, is_loop, turned
from screenloop.types import Observation, Step


def at(screen: str, x: float = 0.5, *, state_hash: str | None = None) -> Turned:
    seen = Observation(frame=f"sha256-{screen}.jpg", size_px=(10, 10), state_hash=state_hash)
    action: Action = Tap(at=(x, 0.5), frame=seen.frame)
    return turned(Step(index=0, observation=seen, actions=(action,)))


def test_the_same_tap_on_the_same_screen_n_times_is_a_loop() -> None:
    assert not is_loop([at("a")] * 4, 5)
    assert is_loop([at("a")] * 5, 5)
    assert is_loop([at("b"), *[at("a")] * 5], 5)


def test_a_circle_of_two_or_three_steps_is_a_loop_when_gone_n_times() -> None:
    two = [at("a"), at("b")]
    three = [at("a"), at("b"), at("c")]
    assert is_loop(two * 5, 5)
    assert not is_loop(two * 4, 5)
    assert is_loop([at("z"), *three * 5], 5)
    assert not is_loop([at("a"), at("b"), at("c"), at("d")] * 5, 5)


def test_another_screen_or_another_action_breaks_the_loop() -> None:
    assert not is_loop([*[at("a")] * 4, at("b")], 5)
    assert not is_loop([*[at("a")] * 4, at("a", 0.6)], 5)


def test_an_equal_device_state_counts_where_pixels_differ() -> None:
    blinking = [at(str(n), state_hash="same") for n in range(5)]
    assert is_loop(blinking, 5)


def test_a_screen_that_moves_on_under_the_same_action_is_no_loop() -> None:
    assert not is_loop([at(str(n), state_hash=f"s{n}") for n in range(10)], 5)


def test_steps_without_anything_to_recognise_them_by_are_never_a_loop() -> None:
    blind = turned(Step(index=0, observation=Observation(size_px=(1, 1)), actions=(Wait(),)))
    assert not is_loop([blind] * 20, 5)


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.integers(2, 5))
def test_a_loop_is_found_exactly_when_the_tail_repeats(screens: list[str], repeats: int) -> None:
    text = "".join(screens)
    expected = any(
        len(text) >= n * repeats and text.endswith(text[len(text) - n :] * repeats)
        for n in (1, 2, 3)
    )
    assert is_loop([at(screen) for screen in screens], repeats) == expected
