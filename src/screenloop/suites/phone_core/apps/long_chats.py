"""Long tasks over Contacts, Messages and Notes: several goals that belong together."""

from __future__ import annotations

from typing import Any

from screenloop.criteria import Date, Expected, Text, Time
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import facts, spoken
from screenloop.phone.apps.messages.state import State as Chats
from screenloop.phone.apps.messages.state import messages_of, person_of
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.phone.apps.notes.state import State as Notes
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look
from screenloop.suites.phone_core.worlds import records

pack = Pack("communication")

NEW_PERSON = "person21"
"""The id that the next contact gets; every world has twenty."""


@pack.template("schedule_for_two", apps=("messages",))
def schedule_for_two(w: WorldView) -> Draft:
    """Have one text go out to two people at different times."""
    f = facts(w.cast)
    people = w.rng.sample((f.dinner, f.flat, f.trip, f.club, f.party), 2)
    text = w.one_of("Lunch is at my place on Sunday.", "Do not forget to vote today.")
    day = w.cast.day(w.rng.randrange(2, 8))
    clocks = w.rng.sample(("08:30", "10:15", "12:45", "17:30", "20:15"), 2)
    plan = list(zip(people, clocks, strict=True))
    says = " and ".join(f"to {person.name} at {clock}" for person, clock in plan)
    return Draft(
        goal=f'On {spoken(day)}, the text "{text}" should go out {says}. Prepare that now.',
        params={"day": day, "text": text, "clocks": clocks},
        checks=tuple(
            added(
                "messages.scheduled",
                f"It goes out to {person.name}",
                phone=Text(person.phone, mode="digits"),
                text=Text(text),
                at_s=records.at_s(day, clock),
            )
            for person, clock in plan
        ),
        golden=tuple(
            call(
                messages.schedule,
                thread=records.chat_with(w, person.phone).id,
                text=text,
                date=day,
                time=clock,
            )
            for person, clock in plan
        ),
    )


@pack.template("pass_booking_on", apps=("messages",))
def pass_booking_on(w: WorldView) -> Draft:
    """Forward two messages of one conversation to somebody else."""
    f = facts(w.cast)
    to = w.one_of(f.dinner, f.flat, f.club, f.party)
    thread = records.chat_with(w, to.phone)
    ids = [
        records.message_in(w, f.trip.phone, words) for words in (f"Train {f.train}", f.hotel_code)
    ]
    texts = [w.state(Chats).messages[message].text for message in ids]
    return Draft(
        goal=f"{to.name} comes along to {f.trip_city}. Pass on the two messages of "
        f"{records.first_name(f.trip.name)} about our train and about the booking code, word for "
        "word, and put a star on both.",
        params={"thread": thread.id, "messages": ids},
        patches=records.quiet(thread),
        checks=(
            *(
                check
                for text in texts
                for check in records.texted(w, to.phone, Text(text), says=f"{to.name} got: {text}")
            ),
            changed("messages.messages", ids, "Both messages have a star", starred=True),
        ),
        golden=(
            *(call(messages.star, message=message, on=True) for message in ids),
            *(call(messages.forward, message=message, phone=to.phone) for message in ids),
        ),
    )


@pack.template("end_of_friendship", apps=("messages", "contacts"))
def end_of_friendship(w: WorldView) -> Draft:
    """Block somebody, note why, and delete what was written."""
    f = facts(w.cast)
    member = w.one_of(f.debt, f.trip, f.club)
    thread = records.chat_with(w, member.phone)
    person = person_of(w.state(contacts.State), member.phone)
    assert person is not None
    count = len(messages_of(w.state(Chats), thread.id))
    return Draft(
        goal=f"I want no more contact with {member.name}: block them, take them out of my "
        f'favourites, note with the contact: "No more calls", and delete what we wrote.',
        params={"person": person.id, "thread": thread.id},
        patches=(template.set_row("contacts.people", person.id, favourite=True),),
        checks=(
            changed("contacts.people", person.id, f"{member.name} is blocked", blocked=True),
            changed(
                "contacts.people", person.id, f"{member.name} is no favourite", favourite=False
            ),
            changed(
                "contacts.people", person.id, "The contact says so", note=Text("No more calls")
            ),
            template.removed("messages.threads", "The conversation is gone", id=thread.id),
            template.removed(
                "messages.messages", "So are its messages", count=count, thread=thread.id
            ),
        ),
        golden=(
            call(contacts.favourite, person=person.id, on=False),
            call(contacts.write_note, person=person.id, note="No more calls"),
            call(contacts.block, person=person.id, on=True),
            call(messages.delete_thread, thread=thread.id),
        ),
    )


