"""screenloop: one loop from screen to action for GUI agents.

What stands in `__all__` is the public surface; what is not exported may change. A name is imported
when it is first used, so `import screenloop` costs nothing and needs no torch. Types of the names
are in `__init__.pyi`.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_SURFACE = {
    "screenloop.api": "collect connect evaluate load_run read_episodes",
    "screenloop.actions": "Action Answer Ask Bash Batch Finish Hotkey Hover Key Noop Open Pinch "
    "Scroll Swipe Tap Tool Type Wait",
    "screenloop.types": "Budget EnvRef EnvSpec Goal Observation Task World",
    "screenloop.criteria": "Added AnswerIs Changed Code Count Date Duration FinishIs Money Number "
    "Removed Sequence Set Text Time Unchanged Value",
    "screenloop.agent.base": "Agent Assignment Decision Turn",
    "screenloop.agent.dialects.base": "Dialect",
    "screenloop.agent.dialects.checker": "check_dialect",
    "screenloop.envs.base": "Environment",
    "screenloop.envs.checker": "check_environment",
    "screenloop.manager.base": "Manager",
    "screenloop.models.base": "Model",
    "screenloop.phone.phone": "Phone",
}
"""Module to the names that it gives to the surface."""
_HOMES = {name: module for module, names in _SURFACE.items() for name in names.split()}
__all__ = sorted([*_HOMES, "train"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name == "train":  # a room that can be called
        return import_module("screenloop.train")
    if name not in _HOMES:
        raise AttributeError(f"module 'screenloop' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
