#!/usr/bin/env python3
"""Write what the documentation's site is built from into .site/: nothing of it is kept in git.

    python scripts/make_site_pages.py
    mkdocs build --strict --config-file .site/mkdocs.yml

The pages of docs/ are copied, with links that leave the folder led to copies of what they name;
beside them stand the API of the public surface and one page for each suite, app, dialect and
recipe, made from what the code declares. Apps are shown as their flows go through them, painted by
the package's own painter.
"""

from __future__ import annotations

import importlib
import inspect
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image, ImageDraw

import screenloop
from screenloop.actions import Answer, Finish, Key, Open, Scroll, Swipe, Tap, Type, Wait
from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.base import DialectContext
from screenloop.errors import ConfigError
from screenloop.phone.declare.app import App
from screenloop.phone.declare.flow_steps import open_app
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.phone.show.render import paint, shared_native
from screenloop.registry import find
from screenloop.suites.catalog import SUITES, find_suite
from screenloop.train.recipes import RECIPES, find_recipe

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".site"
PAGES = BUILD / "docs"
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
BESIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "CITATION.cff": "citation.md",
    "examples": "examples.md",
    "docs/decisions": "decisions/index.md",
}
"""What pages link to outside docs/, and the page of the site that stands for it."""
ORDER = ("index", "quickstart", "concepts", "layout", "python", "operations", "manager")
"""First pages of the site; the others follow by name."""
UNTIL_EXPORTED = ("errors", "actions", "criteria", "types", "messages", "config", "registry")
"""Modules whose API is shown while `screenloop` has no `__all__`."""
THUMB_PX = (206, 458)
COLUMNS = 6
GAP_PX = 10
SAMPLES = (
    Tap(at=(0.5, 0.25)),
    Swipe(path=((0.5, 0.75), (0.5, 0.25))),
    Scroll(at=(0.5, 0.5), direction="down"),
    Type(text="Milk"),
    Key(name="back"),
    Open(app="notes"),
    Wait(seconds=2),
    Answer(text="42"),
    Finish(),
)


# ---- copies of docs/ -----------------------------------------------------------------------


def copied(source: Path, target: str) -> str:
    """Return a page's text with its links led to where they are in the site."""
    here = (PAGES / target).parent

    def lead(found: re.Match[str]) -> str:
        link, anchor = found[1], found[2] or ""
        if ":" in link:
            return found[0]
        name = (source.parent / link).resolve().relative_to(ROOT).as_posix()
        inside = name.removeprefix("docs/") if name.startswith("docs/") else ""
        place = BESIDE.get(name) or inside
        if name.startswith("examples/"):
            place, anchor = "examples.md", ""
        if not place:
            raise SystemExit(f"{source.name} links to {name}, which has no page in the site")
        return f"]({os.path.relpath(PAGES / place, here)}{anchor})"

    return LINK.sub(lead, source.read_text("utf-8"))


def copy_docs() -> None:
    """Copy docs/ and the pages beside it, and make the pages that stand for folders."""
    shutil.copytree(ROOT / "docs", PAGES)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        target = page.relative_to(ROOT / "docs").as_posix()
        write(target, copied(page, target))
    for name, target in BESIDE.items():
        if name.endswith(".md") and name != "README.md":
            write(target, copied(ROOT / name, target))
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    write("citation.md", f"# Citing\n\n```yaml\n{citation}```\n")
    decisions = sorted((PAGES / "decisions").glob("[0-9]*.md"))
    titles = [(page.name, page.read_text("utf-8").partition("\n")[0][2:]) for page in decisions]
    listed = "\n".join(f"- [{title}]({name})" for name, title in titles)
    write("decisions/index.md", f"# Decisions\n\n{listed}\n")
    parts = ["# Examples", "Each runs as it stands, and the tests run them."]
    for file in sorted((ROOT / "examples").glob("*.py")):
        parts.append(f"## {file.stem}\n\n```python\n{file.read_text('utf-8')}```")
    write("examples.md", "\n\n".join(parts) + "\n")


