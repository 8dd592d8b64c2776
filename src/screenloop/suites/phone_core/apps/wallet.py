"""Tasks over Wallet alone: people, bills, cards, what was spent."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Check, Money, Text
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages.seed import dollars, spoken
from screenloop.phone.apps.wallet import actions as wallet
from screenloop.phone.apps.wallet import state as look_ups
from screenloop.phone.apps.wallet.seed import BALANCE, MoneyRequest, Transaction
from screenloop.phone.apps.wallet.state import State, found, spent
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look
from screenloop.suites.phone_core.worlds import money

pack = Pack("money")

JUNIPER, HALDEN, FERNWAY = "card1", "card2", "card3"
LAST_MONTH = "2026-02"
CENTS = (1250, 1840, 2275, 3060, 4195, 5510)
REASONS = ("pizza", "the bus tickets", "flowers", "the cinema", "breakfast")
PAYEES = ("Tidy Cleaners", "Willow Vet", "Corner Laundry", "Hillside School", "Union Library")
SPENT_ON = {
    "groceries": "groceries",
    "dining": "eating out",
    "transport": "getting around",
    "shopping": "shopping",
    "fun": "fun",
    "health": "my health",
}


def _card(w: WorldView, card: str) -> str:
    return w.state(State).cards[card].bank


# ---- people ----------------------------------------------------------------------------------


@pack.template("send_money", apps=("wallet",))
def send_money(w: WorldView) -> Draft:
    """Pay a contact, with a word on what for."""
    person = w.pick(w.state(contacts.State).people)
    cents, reason = w.rng.choice(CENTS), w.rng.choice(REASONS)
    return Draft(
        goal=f'Give {person.name} {dollars(cents)} by phone, and write "{reason}" to it so that '
        "we both know what it was for.",
        params={"person": person.id, "cents": cents, "note": reason},
        checks=(
            money.sent(person, cents, says=f"{person.name} got {dollars(cents)}"),
            added("wallet.transactions", f"It says {reason}", person=person.id, note=Text(reason)),
            money.balance_is(w, -cents),
        ),
        golden=(call(wallet.send, person=person.id, amount=money.plain(cents), note=reason),),
    )


@pack.template("split_dinner", apps=("wallet",))
def split_dinner(w: WorldView) -> Draft:
    """Divide a sum by three and ask two contacts for their parts."""
    first, second = w.sample(w.state(contacts.State).people, 2)
    cents = w.one_of(1450, 1820, 2360, 2790, 3215)
    return Draft(
        goal=f"I paid {dollars(3 * cents)} for a dinner of three. {first.name} and {second.name} "
        "were there with me, and each of us bears an equal part. Ask both for theirs.",
        params={"people": [first.id, second.id], "cents": cents},
        checks=tuple(
            money.asked(person, cents, says=f"{person.name} was asked for {dollars(cents)}")
            for person in (first, second)
        ),
        golden=tuple(
            call(wallet.ask, person=person.id, amount=money.plain(cents))
            for person in (first, second)
        ),
    )


def _answered(request: MoneyRequest, state: str) -> Check:
    return changed(
        "wallet.requests", request.id, f"The request for {request.note} is {state}", state=state
    )


@pack.template("answer_requests", apps=("wallet",))
def answer_requests(w: WorldView) -> Draft:
    """Pay one of three requests, decline the others, and take the own one back."""
    requests = w.state(State).requests
    waiting = requests.where(lambda r: r.incoming)
    mine = w.pick(requests, lambda r: not r.incoming)
    paid = w.pick(waiting)
    declined = [r for r in waiting if r.id != paid.id]
    return Draft(
        goal=f"Three people want money from me. Pay only what I owe for the {paid.note.lower()}, "
        f"turn the other two down, and do not wait for the money for the {mine.note.lower()} any "
        "more: take that request back.",
        params={"paid": paid.id},
        checks=(
            _answered(paid, "paid"),
            added(
                "wallet.transactions",
                f"{paid.name} got the money",
                person=paid.person,
                amount_cents=-paid.amount_cents,
                note=paid.note,
            ),
            money.balance_is(w, -paid.amount_cents),
            *(_answered(request, "declined") for request in declined),
            _answered(mine, "cancelled"),
        ),
        golden=(
            call(wallet.approve, request=paid.id),
            *(call(wallet.decline, request=request.id) for request in declined),
            call(wallet.cancel, request=mine.id),
        ),
    )


# ---- balance and bills -------------------------------------------------------------------------


@pack.template("top_up_balance", apps=("wallet",))
def top_up_balance(w: WorldView) -> Draft:
    """Move money from a card to the balance."""
    card = w.one_of(JUNIPER, HALDEN)
    cents = w.one_of(3500, 7500, 12_000, 18_500, 24_000)
    return Draft(
        goal=f"Move {dollars(cents)} from my {_card(w, card)} card over to my balance.",
        params={"card": card, "cents": cents},
        checks=(money.topped_up(card, cents), money.balance_is(w, cents)),
        golden=(call(wallet.top_up, card=card, amount=money.plain(cents)),),
    )


@pack.template("set_daily_limit", apps=("wallet",))
def set_daily_limit(w: WorldView) -> Draft:
    """Bound what may leave the wallet in a day."""
    cents = w.one_of(20_000, 25_000, 35_000, 45_000, 62_500)
    return Draft(
        goal=f"To be safe I never want to be able to pay more than {dollars(cents)} a day.",
        params={"cents": cents},
        checks=(
            template.value_is(
                "wallet.daily_limit_cents", f"{dollars(cents)} a day are allowed", cents
            ),
        ),
        golden=(call(wallet.set_limit, amount=money.plain(cents)),),
    )


@pack.template("pay_bill_by_card", apps=("wallet",))
def pay_bill_by_card(w: WorldView) -> Draft:
    """Pay a bill, told by what it is or that it is overdue, with a card."""
    words, bill_id = w.one_of(
        ("the bill that is overdue", "bill3"),
        ("what Harbor Energy wants from me", "bill1"),
        ("my gym", "bill4"),
    )
    source = w.one_of(JUNIPER, HALDEN)
    bill = w.state(State).bills[bill_id]
    return Draft(
        goal=f"Pay {words} with my {_card(w, source)} card.",
        params={"bill": bill.id, "source": source},
        checks=money.bill_paid(bill, source),
        golden=(call(wallet.pay_bill, bill=bill.id, source=source),),
    )


@pack.template("pay_rent_above_limit", apps=("wallet",))
def pay_rent_above_limit(w: WorldView) -> Draft:
    """Pay a bill that neither the limit nor the balance allows at first."""
    s = w.state(State)
    rent = s.bills["bill6"]
    card = w.one_of(JUNIPER, HALDEN)
    limit_cents = w.one_of(150_000, 160_000, 180_000)
    cents = w.one_of(25_000, 30_000, 40_000)
    return Draft(
        goal=f"{rent.payee} must get the rent from my balance now. Allow {dollars(limit_cents)} a "
        f"day for that, and take {dollars(cents)} from {_card(w, card)} to have enough.",
        params={"card": card, "cents": cents, "limit_cents": limit_cents},
        checks=(
            *money.bill_paid(rent, BALANCE),
            template.value_is(
                "wallet.daily_limit_cents", f"{dollars(limit_cents)} a day are allowed", limit_cents
            ),
            money.topped_up(card, cents),
            money.balance_is(w, cents - rent.amount_cents),
        ),
        golden=(
            call(wallet.set_limit, amount=money.plain(limit_cents)),
            call(wallet.top_up, card=card, amount=money.plain(cents)),
            call(wallet.pay_bill, bill=rent.id, source=BALANCE),
        ),
    )


@pack.template("bills_pay_themselves", apps=("wallet",))
def bills_pay_themselves(w: WorldView) -> Draft:
    """Have a bill paid automatically, and another one not any more."""
    s = w.state(State)
    on = w.pick(s.bills, lambda b: not b.autopay and b.id in ("bill1", "bill4"))
    off = w.pick(s.bills, lambda b: b.autopay)
    return Draft(
        goal=f"From now on {on.payee} should get its money by itself on the day it is due. "
        f"{off.payee} should not: that one I want to pay myself.",
        params={"on": on.id, "off": off.id},
        checks=tuple(
            changed(
                "wallet.bills",
                bill.id,
                f"{bill.payee} is paid {'by itself' if wanted else 'by hand'}",
                autopay=wanted,
            )
            for bill, wanted in ((on, True), (off, False))
        ),
        golden=(
            call(wallet.set_autopay, bill=on.id, on=True),
            call(wallet.set_autopay, bill=off.id, on=False),
        ),
    )


@pack.template("note_down_bill", apps=("wallet",))
def note_down_bill(w: WorldView) -> Draft:
    """Keep a bill that came on paper."""
    payee, cents = w.rng.choice(PAYEES), w.rng.choice(CENTS)
    day = w.cast.day(w.rng.randrange(5, 28))
    return Draft(
        goal=f"A bill came by post: {payee} wants {dollars(cents)} by {spoken(day)}. Put it with "
        "my other bills, do not pay it yet.",
        params={"payee": payee, "cents": cents, "day": day},
        checks=(
            added("wallet.bills", f"There is a bill of {payee}", payee=Text(payee), paid=False),
            added("wallet.bills", f"It is over {dollars(cents)}", amount_cents=cents),
            added("wallet.bills", f"It is due on {day}", due=day),
        ),
        golden=(call(wallet.add_bill, payee=payee, amount=money.plain(cents), due=day),),
    )


# ---- cards -------------------------------------------------------------------------------------


@pack.template("card_in_trouble", apps=("wallet",))
def card_in_trouble(w: WorldView) -> Draft:
    """Freeze a lost card, or thaw the frozen one."""
    card, frozen = w.one_of((JUNIPER, True), (HALDEN, True), (FERNWAY, False))
    bank = _card(w, card)
    goal = (
        f"I cannot find my {bank} card anywhere. Make sure that nobody can pay with it until it "
        "turns up."
        if frozen
        else f"My {bank} card turned up again. It should work for payments as before."
    )
    return Draft(
        goal=goal,
        params={"card": card, "frozen": frozen},
        checks=(
            changed(
                "wallet.cards",
                card,
                f"{bank} {'does not pay' if frozen else 'pays again'}",
                frozen=frozen,
            ),
        ),
        golden=(call(wallet.freeze, card=card, on=frozen),),
    )


@pack.template("expiry_of_card", apps=("wallet",))
def expiry_of_card(w: WorldView) -> Draft:
    """Tell until when a card is valid."""
    card = w.pick(w.state(State).cards)
    return Draft(
        goal=f"Until when can I use my {card.bank} card? Tell me month and year as they stand on "
        "it.",
        params={"card": card.id},
        checks=(AnswerIs(to=Text(card.expires, mode="digits"), says="The month and the year"),),
        golden=(look(look_ups.list_cards), Answer(text=card.expires)),
    )


@pack.template("give_up_main_card", apps=("wallet",))
def give_up_main_card(w: WorldView) -> Draft:
    """Remove the main card, which needs a successor that must be usable."""
    s = w.state(State)
    successor = w.one_of(HALDEN, FERNWAY)
    thaw = (call(wallet.freeze, card=FERNWAY, on=False),) if successor == FERNWAY else ()
    extended: tuple[Check, ...] = ()
    if successor == FERNWAY:
        extended = (changed("wallet.cards", FERNWAY, f"{_card(w, FERNWAY)} works", frozen=False),)
    return Draft(
        goal=f"I am closing my account at {_card(w, s.main_card)}. That card must go, and "
        f"{_card(w, successor)} has to be ready to take its place as the card I pay with first.",
        params={"successor": successor},
        checks=(
            template.removed("wallet.cards", f"{_card(w, s.main_card)} is gone", id=s.main_card),
            template.value_is("wallet.main_card", f"{_card(w, successor)} comes first", successor),
            *extended,
        ),
        golden=(
            *thaw,
            call(wallet.make_main, card=successor),
            call(wallet.delete_card, card=s.main_card),
        ),
    )


# ---- what was spent ----------------------------------------------------------------------------


@pack.template("spent_last_month", apps=("wallet",))
def spent_last_month(w: WorldView) -> Draft:
    """Tell a category's sum of the month before."""
    sums = spent(w.state(State), LAST_MONTH)
    category = w.pick(SPENT_ON, lambda name: name in sums)
    return Draft(
        goal=f"How much money did I spend on {SPENT_ON[category]} in February?",
        params={"category": category},
        checks=(AnswerIs(to=Money(sums[category]), says="The sum is right"),),
        golden=(look(look_ups.spending, month=LAST_MONTH), Answer(text=dollars(sums[category]))),
    )


