"""The parts of a reply: what lies behind the thinking, inside a tag, or on the action line."""

from __future__ import annotations

import re

from screenloop.errors import ParseFailure

_THINKING = re.compile(r"\s*<think(?:ing)?>", re.I)
_THINKING_END = re.compile(r"</think(?:ing)?>", re.I)
_ACTION_LINE = re.compile(r"^[ \t>*#`-]{0,8}action[ \t*`]{0,4}[:：][ \t*]{0,4}", re.I | re.M)


def after_thinking(text: str, mark: re.Pattern[str]) -> str:
    """Return the text behind a thinking block, where there is one.

    A block that opens the reply ends at its first closing tag. A closing tag alone (the template
    opened the block) counts only before the first `mark`, so that one inside an action's own text
    does no harm. `</think>` and `</thinking>` both close.
    """
    end = _THINKING_END.search(text)
    if not end:
        return text
    first = mark.search(text)
    if _THINKING.match(text) or not first or end.start() < first.start():
        return text[end.end() :]
    return text


def tagged(text: str, tag: str) -> str | None:
    """Return what follows the first `<tag>` behind the thinking; `None` without such a tag.

    The text is not cut at the closing tag: who reads the content knows where it ends, and a
    closing tag that is missing is tolerated.
    """
    mark = re.compile(rf"<{tag}>", re.I)
    body = after_thinking(text, mark)
    found = mark.search(body)
    return body[found.end() :] if found else None


def action_line(text: str, shape: str) -> str | None:
    """Return what follows the one `Action:` that begins a line; `None` without such a line.

    Raises:
        ParseFailure: there are several.
    """
    body = after_thinking(text, _ACTION_LINE)
    marks = list(_ACTION_LINE.finditer(body))
    if len(marks) > 1:
        raise ParseFailure(
            f"the reply holds {len(marks)} lines that begin with 'Action:'; expected one: {shape}"
        )
    return body[marks[0].end() :] if marks else None


def bare(text: str) -> str:
    """Return the reply behind its thinking, without white space around it."""
    return after_thinking(text, _NEVER).strip()


def nothing_found(text: str, shape: str) -> ParseFailure:
    """Return the failure for a reply in which no action stands."""
    if not text.strip():
        return ParseFailure(f"the reply is empty; expected {shape}")
    return ParseFailure(f"the reply holds no action; expected {shape}")


_NEVER = re.compile(r"(?!)")
