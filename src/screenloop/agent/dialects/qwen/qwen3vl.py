"""Qwen3-VL and Qwen3.5: `mobile_use` and `computer_use` on a square screen of 1000 or 999."""

from __future__ import annotations

from screenloop.agent.dialects.base import CoordinateSpace
from screenloop.agent.dialects.qwen.family import Qwen
from screenloop.config import ImageRule


class Qwen3VL(Qwen):
    """Coordinates run from 0 to 1000 on both axes, whatever the picture's size."""

    name = "qwen3vl"
    image = ImageRule(factor_px=32, min_pixels=65_536, max_pixels=16_777_216)
    space = CoordinateSpace(scale=1000)
    open_verb = "open_app"


class Qwen35(Qwen3VL):
    """The tools of Qwen3.5 declare a screen of 999x999."""

    name = "qwen35"
    space = CoordinateSpace(scale=999)
