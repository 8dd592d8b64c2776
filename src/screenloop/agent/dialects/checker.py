"""A conformance suite for dialects: anyone can run it on their own.

    for finding in check_dialect(MyDialect()):
        assert finding.passed, f"{finding.rule}: {finding.detail}"

Each rule of the contract in `base` is tried on both surfaces with Actions and damaged replies
that are drawn from a seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Batch,
    Finish,
    Hotkey,
    Hover,
    Key,
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
    decode_action,
    encode_action,
    pin_frame,
)
from screenloop.agent.dialects.base import Dialect, DialectContext
from screenloop.errors import ConfigError, ParseFailure
from screenloop.types import EnvSpec, RuleFinding, SizePx, Surface, ToolSpec

PICTURE_PX: SizePx = (392, 924)
TOOL = ToolSpec(
    name="checks.note", description="Write a note.", parameters={"type": "object", "properties": {}}
)
_CALL = Tool(name=TOOL.name, args={"text": "x", "n": [1, None]})
_SURFACES: tuple[Surface, ...] = ("mobile", "desktop")
_NEAR = 0.05
"""How far a dialect's grid may move a point, in shares of the frame."""
_JUNK = (
    "", " ", "\x00", "tap 40, 50", "{", "[[1, 2]", "<tool_call>", "<think>", "Action:", "click(",
    '{"action": "click", "coordinate": [1, 2]', "1e999", "\ud800", "“”（）", "\n" * 50,
)  # fmt: skip
_DEEP = ("{", "[", "(", '"', "\\", "<tool_call>", '{"a":', "click(", "9", "\n")
_HUGE_LETTERS = 50_000


class _Broken(Exception):
    """A rule is broken; says what was seen."""


def check_dialect(dialect: Dialect, *, seed: int = 0) -> tuple[RuleFinding, ...]:
    """Try every rule; a finding says what was seen instead."""
    rules: dict[str, Callable[[Dialect, random.Random], None]] = {
        "what it writes it reads back": _reads_back,
        "what it cannot write it refuses": _refuses_to_write,
        "a frame or a thought changes nothing": _ignores_thoughts,
        "points outside of the picture are refused": _keeps_bounds,
        "unreadable replies are parse failures": _fails_in_one_way,
        "huge or deep replies are parse failures": _survives_size,
        "tools are called only where declared": _keeps_tools_apart,
        "the prompt is fixed": _prompt_is_fixed,
    }
    return tuple(_tried(rule, check, dialect, seed) for rule, check in rules.items())


def _tried(
    rule: str, check: Callable[[Dialect, random.Random], None], dialect: Dialect, seed: int
) -> RuleFinding:
    try:
        check(dialect, random.Random(seed))
    except _Broken as broken:
        return RuleFinding(rule=rule, passed=False, detail=str(broken))
    except Exception as error:
        return RuleFinding(rule=rule, passed=False, detail=f"{type(error).__name__}: {error}")
    return RuleFinding(rule=rule, passed=True)


# ---- rules ---------------------------------------------------------------------------------


def _reads_back(dialect: Dialect, rng: random.Random) -> None:
    written = 0
    for context, action in _cases(rng):
        if not dialect.expresses(action, context):
            continue
        written += 1
        once = _read(dialect, dialect.render(action, context), context)
        _require(len(once) == 1 and _alike(once[0], action), f"{action} was read back as {once}")
        twice = _read(dialect, dialect.render(once[0], context), context)
        _require(twice == once, f"{once} was read back as {twice}: its own grid is not kept")
    _require(written > 0, "it expresses no action at all")


def _refuses_to_write(dialect: Dialect, rng: random.Random) -> None:
    for context, action in _cases(rng):
        if dialect.expresses(action, context):
            continue
        try:
            text = dialect.render(action, context)
        except ConfigError:
            continue
        raise _Broken(f"{action} is not expressed, but written as {text!r}")


def _ignores_thoughts(dialect: Dialect, rng: random.Random) -> None:
    for context, action in _cases(rng):
        if not dialect.expresses(action, context):
            continue
        plain = _read(dialect, dialect.render(action, context), context)
        pinned = pin_frame(action, "sha256-1.png")
        text = dialect.render(pinned, context, "Step 2 of 10:\n press 40, 50 now")
        read = _read(dialect, text, context)
        _require(read == plain, f"with a thought, {plain} was read as {read}")


def _keeps_bounds(dialect: Dialect, rng: random.Random) -> None:
    for surface in _SURFACES:
        context = _context(surface)
        corner = Tap(at=(1.0, 1.0))
        if not dialect.expresses(corner, context):
            continue
        text = dialect.render(corner, context)
        for number in {n for n in re.findall(r"\d+(?:\.\d+)?", text) if float(n) > 0}:
            beyond = text.replace(number, str(10 * float(number) + 1))
            _accepts_or_fails(dialect, beyond, context)


def _fails_in_one_way(dialect: Dialect, rng: random.Random) -> None:
    for surface in _SURFACES:
        for text in _JUNK:
            _accepts_or_fails(dialect, text, _context(surface))
    for context, action in _cases(rng):
        if not dialect.expresses(action, context):
            continue
        text = dialect.render(action, context)
        for _ in range(8):
            cut = rng.randint(0, len(text))
            noise = "".join(rng.choices("{}[]()\"'\\,:=<>/ \n0x", k=rng.randint(0, 4)))
            damaged = text[:cut] + noise + text[cut + rng.randint(0, 6) :]
            _accepts_or_fails(dialect, damaged, context)


