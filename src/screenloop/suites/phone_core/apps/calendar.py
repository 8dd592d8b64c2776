"""Tasks over the calendar alone that plan and change single events."""

from __future__ import annotations

from screenloop.criteria import Changed, Set, Text
from screenloop.phone.apps.calendar import actions as calendar
from screenloop.phone.apps.calendar.state import REMINDERS, Event, State, later
from screenloop.phone.apps.contacts.pages import State as Contacts
from screenloop.phone.apps.messages.seed import spoken
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, call, changed, value_is
from screenloop.suites.phone_core.worlds.records import first_name
from screenloop.suites.phone_core.worlds.times import event_titled, length_min, planned

pack = Pack("time")

APPOINTMENTS = (
    ("Haircut", "Clip Studio", 45),
    ("Eye test", "Lens Corner", 30),
    ("Guitar lesson", "The Barn", 60),
    ("Bike repair", "Spoke Works", 15),
    ("Passport photos", "Town Hall", 30),
    ("Tax advice", "12 Mill Lane", 90),
)
COURSES = (
    ("Spanish course", "Evening School"),
    ("Choir", "Grange Hall"),
    ("Pottery", "Kiln House"),
    ("Swimming", "Lido"),
    ("Chess evening", "Cafe Rook"),
)
TODAY = "2026-03-02"


def _ahead(minutes: int) -> str:
    known = {5: "five minutes", 10: "ten minutes", 30: "half an hour", 60: "an hour", 1440: "a day"}
    return known[minutes]


def _edited(event: Event, **fields: object) -> dict[str, object]:
    """Return all details of an event with some of them changed."""
    names = (
        "title",
        "date",
        "start",
        "end",
        "all_day",
        "location",
        "note",
        "calendar",
        "repeat",
        "reminder_min",
    )
    return {"event": event.id, **{name: getattr(event, name) for name in names}, **fields}


# ---- new events --------------------------------------------------------------------------------


@pack.template("plan_appointment", apps=("calendar",))
def plan_appointment(w: WorldView) -> Draft:
    """Plan an event with a place."""
    title, place, minutes = w.rng.choice(APPOINTMENTS)
    day = w.cast.day(w.rng.randrange(1, 27))
    start = f"{w.rng.randrange(11, 18)}:{w.one_of('05', '20', '35', '50')}"
    end = later(start, minutes)
    return Draft(
        goal=f'I got an appointment for {spoken(day)}: "{title}" at {place}, from {start} to '
        f"{end}. Put it into my calendar.",
        params={"title": title, "day": day, "start": start, "end": end},
        checks=planned(
            title, f"{title} is planned", date=day, start=start, end=end, location=Text(place)
        ),
        golden=(call(calendar.add, title=title, date=day, start=start, end=end, location=place),),
    )


@pack.template("plan_whole_day", apps=("calendar",))
def plan_whole_day(w: WorldView) -> Draft:
    """Plan a whole day."""
    title = w.one_of("Day off", "Spring cleaning", "Moving day", "Trip to the sea")
    day = w.cast.day(w.rng.randrange(2, 27))
    return Draft(
        goal=f'Keep the whole of {spoken(day)} free for "{title}" in my calendar.',
        params={"title": title, "day": day},
        checks=planned(title, f"{title} is planned", date=day, all_day=True),
        golden=(call(calendar.add, title=title, date=day, all_day=True),),
    )


@pack.template("plan_weekly_course", apps=("calendar",))
def plan_weekly_course(w: WorldView) -> Draft:
    """Plan an event that repeats and reminds, in one of the calendars."""
    title, place = w.rng.choice(COURSES)
    day = w.cast.day(w.rng.randrange(2, 15))
    start = f"{w.rng.randrange(16, 20)}:{w.one_of('15', '30', '40')}"
    end = later(start, 90)
    layer = w.one_of("family", "health")
    before = w.one_of(10, 30, 60)
    return Draft(
        goal=f'From {spoken(day)} on, "{title}" takes place every week, {start} to {end}, at '
        f"{place}. Plan it among my {layer} events, and have me reminded {_ahead(before)} before.",
        params={"title": title, "day": day, "start": start, "layer": layer, "before": before},
        checks=(
            *planned(title, "The first time is right", date=day, start=start, end=end),
            *planned(
                title,
                "It is as asked for",
                repeat="weekly",
                location=Text(place),
                calendar=layer,
                reminder_min=before,
            ),
        ),
        golden=(
            call(
                calendar.add,
                title=title,
                date=day,
                start=start,
                end=end,
                location=place,
                calendar=layer,
                repeat="weekly",
                reminder_min=before,
            ),
        ),
    )


