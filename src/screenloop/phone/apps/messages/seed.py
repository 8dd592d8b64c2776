"""What the seeded conversations tell, and how: facts of a world, and scripts that carry them.

Tasks take what they ask for from `facts`, so goals and conversations cannot disagree.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable
from datetime import date
from typing import Any

import msgspec
from msgspec import structs

from screenloop.phone import kit as k

SHOP = "Nimbus"
BANK = "Harbor Bank"
DENTIST = "Harbor Dental"
"""Senders that take no replies."""

DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES = tuple(calendar.month_name[1:])

PEOPLE = "dinner flat review clinic trip debt club party cabin buyer plumber".split()
"""The facts that are people, in the order of their draw."""


class Facts(k.Struct, frozen=True, kw_only=True):
    """The names, days, codes and amounts in a world's conversations.

    Days are ISO dates, times `HH:MM`, money cents.
    """

    dinner: k.Member
    dinner_place: str
    dinner_address: str
    dinner_day: str
    dinner_time: str
    """After it was moved by half an hour."""
    dinner_seats: int
    dinner_dish: str
    """Told in the answer to a message."""
    flat: k.Member
    wifi_name: str
    wifi_password: str
    rent_cents: int
    rent_day: str
    key_floor: int
    """Told in the answer to a message."""
    review: k.Member
    review_day: str
    review_time: str
    review_room: str
    review_pages: int
    """Told in the answer to a message."""
    clinic: k.Member
    clinic_doctor: str
    clinic_address: str
    clinic_day: str
    clinic_time: str
    insurance_number: str
    """Told in the answer to a message."""
    trip: k.Member
    trip_city: str
    trip_day: str
    train: int
    train_time: str
    train_platform: int
    hotel_code: str
    train_seat: str
    """Told in the answer to a message."""
    debt: k.Member
    debt_cents: int
    debt_for: str
    debt_tag: str
    """Told in the answer to a message."""
    club: k.Member
    club_book: str
    club_chapter: int
    club_day: str
    club_address: str
    """Told in the answer to a message."""
    party: k.Member
    party_address: str
    party_day: str
    party_time: str
    party_gift: str
    party_share_cents: int
    party_guests: int
    """Told in the answer to a message."""
    cabin: k.Member
    cabin_code: str
    cabin_spot: int
    """Told in the answer to a message."""
    buyer: k.Member
    """Not a contact."""
    buyer_item: str
    buyer_cents: int
    plumber: k.Member
    """Not a contact."""
    plumber_cents: int
    plumber_day: str
    plumber_time: str
    parcel_code: str
    parcel_day: str
    pickup_code: str
    card_end: str
    card_cents: int
    card_shop: str
    dentist_day: str
    dentist_time: str


class Script(k.Struct, frozen=True, kw_only=True):
    """One conversation as it is seeded."""

    phone: str
    lines: str
    """A line a message: `days HH:MM > text` is ours, `<` is theirs."""
    unread: int = 0
    pinned: bool = False
    muted: bool = False
    archived: bool = False


class Answer(k.Record, frozen=True, kw_only=True):
    """What somebody writes back to the n-th message that is sent to them."""

    phone: str
    number: int
    text: str
    after_s: int


def spoken(day: str) -> str:
    """Return an ISO date as people write it: `Thursday 5 March`."""
    when = date.fromisoformat(day)
    return f"{DAY_NAMES[when.weekday()]} {when.day} {MONTH_NAMES[when.month - 1]}"


def dollars(cents: int) -> str:
    """Return `$12.50`."""
    return f"${cents // 100}.{cents % 100:02d}"


def facts(cast: k.Cast) -> Facts:
    """Return the facts of a world."""
    data, rng = k.read_data(__package__), cast.rng("messages")
    friends, strangers = rng.sample(cast.people[:20], 9), rng.sample(cast.people[20:], 2)
    people = dict(zip(PEOPLE, friends + strangers, strict=True))
    values = k.drawn(data["facts"], cast, rng, data["lists"])
    values["debt_tag"] = f"@{people['debt'].name.split()[0].lower()}{values['debt_tag']}"
    return msgspec.convert({**people, **values}, Facts, strict=False)


def _filled(part: str, cast: k.Cast) -> Any:
    """Return a part of the data with what it tells of a world."""
    f = facts(cast)
    hour, minute = f.dinner_time.split(":")
    told = {
        **structs.asdict(f),
        "today": cast.day(0),
        "dinner_early": f"{hour}:00" if minute == "30" else f"{int(hour) - 1:02d}:30",
        "debt_both_cents": 2 * f.debt_cents,
    }
    return k.filled(k.read_data(__package__)[part], told, {"spoken": spoken, "dollars": dollars})


def scripts(cast: k.Cast) -> tuple[Script, ...]:
    """Return the conversations of a world."""
    return msgspec.convert(_filled("scripts", cast), tuple[Script, ...])


def answers(cast: k.Cast) -> Iterable[Answer]:
    """Return what people write back: to the first message a fact, to the second a thank-you."""
    rng, closings = cast.rng("answers"), k.read_data(__package__)["closings"]
    f = facts(cast)
    for row in _filled("answers", cast):
        phone = getattr(f, row["to"]).phone
        yield Answer(phone=phone, number=0, text=row["text"], after_s=rng.randrange(8, 20))
        thanks = rng.choice(closings)
        yield Answer(phone=phone, number=1, text=thanks, after_s=rng.randrange(8, 20))
