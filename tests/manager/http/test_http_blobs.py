"""Only keys travel: messages are small, and frames end in the folder of the Run that saw them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from http_place import TOKEN, Served, serving

from screenloop.actions import Answer, Finish, Type, Wait
from screenloop.rollout.managers import ManagerAt
from screenloop.rollout.plans import golden_plan
from screenloop.rollout.play import RunRequest, play
from screenloop.store.episodes import read_episode
from screenloop.store.runs import RunFolder
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Budget, Claim, Start, Task

MOST_BYTES = 2048
ONCE_A_KIND = "/v1/spec"
"""Asked for once, before any lease."""


class Scales:
    """Stands before an app and weighs what goes in and out."""

    def __init__(self) -> None:
        self.weights: dict[str, int] = {}
        self._app: Any = None

    def around(self, app: Any) -> Any:
        self._app = app
        return self

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        path = scope["path"]

        def weigh(message: Any) -> Any:
            size = len(message.get("body", b""))
            self.weights[path] = max(self.weights.get(path, 0), size)
            return message

        async def weighed() -> Any:
            return weigh(await receive())

        async def sent(message: Any) -> None:
            await send(weigh(message))

        await self._app(scope, weighed, sent)

    def require_light(self) -> None:
        heavy = {path: size for path, size in self.weights.items() if size >= MOST_BYTES}
        heavy.pop(ONCE_A_KIND, None)
        assert heavy == {}


async def solve(served: Served, task: Task) -> bool:
    """Play the known solution of a task; return whether it was judged solved."""
    client = served.client()
    lease = await client.acquire(task.env, "a-run", ttl_s=60)
    await client.reset(lease, Start(task=task, mode="hybrid"), deadline_s=60)
    claim = Claim()
    for number, action in enumerate(await golden_plan(task, "hybrid")):
        if isinstance(action, Answer):
            claim = Claim(answer=action.text, finish=claim.finish)
        elif isinstance(action, Finish):
            claim = Claim(answer=claim.answer, finish=action)
        else:
            await client.step(lease, f"{task.key}-r0/{number}/0", action, deadline_s=60)
    verdict = await client.evaluate(lease, claim, deadline_s=60)
    await client.release(lease)
    return verdict.success


async def test_messages_of_phone_tasks_stay_under_two_kilobytes(tmp_path: Path) -> None:
    scales = Scales()
    tasks = select(find_suite("phone-core"))
    heaviest = sorted(tasks, key=lambda task: -len(str(task)))[:4]
    async with serving(tmp_path, wrap=scales.around) as served:
        for task in (*heaviest, *tasks[::20]):
            assert await solve(served, task), task.key
    assert scales.weights["/v1/leases/step"] > 0
    scales.require_light()


async def test_long_texts_go_through_the_store_in_both_directions(tmp_path: Path) -> None:
    scales = Scales()
    task = find_suite("fake").task("add_to_counter", 0)
    async with serving(tmp_path, wrap=scales.around) as served:
        client = served.client()
        lease = await client.acquire(task.env, "a-run", ttl_s=60)
        await client.reset(lease, Start(task=task), deadline_s=60)
        await client.step(lease, "e/0/0", Type(text="x" * 18_000), deadline_s=60)
        await client.evaluate(lease, Claim(answer="y" * 30_000), deadline_s=60)
    scales.require_light()


async def test_refusals_with_long_words_are_cut(tmp_path: Path) -> None:
    scales = Scales()
    async with serving(tmp_path, wrap=scales.around) as served:
        body = {
            "env": {"kind": "k" * 9000, "size_px": [1, 1]},
            "run_id": "run",
            "request_id": "x",
            "ttl_s": 60,
        }
        status, answer = await served.post("/v1/leases", body)
        assert status == 400
        assert len(answer["message"]) <= 800


async def test_frames_are_kept_by_the_run_that_looked_at_them(tmp_path: Path) -> None:
    task = find_suite("fake").task("add_to_counter", 0)
    async with serving(tmp_path) as served:
        client = served.client()
        lease = await client.acquire(task.env, "a-run", ttl_s=60)
        keys = [(await client.reset(lease, Start(task=task), deadline_s=60)).frame]
        result = await client.step(lease, "e/0/0", Wait(), deadline_s=60)
        keys += [result.observation.frame, (await client.observe(lease, deadline_s=60)).frame]
        for key in keys:
            assert key is not None
            assert client.blobs.own.get(key) == served.shared.get(key)


# ---- whole runs ------------------------------------------------------------------------------


async def played(
    tmp_path: Path, name: str, at: ManagerAt | None, *, suite: str, **fields: Any
) -> tuple[list[Any], RunFolder]:
    """Play a Run; return all that its model was sent and replied, in order of the episodes."""
    out = tmp_path / name
    fields = {"model": "oracle", **fields}
    result = await play(RunRequest(suite=suite, out=str(out), manager=at, **fields))
    assert [row.unscored for row in result.rows] == [None] * len(result.rows)
    episodes = [read_episode(out / row.path) for row in result.rows]
    calls = [
        (episode.start.task.key, call.call_id, call.messages, call.reply)
        for episode in episodes
        if episode is not None
        for call in episode.calls
    ]
    return calls, RunFolder(out)


@pytest.mark.parametrize(
    ("suite", "fields"),
    [
        ("fake", {"concurrency": 3}),
        ("phone-core", {"limit": 1}),
        ("phone-core", {"limit": 1, "dialect": "tinytree", "model": "scripted"}),
    ],
)
async def test_a_run_by_a_manager_sends_the_model_the_very_same_bytes(
    tmp_path: Path, suite: str, fields: dict[str, Any]
) -> None:
    if fields.get("model") == "scripted":
        script = tmp_path / "script.json"
        script.write_text('["<e1>", "<e2>", "<e3>", "nothing that can be read", "<e4>", "<e5>"]')
        fields = {**fields, "model": f"scripted:{script}", "budget": Budget(steps=6)}
    here, _ = await played(tmp_path, "here", None, suite=suite, **fields)
    async with serving(tmp_path) as served:
        at = ManagerAt(url=served.url, token=TOKEN)
        there, folder = await played(tmp_path, "there", at, suite=suite, **fields)
        assert served.service.status().leases == 0
    assert there == here
    assert len(here) > 3
    # With the manager's store gone, the run still holds every frame and tree it looked at.
    (tmp_path / "shared").rename(tmp_path / "gone")
    seen = 0
    for row in folder.result().rows:
        episode = read_episode(folder.root / row.path)
        assert episode is not None
        for step in episode.steps:
            for key in (step.observation.frame, step.observation.tree, step.observation.text):
                if key is not None:
                    seen += bool(folder.blobs.get(key))
    assert seen > 3
