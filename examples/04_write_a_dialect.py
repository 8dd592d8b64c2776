"""Write a dialect, one action a line in plain words, and let the oracle speak it."""

import asyncio
import re

from screenloop.actions import Action, Finish, Tap, Type, pin_frame
from screenloop.agent.dialects.base import CoordinateSpace, DialectContext, clip, inexpressible
from screenloop.config import ImageRule
from screenloop.errors import ParseFailure
from screenloop.rollout.play import RunRequest, play
from screenloop.types import EnvSpec, Mode, SizePx

FORMS = "TAP x y, TYPE words or DONE"


class Shouts:
    """`TAP 500 250`; points are thousandths of the picture."""

    name, image, system_role, calls_tools = "shouts", ImageRule(), True, False
    space = CoordinateSpace(scale=1000)

    def system_prompt(self, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
        return f"You see a screen. Reply with one line: {FORMS}."

    def parse(self, text: str, context: DialectContext) -> tuple[Action, ...]:
        if tap := re.fullmatch(r"TAP (\d{1,4}) (\d{1,4})", text):
            return (Tap(at=self.space.read(int(tap[1]), int(tap[2]), context.picture_px)),)
        if words := re.fullmatch(r"TYPE (.+)", text):
            return (Type(text=words[1]),)
        if text == "DONE":
            return (Finish(),)
        raise ParseFailure(f"{clip(text, 80)!r} is no action; expected {FORMS}")  # never a guess

    def expresses(self, action: Action, context: DialectContext) -> bool:
        return self._words(action, context) is not None

    def render(self, action: Action, context: DialectContext, thought: str = "") -> str:
        words = self._words(action, context)
        if words is None:
            raise inexpressible(self.name, action)
        return words

    def _words(self, action: Action, context: DialectContext) -> str | None:
        """Return the line, `None` where it would not be read back as the same action."""
        match pin_frame(action, None):
            case Tap(at=at) as tap if tap == Tap(at=at):
                return "TAP {} {}".format(*self.space.write(at, context.picture_px))
            case Type(text=text) as entry if entry == Type(text=text) and re.fullmatch(".+", text):
                return f"TYPE {text}"
            case done if done == Finish():
                return "DONE"
        return None


if __name__ == "__main__":
    request = RunRequest(suite="fake", tasks="add_*", model="oracle", dialect="__main__:Shouts")
    for row in asyncio.run(play(request)).rows:
        print(row.task, "solved" if row.success else "not solved")
