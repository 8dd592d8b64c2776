"""Real small parts that the agent's tests share: frames, a listed model, hypothesis strategies."""

import io
from typing import get_args

from hypothesis import strategies as st
from PIL import Image

from screenloop.actions import (
    Answer,
    Ask,
    Bash,
    Batch,
    Finish,
    FinishStatus,
    Hotkey,
    Hover,
    Key,
    KeyName,
    Noop,
    Open,
    Pinch,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
)
from screenloop.messages import Reply
from screenloop.types import EnvSpec, ToolSpec

ALL_ACTIONS = frozenset("tap swipe scroll type key hotkey open wait pinch hover bash tool".split())
TOOL = ToolSpec(
    name="notes.add",
    description="Write a note.",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}},
)


def spec(surface="mobile", size_px=(412, 915), actions=ALL_ACTIONS, tools=(TOOL,)):
    return EnvSpec(
        kind="device",
        surface=surface,
        size_px=size_px,
        actions=actions,
        apps=("notes", "clock"),
        tools=tools,
    )


def frame(blobs, number, size_px=(412, 915)):
    out = io.BytesIO()
    Image.new("RGB", size_px, (number % 256, 90, 160)).save(out, "PNG")
    return blobs.put(out.getvalue(), "png")


class ListedModel:
    """Answers from a list, and keeps the requests."""

    name = "listed"

    def __init__(self, replies):
        self.replies = list(replies)
        self.requests = []

    async def complete(self, request, *, deadline_s):
        self.requests.append(request)
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(text=reply)

    async def preflight(self):
        pass

    async def close(self):
        pass


def points(limits):
    """Points on a grid of 0 to limits, as shares."""
    wide, high = limits
    return st.tuples(
        st.integers(0, wide).map(lambda x: x / wide), st.integers(0, high).map(lambda y: y / high)
    )


TEXT = st.text(max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def singles(limits):
    """Any Action but batch, with its points on the grid."""
    at = points(limits)
    directions = st.sampled_from(["up", "down", "left", "right"])
    ms = st.sampled_from([0, 300, 500, 1000, 1500, 2000, 9999])
    return st.one_of(
        st.builds(
            Tap,
            at=at,
            count=st.integers(1, 3),
            hold_ms=ms,
            button=st.sampled_from(["left", "right", "middle"]),
        ),
        st.builds(Tap, at=at),
        st.builds(Tap, at=at, hold_ms=st.sampled_from([1000, 2000])),
        st.builds(
            Swipe,
            path=st.lists(at, min_size=2, max_size=4).map(tuple),
            duration_ms=ms,
            hold_ms=ms,
        ),
        st.builds(Swipe, path=st.tuples(at, at), hold_ms=st.sampled_from([0, 1000])),
        st.builds(
            Scroll,
            direction=directions,
            screens=st.integers(1, 2000).map(lambda n: n / limits[1]) | st.just(0.5),
            at=st.none() | at,
        ),
        st.builds(Scroll, direction=directions, at=st.none() | at),
        st.builds(Type, text=TEXT, at=st.none() | at, clear=st.booleans(), submit=st.booleans()),
        st.builds(Type, text=TEXT, clear=st.booleans()),
        st.builds(Key, name=st.sampled_from(get_args(KeyName))),
        st.builds(
            Hotkey,
            keys=st.lists(
                st.sampled_from(["ctrl", "alt", "shift", "c", "enter", "f5", "home", "+"]),
                min_size=1,
                max_size=4,
            ).map(tuple),
        ),
        st.builds(Open, app=st.text(min_size=1, max_size=20)),
        st.builds(
            Wait, seconds=st.sampled_from([1.0, 2.0, 0.5, 5.0]) | st.floats(0, 3600).map(float)
        ),
        st.builds(Pinch, at=at, scale=st.sampled_from([0.5, 2.0])),
        st.builds(Hover, at=at),
        st.builds(Bash, command=st.text(min_size=1, max_size=20)),
        st.builds(
            Tool,
            name=st.sampled_from(["notes.add", "unknown"]),
            args=st.dictionaries(TEXT, JSON, max_size=3),
        ),
        st.builds(Ask, text=st.text(min_size=1, max_size=40)),
        st.builds(Answer, text=TEXT),
        st.builds(
            Finish, status=st.sampled_from(get_args(FinishStatus)), message=st.just("") | TEXT
        ),
        st.builds(Noop, note=TEXT),
    )


def actions(limits):
    """Any Action, with its points on the grid."""
    one = singles(limits)
    batch = st.builds(Batch, actions=st.lists(one, min_size=1, max_size=3).map(tuple))
    return one | batch
