"""The folder of a Run: what lies where, and what counts as a result.

    run.json                                    configuration, hashes, versions; written once
    episodes/0007-<task>-r0/attempt-0/episode.jsonl
    blobs/                                      frames, trees, long texts
    result.json                                 one row an Episode, written when the Run is through

A killed process leaves Episode files without an end; those are no results and are played again.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from screenloop.config import RunConfig, config_hash, harness_hash, plain
from screenloop.errors import ConfigError, InfraFault
from screenloop.store.blobs import FolderBlobs
from screenloop.store.episodes import Episode, read_episode
from screenloop.types import EndReason, Struct, Unscored, Usage


class RunManifest(Struct, frozen=True, kw_only=True):
    """What a Run is: enough to repeat it and to say what it may be compared with."""

    run_id: str
    config: RunConfig
    config_hash: str
    harness_hash: str
    versions: dict[str, str] = {}
    """Of the package, Python, the renderer, the browser: what a number may depend on."""
    machine: dict[str, str] = {}
    """CPU, cores, system: for people who compare times."""
    started_at: float = 0.0
    """Wall clock, seconds since 1970; for people only."""


class EpisodeRow(Struct, frozen=True, kw_only=True):
    """One Episode in a few numbers: all that scores and tables need."""

    index: int
    """Place in the Run's plan."""
    episode_id: str
    task: str
    """Key of the task instance."""
    repeat: int
    attempts: int
    """How often it was started, this attempt included."""
    path: str
    """Of the episode file, from the Run's folder."""
    goal: str = ""
    """What was asked, in words."""
    tags: dict[str, str] = {}
    optimal_steps: int | None = None
    reason: EndReason
    detail: str = ""
    success: bool = False
    reward: float = 0.0
    side_effects: int = 0
    unscored: Unscored | None = None
    steps: int
    parse_errors: int = 0
    calls: int = 0
    usage: Usage = Usage()
    seconds: float


class RunResult(Struct, frozen=True, kw_only=True):
    """What came of a Run."""

    manifest: RunManifest
    rows: tuple[EpisodeRow, ...]
    """In the order of the plan."""


def make_manifest(
    config: RunConfig, *, versions: dict[str, str], machine: dict[str, str], started_at: float
) -> RunManifest:
    """Return the manifest of a Run of this configuration."""
    named = config_hash(config)
    return RunManifest(
        run_id=f"{slug(config.harness.suite)}-{slug(config.model)}-{named[:8]}",
        config=config,
        config_hash=named,
        harness_hash=harness_hash(config),
        versions=versions,
        machine=machine,
        started_at=started_at,
    )


def slug(text: str) -> str:
    """Return the text as a short file name: letters, digits and single dashes."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")[:80] or "x"


def row_of(episode: Episode, *, index: int, path: str) -> EpisodeRow:
    """Return the row of an Episode that ended and was judged.

    Raises:
        InfraFault: the Episode was cut off.
    """
    start, verdict, end = episode.start, episode.verdict, episode.end
    if verdict is None or end is None:
        raise InfraFault(f"{path} was cut off before its end: play it again with the same --out")
    return EpisodeRow(
        index=index,
        episode_id=start.episode_id,
        task=start.task.key,
        repeat=start.repeat,
        attempts=start.attempt + 1,
        path=path,
        goal=_goal(episode),
        tags=start.task.tags,
        optimal_steps=start.task.optimal_steps,
        reason=end.reason,
        detail=end.detail,
        success=verdict.success,
        reward=verdict.reward,
        side_effects=len(verdict.side_effects),
        unscored=verdict.unscored,
        steps=end.steps,
        parse_errors=sum(step.parse_error is not None for step in episode.steps),
        calls=len(episode.calls),
        usage=end.usage,
        seconds=end.seconds,
    )


def _goal(episode: Episode) -> str:
    """Return what the agent was told: the Environment's own words where it had some."""
    seen = episode.steps[0].observation.goal if episode.steps else None
    return episode.start.task.goal.text if seen is None else seen


