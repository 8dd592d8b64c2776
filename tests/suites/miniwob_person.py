"""A scripted person: sees a page through its accessibility tree, acts through real Actions."""

from collections.abc import Iterator

import msgspec

from screenloop.actions import Action, Point, Tap, Type
from screenloop.envs.web.environment import WebEnvironment
from screenloop.envs.web.tree import TreeNode
from screenloop.store.blobs import BlobStore
from screenloop.types import Claim, Effect, Observation, Start, Task, Verdict
from screenloop.verify.judge import judge

DEADLINE_S = 120.0


class Person:
    """Plays one episode at a time on one web Environment."""

    def __init__(self, env: WebEnvironment, blobs: BlobStore) -> None:
        self._env = env
        self._blobs = blobs
        self.task: Task | None = None
        self.goal = ""
        self.seen: Observation | None = None

    async def begin(self, task: Task) -> None:
        self.task = task
        self.seen = await self._env.reset(Start(task=task), deadline_s=DEADLINE_S)
        self.goal = self.seen.goal or ""

    async def do(self, action: Action) -> Effect:
        result = await self._env.step(action, action_id="p", deadline_s=DEADLINE_S)
        self.seen = result.observation
        return result.effect

    async def nodes(self, role: str, name: str | None = None) -> list[TreeNode]:
        """Return what the tree shows of a role (and name), in document order."""
        seen = await self._env.observe(("tree",), deadline_s=DEADLINE_S)
        assert seen.tree is not None
        tree = msgspec.json.decode(self._blobs.get(seen.tree), type=TreeNode)
        return [n for n in walk(tree) if n.role == role and name in (None, n.name)]

    async def at(self, role: str, name: str | None = None, index: int = 0) -> Point:
        """Return the middle of one of them, as a share of the frame."""
        node = (await self.nodes(role, name))[index]
        assert node.box is not None
        left, top, width, height = node.box
        frame_width, frame_height = self._env.spec.size_px
        return ((left + width / 2) / frame_width, (top + height / 2) / frame_height)

    async def tap(self, role: str, name: str | None = None, index: int = 0) -> None:
        await self.do(Tap(at=await self.at(role, name, index)))

    async def fill(self, text: str, index: int = 0, role: str = "textbox") -> None:
        await self.do(Type(text=text, at=await self.at(role, index=index)))

    async def verdict(self) -> Verdict:
        assert self.task is not None
        return judge(self.task, await self._env.evidence(deadline_s=DEADLINE_S), Claim())


def walk(node: TreeNode) -> Iterator[TreeNode]:
    yield node
    for child in node.children:
        yield from walk(child)
