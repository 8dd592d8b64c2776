"""What the seeded conversations tell, and how: facts of a world, and scripts that carry them.

Tasks take what they ask for from `facts`, so goals and conversations cannot disagree.
"""

from __future__ import annotations

from datetime import date

from screenloop.phone import kit as k

SHOP = "Nimbus"
BANK = "Harbor Bank"
DENTIST = "Harbor Dental"
"""Senders that take no replies."""

STREETS = ("Mill Lane", "Oak Street", "Ferry Road", "Chapel Hill", "Garden Row", "Quay Street")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


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
    rng = cast.rng("messages")
    friends = rng.sample(cast.people[:20], 9)
    buyer, plumber = rng.sample(cast.people[20:], 2)

    def address() -> str:
        return f"{rng.randrange(2, 90)} {rng.choice(STREETS)}"

    def clock(low: int, high: int) -> str:
        return f"{rng.randrange(low, high)}:{rng.choice(('00', '15', '30', '45'))}".zfill(5)

    return Facts(
        dinner=friends[0],
        dinner_place=rng.choice(("Casa Lumo", "The Copper Pan", "Blue Fig", "Noodle Yard")),
        dinner_address=address(),
        dinner_day=cast.day(rng.randrange(2, 5)),
        dinner_time=rng.choice(("19:30", "20:00", "20:30")),
        dinner_seats=rng.randrange(4, 8),
        dinner_dish=rng.choice(("mushroom risotto", "lamb stew", "pumpkin curry")),
        flat=friends[1],
        wifi_name=rng.choice(("Maple-Guest", "Attic-5G", "Kiwi-Home")),
        wifi_password=f"{rng.choice(('copper', 'walnut', 'lemon'))}-{rng.randrange(1000, 9999)}",
        rent_cents=rng.randrange(380, 620) * 100 + 50,
        rent_day=cast.day(rng.randrange(3, 8)),
        key_floor=rng.randrange(2, 7),
        review=friends[2],
        review_day=cast.day(rng.randrange(1, 4)),
        review_time=clock(13, 17),
        review_room=f"{rng.randrange(2, 6)}{rng.choice('ABCD')}",
        review_pages=rng.randrange(8, 21),
        clinic=friends[3],
        clinic_doctor=rng.choice(("Dr. Sato", "Dr. Weiss", "Dr. Mbeki")),
        clinic_address=address(),
        clinic_day=cast.day(rng.randrange(2, 9)),
        clinic_time=clock(9, 12),
        insurance_number=f"IC-{rng.randrange(10000, 99999)}",
        trip=friends[4],
        trip_city=rng.choice(("Port Alma", "Mirador", "Northfield")),
        trip_day=cast.day(rng.randrange(10, 16)),
        train=rng.randrange(200, 900),
        train_time=f"07:{rng.randrange(10, 60)}",
        train_platform=rng.randrange(2, 13),
        hotel_code=f"{rng.choice('HKLR')}{rng.choice('BMTX')}{rng.randrange(1000, 9999)}",
        train_seat=f"{rng.randrange(10, 80)}{rng.choice('ABCD')}",
        debt=friends[5],
        debt_cents=rng.randrange(12, 60) * 100 + rng.choice((20, 40, 75)),
        debt_for=rng.choice(("the concert tickets", "the taxi", "the museum tickets")),
        debt_tag=f"@{friends[5].name.split()[0].lower()}{rng.randrange(10, 99)}",
        club=friends[6],
        club_book=rng.choice(("The Salt Road", "Winter Orchard", "A Map of Small Rivers")),
        club_chapter=rng.randrange(6, 15),
        club_day=cast.day(rng.randrange(4, 9)),
        club_address=address(),
        party=friends[7],
        party_address=address(),
        party_day=cast.day(rng.randrange(5, 13)),
        party_time=clock(15, 19),
        party_gift=rng.choice(("a table lamp", "a pottery course", "a picnic basket")),
        party_share_cents=rng.randrange(10, 30) * 100,
        party_guests=rng.randrange(12, 30),
        cabin=friends[8],
        cabin_code=f"{rng.randrange(1000, 9999)}",
        cabin_spot=rng.randrange(3, 40),
        buyer=buyer,
        buyer_item=rng.choice(("the bike", "the desk", "the record player")),
        buyer_cents=rng.randrange(50, 140) * 100,
        plumber=plumber,
        plumber_cents=rng.randrange(90, 190) * 100,
        plumber_day=cast.day(rng.randrange(2, 6)),
        plumber_time=clock(8, 11),
        parcel_code=f"NB-{rng.randrange(10000, 99999)}",
        parcel_day=cast.day(1),
        pickup_code=f"{rng.randrange(1000, 9999)}",
        card_end=f"{rng.randrange(1000, 9999)}",
        card_cents=rng.randrange(2000, 9000),
        card_shop=rng.choice(("Corner Market", "Lumen Books", "Green Grocer")),
        dentist_day=cast.day(rng.randrange(4, 12)),
        dentist_time=clock(9, 17),
    )