@pack.template("repeat_event_once", apps=("calendar",), was="movies_again")
def repeat_event_once(w: WorldView) -> Draft:
    """Plan the same event once more on another day."""
    event = event_titled(w, w.one_of("Movie night", "Design workshop", "Dentist"))
    day = w.cast.day(w.rng.randrange(17, 27))
    return Draft(
        goal=f"{event.title} should take place a second time, with everything as it is the first "
        f"time, but on {spoken(day)}. Add that.",
        params={"event": event.id, "day": day},
        checks=planned(
            event.title,
            f"{event.title} takes place again",
            date=day,
            start=event.start,
            end=event.end,
            location=Text(event.location),
            guests=Set(tuple(event.guests)),
            note=event.note,
            reminder_min=event.reminder_min,
        ),
        golden=(call(calendar.duplicate, event=event.id, date=day),),
    )


# ---- changed events ----------------------------------------------------------------------------


@pack.template("event_was_moved", apps=("calendar",))
def event_was_moved(w: WorldView) -> Draft:
    """Move an event; its length stays."""
    event = event_titled(w, w.one_of("Dentist", "Car inspection", "Parents' evening"))
    day = w.cast.day(w.one_of(9, 11, 12, 17, 18, 19))
    start = f"{w.rng.randrange(11, 16)}:{w.one_of('05', '25', '55')}"
    end = later(start, length_min(event))
    return Draft(
        goal=f"{event.title} was moved to {spoken(day)}, {start}. It takes as long as it was "
        "to take before. Correct my calendar.",
        params={"event": event.id, "day": day, "start": start},
        checks=(
            changed("calendar.events", event.id, f"{event.title} is on {spoken(day)}", date=day),
            changed("calendar.events", event.id, f"It starts at {start}", start=start),
            changed("calendar.events", event.id, f"It ends at {end}", end=end),
        ),
        golden=(call(calendar.move, event=event.id, date=day, start=start, end=end),),
    )


@pack.template("remind_of_event", apps=("calendar",))
def remind_of_event(w: WorldView) -> Draft:
    """Have an event reminded of."""
    event = w.pick(
        w.state(State).events,
        lambda e: not e.reminder_min and e.date > TODAY and e.repeat == "none" and not e.all_day,
    )
    before = w.rng.choice([minutes for minutes, _ in REMINDERS if minutes])
    return Draft(
        goal=f"I must not forget {event.title} on {spoken(event.date)}. Let the phone remind me "
        f"{_ahead(before)} before it starts.",
        params={"event": event.id, "before": before},
        checks=(
            changed(
                "calendar.events",
                event.id,
                f"The phone reminds {_ahead(before)} before",
                reminder_min=before,
            ),
        ),
        golden=(call(calendar.remind_before, event=event.id, reminder_min=before),),
    )


@pack.template("lesson_falls_through", apps=("calendar",))
def lesson_falls_through(w: WorldView) -> Draft:
    """Leave out one day of a repeated event."""
    event = event_titled(w, w.one_of("Yoga class", "Piano lesson"))
    first = int(event.date[-2:])
    day = f"2026-03-{first + 7 * w.rng.randrange(1, 4):02d}"
    return Draft(
        goal=f"The teacher is ill: no {event.title.lower()} on {spoken(day)}. Take it out of my "
        "calendar. All other weeks stay as they are.",
        params={"event": event.id, "day": day},
        checks=(
            changed(
                "calendar.events",
                event.id,
                f"{event.title} is left out on {spoken(day)} only",
                skips=Set((day,)),
            ),
        ),
        golden=(call(calendar.skip, event=event.id, date=day),),
    )


