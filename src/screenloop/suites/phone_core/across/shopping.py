"""Tasks that need the shop, or what it wrote, and another app."""

from __future__ import annotations

from screenloop.criteria import Money, Text
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import SHOP, dollars, facts
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.phone.apps.shop import actions as shop
from screenloop.phone.apps.shop import state as look_ups
from screenloop.phone.apps.shop.seed import totals
from screenloop.phone.apps.shop.state import State
from screenloop.phone.apps.wallet.seed import BALANCE
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, look, set_row
from screenloop.suites.phone_core.worlds import money, records

pack = Pack("shopping")


@pack.template("gift_from_note", apps=("shop", "notes", "wallet"))
def gift_from_note(w: WorldView) -> Draft:
    """Order what a note suggests as a present for somebody."""
    gift = w.rng.choice(notes_seed.facts(w.cast).gifts)
    product = w.pick(money.buyable(w, 40_000))
    note = records.note_titled(w, "Gift ideas")
    (line,) = [i for i in records.lines_of(w, note) if i.text.startswith(gift.person.name)]
    idea = f"{gift.person.name}: {product.name}, {dollars(product.price_cents)}"
    address = w.one_of(money.HOME, money.WORK)
    cents = totals(product.price_cents, "standard", "").total
    label = w.state(State).addresses[address].label.lower()
    return Draft(
        goal=f"I noted down what to give {gift.person.name} as a present. Order one from Nimbus, "
        f"in any colour, with standard delivery to my {label} address, and pay from my balance.",
        params={"product": product.id, "address": address},
        patches=(set_row("notes.items", line.id, text=idea), *money.empty_cart(w)),
        checks=(
            *money.item_is(product, 1),
            *money.ordered(w, address=address, speed="standard", total_cents=cents),
            *money.paid(w, cents, BALANCE),
        ),
        golden=(
            look(notes.get, note=note.id),
            call(shop.add, product=product.id, colour=product.colours[0]),
            *money.checkout(w, address=address, speed="standard", source=BALANCE),
        ),
    )


@pack.template("text_order_number", apps=("shop", "messages"))
def text_order_number(w: WorldView) -> Draft:
    """Text somebody the number of an order, told by what is in it."""
    person = w.pick(records.without_chat(w))
    order = w.pick(w.state(State).orders)
    item = w.rng.choice(order.items)
    return Draft(
        goal=f"{person.name} wants to ask Nimbus about the {item.name} that I ordered there. Text "
        f"{person.name} the number of that order.",
        params={"person": person.id, "order": order.id},
        checks=records.texted(
            w,
            person.phone,
            Text(order.number, mode="contains"),
            says=f"{person.name} knows the number of the order",
        ),
        golden=(
            look(look_ups.list_orders),
            call(messages.start, phone=person.phone, text=order.number),
        ),
    )


@pack.template("text_price", apps=("shop", "messages"))
def text_price(w: WorldView) -> Draft:
    """Text somebody what a wish costs."""
    s = w.state(State)
    person = w.pick(records.without_chat(w))
    product = s.products[w.pick(s.wishes).product]
    return Draft(
        goal=f"{person.name} wants to give me the {product.name} from Nimbus and asks what it "
        "costs at the moment. Answer that with a text.",
        params={"person": person.id, "product": product.id},
        checks=records.texted(
            w, person.phone, Money(product.price_cents), says=f"{person.name} knows the price"
        ),
        golden=(
            look(look_ups.get, product=product.id),
            call(messages.start, phone=person.phone, text=dollars(product.price_cents)),
        ),
    )


@pack.template("note_pickup_code", apps=("notes", "messages"))
def note_pickup_code(w: WorldView) -> Draft:
    """Note down the codes that belong to a parcel."""
    f = facts(w.cast)
    title = w.one_of("Parcel", "For the driver", "Nimbus delivery")
    body = f"Parcel {f.parcel_code}, pickup code {f.pickup_code}"
    parts = ((f.parcel_code, "parcel number"), (f.pickup_code, "code for the driver"))
    return Draft(
        goal=f'My flatmate will take my parcel in. Write a note "{title}" with the parcel number '
        "and the code that the driver wants to see.",
        params={"title": title},
        checks=tuple(
            added(
                "notes.notes",
                f"The note tells the {words}",
                title=Text(title),
                body=Text(part, mode="contains"),
            )
            for part, words in parts
        ),
        golden=(
            look(messages.get_thread, thread=records.chat_with(w, SHOP).id),
            call(notes.add, title=title, body=body),
        ),
    )
