"""Bench: how much of each prompt a server's prefix cache already holds, by history policy.

A scripted Episode runs through the real Harness, so the prompts are byte for byte those of a Run.
The same steps are then laid out under the sliding policy that keeps the newest images. Counting:

- text: 4 UTF-8 bytes a token, rounded up for each part (no tokenizer is needed or at hand);
- a turn: 4 tokens for its role marks;
- a picture: one token for each 32x32 block after smart_resize, the Qwen3-VL rule;
- cached: the longest common prefix with the prompt of the call before. The reply that a server has
  just generated is not counted as cached, so a server that keeps it does better than this.

`recompute_ratio` is prompt tokens not cached, windows over sliding. `train_tokens_ratio` is tokens
of one Sample a window over one Sample a step, each with its reply. `total_prompt_tokens_ratio` is
all prompt tokens, windows over sliding: what a server without a prefix cache would feel.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from screenloop.actions import Tap
from screenloop.agent.base import Assignment, Turn
from screenloop.agent.dialects.plain import Plain
from screenloop.agent.harness import Harness, reconstruct, renderer
from screenloop.agent.history import PastStep, last_images_prompt, windows
from screenloop.agent.screen import image_tokens, smart_resize
from screenloop.bench.prefix.reuse import (
    BYTES_PER_TOKEN,
    TURN_TOKENS,
    ByteCounting,
    pieces,
    prompt_tokens,
    reuse,
)
from screenloop.config import ImageRule, Window
from screenloop.messages import ChatRequest, ImagePart, Message, Reply
from screenloop.store.blobs import BlobStore, MemoryBlobs
from screenloop.store.episodes import CallRecord
from screenloop.types import Effect, EnvSpec, Goal, Observation, SizePx, Struct, ToolSpec

COUNTING = ByteCounting()
REPLY_TOKENS = 100
FRAME_PX: SizePx = (412, 915)
OTHER_HEADS = (300, 3000)
"""Tokens of the fixed head in the further rows."""
OTHER_FRAMES_PX: tuple[SizePx, ...] = ((1280, 720), (1080, 2400))
SHORT_SLIDE = 3
"""Images that the further sliding policy keeps."""
_APPS = ("contacts", "messages", "notes", "calendar", "clock", "settings", "gallery", "shop")
_GOAL = "Find the dinner with Ada in the calendar, tell her the time in a message, set an alarm."


class PrefixRow(Struct, frozen=True, kw_only=True):
    """One setting and its figures."""

    head_tokens: int
    """System message, goal and first words: what stands before the first picture."""
    frame_px: SizePx
    image_tokens: int
    last_k: int
    """Images that the sliding policy keeps."""
    hit_windowed: float
    hit_last_k: float
    recompute_ratio: float
    train_tokens_ratio: float
    total_prompt_tokens_ratio: float


class PrefixBench(Struct, frozen=True, kw_only=True):
    """The figures of the main setting, and a table over other heads and frames."""

    hit_windowed: float
    hit_last_k: float
    recompute_ratio: float
    train_tokens_ratio: float
    total_prompt_tokens_ratio: float
    head_tokens: int
    steps: int
    window_steps: int
    window_overlap: int
    counting: str
    table: tuple[PrefixRow, ...]


class _Typist:
    """A model that taps somewhere else each time, in replies of a fixed length."""

    name = "typist"

    def __init__(self, spec: EnvSpec, reply_tokens: int) -> None:
        self._render = renderer(Plain(), spec, "hybrid", ImageRule())
        self._bytes = reply_tokens * BYTES_PER_TOKEN
        self._count = 0

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        self._count += 1
        line = self._render(Tap(at=(self._count % 7 / 10 + 0.1, self._count % 11 / 12 + 0.05)))
        words = f"At look {self._count} the target is visible, so it is pressed and checked. " * 9
        stock, _, action = line.partition("\nAction:")
        room = self._bytes - len(line.encode()) - 1
        return Reply(text=f"{stock} {words[:room]}\nAction:{action}")

    async def preflight(self) -> None:
        """Nothing can be out of reach."""

    async def close(self) -> None:
        """Nothing is held."""


async def run(steps: int = 40, window: Window = Window(), *, table: bool = True) -> PrefixBench:
    """Measure the main setting, and the table of others unless it is left out.

    Args:
        steps: Length of the Episode.
        window: The windowed policy; the sliding one keeps as many images as a window has steps.
        table: Whether to measure other heads, frames and a shorter slide as well.
    """
    main = await measure(steps, window)
    rows = [main]
    if table:
        rows += [await measure(steps, window, head_tokens=head) for head in OTHER_HEADS]
        rows += [await measure(steps, window, frame_px=frame) for frame in OTHER_FRAMES_PX]
        rows.append(await measure(steps, window, last_k=SHORT_SLIDE))
    return PrefixBench(
        hit_windowed=main.hit_windowed,
        hit_last_k=main.hit_last_k,
        recompute_ratio=main.recompute_ratio,
        train_tokens_ratio=main.train_tokens_ratio,
        total_prompt_tokens_ratio=main.total_prompt_tokens_ratio,
        head_tokens=main.head_tokens,
        steps=steps,
        window_steps=window.steps,
        window_overlap=window.overlap,
        counting=f"{BYTES_PER_TOKEN} bytes a token, {TURN_TOKENS} tokens a turn, "
        "32x32 px an image token, prefix of the last prompt cached",
        table=tuple(rows),
    )


async def measure(
    steps: int,
    window: Window,
    *,
    frame_px: SizePx = FRAME_PX,
    head_tokens: int | None = None,
    last_k: int | None = None,
) -> PrefixRow:
    """Play one Episode and compare the two policies on it.

    Args:
        steps: Length of the Episode.
        window: The windowed policy.
        frame_px: Size of the screen.
        head_tokens: Length of a filler in place of the dialect's own fixed text.
        last_k: Images that the sliding policy keeps; the window's steps when not given.
    """
    prompt = None if head_tokens is None else ("fixed text " * head_tokens)[: head_tokens * 4]
    harness, records = await _play(steps, window, frame_px, prompt)
    windowed = reconstruct(records)
    keep = window.steps if last_k is None else last_k
    sliding = [_sliding(windowed[0], harness.history, index, keep) for index in range(steps)]
    total, cached = reuse(windowed, COUNTING)
    slide_total, slide_cached = reuse(sliding, COUNTING)
    sampled = sum(COUNTING.text(record.reply) for record in records)
    ends = [span.last_step for span in windows(steps, window)]
    by_window = sum(
        prompt_tokens(windowed[i], COUNTING) + COUNTING.text(records[i].reply) for i in ends
    )
    return PrefixRow(
        head_tokens=_head_tokens(windowed[0]),
        frame_px=frame_px,
        image_tokens=image_tokens(smart_resize(frame_px, ImageRule())),
        last_k=keep,
        hit_windowed=round(cached / total, 4),
        hit_last_k=round(slide_cached / slide_total, 4),
        recompute_ratio=round((total - cached) / (slide_total - slide_cached), 4),
        train_tokens_ratio=round(by_window / (total + sampled), 4),
        total_prompt_tokens_ratio=round(total / slide_total, 4),
    )


async def _play(
    steps: int, window: Window, frame_px: SizePx, prompt: str | None
) -> tuple[Harness, list[CallRecord]]:
    blobs = MemoryBlobs()
    spec = EnvSpec(
        kind="phone",
        surface="mobile",
        size_px=frame_px,
        actions=frozenset({"tap", "swipe", "scroll", "type", "key", "open", "wait", "tool"}),
        apps=_APPS,
        tools=tuple(_tool(app) for app in _APPS),
    )
    harness = Harness(
        _Typist(spec, REPLY_TOKENS), blobs, dialect=Plain(), window=window, prompt=prompt
    )
    harness.begin(Assignment(episode_id="bench", goal=Goal(text=_GOAL), spec=spec, mode="hybrid"))
    records: list[CallRecord] = []
    for index in range(steps):
        app = _APPS[index // 10 % len(_APPS)]
        seen = Observation(
            frame=_frame(blobs, frame_px, index), size_px=frame_px, app=app, tools=(f"{app}.find",)
        )
        done = (Effect(ok=True),) if index else ()
        turn = Turn(step_index=index, observation=seen, effects=done)
        decision = await harness.decide(turn, deadline_s=60)
        assert decision.call is not None
        assert decision.actions
        records.append(decision.call)
    return harness, records


def _tool(app: str) -> ToolSpec:
    query = {"type": "string", "description": "words to look for"}
    return ToolSpec(
        name=f"{app}.find",
        description=f"Look for an entry in {app}.",
        parameters={"type": "object", "properties": {"query": query}, "required": ["query"]},
    )


def _frame(blobs: BlobStore, size_px: SizePx, index: int) -> str:
    picture = Image.new("RGB", size_px, "white")
    bar = (0, index * 8, size_px[0] - 1, index * 8 + 7)
    ImageDraw.Draw(picture).rectangle(bar, fill=(40, 90, index % 256))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=90)
    return blobs.put(out.getvalue(), "jpg")


def _sliding(
    first: Sequence[Message], history: Sequence[PastStep], index: int, keep: int
) -> tuple[Message, ...]:
    now = history[index]
    steps = [*history[:index], PastStep(words=now.words, image=now.image)]
    return last_images_prompt(first[0].text, steps, keep)


def _head_tokens(messages: Sequence[Message]) -> int:
    found = pieces(messages, COUNTING)
    first = next(i for i, (piece, _) in enumerate(found) if isinstance(piece, ImagePart))
    return sum(tokens for _, tokens in found[:first])
