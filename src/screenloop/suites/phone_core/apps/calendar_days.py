"""Tasks over the calendar alone that start from what a day, or an event, says."""

from __future__ import annotations

from screenloop.actions import Answer, Tool
from screenloop.criteria import AnswerIs, Check, Number, Set, Text, Time
from screenloop.phone.apps.calendar import actions as calendar
from screenloop.phone.apps.calendar.state import State, later
from screenloop.phone.apps.messages.seed import spoken
from screenloop.suites.phone_core.template import (
    Draft,
    Pack,
    WorldView,
    call,
    changed,
    look,
    removed,
    set_row,
)
from screenloop.suites.phone_core.worlds.times import event_titled, on_day

pack = Pack("time")


# ---- questions ---------------------------------------------------------------------------------


@pack.template("end_of_busy_day", apps=("calendar",))
def end_of_busy_day(w: WorldView) -> Draft:
    """Tell when the last event of a day is over."""
    days = [w.cast.day(n) for n in range(1, 23)]
    day = w.pick(days, lambda d: len({o.event.end for o in on_day(w, d)}) > 1)
    end = max(o.event.end for o in on_day(w, day))
    return Draft(
        goal=f"From when on am I free on {spoken(day)}, with everything done that I have planned?",
        params={"day": day},
        checks=(AnswerIs(to=Time(end), says="The end of the last event"),),
        golden=(look(calendar.day_events, day=day), Answer(text=end)),
    )


@pack.template("detail_of_flight", apps=("calendar",), was="booking_code_of_flight")
def detail_of_flight(w: WorldView) -> Draft:
    """Tell a fact that stands in an event's note."""
    flight = event_titled(w, "Flight to Mirador")
    seat = f"{w.rng.randrange(2, 40)}{w.rng.choice('ABCDEF')}"
    code = f"{w.rng.choice('BKQX')}{w.rng.randrange(2, 10)}{w.rng.choice('RTZ')}" + str(
        w.rng.randrange(100, 1000)
    )
    words, fact = w.one_of(("booking code", code), ("seat", seat))
    return Draft(
        goal=f"They ask me for the {words} of my flight to Mirador. What is it? Just the {words}, "
        "please.",
        params={"fact": fact},
        patches=(set_row("calendar.events", flight.id, note=f"Seat {seat}, booking {code}"),),
        checks=(AnswerIs(to=Text(fact), says=f"The {words} is right"),),
        golden=(look(calendar.get, event=flight.id, date=flight.date), Answer(text=fact)),
    )


@pack.template("break_between_events", apps=("calendar",))
def break_between_events(w: WorldView) -> Draft:
    """Tell how long the gap between two events of a day is."""
    day = w.cast.day(1)
    lunch, dentist = (o.event for o in on_day(w, day))
    minutes = w.rng.randrange(3, 14) * 10
    start = later(lunch.end, minutes)
    return Draft(
        goal=f"On {spoken(day)} I have lunch and an appointment at the dentist. How many minutes "
        "are there between the two?",
        params={"minutes": minutes},
        patches=(set_row("calendar.events", dentist.id, start=start, end=later(start, 45)),),
        checks=(AnswerIs(to=Number(value=minutes), says="The length of the break"),),
        golden=(look(calendar.day_events, day=day), Answer(text=str(minutes))),
    )


@pack.template("names_of_guests", apps=("calendar",))
def names_of_guests(w: WorldView) -> Draft:
    """List who was invited to an event."""
    event = w.pick(w.state(State).events, lambda e: len(e.guests) > 1 and e.date > w.cast.day(0))
    return Draft(
        goal=f"Who is invited to {event.title}? Answer with the full names only.",
        params={"event": event.id},
        checks=(AnswerIs(to=Set(tuple(event.guests)), says="All guests, nobody else"),),
        golden=(
            look(calendar.get, event=event.id, date=event.date),
            Answer(text=", ".join(event.guests)),
        ),
    )


