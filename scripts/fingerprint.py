"""What this checkout does, as hashes: `{key: hash}`, the same for checkouts that behave alike.

    PYTHONPATH=src python scripts/fingerprint.py --out here.json
    PYTHONPATH=src python scripts/fingerprint.py --parts apps,pages

`equivalence.py` runs it in two checkouts and compares. It knows one checkout only, and that through
few names: what a key stands for must stay when modules move. Hashes of configurations are left out
on purpose, as they contain the version of the package. Needs what `make test` installs.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image

import screenloop
from screenloop.actions import Action, Answer, Finish, Tap
from screenloop.agent.dialects import DIALECTS
from screenloop.agent.dialects.base import Dialect
from screenloop.agent.harness import Harness, renderer, wants_of
from screenloop.envs.kinds import Environments
from screenloop.envs.phone import tree_of
from screenloop.errors import ConfigError
from screenloop.manager.direct import DirectManager
from screenloop.messages import ChatRequest, Message, Reply, TextPart
from screenloop.models.oracle import OracleModel
from screenloop.models.wire import request_body
from screenloop.phone.commands import key_of
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import business_data, business_hash, state_hash
from screenloop.phone.device.boot import initial_doc, installed, new_device, patched
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.phone.prove.replay import replay
from screenloop.phone.show.render import STYLE, body_html, paint, shared_native
from screenloop.registry import find
from screenloop.rollout.context import Attempt, RunContext
from screenloop.rollout.episode import run_episode
from screenloop.rollout.plans import golden_plan, prepare_for
from screenloop.store.blobs import BlobStore, MemoryBlobs
from screenloop.store.episodes import EpisodeWriter
from screenloop.suites.catalog import SUITES, find_suite
from screenloop.train.recipes import RECIPES, find_recipe
from screenloop.types import Claim, Evidence, Mode, Start, Task, Want
from screenloop.verify.judge import judge
from screenloop.verify.mutants import mutants

ROOT = Path(__file__).resolve().parent.parent
WORLD = "default"
WORLD_SEEDS = range(10)
TASK_SEEDS = (0, 1)
LOOKS: dict[str, dict[str, Any]] = {
    "en-light": {},
    "zh-dark": {"language": "zh", "dark": True},
}
SAMPLE = 12
"""Tasks that are played in every dialect; the first of `DIALECTS` plays all."""
WEB_SAMPLE = 20
DEADLINE_S = 120.0
VOLATILE = frozenset({"took_s", "took_ms", "seconds", "started_at", "state_hash", "scene_hash"})
"""Fields of an episode's records that time changes, or that part `seeds` covers."""


class Book:
    """Keys and what they stand for."""

    def __init__(self) -> None:
        self.found: dict[str, str | int] = {}

    def put(self, key: str, value: object) -> None:
        """Take the hash of a value."""
        self._take(key, short(value))

    def count(self, key: str, number: int) -> None:
        """Take a plain number."""
        self._take(key, number)

    def _take(self, key: str, value: str | int) -> None:
        if key in self.found:
            raise SystemExit(f"two things have the key {key!r}: the probe is wrong")
        self.found[key] = value


def short(value: object) -> str:
    """Return a hash of a value's JSON; the order of fields, keys and sets is no difference."""
    data = value if isinstance(value, bytes) else msgspec.json.encode(value, order="sorted")
    return hashlib.sha256(data).hexdigest()[:16]


# ---- apps, seeds, flows ----------------------------------------------------------------------


