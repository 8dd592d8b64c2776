"""A model that repeats the replies of recorded Episodes, and only to the recorded requests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from screenloop.errors import ConfigError, ModelUnavailable
from screenloop.messages import ChatRequest, Message, Reply, TextPart
from screenloop.store.episodes import CallRecord, Episode, read_episode, whole_prompts


class ReplayingModel:
    """Answers a call id with what was recorded under it, when the messages are the same.

    A request that differs from the recorded one is refused: the reply was given to another
    prompt, so whatever followed would prove nothing.
    """

    def __init__(self, episodes: Iterable[Episode], *, name: str = "replaying") -> None:
        self.name = name
        self._calls: dict[str, tuple[str, CallRecord]] = {}
        self._prompts: dict[str, tuple[int, ...]] = {}
        for episode in episodes:
            self._prompts.update(whole_prompts(episode.calls))
            for call, messages in recorded_requests(episode.calls):
                self._calls[call.call_id] = (messages_hash(messages), call)

    @classmethod
    def from_run(cls, path: Path) -> ReplayingModel:
        """Read every `episode.jsonl` under a folder, or one such file.

        Raises:
            ConfigError: no episode lies there.
            InfraFault: an episode file cannot be read.
        """
        files = [path] if path.is_file() else sorted(path.rglob("episode.jsonl"))
        episodes = [episode for file in files if (episode := read_episode(file)) is not None]
        if not episodes:
            raise ConfigError(f"no episode to replay under {path}.")
        return cls(episodes, name=f"replaying:{path}")

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer with the recorded reply.

        Raises:
            ModelUnavailable: nothing was recorded under this call id, or for other messages.
        """
        if request.call_id not in self._calls:
            raise ModelUnavailable(f"the recording holds no call {request.call_id}.")
        recorded_hash, call = self._calls[request.call_id]
        now_hash = messages_hash(request.messages)
        if now_hash != recorded_hash:
            raise ModelUnavailable(
                f"call {request.call_id} asks something else than was recorded (messages "
                f"{now_hash}, recorded {recorded_hash}): the harness, the task or the screen "
                "differs from the recording."
            )
        return Reply(
            text=call.reply,
            finish_reason=call.finish_reason,
            usage=call.usage,
            prompt_token_ids=self._prompts.get(call.call_id),
            token_ids=call.token_ids,
            logprobs=call.logprobs,
            weights_version=call.weights_version,
            images=call.images,
            banned_token_ids=call.banned_token_ids,
            token_stack=call.token_stack,
            took_s=call.took_s,
            attempts=call.attempts,
        )

    async def preflight(self) -> None:
        """A recording is always there."""

    async def close(self) -> None:
        """A recording holds nothing."""


def recorded_requests(calls: Sequence[CallRecord]) -> list[tuple[CallRecord, tuple[Message, ...]]]:
    """Return each call with all the messages it sent, put together from the recorded deltas.

    Raises:
        ConfigError: a call refers to a parent that does not come before it.
    """
    sent: dict[str, tuple[Message, ...]] = {}
    replies: dict[str, str] = {}
    requests = []
    for call in calls:
        messages = call.messages
        if call.parent_call_id is not None:
            if call.parent_call_id not in sent:
                raise ConfigError(
                    f"call {call.call_id} extends {call.parent_call_id}, which is not recorded "
                    "before it."
                )
            said = Message(role="assistant", parts=(TextPart(text=replies[call.parent_call_id]),))
            messages = (*sent[call.parent_call_id], said, *messages)
        sent[call.call_id] = messages
        replies[call.call_id] = call.reply
        requests.append((call, messages))
    return requests


def messages_hash(messages: Sequence[Message]) -> str:
    """Return 16 hex digits of the SHA-256 of the messages; images count by their blob keys."""
    return hashlib.sha256(msgspec.json.encode(messages)).hexdigest()[:16]
