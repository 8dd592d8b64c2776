"""Tasks that need the wallet and another app: texts, notes, contacts, the calendar."""

from __future__ import annotations

from screenloop.actions import Answer, Wait
from screenloop.criteria import AnswerIs, Money, Text
from screenloop.phone.apps.calendar import actions as calendar
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import dollars, facts
from screenloop.phone.apps.messages.state import State as Chats
from screenloop.phone.apps.messages.state import thread_of
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.phone.apps.wallet import actions as wallet
from screenloop.phone.apps.wallet import state as look_ups
from screenloop.phone.apps.wallet.seed import CATEGORIES, code_for
from screenloop.phone.apps.wallet.state import State, spent
from screenloop.phone.declare.cast import Member
from screenloop.suites.phone_core.template import (
    Draft,
    Pack,
    WorldView,
    added,
    call,
    changed,
    counted,
    look,
)
from screenloop.suites.phone_core.worlds import records
from screenloop.suites.phone_core.worlds.money import asked, balance_is, plain, sent
from screenloop.suites.phone_core.worlds.records import chat_with, first_name, quiet, texted

pack = Pack("money")

BANKS = ("Cedar Union", "Marlow Credit", "Tidewater", "Ostrich Direct")
DONE = ("Sent just now, thanks again!", "The money is on its way.", "We are even now.")
CODE_WAIT_S = 6
"""The code for a new card comes five seconds after it was added."""


def _contact(w: WorldView, member: Member) -> contacts.Person:
    return w.pick(w.state(contacts.State).people, lambda p: p.phone == member.phone)


# ---- what texts say about money ------------------------------------------------------------------


@pack.template("claim_debt", apps=("wallet", "messages"))
def claim_debt(w: WorldView) -> Draft:
    """Ask for what somebody owes; who and how much is in a conversation."""
    f = facts(w.cast)
    person = _contact(w, f.debt)
    return Draft(
        goal=f"Somebody still owes me a half for {f.debt_for}; we settled by text how much it is. "
        "Ask for that money through my wallet.",
        params={"person": person.id, "cents": f.debt_cents},
        checks=(asked(person, f.debt_cents, says=f"{person.name} was asked for the half"),),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.debt.phone).id),
            call(wallet.ask, person=person.id, amount=plain(f.debt_cents)),
        ),
    )


@pack.template("pay_rent_share", apps=("wallet", "messages"))
def pay_rent_share(w: WorldView) -> Draft:
    """Pay what somebody asked for in a text."""
    f = facts(w.cast)
    person = _contact(w, f.flat)
    return Draft(
        goal=f"{first_name(person.name)} wrote what my part of the rent is this month. Transfer "
        "exactly that.",
        params={"person": person.id, "cents": f.rent_cents},
        checks=(
            sent(person, f.rent_cents, says=f"{person.name} got my part of the rent"),
            balance_is(w, -f.rent_cents),
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.flat.phone).id),
            call(wallet.send, person=person.id, amount=plain(f.rent_cents)),
        ),
    )


@pack.template("chip_in_and_tell", apps=("wallet", "messages"))
def chip_in_and_tell(w: WorldView) -> Draft:
    """Pay a share that a text tells, and say so in the same conversation."""
    f = facts(w.cast)
    person = _contact(w, f.party)
    thread = chat_with(w, f.party.phone)
    text = w.rng.choice(DONE)
    return Draft(
        goal="I promised to chip in for the present for the surprise party. Send my share to the "
        f'friend who collects it, and text "{text}" when that is done.',
        params={"person": person.id, "cents": f.party_share_cents},
        patches=quiet(thread),
        checks=(
            sent(person, f.party_share_cents, says=f"{person.name} got my share"),
            balance_is(w, -f.party_share_cents),
            *texted(w, person.phone, Text(text), says=f"{person.name} knows"),
        ),
        golden=(
            look(messages.get_thread, thread=thread.id),
            call(wallet.send, person=person.id, amount=plain(f.party_share_cents)),
            call(messages.send, thread=thread.id, text=text),
        ),
    )


