"""The state of mocked apps: tables of frozen rows, scalars, shared catalogues, drafts.

Data is persistent by convention: a write copies the table it touches and nothing else, so keeping
an old state is keeping a reference. An app declares its state as a class:

    class State(AppState):
        products = Catalog(Product, seed=make_products)   # shared by all devices, read-only
        cart = Table(Line)
        orders = Table(Order, seed=past_orders)
        sort: str = "name"

A page reads through it; an action gets a draft of it and may write what it declared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

import msgspec

from screenloop.errors import EnvironmentFault, ScreenloopError
from screenloop.types import DiffRow

if TYPE_CHECKING:
    from screenloop.phone.declare.cast import Cast

NEXT_ID = "_next"
"""Scalar of every app that holds the next row number of each table."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a table; the id is given when it is added."""

    id: str = ""


class Refers(msgspec.Struct, frozen=True):
    """Marks a row id: `PersonId = Annotated[str, Refers("contacts.people")]`."""

    table: str


R = TypeVar("R", bound=Record)
V = TypeVar("V")
S = TypeVar("S", bound="AppState")


class NoSuchRow(ScreenloopError):
    """Raised when an id names no row; an action that meets it is refused and changes nothing."""


class UndeclaredWrite(EnvironmentFault):
    """Raised when an action writes what its `writes` does not name: the app is broken."""

    retry = False


class AppData:
    """The business data of one app on one device: immutable, hashed once."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def builtins(self) -> dict[str, Any]:
        """Return the data as plain JSON values, without the row counters."""
        plain: dict[str, Any] = msgspec.to_builtins(
            {name: value for name, value in self.fields.items() if name != NEXT_ID}
        )
        return plain

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the whole data, rows in their order, counters included."""
        return hashlib.sha256(msgspec.json.encode(self.fields)).hexdigest()

    @cached_property
    def business_digest(self) -> str:
        """SHA-256 of the data with sorted keys, counters left out."""
        return hashlib.sha256(msgspec.json.encode(self.builtins(), order="sorted")).hexdigest()

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Derived values that belong to exactly this data."""
        return {}


class Table(Generic[R]):
    """Declares a table of rows; on an AppState instance it reads as `Rows`."""

    def __init__(
        self, row: type[R], *, prefix: str = "", seed: Callable[[Cast], Iterable[R]] | None = None
    ) -> None:
        self.row = row
        self.prefix = prefix
        self.seed = seed
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the table's name and, where none was given, its id prefix."""
        self.name = name
        self.prefix = self.prefix or name.rstrip("s")[:4]

    @overload
    def __get__(self, state: None, owner: type) -> Table[R]: ...
    @overload
    def __get__(self, state: AppState, owner: type) -> Rows[R]: ...
    def __get__(self, state: AppState | None, owner: type) -> Table[R] | Rows[R]:
        """Return the rows of a state, or the declaration itself."""
        return self if state is None else Rows(state, self)

    def initial(self, cast: Cast) -> dict[str, R]:
        """Return the seeded rows by id; ids are `<prefix>1`, `<prefix>2`, ..."""
        rows = self.seed(cast) if self.seed else ()
        numbered: dict[str, R] = {}
        for number, row in enumerate(rows, start=1):
            row_id = row.id or f"{self.prefix}{number}"
            numbered[row_id] = msgspec.structs.replace(row, id=row_id)
        return numbered


class Catalog(Table[R]):
    """Declares shared, read-only rows, made once for a world and kept out of the device state."""


class _Scalar(Generic[V]):
    """A single value of an AppState."""

    def __init__(self, name: str, initial: V) -> None:
        self.name = name
        self.initial = initial

    def __get__(self, state: AppState | None, owner: type) -> V | _Scalar[V]:
        if state is None:
            return self
        value: V = state.read(self.name)
        return value

    def __set__(self, state: AppState, value: V) -> None:
        state.write(self.name, value)


