"""Dialects of the tiny models: a few words and one token for each place.

    <x7> <y20>            a tap on a place: x7 of 0 to 20, y20 of 0 to 40
    <e3>                  a tap on a listed element (tinytree alone)
    type <q0> <e3> enter  the goal's first quoted words, where, and then the enter key
    scroll down           back        done

`Tiny` looks at the picture, `TinyThumbnail` at a smaller one, `TinyTree` at a short list of what
can be tapped. All end each turn with the goal, because a small network finds what it is asked for
more easily when that comes last. Only the last line of a reply counts. A tap may be called so (`tap
<e3>`); without the word it costs one token less, and the first token that is drawn is the choice
itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from screenloop.actions import (
    Action,
    Answer,
    Direction,
    Finish,
    FinishStatus,
    Key,
    KeyName,
    Point,
    Scroll,
    Swipe,
    Tap,
    Type,
    Wait,
    pin_frame,
)
from screenloop.agent.dialects.base import DialectContext, clip, inexpressible, one_line
from screenloop.agent.elements import SYSTEM, Element
from screenloop.config import ImageRule
from screenloop.errors import ParseFailure
from screenloop.types import EnvSpec, Mode, SizePx, Struct

MARKS = 24
"""Elements that are listed at most."""
LABEL_WORDS = 3
"""Words of a label that are listed at most."""
_PIECE = re.compile(r"<[xyeq]\d{1,3}>|[^\s<>]+|\S")
_PLACE = re.compile(r"<([xyeq])(\d{1,3})>")
_WORD = re.compile(r"\w+")
_DIRECTIONS: tuple[Direction, ...] = ("up", "down", "left", "right")
_KEYS: tuple[KeyName, ...] = ("back", "home", "enter", "recents")
_ENDS: dict[str, FinishStatus] = {"done": "success", "fail": "failure", "infeasible": "infeasible"}
_EXPECTED = (
    f"tap, type, scroll, swipe, answer, wait, {', '.join(_KEYS)}, {', '.join(_ENDS)}, "
    "each with its places"
)


class Lattice(Struct, frozen=True, kw_only=True):
    """The places that can be named: `<x0>` to `<x20>` and `<y0>` to `<y40>`, edges included."""

    columns: int = 20
    rows: int = 40

    def limits(self, picture_px: SizePx) -> SizePx:
        return self.columns, self.rows

    def write(self, at: Point) -> str:
        return f"<x{round(at[0] * self.columns)}> <y{round(at[1] * self.rows)}>"


class Tiny:
    """Sees the picture and names places on it."""

    name = "tiny"
    image = ImageRule(factor_px=16, min_pixels=1024, max_pixels=28_672, codec="png")
    system_role = True
    calls_tools = False
    space = Lattice()

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        """Return nothing: a tiny model learns what to do, it cannot be told."""
        return ""

    def reminder(self, goal: str) -> str:
        return f"do: {goal}"

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines:
            raise ParseFailure(f"the reply is empty; expected one of {_EXPECTED}")
        if len(lines[-1]) > 2000:
            raise ParseFailure("the last line is longer than 2000 characters; expected an action")
        return (self._read(lines[-1].strip(), context),)

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return self._words(pin_frame(action, None), context) is not None

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        words = self._words(pin_frame(action, None), context)
        if words is None:
            raise inexpressible(self.name, action)
        return f"{one_line(thought)}\n{words}" if thought else words

    # ---- reading ---------------------------------------------------------------------------

    def _read(self, line: str, context: DialectContext) -> Action:
        if _PLACE.match(line):
            return Tap(at=self._point(_PIECE.findall(line), context))
        verb, _, rest = line.partition(" ")
        pieces = _PIECE.findall(rest)
        if verb == "answer" and rest.strip():
            return Answer(text=rest.strip())
        if verb == "type":
            return self._read_type(pieces, context)
        if verb == "tap":
            return Tap(at=self._point(pieces, context))
        if verb == "swipe" and len(pieces) == 4:
            ends = self._point(pieces[:2], context), self._point(pieces[2:], context)
            return Swipe(path=ends)
        if verb == "scroll" and len(pieces) == 1:
            for direction in _DIRECTIONS:
                if pieces[0] == direction:
                    return Scroll(direction=direction)
        if not pieces:
            for name in _KEYS:
                if verb == name:
                    return Key(name=name)
            if verb in _ENDS:
                return Finish(status=_ENDS[verb])
            if verb == "wait":
                return Wait()
        raise ParseFailure(f"{clip(line, 80)!r} is no action; expected one of {_EXPECTED}")

    def _read_type(self, pieces: list[str], context: DialectContext) -> Type:
        quote = _PLACE.fullmatch(pieces[0]) if pieces else None
        if quote is None or quote[1] != "q" or int(quote[2]) >= len(context.quotes):
            raise ParseFailure(
                f"type needs a quote of the goal first; it has {len(context.quotes)}, counted "
                "from <q0>"
            )
        rest = pieces[1:]
        submit = rest[-1:] == ["enter"]
        rest = rest[:-1] if submit else rest
        clear = rest[-1:] == ["clear"]
        rest = rest[:-1] if clear else rest
        at = self._point(rest, context) if rest else None
        return Type(text=context.quotes[int(quote[2])], at=at, clear=clear, submit=submit)

    def _point(self, pieces: list[str], context: DialectContext) -> Point:
        """Read where: two coordinates, or a mark.

        Raises:
            ParseFailure: neither, or outside of what there is.
        """
        places = [_PLACE.fullmatch(piece) for piece in pieces]
        kinds = "".join(place[1] if place else "?" for place in places)
        numbers = [int(place[2]) for place in places if place]
        columns, rows = self.space.columns, self.space.rows
        if kinds == "xy" and numbers[0] <= columns and numbers[1] <= rows:
            return numbers[0] / columns, numbers[1] / rows
        listed = self._listed(context.elements)
        if kinds == "e" and numbers[0] < len(listed):
            return listed[numbers[0]].at
        marks = f", or a mark from <e0> to <e{len(listed) - 1}>" if listed else ""
        raise ParseFailure(
            f"{clip(' '.join(pieces), 60)!r} is no place; expected <x0> to <x{columns}> and then "
            f"<y0> to <y{rows}>{marks}"
        )

    def _listed(self, elements: Sequence[Element]) -> tuple[Element, ...]:
        return ()

    # ---- writing ---------------------------------------------------------------------------

    def _words(self, action: Action, context: DialectContext) -> str | None:
        """Return the words of an action, `None` where something would be lost."""
        match action:
            case Tap(at=at) if action == Tap(at=at):
                return self._place(at, context)
            case Swipe(path=(start, end)) if action == Swipe(path=(start, end)):
                return f"swipe {self.space.write(start)} {self.space.write(end)}"
            case Scroll(direction=direction) if action == Scroll(direction=direction):
                return f"scroll {direction}"
            case Type(text=text, at=at) if text in context.quotes:
                words = ["type", f"<q{context.quotes.index(text)}>"]
                words += [self._place(at, context)] if at is not None else []
                words += ["clear"] * action.clear + ["enter"] * action.submit
                return " ".join(words)
            case Key(name=name) if name in _KEYS:
                return name
            case Wait() if action == Wait():
                return "wait"
            case Answer(text=text) if text and text == one_line(text):
                return f"answer {text}"
            case Finish(status=status) if action == Finish(status=status):
                return next(word for word, end in _ENDS.items() if end == status)
        return None

    def _place(self, at: Point, context: DialectContext) -> str:
        """Return the mark of the listed element at this very point, else the nearest place."""
        for number, element in enumerate(self._listed(context.elements)):
            if element.at == at:
                return f"<e{number}>"
        return self.space.write(at)


class TinyThumbnail(Tiny):
    """Sees a thumbnail: enough to know a page by, a fifth of the tokens."""

    name = "tinythumb"
    image = ImageRule(factor_px=16, min_pixels=1024, max_pixels=6144, codec="png")


class TinyTree(Tiny):
    """Reads a short list of what can be tapped, and names elements by their marks."""

    name = "tinytree"

    def screen_words(self, elements: Sequence[Element]) -> str:
        """Return the list: a mark, the label's first words, and what is on or chosen."""
        return " ".join(
            f"<e{number}> {_described(element)}"
            for number, element in enumerate(self._listed(elements))
        )

    def _listed(self, elements: Sequence[Element]) -> tuple[Element, ...]:
        # Soft keys and the system's bars have words of their own: type, back, home, recents.
        unlisted = ("key", SYSTEM)
        return tuple(e for e in elements if e.taps and e.role not in unlisted)[:MARKS]


def _described(element: Element) -> str:
    words = _WORD.findall(element.label)[:LABEL_WORDS] or [element.role]
    if element.checked is not None:
        words.append("on" if element.checked else "off")
    if element.selected:
        words.append("selected")
    return " ".join(words)
