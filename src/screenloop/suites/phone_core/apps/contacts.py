"""Tasks over Contacts alone."""

from __future__ import annotations

from screenloop.actions import Answer, Tool
from screenloop.criteria import AnswerIs, Changed, Date, Set, Text
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.declare.cast import CITIES
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look

pack = Pack("communication")

NEW_NAMES = ("Zoe Young", "Theo Marsh", "Lina Berg", "Marco Dias", "Ravi Shah", "Eva Lund")


@pack.template("save_contact", apps=("contacts",))
def save_contact(w: WorldView) -> Draft:
    """Save somebody new with a number and a group."""
    name = w.rng.choice(NEW_NAMES)
    phone = f"555-0{w.rng.randrange(100, 1000)}"
    group, words = w.one_of(("work", "work"), ("family", "family"), ("friends", "friends"))
    return Draft(
        goal=f"Save {name} with the number {phone} in my contacts, among my {words} contacts.",
        params={"name": name, "phone": phone, "group": group},
        checks=(
            added(
                "contacts.people",
                f"{name} is saved with the number",
                weight=2,
                name=Text(name),
                phone=Text(phone, mode="digits"),
                email="",
                city="",
            ),
            added(
                "contacts.people", f"{name} is in the group {group}", name=Text(name), group=group
            ),
        ),
        golden=(call(contacts.add, name=name, phone=phone, group=group),),
    )


@pack.template("star_contact", apps=("contacts",))
def star_contact(w: WorldView) -> Draft:
    """Make somebody a favourite."""
    person = w.pick(w.state(contacts.State).people, lambda p: not p.favourite)
    return Draft(
        goal=f"Make {person.name} one of my favourite contacts.",
        params={"person": person.id},
        checks=(
            changed("contacts.people", person.id, f"{person.name} is a favourite", favourite=True),
        ),
        golden=(call(contacts.favourite, person=person.id, on=True),),
    )


@pack.template("delete_contact", apps=("contacts",))
def delete_contact(w: WorldView) -> Draft:
    """Delete somebody, told by city."""
    person = w.pick(w.state(contacts.State).people)
    return Draft(
        goal=f"I no longer know {person.name} from {person.city}. Delete that contact.",
        params={"person": person.id},
        checks=(template.removed("contacts.people", f"{person.name} is gone", id=person.id),),
        golden=(call(contacts.delete, person=person.id),),
    )


@pack.template("phone_of_contact", apps=("contacts",))
def phone_of_contact(w: WorldView) -> Draft:
    """Tell a number."""
    person = w.pick(w.state(contacts.State).people)
    return Draft(
        goal=f"What is the phone number of {person.name}?",
        params={"person": person.id},
        checks=(
            AnswerIs(
                to=Text(person.phone, mode="digits"), says="The number in the answer is right"
            ),
        ),
        golden=(look(contacts.get, person=person.id), Answer(text=person.phone)),
    )


@pack.template("moved_to_city", apps=("contacts",))
def moved_to_city(w: WorldView) -> Draft:
    """Correct where somebody lives."""
    person = w.pick(w.state(contacts.State).people)
    city = w.rng.choice([city for city in CITIES if city != person.city])
    return Draft(
        goal=f"{person.name} has moved from {person.city} to {city}. Bring my contacts up to date.",
        params={"person": person.id, "city": city},
        checks=(
            changed(
                "contacts.people", person.id, f"{person.name} lives in {city}", city=Text(city)
            ),
        ),
        golden=(_corrected(person, city=city),),
    )


@pack.template("couple_moves_in", apps=("contacts",))
def couple_moves_in(w: WorldView) -> Draft:
    """Correct several details of two people."""
    pair = w.sample(w.state(contacts.State).people, 2, lambda p: p.group != "family")
    city = w.rng.choice([city for city in CITIES if city not in (pair[0].city, pair[1].city)])
    one, other = pair
    return Draft(
        goal=f"{one.name} and {other.name} have married and live in {city} now. Change that for "
        "both of my contacts, and count them to the family.",
        params={"people": [one.id, other.id], "city": city},
        checks=tuple(
            Changed(
                app="contacts",
                table="people",
                ids=(p.id,),
                to={field: value},
                says=f"{p.name}: {field} is {city if field == 'city' else 'family'}",
            )
            for p in pair
            for field, value in (("city", Text(city)), ("group", "family"))
        ),
        golden=tuple(_corrected(p, city=city, group="family") for p in pair),
    )


def _corrected(person: contacts.Person, city: str, group: str = "") -> Tool:
    return call(
        contacts.edit,
        person=person.id,
        name=person.name,
        phone=person.phone,
        email=person.email,
        city=city,
        group=group or person.group,
    )


