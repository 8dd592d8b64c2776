"""The closed vocabulary in which a Task says what must be true at the end.

A Task holds Checks; a Check compares fields with Matchers. All of it is JSON, so a task file is
portable; `verify` judges it. A bare scalar where a Matcher may stand means exact equality.

    {"check": "added", "app": "contacts", "table": "people",
     "where": {"name": "Ada Park", "phone": {"is": "text", "value": "555-0134", "mode": "digits"}},
     "weight": 2, "critical": true, "says": "Ada Park is in the contacts"}
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from screenloop.actions import FinishStatus


class MatcherBase(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="is",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """What all Matchers share: a tagged, frozen, closed JSON form."""


class Number(MatcherBase, frozen=True, kw_only=True, tag="number"):
    """A number: equal to `value` within `tol`, and inside `[min, max]` where given."""

    value: float | None = None
    tol: float = 0.0
    min: float | None = None
    max: float | None = None


class Money(MatcherBase, frozen=True, kw_only=False, tag="money"):
    """An amount in cents; answers may write it as `12.50`, `$12.5` or `1,200`."""

    cents: int


class Date(MatcherBase, frozen=True, kw_only=False, tag="date"):
    """A calendar day, ISO `YYYY-MM-DD`; also matches the day of a timestamp in seconds."""

    value: str


class Time(MatcherBase, frozen=True, kw_only=False, tag="time"):
    """A time of day `HH:MM` (24 hours), within `tol_min` minutes."""

    value: str
    tol_min: int = 0


class Duration(MatcherBase, frozen=True, kw_only=True, tag="duration"):
    """A length of time in seconds, within `tol_s`; answers may write `1 h 30 min` or `1:30:00`."""

    seconds: float
    tol_s: float = 0.0


class Text(MatcherBase, frozen=True, kw_only=False, tag="text"):
    """Text.

    `exact` compares as is; `normal` folds case, spaces and punctuation at the ends; `contains`
    looks for the normalised value as whole words, with none of `others` beside it; `digits`
    compares digits only.
    """

    value: str
    mode: Literal["exact", "normal", "contains", "digits"] = "normal"
    others: tuple[str, ...] = ()
    """Wrong values that a guess would list as well."""


class Set(MatcherBase, frozen=True, kw_only=False, tag="set"):
    """The same items in any order; answers may list them with commas, `and` or new lines."""

    values: tuple[str | int | float, ...]


class Sequence(MatcherBase, frozen=True, kw_only=True, tag="sequence"):
    """The same items in this order."""

    values: tuple[str | int | float, ...]


Matcher = Number | Money | Date | Time | Duration | Text | Set | Sequence
Expected = Matcher | bool | int | float | str | None
Where = dict[str, Expected]


class CheckBase(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="check",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """What all Checks share: a weight, whether it is critical, and a sentence for people."""

    says: str
    weight: Annotated[float, Meta(ge=0.0)] = 1.0
    critical: bool = True


class Added(CheckBase, frozen=True, kw_only=True, tag="added"):
    """Exactly `count` rows that match `where` were added to the table."""

    app: str
    table: str
    where: Where = {}
    count: Annotated[int, Meta(ge=1)] = 1


class Removed(CheckBase, frozen=True, kw_only=True, tag="removed"):
    """Exactly `count` rows that matched `where` before were removed from the table."""

    app: str
    table: str
    where: Where = {}
    count: Annotated[int, Meta(ge=1)] = 1


class Changed(CheckBase, frozen=True, kw_only=True, tag="changed"):
    """Each row of `ids` differs from before, and its fields now match `to`."""

    app: str
    table: str
    ids: Annotated[tuple[str, ...], Meta(min_length=1)]
    to: Where


class Unchanged(CheckBase, frozen=True, kw_only=True, tag="unchanged"):
    """Nothing changed in the app (or in the table, or in the named rows).

    True at the start, so it is a guard: give it weight 0.
    """

    app: str
    table: str | None = None
    ids: tuple[str, ...] | None = None


class Count(CheckBase, frozen=True, kw_only=True, tag="count"):
    """Exactly `equals` rows of the table match `where` at the end."""

    app: str
    table: str
    where: Where = {}
    equals: Annotated[int, Meta(ge=0)]


class Value(CheckBase, frozen=True, kw_only=True, tag="value"):
    """The value at `path` (keys joined by `/`) of the app's data matches at the end."""

    app: str
    path: str
    to: Expected


class AnswerIs(CheckBase, frozen=True, kw_only=True, tag="answer"):
    """The last answer given matches."""

    to: Expected


class FinishIs(CheckBase, frozen=True, kw_only=True, tag="finish"):
    """The Episode was finished with this status."""

    status: FinishStatus


class Code(CheckBase, frozen=True, kw_only=True, tag="code"):
    """A verifier that is code says so: for what no other check can express.

    `path` is `package.module:function`, or a name that an installed package adds by an entry point
    of the group `screenloop.judges`; importable where the hosts run. A worker process calls
    it as `verify(evidence, claim, params)`, `evidence.diff` holding every difference; it returns a
    `screenloop.verify.finding.Finding`. One that raises, crashes or hangs is a fault of the task.
    """

    path: Annotated[str, Meta(pattern=r"^[A-Za-z_][\w-]*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*)?$")]
    params: dict[str, Any] = {}


Check = Added | Removed | Changed | Unchanged | Count | Value | AnswerIs | FinishIs | Code
