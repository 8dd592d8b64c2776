from hypothesis import given
from hypothesis import strategies as st

from screenloop.agent.history import (
    PLACEHOLDER,
    PastStep,
    assistant,
    last_images_prompt,
    window_at,
    windowed_prompt,
    windows,
)
from screenloop.config import Window
from screenloop.messages import ImagePart


@st.composite
def any_window(draw):
    steps = draw(st.integers(1, 15))
    return Window(steps=steps, overlap=draw(st.integers(0, steps - 1)))


LENGTH = st.integers(1, 200)


def _episode(length):
    return [
        PastStep(
            words=f"Result: ok {i}.",
            image=ImagePart(key=f"sha256-{i}.jpg", mime="image/jpeg", size_px=(32, 32)),
            reply=f"reply <{i}>",
        )
        for i in range(length)
    ]


def _asked(steps, index):
    current = PastStep(words=steps[index].words, image=steps[index].image)
    return [*steps[:index], current]


def _images(messages):
    return [p for m in messages for p in m.parts if isinstance(p, ImagePart)]


@given(LENGTH, any_window())
def test_inside_a_window_each_prompt_extends_the_last_one_and_its_reply(length, window):
    steps = _episode(length)
    before = windowed_prompt("head", _asked(steps, 0), window)
    for index in range(1, min(length, 40)):
        now = windowed_prompt("head", _asked(steps, index), window)
        extended = (*before, assistant(steps[index - 1].reply))
        grows = now[: len(extended)] == extended
        assert grows == (window_at(index, window).first_new_step != index)
        before = now


@given(LENGTH, any_window())
def test_windows_begin_at_step_k_then_every_k_minus_o_steps(length, window):
    starts = [span.first_new_step for span in windows(length, window)]
    stride = window.steps - window.overlap
    assert starts == [0, *range(window.steps, length, stride)]


@given(LENGTH, any_window())
def test_each_step_is_new_in_exactly_one_window(length, window):
    spans = windows(length, window)
    new = [i for span in spans for i in range(span.first_new_step, span.last_step + 1)]
    assert new == list(range(length))
    assert [span.index for span in spans] == list(range(len(spans)))
    for span in spans:
        assert span.last_step - span.first_step + 1 <= window.steps
        kept = window.overlap if span.index else 0
        assert span.first_new_step - span.first_step == kept
        for step in range(span.first_new_step, span.last_step + 1):
            whole = window_at(step, window)
            assert (whole.index, whole.first_step) == (span.index, span.first_step)


@given(LENGTH, any_window())
def test_a_prompt_shows_at_most_k_screenshots_and_the_words_of_every_step(length, window):
    prompt = windowed_prompt("head", _asked(_episode(length), length - 1), window)
    assert 1 <= len(_images(prompt)) <= window.steps
    text = "\n".join(m.text for m in prompt)
    for i in range(length):
        assert f"Result: ok {i}." in text
        assert i == length - 1 or f"reply <{i}>" in text
    assert text.count(PLACEHOLDER) == length - len(_images(prompt))


@given(LENGTH, st.integers(1, 12))
def test_the_sliding_policy_keeps_the_newest_screenshots(length, keep):
    prompt = last_images_prompt("head", _asked(_episode(length), length - 1), keep)
    keys = [part.key for part in _images(prompt)]
    assert keys == [f"sha256-{i}.jpg" for i in range(max(0, length - keep), length)]


def test_a_head_without_a_system_role_leaves_the_conversation_to_start_with_the_user():
    prompt = windowed_prompt(None, _asked(_episode(2), 1), Window())
    assert [m.role for m in prompt] == ["user", "assistant", "user"]


def test_ten_steps_with_two_shared_give_the_documented_windows():
    spans = windows(30, Window())
    assert [(s.first_step, s.first_new_step, s.last_step) for s in spans] == [
        (0, 0, 9),
        (8, 10, 17),
        (16, 18, 25),
        (24, 26, 29),
    ]
    assert windows(0, Window()) == ()
