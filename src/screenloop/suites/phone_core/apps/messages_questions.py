"""Questions that Messages alone answers."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Check, Date, Expected, Money, Text, Time
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import BANK, DENTIST, SHOP, dollars, facts
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, look
from screenloop.suites.phone_core.worlds.records import chat_with, first_name

pack = Pack("communication")


def _told(to: Expected, says: str) -> tuple[Check, ...]:
    return (AnswerIs(to=to, says=says),)


@pack.template("parcel_pickup_code", apps=("messages",))
def parcel_pickup_code(w: WorldView) -> Draft:
    """Tell the code for the driver."""
    f = facts(w.cast)
    return Draft(
        goal="The driver with my parcel is at the door. Which code do I have to show?",
        checks=_told(Text(f.pickup_code, mode="digits"), "The code in the answer is right"),
        golden=(
            look(messages.get_thread, thread=chat_with(w, SHOP).id),
            Answer(text=f.pickup_code),
        ),
    )


@pack.template("dinner_time_now", apps=("messages",))
def dinner_time_now(w: WorldView) -> Draft:
    """Tell a time that was changed."""
    f = facts(w.cast)
    return Draft(
        goal=f"What time is the table at {f.dinner_place} booked for, as things stand now?",
        params={"person": f.dinner.name},
        checks=_told(Time(f.dinner_time), "The time after the change"),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.dinner.phone).id),
            Answer(text=f.dinner_time),
        ),
    )


@pack.template("date_in_chat", apps=("messages",), was="appointment_day")
def date_in_chat(w: WorldView) -> Draft:
    """Tell the day of something."""
    f = facts(w.cast)
    words, phone, day = w.one_of(
        ("is my dentist appointment", DENTIST, f.dentist_day),
        ("do we meet for the book club", f.club.phone, f.club_day),
        (f"do we leave for {f.trip_city}", f.trip.phone, f.trip_day),
        ("is the surprise party", f.party.phone, f.party_day),
    )
    return Draft(
        goal=f"On which date {words}?",
        params={"day": day},
        checks=_told(Date(day), "The day in the answer is right"),
        golden=(look(messages.get_thread, thread=chat_with(w, phone).id), Answer(text=day)),
    )


@pack.template("sum_of_what_i_owe", apps=("messages",))
def sum_of_what_i_owe(w: WorldView) -> Draft:
    """Add up amounts from two conversations."""
    f = facts(w.cast)
    total = f.rent_cents + f.party_share_cents
    return Draft(
        goal="How much money do I need for my part of the rent and my share of the present for "
        "the surprise party together?",
        params={"cents": total},
        checks=_told(Money(total), "The sum is right"),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.flat.phone).id),
            look(messages.get_thread, thread=chat_with(w, f.party.phone).id),
            Answer(text=dollars(total)),
        ),
    )


@pack.template("promised_pickup_time", apps=("messages",), was="leave_home_for_clinic")
def promised_pickup_time(w: WorldView) -> Draft:
    """Work out a time from what was promised."""
    f = facts(w.cast)
    hour, minute = map(int, f.clinic_time.split(":"))
    early = hour * 60 + minute - 30
    clock = f"{early // 60:02d}:{early % 60:02d}"
    return Draft(
        goal=f"I promised to drive {first_name(f.clinic.name)} to {f.clinic_doctor}. At what time "
        "did I say I would pick them up?",
        params={"person": f.clinic.name},
        checks=_told(Time(clock), "Half an hour before the appointment"),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.clinic.phone).id),
            Answer(text=clock),
        ),
    )


@pack.template("last_card_payment", apps=("messages",))
def last_card_payment(w: WorldView) -> Draft:
    """Tell the latest of several amounts."""
    f = facts(w.cast)
    return Draft(
        goal="How much did I pay the last time I used my bank card?",
        params={"cents": f.card_cents},
        checks=_told(Money(f.card_cents), "The latest amount"),
        golden=(
            look(messages.get_thread, thread=chat_with(w, BANK).id),
            Answer(text=dollars(f.card_cents)),
        ),
    )
