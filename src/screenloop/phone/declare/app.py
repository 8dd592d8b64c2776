"""The declaration of a mocked app: state, actions, queries, pages, flows.

    app = App("notes", State, title=("Notes", "笔记"), icon="note", tint="#B7791F")

    @app.action("notes.add", tool="Write a new note", writes=["notes"])
    def add(s: State, ctx: Ctx, title: Words, body: str = "") -> None: ...

    @app.page("/n/{note}")
    def note_page(s: State, ui: Ui, note: NoteId) -> Page: ...

    app.flow("write a note", at("/"), tap("New note"), enter("title", "Milk"), tap(add))

Calling an action or a page binds it: `add(title="Milk")` is what a button does.
A declaration is checked when it is made; what is wrong is named with file and line.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, get_type_hints

import msgspec

from screenloop.errors import ConfigError
from screenloop.phone.commands import Call, Go
from screenloop.phone.declare.context import Ctx
from screenloop.phone.declare.flow_steps import FlowStep
from screenloop.phone.declare.state import AppState
from screenloop.phone.declare.view import Title, Ui
from screenloop.phone.draw.page import Page, Sheet
from screenloop.types import ToolSpec

P = ParamSpec("P")
S = TypeVar("S", bound=AppState)

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")


class _Signature:
    """The arguments of an action, query or page after its two leading parameters."""

    def __init__(self, function: Callable[..., Any], where: str) -> None:
        hints = get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters.values())[2:]
        self.names = tuple(p.name for p in parameters)
        self.types = {}
        fields: list[Any] = []
        for p in parameters:
            if p.name not in hints:
                raise ConfigError(f"{where}: parameter {p.name!r} has no type")
            self.types[p.name] = hints[p.name]
            default = () if p.default is p.empty else (p.default,)
            fields.append((p.name, hints[p.name], *default))
        self.struct = msgspec.defstruct(
            "Args", fields, kw_only=True, frozen=True, forbid_unknown_fields=True
        )
        self.required = {p.name for p in parameters if p.default is p.empty}

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return positional and keyword arguments by name."""
        return {**dict(zip(self.names, args, strict=False)), **kwargs}

    def convert(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return checked arguments with defaults filled in.

        Raises:
            msgspec.ValidationError: one is missing, unknown or of the wrong type.
        """
        return msgspec.structs.asdict(msgspec.convert(args, self.struct))

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        _, defs = msgspec.json.schema_components([self.struct])
        found = defs["Args"]
        return {
            "type": "object",
            "properties": found["properties"],
            "required": sorted(self.required),
            "additionalProperties": False,
        }


def source_of(function: Callable[..., Any]) -> str:
    """Return `file:line` of a function, for messages."""
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


class _ToolFunction:
    """A function of an app that agents may call as a tool."""

    def __init__(self, app: str, name: str, run: Callable[..., Any], tool: str | bool) -> None:
        self.app = app
        self.name = name
        self.run = run
        self.where = source_of(run)
        doc = inspect.getdoc(run) or ""
        if tool is True and not doc:
            raise ConfigError(
                f"{self.where}: {name!r} has no docstring to tell agents what it does"
            )
        self.tool = tool if isinstance(tool, str) else doc if tool else ""
        self.signature = _Signature(run, self.where)

    @property
    def tool_name(self) -> str:
        """The name that agents call: `<app>.<action>`."""
        return f"{self.app}.{self.name}"


class AppAction(_ToolFunction, Generic[P]):
    """A reducer of one app: the only way to change its data."""

    writes: frozenset[str] = frozenset()
    check: Callable[[Any, Any, Any], bool] | None = None

    @property
    def target(self) -> str:
        """What a step of a flow names."""
        return self.tool_name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Call:
        """Bind the arguments."""
        return Call(app=self.app, action=self.name, args=self.signature.bind(args, kwargs))


class Query(_ToolFunction):
    """A structured look-up of one app, offered as a tool; reads only."""

    shows: str = ""

    def shown(self, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the page's path and its values where a person sees the answer.

        Raises:
            ConfigError: the query does not say where.
        """
        if not self.shows:
            raise ConfigError(f"{self.where}: query {self.tool_name} has no shows= page")
        slots = set(re.findall(r"\{(\w+)\}", self.shows))
        values = {name: value for name, value in args.items() if name not in slots}
        return self.shows.format(**args), values


class Route(Generic[P]):
    """A page of an app by its path template, e.g. `/p/{person}`."""

    def __init__(self, app: str, template: str, view: Callable[..., Page | Sheet]) -> None:
        self.app = app
        self.template = template
        self.view = view
        self.where = source_of(view)
        self.signature = _Signature(view, self.where)
        self.slots = tuple(re.findall(r"\{(\w+)\}", template))
        if set(self.slots) != set(self.signature.names):
            raise ConfigError(
                f"{self.where}: page {template!r} has slots {list(self.slots)} but its function "
                f"takes {list(self.signature.names)}; they must be the same"
            )
        self._pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template) + "$")

    @property
    def target(self) -> str:
        """What a step of a flow names."""
        return f"{self.app}{self.template}"

    def match(self, path: str) -> dict[str, str] | None:
        """Return the slot values of a path of this route, or `None`."""
        found = self._pattern.match(path)
        return found.groupdict() if found else None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Go:
        """Bind the slots: where a link leads."""
        return Go(app=self.app, path=self.path(**self.signature.bind(args, kwargs)))

    def path(self, **slots: Any) -> str:
        """Return the concrete path.

        Raises:
            ConfigError: a slot is empty or holds a slash, so that no page would match.
        """
        for name, value in slots.items():
            if not str(value) or "/" in str(value):
                raise ConfigError(
                    f"{self.where}: page {self.template!r} cannot be opened with {name}={value!r}"
                )
        return self.template.format(**slots)


