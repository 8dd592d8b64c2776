"""How a phone task is written: a function from a world to a goal, checks and a golden solution.

    @template("star_a_contact", apps=("contacts",))
    def star_a_contact(w: WorldView) -> Draft:
        person = w.pick(w.state(contacts.State).people, lambda p: not p.favourite)
        return Draft(
            goal=f"Mark {person.name} as a favourite contact.",
            checks=(Changed(app="contacts", table="people", ids=(person.id,),
                            to={"favourite": True}, says=f"{person.name} is a favourite"),),
            golden=(call(contacts.favourite, person=person.id, on=True),),
        )

The goal names what a user wants, no widget, tool or field. Golden solution and checks are written
from the goal, not from each other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from screenloop.actions import Action, Tool
from screenloop.criteria import Check
from screenloop.errors import ConfigError, TaskError
from screenloop.phone.declare.app import AppAction as AppAction
from screenloop.phone.declare.app import Query, source_of
from screenloop.phone.declare.cast import Cast, cast
from screenloop.phone.declare.document import Doc
from screenloop.phone.declare.state import AppState, Record
from screenloop.phone.device.boot import initial_doc, patched
from screenloop.types import Budget, EnvRef, Goal, Struct, Task, World

S = TypeVar("S", bound=AppState)
R = TypeVar("R", bound=Record)
T = TypeVar("T")

WORLD = "default"
SIZE_PX = (412, 915)
ALLOWED = (
    "os.notifications",
    "os.timers",
    "os.clipboard",
    "os.permissions",
    "messages.*.unread",
    "notes.sort",
    "notes.grid",
    "notes.notes.edited_s",
    "wallet.hide_balance",
)
"""Side effects that using a phone normally has: what is read, how lists are shown, when saved."""


class Draft(Struct, frozen=True, kw_only=True):
    """What a template makes from a world."""

    goal: str
    checks: tuple[Check, ...]
    golden: tuple[Action, ...]
    params: dict[str, Any] = {}
    allowed: tuple[str, ...] = ()
    """Further side effects that are fine for this task."""
    patches: tuple[dict[str, Any], ...] = ()
    """Changes to the world before the task starts; see `phone.boot.patched`."""
    lang: str = "en"


class WorldView:
    """The world that a task will start in, to read and to draw from."""

    def __init__(self, name: str, seed: int) -> None:
        self.seed = seed
        self.doc: Doc = initial_doc(WORLD, seed)
        self.cast: Cast = cast(WORLD, seed)
        self.rng = random.Random(f"phone-core/{name}/{seed}")

    def state(self, state: type[S]) -> S:
        """Return an app's state at the start, to read."""
        return state(self.doc.apps[state.app_id].data, self.cast)

    def with_patches(self, patches: tuple[dict[str, Any], ...]) -> None:
        """Look at the world as it is with patches applied."""
        self.doc = patched(self.doc, patches)

    def pick(self, rows: Iterable[T], fits: Callable[[T], bool] = lambda row: True) -> T:
        """Return one of the rows that fit.

        Raises:
            TaskError: none does; the template must patch the world or ask for less.
        """
        found = [row for row in rows if fits(row)]
        if not found:
            raise TaskError(f"no row fits in world seed {self.seed}")
        return self.rng.choice(found)

    def sample(
        self, rows: Iterable[T], count: int, fits: Callable[[T], bool] = lambda row: True
    ) -> list[T]:
        """Return `count` different rows that fit."""
        found = [row for row in rows if fits(row)]
        if len(found) < count:
            raise TaskError(f"only {len(found)} of {count} rows fit in world seed {self.seed}")
        return self.rng.sample(found, count)


def call(action: AppAction[Any], **args: Any) -> Tool:
    """Return the golden step that calls an app's action as a tool."""
    return Tool(name=action.tool_name, args=args)


def look(query: Query, **args: Any) -> Tool:
    """Return the golden step that looks something up; the query must say where it `shows`."""
    return Tool(name=query.tool_name, args=args)


class Template(Struct, frozen=True, kw_only=True):
    """One task template."""

    name: str
    apps: tuple[str, ...]
    domain: str
    make: Callable[[WorldView], Draft]
    where: str
    version: int = 1
    suite: str = "phone-core"

    @property
    def task_id(self) -> str:
        """`<suite>/<name>@<version>`."""
        return f"{self.suite}/{self.name}@{self.version}"


class Pack:
    """The templates of one file; a pack of another package names the suite that it is part of."""

    def __init__(self, domain: str, suite: str = "phone-core") -> None:
        self.domain = domain
        self.suite = suite
        self.templates: dict[str, Template] = {}

    def template(
        self, name: str, *, apps: tuple[str, ...], version: int = 1
    ) -> Callable[[Callable[[WorldView], Draft]], Template]:
        """Declare a template; `apps` are all apps it needs, the main one first."""

        def declare(make: Callable[[WorldView], Draft]) -> Template:
            if name in self.templates:
                raise ConfigError(f"{source_of(make)}: template {name!r} is declared twice")
            template = Template(
                name=name,
                apps=apps,
                domain=self.domain,
                make=make,
                where=source_of(make),
                version=version,
                suite=self.suite,
            )
            self.templates[name] = template
            return template

        return declare


def build(template: Template, seed: int, optimal_steps: int | None) -> Task:
    """Return the Task that a template makes from a seed.

    Raises:
        TaskError: the template is broken; names file, line and reason.
    """
    try:
        draft = template.make(WorldView(template.name, seed))
    except (TaskError, KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise TaskError(f"{template.where}: {template.task_id}#{seed}: {error}") from error
    budget = Budget(steps=max(15, 3 * (optimal_steps or 10)))
    task = Task(
        id=template.task_id,
        seed=seed,
        env=EnvRef(kind="phone", size_px=SIZE_PX),
        world=World(name=WORLD, seed=seed, patches=draft.patches),
        goal=Goal(text=draft.goal, lang=draft.lang),
        params=draft.params,
        checks=draft.checks,
        allowed=(*ALLOWED, *draft.allowed),
        golden=draft.golden,
        tags={
            "domain": template.domain,
            "apps": "+".join(template.apps),
            "difficulty": difficulty(optimal_steps),
        },
        budget=budget,
        optimal_steps=optimal_steps,
    )
    try:
        return msgspec.json.decode(msgspec.json.encode(task), type=Task)
    except msgspec.ValidationError as error:
        raise TaskError(f"{template.where}: {template.task_id}#{seed}: {error}") from error


def difficulty(optimal_steps: int | None) -> str:
    """Return the class of a shortest path: up to 4 steps easy, up to 9 medium, else hard."""
    if optimal_steps is None:
        return "unknown"
    return "easy" if optimal_steps <= 4 else "medium" if optimal_steps <= 9 else "hard"