@pack.template("block_caller", apps=("contacts",))
def block_caller(w: WorldView) -> Draft:
    """Block somebody, told by number."""
    person = w.pick(w.state(contacts.State).people)
    return Draft(
        goal=f"Someone I know keeps calling me at night from {person.phone}. Make sure that they "
        "cannot reach me any more.",
        params={"person": person.id},
        checks=(changed("contacts.people", person.id, f"{person.name} is blocked", blocked=True),),
        golden=(call(contacts.block, person=person.id, on=True),),
    )


@pack.template("note_on_contact", apps=("contacts",))
def note_on_contact(w: WorldView) -> Draft:
    """Note something about somebody."""
    person = w.pick(w.state(contacts.State).people)
    note = w.one_of("Allergic to nuts", "Prefers calls after six", "Has the spare key")
    return Draft(
        goal=f'Keep this with the contact of {person.name}: "{note}"',
        params={"person": person.id, "note": note},
        checks=(
            changed(
                "contacts.people",
                person.id,
                f"The contact of {person.name} says so",
                note=Text(note),
            ),
        ),
        golden=(call(contacts.write_note, person=person.id, note=note),),
    )


@pack.template("only_favourite", apps=("contacts",))
def only_favourite(w: WorldView) -> Draft:
    """Take all but one out of the favourites."""
    people = w.state(contacts.State).people
    chosen = w.sample(people, 3)
    kept, *dropped = chosen
    return Draft(
        goal=f"Of my favourite people, only {kept.name} should stay a favourite.",
        params={"kept": kept.id},
        patches=tuple(
            template.set_row("contacts.people", p.id, favourite=p in chosen) for p in people
        ),
        checks=(
            changed(
                "contacts.people",
                tuple(p.id for p in dropped),
                "The others are no favourites",
                weight=2,
                favourite=False,
            ),
            template.counted("contacts.people", "One favourite is left", 1, favourite=True),
        ),
        golden=tuple(call(contacts.favourite, person=p.id, on=False) for p in dropped),
    )


@pack.template("who_lives_in", apps=("contacts",))
def who_lives_in(w: WorldView) -> Draft:
    """List the people of a city."""
    people = w.state(contacts.State).people
    city = w.pick(CITIES, lambda c: len(people.where(lambda p: p.city == c)) >= 2)
    names = tuple(sorted(p.name for p in people.where(lambda p: p.city == city)))
    return Draft(
        goal=f"I am going to {city}. Which of my contacts live there? Answer with their full "
        "names only.",
        params={"city": city},
        checks=(AnswerIs(to=Set(names), says="All of them, and nobody else"),),
        golden=(look(contacts.search, text=city), Answer(text=", ".join(names))),
    )


@pack.template("birthday_of_contact", apps=("contacts",))
def birthday_of_contact(w: WorldView) -> Draft:
    """Tell a birthday."""
    person = w.pick(w.state(contacts.State).people)
    return Draft(
        goal=f"On which date was {person.name} born? I need the year as well.",
        params={"person": person.id},
        checks=(AnswerIs(to=Date(person.birthday), says="The date is right"),),
        golden=(look(contacts.get, person=person.id), Answer(text=person.birthday)),
    )


@pack.template("new_colleague", apps=("contacts",))
def new_colleague(w: WorldView) -> Draft:
    """Save somebody with all details, a star and a note."""
    name = w.rng.choice(NEW_NAMES)
    phone = f"555-{w.rng.randrange(100, 1000)}-{w.rng.randrange(1000, 10_000)}"
    email = f"{name.split()[0].lower()}@example.org"
    city, note = w.rng.choice(CITIES), w.one_of("Desk on floor 3", "Speaks Italian")
    saved = Text(name)
    return Draft(
        goal=f"{name} starts at work today and lives in {city}. The number is {phone}, the email "
        f'{email}. Save all that, make {name.split()[0]} a favourite of mine, and keep "{note}" '
        "with the contact.",
        params={"name": name, "phone": phone, "email": email, "city": city, "note": note},
        checks=(
            added(
                "contacts.people",
                "All details are saved",
                weight=2,
                name=saved,
                phone=Text(phone, mode="digits"),
                email=Text(email),
                city=Text(city),
                group="work",
            ),
            added("contacts.people", f"{name} is a favourite", name=saved, favourite=True),
            added("contacts.people", f"The contact says: {note}", name=saved, note=Text(note)),
        ),
        golden=(
            call(contacts.add, name=name, phone=phone, email=email, city=city, group="work"),
            call(contacts.favourite, person="person21", on=True),
            call(contacts.write_note, person="person21", note=note),
        ),
    )