def apps(book: Book) -> None:
    """Each app's declaration: tools, pages, flows, state."""
    book.put("app", list(installed()))
    for app in installed().values():
        looks = [app.title, app.icon, app.tint, app.dock, app.share_path]
        book.put(f"app/{app.id}", [looks, [tool.name for tool in app.tools()]])
        book.put(f"app/{app.id}/flows", [flow.name for flow in app.flows])
        for number, (template, route) in enumerate(app.routes.items()):
            book.put(f"route/{app.id}{template}", [number, template, route.slots])
        for name, action in app.actions.items():
            facts = [action.tool, action.signature.schema(), action.writes, bool(action.check)]
            book.put(f"tool/{app.id}/{name}", [action.tool_name, *facts])
        for name, query in app.queries.items():
            facts = [query.tool, query.signature.schema(), query.shows]
            book.put(f"tool/{app.id}/{name}", [query.tool_name, *facts])
        state = app.state
        for name, table in {**state.tables, **state.catalogs}.items():
            fields = [(f.encode_name, f.required) for f in msgspec.structs.fields(table.row)]
            book.put(f"table/{app.id}/{name}", [table.prefix, name in state.catalogs, fields])
        book.put(f"table/{app.id}", state.scalars)


def seeds(book: Book) -> None:
    """The first state of ten worlds; rows and their order. A language is no matter of a world."""
    for seed in WORLD_SEEDS:
        doc, people = initial_doc(WORLD, seed), cast(WORLD, seed)
        book.put(f"seed/{WORLD}/{seed}", [state_hash(doc), business_hash(doc)])
        for app_id, data in business_data(doc).items():
            orders = {n: list(rows) for n, rows in data.items() if isinstance(rows, dict)}
            book.put(f"seed/{WORLD}/{seed}/{app_id}", [data, orders])
            state = installed()[app_id].state
            for name in state.catalogs:
                rows = people.catalog(state, name)
                book.put(f"catalog/{WORLD}/{seed}/{app_id}.{name}", [rows, list(rows)])


def flows(book: Book) -> None:
    """Each flow's states and effects step by step, and the actions that its replay runs."""
    for app in installed().values():
        for flow in app.flows:
            device = new_device()
            device.open(app.id)
            trail: list[object] = []
            for step in flow.steps:
                device.begin()
                effect = run_step(device, step)
                rows = device.end()
                trail.append([effect, rows, business_hash(device.doc), device.screen.route])
            book.put(f"flow/{app.id}/{flow.name}", trail)
            report = replay(app, flow)
            book.put(f"replay/{app.id}/{flow.name}", [report.beats, report.failures])


# ---- pages -----------------------------------------------------------------------------------


def walked() -> Iterator[Device]:
    """Yield a phone in each state of each flow, and after each kind of touch of each page."""
    tried: set[tuple[str, str]] = set()
    home = new_device()
    yield from around(home, tried)
    for app in installed().values():
        for flow in app.flows:
            device = home.fork()
            device.open(app.id)
            yield from around(device, tried)
            for step in flow.steps:
                device.begin()
                run_step(device, step)
                device.end()
                yield from around(device, tried)


def around(device: Device, tried: set[tuple[str, str]]) -> Iterator[Device]:
    """Yield the phone itself, then around each touch that was not tried on such a page."""
    yield device
    route = device.screen.route
    for node in device.screen.nodes:
        for do in (node.do, node.long):
            if do is None or node.role == "key" or (route, key_of(do)) in tried:
                continue
            tried.add((route, key_of(do)))
            fork = device.fork()
            fork.begin()
            fork.perform(do)
            fork.end()
            yield from around(fork, tried)


def pages(book: Book) -> None:
    """Every page in each look: document, pixels and tree once; all states on the way by hashes."""
    states = 0
    for look, switches in LOOKS.items():
        patches = tuple(
            {"app": "os", "op": "set", "field": name, "value": value}
            for name, value in switches.items()
        )
        trails: dict[str, list[str]] = {}
        for device in walked():
            states += 1
            screen = Device(device.apps, patched(device.doc, patches)).painted()
            document = STYLE + body_html(screen)
            tree = tree_of(screen)
            trails.setdefault(screen.route, []).append(short([document, tree, screen.images]))
            dialog = any(node.role == "dialog" and node.do is not None for node in screen.nodes)
            kind = f"{look}/{screen.route}{' dialog' * dialog}{' typing' * bool(device.doc.focus)}"
            if f"page/{kind}/html" not in book.found:
                book.put(f"page/{kind}/html", document)
                book.put(f"page/{kind}/tree", tree)
                book.put(f"page/{kind}/pixels", paint(shared_native(), screen).rgba)
        for route, trail in trails.items():
            book.put(f"walk/{look}/{route}", trail)
    book.count("count/states walked", states)


