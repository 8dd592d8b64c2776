"""Actions drawn on screenshots."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from screenloop.actions import Key, Scroll, Single, Swipe, Tap, Type
from screenloop.report.marks import action_words, marks_of

SIZE = (400, 800)


def test_a_tap_is_a_ring_at_its_pixel_and_a_double_tap_two() -> None:
    (mark,) = marks_of(Tap(at=(0.5, 0.25), count=2), SIZE)
    assert (mark.kind, mark.points, mark.rings) == ("ring", ((200.0, 200.0),), 2)


def test_a_swipe_is_an_arrow_along_its_whole_path() -> None:
    ring, arrow = marks_of(Swipe(path=((0.0, 1.0), (0.5, 0.5), (1.0, 0.0))), SIZE)
    assert ring.points == ((0.0, 800.0),)
    assert arrow.path == "0.0,800.0 200.0,400.0 400.0,0.0"


@given(
    st.sampled_from(["up", "down", "left", "right"]),
    st.floats(0.01, 20),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_a_scroll_arrow_points_to_the_new_content_and_stays_inside(
    direction: str, screens: float, at: tuple[float, float]
) -> None:
    action = Scroll(direction=direction, screens=screens, at=at)  # type: ignore[arg-type]
    arrow = marks_of(action, SIZE)[0]
    (x0, y0), (x1, y1) = arrow.points
    assert all(0 <= x <= 400 and 0 <= y <= 800 for x, y in arrow.points)
    sign = {"up": y0 - y1, "down": y1 - y0, "left": x0 - x1, "right": x1 - x0}[direction]
    assert sign > 0


def test_text_and_keys_are_badges() -> None:
    (badge,) = marks_of(Type(text="a " * 100, submit=True), SIZE)
    assert badge.kind == "badge"
    assert len(badge.label) < 50
    assert badge.label.endswith("⏎")
    assert marks_of(Key(name="back"), SIZE)[0].label == "◁ back"


def test_every_single_action_has_words() -> None:
    examples: dict[str, dict[str, object]] = {
        "Tap": {"at": (0.1, 0.2)},
        "Swipe": {"path": ((0, 0), (1, 1))},
        "Scroll": {"direction": "up"},
        "Type": {"text": "x"},
        "Key": {"name": "home"},
        "Hotkey": {"keys": ("ctrl", "c")},
        "Open": {"app": "notes"},
        "Wait": {},
        "Pinch": {"at": (0.5, 0.5), "scale": 2},
        "Hover": {"at": (0, 0)},
        "Bash": {"command": "ls"},
        "Tool": {"name": "notes.add"},
        "Ask": {"text": "?"},
        "Answer": {"text": "42"},
        "Finish": {},
        "Noop": {},
    }
    kinds = get_args(Single)
    assert {kind.__name__ for kind in kinds} == set(examples)
    for kind in kinds:
        action = kind(**examples[kind.__name__])
        words = action_words(action)
        assert words
        assert words != kind.__name__.lower()
