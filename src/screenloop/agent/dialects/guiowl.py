"""GUI-Owl 1.5: `mobile_use` with `interact` (it asks the person), 0 to 1000.

A reply is one line `Action: ...` and the tagged call. The declared space is 0 to 1000; the
family's own device code divides by 999, which moves a point by at most a thousandth.
"""

from __future__ import annotations

from screenloop.agent.dialects.base import CoordinateSpace
from screenloop.agent.dialects.qwen.family import Qwen
from screenloop.config import ImageRule


class GuiOwl(Qwen):
    """The Qwen schema with GUI-Owl's layout; on computers it uses `computer_use`."""

    name = "guiowl"
    image = ImageRule(factor_px=32, min_pixels=200_704, max_pixels=10_035_200)
    space = CoordinateSpace(scale=1000)
    asks = True
    layout = (
        "Reply in this form:",
        "Action: one line on what to do next and why",
        '<tool_call>\n{"name": <function>, "arguments": <JSON object>}\n</tool_call>',
    )

    def _reply(self, thought: str, verb: str, call: str) -> str:
        return f"Action: {thought}\n{call}"
