"""Runs written by hand through the very writers that rollout uses."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

from screenloop.actions import (
    Action,
    Answer,
    Batch,
    Finish,
    Key,
    Scroll,
    Swipe,
    Tap,
    Type,
)
from screenloop.config import HarnessConfig, RunConfig
from screenloop.criteria import Added
from screenloop.errors import Blame
from screenloop.messages import ImagePart, Message, Sampling, TextPart
from screenloop.store.episodes import (
    CallRecord,
    EndRecord,
    EpisodeWriter,
    StartRecord,
    StepRecord,
    VerdictRecord,
)
from screenloop.store.runs import RunFolder, RunManifest, make_manifest
from screenloop.types import (
    CheckResult,
    DiffRow,
    Effect,
    EndReason,
    EnvRef,
    Goal,
    Observation,
    Step,
    Task,
    Unscored,
    Usage,
    Verdict,
)

SIZE = (412, 915)
GOALS = (
    "Add Ada Park with the number 555-0134 to the contacts, then send her “see you at six”",
    "Set an alarm for 07:30 on weekdays",
    "Buy the cheapest rain jacket and pay with the wallet",
)


def picture(number: int, title: str = "Contacts") -> bytes:
    """Draw something that looks like a phone."""
    image = Image.new("RGB", SIZE, "#f4f3ef")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, SIZE[0], 84), fill="#2b4c9b")
    draw.text((24, 44), f"{title} {number}", fill="white", font_size=24)
    for row in range(8):
        top = 104 + row * 92
        draw.rounded_rectangle((16, top, SIZE[0] - 16, top + 78), 14, fill="white")
        draw.ellipse(
            (30, top + 15, 78, top + 63), fill=f"hsl({(row * 47 + number * 31) % 360},60%,65%)"
        )
        draw.text((94, top + 26), f"Person {row + number}", fill="#333", font_size=20)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=85)
    return out.getvalue()


def a_task(number: int) -> Task:
    names = ("add_contact", "weekday_alarm", "rain_jacket")
    return Task(
        id=f"phone-core/{names[number % 3]}@1",
        seed=number // 3,
        env=EnvRef(kind="phone", size_px=SIZE),
        goal=Goal(text=GOALS[number % 3]),
        checks=(Added(says="Ada Park is in the contacts", app="contacts", table="people"),),
        tags={
            "domain": ("people", "time", "money")[number % 3],
            "difficulty": ("easy", "hard")[number % 2],
            "apps": ("contacts+messages", "clock", "shop+wallet")[number % 3],
        },
        optimal_steps=4,
    )


def a_config(tasks: Sequence[Task], *, model: str = "openai:tiny", repeats: int = 1) -> RunConfig:
    return RunConfig(
        harness=HarnessConfig(
            suite="phone-core",
            suite_version="1",
            tasks=tuple(sorted(task.key for task in tasks)),
            repeats=repeats,
        ),
        model=model,
    )


ACTIONS: tuple[tuple[Action, ...], ...] = (
    (Tap(at=(0.5, 0.4)),),
    (Type(text="Ada Park", at=(0.4, 0.25), submit=True),),
    (Scroll(direction="down"),),
    (Swipe(path=((0.2, 0.8), (0.5, 0.5), (0.8, 0.2)), hold_ms=400),),
    (Batch(actions=(Tap(at=(0.9, 0.06), count=2), Key(name="back"), Answer(text="done"))),),
    (Finish(status="success"),),
)


class RunMaker:
    """Writes a Run's folder, Episode by Episode."""

    def __init__(self, root: Path, tasks: Sequence[Task], config: RunConfig) -> None:
        self.folder = RunFolder(root)
        self.tasks = tuple(sorted(tasks, key=lambda task: task.key))
        self.config = config
        self.manifest: RunManifest = self.folder.open(
            make_manifest(
                config,
                versions={"screenloop": "0.1.0", "pytakumi": "0.1.5", "python": "3.11.2"},
                machine={"cpu": "An example CPU", "cores": "2"},
                started_at=1_790_000_000.0,
            )
        )

    def episode(
        self,
        number: int,
        repeat: int = 0,
        *,
        solved: bool = True,
        steps: int = 6,
        reply: str | None = None,
        unscored: Unscored | None = None,
        cut_off: bool = False,
        parse_error_at: int | None = None,
    ) -> Path:
        """Write one Episode and return its file."""
        task = self.tasks[number]
        index = number * self.config.harness.repeats + repeat
        home = self.folder.episode_folder(index, task.key, repeat)
        path = self.folder.attempt_path(home, 0)
        writer = EpisodeWriter(path)
        writer.write(
            StartRecord(
                episode_id=f"e{number}-{repeat}",
                run_id=self.manifest.run_id,
                task=task,
                repeat=repeat,
                mode="gui_only",
                config_hash=self.manifest.config_hash,
                harness_hash=self.manifest.harness_hash,
                started_at=1_790_000_000.0,
            )
        )
        for index in range(steps):
            call, step = self._turn(index, steps, reply, unread=parse_error_at == index)
            writer.write(call)
            writer.write(StepRecord(step=step))
        if not cut_off:
            writer.write(VerdictRecord(verdict=_verdict(solved=solved, unscored=unscored)))
            reason = EndReason.FINISHED if solved else EndReason.STEP_LIMIT
            writer.write(
                EndRecord(
                    reason=EndReason.FAULT if unscored else reason,
                    steps=steps,
                    usage=Usage(prompt=1000 * steps, cached=800 * steps, completion=60 * steps),
                    seconds=1.5 * steps,
                    final=Observation(
                        frame=self.folder.blobs.put(picture((steps - 1) // 2), "jpg"), size_px=SIZE
                    ),
                )
            )
        writer.close()
        return path

    def _turn(
        self, index: int, steps: int, reply: str | None, *, unread: bool
    ) -> tuple[CallRecord, Step]:
        frame = self.folder.blobs.put(picture(index // 2), "jpg")
        actions = ACTIONS[-1] if index == steps - 1 else ACTIONS[index % 5]
        said = reply or f'I see the list.\n<tool_call>{{"type": "tap", "n": {index}}}</tool_call>'
        call = CallRecord(
            call_id=f"c{index}",
            parent_call_id=f"c{index - 1}" if index else None,
            window_index=0,
            step_index=index,
            messages=(
                *(
                    (Message(role="system", parts=(TextPart(text="You use a phone."),)),)
                    if index == 0
                    else ()
                ),
                Message(
                    role="user",
                    parts=(
                        TextPart(text="Screen now:"),
                        ImagePart(key=frame, mime="image/jpeg", size_px=(416, 928)),
                    ),
                ),
            ),
            sampling=Sampling(),
            model="tiny",
            reply=said,
            finish_reason="stop",
            usage=Usage(prompt=1000 + index, cached=800, completion=60),
            took_s=0.7,
        )
        effects = tuple(
            Effect(
                ok=not (index == 3 and number == 0),
                executed=f"did {index}.{number}",
                code="" if index != 3 else "nothing_here",
                message="" if index != 3 else "nothing at 82,732 can be dragged",
            )
            for number in range(3 if index == 4 else 1)
        )
        step = Step(
            index=index,
            observation=Observation(frame=frame, size_px=SIZE, app="contacts"),
            reply=said,
            call_id=f"c{index}",
            actions=() if unread else actions,
            effects=() if unread else effects,
            parse_error="no tool_call block was found" if unread else None,
            changes=(_row(),) if index == 1 else (),
            took_s=0.9,
        )
        return call, step


def _row() -> DiffRow:
    return DiffRow(
        app="contacts",
        table="people",
        id="p9",
        op="add",
        after={"name": "Ada Park", "phone": "555-0134"},
    )


def _verdict(*, solved: bool, unscored: Unscored | None) -> Verdict:
    if unscored is not None:
        return Verdict(unscored=unscored)
    return Verdict(
        reward=1.0 if solved else 0.5,
        success=solved,
        checks=(
            CheckResult(says="Ada Park is in the contacts", passed=True, weight=1, critical=True),
            CheckResult(
                says="Ada Park got the message",
                passed=solved,
                weight=1,
                critical=True,
                detail="" if solved else "no row of messages.sent matches",
            ),
        ),
        side_effects=()
        if solved
        else (
            DiffRow(
                app="notes",
                table="notes",
                id="n3",
                field="title",
                op="set",
                before="Groceries",
                after="Groceriesx",
            ),
        ),
    )


HOST_LOST = Unscored(
    blame=Blame.INFRASTRUCTURE, stage="model", reason="ModelUnavailable: connection refused"
)
