"""Drawing valid Actions at random: for the conformance checker, fuzzing and the random model."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Bash,
    Batch,
    Finish,
    Hotkey,
    Hover,
    Key,
    KeyName,
    Noop,
    Open,
    Pinch,
    Point,
    Scroll,
    Swipe,
    Tap,
    Tool,
    Type,
    Wait,
)
from screenloop.errors import ConfigError

_WORDS = ("milk", "hello", "42", "Ada Park", "see you at 5", "你好", "x")
_KEYS: tuple[KeyName, ...] = ("back", "home", "enter", "recents")
_WEIGHTS = {"tap": 12, "scroll": 4, "type": 3, "key": 2, "swipe": 2, "wait": 1}

DRAWABLE = frozenset(_WEIGHTS)
"""Wire names of the Actions that `draw_action` can draw."""


def draw_action(
    rng: random.Random, kinds: Collection[str] = DRAWABLE, *, words: Sequence[str] = _WORDS
) -> Action:
    """Return a valid Action of one of the kinds; taps are the most frequent.

    Raises:
        ConfigError: none of the kinds can be drawn; names those that can.
    """
    names = sorted(DRAWABLE.intersection(kinds))
    if not names:
        raise ConfigError(
            f"cannot draw any of {sorted(kinds)}. Can draw: {', '.join(sorted(DRAWABLE))}."
        )
    name = rng.choices(names, [_WEIGHTS[name] for name in names])[0]
    draws: dict[str, Callable[[], Action]] = {
        "tap": lambda: Tap(
            at=_point(rng),
            count=rng.choices((1, 2), (9, 1))[0],
            hold_ms=rng.choices((0, 800), (9, 1))[0],
        ),
        "scroll": lambda: Scroll(direction=rng.choice(("up", "down", "down", "left", "right"))),
        "type": lambda: Type(text=rng.choice(words), submit=rng.random() < 0.2),
        "key": lambda: Key(name=rng.choice(_KEYS)),
        "swipe": lambda: Swipe(path=(_point(rng), _point(rng))),
        "wait": lambda: Wait(seconds=rng.choice((0.5, 1.0, 2.0))),
    }
    return draws[name]()


def one_of_each() -> tuple[Action, ...]:
    """Return a small valid Action of every kind, for trying which ones are refused."""
    middle = (0.5, 0.5)
    return (
        Tap(at=middle),
        Swipe(path=((0.5, 0.6), (0.5, 0.4))),
        Scroll(direction="down"),
        Type(text="x"),
        Key(name="back"),
        Hotkey(keys=("ctrl", "c")),
        Open(app="x"),
        Wait(seconds=0.0),
        Pinch(at=middle, scale=2.0),
        Hover(at=middle),
        Bash(command="true"),
        Tool(name="x"),
        Ask(text="x"),
        Answer(text="x"),
        Finish(),
        Noop(),
        Batch(actions=(Noop(),)),
    )


def _point(rng: random.Random) -> Point:
    return (round(rng.random(), 3), round(rng.random(), 3))
