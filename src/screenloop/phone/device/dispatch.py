"""The one function that changes business state: `dispatch`.

A tap, a tool call, a golden solution, a timer and the fuzzer all end here. It checks the arguments,
runs the reducer on drafts, enforces `writes`, and returns a new Doc with the rows that changed.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from screenloop.errors import EnvironmentFault
from screenloop.phone.commands import Call, Do, Go
from screenloop.phone.declare.app import App, AppAction
from screenloop.phone.declare.cast import Cast, cast
from screenloop.phone.declare.context import Ctx, Refused
from screenloop.phone.declare.document import Doc
from screenloop.phone.declare.state import AppState, NoSuchRow, diff_data
from screenloop.phone.declare.system import OS_ID, Notification, SystemState, Timer
from screenloop.types import DiffRow, Struct

S = TypeVar("S", bound=AppState)
Apps = dict[str, App[Any]]
MAX_DEPTH = 8
"""Actions that call actions, at most."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What a dispatch did."""

    doc: Doc
    ok: bool
    code: str = ""
    """`bad_args`, `no_such_row`, `refused` when not ok."""
    message: str = ""
    rows: tuple[DiffRow, ...] = ()
    navigation: tuple[Do, ...] = ()
    """Where the device goes after a person's touch."""
    toast: str = ""
    inner: tuple[str, ...] = ()
    """Actions that the action called itself, by tool name."""


class CheckFailed(EnvironmentFault):
    """Raised when an action's own `check` does not hold after it ran: the app is broken."""

    retry = False


class Transaction:
    """Drafts of the apps that one dispatch touches."""

    def __init__(self, doc: Doc, apps: Apps, *, strict: bool) -> None:
        self.doc = doc
        self.apps = apps
        self.strict = strict
        self.cast: Cast = cast(doc.world, doc.seed)
        self.navigation: list[Do] = []
        self.toast = ""
        self.ran: list[str] = []
        self.lang: str = doc.apps[OS_ID].data.fields["language"]
        self._drafts: dict[str, AppState] = {}
        self._allowed: list[frozenset[str]] = []

    def state(self, state: type[S]) -> S:
        """Return the draft of an app, writable in what the running action declared."""
        app_id = state.app_id
        draft = self._drafts.get(app_id)
        if draft is None:
            draft = state(self.doc.apps[app_id].data, self.cast, frozenset())
            self._drafts[app_id] = draft
        draft._allowed = self._names(app_id)
        assert isinstance(draft, state)
        return draft

    def _names(self, app_id: str) -> frozenset[str]:
        running = self._allowed[-1] if self._allowed else frozenset()
        return frozenset(
            name.partition(".")[2] for name in running if name.startswith(f"{app_id}.")
        )

    def run(self, call: Call) -> None:
        """Run one action on the drafts.

        Raises:
            msgspec.ValidationError: the arguments do not fit the signature.
            NoSuchRow, Refused: it cannot be done.
            EnvironmentFault: the declaration is broken.
        """
        if len(self._allowed) >= MAX_DEPTH:
            raise EnvironmentFault(f"{call.app}.{call.action}: actions call each other in circles")
        app = self.apps[call.app]
        action: AppAction[Any] = app.actions[call.action]
        self.ran.append(action.tool_name)
        args = action.signature.convert(call.args)
        self._allowed.append(frozenset(n if "." in n else f"{call.app}.{n}" for n in action.writes))
        state = self.state(app.state)
        before = type(state)(state.commit(), self.cast) if self.strict and action.check else None
        action.run(state, Ctx(self, call.app), **args)
        if before is not None and action.check is not None:
            after = type(state)(state.commit(), self.cast)
            if not action.check(before, after, SimpleNamespace(**args)):
                raise CheckFailed(
                    f"{action.where}: the check of {action.tool_name} does not hold after "
                    f"{call.args}"
                )
        self._allowed.pop()
        for draft in self._drafts.values():
            draft._allowed = self._names(draft.app_id)

    def _system(self) -> SystemState:
        """Return the system's draft, writable for the system's own bookkeeping."""
        draft = self.state(SystemState)
        draft._allowed = frozenset({"notifications", "timers"})
        return draft

    def schedule(self, due_s: int, call: Call) -> None:
        """Keep an action for later."""
        self._system().timers.add(
            Timer(due_s=due_s, app=call.app, action=call.action, args=call.args)
        )

    def notify(self, app: str, title: str, text: str, go: Go) -> None:
        """Post a notification."""
        self._system().notifications.add(
            Notification(
                app=app, title=title, text=text, path=go.path, at_s=self.doc.now_s, target=go.app
            )
        )

    def commit(self) -> tuple[Doc, tuple[DiffRow, ...]]:
        """Return the new Doc and what changed."""
        rows: list[DiffRow] = []
        parts = dict(self.doc.apps)
        for app_id, draft in self._drafts.items():
            part = parts[app_id]
            data = draft.commit()
            if data is not part.data:
                rows.extend(diff_data(app_id, part.data, data))
                parts[app_id] = replace(part, data=data)
        return replace(self.doc, apps=parts), tuple(rows)


def dispatch(doc: Doc, apps: Apps, call: Call, *, strict: bool = False) -> Outcome:
    """Run one bound action.

    Args:
        doc: the state before.
        apps: the installed apps by id.
        call: which action, with which arguments.
        strict: also hold the action's own `check` (tests, the replay of flows).

    Raises:
        EnvironmentFault: the declaration is broken (undeclared write, failed check).
    """
    if call.app not in apps or call.action not in apps[call.app].actions:
        raise EnvironmentFault(f"no action {call.app}.{call.action} is installed")
    transaction = Transaction(doc, apps, strict=strict)
    try:
        transaction.run(call)
    except msgspec.ValidationError as error:
        return Outcome(doc=doc, ok=False, code="bad_args", message=str(error))
    except NoSuchRow as error:
        return Outcome(doc=doc, ok=False, code="no_such_row", message=str(error))
    except Refused as error:
        return Outcome(doc=doc, ok=False, code="refused", message=str(error))
    after, rows = transaction.commit()
    return Outcome(
        doc=after,
        ok=True,
        rows=rows,
        navigation=tuple(transaction.navigation),
        toast=transaction.toast,
        inner=tuple(transaction.ran[1:]),
    )


def query(doc: Doc, apps: Apps, app_id: str, name: str, args: dict[str, Any]) -> Any:
    """Run a look-up and return its JSON value.

    Raises:
        msgspec.ValidationError, NoSuchRow, Refused: it cannot be answered; nothing changed anyway.
    """
    app = apps[app_id]
    look = app.queries[name]
    transaction = Transaction(doc, apps, strict=False)
    state = transaction.state(app.state)
    found = look.run(state, Ctx(transaction, app_id), **look.signature.convert(args))
    return msgspec.to_builtins(found)
