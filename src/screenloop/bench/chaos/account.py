"""What a chaos run came to, from two records that no fault touches: devices' log and Run folder."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from screenloop.bench.chaos.devices import Deed
from screenloop.errors import Blame
from screenloop.rollout.batch import Planned
from screenloop.store.episodes import EndRecord, VerdictRecord, read_records
from screenloop.store.runs import RunFolder, slug
from screenloop.types import Struct

Expected = Literal["success", "failure", "task_fault"]


class DeviceAccount(Struct, frozen=True, kw_only=True):
    """What was done to devices that must not be."""

    duplicated: int
    """Times that an action id was carried out beyond the first."""
    rewound: int
    """Attempts that went on after their device was reset under them."""
    trespassed: int
    """Steps on a device that another Episode had been given meanwhile."""


class RunAccount(Struct, frozen=True, kw_only=True):
    """How the planned Episodes ended."""

    lost: int
    """Without exactly one end and one verdict, or scored more than once."""
    misscored: int
    """Scored otherwise than what was played must be."""
    unscored: int
    """Without a score although their verifier was sound."""
    unsound: int
    """With a verifier that hangs or crashes, so that they cannot have a score."""
    task_faults: int
    """Of these, those whose verifier was reached, blamed on the task, and not tried again."""
    faulted: dict[str, int]
    """Attempts that a failure ended, by blame."""
    reasons: tuple[str, ...]
    """Why Episodes were left unscored or misscored, the first few."""


def account_of_devices(deeds: Iterable[Deed]) -> DeviceAccount:
    """Count what was done twice, out of order or to somebody else's device; pure."""
    times: Counter[str] = Counter()
    given: dict[str, str] = {}
    """By device, the Task that it was reset to last."""
    played: defaultdict[str, set[str]] = defaultdict(set)
    """By device, the attempts that stepped since the last reset."""
    before: defaultdict[str, set[str]] = defaultdict(set)
    """By device, the attempts that stepped before it."""
    rewound: set[str] = set()
    trespassed = 0
    for deed in deeds:
        if deed.what == "reset":
            given[deed.device] = deed.id
            before[deed.device] |= played.pop(deed.device, set())
            continue
        attempt = deed.id.partition("/")[0]
        times[deed.id] += 1
        trespassed += not attempt.startswith(f"{slug(given.get(deed.device, '?'))}-r")
        if attempt in before[deed.device]:
            rewound.add(attempt)
        played[deed.device].add(attempt)
    return DeviceAccount(
        duplicated=sum(count - 1 for count in times.values()),
        rewound=len(rewound),
        trespassed=trespassed,
    )


def account_of_run(
    folder: RunFolder, plan: Sequence[Planned], expected: Mapping[str, Expected]
) -> RunAccount:
    """Read the episode files and hold them against what was planned.

    Args:
        folder: of the Run.
        plan: its Episodes.
        expected: by Task key, how it must end.
    """
    lost = misscored = unscored = task_faults = 0
    faulted: Counter[str] = Counter()
    reasons: list[str] = []
    for planned in plan:
        ends, verdicts = _ends_of(folder, planned)
        last = verdicts[-1] if verdicts else None
        scored = sum(one.verdict.unscored is None for one in verdicts)
        faulted.update(str(one.verdict.unscored.blame) for one in verdicts if one.verdict.unscored)
        if last is None or not ends or scored > 1:
            lost += 1
            continue
        why, wanted = last.verdict.unscored, expected[planned.task.key]
        if why is None:
            said = "success" if last.verdict.success else "failure"
            misscored += said != wanted
            if said != wanted:
                reasons.append(f"{planned.task.key}: {said} where {wanted} was played")
        elif wanted == "task_fault":
            task_faults += why.blame is Blame.TASK and _blamed_on_task(verdicts) == 1
        else:
            unscored += 1
            reasons.append(f"{planned.task.key}: {why.blame} in {why.stage}: {why.reason}")
    return RunAccount(
        lost=lost,
        misscored=misscored,
        unscored=unscored,
        task_faults=task_faults,
        unsound=sum(end == "task_fault" for end in expected.values()),
        faulted=dict(sorted(faulted.items())),
        reasons=tuple(reasons[:10]),
    )


def _blamed_on_task(verdicts: Sequence[VerdictRecord]) -> int:
    faults = [one.verdict.unscored for one in verdicts]
    return sum(fault is not None and fault.blame is Blame.TASK for fault in faults)


def _ends_of(folder: RunFolder, planned: Planned) -> tuple[bool, list[VerdictRecord]]:
    """Return whether the last attempt has exactly one end and verdict, and all verdicts."""
    home = folder.episode_folder(planned.index, planned.task.key, planned.repeat)
    verdicts: list[VerdictRecord] = []
    ended = False
    for number in folder.attempts(home):
        path = folder.attempt_path(home, number)
        records = list(read_records(path)) if path.exists() else []
        here = [one for one in records if isinstance(one, VerdictRecord)]
        ended = sum(isinstance(one, EndRecord) for one in records) == 1 == len(here)
        verdicts += here
    return ended, verdicts
