"""How a phone task is written: a function from a world to a goal, checks and a golden solution.

    @template("star_a_contact", apps=("contacts",))
    def star_a_contact(w: WorldView) -> Draft:
        person = w.pick(w.state(contacts.State).people, lambda p: not p.favourite)
        return Draft(
            goal=f"Mark {person.name} as a favourite contact.",
            checks=(changed("contacts.people", person.id, f"{person.name} is a favourite",
                            favourite=True),),
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
from screenloop.criteria import Added, Changed, Check, Count, Expected, Removed, Value
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

    def one_of(self, *options: T) -> T:
        """Return one of the options."""
        return self.rng.choice(options)

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


# ---- checks and patches of one row, by `app.table` ----------------------------------------------


def added(
    table: str, says: str, /, *, weight: float | None = None, count: int = 1, **where: Expected
) -> Added:
    """Return the check that rows with these fields were added."""
    app, table = table.split(".")
    return Added(app=app, table=table, where=where, says=says, count=count, **_weight(weight))


def removed(
    table: str, says: str, /, *, weight: float | None = None, count: int = 1, **where: Expected
) -> Removed:
    """Return the check that rows with these fields were removed."""
    app, table = table.split(".")
    return Removed(app=app, table=table, where=where, says=says, count=count, **_weight(weight))


def changed(
    table: str,
    ids: str | Iterable[str],
    says: str,
    /,
    *,
    weight: float | None = None,
    **to: Expected,
) -> Changed:
    """Return the check that a row, or each of several, has these fields now."""
    app, table = table.split(".")
    rows = (ids,) if isinstance(ids, str) else tuple(ids)
    return Changed(app=app, table=table, ids=rows, to=to, says=says, **_weight(weight))


def value_is(field: str, says: str, to: Expected, /, *, weight: float | None = None) -> Value:
    """Return the check that a field of an app's state, by `app.path`, has a value now."""
    app, _, path = field.partition(".")
    return Value(app=app, path=path, to=to, says=says, **_weight(weight))


def counted(
    table: str, says: str, equals: int, /, *, weight: float | None = None, **where: Expected
) -> Count:
    """Return the check that so many rows of a table have these fields."""
    app, table = table.split(".")
    return Count(app=app, table=table, where=where, equals=equals, says=says, **_weight(weight))


def _weight(weight: float | None) -> dict[str, Any]:
    # A default that is passed on would be written into every task file.
    return {} if weight is None else {"weight": weight}


def add_row(table: str, /, **row: Any) -> dict[str, Any]:
    """Return the patch that gives a table one more row."""
    app, table = table.split(".")
    return {"app": app, "table": table, "op": "add", "row": row}


def set_row(table: str, row_id: str, /, **fields: Any) -> dict[str, Any]:
    """Return the patch that sets fields of a row."""
    app, table = table.split(".")
    return {"app": app, "table": table, "op": "set", "id": row_id, "fields": fields}


# ---- templates ----------------------------------------------------------------------------------


class Template(Struct, frozen=True, kw_only=True):
    """One task template."""

    name: str
    apps: tuple[str, ...]
    domain: str
    make: Callable[[WorldView], Draft]
    where: str
    version: int = 1
    was: str = ""
    """Its name in version 1 of the suite, which its random draws keep to."""
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
        self, name: str, *, apps: tuple[str, ...], version: int = 1, was: str = ""
    ) -> Callable[[Callable[[WorldView], Draft]], Template]:
        """Declare a template.

        Args:
            name: what its tasks are about.
            apps: all apps it needs, the main one first.
            version: raised when its tasks change.
            was: its earlier name, if it was renamed: draws stay the same, and it is refused by
                that name with the new one named.
        """

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
                was=was,
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
        draft = template.make(WorldView(template.was or template.name, seed))
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
