"""The words around the screenshots: the fixed head, and one short user turn a step.

Nothing here depends on time or chance, so the same Episode always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from screenloop.agent.base import Turn
from screenloop.agent.dialects.base import Dialect
from screenloop.errors import ConfigError
from screenloop.types import Effect, EnvSpec, Mode, Observation, SizePx

MESSAGE_CHARS = 300
"""Longest part of an effect's message that the model is told."""
RESULT_CHARS = 2000
"""Longest part of a tool's or command's result that the model is told."""
_QUOTE = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|(?<!\w)\'([^\']+)\'(?!\w)')
_GOAL_SLOT = re.compile(r"\{(goal|task|instruction|user_task|query)\}")


def prompt_hash(text: str) -> str:
    """Return the SHA-256 of an author's prompt text, for `RunConfig.prompt_hash`."""
    return hashlib.sha256(text.encode()).hexdigest()


def fill_prompt(text: str, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str) -> str:
    """Return an author's prompt with its placeholders filled.

    `{width}` and `{height}` become the size of the picture that the model sees, `{apps}` the names
    that `open` accepts, `{tools}` one JSON schema a line (nothing in `gui_only`), `{language}` the
    goal's language code. All other text stays as it is. The goal comes in the first user turn.

    Raises:
        ConfigError: the text has a slot for the goal.
    """
    slot = _GOAL_SLOT.search(text)
    if slot:
        raise ConfigError(
            f"the prompt file holds {slot[0]}; take it out: the goal is given in the first user "
            "turn. Placeholders: {width}, {height}, {apps}, {tools}, {language}"
        )
    tools = spec.tools if mode == "hybrid" else ()
    values = {
        "{width}": str(picture_px[0]),
        "{height}": str(picture_px[1]),
        "{apps}": ", ".join(spec.apps),
        "{tools}": "\n".join(msgspec.json.encode(t).decode() for t in tools),
        "{language}": lang,
    }
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def head(
    dialect: Dialect, spec: EnvSpec, mode: Mode, picture_px: SizePx, lang: str, prompt: str | None
) -> str:
    """Return the fixed text at the head of each prompt: an author's, or the dialect's own.

    Raises:
        ConfigError: `hybrid` is asked of a dialect that cannot call tools.
    """
    if mode == "hybrid" and not dialect.calls_tools:
        raise ConfigError(
            f"dialect {dialect.name!r} cannot call app-native tools; use --mode gui_only, or a "
            "dialect that can, e.g. plain"
        )
    if prompt is not None:
        return fill_prompt(prompt, spec, mode, picture_px, lang)
    return dialect.system_prompt(spec, mode, picture_px, lang)


def quotes(goal: str) -> tuple[str, ...]:
    """Return what a goal puts in quotation marks, in order, each once."""
    found = (next(part for part in groups if part) for groups in _QUOTE.findall(goal))
    return tuple(dict.fromkeys(found))


def first_words(goal: str, turn: Turn, mode: Mode) -> str:
    """Return the words of the first user turn: the goal, and the tools at hand."""
    return "\n".join([f"Goal: {goal}", *_foreground(turn.observation, None, mode), _screen(turn)])


def next_words(turn: Turn, before: Observation, mode: Mode) -> str:
    """Return the words of a later user turn: what came of the last reply."""
    return "\n".join([*_outcome(turn), *_foreground(turn.observation, before, mode), _screen(turn)])


def _screen(turn: Turn) -> str:
    return f"Screen {turn.step_index + 1}:"


def _outcome(turn: Turn) -> list[str]:
    lines: list[str] = []
    if turn.parse_error is not None:
        error = _clip(turn.parse_error, MESSAGE_CHARS)
        lines.append(f"Nothing was done, your reply could not be read: {error}.")
    elif turn.effects:
        lines.append(f"Result: {'; '.join(_told(effect) for effect in turn.effects)}.")
    if turn.ask_reply is not None:
        lines.append(f"The person replied: {turn.ask_reply}")
    return lines


def _told(effect: Effect) -> str:
    words = "ok" if effect.ok else f"not done ({effect.code or 'failed'})"
    if effect.message:
        words += f", {_clip(effect.message, MESSAGE_CHARS)}"
    if effect.result is not None:
        words += f", returned {_clip(_result(effect), RESULT_CHARS)}"
    return words


def _result(effect: Effect) -> str:
    return msgspec.json.encode(effect.result, order="deterministic").decode()


def _foreground(now: Observation, before: Observation | None, mode: Mode) -> list[str]:
    """Tell which tools can be called, when the app in front has changed."""
    if mode == "gui_only" or (before and (before.app, before.tools) == (now.app, now.tools)):
        return []
    if not now.tools:
        return ["No tools can be called here."] if before and before.tools else []
    return [f"In front: {now.app}. Its tools: {', '.join(now.tools)}."]


def _clip(text: str, length: int) -> str:
    text = text.rstrip(". \n")
    return text if len(text) <= length else text[: length - 3] + "..."
