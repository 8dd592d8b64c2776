"""Messages to a chat in the model's own template, cut at the replies, without torch.

As in `prompts`, a reply given here goes into the next prompt as the very ids that were sampled.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from screenloop.engine.gguf.file import GgufCard
from screenloop.errors import ConfigError
from screenloop.messages import ImagePart, Message
from screenloop.types import Struct


class Piece(Struct, frozen=True, kw_only=True):
    """A stretch of the templated chat."""

    text: str
    is_reply: bool = False


class ChatTemplate:
    """Renders chats as the model's own template says."""

    def __init__(self, card: GgufCard) -> None:
        """Compile the template.

        Raises:
            ConfigError: it is not valid Jinja.
        """
        self._card = card
        # The same settings that templates are written for elsewhere. `strftime_now` is left out on
        # purpose: templates fall back to a fixed date, and prompts stay the same from day to day.
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _json
        environment.globals["raise_exception"] = _refuse
        try:
            self._template = environment.from_string(card.template)
        except TemplateError as error:
            raise ConfigError(f"the chat template of {card.name} is broken: {error}") from error

    def pieces(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]] = (),
        *,
        picture: str = "",
    ) -> Iterator[Piece]:
        """Yield the templated chat cut at the replies, up to where the next reply begins.

        What begins a text is left out where the tokenizer puts it in front by itself.

        A reply that the template rewrites (as some do with old thinking) stays part of the text
        around it.

        Args:
            messages: The chat.
            tools: Declarations of tools.
            picture: Stands for each picture; it is never taken from the words.

        Raises:
            ConfigError: the template refuses the messages.
        """
        chat = [self._turn(message, picture) for message in messages]
        whole = self._render(chat, tools)
        at = 0
        for index, turn in enumerate(chat):
            if turn["role"] != "assistant":
                continue
            head, reply = self._render(chat[:index], tools), turn["content"]
            if len(head) >= at and whole.startswith(head + reply):
                yield Piece(text=whole[at : len(head)])
                yield Piece(text=reply, is_reply=True)
                at = len(head) + len(reply)
        yield Piece(text=whole[at:])

    def _render(self, chat: Sequence[dict[str, str]], tools: Sequence[dict[str, Any]]) -> str:
        try:
            return self._template.render(
                messages=chat,
                tools=list(tools) or None,
                add_generation_prompt=True,
                bos_token=self._card.bos,
                eos_token=self._card.eos,
            ).removeprefix(self._card.bos if self._card.adds_bos else "")
        except TemplateError as error:
            raise ConfigError(
                f"the chat template of {self._card.name} refuses the messages: {error}"
            ) from error

    def _turn(self, message: Message, picture: str) -> dict[str, str]:
        if message.role == "assistant":
            return {"role": message.role, "content": message.text}
        parts = (
            picture if isinstance(part, ImagePart) else self._plain(part.text, picture)
            for part in message.parts
        )
        return {"role": message.role, "content": "".join(parts)}

    def _plain(self, text: str, picture: str) -> str:
        """Return the words with control tokens spelt apart, so that a page cannot forge a turn."""
        for marker in (*self._card.markers, picture):
            if marker and marker in text:
                text = text.replace(marker, f"{marker[0]} {marker[1:]}")
        return text


def _json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Write JSON as templates expect it: without the HTML escapes of Jinja's own filter."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
