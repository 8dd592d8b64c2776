"""Tasks across Contacts, Messages and Notes that text somebody a fact, or ask for one."""

from __future__ import annotations

from datetime import date

from screenloop.actions import Answer
from screenloop.criteria import Added, AnswerIs, Check, Date, Expected, Money, Set, Text, Time
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import dollars, facts, spoken
from screenloop.phone.apps.messages.state import State as Chats
from screenloop.phone.apps.messages.state import person_of, thread_of
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, call, look, set_row
from screenloop.suites.phone_core.worlds import records
from screenloop.suites.phone_core.worlds.records import at_s, chat_with, note_titled, quiet, texted

pack = Pack("communication")


# ---- from Contacts or Notes to Messages --------------------------------------------------------


@pack.template("text_number_on", apps=("messages", "contacts"))
def text_number_on(w: WorldView) -> Draft:
    """Give somebody another one's number."""
    to = w.pick(records.without_chat(w))
    asked = w.pick(w.state(contacts.State).people, lambda p: p.id != to.id)
    return Draft(
        goal=f"{to.name} wants to call {asked.name}. Text {to.name} the number.",
        params={"to": to.id, "asked": asked.id},
        checks=texted(
            w, to.phone, Text(asked.phone, mode="digits"), says=f"{to.name} has the number"
        ),
        golden=(
            look(contacts.get, person=asked.id),
            call(messages.start, phone=to.phone, text=asked.phone),
        ),
    )


@pack.template("text_code_from_note", apps=("messages", "notes"), was="text_guest_password")
def text_code_from_note(w: WorldView) -> Draft:
    """Text a fact from a note."""
    f = notes_seed.facts(w.cast)
    to = w.pick(records.without_chat(w))
    words, title, fact = w.one_of(
        (
            f"{to.name} is my guest tonight and asks for the Wi-Fi password",
            "Guest Wi-Fi",
            f.wifi_password,
        ),
        (
            f"{to.name} will get something out of my gym locker and needs the code",
            "Gym",
            f.locker_code,
        ),
        (f"{to.name} will fetch my car and asks for its number plate", "Car", f.plate),
        (
            f"{to.name} borrows my library card and asks for its number",
            "Plants and library",
            f.library_card,
        ),
    )
    return Draft(
        goal=f"{words}. I have it in a note. Text it.",
        params={"to": to.id, "fact": fact},
        checks=texted(w, to.phone, Text(fact, mode="contains"), says=f"{to.name} has it"),
        golden=(
            look(notes.get, note=note_titled(w, title).id),
            call(messages.start, phone=to.phone, text=fact),
        ),
    )


@pack.template("reply_with_flight", apps=("messages", "notes"))
def reply_with_flight(w: WorldView) -> Draft:
    """Answer in a conversation with facts from a note."""
    f = notes_seed.facts(w.cast)
    to = facts(w.cast).flat
    thread = chat_with(w, to.phone)
    text = f"{f.flight}, {spoken(f.flight_day)}, {f.flight_time}"
    return Draft(
        goal=f"{to.name} will bring me to the airport. Text them my flight number and on which "
        "date and at what time I fly.",
        params={"thread": thread.id},
        patches=quiet(thread),
        checks=texted(
            w,
            to.phone,
            Text(f.flight, mode="contains"),
            Date(f.flight_day),
            Time(f.flight_time),
            says=f"{to.name} knows flight, date and time",
        ),
        golden=(
            look(notes.get, note=note_titled(w, "Flight and hotel").id),
            call(messages.send, thread=thread.id, text=text),
        ),
    )


@pack.template("text_gift_receiver", apps=("messages", "notes"))
def text_gift_receiver(w: WorldView) -> Draft:
    """Text somebody whom a note names."""
    gift = w.rng.choice(notes_seed.facts(w.cast).gifts)
    to, chats = gift.person, w.state(Chats)
    text = w.one_of("Are you at home on Sunday?", "Do you have time for a coffee?")
    thread = thread_of(chats, to.phone)
    send = (
        call(messages.send, thread=thread.id, text=text)
        if thread
        else call(messages.start, phone=to.phone, text=text)
    )
    return Draft(
        goal=f"I noted for whom I want to buy the {gift.idea}. Text that person, without a word "
        f'about the present: "{text}"',
        params={"to": to.name, "text": text},
        patches=quiet(thread) if thread else (),
        allowed=("messages.threads.archived",),
        checks=texted(w, to.phone, Text(text), says="The right person got the text"),
        golden=(look(notes.get, note=note_titled(w, "Gift ideas").id), send),
    )


@pack.template("remind_proposal_writer", apps=("messages", "notes"))
def remind_proposal_writer(w: WorldView) -> Draft:
    """Text somebody whom a note names what the note says."""
    f = notes_seed.facts(w.cast)
    to = f.meeting_owner
    thread = thread_of(w.state(Chats), to.phone)
    text = f"Due {spoken(f.meeting_due)}, {dollars(f.meeting_budget_cents)}"
    send = (
        call(messages.send, thread=thread.id, text=text)
        if thread
        else call(messages.start, phone=to.phone, text=text)
    )
    return Draft(
        goal="Text the colleague who writes the proposal for our project by which date it is due "
        "and how much money we may spend at most.",
        params={"to": to.name},
        patches=quiet(thread) if thread else (),
        allowed=("messages.threads.archived",),
        checks=texted(
            w,
            to.phone,
            Date(f.meeting_due),
            Money(f.meeting_budget_cents),
            says="The writer of the proposal knows date and budget",
        ),
        golden=(look(notes.get, note=note_titled(w, "Project meeting").id), send),
    )


