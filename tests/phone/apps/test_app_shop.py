"""The shop: cart, coupons, orders through the wallet, deliveries by timers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.phone.apps.shop.pages import app
from screenloop.phone.apps.shop.seed import COUPONS, Speed, totals
from screenloop.phone.apps.shop.state import State, found
from screenloop.phone.apps.wallet.state import State as Wallet
from screenloop.phone.commands import Call, Go
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import state_hash
from screenloop.phone.declare.flow_steps import tap
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step

SLOTS = {
    "product": "product4",
    "category": "tech",
    "order": "order4",
    "address": "address2",
}


def shop_of(device: Device) -> State:
    """Return the shop's data."""
    return State(device.doc.apps["shop"].data, cast(device.doc.world, device.doc.seed))


def wallet_of(device: Device) -> Wallet:
    """Return the wallet's data."""
    return Wallet(device.doc.apps["wallet"].data, cast(device.doc.world, device.doc.seed))


def call(device: Device, action: str, app: str = "shop", **args: Any) -> tuple[bool, str]:
    """Run an action and return whether it was done, and what it said."""
    effect = device.perform(Call(app=app, action=action, args=args))
    return effect.ok, effect.message


def pay(device: Device, payment: str = "payment1") -> None:
    """Pay from the balance."""
    assert call(device, "payments.pay", "wallet", payment=payment, source="balance")[0]


@pytest.mark.parametrize("flow", app.flows, ids=lambda flow: flow.name)
def test_a_flow_runs_and_restoring_gives_the_first_state(flow: Any) -> None:
    device = new_device(strict=True)
    start, first = device.snapshot(), state_hash(device.doc)
    device.open("shop")
    for step in flow.steps:
        device.begin()
        effect = run_step(device, step)
        device.end()
        assert effect.ok, effect
    device.restore(start)
    assert state_hash(device.doc) == first


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_draws(lang: str, dark: bool) -> None:
    patches = (
        {"app": "os", "field": "language", "op": "set", "value": lang},
        {"app": "os", "field": "dark", "op": "set", "value": dark},
    )
    device = new_device(patches=patches)
    for route in app.routes.values():
        device.perform(Go(app="shop", path=route.path(**{s: SLOTS[s] for s in route.slots})))
        assert device.painted().html


def test_products_have_the_same_names_in_every_world_and_other_prices() -> None:
    one, two = (shop_of(new_device(seed=seed)).products for seed in (0, 1))
    assert len(one) == 120
    assert [p.name for p in one] == [p.name for p in two]
    assert [p.price_cents for p in one] != [p.price_cents for p in two]


def test_the_same_product_and_colour_share_a_line() -> None:
    device = new_device(strict=True)
    colour = shop_of(device).products["product4"].colours[0]
    for _ in range(2):
        assert call(device, "cart.add", product="product4", colour=colour, quantity=2)[0]
    lines = [x for x in shop_of(device).cart if x.product == "product4"]
    assert [x.quantity for x in lines] == [4]


def test_a_colour_that_is_not_offered_is_refused() -> None:
    device = new_device(strict=True)
    ok, why = call(device, "cart.add", product="product4", colour="pink")
    assert not ok
    assert "is offered in" in why


def test_more_than_the_stock_is_refused() -> None:
    device = new_device(strict=True)
    row = min((p for p in shop_of(device).products if 0 < p.stock < 20), key=lambda p: p.stock)
    colour = (*row.colours, "")[0]
    assert call(device, "cart.add", product=row.id, colour=colour, quantity=row.stock)[0]
    ok, why = call(device, "cart.add", product=row.id, colour=colour, quantity=1)
    assert (ok, why) == (False, f"Only {row.stock} of {row.name} left")


def test_what_is_out_of_stock_can_be_wished_for_but_not_bought() -> None:
    device = new_device(strict=True)
    row = next(p for p in shop_of(device).products if p.stock == 0)
    assert call(device, "wishes.set", product=row.id, on=True)[0]
    assert call(device, "wishes.to_cart", product=row.id)[1] == f"{row.name} is out of stock"


@given(
    st.integers(min_value=1, max_value=10**7),
    st.sampled_from(["", *COUPONS]),
    st.sampled_from(["standard", "express"]),
)
def test_a_coupon_never_makes_it_dearer_nor_free(cents: int, code: str, speed: Speed) -> None:
    assert 0 < totals(cents, speed, code).total <= totals(cents, speed, "").total


def test_a_coupon_has_to_exist_and_to_fit() -> None:
    device = new_device(strict=True)
    assert call(device, "coupon.apply", code="HELLO") == (False, "HELLO is no valid code")
    assert call(device, "cart.clear")[0]
    assert call(device, "coupon.apply", code="save15")[1] == "SAVE15 needs items worth $80"
    assert call(device, "coupon.apply", code=" welcome10 ")[0]
    assert shop_of(device).coupon == "WELCOME10"


def test_an_order_goes_to_the_wallet_and_comes_back_paid() -> None:
    device = new_device(strict=True)
    device.open("shop")
    device.perform(Go(app="shop", path="/checkout"))
    total = wallet_of(device).balance_cents
    run_step(device, tap("Work"))
    run_step(device, tap("Place order"))
    order = shop_of(device).orders["order7"]
    assert (order.number, order.state, order.address) == ("N-1007", "unpaid", "address2")
    assert device.screen.route == "wallet/pay/{payment}"
    assert run_step(device, tap("Confirm payment")).ok
    assert device.screen.route == "shop/orders/{order}"
    assert shop_of(device).orders["order7"].state == "processing"
    assert total - wallet_of(device).balance_cents == order.total_cents
    device.press("back")
    assert device.screen.route == "shop/"


