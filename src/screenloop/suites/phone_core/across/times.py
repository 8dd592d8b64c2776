"""Tasks that need the calendar and another app: contacts, messages, notes."""

from __future__ import annotations

from datetime import date

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Money, Set, Text, Time
from screenloop.phone.apps.calendar import actions as calendar
from screenloop.phone.apps.calendar.state import State, later, overlapping
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import DAY_NAMES, DENTIST, dollars, facts, spoken
from screenloop.phone.apps.messages.state import State as Chats
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.phone.declare.cast import CITIES
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView
from screenloop.suites.phone_core.worlds import records
from screenloop.suites.phone_core.worlds.records import chat_with, first_name, note_titled, texted
from screenloop.suites.phone_core.worlds.times import event_titled, on_day, planned, said, text_to

pack = Pack("time")

NEW_EVENT = "event22"
"""The id that the next event gets; every world has 21."""


def _person(w: WorldView, name: str) -> contacts.Person:
    (found,) = w.state(contacts.State).people.where(lambda p: p.name == name)
    return found


# ---- the calendar and contacts -----------------------------------------------------------------


@pack.template("invite_people_of_city", apps=("calendar", "contacts"))
def invite_people_of_city(w: WorldView) -> Draft:
    """Invite everybody who lives somewhere."""
    people = w.state(contacts.State).people
    title = w.one_of("Book club", "Parents' evening", "Wedding anniversary")
    event = event_titled(w, title)
    city = w.pick(CITIES, lambda c: 2 <= len(people.where(lambda p: p.city == c)) <= 5)
    names = tuple(sorted(p.name for p in people.where(lambda p: p.city == city)))
    return Draft(
        goal=f"All of my contacts who live in {city} shall come along to {title}. Invite them.",
        params={"event": event.id, "city": city, "names": list(names)},
        checks=(
            template.changed(
                "calendar.events",
                event.id,
                "All of them are invited, nobody else",
                guests=Set(names),
            ),
        ),
        golden=(
            template.look(contacts.search, text=city),
            *(template.call(calendar.invite, event=event.id, name=name) for name in names),
        ),
    )


@pack.template("number_of_organiser", apps=("calendar", "contacts"))
def number_of_organiser(w: WorldView) -> Draft:
    """Tell the number of somebody whom an invitation names."""
    event = w.pick(w.state(State).events, lambda e: bool(e.organiser))
    person = _person(w, event.organiser)
    words = "the brunch" if event.title.startswith("Brunch") else f"the {event.title.lower()}"
    return Draft(
        goal=f"I want to call whoever invited me to {words} on {spoken(event.date)}. Which number "
        "do I dial?",
        params={"event": event.id, "person": person.id},
        checks=(AnswerIs(to=Text(person.phone, mode="digits"), says="The number is right"),),
        golden=(
            template.look(calendar.get, event=event.id, date=event.date),
            template.look(contacts.get, person=person.id),
            Answer(text=person.phone),
        ),
    )


@pack.template("birthday_into_calendar", apps=("calendar", "contacts"))
def birthday_into_calendar(w: WorldView) -> Draft:
    """Put a birthday that a contact tells into the calendar."""
    person = w.pick(w.state(contacts.State).people)
    day = w.cast.day(w.rng.randrange(12, 29))
    born = date.fromisoformat(day).replace(year=w.rng.randrange(1961, 2005)).isoformat()
    title = f"Birthday of {first_name(person.name)}"
    return Draft(
        goal=f"Look up when {person.name} was born and keep the next birthday in my calendar: "
        f'"{title}", all day, among the family events, with a reminder a day before.',
        params={"person": person.id, "day": day},
        patches=(template.set_row("contacts.people", person.id, birthday=born),),
        checks=planned(
            title,
            "The birthday is kept",
            date=day,
            all_day=True,
            calendar="family",
            reminder_min=1440,
        ),
        golden=(
            template.look(contacts.get, person=person.id),
            template.call(
                calendar.add,
                title=title,
                date=day,
                all_day=True,
                calendar="family",
                reminder_min=1440,
            ),
        ),
    )


# ---- the calendar and messages -----------------------------------------------------------------


@pack.template("visit_into_calendar", apps=("calendar", "messages"))
def visit_into_calendar(w: WorldView) -> Draft:
    """Plan what a text told."""
    f = facts(w.cast)
    title, words, phone, day, start = w.one_of(
        (
            "Plumber",
            "The plumber wrote when they can come",
            f.plumber.phone,
            f.plumber_day,
            f.plumber_time,
        ),
        (
            "Check-up",
            "My dentist wrote when my check-up is",
            DENTIST,
            f.dentist_day,
            f.dentist_time,
        ),
    )
    minutes = w.one_of(30, 60)
    end = later(start, minutes)
    length = "half an hour" if minutes == 30 else "an hour"
    return Draft(
        goal=f'{words}. Put that into my calendar as "{title}" and keep {length} for it.',
        params={"title": title, "day": day, "start": start, "end": end},
        checks=planned(title, f"{title} is planned", date=day, start=start, end=end),
        golden=(
            template.look(messages.get_thread, thread=chat_with(w, phone).id),
            template.call(calendar.add, title=title, date=day, start=start, end=end),
        ),
    )


