"""What the seeded notes say: facts of a world, and the notes and checklists that carry them.

Tasks take what they ask for from `facts`, so goals and notes cannot disagree.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import structs

from screenloop.phone import kit as k
from screenloop.phone.apps.messages.seed import dollars, spoken

Colour = Literal["plain", "yellow", "orange", "pink", "purple", "blue", "green"]
FOLDERS = ("Home", "Work", "Travel", "Ideas")


class Gift(k.Struct, frozen=True, kw_only=True):
    """An idea for somebody's present."""

    person: k.Member
    idea: str
    cents: int


class Tip(k.Struct, frozen=True, kw_only=True):
    """A book and who recommended it."""

    title: str
    person: k.Member


class Facts(k.Struct, frozen=True, kw_only=True):
    """The codes, amounts and days in a world's notes. Days are ISO dates, money cents."""

    groceries: tuple[str, ...]
    """With amounts, as written."""
    groceries_done: int
    """How many of the first ones are ticked."""
    packing: tuple[str, ...]
    packing_done: int
    gifts: tuple[Gift, ...]
    wifi_password: str
    locker_code: str
    locker_number: int
    plate: str
    service_day: str
    garage_cents: int
    recipe: str
    flour_g: int
    oven_c: int
    oven_minutes: int
    window_cm: tuple[int, int]
    """Width, height."""
    meeting_day: str
    meeting_owner: k.Member
    meeting_due: str
    meeting_budget_cents: int
    tips: tuple[Tip, ...]
    flight: str
    flight_time: str
    flight_day: str
    gate: str
    hotel: str
    hotel_address: str
    passport: str
    passport_until: str
    medicine: str
    medicine_times: tuple[str, str]
    water_days: int
    run_km: tuple[int, int, int]
    """On Monday, Wednesday, Saturday."""
    library_card: str
    club_room: str
    old_address: str
    """In an archived note."""
    speech_for: k.Member
    """In a note in the trash."""


class Sheet(k.Struct, frozen=True, kw_only=True):
    """One note as it is seeded."""

    title: str
    lines: str = ""
    folder: str = ""
    colour: Colour = "plain"
    days: int
    """When it was written, from the start date."""
    items: tuple[str, ...] = ()
    done: int = 0
    """How many of the first items are ticked."""
    pinned: bool = False
    archived: bool = False
    trashed: bool = False


def facts(cast: k.Cast) -> Facts:
    """Return the facts of a world."""
    data, rng = k.read_data(__package__), cast.rng("notes")
    lists = data["lists"]
    people = rng.sample(cast.people[:20], 9)
    bought = rng.sample(list(data["groceries"].items()), 7)
    groceries = tuple(f"{name}, {rng.choice(amounts)}" for name, amounts in bought)
    ideas = zip(people[:4], rng.sample(lists["gifts"], 4), strict=True)
    gifts = tuple(Gift(person=p, idea=i, cents=rng.randrange(12, 70) * 100) for p, i in ideas)
    tips = zip(rng.sample(lists["titles"], 3), people[5:8], strict=True)
    values = {
        "groceries": groceries,
        "gifts": gifts,
        "tips": tuple(Tip(title=title, person=person) for title, person in tips),
        "meeting_owner": people[4],
        "meeting_due": cast.day(rng.randrange(5, 12)),
        "speech_for": people[8],
        "groceries_done": rng.randrange(1, 4),
        "packing": tuple(rng.sample(lists["packing"], 8)),
        "packing_done": rng.randrange(1, 5),
        **k.drawn(data["facts"], cast, rng, lists),
    }
    return msgspec.convert(values, Facts, strict=False)


def sheets(cast: k.Cast) -> tuple[Sheet, ...]:
    """Return the notes of a world."""
    f = facts(cast)
    told = {
        **structs.asdict(f),
        "groceries": "\n".join(f.groceries),
        "packing": "\n".join(f.packing),
        "gift_lines": "\n".join(f"{g.person.name}: {g.idea}, {dollars(g.cents)}" for g in f.gifts),
        "book_lines": "\n".join(f"{tip.title} (from {tip.person.name})" for tip in f.tips),
    }
    ways: k.Ways = {"spoken": spoken, "dollars": dollars, "year": lambda day: day[:4]}
    rows = k.filled(k.read_data(__package__)["sheets"], told, ways)
    for row in rows:
        row["items"] = [line for item in row.get("items", ()) for line in item.splitlines()]
    return msgspec.convert(rows, tuple[Sheet, ...], strict=False)
