"""What the seeded notes say: facts of a world, and the notes and checklists that carry them.

Tasks take what they ask for from `facts`, so goals and notes cannot disagree.
"""

from __future__ import annotations

from typing import Literal

from screenloop.phone import kit as k
from screenloop.phone.apps.messages.seed import dollars, spoken

Colour = Literal["plain", "yellow", "orange", "pink", "purple", "blue", "green"]
FOLDERS = ("Home", "Work", "Travel", "Ideas")
GROCERIES = (
    ("Tomatoes", ("500 g", "1 kg")),
    ("Pasta", ("2 packs", "3 packs")),
    ("Olive oil", ("500 ml", "1 litre")),
    ("Yoghurt", ("4 cups", "6 cups")),
    ("Coffee", ("250 g", "500 g")),
    ("Rice", ("1 kg", "2 kg")),
    ("Apples", ("6 pieces", "1 kg")),
    ("Cheddar", ("200 g", "400 g")),
    ("Oat milk", ("2 cartons", "3 cartons")),
    ("Lentils", ("400 g", "2 cans")),
    ("Onions", ("1 net", "2 nets")),
    ("Butter", ("250 g", "2 packs")),
    ("Eggs", ("6 pieces", "12 pieces")),
    ("Spinach", ("1 bag", "2 bags")),
)
PACKING = (
    "Passport",
    "Charger",
    "Rain jacket",
    "Sunscreen",
    "Hiking boots",
    "First aid kit",
    "Water bottle",
    "Head torch",
    "Warm socks",
    "Travel pillow",
    "Power adapter",
)
GIFTS = (
    "silk scarf",
    "cookbook",
    "chess set",
    "tea sampler",
    "desk plant",
    "film camera",
    "wool hat",
    "puzzle of the old town",
)
TITLES = (
    "The Glass Harbor",
    "Seven Winters",
    "Letters to a Baker",
    "The Quiet Engine",
    "Orchard of Stars",
    "North by Lantern",
)


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
    rng = cast.rng("notes")
    people = rng.sample(cast.people[:20], 9)
    groceries = tuple(
        f"{name}, {rng.choice(amounts)}" for name, amounts in rng.sample(GROCERIES, 7)
    )
    ideas = rng.sample(GIFTS, 4)
    gifts = tuple(
        Gift(person=person, idea=idea, cents=rng.randrange(12, 70) * 100)
        for person, idea in zip(people[:4], ideas, strict=True)
    )
    titles = rng.sample(TITLES, 3)
    due = rng.randrange(5, 12)
    return Facts(
        groceries=groceries,
        groceries_done=rng.randrange(1, 4),
        packing=tuple(rng.sample(PACKING, 8)),
        packing_done=rng.randrange(1, 5),
        gifts=gifts,
        wifi_password=f"{rng.choice(('pine', 'otter', 'saffron'))}{rng.randrange(100, 999)}",
        locker_code=f"{rng.randrange(10, 99)}-{rng.randrange(10, 99)}-{rng.randrange(10, 99)}",
        locker_number=rng.randrange(20, 300),
        plate=f"{rng.choice('ABKMT')}{rng.choice('CFHX')}-{rng.randrange(1000, 9999)}",
        service_day=cast.day(rng.randrange(8, 28)),
        garage_cents=rng.randrange(120, 320) * 100,
        recipe=rng.choice(("Seeded loaf", "Olive bread", "Cinnamon rolls")),
        flour_g=rng.randrange(40, 80) * 10,
        oven_c=rng.randrange(19, 24) * 10,
        oven_minutes=rng.randrange(5, 10) * 5,
        window_cm=(rng.randrange(80, 180), rng.randrange(90, 220)),
        meeting_day=cast.day(-4),
        meeting_owner=people[4],
        meeting_due=cast.day(due),
        meeting_budget_cents=rng.randrange(20, 90) * 10000,
        tips=tuple(Tip(title=t, person=p) for t, p in zip(titles, people[5:8], strict=True)),
        flight=f"{rng.choice(('NW', 'SL', 'KR'))} {rng.randrange(100, 999)}",
        flight_time=f"{rng.randrange(6, 22):02d}:{rng.choice(('05', '20', '35', '50'))}",
        flight_day=cast.day(rng.randrange(20, 40)),
        gate=f"{rng.choice('ABCD')}{rng.randrange(2, 40)}",
        hotel=rng.choice(("Hotel Meridiana", "The Lantern House", "Pension Alba")),
        hotel_address=f"{rng.randrange(2, 90)} {rng.choice(('Harbor Walk', 'Castle Road'))}",
        passport=f"X{rng.randrange(1000000, 9999999)}",
        passport_until=cast.day(rng.randrange(200, 900)),
        medicine=rng.choice(("Vitamin D", "Allergy tablets", "Iron drops")),
        medicine_times=(f"0{rng.randrange(6, 10)}:00", f"{rng.randrange(18, 22)}:30"),
        water_days=rng.randrange(3, 9),
        run_km=(rng.randrange(3, 6), rng.randrange(5, 9), rng.randrange(9, 16)),
        library_card=f"{rng.randrange(100, 999)} {rng.randrange(100, 999)}",
        club_room=f"{rng.randrange(1, 4)}.{rng.randrange(10, 40)}",
        old_address=f"{rng.randrange(2, 90)} {rng.choice(('Birch Close', 'Canal Street'))}",
        speech_for=people[8],
    )


