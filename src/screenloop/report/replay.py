"""The replay page of one Episode: every screen with the action drawn on it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from screenloop.actions import Single, encode_action
from screenloop.errors import ConfigError, InfraFault
from screenloop.messages import ImagePart, Message
from screenloop.report.marks import Mark, action_words, marks_of
from screenloop.report.pages import Shown, data_uri, render_page, shown
from screenloop.rollout.executor import singles
from screenloop.store.blobs import BlobStore
from screenloop.store.episodes import CallRecord, Episode, read_episode
from screenloop.store.runs import RunFolder, write_whole
from screenloop.types import (
    BlobKey,
    CheckResult,
    DiffRow,
    Effect,
    SizePx,
    Step,
    Struct,
    Unscored,
    Usage,
)


class FrameView(Struct, frozen=True, kw_only=True):
    """A screenshot; the first view of a frame holds its bytes, later ones refer to it."""

    name: str
    """Same for equal frames; empty when nothing was recorded."""
    uri: str | None
    size_px: SizePx
    missing: bool = False
    """Recorded, but the bytes are no longer there."""


class ActionView(Struct, frozen=True, kw_only=True):
    """One single Action and what it did."""

    words: str
    wire: Shown
    state: str
    """`ok`, `failed` or `skipped` (an earlier one failed)."""
    code: str = ""
    message: Shown = Shown(text="")
    executed: str = ""
    result: Shown | None = None


class MessageView(Struct, frozen=True, kw_only=True):
    """One message that the model read."""

    role: str
    text: Shown
    images: tuple[str, ...]


class CallView(Struct, frozen=True, kw_only=True):
    """One model call."""

    window: int
    is_fresh: bool
    """Whether the prompt starts afresh here."""
    messages: tuple[MessageView, ...]
    finish_reason: str
    usage: Usage
    took_s: float
    attempts: int


class ChangeView(Struct, frozen=True, kw_only=True):
    """One difference in the application's data."""

    place: str
    op: str
    before: str
    after: str
    channel: str


class StepView(Struct, frozen=True, kw_only=True):
    """One Step."""

    index: int
    state: str
    """`ok`, `failed` or `unread`."""
    frame: FrameView
    app: str
    marks: tuple[Mark, ...]
    actions: tuple[ActionView, ...]
    reply: Shown
    parse_error: str | None
    call: CallView | None
    changes: tuple[ChangeView, ...]
    took_s: float


class ReplayView(Struct, frozen=True, kw_only=True):
    """All that the page shows."""

    title: str
    goal: str
    task: str
    episode_id: str
    state: str
    """`solved`, `not-solved`, `unscored` or `cut-off`."""
    reward: float | None
    reason: str
    detail: str
    seconds: float | None
    usage: Usage
    steps: tuple[StepView, ...]
    last_frame: FrameView
    checks: tuple[CheckResult, ...]
    side_effects: tuple[ChangeView, ...]
    unscored: Unscored | None
    facts: tuple[tuple[str, str], ...]
    back: str
    """Address of the report that leads here; empty without one."""


def write_replay(episode_path: Path, out: Path | None = None, *, back: str = "") -> Path:
    """Write the replay page of an episode file and return where it lies.

    Without `out` the page lies beside the file, as `replay.html`.

    Raises:
        ConfigError: the file holds no Episode, or belongs to no Run.
        InfraFault: it cannot be read, or the page cannot be written.
    """
    episode = read_episode(episode_path)
    if episode is None:
        raise ConfigError(f"{episode_path} holds no episode: it has no start record.")
    blobs = RunFolder.around(episode_path).blobs
    target = out or episode_path.with_name("replay.html")
    write_whole(target, replay_html(episode, blobs, back=back).encode())
    return target


def replay_html(episode: Episode, blobs: BlobStore, *, back: str = "") -> str:
    """Return the page as text."""
    return render_page("replay", replay_view(episode, blobs, back=back))


