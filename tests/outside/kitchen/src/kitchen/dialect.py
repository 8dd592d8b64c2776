"""A dialect: `TAP x y` in thousandths of the picture, and `DONE`."""

import re

from screenloop.actions import Finish, Tap, pin_frame
from screenloop.agent.dialects.base import CoordinateSpace, clip, inexpressible
from screenloop.config import ImageRule
from screenloop.errors import ParseFailure

SPACE = CoordinateSpace(scale=1000)


class Shouts:
    """How the model of this package speaks."""

    name = "shouts"
    image = ImageRule(factor_px=8, min_pixels=64, max_pixels=65_536)
    system_role = True
    calls_tools = False

    def system_prompt(self, spec, mode, picture_px, lang):
        return f"You see a {spec.surface} screen. Reply with TAP x y, or DONE."

    def parse(self, text, context):
        line = text.splitlines()[-1] if text.strip() else ""
        if tap := re.fullmatch(r"TAP ([0-9]{1,4}) ([0-9]{1,4})", line):
            return (Tap(at=SPACE.read(int(tap[1]), int(tap[2]), context.picture_px)),)
        if line == "DONE":
            return (Finish(status="success"),)
        raise ParseFailure(f"{clip(text, 80)!r} is no action; expected TAP x y, or DONE")

    def expresses(self, action, context):
        return self._words(action) is not None

    def render(self, action, context, thought=""):
        words = self._words(action)
        if words is None:
            raise inexpressible(self.name, action)
        return f"{' '.join(thought.split()) or 'I see.'}\n{words}"

    def _words(self, action):
        bare = pin_frame(action, None)
        if isinstance(bare, Tap) and bare == Tap(at=bare.at):
            return "TAP {} {}".format(*SPACE.write(bare.at, (1, 1)))
        return "DONE" if bare == Finish(status="success") else None
