"""The Dialect contract: how one model family writes Actions, and what it is told.

A dialect is pure. `parse` reads a reply and raises `ParseFailure` with a sentence that says what
was wrong and what was expected; it never guesses a coordinate. `render` writes a reply as the
model would, and `parse(render(action)) == (action,)` for every Action that `expresses` accepts,
up to the dialect's coordinate grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

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
    tag_of,
)
from screenloop.agent.elements import Element
from screenloop.config import ImageRule
from screenloop.errors import ConfigError, ParseFailure
from screenloop.types import EnvSpec, Mode, SizePx, Struct, Surface


class DialectContext(Struct, frozen=True, kw_only=True):
    """What a dialect must know of the Episode to read or write a reply."""

    surface: Surface
    """A family with two action sets uses touch for `mobile`, mouse and keyboard otherwise."""
    picture_px: SizePx
    """Size of the picture that the model saw, after resizing."""
    tools: frozenset[str] = frozenset()
    """Names of the app-native tools that the prompt declares; empty in `gui_only`."""
    elements: tuple[Element, ...] = ()
    """What is on the screen now, for dialects that read the tree."""
    quotes: tuple[str, ...] = ()
    """What the goal puts in quotation marks."""


class CoordinateSpace(Struct, frozen=True, kw_only=True):
    """A coordinate space: 0 to `scale` on both axes, or pixels of the resized picture."""

    scale: int | None = 1000
    """`None` stands for pixels of the picture."""

    def limits(self, picture_px: SizePx) -> SizePx:
        """Return the largest x and y."""
        return picture_px if self.scale is None else (self.scale, self.scale)

    def read(self, x: object, y: object, picture_px: SizePx) -> Point:
        """Turn the model's numbers into shares of the frame.

        Raises:
            ParseFailure: not numbers, or outside the space.
        """
        shares: list[float] = []
        for axis, value, limit in zip("xy", (x, y), self.limits(picture_px), strict=True):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ParseFailure(
                    f"{axis} must be a number from 0 to {limit}, not {clip(value, 40)}"
                )
            if not 0 <= value <= limit:
                raise ParseFailure(f"{axis} is {clip(value, 40)}, outside 0 to {limit}")
            shares.append(value / limit)
        return shares[0], shares[1]

    def write(self, at: Point, picture_px: SizePx) -> tuple[int, int]:
        """Return the nearest point of the space's whole-number grid."""
        wide, high = self.limits(picture_px)
        return round(at[0] * wide), round(at[1] * high)


class Dialect(Protocol):
    """How one model family writes Actions."""

    name: str
    image: ImageRule
    """The family's own resize rule: the default of a Run that does not set one."""
    system_role: bool
    """Whether its fixed text is a system message; otherwise it opens the first user turn."""
    calls_tools: bool
    """Whether it can call app-native tools, hence can run in `hybrid`."""

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        """Return the fixed text at the head of each prompt; tools are declared in `hybrid` only."""
        ...

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        """Read a reply; several Actions come back in the order written.

        Raises:
            ParseFailure: no Action can be read; says what was wrong and what was expected.
        """
        ...

    def expresses(self, action: Action, context: DialectContext) -> bool:
        """Tell whether the dialect can write the Action without losing anything."""
        ...

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        """Write the full reply that stands for the Action.

        Args:
            action: What to do.
            context: The Episode's surface, picture size and tools.
            thought: One line of reasoning; a short stock line when empty.

        Raises:
            ConfigError: the dialect has no words for the Action.
        """
        ...


@runtime_checkable
class ReadsTree(Protocol):
    """A dialect that is shown words in place of the picture; needs Observations with a tree."""

    def screen_words(self, elements: Sequence[Element]) -> str:
        """Return the screen in words."""
        ...


@runtime_checkable
class Reminds(Protocol):
    """A dialect that repeats the goal behind each screen that is shown."""

    def reminder(self, goal: str) -> str:
        """Return the words behind the screen."""
        ...


def context_of(spec: EnvSpec, mode: Mode, picture_px: SizePx) -> DialectContext:
    """Return the context of an Episode on this Environment."""
    tools = frozenset(t.name for t in spec.tools) if mode == "hybrid" else frozenset()
    return DialectContext(surface=spec.surface, picture_px=picture_px, tools=tools)


def inexpressible(name: str, action: Action) -> ConfigError:
    """Return the error for an Action that a dialect has no words for."""
    return ConfigError(
        f"dialect {name!r} cannot write {clip(action, 200)}; use dialect 'plain', which writes "
        f"every action, or an action that {name!r} knows"
    )


def clip(value: object, length: int) -> str:
    """Return the value's words for an error message, cut to `length` characters."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**15:
        return "a number of more than 15 digits"
    if isinstance(value, float) and math.isfinite(value) and value == int(value) < 1e15:
        value = int(value)
    try:
        words = value if isinstance(value, str) else repr(value)
    except RecursionError:
        words = f"a deeply nested {type(value).__name__}"
    return words if len(words) <= length else words[: length - 3] + "..."


def thought_for(action: Action) -> str:
    """Return a stock line of reasoning for an Action."""
    return _THOUGHTS[type(action)]


def one_line(text: str) -> str:
    """Return the text with all white space folded, so that it cannot end its line."""
    return " ".join(text.split())


def supported(spec: EnvSpec, *kinds: type) -> bool:
    """Tell whether the Environment executes one of these Actions, or rollout does."""
    return any(tag_of(kind) in spec.actions or kind in _ROLLOUT for kind in kinds)


_ROLLOUT = (Ask, Answer, Finish, Noop, Batch)
_THOUGHTS: dict[type, str] = {
    Tap: "The target is on the screen, so I press it.",
    Swipe: "I move along this path.",
    Scroll: "What I need is further on, so I scroll.",
    Type: "The field is ready, so I enter the text.",
    Key: "This key does what is needed next.",
    Hotkey: "This shortcut does what is needed next.",
    Open: "The task goes on in this app.",
    Wait: "The screen is still changing, so I wait.",
    Pinch: "I zoom to see the details.",
    Hover: "I move the pointer there to see more.",
    Bash: "A command does this directly.",
    Tool: "The app's own tool does this directly.",
    Ask: "Only the person can tell, so I ask.",
    Answer: "I have found the answer.",
    Finish: "There is nothing left to do.",
    Noop: "There is nothing to do at this step.",
    Batch: "These steps need no look in between.",
}
