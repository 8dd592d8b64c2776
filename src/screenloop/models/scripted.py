"""Models that need no server: one answers from a script, one acts at random."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from screenloop.actions import Action, Finish
from screenloop.envs.draws import DRAWABLE, draw_action
from screenloop.errors import AgentError, ConfigError
from screenloop.messages import ChatRequest, Reply
from screenloop.models.calls import CallCounter, episode_of
from screenloop.types import Struct


class _ReplyLine(Struct, frozen=True, kw_only=True):
    reply: str


class _TaskLine(Struct, frozen=True, kw_only=True):
    task: str
    replies: tuple[str, ...]


class ScriptedModel:
    """Answers the n-th call of an episode with the n-th reply of its script.

    One script serves every episode, unless `by_task` holds one for the episode's Task; rollout
    says which Task an episode attempts by `set_task`.
    """

    def __init__(
        self,
        replies: Sequence[str] = (),
        *,
        by_task: Mapping[str, Sequence[str]] | None = None,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self._replies = tuple(replies)
        self._by_task = {task: tuple(script) for task, script in (by_task or {}).items()}
        self._tasks: dict[str, str] = {}
        self._calls = CallCounter()

    @classmethod
    def from_file(cls, path: Path) -> ScriptedModel:
        """Read a script: a JSON list, or one JSON value a line.

        A value is a string (the reply), `{"reply": "..."}`, or
        `{"task": "suite/name@version", "replies": [...]}` for one Task.

        Raises:
            ConfigError: the file cannot be read or holds something else; names the line.
        """
        common: list[str] = []
        by_task: dict[str, tuple[str, ...]] = {}
        for entry in _entries(path):
            match entry:
                case _TaskLine():
                    by_task[entry.task] = entry.replies
                case _ReplyLine():
                    common.append(entry.reply)
                case str():
                    common.append(entry)
        if not common and not by_task:
            raise ConfigError(f"script {path} holds no reply.")
        return cls(common, by_task=by_task, name=f"scripted:{path}")

    def set_task(self, episode_id: str, task_id: str) -> None:
        """Say which Task (`suite/name@version`) the episode attempts."""
        self._tasks[episode_id] = task_id

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer with the next reply of the episode's script.

        Raises:
            AgentError: the script is at its end.
        """
        task = self._tasks.get(episode_of(request.call_id), "")
        script = self._by_task.get(task, self._replies)
        number = self._calls.number(request.call_id)
        if number >= len(script):
            where = f" for task {task}" if task in self._by_task else ""
            raise AgentError(
                f"the script{where} is at its end: it holds {len(script)} replies and call "
                f"{number + 1} was asked for. Add replies, or end the script with a finish action."
            )
        return Reply(text=script[number])

    async def preflight(self) -> None:
        """A script is always there."""

    async def close(self) -> None:
        """A script holds nothing."""


class RandomModel:
    """Draws a valid GUI Action for each call; equal seeds and call ids give equal replies.

    `render` is the dialect's. About one call in fifty ends the episode.
    """

    FINISH_SHARE = 0.02

    def __init__(
        self,
        render: Callable[[Action], str],
        *,
        seed: int = 0,
        kinds: Collection[str] = DRAWABLE,
        name: str = "random",
    ) -> None:
        self.name = name
        self._render = render
        self._seed = seed
        self._kinds = frozenset(kinds)

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        rng = random.Random(f"{self._seed}/{request.call_id}")
        action: Action
        if rng.random() < self.FINISH_SHARE:
            action = Finish(status=rng.choice(("success", "failure")))
        else:
            action = draw_action(rng, self._kinds)
        return Reply(text=self._render(action))

    async def preflight(self) -> None:
        """Chance is always there."""

    async def close(self) -> None:
        """Chance holds nothing."""


def _entries(path: Path) -> list[str | _ReplyLine | _TaskLine]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read script {path}: {error}.") from error
    if data.lstrip().startswith(b"["):
        return _decode_all(data, f"{path}")
    lines = enumerate(data.splitlines(), start=1)
    return [
        entry
        for number, line in lines
        if line.strip()
        for entry in _decode_all(b"[" + line + b"]", f"{path}:{number}")
    ]


def _decode_all(data: bytes, where: str) -> list[str | _ReplyLine | _TaskLine]:
    try:
        values = msgspec.json.decode(data, type=list[str | dict[str, object]])
        return [value if isinstance(value, str) else _entry(value) for value in values]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{where} is no script entry: {error}. Expected a string, "
            '{"reply": "..."} or {"task": "...", "replies": [...]}.'
        ) from error


def _entry(value: dict[str, object]) -> _ReplyLine | _TaskLine:
    if "task" in value:
        return msgspec.convert(value, _TaskLine)
    return msgspec.convert(value, _ReplyLine)
