"""What the model sees of the past: windows of K steps, O of them shared with the one before.

Inside a window a prompt only grows: prompt n+1 is prompt n, the reply to it, and one user turn. At
a boundary the screenshots of older steps collapse to a placeholder and their words stay, so the
collapsed part is the same for every later prompt as well. Training cuts its Samples at the same
windows. All of it is pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.config import Window
from screenloop.messages import ImagePart, Message, TextPart
from screenloop.types import Struct

PLACEHOLDER = "[screenshot no longer shown]"
"""Stands where an older step's screenshot was."""


class WindowSpan(Struct, frozen=True, kw_only=True):
    """One window over an Episode's steps; all indices are inclusive and count from 0."""

    index: int
    first_step: int
    """The oldest step whose screenshot is shown."""
    first_new_step: int
    """The first step that no earlier window holds: the boundary."""
    last_step: int


class PastStep(Struct, frozen=True, kw_only=True):
    """One step as the model saw it, and what it replied."""

    words: str
    """The user turn's words, before the screenshot."""
    image: ImagePart | TextPart
    """The screen: a picture, or its words for a dialect that reads the tree."""
    reminder: str = ""
    """The words behind the screen, shown as long as it is."""
    reply: str | None = None
    """`None` for the step that is being decided."""


def window_at(step: int, window: Window) -> WindowSpan:
    """Return the window in which a step is new; it is full, wherever the Episode will end."""
    if step < window.steps:
        return WindowSpan(index=0, first_step=0, first_new_step=0, last_step=window.steps - 1)
    stride = window.steps - window.overlap
    index = 1 + (step - window.steps) // stride
    first_new = window.steps + (index - 1) * stride
    return WindowSpan(
        index=index,
        first_step=first_new - window.overlap,
        first_new_step=first_new,
        last_step=first_new + stride - 1,
    )


def windows(n_steps: int, window: Window) -> tuple[WindowSpan, ...]:
    """Return the windows of an Episode of `n_steps` steps; each step is new in exactly one.

    With K=10 and O=2 the new steps are 0-9, 10-17, 18-25 and so on.
    """
    spans: list[WindowSpan] = []
    step = 0
    while step < n_steps:
        span = window_at(step, window)
        step = span.last_step + 1
        last = min(span.last_step, n_steps - 1)
        spans.append(
            WindowSpan(
                index=span.index,
                first_step=span.first_step,
                first_new_step=span.first_new_step,
                last_step=last,
            )
        )
    return tuple(spans)


def windowed_prompt(
    system: str | None, steps: Sequence[PastStep], window: Window
) -> tuple[Message, ...]:
    """Return the prompt for the last of `steps` under windowed history."""
    return _prompt(system, steps, window_at(len(steps) - 1, window).first_step)


def last_images_prompt(
    system: str | None, steps: Sequence[PastStep], images: int
) -> tuple[Message, ...]:
    """Return the prompt that keeps the newest `images` screenshots: the common sliding policy.

    Here for comparison only: each step moves the first screenshot, so the prefix ends there.
    """
    return _prompt(system, steps, max(0, len(steps) - images))


def assistant(reply: str) -> Message:
    """Return the model's reply as a turn of the conversation."""
    return Message(role="assistant", parts=(TextPart(text=reply),))


def _prompt(system: str | None, steps: Sequence[PastStep], first_shown: int) -> tuple[Message, ...]:
    messages: list[Message] = []
    if system is not None:
        messages.append(Message(role="system", parts=(TextPart(text=system),)))
    for index, step in enumerate(steps):
        shown: tuple[TextPart | ImagePart, ...] = (TextPart(text=PLACEHOLDER),)
        if index >= first_shown:
            reminder = (TextPart(text=f"\n{step.reminder}"),) if step.reminder else ()
            shown = (step.image, *reminder)
        messages.append(Message(role="user", parts=(TextPart(text=step.words), *shown)))
        if step.reply is not None:
            messages.append(assistant(step.reply))
    return tuple(messages)
