"""The report page of a Run, and the replay pages that it leads to."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from PIL import Image

from screenloop.config import plain
from screenloop.errors import InfraFault
from screenloop.report import words
from screenloop.report.pages import data_uri, render_page
from screenloop.report.replay import replay_html
from screenloop.report.score import Score, by_task, mean, score
from screenloop.store.blobs import BlobStore
from screenloop.store.episodes import Episode, read_episode
from screenloop.store.runs import EpisodeRow, RunFolder, RunManifest, RunResult, write_whole
from screenloop.types import Struct

Replays = Literal["all", "failed", "none"]
"""Which Episodes get a replay page."""
_GALLERY = 12
_THUMB_PX = (220, 300)


class Cell(Struct, frozen=True, kw_only=True):
    """One Episode in the table of tasks."""

    state: str
    """`solved`, `not-solved` or `unscored`."""
    title: str
    href: str
    """Of its replay page; empty without one."""


class TaskRow(Struct, frozen=True, kw_only=True):
    """One task and its repeats."""

    task: str
    goal: str
    tags: str
    cells: tuple[Cell, ...]
    solved: int
    scored: int
    reward: float | None
    steps: float | None
    optimal_steps: int | None


class Failure(Struct, frozen=True, kw_only=True):
    """One Episode in the gallery of failures."""

    task: str
    goal: str
    href: str
    picture: str
    """`data:` address of the last screen; empty where there is none."""
    why: str
    missed: tuple[str, ...]
    """Checks that failed, in words."""


class ReportView(Struct, frozen=True, kw_only=True):
    """All that the page shows."""

    suite: str
    model: str
    started: str
    numbers: Score
    missing: int
    """Planned Episodes that have not ended."""
    tasks: tuple[TaskRow, ...]
    repeats: int
    failures: tuple[Failure, ...]
    failures_left_out: int
    card: tuple[tuple[str, str], ...]


def write_report(run_dir: Path, *, replays: Replays = "all") -> Path:
    """Write `report.html` into a Run's folder, its replay pages beside it; returns the page.

    Raises:
        ConfigError: the folder is no Run's.
        InfraFault: a file cannot be read or written.
    """
    folder = RunFolder(run_dir)
    result = folder.result()
    hrefs = {}
    for row in result.rows:
        if replays == "none" or (replays == "failed" and row.success):
            continue
        href = f"replay/{Path(row.path).parts[1]}.html"
        page = replay_html(_episode(folder, row), folder.blobs, back="../report.html")
        write_whole(folder.root / href, page.encode())
        hrefs[row.index] = href
    target = folder.root / "report.html"
    view = report_view(result, hrefs, _failures(folder, result.rows, hrefs))
    write_whole(target, render_page("report", view).encode())
    return target


def report_view(
    result: RunResult, hrefs: dict[int, str], failures: Sequence[Failure]
) -> ReportView:
    """Return all that the page shows."""
    manifest, rows = result.manifest, result.rows
    harness = manifest.config.harness
    unsolved = sum(row.unscored is None and not row.success for row in rows)
    return ReportView(
        suite=harness.suite,
        model=manifest.config.model,
        started=_day(manifest.started_at),
        numbers=score(rows),
        missing=len(harness.tasks) * harness.repeats - len(rows),
        tasks=tuple(_task_row(group, hrefs) for group in by_task(rows).values()),
        repeats=harness.repeats,
        failures=tuple(failures),
        failures_left_out=unsolved - len(failures),
        card=run_card(manifest),
    )


def run_card(manifest: RunManifest) -> tuple[tuple[str, str], ...]:
    """Return what a reader needs to repeat the Run, as names and values."""
    config = plain(manifest.config)
    harness = config["harness"]
    rows: list[tuple[str, str]] = [
        ("run", manifest.run_id),
        ("config hash", manifest.config_hash),
        ("harness hash", manifest.harness_hash),
        ("suite", f"{harness['suite']} {harness['suite_version']}"),
        ("tasks × repeats", f"{len(harness['tasks'])} × {harness['repeats']}"),
        ("run seed", str(harness["seed"])),
        ("mode", harness["mode"]),
        ("budget", _pairs(harness["budget"]) if harness["budget"] else "each task's own"),
        ("window", _pairs(harness["window"])),
        ("picture", _pairs(harness["image"])),
        ("retry", _pairs(harness["retry"])),
        ("model", config["model"]),
        ("dialect", config["dialect"]),
        ("prompt", config["prompt_hash"] or "the dialect's own"),
        ("sampling", _pairs(config["sampling"])),
        ("started", _day(manifest.started_at)),
    ]
    rows += [(name, value) for name, value in sorted(manifest.versions.items())]
    rows += [(name, value) for name, value in manifest.machine.items()]
    return tuple(rows)


def _pairs(fields: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value}" for name, value in fields.items() if value is not None
    )


def _day(wall_s: float) -> str:
    return datetime.fromtimestamp(wall_s, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _task_row(rows: Sequence[EpisodeRow], hrefs: dict[int, str]) -> TaskRow:
    first = rows[0]
    scored = [row for row in rows if row.unscored is None]
    tags = [first.tags.get(tag, "") for tag in ("domain", "difficulty", "apps")]
    return TaskRow(
        task=first.task,
        goal=first.goal,
        tags=" · ".join(tag for tag in tags if tag),
        cells=tuple(_cell(row, hrefs) for row in rows),
        solved=sum(row.success for row in scored),
        scored=len(scored),
        reward=mean(row.reward for row in scored),
        steps=mean(row.steps for row in scored),
        optimal_steps=first.optimal_steps,
    )


def _cell(row: EpisodeRow, hrefs: dict[int, str]) -> Cell:
    href = hrefs.get(row.index, "")
    if row.unscored is not None:
        title = f"repeat {row.repeat}: unscored ({row.unscored.blame}): {row.unscored.reason}"
        return Cell(state="unscored", title=title, href=href)
    state = "solved" if row.success else "not-solved"
    said = f"{state.replace('-', ' ')}, reward {row.reward:.2f}"
    ended = f"{words.end_words(row.reason)} after {words.plural(row.steps, 'step')}"
    return Cell(state=state, title=f"repeat {row.repeat}: {said}, {ended}", href=href)


def _failures(
    folder: RunFolder, rows: Sequence[EpisodeRow], hrefs: dict[int, str]
) -> list[Failure]:
    """Return the gallery: one Episode of each task before a second of any."""
    failed = [row for row in rows if row.unscored is None and not row.success]
    turn: dict[int, int] = {}
    for group in by_task(failed).values():
        turn.update({row.index: place for place, row in enumerate(group)})
    chosen = sorted(failed, key=lambda row: (turn[row.index], row.index))[:_GALLERY]
    return [_failure(_episode(folder, row), row, folder.blobs, hrefs) for row in chosen]


def _failure(episode: Episode, row: EpisodeRow, blobs: BlobStore, hrefs: dict[int, str]) -> Failure:
    checks = episode.verdict.checks if episode.verdict else ()
    return Failure(
        task=row.task,
        goal=row.goal,
        href=hrefs.get(row.index, ""),
        picture=_last_picture(episode, blobs),
        why=f"{words.end_words(row.reason)} after {words.plural(row.steps, 'step')}",
        missed=tuple(check.says for check in checks if not check.passed),
    )


def _last_picture(episode: Episode, blobs: BlobStore) -> str:
    """Return the last screen, small; empty where it was not recorded or cannot be read."""
    final = episode.end.final if episode.end else None
    frame = final.frame if final else None
    if frame is None:
        return ""
    try:
        with Image.open(io.BytesIO(blobs.get(frame))) as image:
            small = image.convert("RGB")
    except (InfraFault, OSError, SyntaxError, ValueError):
        # The last three are what the image library raises for a damaged file.
        return ""
    small.thumbnail(_THUMB_PX)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=72)
    return data_uri(out.getvalue(), "jpg")


def _episode(folder: RunFolder, row: EpisodeRow) -> Episode:
    episode = read_episode(folder.root / row.path)
    if episode is None:
        raise InfraFault(f"{row.path} lost its start record while the report was written")
    return episode
