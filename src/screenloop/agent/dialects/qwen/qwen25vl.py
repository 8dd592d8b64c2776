"""Qwen2.5-VL: `mobile_use` and `computer_use` in pixels of the resized picture."""

from __future__ import annotations

from screenloop.agent.dialects.base import CoordinateSpace
from screenloop.agent.dialects.qwen.family import Qwen
from screenloop.config import ImageRule


class Qwen25VL(Qwen):
    """Coordinates are pixels of the picture after smart_resize with factor 28."""

    name = "qwen25vl"
    image = ImageRule(factor_px=28, min_pixels=3136, max_pixels=12_845_056)
    space = CoordinateSpace(scale=None)