@pack.template("list_that_reminds", apps=("notes",))
def list_that_reminds(w: WorldView) -> Draft:
    """Make a list, tick a line, keep it at the top and have it remind."""
    title, things = w.one_of(
        ("Spring cleaning", ("Windows", "Oven", "Balcony")),
        ("Tax return", ("Receipts", "Bank letter", "Rent contract")),
        ("Bike service", ("Chain", "Brakes", "Front light")),
    )
    done = w.rng.randrange(3)
    day = w.cast.day(w.rng.randrange(2, 25))
    clock = w.one_of("07:30", "11:15", "16:45")
    note = records.new_note_id(w)
    row: dict[str, Any] = {"title": Text(title)}
    first_item = len(w.state(Notes).items) + 1
    return Draft(
        goal=f'Start a list "{title}" to tick off: {things[0]}, {things[1]}, {things[2]}. '
        f"{things[done]} is done already. Keep the list at the top of my notes, and let it "
        f"remind me on {spoken(day)} at {clock}.",
        params={"title": title, "done": done, "day": day, "clock": clock},
        checks=(
            *(
                added(
                    "notes.items",
                    f"{thing} is on the list",
                    note=note,
                    text=Text(thing),
                    done=number == done,
                )
                for number, thing in enumerate(things)
            ),
            added("notes.notes", "The list is at the top", **row, pinned=True),
            added(
                "notes.notes",
                f"It reminds on {spoken(day)} at {clock}",
                **row,
                remind_s=records.at_s(day, clock),
            ),
        ),
        golden=(
            call(notes.add, title=title, items="\n".join(things)),
            call(notes.check_item, item=f"item{first_item + done}", done=True),
            call(notes.pin, note=note, on=True),
            call(notes.remind, note=note, date=day, time=clock),
        ),
    )


@pack.template("colour_by_topic", apps=("notes",))
def colour_by_topic(w: WorldView) -> Draft:
    """Give three notes one colour."""
    titles = ("Guest Wi-Fi", "Car", "Living room window")
    ids = tuple(records.note_titled(w, title).id for title in titles)
    colour = w.one_of("orange", "purple", "pink")
    return Draft(
        goal=f"My notes about the Wi-Fi for guests, the car and the living room window should all "
        f"be {colour}.",
        params={"notes": list(ids), "colour": colour},
        checks=tuple(
            changed("notes.notes", note, f"{title} is {colour}", colour=colour)
            for note, title in zip(ids, titles, strict=True)
        ),
        golden=tuple(call(notes.paint, note=note, colour=colour) for note in ids),
    )