def _survives_size(dialect: Dialect, rng: random.Random) -> None:
    for unit in _DEEP:
        text = unit * (_HUGE_LETTERS // len(unit))
        try:
            read = dialect.parse(text, _context("mobile"))
        except ParseFailure:
            continue
        raise _Broken(f"{unit!r} repeated to {_HUGE_LETTERS} letters was read as {read}")


def _keeps_tools_apart(dialect: Dialect, rng: random.Random) -> None:
    declared, bare = _context("mobile"), _context("mobile", tools=False)
    if not dialect.expresses(_CALL, declared) or dialect.expresses(_CALL, bare):
        return  # It calls no tools, or leaves it to the Environment to refuse them.
    _require(dialect.calls_tools, "it writes tool calls, but says that it calls none")
    text = dialect.render(_CALL, declared)
    try:
        read = dialect.parse(text, bare)
    except ParseFailure:
        return
    raise _Broken(f"{text!r} calls a tool that is not declared, but was read as {read}")


def _prompt_is_fixed(dialect: Dialect, rng: random.Random) -> None:
    for surface in _SURFACES:
        spec = EnvSpec(
            kind="checked",
            surface=surface,
            size_px=(412, 915),
            actions=frozenset("tap swipe scroll type key wait open tool".split()),
            apps=("Notes",),
            tools=(TOOL,),
        )
        prompt = dialect.system_prompt(spec, "gui_only", PICTURE_PX, "en")
        again = dialect.system_prompt(spec, "gui_only", PICTURE_PX, "en")
        _require(prompt == again, "two prompts of one Environment differ")
        _require(TOOL.name not in prompt, "the prompt of gui_only names a tool")
        if dialect.calls_tools and prompt:
            hybrid = dialect.system_prompt(spec, "hybrid", PICTURE_PX, "en")
            _require(TOOL.name in hybrid, "the prompt of hybrid does not name the tool")


# ---- parts ---------------------------------------------------------------------------------


def _context(surface: Surface, *, tools: bool = True) -> DialectContext:
    names = frozenset({TOOL.name}) if tools else frozenset[str]()
    return DialectContext(surface=surface, picture_px=PICTURE_PX, tools=names)


def _cases(rng: random.Random) -> Iterator[tuple[DialectContext, Action]]:
    actions = [action for _ in range(3) for action in _drawn(rng)]
    for surface in _SURFACES:
        for action in actions:
            yield _context(surface), action


def _drawn(rng: random.Random) -> list[Action]:
    def at() -> Point:
        return rng.choice((0.0, 1.0, rng.random())), rng.choice((0.0, 1.0, rng.random()))

    words = rng.choice(("Milk", 'say "hi" \\ it\'s, ok', "两瓶牛奶", "two\nlines"))
    return [
        Tap(at=at()),
        Tap(at=at(), count=2),
        Tap(at=at(), hold_ms=1000),
        Tap(at=at(), button="right"),
        Swipe(path=(at(), at())),
        Scroll(direction=rng.choice(("up", "down", "left", "right")), at=at()),
        Scroll(direction="down"),
        Type(text=words),
        Type(text=words, at=at(), clear=True, submit=True),
        Key(name=rng.choice(("back", "home", "enter"))),
        Hotkey(keys=("ctrl", "c")),
        Open(app=words),
        Wait(seconds=rng.choice((0.5, 1.0, 2.0, 5.0))),
        Pinch(at=at(), scale=2.0),
        Hover(at=at()),
        Ask(text=words),
        Answer(text=words),
        Finish(status=rng.choice(("success", "failure", "infeasible"))),
        Finish(status="success", message=words),
        Noop(),
        Batch(actions=(Tap(at=at()), Type(text=words))),
        _CALL,
        Tool(name="undeclared.tool"),
    ]


def _read(dialect: Dialect, text: str, context: DialectContext) -> tuple[Action, ...]:
    try:
        return dialect.parse(text, context)
    except ParseFailure as failure:
        raise _Broken(f"its own reply {text!r} is refused: {failure}") from failure


def _accepts_or_fails(dialect: Dialect, text: str, context: DialectContext) -> None:
    """Require Actions that hold to their form, or a ParseFailure with a sentence."""
    try:
        actions = dialect.parse(text, context)
    except ParseFailure as failure:
        _require(len(str(failure)) > 10, f"{text[:200]!r} is refused with no more than {failure}")
        return
    except Exception as error:
        kind = type(error).__name__
        raise _Broken(f"{text[:200]!r} raised {kind}, not ParseFailure: {error}") from error
    for action in actions:
        try:
            decode_action(encode_action(action))
        except (ValueError, RecursionError) as error:
            raise _Broken(f"{text[:200]!r} was read as {action}: {error}") from error


def _alike(left: Any, right: Any) -> bool:
    """Compare Actions field by field; numbers that the dialect's grid may move roughly."""
    if isinstance(left, msgspec.Struct) and type(left) is type(right):
        return _alike(msgspec.structs.asdict(left), msgspec.structs.asdict(right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_alike(left[k], right[k]) for k in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_alike, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return abs(left - right) <= _NEAR
    return bool(left == right)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _Broken(otherwise)