def sheets(cast: k.Cast) -> tuple[Sheet, ...]:
    """Return the notes of a world."""
    f = facts(cast)
    first, second, third = f.run_km
    width, height = f.window_cm
    return (
        Sheet(
            title="Groceries",
            folder="Home",
            colour="green",
            days=-1,
            items=f.groceries,
            done=f.groceries_done,
            pinned=True,
        ),
        Sheet(
            title="Packing list",
            folder="Travel",
            colour="blue",
            days=-3,
            items=f.packing,
            done=f.packing_done,
        ),
        Sheet(
            title="Gift ideas",
            folder="Ideas",
            colour="pink",
            days=-9,
            items=tuple(f"{g.person.name}: {g.idea}, {dollars(g.cents)}" for g in f.gifts),
        ),
        Sheet(
            title="Project meeting",
            folder="Work",
            colour="yellow",
            days=-4,
            pinned=True,
            lines=f"""
            Meeting on {spoken(f.meeting_day)}.
            {f.meeting_owner.name} writes the proposal, due {spoken(f.meeting_due)}.
            Budget: {dollars(f.meeting_budget_cents)} at most.
            """,
        ),
        Sheet(
            title="Flight and hotel",
            folder="Travel",
            colour="blue",
            days=-6,
            lines=f"""
            Flight {f.flight} on {spoken(f.flight_day)} at {f.flight_time}, gate {f.gate}.
            {f.hotel}, {f.hotel_address}.
            Late check-in until 23:00.
            """,
        ),
        Sheet(
            title=f.recipe,
            folder="Home",
            colour="orange",
            days=-20,
            lines=f"""
            {f.flour_g} g flour, 10 g salt, 7 g yeast, 350 ml water.
            Let it rise for two hours.
            Bake at {f.oven_c} degrees for {f.oven_minutes} minutes.
            """,
        ),
        Sheet(
            title="Guest Wi-Fi",
            folder="Home",
            days=-30,
            lines=f"""
            Network: Guests
            Password: {f.wifi_password}
            """,
        ),
        Sheet(
            title="Gym",
            days=-14,
            colour="purple",
            lines=f"""
            Locker {f.locker_number}, code {f.locker_code}.
            Monday {first} km, Wednesday {second} km, Saturday {third} km.
            """,
        ),
        Sheet(
            title="Car",
            folder="Home",
            days=-45,
            lines=f"""
            Plate {f.plate}.
            Service booked for {spoken(f.service_day)}, about {dollars(f.garage_cents)}.
            """,
        ),
        Sheet(
            title="Living room window",
            folder="Home",
            days=-11,
            lines=f"""
            Width {width} cm, height {height} cm.
            Blinds should be white.
            """,
        ),
        Sheet(
            title="Books to read",
            folder="Ideas",
            colour="yellow",
            days=-17,
            lines="\n".join(f"{tip.title} (from {tip.person.name})" for tip in f.tips),
        ),
        Sheet(
            title="Passport",
            folder="Travel",
            days=-70,
            lines=f"""
            Number {f.passport}
            Valid until {spoken(f.passport_until)} {f.passport_until[:4]}
            """,
        ),
        Sheet(
            title="Health",
            colour="pink",
            days=-8,
            lines=f"""
            {f.medicine} at {f.medicine_times[0]} and {f.medicine_times[1]}, with food.
            """,
        ),
        Sheet(
            title="Plants and library",
            days=-26,
            lines=f"""
            Water the ferns every {f.water_days} days.
            Library card: {f.library_card}. Reading club meets in room {f.club_room}.
            """,
        ),
        Sheet(
            title="Team offsite",
            folder="Work",
            colour="green",
            days=-2,
            lines="""
            Ideas so far: bowling, a boat trip, cooking together.
            Vote is still open.
            """,
        ),
        Sheet(
            title="Old flat",
            days=-300,
            archived=True,
            lines=f"""
            {f.old_address}, second floor. Keys were returned.
            """,
        ),
        Sheet(
            title="Speech draft",
            folder="Ideas",
            days=-33,
            trashed=True,
            lines=f"""
            Dear {f.speech_for.name}, dear friends, thank you all for coming tonight.
            """,
        ),
        Sheet(
            title="Old shopping list",
            folder="Home",
            days=-40,
            trashed=True,
            items=("Candles", "Paper plates", "Lemonade"),
            done=3,
        ),
    )
