"""The wallet: money in and out, limits, cards confirmed by a code, bills, requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.phone.apps.messages.state import State as Messages
from screenloop.phone.apps.wallet.actions import request_payment
from screenloop.phone.apps.wallet.pages import app
from screenloop.phone.apps.wallet.seed import code_for, parse_cents
from screenloop.phone.apps.wallet.state import State, spent
from screenloop.phone.commands import Call, Go
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import state_hash
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step

SLOTS = {
    "transaction": "txn3",
    "person": "person3",
    "bill": "bill1",
    "card": "card1",
    "month": "2026-02",
    "category": "dining",
    "payment": "payment1",
}


def wallet_of(device: Device) -> State:
    """Return the wallet's data."""
    return State(device.doc.apps["wallet"].data, cast(device.doc.world, device.doc.seed))


def call(device: Device, action: str, **args: Any) -> tuple[bool, str]:
    """Run an action and return whether it was done, and what it said."""
    effect = device.perform(Call(app="wallet", action=action, args=args))
    return effect.ok, effect.message


def ask_payment(device: Device, cents: int = 4200) -> None:
    """Let another app ask for a payment; it has no action to call, so only declining works."""
    device.perform(
        request_payment(
            merchant="Test",
            amount_cents=cents,
            order="T-1",
            app="wallet",
            action="balance.hide",
            args={"on": True},
            path="/",
        )
    )


@pytest.mark.parametrize("flow", app.flows, ids=lambda flow: flow.name)
def test_a_flow_runs_and_restoring_gives_the_first_state(flow: Any) -> None:
    device = new_device(strict=True)
    start, first = device.snapshot(), state_hash(device.doc)
    device.open("wallet")
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
    ask_payment(device)
    for route in app.routes.values():
        device.perform(Go(app="wallet", path=route.path(**{s: SLOTS[s] for s in route.slots})))
        assert device.painted().html


@given(st.integers(min_value=0, max_value=999_999_999))
def test_an_amount_is_read_back_as_it_was_written(cents: int) -> None:
    plain = f"{cents // 100}.{cents % 100:02d}"
    assert parse_cents(plain) == cents
    assert parse_cents(f"${cents // 100:,}.{cents % 100:02d}") == cents


@given(st.text())
def test_no_text_breaks_the_reading_of_amounts(text: str) -> None:
    cents = parse_cents(text)
    assert cents is None or cents >= 0


@pytest.mark.parametrize("amount", ["", "0", "0.00", "12,5", "-3", "1.234", "twelve", "1e3"])
def test_what_is_no_amount_is_refused_with_a_reason(amount: str) -> None:
    device = new_device(strict=True)
    ok, why = call(device, "money.send", person="person3", amount=amount)
    assert not ok
    assert why.endswith("is no amount; enter dollars such as 12.50")


def test_sending_money_lowers_the_balance_and_counts_against_the_daily_limit() -> None:
    device = new_device(strict=True)
    assert call(device, "money.send", person="person3", amount="900")[0]
    assert wallet_of(device).balance_cents == 124_350 - 90_000
    assert call(device, "money.send", person="person3", amount="150") == (
        False,
        "Over your daily limit: $100.00 left today",
    )
    assert call(device, "limit.set", amount="2,000")[0]
    assert call(device, "money.send", person="person3", amount="150")[0]
    assert call(device, "money.send", person="person3", amount="500")[1] == (
        "Your balance is too low"
    )


def test_no_money_leaves_while_offline_or_to_a_blocked_contact() -> None:
    offline = {"app": "os", "field": "airplane", "op": "set", "value": True}
    blocked = {
        "app": "contacts",
        "table": "people",
        "op": "set",
        "id": "person3",
        "fields": {"blocked": True},
    }
    device = new_device(patches=(offline,))
    assert call(device, "money.send", person="person3", amount="5") == (False, "You are offline")
    device = new_device(patches=(blocked,))
    assert "is blocked" in call(device, "money.send", person="person3", amount="5")[1]


def test_a_contact_pays_what_was_asked_for_unless_it_was_taken_back() -> None:
    device = new_device(strict=True)
    call(device, "money.request", person="person5", amount="18")
    call(device, "money.request", person="person6", amount="7")
    call(device, "requests.cancel", request="request6")
    device.advance(600_000)
    assert wallet_of(device).balance_cents == 124_350 + 1800
    assert [n.text for n in device.system.notifications][-1].endswith("paid you $18.00")
    assert wallet_of(device).requests["request6"].state == "cancelled"