@pack.template("new_place_and_layer", apps=("calendar",))
def new_place_and_layer(w: WorldView) -> Draft:
    """Correct several details of an event."""
    event = w.pick(w.state(State).events, lambda e: e.title.startswith(("Lunch", "Brunch")))
    place = w.one_of("Blue Fig", "Noodle Yard", "The Copper Pan")
    note = w.one_of("Table by the window", "Bring the photos", "Ask about the cabin")
    return Draft(
        goal=f'{event.title} takes place at {place}. It is a family matter, and "{note}" belongs '
        "with it as a note. Bring my calendar up to date.",
        params={"event": event.id, "place": place, "note": note},
        checks=tuple(
            Changed(
                app="calendar",
                table="events",
                ids=(event.id,),
                to={field: value},
                says=f"The {field} is right",
            )
            for field, value in (
                ("location", Text(place)),
                ("calendar", "family"),
                ("note", Text(note)),
            )
        ),
        golden=(
            call(calendar.edit, **_edited(event, location=place, note=note, calendar="family")),
        ),
    )


@pack.template("answer_invitation", apps=("calendar",))
def answer_invitation(w: WorldView) -> Draft:
    """Answer an invitation."""
    event = w.pick(w.state(State).events, lambda e: bool(e.organiser))
    reply, words = w.one_of(
        ("yes", "I will come"), ("no", "I cannot come"), ("maybe", "I do not know yet if I can")
    )
    return Draft(
        goal=f"{event.organiser} wants to know whether I come to what we have on "
        f"{spoken(event.date)}. {words}. Answer the invitation.",
        params={"event": event.id, "reply": reply},
        checks=(
            changed(
                "calendar.events",
                event.id,
                f"The answer to {event.organiser} is {reply}",
                reply=reply,
            ),
        ),
        golden=(call(calendar.answer, event=event.id, reply=reply),),
    )


@pack.template("other_guest_comes", apps=("calendar",))
def other_guest_comes(w: WorldView) -> Draft:
    """Swap a guest of an event."""
    event = event_titled(w, w.one_of("Movie night", "Quarterly planning", "Team sync"))
    gone = w.rng.choice(event.guests)
    comes = w.pick(w.state(Contacts).people, lambda p: p.name not in event.guests).name
    guests = (*(name for name in event.guests if name != gone), comes)
    return Draft(
        goal=f"{first_name(gone)} cannot come to {event.title}. Invite {comes} instead.",
        params={"event": event.id, "gone": gone, "comes": comes},
        checks=(
            changed(
                "calendar.events", event.id, f"{comes} comes, {gone} does not", guests=Set(guests)
            ),
        ),
        golden=(
            call(calendar.uninvite, event=event.id, name=gone),
            call(calendar.invite, event=event.id, name=comes),
        ),
    )


@pack.template("arrange_calendar", apps=("calendar",))
def arrange_calendar(w: WorldView) -> Draft:
    """Change how the calendar shows and how new events begin."""
    layer = w.one_of("work", "family", "health")
    before = w.one_of(5, 10, 30, 60)
    return Draft(
        goal=f"I am on holiday: I do not want to see my {layer} events for now, but keep them. "
        f"Weeks should begin on Sunday, and what I plan from now on should remind me "
        f"{_ahead(before)} before unless I say otherwise.",
        params={"layer": layer, "before": before},
        checks=(
            changed("calendar.layers", layer, f"The {layer} events are not shown", shown=False),
            value_is("calendar.sunday_first", "Weeks begin on Sunday", True),
            value_is(
                "calendar.default_reminder_min",
                f"New events remind {_ahead(before)} before",
                before,
            ),
        ),
        golden=(
            call(calendar.show, calendar=layer, on=False),
            call(calendar.set_default_reminder, reminder_min=before),
            call(calendar.set_week_start, sunday=True),
        ),
    )