def _bought(w: WorldView, least: int, most: int) -> list[Transaction]:
    """Return all payments to a merchant who was paid that often."""
    rows = found(w.state(State), "", "", "out")
    titles = sorted({t.title for t in rows if not t.person})
    visits = {title: [t for t in rows if t.title == title] for title in titles}
    return visits[w.pick(titles, lambda title: least <= len(visits[title]) <= most)]


@pack.template("dearest_visit", apps=("wallet",))
def dearest_visit(w: WorldView) -> Draft:
    """Compare the payments to one merchant."""
    visits = _bought(w, 2, 12)
    cents = max(-t.amount_cents for t in visits)
    return Draft(
        goal=f"What is the most that I ever paid at {visits[0].title} in one go?",
        params={"merchant": visits[0].title},
        checks=(AnswerIs(to=Money(cents), says="The highest amount"),),
        golden=(look(look_ups.search, text=visits[0].title), Answer(text=dollars(cents))),
    )


@pack.template("recategorise_payments", apps=("wallet",), was="count_as_fun")
def recategorise_payments(w: WorldView) -> Draft:
    """Put all payments to a merchant into another category."""
    visits = _bought(w, 2, 4)
    merchant = visits[0].title
    category, words = w.rng.choice(
        [
            entry
            for entry in (("fun", "fun"), ("health", "health"), ("groceries", "groceries"))
            if entry[0] != visits[0].category
        ]
    )
    return Draft(
        goal=f"Everything that I paid at {merchant} should count as {words} in my statistics.",
        params={"merchant": merchant, "category": category},
        checks=(
            changed(
                "wallet.transactions",
                tuple(t.id for t in visits),
                f"{merchant} counts as {words}",
                category=category,
            ),
        ),
        golden=tuple(call(wallet.categorise, transaction=t.id, category=category) for t in visits),
    )
