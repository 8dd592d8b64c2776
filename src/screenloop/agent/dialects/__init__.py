"""Model dialects: one file a family, found by name through `registry.find`."""

from __future__ import annotations

DIALECTS: dict[str, str] = {
    "plain": "screenloop.agent.dialects.plain:Plain",
    "qwen25vl": "screenloop.agent.dialects.qwen.qwen25vl:Qwen25VL",
    "qwen3vl": "screenloop.agent.dialects.qwen.qwen3vl:Qwen3VL",
    "qwen35": "screenloop.agent.dialects.qwen.qwen3vl:Qwen35",
    "uitars": "screenloop.agent.dialects.uitars:UITars",
    "maiui": "screenloop.agent.dialects.maiui:MaiUI",
    "guiowl": "screenloop.agent.dialects.guiowl:GuiOwl",
    "uivenus": "screenloop.agent.dialects.uivenus:UIVenus",
    "autoglm": "screenloop.agent.dialects.autoglm:AutoGLM",
    "tiny": "screenloop.agent.dialects.tiny.touches:Tiny",
    "tinythumb": "screenloop.agent.dialects.tiny.touches:TinyThumbnail",
    "tinytree": "screenloop.agent.dialects.tiny.touches:TinyTree",
    "tinytools": "screenloop.agent.dialects.tiny.tools:TinyTools",
}
"""Names to dotted paths of the dialect classes; each takes no arguments."""