def test_an_answered_request_is_not_answered_again() -> None:
    device = new_device(strict=True)
    assert call(device, "requests.decline", request="request1")[0]
    assert call(device, "requests.approve", request="request1") == (
        False,
        "This request is not open",
    )


def test_a_frozen_card_neither_pays_nor_tops_up() -> None:
    device = new_device(strict=True)
    assert call(device, "bills.pay", bill="bill1", source="card3")[1] == "Fernway Travel is frozen"
    assert not call(device, "balance.top_up", card="card3", amount="20")[0]
    assert call(device, "cards.freeze", card="card3", on=False)[0]
    assert call(device, "bills.pay", bill="bill1", source="card3")[0]
    assert wallet_of(device).balance_cents == 124_350


def test_a_new_card_is_confirmed_by_the_code_of_the_latest_message() -> None:
    device = new_device(strict=True)
    number = "4000 1234 5678 9010"
    assert call(device, "cards.add", bank="Cedar", number=number, expires="01/30")[0]
    assert not call(device, "balance.top_up", card="card4", amount="20")[0]
    call(device, "cards.resend", card="card4")
    device.advance(6000)
    messages = Messages(device.doc.apps["messages"].data, cast("default", 0))
    newest = [m.text for m in messages.messages][-1]
    assert code_for(number, 2) in newest
    assert call(device, "cards.verify", card="card4", code=code_for(number, 1))[0] is False
    assert call(device, "cards.verify", card="card4", code=code_for(number, 2))[0]
    assert wallet_of(device).cards["card4"].code == ""


@pytest.mark.parametrize(
    ("number", "expires", "why"),
    [
        ("4000", "01/30", "A card number has 16 digits"),
        ("4000123456789010", "13/30", "Enter the expiry as MM/YY"),
        ("4000123456789010", "1/2030", "Enter the expiry as MM/YY"),
        ("4000123456789010", "02/26", "This card has expired"),
    ],
)
def test_a_card_with_wrong_data_is_refused(number: str, expires: str, why: str) -> None:
    device = new_device(strict=True)
    assert call(device, "cards.add", bank="Cedar", number=number, expires=expires) == (False, why)


def test_the_main_card_stays() -> None:
    device = new_device(strict=True)
    assert not call(device, "cards.delete", card="card1")[0]
    assert call(device, "cards.main", card="card2")[0]
    assert call(device, "cards.delete", card="card1")[0]


def test_a_bill_on_autopay_is_paid_on_its_due_day_or_reported() -> None:
    device = new_device(strict=True)
    call(device, "bills.autopay", bill="bill1", on=True)
    call(device, "bills.autopay", bill="bill6", on=True)
    device.advance(30 * 86_400_000)
    wallet = wallet_of(device)
    assert wallet.bills["bill1"].paid
    assert not wallet.bills["bill6"].paid
    assert any(n.title == "Bill not paid" for n in device.system.notifications)


def test_a_bill_is_not_paid_twice() -> None:
    device = new_device(strict=True)
    assert call(device, "bills.pay", bill="bill3")[0]
    assert call(device, "bills.pay", bill="bill3")[1] == "This bill is paid already"


def test_paying_calls_the_app_that_asked_and_goes_back_to_it() -> None:
    device = new_device()
    device.open("shop")
    place = Call(app="shop", action="orders.place", args={"address": "address1"})
    assert device.perform(place).ok
    assert device.screen.route == "wallet/pay/{payment}"
    due = wallet_of(device).payments["payment1"].amount_cents
    assert call(device, "payments.pay", payment="payment1", source="balance")[0]
    assert device.screen.route == "shop/orders/{order}"
    assert wallet_of(device).balance_cents == 124_350 - due
    assert device.doc.apps["shop"].data.fields["orders"]["order7"].state == "processing"
    assert call(device, "payments.pay", payment="payment1", source="balance")[0] is False


def test_spending_sums_what_left_by_category() -> None:
    wallet = wallet_of(new_device())
    sums = spent(wallet, "2026-02")
    rows = [t for t in wallet.transactions if t.category == "dining" and t.amount_cents < 0]
    assert sums["dining"] <= -sum(t.amount_cents for t in rows)
    assert all(cents > 0 for cents in sums.values())


def test_look_ups_do_not_tell_codes() -> None:
    device = new_device()
    device.open("wallet")
    listed = device.call_tool("wallet.cards.list", {}).result
    assert [c["last4"] for c in listed] == [c.last4 for c in wallet_of(device).cards]
    assert all("code" not in c for c in listed)
