"""Tasks across Contacts, Messages and Notes that put what was written into the right place."""

from __future__ import annotations

from screenloop.criteria import Check, Date, Expected, Money, Text, Time
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import DENTIST, dollars, facts, spoken
from screenloop.phone.apps.messages.state import person_of
from screenloop.phone.apps.notes import actions as notes
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look
from screenloop.suites.phone_core.worlds import records
from screenloop.suites.phone_core.worlds.records import at_s, chat_with, day_before, first_name

pack = Pack("communication")

NEW_PERSON = "person21"
"""The id that the next contact gets; every world has twenty."""


def _noted(title: str, *bodies: Expected, says: str) -> tuple[Check, ...]:
    """Return checks that one note was added, whose text matches each of `bodies`."""
    return tuple(added("notes.notes", says, title=Text(title), body=body) for body in bodies)


# ---- from Messages to Contacts -----------------------------------------------------------------


@pack.template("save_unknown_sender", apps=("messages", "contacts"))
def save_unknown_sender(w: WorldView) -> Draft:
    """Save somebody who told a name in a text."""
    f = facts(w.cast)
    person = f.buyer
    return Draft(
        goal=f"Somebody who is not in my contacts wants to buy {f.buyer_item}. Save them under "
        "the full name from the text.",
        params={"name": person.name, "phone": person.phone},
        checks=(
            added("contacts.people", "The name is right", weight=2, name=Text(person.name)),
            added(
                "contacts.people", "The number is right", phone=Text(person.phone, mode="digits")
            ),
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, person.phone).id),
            call(messages.save_contact, thread=chat_with(w, person.phone).id, name=person.name),
        ),
    )


@pack.template("plumber_with_appointment", apps=("contacts", "messages"))
def plumber_with_appointment(w: WorldView) -> Draft:
    """Save somebody with a group, and note what was agreed."""
    f = facts(w.cast)
    person = f.plumber
    name = Text(person.name)
    return Draft(
        goal="Save the plumber who offered to look at our tap as a work contact, with full name "
        "and number. Write into the contact's notes on which date and at what time they can come.",
        params={"name": person.name, "phone": person.phone},
        checks=(
            added(
                "contacts.people",
                "Name and number are right",
                weight=2,
                name=name,
                phone=Text(person.phone, mode="digits"),
            ),
            added("contacts.people", "It is a work contact", name=name, group="work"),
            added("contacts.people", "The day is noted", name=name, note=Date(f.plumber_day)),
            added("contacts.people", "The time is noted", name=name, note=Time(f.plumber_time)),
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, person.phone).id),
            call(contacts.add, name=person.name, phone=person.phone, group="work"),
            call(
                contacts.write_note,
                person=NEW_PERSON,
                note=f"{spoken(f.plumber_day)}, {f.plumber_time}",
            ),
        ),
    )


@pack.template("keep_code_on_contact", apps=("contacts", "messages"), was="keep_door_code")
def keep_code_on_contact(w: WorldView) -> Draft:
    """Note a fact from an archived conversation with the contact it came from."""
    f = facts(w.cast)
    words, member, fact = w.one_of(
        ("the door code of the cabin", f.cabin, f.cabin_code),
        ("the password of the internet router at home", f.flat, f.wifi_password),
        (f"the booking code of our hotel in {f.trip_city}", f.trip, f.hotel_code),
    )
    person = person_of(w.state(contacts.State), member.phone)
    assert person is not None
    return Draft(
        goal=f"{first_name(member.name)} once texted me {words}. Write it into the notes of "
        f"{first_name(member.name)}'s contact.",
        params={"person": person.id, "fact": fact},
        checks=(
            changed(
                "contacts.people", person.id, f"It says {fact}", note=Text(fact, mode="contains")
            ),
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, member.phone).id),
            call(contacts.write_note, person=person.id, note=fact),
        ),
    )


# ---- from Messages to Notes --------------------------------------------------------------------


@pack.template("note_trip_facts", apps=("notes", "messages"))
def note_trip_facts(w: WorldView) -> Draft:
    """Gather facts from a conversation in one note."""
    f = facts(w.cast)
    title = f"Trip to {f.trip_city}"
    body = f"Train {f.train} at {f.train_time}, booking code {f.hotel_code}"
    return Draft(
        goal=f'Make me a note "{title}" with the number of our train, when it leaves and the '
        "booking code of the hotel. It was all in our texts.",
        params={"title": title},
        checks=_noted(
            title,
            Text(str(f.train), mode="contains"),
            Time(f.train_time),
            Text(f.hotel_code, mode="contains"),
            says="The note holds what was asked for",
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.trip.phone).id),
            call(notes.add, title=title, body=body),
        ),
    )


@pack.template("note_that_reminds", apps=("notes", "messages"))
def note_that_reminds(w: WorldView) -> Draft:
    """Make a note that reminds before the day that a text tells."""
    f = facts(w.cast)
    title, words, phone, day = w.one_of(
        ("Brush well", "my check-up at the dentist", DENTIST, f.dentist_day),
        ("Finish the book", "the evening of the book club", f.club.phone, f.club_day),
        ("Pay the rent", "my rent is due", f.flat.phone, f.rent_day),
        ("Pack my bag", f"we leave for {f.trip_city}", f.trip.phone, f.trip_day),
    )
    clock = w.one_of("08:30", "12:15", "18:45")
    when = at_s(day_before(day), clock)
    return Draft(
        goal=f'I want a note "{title}" that reminds me at {clock} on the day before '
        f"{words}. The date is in my texts.",
        params={"title": title, "day": day_before(day), "clock": clock},
        checks=(
            added("notes.notes", f"There is a note {title}", title=Text(title)),
            added(
                "notes.notes",
                f"It reminds on {spoken(day_before(day))} at {clock}",
                weight=2,
                title=Text(title),
                remind_s=when,
            ),
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, phone).id),
            call(notes.add, title=title),
            call(notes.remind, note=records.new_note_id(w), date=day_before(day), time=clock),
        ),
    )


@pack.template("note_of_debts", apps=("notes", "messages"))
def note_of_debts(w: WorldView) -> Draft:
    """Write two amounts from two conversations into lines of one list."""
    f = facts(w.cast)
    mine, theirs = f.rent_cents, f.debt_cents
    note = records.new_note_id(w)
    lines = (f"Rent {dollars(mine)}", f"{first_name(f.debt.name)} {dollars(theirs)}")
    says = ("The rent that I owe is on it", f"So is what {first_name(f.debt.name)} owes me")
    return Draft(
        goal='Make a list "Money" where I can tick things off. One line says how much rent I have '
        f"to pay this month, the other how much {first_name(f.debt.name)} still owes me. "
        "Look in my texts.",
        params={"mine": mine, "theirs": theirs},
        checks=(
            added("notes.notes", "There is a list", weight=0, title=Text("Money")),
            *(
                added("notes.items", words, note=note, text=Money(cents), done=False)
                for cents, words in zip((mine, theirs), says, strict=True)
            ),
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.flat.phone).id),
            look(messages.get_thread, thread=chat_with(w, f.debt.phone).id),
            call(notes.add, title="Money", items="\n".join(lines)),
        ),
    )