@pack.template("say_yes_to_dinner", apps=("messages", "notes"))
def say_yes_to_dinner(w: WorldView) -> Draft:
    """Answer an invitation, and write down where and when."""
    f = facts(w.cast)
    thread = records.chat_with(w, f.dinner.phone)
    text = w.one_of("I will be there!", "Fine with me, see you then.")
    body = f"{spoken(f.dinner_day)}, {f.dinner_time}, {f.dinner_address}"
    row: dict[str, Any] = {"title": Text(f"Dinner at {f.dinner_place}")}
    says = ("The right day is noted", "The right time is noted", "The address is noted")
    noted: tuple[Expected, ...] = (
        Date(f.dinner_day),
        Time(f.dinner_time),
        Text(f.dinner_address, mode="contains"),
    )
    return Draft(
        goal=f'Answer {records.first_name(f.dinner.name)} about dinner: "{text}" Then make a note '
        f'"Dinner at {f.dinner_place}" with the date, the time that holds now, and the address, '
        "and keep it at the top.",
        params={"thread": thread.id, "text": text},
        patches=records.quiet(thread),
        checks=(
            *records.texted(w, f.dinner.phone, Text(text), says="The answer is sent"),
            *(
                added("notes.notes", words, **row, body=part)
                for part, words in zip(noted, says, strict=True)
            ),
            added("notes.notes", "The note is at the top", **row, pinned=True),
        ),
        golden=(
            look(messages.get_thread, thread=thread.id),
            call(messages.send, thread=thread.id, text=text),
            call(notes.add, title=f"Dinner at {f.dinner_place}", body=body),
            call(notes.pin, note=records.new_note_id(w), on=True),
        ),
    )


@pack.template("guest_saved_and_texted", apps=("messages", "contacts", "notes"))
def guest_saved_and_texted(w: WorldView) -> Draft:
    """Save a stranger by the name in a text, and reply with a fact from a note."""
    f = facts(w.cast)
    fact = notes_seed.facts(w.cast).wifi_password
    person = f.plumber
    thread = records.chat_with(w, person.phone)
    return Draft(
        goal="The plumber will need our Wi-Fi for guests. Save them in my contacts under their "
        "full name, as a favourite, and text them the password; I have noted it.",
        params={"name": person.name, "phone": person.phone, "fact": fact},
        patches=records.quiet(thread),
        checks=(
            added(
                "contacts.people",
                "Name and number are right",
                name=Text(person.name),
                phone=Text(person.phone, mode="digits"),
            ),
            added(
                "contacts.people",
                "The plumber is a favourite",
                name=Text(person.name),
                favourite=True,
            ),
            *records.texted(
                w,
                person.phone,
                Text(fact, mode="contains"),
                weight=2,
                says="The plumber has the password",
            ),
        ),
        golden=(
            look(messages.get_thread, thread=thread.id),
            call(messages.save_contact, thread=thread.id, name=person.name),
            call(contacts.favourite, person=NEW_PERSON, on=True),
            look(notes.get, note=records.note_titled(w, "Guest Wi-Fi").id),
            call(messages.send, thread=thread.id, text=fact),
        ),
    )


@pack.template("drive_to_practice", apps=("messages", "notes", "contacts"))
def drive_to_practice(w: WorldView) -> Draft:
    """Keep an address with a contact, and have a note remind before an appointment."""
    f = facts(w.cast)
    person = person_of(w.state(contacts.State), f.clinic.phone)
    assert person is not None
    name = records.first_name(f.clinic.name)
    row: dict[str, Any] = {"title": Text(f"Drive {name}")}
    return Draft(
        goal=f"I drive {f.clinic.name} to {f.clinic_doctor}. Write the address of the practice "
        f'into the notes of the contact, and make a note "Drive {name}" that reminds me at 07:30 '
        "on that day.",
        params={"person": person.id, "day": f.clinic_day},
        checks=(
            changed(
                "contacts.people",
                person.id,
                "The contact tells the address",
                note=Text(f.clinic_address, mode="contains"),
            ),
            added("notes.notes", "There is a note", **row),
            added(
                "notes.notes",
                "It reminds on the right day",
                weight=2,
                **row,
                remind_s=records.at_s(f.clinic_day, "07:30"),
            ),
        ),
        golden=(
            look(messages.get_thread, thread=records.chat_with(w, f.clinic.phone).id),
            call(contacts.write_note, person=person.id, note=f.clinic_address),
            call(notes.add, title=f"Drive {name}"),
            call(notes.remind, note=records.new_note_id(w), date=f.clinic_day, time="07:30"),
        ),
    )
