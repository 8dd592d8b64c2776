"""Tasks over orders of the shop, with the wallet, since money moves."""

from __future__ import annotations

from screenloop.criteria import Check, Value
from screenloop.phone.apps.shop import actions as shop
from screenloop.phone.apps.shop.seed import Order, Speed, totals
from screenloop.phone.apps.shop.state import State
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, call, changed, removed
from screenloop.suites.phone_core.worlds import money
from screenloop.suites.phone_core.worlds.money import HOME, PAY_WITH, WORK, checkout, ordered, paid
from screenloop.suites.phone_core.worlds.records import listed

pack = Pack("shopping")

MOST_CENTS = 95_000
"""What an order may cost for the wallet to pay it within a day's limit."""


def _names(order: Order) -> str:
    return listed([f"the {item.name}" for item in order.items])


@pack.template("order_cart_with_coupon", apps=("shop", "wallet"))
def order_cart_with_coupon(w: WorldView) -> Draft:
    """Order what is in the cart with a code, and pay it."""
    s = w.state(State)
    code = w.one_of("WELCOME10", "FREESHIP")
    ways: tuple[tuple[str, Speed], ...] = ((HOME, "express"), (WORK, "express"), (WORK, "standard"))
    address, speed = w.rng.choice(ways)
    source, words = w.rng.choice(PAY_WITH)
    cents = totals(
        sum(s.products[x.product].price_cents * x.quantity for x in s.cart), speed, code
    ).total
    how = "as fast as they can" if speed == "express" else "with the normal delivery"
    return Draft(
        goal=f"Buy everything in my cart at Nimbus with the coupon {code}. It should come to my "
        f"{s.addresses[address].label.lower()} address {how}. Pay it from {words}.",
        params={"coupon": code, "address": address, "speed": speed, "source": source},
        checks=(
            *ordered(w, address=address, speed=speed, total_cents=cents, coupon=code),
            removed("shop.cart", "The cart is empty", weight=0, count=len(s.cart)),
            *paid(w, cents, source),
        ),
        golden=(
            call(shop.apply_coupon, code=code),
            *checkout(w, address=address, speed=speed, source=source),
        ),
    )


@pack.template("buy_one_product", apps=("shop", "wallet"))
def buy_one_product(w: WorldView) -> Draft:
    """Buy something in a colour and pay it."""
    patches = money.empty_cart(w)
    product = w.pick(money.buyable(w, 30_000))
    colour = w.rng.choice(product.colours)
    address = w.one_of(HOME, WORK)
    source, words = w.rng.choice(PAY_WITH)
    cents = totals(product.price_cents, "standard", "").total
    label = w.state(State).addresses[address].label.lower()
    return Draft(
        goal=f"Order one {product.name} in {money.colour_named(colour)} from Nimbus, with standard "
        f"delivery to my {label} address, and pay from {words}.",
        params={"product": product.id, "colour": colour, "address": address, "source": source},
        patches=patches,
        checks=(
            *money.item_is(product, 1, colour),
            *ordered(w, address=address, speed="standard", total_cents=cents),
            *paid(w, cents, source),
        ),
        golden=(
            call(shop.add, product=product.id, colour=colour),
            *checkout(w, address=address, speed="standard", source=source),
        ),
    )


@pack.template("order_again", apps=("shop", "wallet"))
def order_again(w: WorldView) -> Draft:
    """Order once more what an earlier order held."""
    s = w.state(State)
    order = w.pick(
        s.orders,
        lambda o: (
            o.id in money.DELIVERED
            and all(s.products[i.product].stock >= i.quantity for i in o.items)
        ),
    )
    source, words = w.rng.choice(PAY_WITH)
    speed: Speed = w.one_of("standard", "express")
    cents = totals(sum(i.price_cents * i.quantity for i in order.items), speed, "").total
    how = "within the hour" if speed == "express" else "by tomorrow, which is the cheap way"
    checks: list[Check] = [
        Value(
            app="shop",
            path=f"orders/{money.NEW_ORDER}/items/{place}/{field}",
            to=getattr(item, field),
            says=f"{item.name} is ordered as before",
            weight=0.5,
        )
        for place, item in enumerate(order.items)
        for field in ("product", "quantity")
    ]
    return Draft(
        goal=f"I once bought {_names(order)} at Nimbus. Order exactly the same again, to my office "
        f"this time. It should be there {how}, paid from {words}.",
        params={"order": order.id, "speed": speed, "source": source},
        patches=money.empty_cart(w),
        checks=(
            *checks,
            *ordered(w, address=WORK, speed=speed, total_cents=cents),
            *paid(w, cents, source),
        ),
        golden=(
            call(shop.reorder, order=order.id),
            *checkout(w, address=WORK, speed=speed, source=source),
        ),
    )


@pack.template("cancel_packed_order", apps=("shop", "wallet"))
def cancel_packed_order(w: WorldView) -> Draft:
    """Call an order off, told by what is in it, for a reason."""
    order = w.state(State).orders[money.PACKED]
    reason, words = w.one_of(
        ("Found it cheaper", "I found it cheaper elsewhere"),
        ("Ordered by mistake", "I never meant to order that"),
        ("Changed my mind", "I have changed my mind about it"),
    )
    return Draft(
        goal=f"Nimbus has not sent {_names(order)} yet, and {words}. Call that order off and "
        "tell them this reason.",
        params={"order": order.id, "reason": reason},
        checks=(
            changed("shop.orders", order.id, "The order is cancelled", weight=2, state="cancelled"),
            changed("shop.orders", order.id, "The reason is right", reason=reason),
            *money.refunded(w, order),
        ),
        golden=(call(shop.cancel, order=order.id, reason=reason),),
    )


@pack.template("return_order", apps=("shop", "wallet"))
def return_order(w: WorldView) -> Draft:
    """Send an order back, told by what was in it, for a reason."""
    order = w.pick(w.state(State).orders, lambda o: o.id in money.DELIVERED)
    reason, words = w.one_of(
        ("Damaged", "arrived broken"),
        ("Not as described", "is nothing like the description"),
        ("No longer needed", "is of no use to me any more"),
    )
    return Draft(
        goal=f"The {order.items[0].name} that I got from Nimbus {words}. Give that order back and "
        "say so as the reason.",
        params={"order": order.id, "reason": reason},
        checks=(
            changed("shop.orders", order.id, "The order goes back", weight=2, state="returned"),
            changed("shop.orders", order.id, "The reason is right", reason=reason),
            *money.refunded(w, order),
        ),
        golden=(call(shop.give_back, order=order.id, reason=reason),),
    )
