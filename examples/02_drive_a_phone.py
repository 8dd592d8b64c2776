"""Drive a mocked phone by hand: read the screen, touch it, fork it, see what changed."""

import asyncio

from screenloop.actions import Action, Open, Scroll, Tap
from screenloop.agent.elements import Element, read_elements
from screenloop.envs.phone import PhoneEnvironment
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, Start
from screenloop.verify.judge import judge

DEADLINE_S = 10.0


async def main() -> None:
    task = find_suite("phone-core").task("star_contact", seed=0)
    name = task.goal.text.removeprefix("Make ").removesuffix(" one of my favourite contacts.")
    blobs = MemoryBlobs()
    phone = PhoneEnvironment(task.env, blobs)

    async def find(label: str) -> Element | None:
        """Read the accessibility tree; the Observation carries only its key."""
        seen = await phone.observe(["tree"], deadline_s=DEADLINE_S)
        assert seen.tree is not None
        elements = read_elements(blobs.get(seen.tree), seen.size_px)
        return next((e for e in elements if e.taps and e.label.startswith(label)), None)

    async def do(action: Action) -> None:
        result = await phone.step(action, action_id="by-hand", deadline_s=DEADLINE_S)
        print(f"did: {result.effect.executed:28} now in {result.observation.app}")

    print("goal:", task.goal.text)
    await phone.reset(Start(task=task), deadline_s=DEADLINE_S)
    await do(Open(app="Contacts"))
    while (row := await find(name)) is None:
        await do(Scroll(direction="down"))
    await do(Tap(at=row.at))
    before = await phone.snapshot(deadline_s=DEADLINE_S)

    # The same state twice: a snapshot is a reference, a fork costs nothing and is exact.
    for label in ("Favourite", "Call"):
        await phone.reset(before, deadline_s=DEADLINE_S)
        button = await find(label)
        assert button is not None
        await do(Tap(at=button.at))
        evidence = await phone.evidence(deadline_s=DEADLINE_S)
        verdict = judge(task, evidence, Claim())
        print(f"after {label!r}: reward {verdict.reward:g}, changed {list(evidence.diff)}")
    await phone.close()


if __name__ == "__main__":
    asyncio.run(main())
