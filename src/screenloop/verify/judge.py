"""Judging a Task: reward, success and side effects; pure.

Checks that are code are run elsewhere; see `verifiers`. Reward r = sum(w_j b_j) / sum(w_j) over the
Task's checks; success S = every critical check passes, the implicit guard "nothing else changed"
included.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any

from screenloop.criteria import Added, AnswerIs, Changed, Check, Code, Count, Removed, Value
from screenloop.errors import TaskError
from screenloop.types import CheckResult, Claim, DiffRow, Evidence, Task, Verdict
from screenloop.verify.checks import describe, judge_check, judge_code
from screenloop.verify.diff import diff
from screenloop.verify.finding import Finding
from screenloop.verify.matchers import require_wellformed
from screenloop.verify.state import app_data, is_table

MAX_OPERATIONS = 2_000_000
"""Values compared for one Verdict at most; bounds its cost without a clock."""
GUARD_SAYS = "nothing else changed"


def judge(
    task: Task, evidence: Evidence, claim: Claim, findings: Sequence[Finding] = ()
) -> Verdict:
    """Judge what the evidence and the claim say about the Task.

    Differences are computed from the states before and after; `evidence.diff` only tells which
    action made them.

    Args:
        task: whose checks are judged.
        evidence: the states before and after.
        claim: the agent's.
        findings: of the checks that are code, in their order.

    Raises:
        TaskError: the findings are not those of the Task's code, or it cannot be judged; see
            `require_judgeable`, `judging_cost` and `checks.judge_check`.
    """
    require_judgeable(task)
    cost = judging_cost(task, evidence)
    if cost > MAX_OPERATIONS:
        raise TaskError(
            f"judging {task.key} would compare {cost} values, more than {MAX_OPERATIONS}: name "
            "narrower tables or fewer checks."
        )
    differences = diff(evidence.before, evidence.after, evidence.diff)
    codes = sum(isinstance(check, Code) for check in task.checks)
    if len(findings) != codes:
        raise TaskError(
            f"{codes} checks of {task.key} are code, but {len(findings)} of them were run: such a "
            "task is judged where its environment's host is."
        )
    found = iter(findings)
    judgements = [
        judge_code(check, next(found))
        if isinstance(check, Code)
        else judge_check(check, evidence, claim, differences)
        for check in task.checks
    ]
    wanted = {_place(row) for judgement in judgements for row in judgement.accounts_for}
    side_effects = tuple(
        row
        for row in differences
        if _place(row) not in wanted and not is_allowed(row, task.allowed)
    )
    results = [judgement.result for judgement in judgements]
    return verdict_of(
        [*results, _guard(side_effects)], side_effects=side_effects, native=evidence.native
    )


def verdict_of(
    checks: Sequence[CheckResult],
    *,
    side_effects: Sequence[DiffRow] = (),
    native: dict[str, Any] | None = None,
) -> Verdict:
    """Put check results together to a Verdict.

    Raises:
        TaskError: no check is critical, the weights sum to 0, or one is negative or not finite.
    """
    _require_weights(checks)
    total = sum(check.weight for check in checks)
    earned = sum(check.weight for check in checks if check.passed)
    return Verdict(
        # Rounding may carry a quotient of sums past its bounds.
        reward=min(1.0, earned / total),
        success=all(check.passed for check in checks if check.critical),
        checks=tuple(checks),
        side_effects=tuple(side_effects),
        native=native or {},
    )


def require_judgeable(task: Task) -> None:
    """Refuse a Task whose checks cannot give a Verdict, before any Environment is needed.

    Raises:
        TaskError: weights, an expectation, or a pattern in `allowed` is wrong; names the Task.
    """
    try:
        _require_weights(task.checks)
        for check in task.checks:
            for expected in _expectations(check):
                require_wellformed(expected)
        for pattern in task.allowed:
            _pattern_parts(pattern)
    except TaskError as error:
        raise TaskError(f"task {task.id}: {error}") from error


def judging_cost(task: Task, evidence: Evidence) -> int:
    """Return an upper estimate of the values that judging the Task compares."""
    # What is one and the same before and after (an app that nobody touched) is not compared.
    cost = sum(
        _state_size(side[app])
        for side, other in ((evidence.before, evidence.after), (evidence.after, evidence.before))
        for app in side
        if side[app] is not other.get(app)
    )
    for check in task.checks:
        match check:
            case Added() | Removed() | Count():
                rows = sum(
                    len(table)
                    for state in (evidence.before, evidence.after)
                    if is_table(table := app_data(state, check.app).get(check.table, {}))
                )
                cost += rows * max(1, len(check.where))
            case Changed():
                cost += len(check.ids) * max(1, len(check.to))
    return cost


def is_allowed(row: DiffRow, patterns: Sequence[str]) -> bool:
    """Whether a pattern `app`, `app.table` or `app.table.field` covers the difference.

    Each part may hold the wildcards of file names. A whole row is covered by a field pattern only
    where that is `*`.
    """
    return any(_covers(_pattern_parts(pattern), row) for pattern in patterns)


def _covers(parts: Sequence[str], row: DiffRow) -> bool:
    return all(
        fnmatchcase(name, part)
        for name, part in zip((row.app, row.table, row.field), parts, strict=False)
    )


def _pattern_parts(pattern: str) -> list[str]:
    parts = pattern.split(".")
    if len(parts) > 3 or not all(parts):
        raise TaskError(f"{pattern!r} is no pattern of the form app, app.table or app.table.field.")
    return parts


def _guard(side_effects: Sequence[DiffRow]) -> CheckResult:
    detail = ""
    if side_effects:
        detail = f"{len(side_effects)} side effects, first: {describe(side_effects[0])}"
    return CheckResult(
        says=GUARD_SAYS, passed=not side_effects, weight=0.0, critical=True, detail=detail
    )


def _require_weights(checks: Sequence[Check] | Sequence[CheckResult]) -> None:
    weights = [check.weight for check in checks]
    if not all(isfinite(weight) and weight >= 0 for weight in weights):
        raise TaskError(f"check weights are finite numbers of at least 0, not {weights}.")
    if not 0 < sum(weights) < float("inf"):
        raise TaskError("the weights of the checks sum to 0 or overflow: no reward can be given.")
    if not any(check.critical for check in checks):
        raise TaskError("no check is critical: success would mean nothing.")


def _expectations(check: Check) -> list[Any]:
    match check:
        case Added() | Removed() | Count():
            return list(check.where.values())
        case Changed():
            return list(check.to.values())
        case Value():
            return [check.to]
        case AnswerIs():
            if check.to is None:
                raise TaskError("an answer cannot be expected to be null.")
            return [check.to]
        case _:
            return []


def _place(row: DiffRow) -> tuple[str, str, str, str]:
    return (row.app, row.table, row.id, row.field)


def _state_size(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_state_size, value.values()))
    if isinstance(value, list | tuple):
        return 1 + sum(map(_state_size, value))
    return 1