class Flow(msgspec.Struct, frozen=True, kw_only=True):
    """A reference walk through an app: run by taps, then by tools, with equal outcome."""

    name: str
    steps: tuple[FlowStep, ...]
    where: str


class App(Generic[S]):
    """One mocked app: its declaration, and look-up of its parts by name."""

    def __init__(
        self, app_id: str, state: type[S], *, title: Title, icon: str, tint: str, dock: bool = False
    ) -> None:
        if not _NAME.fullmatch(app_id) or "." in app_id:
            raise ConfigError(f"app id {app_id!r} must be lower-case letters, digits and _")
        self.id = app_id
        self.state = state
        self.title = title
        self.icon = icon
        self.tint = tint
        self.dock = dock
        self.actions: dict[str, AppAction[Any]] = {}
        self.queries: dict[str, Query] = {}
        self.routes: dict[str, Route[Any]] = {}
        self.flows: list[Flow] = []
        self.share_path = ""
        """Path template with `{text}` or `{image}` slots: where shared things go."""
        state.app_id = app_id

    def action(
        self,
        name: str,
        *,
        tool: str | bool = "",
        writes: list[str],
        check: Callable[[Any, Any, Any], bool] | None = None,
    ) -> Callable[[Callable[Concatenate[S, Ctx, P], None]], AppAction[P]]:
        """Declare a reducer.

        Args:
            name: dotted, unique in the app.
            tool: one sentence for agents, `True` for the function's docstring; empty keeps it
                from being a tool.
            writes: fields it may write: `table`, `scalar`, or `app.table` of another app.
            check: `(before, after, args) -> bool`, what must hold after it ran.
        """

        def declare(run: Callable[Concatenate[S, Ctx, P], None]) -> AppAction[P]:
            where = source_of(run)
            self._claim(name, where)
            own = {*self.state.tables, *self.state.scalars}
            for field in writes:
                if "." not in field and field not in own:
                    raise ConfigError(
                        f"{where}: action {name!r} writes {field!r}, but the state has only "
                        f"{sorted(own)}"
                    )
            action: AppAction[P] = AppAction(self.id, name, run, tool)
            action.writes, action.check = frozenset(writes), check
            self.actions[name] = action
            return action

        return declare

    def query(
        self, name: str, *, tool: str | bool = True, shows: str = ""
    ) -> Callable[[Callable[..., Any]], Query]:
        """Declare a look-up tool: `(s, ctx, ...) -> JSON value`.

        Args:
            name: dotted, unique in the app.
            tool: one sentence for agents, by default the function's docstring.
            shows: path template of the page where a person sees the same, filled with the
                arguments; the others are values of that page (the text in its search field).
                Golden solutions that look something up need it.
        """

        def declare(run: Callable[..., Any]) -> Query:
            self._claim(name, source_of(run))
            self.queries[name] = query = Query(self.id, name, run, tool)
            query.shows = shows
            return query

        return declare

    def page(
        self, template: str
    ) -> Callable[[Callable[Concatenate[S, Ui, P], Page | Sheet]], Route[P]]:
        """Declare a page by its path; `{slots}` are the function's arguments, all text."""

        def declare(view: Callable[Concatenate[S, Ui, P], Page | Sheet]) -> Route[P]:
            if template in self.routes:
                raise ConfigError(f"{source_of(view)}: page {template!r} is declared twice")
            route: Route[P] = Route(self.id, template, view)
            self.routes[template] = route
            return route

        return declare

    def flow(self, name: str, *steps: FlowStep) -> None:
        """Declare a reference walk that starts at the app's first page."""
        # Not inspect.stack(): that reads the sources of every loaded module.
        caller = sys._getframe(1)
        where = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        self.flows.append(Flow(name=name, steps=steps, where=where))

    def accepts_shared(self, route: Route[Any]) -> None:
        """Offer a page in the share sheet; its slots are `text` and/or `image`."""
        self.share_path = route.template

    def resolve(self, path: str) -> tuple[Route[Any], dict[str, str]]:
        """Return the route and slot values of a path.

        Raises:
            ConfigError: no page of this app has such a path.
        """
        for route in self.routes.values():
            slots = route.match(path)
            if slots is not None:
                return route, slots
        raise ConfigError(
            f"app {self.id!r} has no page {path!r}; its pages are {', '.join(self.routes)}"
        )

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools that agents may call while the app is in front."""
        offered: list[AppAction[Any] | Query] = [a for a in self.actions.values() if a.tool]
        offered += self.queries.values()
        return tuple(
            ToolSpec(name=part.tool_name, description=part.tool, parameters=part.signature.schema())
            for part in sorted(offered, key=lambda part: part.name)
        )

    def _claim(self, name: str, where: str) -> None:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{where}: name {name!r} must look like `table.verb`")
        if name in self.actions or name in self.queries:
            raise ConfigError(f"{where}: {name!r} is declared twice in app {self.id!r}")