def test_a_declined_payment_can_be_asked_for_again() -> None:
    device = new_device(strict=True)
    device.open("shop")
    call(device, "orders.place", address="address1")
    assert run_step(device, tap("Decline")).ok
    assert device.screen.route == "shop/orders/{order}"
    assert shop_of(device).orders["order7"].state == "unpaid"
    assert run_step(device, tap("Pay now")).ok
    assert device.doc.apps["wallet"].page.path == "/pay/payment2"
    pay(device, "payment2")
    assert shop_of(device).orders["order7"].state == "processing"


def test_a_paid_order_is_shipped_and_delivered_in_time_with_notifications() -> None:
    device = new_device(strict=True)
    call(device, "orders.place", address="address1", speed="express")
    pay(device)
    states = []
    for seconds in (59, 1, 1799, 1):
        device.advance(seconds * 1000)
        states.append(shop_of(device).orders["order7"].state)
    assert states == ["processing", "shipped", "shipped", "delivered"]
    assert [n.text for n in device.system.notifications][-2:] == [
        "Order N-1007 is on its way",
        "Order N-1007 was delivered",
    ]


def test_no_notifications_where_order_updates_are_off() -> None:
    device = new_device(strict=True)
    call(device, "updates.set", on=False)
    call(device, "orders.place", address="address1", speed="express")
    pay(device)
    before = len(device.system.notifications)
    device.advance(4_000_000)
    assert len(device.system.notifications) == before


def test_cancelling_a_paid_order_gives_the_money_back_and_stops_its_delivery() -> None:
    device = new_device(strict=True)
    before = wallet_of(device).balance_cents
    call(device, "orders.place", address="address1")
    pay(device)
    assert call(device, "orders.cancel", order="order7", reason="Found it cheaper")[0]
    device.advance(100_000_000)
    assert shop_of(device).orders["order7"].state == "cancelled"
    assert wallet_of(device).balance_cents == before


def test_cancelling_an_unpaid_order_closes_its_payment() -> None:
    device = new_device(strict=True)
    call(device, "orders.place", address="address1")
    assert call(device, "orders.cancel", order="order7", reason="Changed my mind")[0]
    assert wallet_of(device).payments["payment1"].state == "void"


def test_only_a_delivered_order_is_returned_or_reviewed() -> None:
    device = new_device(strict=True)
    ok, why = call(device, "orders.return", order="order5", reason="Damaged")
    assert (ok, why) == (False, "Order N-1005 is shipped")
    before = wallet_of(device).balance_cents
    order = shop_of(device).orders["order3"]
    review: dict[str, Any] = {"order": "order3", "product": order.items[0].product, "stars": 4}
    assert call(device, "reviews.add", **review)[0]
    assert call(device, "reviews.add", **review)[1] == "You have reviewed this product"
    assert call(device, "orders.return", order="order3", reason="Damaged")[0]
    assert wallet_of(device).balance_cents == before + order.total_cents


def test_a_shipped_order_is_neither_cancelled_nor_sent_elsewhere() -> None:
    device = new_device(strict=True)
    assert not call(device, "orders.cancel", order="order5", reason="Changed my mind")[0]
    assert not call(device, "orders.readdress", order="order5", address="address2")[0]
    assert call(device, "orders.readdress", order="order6", address="address2")[0]


def test_an_address_in_use_is_not_deleted() -> None:
    device = new_device(strict=True)
    assert not call(device, "addresses.delete", address="address1")[0]
    assert call(device, "addresses.default", address="address2")[0]
    ok, why = call(device, "addresses.delete", address="address1")
    assert (ok, why) == (False, "An open order goes to this address")


def test_nothing_is_ordered_while_offline_or_from_an_empty_cart() -> None:
    offline = {"app": "os", "field": "airplane", "op": "set", "value": True}
    device = new_device(patches=(offline,))
    assert call(device, "orders.place", address="address1") == (False, "You are offline")
    device = new_device(strict=True)
    call(device, "cart.clear")
    assert call(device, "orders.place", address="address1") == (False, "Your cart is empty")


def test_search_narrows_and_sorts() -> None:
    shop = shop_of(new_device())
    rows = found(shop, "lamp", "home", "price_up", max_cents=8000)
    prices = [p.price_cents for p in rows]
    assert prices == sorted(prices)
    assert all("Lamp" in p.name or p.kind == "lamp" for p in rows)
    assert all(p.price_cents <= 8000 for p in rows)


def test_tools_read_the_cart_and_the_orders() -> None:
    device = new_device()
    device.open("shop")
    cart = device.call_tool("shop.cart.get", {}).result
    assert [x["quantity"] for x in cart["lines"]] == [1, 2]
    listed = device.call_tool("shop.orders.list", {"which": "open"}).result
    assert {o["state"] for o in listed} == {"shipped", "processing"}
    assert device.call_tool("shop.products.search", {"text": "mug", "sort": "rating"}).ok
