"""MiniWoB++ as a site: the pages of the installed `miniwob` package, read where they lie.

Each reset loads the page afresh, seeds it, raises its time limit and starts its episode; the page
itself judges and its raw reward is evidence. Its reward display, click marks and START cover are
hidden: they tell of episodes and clicks, not of the task.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from pathlib import Path

from screenloop.browser.page import Viewport
from screenloop.envs.web.site import Status
from screenloop.errors import ConfigError, TaskError
from screenloop.types import SizePx, World

AREA_CSS_PX: SizePx = (160, 210)
"""Size of a task's area."""
TIME_LIMIT_S = 300.0
"""Page time after which an episode is lost, unless the world's patches say otherwise."""

_REGISTERED = re.compile(r'id="miniwob/([A-Za-z0-9.\-]+)-v\d+"')
_PATCHES = frozenset({"time_limit_s", "data_mode"})
_DATA_MODES = frozenset({"default", "train", "test"})


@functools.cache
def package_root() -> Path:
    """Return the folder of the installed `miniwob` package, without importing it.

    Raises:
        ConfigError: it is not installed.
    """
    found = importlib.util.find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        raise ConfigError("The package miniwob is not installed: pip install miniwob.")
    return Path(next(iter(found.submodule_search_locations)))


def pages_folder() -> Path:
    """Return the folder of the tasks' pages."""
    return package_root() / "html" / "miniwob"


def page_path(task: str) -> Path:
    """Return the file of a task's page."""
    return pages_folder() / f"{task}.html"


@functools.cache
def registered_tasks() -> tuple[str, ...]:
    """Return the tasks that the package registers and that are pages of its own, sorted.

    Its registry names some airline sites besides, which live in other folders and are left out.
    """
    registry = (package_root() / "registration.py").read_text("utf-8")
    return tuple(sorted({t for t in _REGISTERED.findall(registry) if page_path(t).is_file()}))


class MiniwobSite:
    """The `miniwob/<task>` worlds."""

    name = "miniwob"
    navigates = False
    css = "#reward-display, #click-canvas, #sync-task-cover { display: none !important; }\n"
    status = (
        "({raw_reward: WOB_RAW_REWARD_GLOBAL, reward: WOB_REWARD_GLOBAL, done: WOB_DONE_GLOBAL,"
        " reason: WOB_REWARD_REASON == null ? null : String(WOB_REWARD_REASON),"
        " utterance: (u => typeof u === 'string' ? u : u.utterance)(core.getUtterance())})"
    )

    def warm_url(self, world: World) -> str:
        """Return the world's own page: no page of the package stores anything."""
        return self.url(world)

    def viewport(self, size_px: SizePx) -> Viewport:
        """Return a viewport as wide as the task area, whatever the size of the frame."""
        return Viewport(size_px=size_px, scale=size_px[0] / AREA_CSS_PX[0])

    def url(self, world: World) -> str:
        task = world.name.partition("/")[2]
        path = page_path(task)
        if not re.fullmatch(r"[a-z0-9\-]+", task) or not path.is_file():
            raise TaskError(f"the miniwob package has no page {task!r} (world {world.name!r})")
        return path.as_uri()

    def begin(self, world: World) -> str:
        patch = {key: value for patch in world.patches for key, value in patch.items()}
        unknown = sorted(patch.keys() - _PATCHES)
        if unknown:
            valid = ", ".join(sorted(_PATCHES))
            raise TaskError(f"unknown miniwob patch {unknown[0]!r}; valid: {valid}")
        mode = patch.get("data_mode", "default")
        if mode not in _DATA_MODES:
            raise TaskError(f"unknown miniwob data mode {mode!r}; valid: {sorted(_DATA_MODES)}")
        limit_ms = 1000 * float(patch.get("time_limit_s", TIME_LIMIT_S))
        return (
            f"core.setDataMode({json.dumps(mode)}); Math.seedrandom({json.dumps(world.seed)});"
            f" core.EPISODE_MAX_TIME = {limit_ms:g}; core.startEpisodeReal();"
        )

    def app(self, world: World, url: str) -> str:
        """Return the world's name: the page's path differs from machine to machine."""
        return world.name

    def goal(self, status: Status) -> str | None:
        return str(status["utterance"]) or None

    def done(self, status: Status) -> bool:
        return bool(status["done"])