# ---- whole days --------------------------------------------------------------------------------


@pack.template("resolve_collision", apps=("calendar",))
def resolve_collision(w: WorldView) -> Draft:
    """Move the owner's one of two events that overlap to the end of the other."""
    meeting = event_titled(w, "Budget meeting")
    mine = event_titled(w, "Supplier call")
    day = w.cast.day(w.one_of(1, 2, 3, 4, 9, 11))
    start = f"{w.rng.randrange(14, 17)}:{w.one_of('00', '15', '30')}"
    end = later(start, 60 + 15 * w.rng.randrange(3))
    own_start, minutes = later(start, 30), w.one_of(40, 45, 50)
    return Draft(
        goal=f"On {spoken(day)} two things for work are at the same time. One I was invited to, "
        "the other is my own. Move my own one so that it starts right when the other is over. It "
        "takes as long as before.",
        params={"day": day, "start": end},
        patches=tuple(
            set_row("calendar.events", row.id, date=day, start=first, end=last)
            for row, first, last in (
                (meeting, start, end),
                (mine, own_start, later(own_start, minutes)),
            )
        ),
        checks=(
            changed(
                "calendar.events",
                mine.id,
                f"{mine.title} starts when {meeting.title} ends",
                date=day,
                start=end,
            ),
            changed(
                "calendar.events", mine.id, "It takes as long as before", end=later(end, minutes)
            ),
        ),
        golden=(
            look(calendar.day_events, day=day),
            call(calendar.move, event=mine.id, date=day, start=end, end=later(end, minutes)),
        ),
    )


@pack.template("away_for_a_day", apps=("calendar",))
def away_for_a_day(w: WorldView) -> Draft:
    """Clear a day: decline, leave out, delete, each where it is right."""
    day = w.cast.day(w.one_of(2, 3))
    golden: list[Tool] = [look(calendar.day_events, day=day)]
    checks: list[Check] = []
    for event in (o.event for o in on_day(w, day)):
        says, ids = event.title, (event.id,)
        if event.organiser:
            golden.append(call(calendar.answer, event=event.id, reply="no"))
            checks.append(changed("calendar.events", ids, f"{says} is declined", reply="no"))
        elif event.repeat != "none":
            golden.append(call(calendar.skip, event=event.id, date=day))
            checks.append(
                changed(
                    "calendar.events",
                    ids,
                    f"{says} is left out on that day only",
                    skips=Set((day,)),
                )
            )
        else:
            golden.append(call(calendar.delete, event=event.id))
            checks.append(removed("calendar.events", f"{says} is off the calendar", id=event.id))
    return Draft(
        goal=f"I will be away on {spoken(day)}. Decline what others invited me to on that day, "
        "and take everything else off it. What comes every week must stay on its other days.",
        params={"day": day},
        checks=tuple(checks),
        golden=tuple(golden),
    )


@pack.template("answer_all_invitations", apps=("calendar",))
def answer_all_invitations(w: WorldView) -> Draft:
    """Answer all invitations, by which kind of event they are."""
    asked = w.state(State).events.where(lambda e: bool(e.organiser))
    work, private = w.one_of(("no", "yes"), ("yes", "no"), ("maybe", "yes"))
    words = {"no": "decline", "yes": "accept", "maybe": "answer with a maybe"}
    replies = {e.id: work if e.calendar == "work" else private for e in asked}
    return Draft(
        goal="Some people still wait for my answers to their invitations. For those for work, "
        f"{words[work]}; for all others, {words[private]}.",
        params={"work": work, "private": private},
        checks=tuple(
            changed(
                "calendar.events",
                e.id,
                f"The answer for {e.title} is {replies[e.id]}",
                reply=replies[e.id],
            )
            for e in asked
        ),
        golden=tuple(call(calendar.answer, event=e.id, reply=replies[e.id]) for e in asked),
    )