@pack.template("pay_request_and_tell", apps=("wallet", "messages"))
def pay_request_and_tell(w: WorldView) -> Draft:
    """Pay a request, told by what it is for, and text whoever made it."""
    request = w.pick(w.state(State).requests, lambda r: r.incoming)
    person = w.state(contacts.State).people[request.person]
    thread = thread_of(w.state(Chats), person.phone)
    text = w.rng.choice(DONE)
    tell = (
        call(messages.send, thread=thread.id, text=text)
        if thread
        else call(messages.start, phone=person.phone, text=text)
    )
    return Draft(
        goal=f"Somebody asks me for money for the {request.note.lower()}. Pay that, and let the "
        f'person know by text: "{text}"',
        params={"request": request.id, "person": person.id},
        patches=quiet(thread) if thread else (),
        allowed=("messages.threads.archived",) if thread and thread.archived else (),
        checks=(
            changed("wallet.requests", request.id, "The request is paid", state="paid"),
            sent(person, request.amount_cents, says=f"{person.name} got the money"),
            balance_is(w, -request.amount_cents),
            *texted(w, person.phone, Text(text), weight=2, says=f"{person.name} knows"),
        ),
        golden=(call(wallet.approve, request=request.id), tell),
    )


@pack.template("bill_of_plumber", apps=("wallet", "messages"))
def bill_of_plumber(w: WorldView) -> Draft:
    """Keep a bill whose amount and day are in a conversation."""
    f = facts(w.cast)
    name = f.plumber.name
    return Draft(
        goal="The plumber told me by text what fixing the tap will cost. Put that with my bills, "
        f'for "{name}", due on the day the plumber comes.',
        params={"cents": f.plumber_cents, "day": f.plumber_day},
        checks=(
            added("wallet.bills", f"There is a bill of {name}", payee=Text(name), paid=False),
            added(
                "wallet.bills",
                f"It is over {dollars(f.plumber_cents)}",
                amount_cents=f.plumber_cents,
            ),
            added("wallet.bills", f"It is due on {f.plumber_day}", due=f.plumber_day),
        ),
        golden=(
            look(messages.get_thread, thread=chat_with(w, f.plumber.phone).id),
            call(wallet.add_bill, payee=name, amount=plain(f.plumber_cents), due=f.plumber_day),
        ),
    )


@pack.template("confirm_new_card", apps=("wallet", "messages"))
def confirm_new_card(w: WorldView) -> Draft:
    """Add a card, wait for the code that comes by text, and confirm the card with it."""
    bank = w.rng.choice(BANKS)
    number = "".join(str(w.rng.randrange(1, 10)) for _ in range(16))
    expires = f"{w.rng.randrange(1, 13):02d}/{w.rng.randrange(27, 32)}"
    chats = w.state(Chats)
    shown = " ".join(number[at : at + 4] for at in range(0, 16, 4))
    return Draft(
        goal=f"I got a new card from {bank}, number {shown}, valid until {expires}. Add it to my "
        "wallet so that I can really pay with it; the code for that comes by text.",
        params={"bank": bank, "number": number, "expires": expires},
        allowed=("messages.messages", "messages.threads"),
        checks=(
            added(
                "wallet.cards",
                "The card is there",
                bank=Text(bank),
                last4=number[-4:],
                expires=expires,
            ),
            added("wallet.cards", "It is confirmed", weight=2, last4=number[-4:], verified=True),
            counted(
                "messages.messages",
                "Nobody was written to",
                len(chats.messages.where(lambda m: m.mine)),
                weight=0,
                mine=True,
            ),
        ),
        golden=(
            call(wallet.add_card, bank=bank, number=number, expires=expires),
            Wait(seconds=CODE_WAIT_S),
            look(messages.get_thread, thread=f"thread{len(chats.threads) + 1}"),
            call(
                wallet.verify, card=f"card{len(w.state(State).cards) + 1}", code=code_for(number, 1)
            ),
        ),
    )


# ---- the wallet, and notes, contacts, the calendar -----------------------------------------------


