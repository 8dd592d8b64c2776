"""Episode files: `episode.jsonl`, one record a line, written as things happen.

Kinds: `start` once, then `call` and `step` in turn, `verdict`, `end` last. A file without `end`
was cut off and is not a result. Images are blob keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Protocol

import msgspec

from screenloop.errors import InfraFault
from screenloop.messages import ImageSpan, Message, Sampling, TokenStack
from screenloop.types import EndReason, Mode, Observation, Step, Struct, Task, Usage, Verdict


class StartRecord(Struct, frozen=True, kw_only=True, tag="start", tag_field="kind"):
    """What is attempted, under which configuration."""

    episode_id: str
    run_id: str
    task: Task
    repeat: int = 0
    attempt: int = 0
    """Counts restarts after failures that were not the agent's."""
    mode: Mode
    config_hash: str
    harness_hash: str
    started_at: float
    """Wall clock, seconds since 1970; for people only."""


class CallRecord(Struct, frozen=True, kw_only=True, tag="call", tag_field="kind"):
    """One model call: the request as a delta to an earlier one, and the reply."""

    call_id: str
    parent_call_id: str | None = None
    """The call whose messages come before `messages`; `None` when they start afresh."""
    window_index: int
    step_index: int
    messages: tuple[Message, ...]
    """The messages after the parent's and the parent's reply."""
    sampling: Sampling
    model: str
    reply: str
    finish_reason: str
    usage: Usage = Usage()
    prompt_prefix_length: int = 0
    """How many ids of the parent's prompt and reply, in a row, this prompt begins with."""
    prompt_token_ids: tuple[int, ...] | None = None
    """The prompt's ids after those, image placeholders expanded."""
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    weights_version: str | None = None
    images: tuple[ImageSpan, ...] = ()
    banned_token_ids: tuple[int, ...] = ()
    token_stack: TokenStack | None = None
    took_s: float
    attempts: int = 1


def whole_prompts(calls: Iterable[CallRecord]) -> dict[str, tuple[int, ...]]:
    """Return the prompt ids of each call that has them, put together from the deltas.

    Raises:
        InfraFault: a call goes on from one that is not there or too short: the file is incomplete.
    """
    prompts: dict[str, tuple[int, ...]] = {}
    whole: dict[str, tuple[int, ...]] = {}
    for call in calls:
        if call.prompt_token_ids is None:
            continue
        prompt = call.prompt_token_ids
        if call.prompt_prefix_length:
            before = whole.get(call.parent_call_id or "", ())
            if call.prompt_prefix_length > len(before):
                raise InfraFault(
                    f"call {call.call_id} begins with {call.prompt_prefix_length} ids of "
                    f"{call.parent_call_id}, which is not there or shorter"
                )
            prompt = before[: call.prompt_prefix_length] + prompt
        prompts[call.call_id] = prompt
        whole[call.call_id] = prompt + (call.token_ids or ())
    return prompts


class StepRecord(Struct, frozen=True, kw_only=True, tag="step", tag_field="kind"):
    """One turn of the loop."""

    step: Step


class VerdictRecord(Struct, frozen=True, kw_only=True, tag="verdict", tag_field="kind"):
    """The judgement."""

    verdict: Verdict


class EndRecord(Struct, frozen=True, kw_only=True, tag="end", tag_field="kind"):
    """How it ended; the sums are of this file."""

    reason: EndReason
    detail: str = ""
    steps: int
    usage: Usage
    seconds: float
    final: Observation | None = None
    """What was seen after the last Action."""


Record = StartRecord | CallRecord | StepRecord | VerdictRecord | EndRecord

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class EpisodeLog(Protocol):
    """Where an attempt's records go, in order."""

    def write(self, record: Record) -> None:
        """Take one record.

        Raises:
            InfraFault: it cannot be kept.
        """
        ...


class EpisodeWriter:
    """Appends records to one episode file; each line reaches the kernel before it returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("wb", buffering=0)
        except OSError as error:
            raise InfraFault(f"cannot write episode file {path}: {error}") from error

    def write(self, record: Record) -> None:
        """Append one record.

        Raises:
            InfraFault: the disk refuses.
        """
        try:
            self._file.write(_ENCODER.encode(record) + b"\n")
        except OSError as error:
            raise InfraFault(f"cannot write episode file {self.path}: {error}") from error

    def close(self) -> None:
        self._file.close()


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of an episode file; a last line that was cut off is left out.

    Raises:
        InfraFault: the file cannot be read, or a line inside it is no record.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InfraFault(f"cannot read episode file {path}: {error}") from error
    for number, line in enumerate(lines[:-1], start=1):
        try:
            yield _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InfraFault(
                f"{path}:{number} is no episode record: {error}. Remove {path.parent}, and the "
                "run plays this attempt again."
            ) from error


class Episode(Struct, frozen=True, kw_only=True):
    """One attempt at one Task, read back from its file."""

    start: StartRecord
    calls: tuple[CallRecord, ...]
    steps: tuple[Step, ...]
    verdict: Verdict | None
    end: EndRecord | None

    @property
    def is_complete(self) -> bool:
        """Whether the attempt ended and was judged (unscored counts as judged)."""
        return self.end is not None and self.verdict is not None


def read_episode(path: Path) -> Episode | None:
    """Return the Episode in a file, or `None` when the file holds no start record."""
    return episode_of(read_records(path))


def encode_record(record: Record) -> bytes:
    """Return a record as one line of an episode file, without the line's end."""
    return _ENCODER.encode(record)


def episode_of(records: Iterable[Record]) -> Episode | None:
    """Return the Episode that records tell, or `None` without a start record."""
    start: StartRecord | None = None
    calls: list[CallRecord] = []
    steps: list[Step] = []
    verdict: Verdict | None = None
    end: EndRecord | None = None
    for record in records:
        match record:
            case StartRecord():
                start = record
            case CallRecord():
                calls.append(record)
            case StepRecord():
                steps.append(record.step)
            case VerdictRecord():
                verdict = record.verdict
            case EndRecord():
                end = record
    if start is None:
        return None
    return Episode(start=start, calls=tuple(calls), steps=tuple(steps), verdict=verdict, end=end)
