"""Wrong end states, derived mechanically from the right one: a verifier must reject each.

A needed write dropped, its target swapped for a sibling record, a value changed, an amount or date
off by one, an extra write elsewhere, the answer altered or missing. Pure: Evidence and Claim in,
Evidence and Claim out.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from msgspec.structs import replace

from screenloop.actions import Tool
from screenloop.types import Claim, DiffRow, Evidence, Struct, Task
from screenloop.verify.diff import diff
from screenloop.verify.judge import is_allowed
from screenloop.verify.state import is_table

State = dict[str, Any]


class Mutant(Struct, frozen=True, kw_only=True):
    """One wrong ending of a Task."""

    name: str
    """What is wrong with it, for people."""
    evidence: Evidence
    claim: Claim


def mutants(task: Task, evidence: Evidence, claim: Claim) -> Iterator[Mutant]:
    """Yield the wrong endings near a right one."""
    rows = [
        row for row in diff(evidence.before, evidence.after) if not is_allowed(row, task.allowed)
    ]
    meant = set(_leaves([a.args for a in task.golden if isinstance(a, Tool)]))
    for place in dict.fromkeys((row.app, row.table, row.id) for row in rows):
        here = [row for row in rows if (row.app, row.table, row.id) == place]
        for name, after in _wrong_states(evidence, here, meant):
            yield Mutant(name=name, evidence=replace(evidence, after=after, diff=()), claim=claim)
    extra = _extra_write(task, evidence, rows)
    if extra is not None:
        name, after = extra
        yield Mutant(name=name, evidence=replace(evidence, after=after, diff=()), claim=claim)
    if claim.answer is not None:
        yield Mutant(
            name="the answer is missing", evidence=evidence, claim=replace(claim, answer=None)
        )
        wrong = _altered_answer(claim.answer)
        yield Mutant(
            name=f"the answer is {wrong!r}", evidence=evidence, claim=replace(claim, answer=wrong)
        )


def _wrong_states(
    evidence: Evidence, rows: list[DiffRow], meant: set[Any]
) -> Iterator[tuple[str, State]]:
    """Yield wrong end states about one row (or scalar) that the right ending wrote."""
    first = rows[0]
    at = ".".join(filter(None, (first.app, first.table, first.id)))
    yield f"{at} is not written", _without(evidence, first)
    sibling = _sibling(evidence, first)
    if sibling is not None and first.op != "add":
        yield (
            f"{at} is left alone and {sibling} is written instead",
            _swapped(evidence, rows, sibling),
        )
    for row in rows:
        if row.op == "set":
            fields = {row.field: row.after}
        elif row.op == "add" and isinstance(row.after, dict):
            fields = {f: v for f, v in row.after.items() if f != "id" and _is_meant(v, meant)}
        else:
            continue
        for field, value in fields.items():
            for wrong in _near(value, evidence.before):
                if row.op == "set" and wrong == row.before:
                    continue
                name = f"{at}{'.' + field if field else ''} is {wrong!r} instead of {value!r}"
                yield name, _with_value(evidence, row, field, wrong)


def _without(evidence: Evidence, row: DiffRow) -> State:
    after = copy.deepcopy(evidence.after)
    if not row.id:
        after[row.app][row.table] = copy.deepcopy(evidence.before[row.app][row.table])
        return after
    table, old = after[row.app][row.table], evidence.before[row.app][row.table]
    if row.op == "add":
        del table[row.id]
    else:
        table[row.id] = copy.deepcopy(old[row.id])
    return after


def _sibling(evidence: Evidence, row: DiffRow) -> str | None:
    """Return another row that is still there and that the same write would really change."""
    if not row.id:
        return None
    after = evidence.after[row.app][row.table]
    for other, fields in evidence.before[row.app][row.table].items():
        changes = row.op != "set" or fields.get(row.field) != row.after
        if other in after and other != row.id and changes:
            return str(other)
    return None


def _swapped(evidence: Evidence, rows: list[DiffRow], sibling: str) -> State:
    after = _without(evidence, rows[0])
    table = after[rows[0].app][rows[0].table]
    for row in rows:
        if row.op == "remove":
            del table[sibling]
        else:
            table[sibling][row.field] = row.after
    return after


def _with_value(evidence: Evidence, row: DiffRow, field: str, value: Any) -> State:
    after = copy.deepcopy(evidence.after)
    if not row.id:
        if field:
            after[row.app][row.table][field] = value
        else:
            after[row.app][row.table] = value
    else:
        after[row.app][row.table][row.id][field] = value
    return after


def _extra_write(task: Task, evidence: Evidence, rows: list[DiffRow]) -> tuple[str, State] | None:
    """Change one field of one row that the Task has nothing to do with."""
    touched = {(row.app, row.table, row.id) for row in rows}
    for app, data in evidence.after.items():
        for table, content in data.items():
            if not is_table(content):
                continue
            for row_id, fields in content.items():
                if (app, table, row_id) in touched:
                    continue
                for field, value in fields.items():
                    row = DiffRow(app=app, table=table, id=row_id, field=field, op="set")
                    if field == "id" or not isinstance(value, str) or is_allowed(row, task.allowed):
                        continue
                    after = copy.deepcopy(evidence.after)
                    after[app][table][row_id][field] = value + " (changed)"
                    return f"{app}.{table}.{row_id}.{field} is changed as well", after
    return None


def _near(value: Any, before: State) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
            yield -value if value else 7
        case str():
            yield from _near_text(value, before)
        case list():
            yield [*value, "something else"]
            if value:
                yield value[1:]


def _near_text(value: str, before: State) -> Iterator[str]:
    other = _other_row(value, before)
    if other is not None:
        yield other
    elif re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        yield (date.fromisoformat(value) + timedelta(days=1)).isoformat()
    elif re.fullmatch(r"\d\d:\d\d", value):
        minutes = (int(value[:2]) * 60 + int(value[3:]) + 5) % 1440
        yield f"{minutes // 60:02d}:{minutes % 60:02d}"
    else:
        yield _altered_answer(value)
        if value:
            yield ""


def _other_row(row_id: str, before: State) -> str | None:
    """Return a sibling of the row that an id names, or `None` when it names none."""
    for data in before.values():
        for content in data.values():
            if is_table(content) and row_id in content:
                return next((other for other in content if other != row_id), None)
    return None


def _altered_answer(answer: str) -> str:
    """Return the answer with its first number one higher, or with another word."""
    found = re.search(r"\d+", answer)
    if found is None:
        return f"not {answer}" if answer else "something"
    digits = found.group()
    changed = str(int(digits) + 1).zfill(len(digits))
    return answer[: found.start()] + changed + answer[found.end() :]


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the plain values inside arguments, amounts in text also as cents."""
    match value:
        case dict():
            for part in value.values():
                yield from _leaves(part)
        case list() | tuple():
            yield str(value)
            for part in value:
                yield from _leaves(part)
        case str() if re.fullmatch(r"\d+(\.\d{1,2})?", value):
            yield value
            yield round(float(value) * 100)
        case _:
            yield value


def _is_meant(value: Any, meant: set[Any]) -> bool:
    """Whether an added row's value came from the solution's arguments."""
    if isinstance(value, bool) or value in ("", None):
        return False
    return (str(value) if isinstance(value, list | dict) else value) in meant
