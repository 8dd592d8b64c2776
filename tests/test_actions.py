from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.actions import (
    EXECUTOR,
    Action,
    ActionBase,
    Answer,
    Ask,
    Bash,
    Batch,
    Executor,
    Finish,
    Hotkey,
    Hover,
    Key,
    KeyName,
    Noop,
    Open,
    Pinch,
    Pointed,
    Scroll,
    Single,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
    action_from,
    decode_action,
    encode_action,
    pin_frame,
    tag_of,
    to_pixel,
)

ROOT = Path(__file__).resolve().parent.parent

units = st.floats(0, 1)
points = st.tuples(units, units)
frames = st.none() | st.just("sha256-0.jpg")
words = st.text(st.characters(codec="utf-8"), max_size=20)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
singles = st.one_of(
    st.builds(
        Tap,
        at=points,
        count=st.integers(1, 3),
        hold_ms=st.integers(0, 10_000),
        button=st.sampled_from(["left", "right", "middle"]),
        frame=frames,
    ),
    st.builds(
        Swipe,
        path=st.lists(points, min_size=2, max_size=8).map(tuple),
        duration_ms=st.integers(0, 10_000),
        hold_ms=st.integers(0, 10_000),
        frame=frames,
    ),
    st.builds(
        Scroll,
        direction=st.sampled_from(["up", "down", "left", "right"]),
        screens=st.floats(0.01, 20),
        at=st.none() | points,
        frame=frames,
    ),
    st.builds(
        Type,
        text=words,
        at=st.none() | points,
        clear=st.booleans(),
        submit=st.booleans(),
        frame=frames,
    ),
    st.builds(Key, name=st.sampled_from(get_args(KeyName))),
    st.builds(Hotkey, keys=st.lists(names, min_size=1, max_size=5).map(tuple)),
    st.builds(Open, app=names),
    st.builds(Wait, seconds=st.floats(0, 3600)),
    st.builds(Pinch, at=points, scale=st.floats(0.01, 10), frame=frames),
    st.builds(Hover, at=points, frame=frames),
    st.builds(Bash, command=names, timeout_s=st.floats(0.1, 600)),
    st.builds(Tool, name=names, args=st.dictionaries(words, json_values, max_size=4)),
    st.builds(Ask, text=names),
    st.builds(Answer, text=words),
    st.builds(Finish, status=st.sampled_from(["success", "failure", "infeasible"]), message=words),
    st.builds(Noop, note=words),
)
actions = singles | st.builds(Batch, actions=st.lists(singles, min_size=1, max_size=4).map(tuple))


# ---- the JSON form -------------------------------------------------------------------------


@given(actions)
def test_every_action_survives_its_json_form(action: Action) -> None:
    data = encode_action(action)
    assert decode_action(data) == action
    assert action_from(msgspec.json.decode(data)) == action


@given(actions)
def test_the_json_form_is_an_object_with_the_tag(action: Action) -> None:
    assert msgspec.json.decode(encode_action(action))["type"] == tag_of(action)


@given(actions, st.text(min_size=1, max_size=8))
def test_unknown_fields_are_refused(action: Action, name: str) -> None:
    fields: dict[str, Any] = msgspec.json.decode(encode_action(action))
    if name in {"type", *action.__struct_fields__}:
        name = f"{name}_of_nobody"
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        action_from({**fields, name: 1})


def test_defaults_are_left_out() -> None:
    assert encode_action(Tap(at=(0.5, 0.25))) == b'{"type":"tap","at":[0.5,0.25]}'


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ('{"type": "tap"}', "missing required field `at`"),
        ('{"type": "tap", "at": [0.5, 1.5]}', r"\$\.at\[1\]"),
        ('{"type": "tap", "at": [0.5]}', r"\$\.at"),
        ('{"type": "tap", "at": [0.5, 0.5], "count": 0}', r"\$\.count"),
        ('{"type": "swipe", "path": [[0, 0]]}', r"\$\.path"),
        ('{"type": "scroll", "direction": "sideways"}', r"\$\.direction"),
        ('{"type": "key", "name": "any"}', r"\$\.name"),
        ('{"type": "finish", "status": "maybe"}', r"\$\.status"),
        ('{"type": "wait", "seconds": -1}', r"\$\.seconds"),
        ('{"type": "fly"}', "fly"),
        ('{"at": [0, 0]}', "type"),
        ("[]", "object"),
        (
            '{"type": "batch", "actions": [{"type": "batch", "actions": [{"type": "noop"}]}]}',
            r"\$\.actions\[0\]",
        ),
        ('{"type": "batch", "actions": []}', r"\$\.actions"),
    ],
)
def test_a_bad_action_is_refused_with_the_place(data: str, where: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=where):
        decode_action(data)


@pytest.mark.parametrize("data", ["", "tap", '{"type": "tap"', b"\xff\xfe"])
def test_what_is_not_json_is_refused(data: str | bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_action(data)


# ---- the table -----------------------------------------------------------------------------


def test_every_action_has_one_executor_and_a_tag_of_its_own() -> None:
    kinds: set[type[ActionBase]] = {*get_args(Single), Batch}
    assert set(EXECUTOR) == kinds
    assert len({tag_of(kind) for kind in kinds}) == len(kinds)
    by_rollout = {tag_of(k) for k, executor in EXECUTOR.items() if executor is Executor.ROLLOUT}
    assert by_rollout == {"ask", "answer", "finish", "noop", "batch"}


def test_actions_with_a_frame_are_those_with_coordinates() -> None:
    with_frame = {kind for kind in EXECUTOR if "frame" in kind.__struct_fields__}
    assert with_frame == {kind for kind in EXECUTOR if issubclass(kind, Pointed)}


def test_the_reference_pages_are_current() -> None:
    spec = importlib.util.spec_from_file_location(
        "make_reference", ROOT / "scripts" / "make_reference.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in module.pages().items():
        written = (ROOT / "docs" / "reference" / name).read_text("utf-8")
        assert written == text, "run scripts/make_reference.py"
    for kind in EXECUTOR:
        assert f"**`{tag_of(kind)}`**" in module.pages()["actions.md"]


# ---- frames and pixels ---------------------------------------------------------------------


@given(actions)
def test_pinning_ties_exactly_the_coordinates_to_a_frame(action: Action) -> None:
    pinned = pin_frame(action, "sha256-1.png")
    inside = pinned.actions if isinstance(pinned, Batch) else (pinned,)
    for one in inside:
        assert getattr(one, "frame", "sha256-1.png") == "sha256-1.png"
    assert pin_frame(pinned, None) == pin_frame(action, None)


@given(points, st.tuples(st.integers(1, 4000), st.integers(1, 4000)))
def test_every_point_has_a_pixel_inside_the_frame(
    at: tuple[float, float], size_px: tuple[int, int]
) -> None:
    x, y = to_pixel(at, size_px)
    assert 0 <= x < size_px[0]
    assert 0 <= y < size_px[1]


def test_corners_and_middles_map_to_the_pixels_meant() -> None:
    assert to_pixel((0.0, 0.0), (412, 915)) == (0, 0)
    assert to_pixel((1.0, 1.0), (412, 915)) == (411, 914)
    assert to_pixel((0.5, 0.5), (100, 200)) == (50, 100)