def replay_view(episode: Episode, blobs: BlobStore, *, back: str = "") -> ReplayView:
    """Return all that the page shows."""
    frames = _Frames(blobs)
    calls = {call.call_id: call for call in episode.calls}
    steps = tuple(
        _step_view(step, calls.get(step.call_id) if step.call_id else None, frames)
        for step in episode.steps
    )
    start, verdict, end = episode.start, episode.verdict, episode.end
    last = end.final if end else None
    seen = episode.steps[0].observation.goal if episode.steps else None
    goal = start.task.goal.text if seen is None else seen
    return ReplayView(
        title=f"{start.task.key} · repeat {start.repeat}",
        goal=goal,
        task=start.task.key,
        episode_id=start.episode_id,
        state=_episode_state(episode),
        reward=verdict.reward if verdict and not verdict.unscored else None,
        reason=end.reason.value if end else "",
        detail=end.detail if end else "",
        seconds=end.seconds if end else None,
        usage=end.usage if end else Usage(),
        steps=steps,
        last_frame=frames.view(last.frame if last else None, start.task.env.size_px),
        checks=verdict.checks if verdict else (),
        side_effects=_change_views(verdict.side_effects) if verdict else (),
        unscored=verdict.unscored if verdict else None,
        facts=(
            ("task", start.task.key),
            ("episode", start.episode_id),
            ("attempt", str(start.attempt + 1)),
            ("mode", start.mode),
            ("config hash", start.config_hash),
            ("harness hash", start.harness_hash),
        ),
        back=back,
    )


def _episode_state(episode: Episode) -> str:
    if episode.verdict is None or episode.end is None:
        return "cut-off"
    if episode.verdict.unscored is not None:
        return "unscored"
    return "solved" if episode.verdict.success else "not-solved"


class _Frames:
    """Reads screenshots and hands each one out once."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._names: dict[BlobKey, str] = {}

    def view(self, key: BlobKey | None, size_px: SizePx) -> FrameView:
        if key is None:
            return FrameView(name="", uri=None, size_px=size_px)
        if key in self._names:
            return FrameView(name=self._names[key], uri=None, size_px=size_px)
        try:
            uri = data_uri(self._blobs.get(key), key.rpartition(".")[2])
        except InfraFault:
            return FrameView(name="", uri=None, size_px=size_px, missing=True)
        self._names[key] = f"f{len(self._names)}"
        return FrameView(name=self._names[key], uri=uri, size_px=size_px)


def _step_view(step: Step, call: CallRecord | None, frames: _Frames) -> StepView:
    flat = tuple(singles(step.actions))
    size_px = step.observation.size_px
    effects: list[Effect | None] = [*step.effects, *[None] * (len(flat) - len(step.effects))]
    actions = tuple(
        _action_view(action, effect) for action, effect in zip(flat, effects, strict=False)
    )
    state = "unread" if step.parse_error is not None else "ok"
    if any(action.state == "failed" for action in actions):
        state = "failed"
    return StepView(
        index=step.index,
        state=state,
        frame=frames.view(step.observation.frame, size_px),
        app=step.observation.app,
        marks=tuple(mark for action in flat for mark in marks_of(action, size_px)),
        actions=actions,
        reply=shown(step.reply),
        parse_error=step.parse_error,
        call=_call_view(call) if call else None,
        changes=_change_views(step.changes),
        took_s=step.took_s,
    )


def _action_view(action: Single, effect: Effect | None) -> ActionView:
    wire = shown(encode_action(action).decode())
    words = action_words(action)
    if effect is None:
        return ActionView(words=words, wire=wire, state="skipped")
    return ActionView(
        words=words,
        wire=wire,
        state="ok" if effect.ok else "failed",
        code=effect.code,
        message=shown(effect.message),
        executed=effect.executed,
        result=None if effect.result is None else shown(_json(effect.result)),
    )


def _call_view(call: CallRecord) -> CallView:
    return CallView(
        window=call.window_index,
        is_fresh=call.parent_call_id is None,
        messages=tuple(_message_view(message) for message in call.messages),
        finish_reason=call.finish_reason,
        usage=call.usage,
        took_s=call.took_s,
        attempts=call.attempts,
    )


def _message_view(message: Message) -> MessageView:
    images = [part for part in message.parts if isinstance(part, ImagePart)]
    return MessageView(
        role=message.role,
        text=shown(message.text),
        images=tuple(f"{image.size_px[0]} × {image.size_px[1]}" for image in images),
    )


def _change_views(rows: Sequence[DiffRow]) -> tuple[ChangeView, ...]:
    return tuple(
        ChangeView(
            place=" / ".join(part for part in (row.app, row.table, row.id, row.field) if part),
            op=row.op,
            before=_value(row.before),
            after=_value(row.after),
            channel=row.channel,
        )
        for row in rows
    )


def _value(value: object, limit: int = 400) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else _json(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
