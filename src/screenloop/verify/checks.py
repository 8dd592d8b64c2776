"""Judging one Check; pure.

Besides whether it passed, each judgement says which differences the Check accounts for: those are
wanted changes, all others are side effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from screenloop.criteria import (
    Added,
    AnswerIs,
    Changed,
    Check,
    Code,
    Count,
    FinishIs,
    Removed,
    Unchanged,
    Value,
    Where,
)
from screenloop.errors import TaskError
from screenloop.types import CheckResult, Claim, DiffRow, Evidence, Struct
from screenloop.verify.finding import Finding
from screenloop.verify.matchers import explain, explain_answer, matches
from screenloop.verify.state import MISSING, Rows, require_app, require_table, rows_of, value_at


class Judgement(Struct, frozen=True, kw_only=True):
    """How one Check came out, and the differences it accounts for (none when it failed)."""

    result: CheckResult
    accounts_for: tuple[DiffRow, ...] = ()


class _Outcome(Struct, frozen=True, kw_only=True):
    fault: str = ""
    """Why the Check failed; empty when it passed."""
    accounts_for: tuple[DiffRow, ...] = ()


def judge_check(
    check: Check, evidence: Evidence, claim: Claim, differences: Sequence[DiffRow]
) -> Judgement:
    """Judge one Check over the evidence, its differences and the agent's claim.

    Raises:
        TaskError: the Check names an app, table or row that does not exist, or its expectation is
            malformed.
    """
    outcome = _outcome(check, evidence, claim, differences)
    passed = not outcome.fault
    return _judgement(check, passed, outcome.fault, outcome.accounts_for)


def judge_code(check: Code, finding: Finding) -> Judgement:
    """Put what a worker found of a Check that is code in the form of the others."""
    return _judgement(check, finding.passed, finding.detail, finding.accounts_for)


def _judgement(
    check: Check, passed: bool, detail: str, accounts_for: tuple[DiffRow, ...]
) -> Judgement:
    return Judgement(
        result=CheckResult(
            says=check.says,
            passed=passed,
            weight=check.weight,
            critical=check.critical,
            detail=detail,
        ),
        accounts_for=accounts_for if passed else (),
    )


def _outcome(
    check: Check, evidence: Evidence, claim: Claim, differences: Sequence[DiffRow]
) -> _Outcome:
    match check:
        case Added():
            require_table(check.app, check.table, evidence.before, evidence.after)
            return _whole_rows(check, differences, op="add")
        case Removed():
            require_table(check.app, check.table, evidence.before, evidence.after)
            return _whole_rows(check, differences, op="remove")
        case Changed():
            require_table(check.app, check.table, evidence.before, evidence.after)
            return _changed(check, evidence, differences)
        case Unchanged():
            return _unchanged(check, evidence, differences)
        case Count():
            require_table(check.app, check.table, evidence.before, evidence.after)
            return _count(check, evidence, differences)
        case Value():
            require_app(check.app, evidence.before, evidence.after)
            return _value(check, evidence, differences)
        case AnswerIs():
            if claim.answer is None:
                return _Outcome(fault="no answer was given")
            return _Outcome(fault=explain_answer(check.to, claim.answer))
        case FinishIs():
            status = None if claim.finish is None else claim.finish.status
            fits = status == check.status
            said = "not finished by the agent" if status is None else f"finished with {status}"
            return _Outcome(fault="" if fits else f"expected {check.status}, but {said}")
        case Code():
            raise TaskError(f"check {check.path} is code, which is judged by a worker only.")


def row_matches(where: Where, row: dict[str, Any]) -> bool:
    """Whether every field that `where` names is there and matches."""
    return all(field in row and matches(wanted, row[field]) for field, wanted in where.items())


def _whole_rows(check: Added | Removed, differences: Sequence[DiffRow], *, op: str) -> _Outcome:
    moved = [
        row
        for row in _in_table(differences, check.app, check.table)
        if row.id and not row.field and row.op == op
    ]
    hits = tuple(
        row for row in moved if row_matches(check.where, row.after if op == "add" else row.before)
    )
    if len(hits) == check.count:
        return _Outcome(accounts_for=hits)
    verb = "added" if op == "add" else "removed"
    return _Outcome(
        fault=f"expected {check.count} matching rows {verb}, found {len(hits)} of {len(moved)}"
    )


def _changed(check: Changed, evidence: Evidence, differences: Sequence[DiffRow]) -> _Outcome:
    before = rows_of(evidence.before, check.app, check.table)
    after = rows_of(evidence.after, check.app, check.table)
    wanted_rows: list[DiffRow] = []
    for row_id in check.ids:
        where = f"{check.app}.{check.table}[{row_id}]"
        if row_id not in before:
            raise TaskError(f"{where} is to change, but is not there at the start.")
        if row_id not in after:
            return _Outcome(fault=f"{where} was removed")
        changed = [
            row
            for row in _in_table(differences, check.app, check.table)
            if row.id == row_id and (row.field in check.to or not check.to)
        ]
        if not changed:
            return _Outcome(fault=f"{where} is as it was")
        for field, wanted in check.to.items():
            fault = (
                "is gone" if field not in after[row_id] else explain(wanted, after[row_id][field])
            )
            if fault:
                return _Outcome(fault=f"{where}.{field}: {fault}")
        wanted_rows += changed
    return _Outcome(accounts_for=tuple(wanted_rows))


def _unchanged(check: Unchanged, evidence: Evidence, differences: Sequence[DiffRow]) -> _Outcome:
    require_app(check.app, evidence.before, evidence.after)
    touched = [row for row in differences if row.app == check.app]
    if check.table is not None:
        require_table(check.app, check.table, evidence.before, evidence.after)
        touched = [row for row in touched if row.table == check.table]
    if check.ids is not None:
        touched = [row for row in touched if row.id in check.ids]
    if not touched:
        return _Outcome()
    return _Outcome(fault=f"{len(touched)} changes, first: {describe(touched[0])}")


def _count(check: Count, evidence: Evidence, differences: Sequence[DiffRow]) -> _Outcome:
    before = _matching(rows_of(evidence.before, check.app, check.table), check.where)
    after = _matching(rows_of(evidence.after, check.app, check.table), check.where)
    if len(after) != check.equals:
        return _Outcome(fault=f"expected {check.equals} matching rows, found {len(after)}")
    entered, left = after - before, before - after
    if entered and left:
        # Rows were swapped, which a number cannot vouch for: both sides stay side effects.
        return _Outcome()
    rows = tuple(
        row
        for row in _in_table(differences, check.app, check.table)
        if row.id in entered | left and (not row.field or row.field in check.where)
    )
    return _Outcome(accounts_for=rows)


def _value(check: Value, evidence: Evidence, differences: Sequence[DiffRow]) -> _Outcome:
    value = value_at(evidence.after, check.app, check.path)
    if value is MISSING:
        return _Outcome(fault=f"nothing stands at {check.app}/{check.path}")
    fault = explain(check.to, value)
    if fault:
        return _Outcome(fault=f"{check.app}/{check.path}: {fault}")
    rows = (row for row in differences if row.app == check.app)
    return _Outcome(accounts_for=tuple(row for row in rows if _is_above(row, check.path)))


def _is_above(row: DiffRow, path: str) -> bool:
    """Whether the path leads into the field that the row is about (whole rows hold more)."""
    if row.id and not row.field:
        return False
    keys = [key for key in (row.table, row.id, row.field) if key]
    return path.split("/")[: len(keys)] == keys


def _matching(rows: Rows, where: Where) -> frozenset[str]:
    return frozenset(row_id for row_id, row in rows.items() if row_matches(where, row))


def _in_table(differences: Iterable[DiffRow], app: str, table: str) -> list[DiffRow]:
    return [row for row in differences if row.app == app and row.table == table]


def describe(row: DiffRow) -> str:
    """Return one line about a difference, for people."""
    where = ".".join(part for part in (row.app, row.table) if part)
    where += f"[{row.id}]" if row.id else ""
    where += f".{row.field}" if row.field else ""
    match row.op:
        case "add":
            return f"{where} added"
        case "remove":
            return f"{where} removed"
        case "set":
            return f"{where}: {row.before!r} became {row.after!r}"