def scripts(cast: k.Cast) -> tuple[Script, ...]:
    """Return the conversations of a world."""
    f = facts(cast)
    hour, minute = f.dinner_time.split(":")
    early = f"{hour}:00" if minute == "30" else f"{int(hour) - 1:02d}:30"
    return (
        Script(
            phone=f.dinner.phone,
            pinned=True,
            unread=1,
            lines=f"""
            -2 18:04 < Hi! Dinner with the old crowd this week?
            -2 18:11 > Yes please. Which day?
            -2 18:15 < {spoken(f.dinner_day)}, {f.dinner_place}, {f.dinner_address}.
            -2 18:16 < I booked for {early}.
            -2 18:20 > Perfect, thanks for booking
            -1 12:40 < We are {f.dinner_seats} now, so I asked for the big table.
            0 08:31 < Small change: they only have {f.dinner_time}, not {early}. Same day. Ok?
            """,
        ),
        Script(
            phone=f.review.phone,
            unread=2,
            lines=f"""
            -4 10:02 < Morning! The design review is on {spoken(cast.day(0))} at 11:00.
            -4 10:05 > Noted. Which room?
            -4 10:06 < 2A as always
            -3 16:48 > Slides are in the shared folder
            -3 16:59 < Great work, thank you
            0 08:42 < Heads up: the review moves to {spoken(f.review_day)} at {f.review_time}.
            0 08:43 < New room is {f.review_room}. Please tell the others.
            """,
        ),
        Script(
            phone=f.flat.phone,
            lines=f"""
            -6 19:20 > Is the internet down again?
            -6 19:24 < New router! Network {f.wifi_name}, password {f.wifi_password}
            -6 19:25 > Works, thanks
            -3 20:10 < Your part of the rent is {dollars(f.rent_cents)} this month.
            -3 20:11 < Due on {spoken(f.rent_day)}, same account as always.
            -3 20:30 > Ok, will do
            """,
        ),
        Script(
            phone=SHOP,
            unread=1,
            lines=f"""
            -5 11:00 < Your order is packed. Parcel {f.parcel_code}.
            -1 09:15 < Parcel {f.parcel_code} is on its way. It arrives on {spoken(f.parcel_day)}.
            0 07:50 < Parcel {f.parcel_code}: show pickup code {f.pickup_code} to the driver.
            """,
        ),
        Script(
            phone=f.clinic.phone,
            lines=f"""
            -3 09:30 < Can you drive me to {f.clinic_doctor}? It is on {spoken(f.clinic_day)}.
            -3 09:41 > Of course. What time?
            -3 09:44 < {f.clinic_time}. The practice has moved, it is now at {f.clinic_address}.
            -3 09:45 > I will pick you up 30 minutes before
            -3 09:47 < You are a treasure
            """,
        ),
        Script(
            phone=BANK,
            lines=f"""
            -8 14:21 < Your code is 482913. Never share it with anyone.
            -4 13:05 < Card ending {f.card_end}: $6.40 at Station Kiosk.
            -1 17:32 < Card ending {f.card_end}: {dollars(f.card_cents)} at {f.card_shop}.
            """,
        ),
        Script(
            phone=f.trip.phone,
            lines=f"""
            -5 21:02 < {f.trip_city} is booked! We leave on {spoken(f.trip_day)}.
            -5 21:03 < Train {f.train} at {f.train_time}, platform {f.train_platform}.
            -5 21:08 > Amazing. And the hotel?
            -5 21:10 < Two nights, booking code {f.hotel_code}. Breakfast from 7.
            -5 21:12 > I will bring the camera
            -4 08:00 < And I bring the snacks
            """,
        ),
        Script(
            phone=f.debt.phone,
            lines=f"""
            -7 22:15 > You still owe me for {f.debt_for}, right?
            -7 22:31 < Yes! How much was it?
            -7 22:32 > {dollars(f.debt_cents * 2)} for both of us
            -7 22:40 < So my half is {dollars(f.debt_cents)}. I will pay you back on payday.
            """,
        ),
        Script(
            phone=f.buyer.phone,
            unread=1,
            lines=f"""
            -1 15:10 < Hello, this is {f.buyer.name}. Is {f.buyer_item} still for sale?
            -1 15:26 > Yes it is
            -1 15:31 < Would you take {dollars(f.buyer_cents)}? I can collect it in {f.buyer.city}.
            """,
        ),
        Script(
            phone=f.club.phone,
            muted=True,
            lines=f"""
            -9 18:00 < Next book: {f.club_book}!
            -9 18:22 > Good choice. How far do we read?
            -9 18:25 < Up to chapter {f.club_chapter}
            -2 10:12 < See you on {spoken(f.club_day)}. Place is still open.
            """,
        ),
        Script(
            phone=f.party.phone,
            lines=f"""
            -6 12:00 < Surprise party on {spoken(f.party_day)} at {f.party_time}. Not a word!
            -6 12:01 < We meet at {f.party_address}
            -6 12:18 > My lips are sealed. What about a present?
            -6 12:20 < We all chip in for {f.party_gift}, {dollars(f.party_share_cents)} each
            -6 12:21 > Count me in
            """,
        ),
        Script(
            phone=DENTIST,
            lines=f"""
            -3 08:00 < Your check-up is on {spoken(f.dentist_day)} at {f.dentist_time}.
            -3 08:00 < To change it please call 24 hours before.
            """,
        ),
        Script(
            phone=f.plumber.phone,
            lines=f"""
            -2 14:05 > Hello, our kitchen tap is dripping. Could you have a look?
            -2 14:40 < {f.plumber.name} here, yes. I can come on {spoken(f.plumber_day)}.
            -2 14:41 < At {f.plumber_time}. It would be about {dollars(f.plumber_cents)}.
            """,
        ),
        Script(
            phone=f.cabin.phone,
            archived=True,
            lines=f"""
            -40 17:00 < The cabin is yours for the weekend
            -40 17:02 < Door code is {f.cabin_code}, then press the key symbol
            -40 17:20 > Thank you so much!
            -37 19:45 > Back home, it was lovely. All clean and locked.
            -37 19:50 < Any time
            """,
        ),
    )


