"""Write a task for the mocked phone, and prove that its verifier is right."""

import asyncio

from screenloop.criteria import Added, Text
from screenloop.envs.phone import PhoneEnvironments
from screenloop.phone.apps.contacts.pages import State as Contacts
from screenloop.phone.apps.notes import actions as notes
from screenloop.rollout.proof import prove_task
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, build, call
from screenloop.verify.verifiers import Verifiers

pack = Pack("productivity")


@pack.template("note_a_number", apps=("notes", "contacts"))
def note_a_number(w: WorldView) -> Draft:
    """Write somebody's number down; each seed is another world, hence another person."""
    person = w.pick(w.state(Contacts).people, lambda p: not p.blocked)
    return Draft(
        goal=f"Write a new note called {person.name} that holds just that person's number.",
        params={"person": person.id},
        # Written from the goal, not from the solution: how it came about does not matter.
        checks=(
            Added(
                app="notes",
                table="notes",
                says="the note holds the number",
                where={
                    "title": Text(value=person.name),
                    "body": Text(value=person.phone, mode="digits"),
                },
            ),
        ),
        golden=(call(notes.add, title=person.name, body=person.phone),),
    )


async def main() -> None:
    phones, verifiers = PhoneEnvironments(MemoryBlobs()), Verifiers()
    for seed in (0, 1):
        task = build(note_a_number, seed, None)
        proof = await prove_task(task, phones, verifiers)
        print(task.goal.text)
        print(
            f"  accepted: {proof.accepted}; {proof.steps} steps by touch; "
            f"{proof.killed} of {proof.mutants} wrong endings rejected"
        )
        print(*proof.reasons, sep="\n")
    await verifiers.close()
    await phones.close()


if __name__ == "__main__":
    asyncio.run(main())