@pack.template("transfer_with_number", apps=("wallet", "contacts"))
def transfer_with_number(w: WorldView) -> Draft:
    """Tell the amount of a transfer; its other side is known by a phone number."""
    transfer = w.pick(w.state(State).transactions, lambda t: bool(t.person))
    person = w.state(contacts.State).people[transfer.person]
    cents = abs(transfer.amount_cents)
    did = "I sent money to" if transfer.amount_cents < 0 else "I got money from"
    return Draft(
        goal=f"Some time ago {did} the person with the number {person.phone}. How much was it?",
        params={"person": person.id, "transaction": transfer.id},
        checks=(AnswerIs(to=Money(cents), says="The amount of the transfer"),),
        golden=(
            look(contacts.search, text=person.phone),
            look(look_ups.search, text=person.name),
            Answer(text=dollars(cents)),
        ),
    )


@pack.template("bill_into_calendar", apps=("wallet", "calendar"))
def bill_into_calendar(w: WorldView) -> Draft:
    """Put the day on which a bill is due into the calendar, with the amount."""
    bill = w.pick(w.state(State).bills, lambda b: b.id in ("bill1", "bill4", "bill6"))
    title = f"Pay {bill.payee}"
    return Draft(
        goal=f'Put "{title}" as an all-day entry into my calendar on the day that bill is due. '
        "How much it is should stand in the notes of the entry.",
        params={"bill": bill.id, "day": bill.due},
        checks=(
            added(
                "calendar.events",
                f"{title} is in the calendar on the day",
                weight=2,
                title=Text(title),
                date=bill.due,
            ),
            added("calendar.events", "All day", title=Text(title), all_day=True),
            added(
                "calendar.events",
                "The amount is noted",
                title=Text(title),
                note=Money(bill.amount_cents),
            ),
        ),
        golden=(
            look(look_ups.list_bills),
            call(
                calendar.add,
                title=title,
                date=bill.due,
                all_day=True,
                note=dollars(bill.amount_cents),
            ),
        ),
    )


@pack.template("note_of_spending", apps=("wallet", "notes"))
def note_of_spending(w: WorldView) -> Draft:
    """Write two sums of a month into a note."""
    sums = spent(w.state(State), "2026-02")
    first, second = w.sample(
        CATEGORIES, 2, lambda c: c[0] in sums and sums[c[0]] < 100_000 and c[0] != "transfer"
    )
    title = w.one_of("Household book", "Where it went", "February")
    words = [f"{c[1][0].lower()} {dollars(sums[c[0]])}" for c in (first, second)]
    return Draft(
        goal=f'Write a note "{title}" with what I spent in February on {first[1][0].lower()} and '
        f"on {second[1][0].lower()}.",
        params={"categories": [first[0], second[0]]},
        checks=tuple(
            added(
                "notes.notes",
                f"It tells the sum for {c[1][0].lower()}",
                title=Text(title),
                body=Text(plain(sums[c[0]]), mode="contains"),
            )
            for c in (first, second)
        ),
        golden=(
            look(look_ups.spending, month="2026-02"),
            call(notes.add, title=title, body=", ".join(words)),
        ),
    )


@pack.template("bill_of_garage", apps=("wallet", "notes"))
def bill_of_garage(w: WorldView) -> Draft:
    """Keep a bill whose amount and day are in a note."""
    f = notes_seed.facts(w.cast)
    payee = w.one_of("Garage", "Gable Garage", "Car service")
    return Draft(
        goal="I wrote down when my car goes to the garage and what that will cost. Make it one of "
        f'my bills, as "{payee}", to be paid on that very day.',
        params={"cents": f.garage_cents, "day": f.service_day},
        checks=(
            added("wallet.bills", f"There is a bill of {payee}", payee=Text(payee), paid=False),
            added(
                "wallet.bills", f"It is over {dollars(f.garage_cents)}", amount_cents=f.garage_cents
            ),
            added("wallet.bills", f"It is due on {f.service_day}", due=f.service_day),
        ),
        golden=(
            look(notes.get, note=records.note_titled(w, "Car").id),
            call(wallet.add_bill, payee=payee, amount=plain(f.garage_cents), due=f.service_day),
        ),
    )