def answers(cast: k.Cast) -> tuple[Answer, ...]:
    """Return what people write back: to the first message a fact, to the second a thank-you."""
    f = facts(cast)
    rng = cast.rng("answers")
    told = (
        (f.dinner, f"Great! I already know that I will order the {f.dinner_dish}."),
        (f.flat, f"By the way, the spare key is with the neighbour on floor {f.key_floor}."),
        (f.review, f"Thanks. One more thing: {f.review_pages} slides at most, please."),
        (f.clinic, f"My insurance number is {f.insurance_number}, in case they ask."),
        (f.trip, f"Your seat on the train is {f.train_seat}."),
        (f.debt, f"Got it. My wallet name is {f.debt_tag}, just in case."),
        (f.club, f"Decided: we meet at {f.club_address}."),
        (f.party, f"We will be {f.party_guests} guests in total!"),
        (f.cabin, f"Sure. Park on spot {f.cabin_spot}, right by the gate."),
        (f.buyer, "Thank you, I will let you know tonight."),
        (f.plumber, "All right, I have put it in my book."),
    )
    closing = ("Perfect, thank you!", "All clear, see you soon.", "Lovely, talk later!")
    found: list[Answer] = []
    for person, text in told:
        found.append(Answer(phone=person.phone, number=0, text=text, after_s=rng.randrange(8, 20)))
        found.append(
            Answer(
                phone=person.phone, number=1, text=rng.choice(closing), after_s=rng.randrange(8, 20)
            )
        )
    return tuple(found)
