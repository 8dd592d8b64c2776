"""Amounts, accounts and orders of a world, and checks on them that many templates share."""

from __future__ import annotations

from typing import Any

from screenloop.actions import Tool
from screenloop.criteria import Check, Value
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages.seed import dollars
from screenloop.phone.apps.shop import actions as shop_actions
from screenloop.phone.apps.shop.seed import COLOURS, Order, Product, Speed
from screenloop.phone.apps.shop.state import State as Shop
from screenloop.phone.apps.wallet import actions as wallet_actions
from screenloop.phone.apps.wallet.seed import BALANCE, Bill
from screenloop.phone.apps.wallet.state import State as Wallet
from screenloop.suites.phone_core.template import WorldView, added, call, changed

HOME, WORK = "address1", "address2"
PACKED = "order6"
"""The order that is being packed."""
DELIVERED = ("order1", "order3", "order4")
NEW_ORDER, NEW_NUMBER, NEW_PAYMENT = "order7", "N-1007", "payment1"
"""What the next order and its payment are called."""
PAY_WITH = ((BALANCE, "my balance"), ("card1", "my Juniper card"), ("card2", "my Halden card"))


def day_of(w: WorldView, at_s: int) -> str:
    """Return the ISO date of an epoch second."""
    return w.cast.day((at_s - w.cast.at(0, "00:00")) // 86_400)


# ---- Wallet -------------------------------------------------------------------------------------


def plain(cents: int) -> str:
    """Return an amount as people type it: `12.50`."""
    return f"{cents // 100}.{cents % 100:02d}"


def balance_is(w: WorldView, change_cents: int) -> Check:
    """Return the check that the balance moved by an amount, and by nothing else."""
    return Value(
        app="wallet",
        path="balance_cents",
        to=w.state(Wallet).balance_cents + change_cents,
        says=f"The balance changed by {change_cents / 100:.2f}",
    )


def sent(person: contacts.Person, cents: int, *, says: str) -> Check:
    """Return the check that money went to a contact."""
    return added(
        "wallet.transactions",
        says,
        weight=2,
        person=person.id,
        amount_cents=-cents,
        category="transfer",
        source=BALANCE,
    )


def asked(person: contacts.Person, cents: int, *, says: str, weight: float = 1.0) -> Check:
    """Return the check that a contact was asked for money."""
    return added(
        "wallet.requests", says, weight=weight, person=person.id, amount_cents=cents, incoming=False
    )


def bill_paid(bill: Bill, source: str) -> tuple[Check, ...]:
    """Return the checks that a bill was paid from a source."""
    return (
        changed("wallet.bills", bill.id, f"{bill.payee} is paid", weight=2, paid=True),
        added(
            "wallet.transactions",
            "The right account paid for it",
            title=bill.payee,
            amount_cents=-bill.amount_cents,
            source=source,
        ),
    )


def topped_up(card: str, cents: int) -> Check:
    """Return the check that money was moved from a card to the balance."""
    return added(
        "wallet.transactions",
        f"{dollars(cents)} came from the card",
        amount_cents=cents,
        source=card,
        category="transfer",
    )


# ---- shop ---------------------------------------------------------------------------------------


def empty_cart(w: WorldView) -> tuple[dict[str, Any], ...]:
    """Return patches after which the cart is empty."""
    return tuple(
        {"app": "shop", "table": "cart", "op": "remove", "id": line.id}
        for line in w.state(Shop).cart
    )


def buyable(w: WorldView, most_cents: int, pieces: int = 1) -> list[Product]:
    """Return products in colours of which there are enough, and which the balance can pay."""
    return [
        p
        for p in w.state(Shop).products
        if p.colours and p.stock >= pieces and p.price_cents * pieces <= most_cents
    ]


def colour_named(colour: str) -> str:
    """Return what people call a colour."""
    return COLOURS[colour][0].lower()


def ordered(
    w: WorldView, *, address: str, speed: Speed, total_cents: int, coupon: str = ""
) -> tuple[Check, ...]:
    """Return the checks on where the new order goes, how fast, and what it costs."""
    label = w.state(Shop).addresses[address].label
    return (
        added("shop.orders", f"The order goes to {label}, {speed}", address=address, speed=speed),
        added(
            "shop.orders",
            f"It costs {dollars(total_cents)}",
            total_cents=total_cents,
            coupon=coupon,
        ),
    )


def item_is(product: Product, quantity: int, colour: str = "") -> tuple[Check, ...]:
    """Return the checks on the one item of the new order."""
    at = f"orders/{NEW_ORDER}/items/0"
    checks: list[Check] = [
        Value(
            app="shop",
            path=f"{at}/product",
            to=product.id,
            weight=2,
            says=f"{product.name} is ordered",
        ),
        Value(app="shop", path=f"{at}/quantity", to=quantity, says=f"The quantity is {quantity}"),
    ]
    if colour:
        says = f"The colour is {colour}"
        checks.append(Value(app="shop", path=f"{at}/colour", to=colour, says=says))
    return tuple(checks)


def paid(w: WorldView, cents: int, source: str) -> tuple[Check, ...]:
    """Return the checks that the new order was paid from a source."""
    checks: list[Check] = [
        added(
            "wallet.payments",
            "The order is paid from the right account",
            order=NEW_NUMBER,
            state="paid",
            source=source,
            amount_cents=cents,
        ),
        added(
            "wallet.transactions",
            "The money left once",
            weight=0,
            note=NEW_NUMBER,
            amount_cents=-cents,
            source=source,
        ),
    ]
    if source == BALANCE:
        checks.append(balance_is(w, -cents))
    return tuple(checks)


def refunded(w: WorldView, order: Order) -> tuple[Check, ...]:
    """Return the checks that the price of an order came back."""
    return (
        added(
            "wallet.transactions",
            "The money is back",
            amount_cents=order.total_cents,
            note=f"Refund {order.number}",
        ),
        balance_is(w, order.total_cents),
    )


def checkout(w: WorldView, *, address: str, speed: Speed, source: str) -> tuple[Tool, ...]:
    """Return the golden steps that order the cart and pay it."""
    return (
        call(shop_actions.place, address=address, speed=speed),
        call(wallet_actions.pay, payment=NEW_PAYMENT, source=source),
    )