def write(name: str, text: str) -> None:
    """Write one page of the site."""
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def cell(text: object) -> str:
    """Return a text that stands in one cell of a table, and is text only."""
    plain = " ".join(str(text).split())
    return plain.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(columns)
    lines = [head, ["---"] * len(head), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


# ---- one page each -------------------------------------------------------------------------


def suite_page(name: str) -> str:
    """Return the page of a suite: every task as its first seed makes it."""
    suite = find_suite(name)
    tasks = [suite.task(task, 0) for task in suite.names()]
    rows = (
        [
            f"`{task.id.partition('/')[2].partition('@')[0]}`",
            cell(task.goal.text),
            cell(task.tags.get("apps", "").replace(",", ", ")),
            cell(task.tags.get("difficulty", "")),
            "" if task.optimal_steps is None else str(task.optimal_steps),
        ]
        for task in tasks
    )
    return "\n".join(
        [
            f"# {name}\n",
            f"{inspect.getdoc(type(suite)) or ''}\n",
            f"Version {suite.version}, Environment `{suite.env_kind}`, {len(tasks)} tasks.",
            f"Goals are those of seed 0; `screenloop tasks {name} --seed 1` shows others.\n",
            table(("task", "goal", "apps", "difficulty", "shortest"), rows),
        ]
    )


def dialect_page(name: str) -> str:
    """Return the page of a dialect: what it says of itself, and how it writes Actions."""
    dialect = find("dialect", name, DIALECTS)()
    module = sys.modules[type(dialect).__module__]
    context = DialectContext(surface="mobile", picture_px=(392, 924), tools=frozenset())
    parts = [f"# {name}\n", f"{inspect.getdoc(type(dialect)) or ''}\n"]
    parts.append(f"```text\n{inspect.getdoc(module) or ''}\n```\n")
    parts.append("How it writes Actions on a phone whose picture has 392 x 924 pixels:\n")
    for action in SAMPLES:
        try:
            written = dialect.render(action, context)
        except ConfigError:
            written = "(this dialect has no form for it)"
        parts.append(f"`{msgspec.json.encode(action).decode()}`\n\n```text\n{written}\n```\n")
    return "\n".join(parts)


def recipe_page(name: str) -> str:
    """Return the page of a recipe: what it is for, and every setting."""
    recipe = find_recipe(name)
    module = importlib.import_module(RECIPES[name].partition(":")[0])
    rows = [[f"`{key}`", cell(value)] for key, value in settings(recipe.settings)]
    rows.insert(0, ["`modes`", cell(", ".join(recipe.modes))])
    rows.insert(0, ["`window`", f"{recipe.window.steps} steps, {recipe.window.overlap} shared"])
    rows.insert(0, ["`dialect`", f"[`{recipe.dialect}`](../dialects/{recipe.dialect}.md)"])
    return "\n".join(
        [
            f"# {name}\n",
            f"{inspect.getdoc(module) or ''}\n",
            f"`screenloop train --recipe {name}`; its figures are among the",
            "[measurements](../../measurements.md).\n",
            table(("setting", "value"), rows),
        ]
    )


def settings(value: object, before: str = "") -> Iterator[tuple[str, object]]:
    """Yield every setting of nested structs by its dotted name."""
    for key, inner in msgspec.structs.asdict(value).items():  # type: ignore[arg-type]
        if isinstance(inner, msgspec.Struct):
            yield from settings(inner, f"{before}{key}.")
        else:
            yield f"{before}{key}", inner


def app_page(app_id: str) -> str:
    """Return the page of an app: its pages in pictures, its routes, its tools."""
    app = new_device().apps[app_id]
    frames = dict(shown(app))
    numbers = {route: number for number, route in enumerate(frames, 1)}
    if frames:
        sheet(list(frames.values())).save(PAGES / "catalog" / "apps" / f"{app_id}.jpg", quality=80)
    routes = ([f"`{route}`", str(numbers.get(f"{app_id}{route}", ""))] for route in app.routes)
    tools = (
        [f"`{tool.name}`", cell(tool.description), ", ".join(map(argument, arguments(tool)))]
        for tool in app.tools()
    )
    picture = f"![Pages of {app_id}]({app_id}.jpg)\n" if frames else ""
    return "\n".join(
        [
            f"# {app.title[0]}\n",
            f"App `{app_id}`, in Chinese {app.title[1]}: {len(app.routes)} routes,",
            f"{len(app.actions)} actions, {len(app.tools())} tools, {len(app.flows)} flows.\n",
            picture,
            f"## Routes\n\n{table(('route', 'picture'), routes)}",
            f"## Tools\n\n{table(('tool', 'what it does', 'arguments'), tools)}",
        ]
    )


def arguments(tool: Any) -> list[str]:
    """Return the names of a tool's arguments."""
    return list(tool.parameters.get("properties", {}))


def argument(name: str) -> str:
    """Return an argument's name for a table."""
    return f"`{name}`"


def shown(app: App[Any]) -> Iterator[tuple[str, Image.Image]]:
    """Yield each page that the app's flows come by, with its picture, once."""
    seen: set[str] = set()
    walks = [(open_app(app.id), *flow.steps) for flow in app.flows] or [()]
    for steps in walks:
        device = new_device()
        for step in (None, *steps):
            if step is not None:
                device.begin("picture")
                run_step(device, step)
                device.end()
            route = device.screen.route
            if route not in seen and route.partition("/")[0] == app.id:
                seen.add(route)
                yield route, picture(device)


def picture(device: Device) -> Image.Image:
    """Return what the phone shows, small."""
    frame = paint(shared_native(), device.painted(), (412, 915)).image().convert("RGB")
    return frame.resize(THUMB_PX, Image.Resampling.LANCZOS)


def sheet(frames: list[Image.Image]) -> Image.Image:
    """Return pictures side by side, numbered from 1 as in the table of routes."""
    columns = min(COLUMNS, len(frames))
    rows = math.ceil(len(frames) / columns)
    width, height = THUMB_PX[0] + GAP_PX, THUMB_PX[1] + 2 * GAP_PX + 6
    out = Image.new("RGB", (columns * width + GAP_PX, rows * height + GAP_PX), "#e9ecf1")
    draw = ImageDraw.Draw(out)
    for number, frame in enumerate(frames):
        x, y = GAP_PX + number % columns * width, GAP_PX + number // columns * height
        out.paste(frame, (x, y))
        draw.text((x + 2, y + THUMB_PX[1] + 2), str(number + 1), fill="#1a1c20")
    return out


# ---- API, lists, order ---------------------------------------------------------------------


def api_page() -> str:
    """Return the page that the API is drawn into: what `screenloop` exports, by where it is."""
    parts = ["# API\n"]
    exported = getattr(screenloop, "__all__", ())
    if not exported:
        parts.append("The modules that others build on.\n")
        parts += [f"## `{name}`\n\n::: screenloop.{name}\n" for name in UNTIL_EXPORTED]
        return "\n".join(parts)
    parts.append("What `screenloop` exports. What is not on this page may change at any time.\n")
    values = []
    for name in exported:
        thing = getattr(screenloop, name)
        if inspect.ismodule(thing):
            parts.append(f"## `{name}`\n\n::: {thing.__name__}\n")
        elif inspect.isclass(thing) or inspect.isfunction(thing):
            parts.append(f"::: {thing.__module__}.{thing.__qualname__}\n")
        else:
            values.append([f"`{name}`", cell(thing)[:300]])
    if values:
        parts.append(f"## Values and unions\n\n{table(('name', 'is'), values)}")
    return "\n".join(parts)


def catalog(kind: str, names: Iterable[str], page: Callable[[str], str]) -> None:
    """Write a page for each name of a kind, and the list of them."""
    (PAGES / "catalog" / kind).mkdir(parents=True)
    listed = []
    for name in names:
        text = page(name)
        write(f"catalog/{kind}/{name}.md", text)
        listed.append(f"- [{text.partition(chr(10))[0][2:]}]({name}.md)")
    write(f"catalog/{kind}/index.md", f"# {kind.title()}\n\n" + "\n".join(listed) + "\n")


def order() -> list[dict[str, Any]]:
    """Return the site's navigation: whatever pages there are, the known ones first."""
    top = {page.stem: page.name for page in sorted(PAGES.glob("*.md"))}
    first = [top[name] for name in ORDER if name in top]
    extra = ["contributing", "security", "releasing", "changelog", "citation"]
    project = [top[name] for name in extra if name in top]
    rest = [name for name in top.values() if name not in {*first, *project, "api.md"}]

    def folder(name: str) -> list[str]:
        return [page.relative_to(PAGES).as_posix() for page in sorted((PAGES / name).glob("*.md"))]

    return [
        {"Start": [*first, *rest]},
        {"How to": folder("how-to")},
        {"Reference": ["api.md", *folder("reference")]},
        {"Catalog": [f"catalog/{kind.name}/index.md" for kind in sorted(catalogs())]},
        {"Project": [*project, *folder("decisions")]},
    ]


def catalogs() -> Iterator[Path]:
    """Yield the folders of generated pages."""
    yield from (PAGES / "catalog").iterdir()


def main() -> None:
    """Write everything anew."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir()
    copy_docs()
    write("api.md", api_page())
    catalog("suites", SUITES, suite_page)
    catalog("apps", new_device().apps, app_page)
    catalog("dialects", DIALECTS, dialect_page)
    catalog("recipes", RECIPES, recipe_page)
    config = {
        "INHERIT": "../mkdocs.yml",
        "docs_dir": "docs",
        "site_dir": "../site",
        "nav": order(),
    }
    (BUILD / "mkdocs.yml").write_bytes(msgspec.yaml.encode(config))
    print(f"{sum(1 for _ in PAGES.rglob('*.md'))} pages in {PAGES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