# ---- suites ----------------------------------------------------------------------------------


def suites(book: Book) -> None:
    """Every task of every suite for two seeds, and the tasks of the training recipes."""
    for name in SUITES:
        suite = find_suite(name)
        book.put(f"suite/{name}", [suite.name, suite.version, suite.env_kind, suite.names()])
        for task in tasks_of(name):
            rest: dict[str, Any] = msgspec.to_builtins(task)
            for part in ("goal", "checks", "golden"):
                book.put(f"task/{task.key}/{part}", rest.pop(part, None))
            book.put(f"task/{task.key}/rest", rest)
    for name in RECIPES:
        recipe = find_recipe(name)
        how = [recipe.settings, recipe.dialect, recipe.window, recipe.want, recipe.modes]
        book.put(f"recipe/{name}", how)
        sets = recipe.tasks()
        for part in sets.__struct_fields__:
            tasks = getattr(sets, part)
            book.put(f"recipe/{name}/{part}", tasks)
            book.count(f"count/recipe/{name}/{part}", len(tasks))


def tasks_of(suite_name: str, seeds_: Sequence[int] = TASK_SEEDS) -> Iterator[Task]:
    """Yield the tasks of a suite, template by template."""
    suite = find_suite(suite_name)
    for name in suite.names():
        for seed in seeds_:
            yield suite.task(name, seed)


# ---- goldens ---------------------------------------------------------------------------------


async def goldens(book: Book) -> None:
    """The Verdict at the start and after the golden solution by tools, and on wrong endings."""
    made = killed = 0
    environments = Environments(MemoryBlobs(), want=())
    for task in (task for name in SUITES for task in tasks_of(name) if task.golden):
        env = await environments.open(task.env)
        mode: Mode = "hybrid" if "tool" in env.spec.actions else "gui_only"
        await env.reset(Start(task=task, mode=mode), deadline_s=DEADLINE_S)
        first = await env.evidence(deadline_s=DEADLINE_S)
        book.put(f"golden/{task.key}/start", judge(task, first, Claim()))
        claim, effects = Claim(), []
        for number, action in enumerate(await golden_plan(task, mode)):
            if isinstance(action, Answer):
                claim = Claim(answer=action.text)
            elif isinstance(action, Finish):
                claim = Claim(answer=claim.answer, finish=action)
            else:
                done = await env.step(action, action_id=f"{number}", deadline_s=DEADLINE_S)
                effects.append([action, scrubbed(msgspec.to_builtins(done.effect))])
        evidence = await env.evidence(deadline_s=DEADLINE_S)
        await env.close()
        verdict = judge(task, evidence, claim)
        book.put(f"golden/{task.key}", [verdict, effects, evidence.diff])
        names = list(rejected(task, evidence, claim))
        book.put(f"mutants/{task.key}", names)
        made, killed = made + len(names), killed + sum(right for _, right in names)
    await environments.close()
    book.count("count/mutants", made)
    book.count("count/mutants killed", killed)


def rejected(task: Task, evidence: Evidence, claim: Claim) -> Iterator[tuple[str, bool]]:
    """Yield each wrong ending and whether the verifier rejects it."""
    for mutant in mutants(task, evidence, claim):
        yield mutant.name, not judge(task, mutant.evidence, mutant.claim).success


# ---- requests --------------------------------------------------------------------------------