class RunFolder:
    """Knows what lies where in a Run's folder; reads and writes whole files only."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def around(cls, path: Path) -> RunFolder:
        """Return the folder of the Run that a file or folder belongs to.

        Raises:
            ConfigError: no Run lies around it.
        """
        for folder in (path, *path.resolve().parents):
            if (folder / "run.json").is_file():
                return cls(folder)
        raise ConfigError(f"{path} belongs to no run: no run.json lies in or above it.")

    @property
    def manifest_path(self) -> Path:
        return self.root / "run.json"

    @property
    def result_path(self) -> Path:
        return self.root / "result.json"

    @property
    def blobs(self) -> FolderBlobs:
        return FolderBlobs(self.root / "blobs")

    def episode_folder(self, index: int, task_key: str, repeat: int) -> Path:
        return self.root / "episodes" / f"{index:04d}-{slug(task_key)}-r{repeat}"

    def attempt_path(self, folder: Path, attempt: int) -> Path:
        return folder / f"attempt-{attempt}" / "episode.jsonl"

    def attempts(self, folder: Path) -> list[int]:
        """Return the numbers of the attempts that were started, smallest first."""
        found = (p.name.removeprefix("attempt-") for p in folder.glob("attempt-*"))
        return sorted(int(number) for number in found if number.isdecimal())

    def relative(self, path: Path) -> str:
        """Return a path from the Run's folder, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def open(self, manifest: RunManifest) -> RunManifest:
        """Begin the Run here, or go on with the one that was begun; returns its manifest.

        Raises:
            ConfigError: the folder holds another Run, one begun with other versions, or something
                that is no Run.
        """
        if self.manifest_path.exists():
            begun = self.manifest()
            if begun.config_hash != manifest.config_hash:
                raise ConfigError(
                    f"{self.root} holds a run of another configuration "
                    f"({begun.config_hash}, not {manifest.config_hash}): "
                    f"{'; '.join(_first_differences(begun.config, manifest.config))}. "
                    "Choose another --out, or repeat the run with its own flags."
                )
            if begun.versions != manifest.versions:
                raise ConfigError(
                    f"{self.root} was begun with other versions: "
                    f"{_other_versions(begun.versions, manifest.versions)}. One run must not mix "
                    "them: choose another --out, or install those versions again."
                )
            return begun
        found = sorted(self.root.iterdir()) if self.root.is_dir() else []
        strangers = [path for path in found if path.name not in _OWN]
        if strangers:
            raise ConfigError(
                f"{self.root} is not empty and holds no run.json (it has {strangers[0].name}); "
                "choose a new or empty folder for --out."
            )
        write_whole(self.manifest_path, msgspec.json.format(msgspec.json.encode(plain(manifest))))
        return manifest

    def manifest(self) -> RunManifest:
        """Read the manifest.

        Raises:
            ConfigError: this is no Run's folder, or its manifest cannot be read.
        """
        try:
            return msgspec.json.decode(self.manifest_path.read_bytes(), type=RunManifest)
        except FileNotFoundError:
            raise ConfigError(f"{self.root} is no run folder: it has no run.json.") from None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"{self.manifest_path} cannot be read: {error}.") from error

    def write_result(self, result: RunResult) -> None:
        write_whole(self.result_path, msgspec.json.encode(result))

    def latest_row(self, index: int, folder: Path) -> EpisodeRow | None:
        """Return the row of the latest attempt, if that one ended and was judged."""
        attempts = self.attempts(folder)
        if not attempts:
            return None
        path = self.attempt_path(folder, attempts[-1])
        episode = read_episode(path) if path.exists() else None
        if episode is None or not episode.is_complete:
            return None
        return row_of(episode, index=index, path=self.relative(path))

    def rows(self) -> tuple[EpisodeRow, ...]:
        """Read the rows of every Episode that ended, from the episode files themselves."""
        found = []
        for folder in sorted((self.root / "episodes").glob("*-*")):
            index = folder.name.partition("-")[0]
            row = self.latest_row(int(index), folder) if index.isdecimal() else None
            if row is not None:
                found.append(row)
        return tuple(sorted(found, key=lambda row: row.index))

    def result(self) -> RunResult:
        """Return what came of the Run so far."""
        return RunResult(manifest=self.manifest(), rows=self.rows())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from playing the same Run; the kernel lets go when we die.

        Raises:
            ConfigError: another process is playing it now, or no files can be made there.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            file = (self.root / "run.lock").open("wb")
        except OSError as error:
            raise ConfigError(
                f"{self.root} cannot hold a run: {error}. Choose an --out that can be written to."
            ) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ConfigError(
                    f"another process is playing the run in {self.root}; wait for it, or choose "
                    "another --out."
                ) from error
            except OSError as error:
                raise ConfigError(
                    f"files in {self.root} cannot be locked: {error}. Choose an --out on a disk of "
                    "this machine."
                ) from error
            yield


_OWN = frozenset({"run.lock", "blobs", ".run.json.part"})
"""What may lie in a folder before its Run has begun, or was killed while it did."""


def _other_versions(before: dict[str, str], now: dict[str, str]) -> str:
    names = sorted(before.keys() | now.keys())
    return ", ".join(
        f"{name} was {before.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in names
        if before.get(name) != now.get(name)
    )


class ConfigDifference(Struct, frozen=True, kw_only=True):
    """One field in which two configurations differ."""

    path: str
    """Field names joined by dots."""
    before: Any = None
    after: Any = None


def config_differences(a: RunConfig, b: RunConfig) -> tuple[ConfigDifference, ...]:
    """Return every field in which the two differ, by path."""
    left, right = _flat(plain(a)), _flat(plain(b))
    return tuple(
        ConfigDifference(path=path, before=left.get(path), after=right.get(path))
        for path in sorted(left.keys() | right.keys())
        if left.get(path) != right.get(path)
    )


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        return {path: value}
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        flat.update(_flat(inner, f"{path}.{name}" if path else str(name)))
    return flat


def _first_differences(before: RunConfig, now: RunConfig, limit: int = 3) -> list[str]:
    found = [
        f"{row.path} was {row.before!r}, is {row.after!r}"
        for row in config_differences(before, now)
    ]
    return found[:limit] + ([f"and {len(found) - limit} more"] if len(found) > limit else [])


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it appears whole or not at all.

    Raises:
        InfraFault: the disk refuses.
    """
    partial = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise InfraFault(f"cannot write {path}: {error}") from error
