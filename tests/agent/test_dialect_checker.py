"""The checker passes every dialect of the package, and names what a broken one breaks."""

import random
import re

import pytest
from msgspec.structs import replace

from screenloop.actions import Finish, Tap
from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.checker import check_dialect
from screenloop.agent.dialects.plain import Plain
from screenloop.agent.dialects.qwen.qwen3vl import Qwen3VL
from screenloop.errors import ParseFailure
from screenloop.registry import find


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_keeps_every_rule(name):
    findings = check_dialect(find("dialect", name, DIALECTS)())
    assert len(findings) == 8
    assert [finding for finding in findings if not finding.passed or finding.detail] == []


class Rounds(Qwen3VL):
    """Reads every touch a little off."""

    def parse(self, text, context):
        actions = super().parse(text, context)
        return tuple(
            replace(a, at=(min(1.0, a.at[0] + 0.01), a.at[1])) if isinstance(a, Tap) else a
            for a in actions
        )


class WritesAll(Qwen3VL):
    """Writes something for what it has no words for."""

    def render(self, action, context, thought=""):
        if not self.expresses(action, context):
            action = Finish(status="success")
        return super().render(action, context, thought)


class Guesses(Plain):
    """Takes the first two numbers of any text for a touch."""

    def parse(self, text, context):
        try:
            return super().parse(text, context)
        except ParseFailure:
            numbers = re.findall(r"\d+", text)
            if len(numbers) < 2 or len(text) > 1000:
                raise
            return (Tap(at=(int(numbers[0]) / 1000, int(numbers[1]) / 1000)),)


class Crashes(Plain):
    """Lets another error through."""

    def parse(self, text, context):
        if not text.strip():
            raise IndexError("no line")
        return super().parse(text, context)


class Endless(Plain):
    """Takes a reply of any size."""

    def parse(self, text, context):
        return super().parse(text, context) if len(text) < 10_000 else (Finish(status="success"),)


class Thinks(Plain):
    """Acts on its own thoughts."""

    def parse(self, text, context):
        if "press 40, 50" in text:
            return (Tap(at=(0.04, 0.05)),)
        return super().parse(text, context)


class Undeclared(Qwen3VL):
    """Reads a call of any tool."""

    def parse(self, text, context):
        if "checks.note" in text:
            return (Finish(status="success"),)
        return super().parse(text, context)


class Moody(Plain):
    """Says something else each time."""

    def system_prompt(self, spec, mode, picture_px, lang):
        words = super().system_prompt(spec, mode, picture_px, lang)
        return f"{words} {random.SystemRandom().random()}"


@pytest.mark.parametrize(
    ("broken", "rule", "detail"),
    [
        (Rounds, "what it writes it reads back", "its own grid is not kept"),
        (WritesAll, "what it cannot write it refuses", "is not expressed, but written as"),
        (Guesses, "points outside of the picture are refused", "was read as Tap"),
        (Crashes, "unreadable replies are parse failures", "raised IndexError, not ParseFailure"),
        (Endless, "huge or deep replies are parse failures", "repeated to"),
        (Thinks, "a frame or a thought changes nothing", "with a thought"),
        (Undeclared, "tools are called only where declared", "not declared"),
        (Moody, "the prompt is fixed", "two prompts of one Environment differ"),
    ],
)
def test_a_broken_dialect_is_told_what_it_breaks(broken, rule, detail):
    failed = {f.rule: f.detail for f in check_dialect(broken()) if not f.passed}
    assert rule in failed
    assert detail in failed[rule]
