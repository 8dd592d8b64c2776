"""The dialect of tiny models that may also call the apps' own tools.

    open settings               bring an app to the front
    call <t3> name dark on on   a tool, then the name of each argument with its value
    call <t7> text <q0>         a value is a quote of the goal, a number, `on` or `off`, or a word

`<t3>` is the fourth of all tools that the prompt declares, in alphabetical order: one token for
each, which a small network learns like any other place. All else is as in `tinytree`.
"""

from __future__ import annotations

import re
from typing import Any

from screenloop.actions import Action, Open, Tool
from screenloop.agent.dialects.base import DialectContext, clip
from screenloop.agent.dialects.tiny.touches import TinyTree
from screenloop.errors import ParseFailure

WORDS = ("call", "open")
"""What a tokenizer must know on top of the other dialects' words, besides the arguments' names."""
_TOOL = re.compile(r"<t([0-9]{1,4})>")
_QUOTE = re.compile(r"<q([0-9]{1,3})>")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
_WORD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_APART = re.compile(r"\s*_\s*")
"""Tokenizers that take punctuation for words of its own give `reminder _ min` back."""
_SWITCH = {"on": True, "off": False}


class TinyTools(TinyTree):
    """Reads the list, names elements by their marks and tools by their numbers."""

    name = "tinytools"
    calls_tools = True

    def _read(self, line: str, context: DialectContext) -> Action:
        verb, _, rest = line.partition(" ")
        if verb not in WORDS:
            return super()._read(line, context)
        words = _APART.sub("_", rest).split()
        if verb == "open":
            if len(words) != 1 or not _WORD.fullmatch(words[0]):
                raise ParseFailure(f"{clip(line, 80)!r}: open needs the name of one app")
            return Open(app=words[0])
        return self._read_call(words, context)

    def _read_call(self, words: list[str], context: DialectContext) -> Tool:
        tools = sorted(context.tools)
        if not tools:
            raise ParseFailure("no tools can be called in this episode; use the screen")
        number = _TOOL.fullmatch(words[0]) if words else None
        if number is None or int(number[1]) >= len(tools):
            raise ParseFailure(
                f"call needs a tool first, from <t0> to <t{len(tools) - 1}>, not "
                f"{clip(words[0] if words else '', 40)!r}"
            )
        pairs = words[1:]
        if len(pairs) % 2:
            raise ParseFailure(f"the argument {clip(pairs[-1], 40)!r} has no value")
        args: dict[str, Any] = {}
        for name, value in zip(pairs[::2], pairs[1::2], strict=True):
            if not _WORD.fullmatch(name) or name in args:
                raise ParseFailure(f"{clip(name, 40)!r} is no name of another argument")
            args[name] = _value_of(value, context)
        return Tool(name=tools[int(number[1])], args=args)

    def _words(self, action: Action, context: DialectContext) -> str | None:
        match action:
            case Open(app=app) if _WORD.fullmatch(app):
                return f"open {app}"
            case Tool(name=name, args=args) if name in context.tools:
                said = [word for item in args.items() for word in _words_of(item, context)]
                call = f"call <t{sorted(context.tools).index(name)}>"
                return " ".join([call, *said]) if len(said) == 2 * len(args) else None
            case Open() | Tool():
                return None
        return super()._words(action, context)


def _value_of(word: str, context: DialectContext) -> Any:
    """Read one value.

    Raises:
        ParseFailure: it has none of the forms.
    """
    quote = _QUOTE.fullmatch(word)
    if quote is not None and int(quote[1]) < len(context.quotes):
        return context.quotes[int(quote[1])]
    if word in _SWITCH:
        return _SWITCH[word]
    if _NUMBER.fullmatch(word):
        return int(word)
    if _WORD.fullmatch(word):
        return word
    raise ParseFailure(
        f"{clip(word, 40)!r} is no value; expected a quote of the goal (it has "
        f"{len(context.quotes)}, counted from <q0>), a number, on, off or a word"
    )


def _words_of(item: tuple[str, Any], context: DialectContext) -> list[str]:
    """Return an argument's name and value, or nothing where one of them has no words here."""
    name, value = item
    if not _WORD.fullmatch(name):
        return []
    if isinstance(value, bool):
        return [name, "on" if value else "off"]
    if isinstance(value, int) and 0 <= value < 10**15:
        return [name, str(value)]
    if isinstance(value, str) and value in context.quotes:
        return [name, f"<q{context.quotes.index(value)}>"]
    if isinstance(value, str) and _WORD.fullmatch(value) and value not in _SWITCH:
        return [name, value]
    return []
