"""A site of local test pages, and Starts on them."""

from pathlib import Path
from typing import Any

from screenloop.browser.page import Viewport
from screenloop.criteria import Value
from screenloop.envs.web.site import Status
from screenloop.errors import TaskError
from screenloop.types import EnvRef, Goal, SizePx, Start, Task, World

SIZE_PX: SizePx = (200, 160)


class LocalPages:
    """`pages/<file>` worlds in one folder; `window.status` of a page is its Status."""

    name = "pages"
    css = ""
    navigates = True
    status = "Object.assign({done: false}, window.told)"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, file: str, body: str) -> None:
        html = "<!doctype html><meta charset=utf-8><style>body{margin:0}</style>"
        (self._folder / file).write_text(html + body)

    def url(self, world: World) -> str:
        path = self._folder / world.name.partition("/")[2]
        if not path.is_file():
            raise TaskError(f"no page {path.name!r}")
        return path.as_uri()

    def warm_url(self, world: World) -> str:
        return ""

    def viewport(self, size_px: SizePx) -> Viewport:
        return Viewport(size_px=size_px)

    def begin(self, world: World) -> str:
        return f"window.seed = {world.seed}"

    def app(self, world: World, url: str) -> str:
        return url.rpartition("/")[2]

    def goal(self, status: Status) -> str | None:
        return status.get("goal")

    def done(self, status: Status) -> bool:
        return bool(status["done"])


def start(world: str, *, seed: int = 0, size_px: SizePx = SIZE_PX, **patch: Any) -> Start:
    return Start(
        task=Task(
            id=f"test/{world.replace('/', '-')}@1",
            seed=seed,
            env=EnvRef(kind="web", size_px=size_px),
            world=World(name=world, seed=seed, patches=(patch,) if patch else ()),
            goal=Goal(text="Do what the page asks."),
            checks=(Value(says="done", app="pages", path="done", to=True),),
        )
    )
