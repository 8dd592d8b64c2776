"""Tasks for the fake device: small enough to test and bench the whole loop without a phone."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from screenloop.actions import Action, Answer, Key, Scroll, Tap, Type
from screenloop.criteria import Added, AnswerIs, Changed, Check, Number, Removed, Value
from screenloop.envs import fake_machine as machine
from screenloop.errors import ConfigError
from screenloop.registry import unknown
from screenloop.types import EnvRef, Goal, Task, World

_WORDS = ("Call Ada", "Water plants", "Buy nails", "Post letter", "Feed cat")
_MANY = ("Milk", "Bread", "Tea", "Apples", "Soap", "Stamps", "Rice")


class FakeSuite:
    """Eight templates over the fake device's two apps."""

    name = "fake"
    version = "1"
    env_kind = "fake"

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(_TEMPLATES))

    def task(self, name: str, seed: int) -> Task:
        """Return the Task that the template makes from the seed.

        Raises:
            ConfigError: no such template, or the seed is negative.
        """
        if name not in _TEMPLATES:
            raise unknown("fake task", name, _TEMPLATES)
        if seed < 0:
            raise ConfigError(f"a seed is at least 0, not {seed}.")
        return _TEMPLATES[name](seed, random.Random(f"{name}/{seed}"))


def _task(
    name: str,
    seed: int,
    goal: str,
    check: Check,
    golden: Sequence[Action],
    *,
    apps: str,
    params: dict[str, Any],
    patch: dict[str, Any] | None = None,
) -> Task:
    return Task(
        id=f"fake/{name}@1",
        seed=seed,
        env=EnvRef(kind="fake", size_px=machine.SIZE_PX),
        world=World(seed=seed, patches=(patch,) if patch else ()),
        goal=Goal(text=goal),
        params=params,
        checks=(check,),
        golden=tuple(golden),
        tags={"domain": "fake", "difficulty": "easy" if len(golden) < 5 else "hard", "apps": apps},
        optimal_steps=len(golden),
    )


def _add_to_counter(seed: int, rng: random.Random) -> Task:
    amount = rng.randint(2, 4)
    return _task(
        "add_to_counter",
        seed,
        f"Bring the counter to {amount}.",
        Value(says=f"the counter shows {amount}", app="counter", path="value", to=amount),
        [_open("Counter"), *[_tap("counter", "+1")] * amount],
        apps="counter",
        params={"amount": amount},
    )


def _zero_counter(seed: int, rng: random.Random) -> Task:
    value = rng.randint(5, 50)
    return _task(
        "zero_counter",
        seed,
        "Set the counter back to 0.",
        Value(says="the counter shows 0", app="counter", path="value", to=0),
        [_open("Counter"), _tap("counter", "Zero")],
        apps="counter",
        params={"value": value},
        patch={"counter": value},
    )


def _add_note(seed: int, rng: random.Random) -> Task:
    text = rng.choice(_WORDS)
    return _task(
        "add_note",
        seed,
        f"Add a note that says '{text}'.",
        Added(says=f"a note says {text}", app="notes", table="items", where={"text": text}),
        [_open("Notes"), *_write(text)],
        apps="notes",
        params={"text": text},
    )


def _finish_note(seed: int, rng: random.Random) -> Task:
    index = rng.randrange(machine.VISIBLE_NOTES)
    note = f"n{index + 1}"
    text = _first_state(seed).notes[note].text
    return _task(
        "finish_note",
        seed,
        f"Mark the note '{text}' as done.",
        Changed(says=f"{text} is done", app="notes", table="items", ids=(note,), to={"done": True}),
        [_open("Notes"), Tap(at=_row(index))],
        apps="notes",
        params={"text": text},
    )


def _finish_far_note(seed: int, rng: random.Random) -> Task:
    notes = rng.sample(_MANY, 6)
    index = rng.choice((4, 5))
    text = notes[index]
    return _task(
        "finish_far_note",
        seed,
        f"Mark the note '{text}' as done.",
        Changed(
            says=f"{text} is done",
            app="notes",
            table="items",
            ids=(f"n{index + 1}",),
            to={"done": True},
        ),
        [_open("Notes"), Scroll(direction="down", screens=1.0), Tap(at=_row(index - 3))],
        apps="notes",
        params={"text": text},
        patch={"notes": notes},
    )


def _delete_note(seed: int, rng: random.Random) -> Task:
    index = rng.randrange(machine.VISIBLE_NOTES)
    text = _first_state(seed).notes[f"n{index + 1}"].text
    return _task(
        "delete_note",
        seed,
        f"Delete the note '{text}' (a long press does it).",
        Removed(says=f"{text} is gone", app="notes", table="items", where={"text": text}),
        [_open("Notes"), Tap(at=_row(index), hold_ms=800)],
        apps="notes",
        params={"text": text},
    )


def _count_notes(seed: int, rng: random.Random) -> Task:
    count = rng.randint(2, 6)
    scrolls = [Scroll(direction="down", screens=1.0)] if count > machine.VISIBLE_NOTES else []
    return _task(
        "count_notes",
        seed,
        "How many notes are there? Answer with a number.",
        AnswerIs(says=f"the answer is {count}", to=Number(value=count)),
        [_open("Notes"), *scrolls, Answer(text=str(count))],
        apps="notes",
        params={"count": count},
        patch={"notes": rng.sample(_MANY, count)},
    )


def _note_the_counter(seed: int, rng: random.Random) -> Task:
    value = rng.randint(10, 99)
    return _task(
        "note_the_counter",
        seed,
        "Add a note that holds just the number that the counter shows.",
        Added(says=f"a note says {value}", app="notes", table="items", where={"text": str(value)}),
        [_open("Counter"), Key(name="home"), _open("Notes"), *_write(str(value))],
        apps="counter+notes",
        params={"value": value},
        patch={"counter": value},
    )


_TEMPLATES: dict[str, Callable[[int, random.Random], Task]] = {
    "add_note": _add_note,
    "add_to_counter": _add_to_counter,
    "count_notes": _count_notes,
    "delete_note": _delete_note,
    "finish_far_note": _finish_far_note,
    "finish_note": _finish_note,
    "note_the_counter": _note_the_counter,
    "zero_counter": _zero_counter,
}


def _first_state(seed: int) -> machine.FakeState:
    return machine.initial_state(World(seed=seed))


def _tap(page: machine.Page, label: str) -> Tap:
    shown = machine.widgets(machine.FakeState(page=page))
    return Tap(at=next(widget.centre for widget in shown if widget.label == label))


def _open(label: str) -> Tap:
    return _tap("home", label)


def _row(index: int) -> tuple[float, float]:
    """Return the centre of the n-th note shown."""
    notes = {str(n): machine.Note(text="x") for n in range(machine.VISIBLE_NOTES)}
    shown = machine.widgets(machine.FakeState(page="notes", notes=notes))
    return [widget.centre for widget in shown if widget.does.startswith("note ")][index]


def _write(text: str) -> list[Action]:
    return [_tap("notes", "New note"), Type(text=text), _tap("notes", "Add")]