class AppState:
    """Base of an app's state declaration; an instance is a view on data, or a draft of it."""

    app_id: ClassVar[str] = ""
    tables: ClassVar[dict[str, Table[Any]]] = {}
    catalogs: ClassVar[dict[str, Catalog[Any]]] = {}
    scalars: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        """Collect tables, catalogues and scalars of the declaration."""
        own = {n: v for n, v in vars(cls).items() if not n.startswith("_")}
        cls.catalogs = {n: v for n, v in own.items() if isinstance(v, Catalog)}
        cls.tables = {
            n: v for n, v in own.items() if isinstance(v, Table) and n not in cls.catalogs
        }
        cls.scalars = {}
        for name in cls.__annotations__:
            if name in own:
                cls.scalars[name] = own[name]
                setattr(cls, name, _Scalar(name, own[name]))

    def __init__(self, data: AppData, cast: Cast, allowed: frozenset[str] | None = None) -> None:
        self._data = data
        self._cast = cast
        self._allowed = allowed
        self._edits: dict[str, Any] = {}

    @classmethod
    def initial(cls, cast: Cast) -> AppData:
        """Return the seeded data of this app in a world."""
        fields: dict[str, Any] = {n: t.initial(cast) for n, t in cls.tables.items()}
        counters = {n: len(rows) + 1 for n, rows in fields.items()}
        fields.update(cls.scalars)
        fields[NEXT_ID] = counters
        return AppData(fields)

    def read(self, name: str) -> Any:
        """Return a table's rows by id, or a scalar, with this draft's writes applied."""
        if name in self._edits:
            return self._edits[name]
        if name in self.catalogs:
            kept, key = self._cast.kept, (self.app_id, name)
            if key not in kept:
                kept[key] = self.catalogs[name].initial(self._cast)
            return kept[key]
        return self._data.fields[name]

    def write(self, name: str, value: Any) -> None:
        """Replace a table or a scalar in this draft.

        Raises:
            UndeclaredWrite: this is a view, a catalogue, or a field outside `writes`.
        """
        if self._allowed is None or name not in self._allowed:
            raise UndeclaredWrite(
                f"{self.app_id}: an action wrote {name!r}, which its writes="
                f"{sorted(self._allowed or ())} does not name; declare it or do not write it"
            )
        self._edits[name] = value

    def next_id(self, table: Table[Any]) -> str:
        """Return a fresh row id and count it."""
        counters = dict(self.read(NEXT_ID))
        number = counters[table.name]
        counters[table.name] = number + 1
        self._edits[NEXT_ID] = counters
        return f"{table.prefix}{number}"

    def memo(self, key: str, make: Callable[[], V]) -> V:
        """Return a value derived from exactly this data, made once; not for drafts."""
        memo = self._data.memo
        if key not in memo:
            memo[key] = make()
        value: V = memo[key]
        return value

    def commit(self) -> AppData:
        """Return the data with this draft's writes applied."""
        if not self._edits:
            return self._data
        return AppData({**self._data.fields, **self._edits})


class Rows(Generic[R]):
    """The rows of one table of one state, in the order they were added."""

    __slots__ = ("_state", "_table")

    def __init__(self, state: AppState, table: Table[R]) -> None:
        self._state = state
        self._table = table

    @property
    def _rows(self) -> dict[str, R]:
        rows: dict[str, R] = self._state.read(self._table.name)
        return rows

    def __getitem__(self, row_id: str) -> R:
        try:
            return self._rows[row_id]
        except KeyError:
            raise NoSuchRow(
                f"{self._state.app_id}.{self._table.name} has no row {row_id!r}"
            ) from None

    def get(self, row_id: str) -> R | None:
        """Return the row, or `None`."""
        return self._rows.get(row_id)

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._rows

    def __iter__(self) -> Iterator[R]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def where(self, keep: Callable[[R], bool]) -> list[R]:
        """Return the rows for which `keep` is true."""
        return [row for row in self._rows.values() if keep(row)]

    def first(self, keep: Callable[[R], bool]) -> R | None:
        """Return the first such row, or `None`."""
        return next((row for row in self._rows.values() if keep(row)), None)

    def add(self, row: R) -> R:
        """Append a row under a fresh id and return it."""
        fresh = msgspec.structs.replace(row, id=self._state.next_id(self._table))
        self._state.write(self._table.name, {**self._rows, fresh.id: fresh})
        return fresh

    def put(self, row: R) -> R:
        """Replace the row with the same id."""
        self[row.id]
        self._state.write(self._table.name, {**self._rows, row.id: row})
        return row

    def update(self, row_id: str, **fields: Any) -> R:
        """Change fields of a row and return it."""
        return self.put(msgspec.structs.replace(self[row_id], **fields))

    def remove(self, row_id: str) -> R:
        """Take a row out and return it."""
        gone = self[row_id]
        self._state.write(
            self._table.name, {i: row for i, row in self._rows.items() if i != row_id}
        )
        return gone


def diff_data(app: str, before: AppData, after: AppData) -> tuple[DiffRow, ...]:
    """Return what differs between two states of an app's data, tables that are shared skipped."""
    if before is after:
        return ()
    rows: list[DiffRow] = []
    for name, new in after.fields.items():
        old = before.fields[name]
        if old is new or name == NEXT_ID:
            continue
        if isinstance(new, dict):
            rows.extend(_diff_table(app, name, old, new))
        elif old != new:
            rows.append(DiffRow(app=app, table=name, op="set", before=old, after=new))
    return tuple(rows)


def _diff_table(
    app: str, table: str, old: dict[str, Record], new: dict[str, Record]
) -> Iterator[DiffRow]:
    for row_id, row in new.items():
        past = old.get(row_id)
        if past is row:
            continue
        if past is None:
            yield DiffRow(app=app, table=table, id=row_id, op="add", after=msgspec.to_builtins(row))
            continue
        for field in row.__struct_fields__:
            a, b = getattr(past, field), getattr(row, field)
            if a != b:
                yield DiffRow(
                    app=app,
                    table=table,
                    id=row_id,
                    field=field,
                    op="set",
                    before=msgspec.to_builtins(a),
                    after=msgspec.to_builtins(b),
                )
    for row_id, past in old.items():
        if row_id not in new:
            yield DiffRow(
                app=app, table=table, id=row_id, op="remove", before=msgspec.to_builtins(past)
            )
