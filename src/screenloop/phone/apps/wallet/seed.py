"""What the wallet keeps, cards, transactions, bills, requests, and what a new phone has of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from screenloop.phone import kit as k

Category = Literal[
    "groceries", "dining", "transport", "shopping", "bills", "fun", "health", "income", "transfer"
]
CATEGORIES: tuple[tuple[Category, tuple[str, str], str, str], ...] = (
    ("groceries", ("Groceries", "食品"), "bag", "#12805c"),
    ("dining", ("Dining", "餐饮"), "heart", "#d9480f"),
    ("transport", ("Transport", "交通"), "truck", "#2563eb"),
    ("shopping", ("Shopping", "购物"), "cart", "#be185d"),
    ("bills", ("Bills", "账单"), "receipt", "#7c3aed"),
    ("fun", ("Fun", "娱乐"), "music", "#b45309"),
    ("health", ("Health", "健康"), "shield", "#0e7490"),
    ("income", ("Income", "收入"), "coins", "#15803d"),
    ("transfer", ("Transfers", "转账"), "user", "#475569"),
)
"""Name, words, icon, colour."""
CardId = Annotated[str, k.Refers("wallet.cards")]
PersonId = Annotated[str, k.Refers("contacts.people")]
BALANCE = "balance"
"""The source of money that is no card."""
Note = Annotated[str, msgspec.Meta(max_length=120)]


class BankCard(k.Record, frozen=True, kw_only=True):
    """A payment card; it pays once a code sent by text message has confirmed it."""

    bank: str
    network: str
    kind: Literal["debit", "credit"]
    last4: str
    expires: str
    """`MM/YY`."""
    tint: str
    frozen: bool = False
    verified: bool = True
    codes_sent: int = 0
    code: str = ""
    """What confirms it, while that is open."""


class Transaction(k.Record, frozen=True, kw_only=True):
    """Money in (above zero) or out (below)."""

    title: str
    category: Category
    amount_cents: int
    at_s: int
    source: str
    """`balance` or a card's id."""
    note: str = ""
    person: str = ""
    """Id of the contact, for transfers."""


class Bill(k.Record, frozen=True, kw_only=True):
    """Something to be paid until a day."""

    payee: str
    amount_cents: int
    due: str
    """ISO date."""
    paid: bool = False
    autopay: bool = False


class MoneyRequest(k.Record, frozen=True, kw_only=True):
    """A contact asks the user for money, or the user asks a contact."""

    person: PersonId
    name: str
    amount_cents: int
    note: str
    incoming: bool
    """The user is asked to pay."""
    at_s: int
    state: Literal["open", "paid", "declined", "cancelled"] = "open"


class Payment(k.Record, frozen=True, kw_only=True):
    """Another app asks for a payment; when done its action is called and its page opened."""

    merchant: str
    amount_cents: int
    order: str
    app: str
    action: str
    args: dict[str, Any]
    path: str
    """Page of that app to return to."""
    at_s: int
    state: Literal["open", "paid", "declined", "void"] = "open"
    source: str = ""


def parse_cents(text: str) -> int | None:
    """Return the cents of `12`, `12.5` or `$1,200.50`; `None` where it is no amount."""
    found = re.fullmatch(r"\$?(\d{1,3}(?:,\d{3})+|\d{1,7})(?:\.(\d{1,2}))?", text.strip())
    if found is None:
        return None
    whole, part = found.groups()
    return int(whole.replace(",", "")) * 100 + int((part or "").ljust(2, "0"))


def code_for(number: str, sent: int) -> str:
    """Return the six digits of the `sent`-th message that confirms a card.

    They follow from the card's number alone, so that walks at different times read equal ones.
    """
    digest = hashlib.sha256(f"{number[-4:]}/{sent}".encode()).digest()
    return f"{int.from_bytes(digest[:4], 'big') % 1_000_000:06d}"


CARD_TINTS = ("#0f766e", "#1e3a8a", "#7c2d12", "#4c1d95", "#334155")
MERCHANTS = msgspec.convert(
    k.read_data(__package__)["merchants"], tuple[tuple[str, Category, int, int], ...]
)
"""Name, category, smallest and largest amount in cents."""
BILLS = msgspec.convert(k.read_data(__package__)["bills"], tuple[tuple[str, int, int, bool], ...])


def seed_cards(cast: k.Cast) -> Iterable[BankCard]:
    """Two cards in use and a frozen one."""
    rng = cast.rng("cards")
    entries: tuple[tuple[str, str, Literal["debit", "credit"], bool], ...] = (
        ("Juniper Bank", "Orbis", "debit", False),
        ("Halden Trust", "Lumo", "credit", False),
        ("Fernway Travel", "Orbis", "credit", True),
    )
    for number, (bank, network, kind, frozen) in enumerate(entries):
        yield BankCard(
            bank=bank,
            network=network,
            kind=kind,
            last4=f"{rng.randrange(1000, 10_000)}",
            expires=f"{rng.randrange(1, 13):02d}/{rng.randrange(27, 31)}",
            frozen=frozen,
            tint=CARD_TINTS[number],
        )


def seed_transactions(cast: k.Cast) -> Iterable[Transaction]:
    """Nine weeks of payments, two salaries, some transfers; the oldest first."""
    rng = cast.rng("transactions")
    rows: list[Transaction] = []
    for _ in range(38):
        title, category, low, high = rng.choice(MERCHANTS)
        at_s = cast.at(-rng.randrange(1, 62), f"{rng.randrange(8, 22):02d}:{rng.randrange(60):02d}")
        source = rng.choice((BALANCE, "card1", "card1", "card2"))
        rows.append(
            Transaction(
                title=title,
                category=category,
                amount_cents=-rng.randrange(low, high + 1),
                at_s=at_s,
                source=source,
            )
        )
    rows += [
        Transaction(
            title="Fernleaf Studio",
            category="income",
            amount_cents=284_000,
            source=BALANCE,
            at_s=cast.at(day, "07:30"),
            note="Salary",
        )
        for day in (-5, -36)
    ]
    for number in rng.sample(range(20), 6):
        amount = rng.choice((-1, 1)) * rng.randrange(8, 90) * 100
        rows.append(
            Transaction(
                title=cast.people[number].name,
                category="transfer",
                amount_cents=amount,
                at_s=cast.at(-rng.randrange(2, 50), "18:20"),
                source=BALANCE,
                person=f"person{number + 1}",
                note=rng.choice(("Lunch", "Tickets", "Rent", "")),
            )
        )
    return sorted(rows, key=lambda r: r.at_s)


def seed_bills(cast: k.Cast) -> Iterable[Bill]:
    """Six bills, one of them overdue."""
    for payee, amount, days, autopay in BILLS:
        yield Bill(payee=payee, amount_cents=amount, due=cast.day(days), autopay=autopay)


def seed_requests(cast: k.Cast) -> Iterable[MoneyRequest]:
    """Three contacts wait for money, and the user for one."""
    rng = cast.rng("requests")
    notes = ("Concert tickets", "Pizza night", "Birthday gift", "Taxi home")
    for place, number in enumerate(rng.sample(range(20), 4)):
        yield MoneyRequest(
            person=f"person{number + 1}",
            name=cast.people[number].name,
            note=notes[place],
            amount_cents=rng.randrange(12, 80) * 50,
            incoming=place < 3,
            at_s=cast.at(-place - 1, "17:45"),
        )
