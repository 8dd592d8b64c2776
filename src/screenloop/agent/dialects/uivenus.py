"""UI-Venus 1.5: thinking, one call and a conclusion in tags, coordinates 0 to 1000.

    <think>The Save button is at the bottom right.</think>
    <action>Click(box=(870, 930))</action>
    <conclusion>Press Save</conclusion>

Documented in the authors' report and mobile framework: the calls Click, Drag, Scroll, Type, Launch,
Wait, Finished, CallUser, LongPress, PressBack, PressHome, PressEnter, PressRecent, and on the web
Hover, DoubleClick and Hotkey; the three tags; the task and all fixed text in the user turn. Drag
holds before it moves; Scroll is two points of the finger, and a `direction` beside them adds
nothing. CallUser states the answer of a question. Finished may carry a message and is a success.
The report gives the space as 0 to 1000, the mobile prompt as 0 to 999; 0 to 1000 is used here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from screenloop.actions import (
    Action,
    Answer,
    Finish,
    Hotkey,
    Hover,
    Key,
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
from screenloop.agent.dialects.reading.calls import quote, read_calls, starts_call
from screenloop.agent.dialects.reading.fields import Fields, checked, is_only
from screenloop.agent.dialects.reading.layout import bare, nothing_found, tagged
from screenloop.config import ImageRule
from screenloop.errors import ParseFailure
from screenloop.types import EnvSpec, Mode, SizePx

HOLD_MS = 1000
_SHAPE = "<action>Click(box=(x, y))</action>"


def _path(f: Fields) -> tuple[Point, Point]:
    return f.point("start"), f.point("end")


READERS: Mapping[str, Callable[[Fields], Action]] = {
    "Click": lambda f: Tap(at=f.point("box", "point")),
    "DoubleClick": lambda f: Tap(at=f.point("box", "point"), count=2),
    "LongPress": lambda f: Tap(at=f.point("box", "point"), hold_ms=HOLD_MS),
    "Hover": lambda f: Hover(at=f.point("box", "point")),
    "Drag": lambda f: Swipe(path=_path(f), hold_ms=HOLD_MS),
    "Scroll": lambda f: Swipe(path=_path(f)),
    "Type": lambda f: Type(text=f.text("content")),
    "Launch": lambda f: Open(app=f.text("app", "url", empty=False)),
    "Hotkey": lambda f: Hotkey(keys=f.strings("keys")),
    "PressBack": lambda f: Key(name="back"),
    "PressHome": lambda f: Key(name="home"),
    "PressEnter": lambda f: Key(name="enter"),
    "PressRecent": lambda f: Key(name="recents"),
    "Wait": lambda f: Wait(),
    "CallUser": lambda f: Answer(text=f.text("content")),
    "Finished": lambda f: Finish(message=f.optional_text("content")),
}
_KEYS = {"back": "Back", "home": "Home", "enter": "Enter", "recents": "Recent"}
_LINES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Tap,), "Click(box=(x, y)): press a point"),
    ((Tap,), "DoubleClick(box=(x, y)): press it twice"),
    ((Tap,), "LongPress(box=(x, y)): press and hold it"),
    ((Hover,), "Hover(box=(x, y)): move the pointer there"),
    ((Swipe,), "Drag(start=(x1, y1), end=(x2, y2)): hold the start, then move to the end"),
    ((Swipe,), "Scroll(start=(x1, y1), end=(x2, y2)): move the finger, to see more"),
    ((Type,), "Type(content='...'): enter text into the focused field"),
    ((Open,), "Launch(app='...'): open an app"),
    ((Hotkey,), "Hotkey(keys=['ctrl', 'c']): press keys together"),
    ((Key,), "PressBack(), PressHome(), PressEnter(), PressRecent(): press a key"),
    ((Wait,), "Wait(): let the screen load"),
    ((Answer,), "CallUser(content='...'): state the answer to the goal's question"),
    ((Finish,), "Finished(content=''): end the task"),
)


class UIVenus:
    """The dialect of the UI-Venus 1.5 agents."""

    name = "uivenus"
    image = ImageRule(factor_px=32, min_pixels=3136, max_pixels=12_845_056)
    space = CoordinateSpace(scale=1000)
    system_role = False
    calls_tools = False

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        lines = [
            "You operate a device for a person. Each turn you get a screenshot and choose one "
            "action.",
            "",
            "Reply in this form:",
            "<think>what you see, and why you do what you do next</think>",
            "<action>one of the calls below</action>",
            "<conclusion>the action in a few words</conclusion>",
            "",
            "Calls; points run from (0, 0) at the top left to (1000, 1000) at the bottom right:",
            *(line for kinds, line in _LINES if supported(spec, *kinds)),
            "",
            "Press a field before you type into it. If a question is asked, answer it before you "
            "end the task.",
        ]
        if spec.apps and supported(spec, Open):
            lines.append(f"Apps: {', '.join(spec.apps)}.")
        if lang != "en":
            lines.append(f"Write thoughts and answers in the language {lang!r}.")
        return "\n".join(lines)

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        content = tagged(text, "action")
        if content is None:
            content = bare(text)
            if not starts_call(content, frozenset(READERS)):
                raise nothing_found(text, _SHAPE)
        actions: list[Action] = []
        for call in read_calls(content, _SHAPE):
            if call.name not in READERS:
                raise ParseFailure(
                    f"there is no action {clip(call.name, 60)!r}; expected one of "
                    f"{', '.join(READERS)}"
                )
            fields = Fields(call.name, call.arguments, self.space, context)
            actions.append(checked(READERS[call.name](fields)))
        return tuple(actions)

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return self._write(action, context) is not None

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        call = self._write(action, context)
        if call is None:
            raise inexpressible(self.name, action)
        words = one_line(thought) or thought_for(action)
        verb = call.partition("(")[0]
        return f"<think>{words}</think>\n<action>{call}</action>\n<conclusion>{verb}</conclusion>"

    def _write(self, action: Action, context: DialectContext) -> str | None:
        match action:
            case Type(text=text) if is_only(action, "text"):
                return f"Type(content={quote(text)})"
            case Open(app=app):
                return f"Launch(app={quote(app)})"
            case Hotkey(keys=keys):
                return f"Hotkey(keys=[{', '.join(map(quote, keys))}])"
            case Key(name=name) if name in _KEYS:
                return f"Press{_KEYS[name]}()"
            case Wait() if is_only(action):
                return "Wait()"
            case Answer(text=text):
                return f"CallUser(content={quote(text)})"
            case Finish(status="success", message=message):
                return f"Finished(content={quote(message)})"
            case Tap() | Swipe() | Hover():
                return self._write_pointed(action, context)
        return None

    def _write_pointed(self, action: Tap | Swipe | Hover, context: DialectContext) -> str | None:
        def xy(at: Point) -> str:
            x, y = self.space.write(at, context.picture_px)
            return f"({x}, {y})"

        match action:
            case Hover(at=at):
                return f"Hover(box={xy(at)})"
            case Tap(at=at) if is_only(action, "at"):
                return f"Click(box={xy(at)})"
            case Tap(at=at, count=2) if is_only(action, "at", "count"):
                return f"DoubleClick(box={xy(at)})"
            case Tap(at=at, hold_ms=1000) if is_only(action, "at", "hold_ms"):
                return f"LongPress(box={xy(at)})"
            case Swipe(path=(start, end)) if is_only(action, "path"):
                return f"Scroll(start={xy(start)}, end={xy(end)})"
            case Swipe(path=(start, end), hold_ms=1000) if is_only(action, "path", "hold_ms"):
                return f"Drag(start={xy(start)}, end={xy(end)})"
        return None