@pack.template("send_shopping_list", apps=("messages", "notes"))
def send_shopping_list(w: WorldView) -> Draft:
    """Text the open lines of a list."""
    to = facts(w.cast).flat
    thread = chat_with(w, to.phone)
    note = note_titled(w, "Groceries")
    left = tuple(line.text for line in records.lines_of(w, note) if not line.done)
    return Draft(
        goal=f"{to.name} goes shopping for us. Text them, in one message, the groceries that are "
        "not ticked yet, each as it stands there with its amount, and nothing else.",
        params={"thread": thread.id, "left": list(left)},
        patches=quiet(thread),
        checks=texted(w, to.phone, Set(left), says="All that is open, and nothing else"),
        golden=(
            look(notes.get, note=note.id),
            call(messages.send, thread=thread.id, text="; ".join(left)),
        ),
    )


@pack.template("share_note_text", apps=("messages", "notes"))
def share_note_text(w: WorldView) -> Draft:
    """Send a note as it is."""
    note = note_titled(w, w.one_of("Living room window", "Health", "Car"))
    to = w.pick(records.without_chat(w))
    words = {
        "Living room window": "the size of my living room window",
        "Health": "when I take my medicine",
        "Car": "my car",
    }[note.title]
    return Draft(
        goal=f"Send {to.name} the whole text of my note about {words}, word for word.",
        params={"to": to.id, "note": note.id},
        checks=texted(
            w,
            to.phone,
            Text(note.body, mode="contains"),
            says=f"{to.name} has the text of the note",
        ),
        golden=(
            look(notes.get, note=note.id),
            call(messages.start, phone=to.phone, text=" ".join(note.body.splitlines())),
        ),
    )


@pack.template("schedule_birthday_text", apps=("messages", "contacts"))
def schedule_birthday_text(w: WorldView) -> Draft:
    """Have a text sent on the day that a contact tells."""
    f = facts(w.cast)
    to = w.one_of(f.dinner, f.flat, f.trip, f.club, f.party)
    thread = chat_with(w, to.phone)
    person = person_of(w.state(contacts.State), to.phone)
    assert person is not None
    day = w.cast.day(w.rng.randrange(12, 75))
    born = date.fromisoformat(day).replace(year=w.rng.randrange(1970, 2004)).isoformat()
    clock = w.one_of("07:30", "08:15", "10:45")
    text = w.one_of("Happy birthday!", "All the best on your birthday!")
    return Draft(
        goal=f"Look up {to.name}'s birthday and see to it that this text goes out to them at "
        f'{clock} on the next one: "{text}"',
        params={"thread": thread.id, "day": day, "clock": clock, "text": text},
        patches=(set_row("contacts.people", person.id, birthday=born),),
        checks=(
            _scheduled(to.phone, "text", Text(text), "The text is as it was given"),
            _scheduled(to.phone, "at_s", at_s(day, clock), f"It goes out on {spoken(day)}"),
        ),
        golden=(
            look(contacts.get, person=person.id),
            call(messages.schedule, thread=thread.id, text=text, date=day, time=clock),
        ),
    )


def _scheduled(phone: str, field: str, to: Expected, says: str) -> Check:
    return Added(
        app="messages",
        table="scheduled",
        says=says,
        where={"phone": Text(phone, mode="digits"), field: to},
    )


# ---- questions ---------------------------------------------------------------------------------


@pack.template("number_of_recommender", apps=("notes", "contacts"))
def number_of_recommender(w: WorldView) -> Draft:
    """Tell the number of somebody whom a note names."""
    tip = w.rng.choice(notes_seed.facts(w.cast).tips)
    person = person_of(w.state(contacts.State), tip.person.phone)
    assert person is not None
    return Draft(
        goal=f'Somebody recommended the book "{tip.title}" to me. I would like to call and talk '
        "about it: what is their number?",
        params={"person": person.id},
        checks=(AnswerIs(to=Text(person.phone, mode="digits"), says="The number is right"),),
        golden=(
            look(notes.get, note=note_titled(w, "Books to read").id),
            look(contacts.get, person=person.id),
            Answer(text=person.phone),
        ),
    )


@pack.template("email_of_chat_partner", apps=("messages", "contacts"), was="email_of_debtor")
def email_of_chat_partner(w: WorldView) -> Draft:
    """Tell the address of somebody who is known by what was written."""
    f = facts(w.cast)
    words, member = w.one_of(
        (f"still owes me money for {f.debt_for}", f.debt),
        ("told me that the design review was moved", f.review),
        (f"reads {f.club_book} with me", f.club),
        ("lent me the cabin", f.cabin),
    )
    person = person_of(w.state(contacts.State), member.phone)
    assert person is not None
    return Draft(
        goal=f"What is the email address of the person who {words}? Answer with the address only.",
        params={"person": person.id},
        checks=(AnswerIs(to=Text(person.email), says="The address is right"),),
        golden=(
            look(messages.get_thread, thread=chat_with(w, member.phone).id),
            look(contacts.get, person=person.id),
            Answer(text=person.email),
        ),
    )


@pack.template("sum_of_repairs", apps=("messages", "notes"))
def sum_of_repairs(w: WorldView) -> Draft:
    """Add an amount from a text to one from a note."""
    f = facts(w.cast)
    total = f.plumber_cents + notes_seed.facts(w.cast).garage_cents
    return Draft(
        goal="The plumber told me a price, and I noted what the garage wants for my car. How much "
        "is that together?",
        params={"cents": total},
        checks=(AnswerIs(to=Money(total), says="The sum is right"),),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.plumber.phone).id),
            look(notes.get, note=note_titled(w, "Car").id),
            Answer(text=dollars(total)),
        ),
    )
