"""Tasks over Contacts alone."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import Added, AnswerIs, Changed, Removed, Text
from screenloop.phone.apps import contacts
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, call, look

pack = Pack("communication")

NEW_NAMES = ("Zoe Young", "Theo Marsh", "Lina Berg", "Marco Dias", "Ravi Shah", "Eva Lund")


@pack.template("save_contact", apps=("contacts",))
def save_contact(w: WorldView) -> Draft:
    """Save somebody new with a number and a group."""
    name = w.rng.choice(NEW_NAMES)
    phone = f"555-0{w.rng.randrange(100, 1000)}"
    group, words = w.rng.choice((("work", "work"), ("family", "family"), ("friends", "friends")))
    return Draft(
        goal=f"Save {name} with the number {phone} in my contacts, among my {words} contacts.",
        params={"name": name, "phone": phone, "group": group},
        checks=(
            Added(
                app="contacts", table="people", weight=2, says=f"{name} is saved with the number",
                where={
                    "name": Text(value=name), "phone": Text(value=phone, mode="digits"),
                    "email": "", "city": "",
                },
            ),
            Added(
                app="contacts", table="people", says=f"{name} is in the group {group}",
                where={"name": Text(value=name), "group": group},
            ),
        ),
        golden=(call(contacts.add, name=name, phone=phone, group=group),),
    )  # fmt: skip


@pack.template("star_contact", apps=("contacts",))
def star_contact(w: WorldView) -> Draft:
    """Make somebody a favourite."""
    person = w.pick(w.state(contacts.State).people, lambda p: not p.favourite)
    return Draft(
        goal=f"Make {person.name} one of my favourite contacts.",
        params={"person": person.id},
        checks=(
            Changed(
                app="contacts", table="people", ids=(person.id,), to={"favourite": True},
                says=f"{person.name} is a favourite",
            ),
        ),
        golden=(call(contacts.favourite, person=person.id, on=True),),
    )  # fmt: skip


@pack.template("delete_contact", apps=("contacts",))
def delete_contact(w: WorldView) -> Draft:
    """Delete somebody, told by city."""
    person = w.pick(w.state(contacts.State).people)
    return Draft(
        goal=f"I no longer know {person.name} from {person.city}. Delete that contact.",
        params={"person": person.id},
        checks=(
            Removed(
                app="contacts", table="people", where={"id": person.id},
                says=f"{person.name} is gone",
            ),
        ),
        golden=(call(contacts.delete, person=person.id),),
    )  # fmt: skip


@pack.template("phone_of_contact", apps=("contacts",))
def phone_of_contact(w: WorldView) -> Draft:
    """Tell a number."""
    person = w.pick(w.state(contacts.State).people)
    return Draft(
        goal=f"What is the phone number of {person.name}?",
        params={"person": person.id},
        checks=(
            AnswerIs(
                to=Text(value=person.phone, mode="digits"), says="The number in the answer is right"
            ),
        ),
        golden=(look(contacts.get, person=person.id), Answer(text=person.phone)),
    )  # fmt: skip