@pack.template("party_into_calendar", apps=("calendar", "messages"))
def party_into_calendar(w: WorldView) -> Draft:
    """Plan an evening with place, cost and reminder from a conversation."""
    f = facts(w.cast)
    title = w.one_of("Surprise", "Party", "Secret evening")
    end = later(f.party_time, 180)
    return Draft(
        goal=f'Keep the surprise party in my calendar under the name "{title}": from when it '
        "starts for three hours, with the address as the place, and remind me a day before. Note "
        "with it how much my part of the present costs.",
        params={"title": title, "day": f.party_day},
        checks=(
            *planned(title, "The time is right", date=f.party_day, start=f.party_time, end=end),
            *planned(
                title,
                "So is the rest",
                location=Text(f.party_address),
                reminder_min=1440,
                note=Money(f.party_share_cents),
            ),
        ),
        golden=(
            template.look(messages.get_thread, thread=chat_with(w, f.party.phone).id),
            template.call(
                calendar.add,
                title=title,
                date=f.party_day,
                start=f.party_time,
                end=end,
                location=f.party_address,
                reminder_min=1440,
                note=dollars(f.party_share_cents),
            ),
        ),
    )


@pack.template("review_into_calendar", apps=("calendar", "messages", "contacts"))
def review_into_calendar(w: WorldView) -> Draft:
    """Plan what was moved in a conversation, and invite somebody."""
    f = facts(w.cast)
    guest = w.pick(w.state(contacts.State).people, lambda p: p.name != f.review.name)
    title, end = "Design review", later(f.review_time, 60)
    return Draft(
        goal=f'I got texts that our design review was moved. Plan it as "{title}" at the time that '
        "holds now, for one hour, in the room that holds now, among the events for work, and "
        f"invite whoever of my contacts has the number {guest.phone}.",
        params={"day": f.review_day, "guest": guest.id},
        checks=(
            *planned(title, "The time is right", date=f.review_day, start=f.review_time, end=end),
            *planned(
                title,
                "So is the rest",
                location=Text(f.review_room, mode="contains"),
                calendar="work",
                guests=Set((guest.name,)),
            ),
        ),
        golden=(
            template.look(messages.get_thread, thread=chat_with(w, f.review.phone).id),
            template.call(
                calendar.add,
                title=title,
                date=f.review_day,
                start=f.review_time,
                end=end,
                location=f.review_room,
                calendar="work",
            ),
            template.look(contacts.search, text=guest.phone),
            template.call(calendar.invite, event=NEW_EVENT, name=guest.name),
        ),
    )


@pack.template("dinner_confirmed", apps=("calendar", "messages"))
def dinner_confirmed(w: WorldView) -> Draft:
    """Plan what a conversation agreed on after a change, and answer."""
    f = facts(w.cast)
    thread = chat_with(w, f.dinner.phone)
    end = later(f.dinner_time, 120)
    text = w.one_of("Fine with me, see you there.", "No problem, I will be there.")
    return Draft(
        goal=f'Somebody changed the time of our dinner this week. Reply to them: "{text}" Then '
        f'plan "Dinner" in my calendar: at the time that holds now, for two hours, at '
        f"{f.dinner_place}.",
        params={"day": f.dinner_day, "text": text},
        patches=records.quiet(thread),
        checks=(
            *texted(w, f.dinner.phone, Text(text), says="The answer was sent"),
            *planned(
                "Dinner",
                "It is planned",
                date=f.dinner_day,
                start=f.dinner_time,
                end=end,
                location=Text(f.dinner_place),
            ),
        ),
        golden=(
            template.look(messages.get_thread, thread=thread.id),
            template.call(messages.send, thread=thread.id, text=text),
            template.call(
                calendar.add,
                title="Dinner",
                date=f.dinner_day,
                start=f.dinner_time,
                end=end,
                location=f.dinner_place,
            ),
        ),
    )


@pack.template("offer_free_hour", apps=("messages", "calendar"))
def offer_free_hour(w: WorldView) -> Draft:
    """Answer a text with the one offered hour that is free."""
    events = w.state(State).events
    person = w.pick(records.without_chat(w))
    starts = {
        day: sorted({o.event.start for o in on_day(w, day)})
        for day in (w.cast.day(n) for n in range(1, 12))
    }
    day = w.pick(starts, lambda d: len(starts[d]) > 1 and "" not in starts[d])
    busy = w.sample(starts[day], 2)
    hours = [f"{hour:02d}:{minute}" for hour in range(8, 20) for minute in ("00", "30")]
    free = w.pick(hours, lambda h: not overlapping(events, day, h, later(h, 60)))
    one, two, three = sorted((*busy, free))
    thread = f"thread{len(w.state(Chats).threads) + 1}"
    patches = (
        template.add_row("messages.threads", phone=person.phone, unread=1),
        said(
            w,
            thread,
            f"Can I have an hour of your time on {spoken(day)}? I could come at "
            f"{one}, {two} or {three}.",
        ),
    )
    w.with_patches(patches)
    return Draft(
        goal=f"{person.name} offered me three times in a text. I can only at one of them: look at "
        "what I have planned on that day. Text back the time that suits, no other one.",
        params={"person": person.id, "day": day, "free": free},
        patches=patches,
        checks=texted(w, person.phone, Time(free), says=f"{person.name} knows the time"),
        golden=(
            template.look(messages.get_thread, thread=thread),
            template.look(calendar.day_events, day=day),
            template.call(messages.send, thread=thread, text=free),
        ),
    )


