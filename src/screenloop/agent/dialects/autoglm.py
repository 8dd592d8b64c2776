"""AutoGLM phone agents: thinking, then one `do(...)` or `finish(...)` in an answer tag, 0 to 999.

    <think>The Save button is at the bottom right.</think>
    <answer>do(action="Tap", element=[870, 930])</answer>

Documented: Launch, Tap, Type, Type_Name, Swipe, Long Press, Double Tap, Back, Home, Wait,
Take_over, Interact, Note, Call_API, and finish(message). Type empties the field first, so it is a
Type with `clear`. A `message` on Tap marks it as sensitive and changes nothing here. Take_over and
Interact ask the person; Note keeps a note; Call_API is not offered. `finish` with a message states
that message as the answer and ends with success. The handlers of the authors divide by 1000, the
prompt says 999; 999 is used here. The family knows phones only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from screenloop.actions import (
    Action,
    Answer,
    Ask,
    Finish,
    Key,
    Noop,
    Open,
    Point,
    Swipe,
    Tap,
    Type,
    Wait,
)
from screenloop.agent.dialects.base import (
    CoordinateSpace,
    DialectContext,
    clip,
    inexpressible,
    one_line,
    supported,
    thought_for,
)
from screenloop.agent.dialects.reading.calls import FunctionCall, quote, read_calls, starts_call
from screenloop.agent.dialects.reading.fields import Fields, checked, is_only, whole
from screenloop.agent.dialects.reading.layout import bare, nothing_found, tagged
from screenloop.config import ImageRule
from screenloop.errors import ParseFailure
from screenloop.types import EnvSpec, Mode, SizePx

HOLD_MS = 1000
_SHAPE = '<answer>do(action="Tap", element=[x, y])</answer>'
_CALLS = frozenset({"do", "finish"})
_SECONDS = re.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?)\s*(?:s|sec|secs|second|seconds)?\s*")
_HELP = "The agent asks you to take over this step."
"""What the person is asked when Interact comes without words of its own."""


def _wait(f: Fields) -> Action:
    if not f.has("duration"):
        return Wait()
    found = _SECONDS.fullmatch(f.text("duration"))
    if not found:
        raise ParseFailure('Wait: duration must be like "2 seconds"')
    return Wait(seconds=float(found[1]))


def _ask(f: Fields) -> Action:
    return Ask(text=f.optional_text("message") or _HELP)


READERS: Mapping[str, Callable[[Fields], Action]] = {
    "Launch": lambda f: Open(app=f.text("app", empty=False)),
    "Tap": lambda f: Tap(at=f.point("element")),
    "Type": lambda f: Type(text=f.text("text"), clear=True),
    "Type_Name": lambda f: Type(text=f.text("text"), clear=True),
    "Swipe": lambda f: Swipe(path=(f.point("start"), f.point("end"))),
    "Long Press": lambda f: Tap(at=f.point("element"), hold_ms=HOLD_MS),
    "Double Tap": lambda f: Tap(at=f.point("element"), count=2),
    "Back": lambda f: Key(name="back"),
    "Home": lambda f: Key(name="home"),
    "Wait": _wait,
    "Take_over": _ask,
    "Interact": _ask,
    "Note": lambda f: Noop(note=f.optional_text("message")),
}
_LINES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Open,), 'do(action="Launch", app="...")  # open an app'),
    ((Tap,), 'do(action="Tap", element=[x, y])'),
    ((Tap,), 'do(action="Long Press", element=[x, y])'),
    ((Tap,), 'do(action="Double Tap", element=[x, y])'),
    ((Type,), 'do(action="Type", text="...")  # replaces what the focused field holds'),
    ((Swipe,), 'do(action="Swipe", start=[x1, y1], end=[x2, y2])  # move the finger'),
    ((Key,), 'do(action="Back")'),
    ((Key,), 'do(action="Home")'),
    ((Wait,), 'do(action="Wait", duration="2 seconds")'),
    ((Ask,), 'do(action="Interact", message="...")  # ask the person'),
    ((Noop,), 'do(action="Note", message="...")  # keep a note'),
    ((Finish,), 'finish(message="...")  # end the task; message is the answer, or empty'),
)


class AutoGLM:
    """The dialect of the AutoGLM phone models."""

    name = "autoglm"
    image = ImageRule(factor_px=28, min_pixels=65_536, max_pixels=12_845_056)
    space = CoordinateSpace(scale=999)
    system_role = True
    calls_tools = False

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        lines = [
            "You operate a phone for a person. Each turn you get a screenshot and choose one "
            "action.",
            "",
            "Reply in this form:",
            "<think>what you see, and why you do what you do next</think>",
            "<answer>one of the calls below</answer>",
            "",
            "Calls; points run from [0, 0] at the top left to [999, 999] at the bottom right:",
            *(line for kinds, line in _LINES if supported(spec, *kinds)),
            "",
            "Before the task goes on, open the app that it needs. Press a field before you type "
            "into it.",
        ]
        if spec.apps:
            lines.append(f"Apps: {', '.join(spec.apps)}.")
        if lang != "en":
            lines.append(f"Write thoughts and answers in the language {lang!r}.")
        return "\n".join(lines)

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        content = tagged(text, "answer")
        if content is None:
            content = bare(text)
            if not starts_call(content, _CALLS):
                raise nothing_found(text, _SHAPE)
        actions: list[Action] = []
        for call in read_calls(content, _SHAPE):
            actions += self._read(call, context)
        return tuple(checked(action) for action in actions)

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return self._write(action, context) is not None

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        call = self._write(action, context)
        if call is None:
            raise inexpressible(self.name, action)
        words = one_line(thought) or thought_for(action)
        return f"<think>{words}</think>\n<answer>{call}</answer>"

    def _read(self, call: FunctionCall, context: DialectContext) -> tuple[Action, ...]:
        if call.name == "finish":
            fields = Fields("finish", call.arguments, self.space, context)
            message = fields.optional_text("message")
            return (Answer(text=message), Finish()) if message else (Finish(),)
        verb = call.arguments.get("action")
        if call.name != "do" or not isinstance(verb, str) or verb not in READERS:
            named = verb if call.name == "do" else call.name
            raise ParseFailure(
                f"there is no action {clip(named, 60)!r}; expected finish(message=...) or "
                f"do(action=...) with one of {', '.join(READERS)}"
            )
        return (READERS[verb](Fields(verb, call.arguments, self.space, context)),)

    def _write(self, action: Action, context: DialectContext) -> str | None:
        match action:
            case Open(app=app):
                return _do("Launch", f"app={quote(app, _MARK)}")
            case Type(text=text, clear=True) if is_only(action, "text", "clear"):
                return _do("Type", f"text={quote(text, _MARK)}")
            case Key(name="back" | "home" as name):
                return _do(name.capitalize())
            case Wait(seconds=seconds):
                words = f"{whole(seconds)} seconds"
                exact = _SECONDS.fullmatch(words)
                fits = exact is not None and float(exact[1]) == seconds
                return _do("Wait", f'duration="{words}"') if fits else None
            case Ask(text=text):
                return _do("Interact", f"message={quote(text, _MARK)}")
            case Noop(note=note):
                return _do("Note", f"message={quote(note, _MARK)}")
            case Finish(status="success", message=""):
                return 'finish(message="")'
            case Tap() | Swipe():
                return self._write_pointed(action, context)
        return None

    def _write_pointed(self, action: Tap | Swipe, context: DialectContext) -> str | None:
        def xy(at: Point) -> str:
            x, y = self.space.write(at, context.picture_px)
            return f"[{x}, {y}]"

        match action:
            case Tap(at=at) if is_only(action, "at"):
                return _do("Tap", f"element={xy(at)}")
            case Tap(at=at, hold_ms=1000) if is_only(action, "at", "hold_ms"):
                return _do("Long Press", f"element={xy(at)}")
            case Tap(at=at, count=2) if is_only(action, "at", "count"):
                return _do("Double Tap", f"element={xy(at)}")
            case Swipe(path=(start, end)) if is_only(action, "path"):
                return _do("Swipe", f"start={xy(start)}, end={xy(end)}")
        return None


_MARK = '"'


def _do(verb: str, arguments: str = "") -> str:
    return f'do(action="{verb}"{", " if arguments else ""}{arguments})'
