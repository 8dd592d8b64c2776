"""A Run sealed into one Parquet file: one row a step, for training and analysis.

Images stay blob keys of the Run's `blobs/`. Structured fields are JSON text, so that the schema
does not change with the Action union.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from screenloop.errors import InfraFault
from screenloop.store.episodes import CallRecord, Episode, read_episode
from screenloop.store.runs import EpisodeRow, RunFolder
from screenloop.types import Step

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("config_hash", pa.string()),
        ("harness_hash", pa.string()),
        ("episode_id", pa.string()),
        ("task", pa.string()),
        ("goal", pa.string()),
        ("repeat", pa.int32()),
        ("attempt", pa.int32()),
        ("step", pa.int32()),
        ("frame", pa.string()),
        ("app", pa.string()),
        ("state_hash", pa.string()),
        ("reply", pa.string()),
        ("actions_json", pa.string()),
        ("effects_json", pa.string()),
        ("changes_json", pa.string()),
        ("parse_error", pa.string()),
        ("took_s", pa.float64()),
        ("call_id", pa.string()),
        ("parent_call_id", pa.string()),
        ("window_index", pa.int32()),
        ("messages_json", pa.string()),
        ("sampling_json", pa.string()),
        ("model", pa.string()),
        ("finish_reason", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("cached_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("cost_usd", pa.float64()),
        ("prompt_prefix_length", pa.int64()),
        ("prompt_token_ids", pa.list_(pa.int64())),
        ("token_ids", pa.list_(pa.int64())),
        ("logprobs", pa.list_(pa.float32())),
        ("weights_version", pa.string()),
        ("end_reason", pa.string()),
        ("reward", pa.float64()),
        ("success", pa.bool_()),
    ]
)
"""Columns of a sealed Run; those from `call_id` to `weights_version` are null without a call."""


def seal_run(folder: RunFolder, *, only_success: bool = False) -> Path:
    """Write `episodes.parquet` from the scored Episodes of a Run and return its path.

    Unscored attempts are left out: they say nothing about the agent.

    Raises:
        InfraFault: the disk refuses.
    """
    path = folder.root / "episodes.parquet"
    partial = path.with_name(f".{path.name}.part")
    manifest = msgspec.json.encode(folder.manifest())
    schema = SCHEMA.with_metadata({"screenloop.run": manifest})
    try:
        with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
            for episode in _scored(folder, folder.rows(), only_success=only_success):
                writer.write_table(pa.Table.from_pylist(list(step_rows(episode)), schema=schema))
        partial.replace(path)
    except OSError as error:
        raise InfraFault(f"cannot write {path}: {error}") from error
    return path


def _scored(
    folder: RunFolder, rows: Iterable[EpisodeRow], *, only_success: bool
) -> Iterator[Episode]:
    for row in rows:
        if row.unscored is not None or (only_success and not row.success):
            continue
        episode = read_episode(folder.root / row.path)
        if episode is not None:
            yield episode


def step_rows(episode: Episode) -> Iterator[dict[str, Any]]:
    """Yield one row of `SCHEMA` for each Step of an Episode that was judged."""
    start, verdict, end = episode.start, episode.verdict, episode.end
    assert verdict is not None
    assert end is not None
    calls = {call.call_id: call for call in episode.calls}
    for step in episode.steps:
        yield {
            "run_id": start.run_id,
            "config_hash": start.config_hash,
            "harness_hash": start.harness_hash,
            "episode_id": start.episode_id,
            "task": start.task.key,
            "goal": start.task.goal.text,
            "repeat": start.repeat,
            "attempt": start.attempt,
            **_of_step(step),
            **_of_call(calls.get(step.call_id) if step.call_id else None),
            "end_reason": end.reason.value,
            "reward": verdict.reward,
            "success": verdict.success,
        }


def _of_step(step: Step) -> dict[str, Any]:
    return {
        "step": step.index,
        "frame": step.observation.frame,
        "app": step.observation.app,
        "state_hash": step.observation.state_hash,
        "reply": step.reply,
        "actions_json": _text(step.actions),
        "effects_json": _text(step.effects),
        "changes_json": _text(step.changes),
        "parse_error": step.parse_error,
        "took_s": step.took_s,
    }


def _of_call(call: CallRecord | None) -> dict[str, Any]:
    if call is None:
        return {}
    return {
        "call_id": call.call_id,
        "parent_call_id": call.parent_call_id,
        "window_index": call.window_index,
        "messages_json": _text(call.messages),
        "sampling_json": _text(call.sampling),
        "model": call.model,
        "finish_reason": call.finish_reason,
        "prompt_tokens": call.usage.prompt,
        "cached_tokens": call.usage.cached,
        "completion_tokens": call.usage.completion,
        "cost_usd": call.usage.cost_usd,
        "prompt_prefix_length": call.prompt_prefix_length,
        "prompt_token_ids": call.prompt_token_ids,
        "token_ids": call.token_ids,
        "logprobs": call.logprobs,
        "weights_version": call.weights_version,
    }


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
