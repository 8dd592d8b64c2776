"""Questions that Notes alone answers."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Date, Money, Number, Set, Text
from screenloop.phone.apps.messages.seed import dollars
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes.seed import facts
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, look
from screenloop.suites.phone_core.worlds.records import lines_of, note_titled

pack = Pack("productivity")


@pack.template("code_in_note", apps=("notes",), was="locker_code")
def code_in_note(w: WorldView) -> Draft:
    """Tell a code."""
    f = facts(w.cast)
    codes = (
        ("is the code of my locker", "Gym", f.locker_code),
        ("is the number of my library card", "Plants and library", f.library_card),
        ("is my passport number", "Passport", f.passport),
        ("is the number plate of my car", "Car", f.plate),
    )
    words, title, code = w.rng.choice(codes)
    others = tuple(other for _, _, other in codes if other != code)
    return Draft(
        goal=f"What {words}? I wrote it down once.",
        params={"code": code},
        checks=(AnswerIs(to=Text(code, mode="contains", others=others), says="The code is right"),),
        golden=(look(notes.get, note=note_titled(w, title).id), Answer(text=code)),
    )


@pack.template("number_in_recipe", apps=("notes",), was="baking_temperature")
def number_in_recipe(w: WorldView) -> Draft:
    """Tell one of the numbers of a recipe."""
    f = facts(w.cast)
    words, number = w.one_of(
        ("How hot does the oven have to be", f.oven_c),
        ("How many minutes does it bake", f.oven_minutes),
        ("How many grams of flour do I need", f.flour_g),
    )
    return Draft(
        goal=f"I am making my {f.recipe.lower()}. {words}? Just the number, please.",
        params={"number": number},
        checks=(AnswerIs(to=Number(value=number), says="The number is right"),),
        golden=(look(notes.get, note=note_titled(w, f.recipe).id), Answer(text=str(number))),
    )


@pack.template("still_to_pack", apps=("notes",))
def still_to_pack(w: WorldView) -> Draft:
    """List what is open."""
    note = note_titled(w, "Packing list")
    left = tuple(line.text for line in lines_of(w, note) if not line.done)
    return Draft(
        goal="What do I still have to pack? Answer with the list only.",
        params={"left": list(left)},
        checks=(AnswerIs(to=Set(left), says="All that is not ticked, and nothing else"),),
        golden=(look(notes.get, note=note.id), Answer(text=", ".join(left))),
    )


@pack.template("sum_of_gifts", apps=("notes",))
def sum_of_gifts(w: WorldView) -> Draft:
    """Add up what a list says."""
    total = sum(gift.cents for gift in facts(w.cast).gifts)
    return Draft(
        goal="If I buy every present I have thought of, what will they cost me in all?",
        params={"cents": total},
        checks=(AnswerIs(to=Money(total), says="The sum is right"),),
        golden=(look(notes.get, note=note_titled(w, "Gift ideas").id), Answer(text=dollars(total))),
    )


@pack.template("kilometres_a_week", apps=("notes",))
def kilometres_a_week(w: WorldView) -> Draft:
    """Add up numbers in a text."""
    total = sum(facts(w.cast).run_km)
    return Draft(
        goal="How many kilometres a week does my running plan come to?",
        params={"km": total},
        checks=(AnswerIs(to=Number(value=total), says="The sum is right"),),
        golden=(look(notes.get, note=note_titled(w, "Gym").id), Answer(text=f"{total} km")),
    )


@pack.template("forgotten_address", apps=("notes",))
def forgotten_address(w: WorldView) -> Draft:
    """Find a note that is in the archive."""
    f = facts(w.cast)
    note = note_titled(w, "Old flat")
    return Draft(
        goal="What was the street and house number of the flat I moved out of?",
        params={"address": f.old_address},
        checks=(AnswerIs(to=Text(f.old_address, mode="contains"), says="The address is right"),),
        golden=(look(notes.get, note=note.id), Answer(text=f.old_address)),
    )


@pack.template("date_in_note", apps=("notes",), was="passport_expiry")
def date_in_note(w: WorldView) -> Draft:
    """Tell a day that a note holds."""
    f = facts(w.cast)
    words, title, day = w.one_of(
        ("does my passport run out", "Passport", f.passport_until),
        ("is my car booked in at the garage", "Car", f.service_day),
        ("is the proposal of the project due", "Project meeting", f.meeting_due),
        ("is my flight", "Flight and hotel", f.flight_day),
    )
    return Draft(
        goal=f"On which date {words}?",
        params={"day": day},
        checks=(AnswerIs(to=Date(day), says="The day is right"),),
        golden=(look(notes.get, note=note_titled(w, title).id), Answer(text=day)),
    )