@pack.template("decline_and_explain", apps=("calendar", "messages"))
def decline_and_explain(w: WorldView) -> Draft:
    """Answer an invitation, and text whoever sent it."""
    event = w.pick(w.state(State).events, lambda e: bool(e.organiser))
    person = _person(w, event.organiser)
    text = w.one_of(
        "Sorry, I have to be somewhere else.",
        "I cannot make it this time, sorry!",
        "I will be out of town, please go ahead without me.",
    )
    send, patches = text_to(w, person.phone, text)
    return Draft(
        goal=f"I was invited to something on {spoken(event.date)}, but cannot go. Decline, and "
        f'text the person who invited me: "{text}"',
        params={"event": event.id, "person": person.id, "text": text},
        patches=patches,
        allowed=("messages.threads.archived",),
        checks=(
            template.changed("calendar.events", event.id, f"{event.title} is declined", reply="no"),
            *texted(w, person.phone, Text(text), says=f"{person.name} got the text"),
        ),
        golden=(
            template.look(calendar.day_events, day=event.date),
            template.call(calendar.answer, event=event.id, reply="no"),
            send,
        ),
    )


# ---- the calendar and notes --------------------------------------------------------------------


@pack.template("list_of_day", apps=("notes", "calendar"))
def list_of_day(w: WorldView) -> Draft:
    """Write what is planned on a day into a list."""
    days = [w.cast.day(n) for n in range(1, 18)]
    day = w.pick(days, lambda d: 2 <= len(on_day(w, d)) <= 4)
    titles = [o.event.title for o in on_day(w, day)]
    title = DAY_NAMES[date.fromisoformat(day).weekday()]
    note = records.new_note_id(w)
    return Draft(
        goal=f'Make a list "{title}" where I can tick off what I have planned on {spoken(day)}, '
        "one line for each, by its name.",
        params={"day": day, "titles": titles},
        checks=(
            template.added("notes.notes", "There is a list", weight=0, title=Text(title)),
            *(
                template.added(
                    "notes.items",
                    f"{line} is on it",
                    note=note,
                    text=Text(line, mode="contains"),
                    done=False,
                )
                for line in titles
            ),
        ),
        golden=(
            template.look(calendar.day_events, day=day),
            template.call(notes.add, title=title, items="\n".join(titles)),
        ),
    )


@pack.template("flight_into_calendar", apps=("calendar", "notes"))
def flight_into_calendar(w: WorldView) -> Draft:
    """Plan a flight from a note."""
    f = notes_seed.facts(w.cast)
    title, hours = w.one_of("Flight home", "Flying", "Holiday flight"), w.one_of(1, 2)
    end = later(f.flight_time, 60 * hours)
    return Draft(
        goal=f'I noted when my flight goes. Plan it in my calendar as "{title}", '
        f"{'an hour' if hours == 1 else 'two hours'} long, with the number of the flight in its "
        "note and a reminder a day before.",
        params={"title": title, "day": f.flight_day, "flight": f.flight},
        checks=planned(
            title,
            "The flight is planned",
            date=f.flight_day,
            start=f.flight_time,
            end=end,
            note=Text(f.flight, mode="contains"),
            reminder_min=1440,
        ),
        golden=(
            template.look(notes.get, note=note_titled(w, "Flight and hotel").id),
            template.call(
                calendar.add,
                title=title,
                date=f.flight_day,
                start=f.flight_time,
                end=end,
                note=f.flight,
                reminder_min=1440,
            ),
        ),
    )


@pack.template("service_into_calendar", apps=("calendar", "notes"))
def service_into_calendar(w: WorldView) -> Draft:
    """Plan a day that a note tells."""
    f = notes_seed.facts(w.cast)
    title = w.one_of("Car service", "Car at the garage", "No car today")
    return Draft(
        goal=f"My car goes to the garage some day soon; I noted when. Mark the whole of that day "
        f'as "{title}" in my calendar, and note there what it will cost.',
        params={"title": title, "day": f.service_day},
        checks=planned(
            title, "The day is marked", date=f.service_day, all_day=True, note=Money(f.garage_cents)
        ),
        golden=(
            template.look(notes.get, note=note_titled(w, "Car").id),
            template.call(
                calendar.add,
                title=title,
                date=f.service_day,
                all_day=True,
                note=dollars(f.garage_cents),
            ),
        ),
    )