class WatchedModel:
    """The oracle, with each request hashed on its way: whole, and as the bytes a server gets."""

    def __init__(self, oracle: OracleModel, blobs: BlobStore, *, stumbles: bool) -> None:
        self.name = "watched"
        self.asked: list[str] = []
        self.sent: list[str] = []
        self._oracle = oracle
        self._blobs = blobs
        self._stumbles = stumbles

    def writes(self, call_id: str, render: Callable[[Action], str]) -> None:
        """Pass on what writes an Action in the dialect."""
        self._oracle.writes(call_id, render)

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Hash the request and let the oracle answer; one that stumbles begins with nonsense."""
        body = msgspec.to_builtins(request)
        body["messages"] = [[m.role, *self._parts(m)] for m in request.messages]
        self.asked.append(short(body))
        self.sent.append(short(request_body(request, "m", self._blobs, token_facts=False)))
        if self._stumbles and len(self.asked) == 1:
            return Reply(text="I would rather not say.")
        return await self._oracle.complete(request, deadline_s=deadline_s)

    def _parts(self, message: Message) -> Iterator[object]:
        for part in message.parts:
            if isinstance(part, TextPart):
                yield part.text
            else:
                yield [short(self._blobs.get(part.key)), part.mime, part.size_px]

    async def preflight(self) -> None:
        """Always there."""

    async def close(self) -> None:
        """Holds nothing."""


class Theatre:
    """Plays tasks in one dialect by the one rollout path."""

    def __init__(self, book: Book, name: str, blobs: BlobStore, manager: DirectManager) -> None:
        self.book = book
        self.name = name
        self.blobs = blobs
        self.manager = manager
        self.dialect: Dialect = find("dialect", name, DIALECTS)()
        self.plans: dict[tuple[str, Mode], tuple[Action, ...]] = {}

    async def play(self, task: Task, mode: Mode, folder: Path, *, stumbles: bool = False) -> None:
        """Play a task and note its requests, the records of the episode, and a refusal."""
        label = f"{self.name}/{'stumbling' if stumbles else mode}/{task.key}"
        spec = await self.manager.spec(task.env)
        image = self.dialect.image
        oracle = OracleModel(renderer(self.dialect, spec, mode, image))
        model = WatchedModel(oracle, self.blobs, stumbles=stumbles)

        async def plan(task: Task, mode: Mode) -> tuple[Action, ...]:
            solution = await planned(task, mode)
            return (Tap(at=(0.5, 0.03)), *solution) if stumbles else solution

        setting = RunContext(
            manager=self.manager, prepare=prepare_for(oracle, plan), want=wants_of(self.dialect)
        )
        attempt = Attempt(
            episode_id="episode", run_id="run", task=task, seed=7, mode=mode, budget=task.budget
        )
        agent = Harness(model, self.blobs, dialect=self.dialect, image=image)
        file = folder / "episode.jsonl"
        writer, refusal = EpisodeWriter(file), ""
        try:
            await run_episode(attempt, agent, setting, writer)
        except ConfigError as error:  # the dialect cannot write an action, or call tools
            refusal = str(error)
        finally:
            writer.close()
        for number, request in enumerate(model.asked):
            self.book.put(f"request/{label}/{number}", request)
        self.book.put(f"sent/{label}", model.sent)
        records = [scrubbed(json.loads(line)) for line in file.read_bytes().splitlines()]
        self.book.put(f"record/{label}", [records, refusal])


_PLANS: dict[tuple[str, Mode], tuple[Action, ...]] = {}


async def planned(task: Task, mode: Mode) -> tuple[Action, ...]:
    """Return the golden plan, worked out once for all dialects: it is what costs most."""
    if (task.key, mode) not in _PLANS:
        _PLANS[task.key, mode] = await golden_plan(task, mode)
    return _PLANS[task.key, mode]


def scrubbed(value: Any) -> Any:
    """Return JSON without what time changes."""
    if isinstance(value, dict):
        return {name: scrubbed(part) for name, part in value.items() if name not in VOLATILE}
    return [scrubbed(part) for part in value] if isinstance(value, list) else value


@asynccontextmanager
async def theatre(book: Book, name: str) -> AsyncIterator[Theatre]:
    """Open what plays in one dialect; frames of earlier dialects are let go."""
    blobs = MemoryBlobs()
    want: tuple[Want, ...] = wants_of(find("dialect", name, DIALECTS)())
    environments = Environments(blobs, want=want)
    manager = DirectManager(environments.open)
    try:
        yield Theatre(book, name, blobs, manager)
    finally:
        await manager.close()
        await environments.close()


async def requests(book: Book) -> None:
    """What models are asked: all golden solutions in one dialect, a sample in every one."""
    tasks = [task for name in SUITES for task in tasks_of(name, (0,)) if task.golden]
    sample = tasks[:: max(1, len(tasks) // SAMPLE)]
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(DIALECTS):
            async with theatre(book, name) as stage:
                for mode in ("gui_only", "hybrid"):
                    for task in tasks if number == 0 else sample:
                        await stage.play(task, mode, Path(folder))
                for task in sample:
                    await stage.play(task, "gui_only", Path(folder), stumbles=True)


# ---- web -------------------------------------------------------------------------------------


async def web(book: Book) -> None:
    """Pages of MiniWoB++ in a real browser: goal, tree and pixels after the reset."""
    blobs = MemoryBlobs()
    environments = Environments(blobs, want=("frame", "tree", "text"))
    tasks = list(tasks_of("miniwob", (0,)))
    for task in tasks[:: len(tasks) // WEB_SAMPLE]:
        env = await environments.open(task.env)
        seen = await env.reset(Start(task=task), deadline_s=DEADLINE_S)
        book.put(f"web/{task.key}/goal", [seen.goal, seen.app, seen.size_px])
        for name, key in (("tree", seen.tree), ("text", seen.text)):
            book.put(f"web/{task.key}/{name}", key and blobs.get(key))
        if seen.frame is not None:
            with Image.open(BytesIO(blobs.get(seen.frame))) as picture:
                book.put(f"web/{task.key}/pixels", picture.convert("RGB").tobytes())
        await env.close()
    await environments.close()


PARTS: dict[str, Callable[[Book], Awaitable[None] | None]] = {
    "apps": apps,
    "seeds": seeds,
    "flows": flows,
    "pages": pages,
    "suites": suites,
    "goldens": goldens,
    "requests": requests,
    "web": web,
}
DEFAULT = [name for name in PARTS if name != "web"]


def main() -> None:
    """Read the command line and write the hashes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--parts", default=",".join(DEFAULT), help=f"of {','.join(PARTS)}; default %(default)s"
    )
    parser.add_argument("--out", type=Path, help="file to write; default the standard output")
    parser.add_argument("--label", default="", help="word before each line about progress")
    given = parser.parse_args()
    names = given.parts.split(",")
    if wrong := [name for name in names if name not in PARTS]:
        parser.error(f"no part {wrong[0]!r}; the parts are {', '.join(PARTS)}")
    if not Path(screenloop.__file__).resolve().is_relative_to(ROOT):
        parser.error(f"the package imported is not this checkout's; set PYTHONPATH={ROOT / 'src'}")
    book = Book()
    for name in names:
        known, wall_s, cpu_s = len(book.found), time.monotonic(), time.process_time()
        waiting = PARTS[name](book)
        if waiting is not None:
            asyncio.run(_finished(waiting))
        wall_s, cpu_s = time.monotonic() - wall_s, time.process_time() - cpu_s
        line = f"{len(book.found) - known:6} keys {wall_s:7.1f} s (CPU {cpu_s:.1f} s)"
        print(f"{given.label:8}{name:10}{line}", file=sys.stderr, flush=True)
    text = json.dumps(book.found, indent=0, sort_keys=True) + "\n"
    if given.out:
        given.out.write_text(text)
    else:
        sys.stdout.write(text)


async def _finished(waiting: Awaitable[None]) -> None:
    await waiting


if __name__ == "__main__":
    main()
