"""What can be done in the shop.

A placed order is unpaid until the wallet has paid it; then timers ship and deliver it.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.shop import seed, state
from screenloop.phone.apps.shop.seed import COUPONS, Address, LongText, Order, ProductId, ShortText
from screenloop.phone.apps.shop.state import MERCHANT, AddressId, LineId, OrderId, State, app, at
from screenloop.phone.apps.wallet.actions import refund, request_payment, void_payment
from screenloop.phone.apps.wallet.seed import Payment
from screenloop.phone.apps.wallet.state import State as Wallet

# ---- actions: cart and wishes -------------------------------------------------------------------


@app.action(
    "cart.add",
    tool=True,
    writes=["cart"],
    check=lambda before, after, a: (
        state.in_cart(after, a.product, a.colour)
        == state.in_cart(before, a.product, a.colour) + a.quantity
    ),
)
def add(
    s: State, ctx: k.Ctx, product: ProductId, colour: str = "", quantity: state.Quantity = 1
) -> None:
    """Put a product in the cart, in one of its colours."""
    state.put_in_cart(s, ctx, product, colour, quantity)
    ctx.toast(ctx.t("Added to cart", "已加入购物车"))


@app.action(
    "cart.set", tool=True, writes=["cart"], check=k.row_has("cart", "line", quantity="quantity")
)
def set_quantity(s: State, ctx: k.Ctx, line: LineId, quantity: state.Quantity) -> None:
    """Change how many of a cart line are wanted."""
    state.in_stock(ctx, s.products[s.cart[line].product], quantity)
    s.cart.update(line, quantity=quantity)


@app.action("cart.remove", tool=True, writes=["cart"], check=k.gone("cart", "line"))
def remove(s: State, ctx: k.Ctx, line: LineId) -> None:
    """Take a line out of the cart."""
    s.cart.remove(line)
    ctx.toast(ctx.t("Removed from cart", "已从购物车移除"))


@app.action(
    "cart.clear", tool=True, writes=["cart"], check=lambda before, after, a: len(after.cart) == 0
)
def clear(s: State, ctx: k.Ctx) -> None:
    """Empty the cart."""
    for line in list(s.cart):
        s.cart.remove(line.id)


@app.action(
    "coupon.apply",
    tool=True,
    writes=["coupon"],
    check=lambda before, after, a: after.coupon == a.code.strip().upper(),
)
def apply_coupon(
    s: State, ctx: k.Ctx, code: Annotated[str, msgspec.Meta(min_length=1, max_length=20)]
) -> None:
    """Use a coupon code for the cart."""
    wanted = code.strip().upper()
    coupon = COUPONS.get(wanted)
    if coupon is None:
        ctx.refuse(ctx.t(f"{wanted} is no valid code", f"{wanted}不是有效的优惠码"))
    elif state.items_cents(s) < coupon.from_cents:
        ctx.refuse(
            ctx.t(
                f"{wanted} needs items worth ${coupon.from_cents // 100}",
                f"{wanted}需满{coupon.from_cents // 100}美元",
            )
        )
    s.coupon = wanted
    ctx.toast(ctx.t("Coupon applied", "优惠码已使用"))


@app.action(
    "coupon.remove", tool=True, writes=["coupon"], check=lambda before, after, a: after.coupon == ""
)
def remove_coupon(s: State, ctx: k.Ctx) -> None:
    """Take the coupon off the cart."""
    s.coupon = ""


@app.action(
    "wishes.set",
    tool=True,
    writes=["wishes"],
    check=lambda before, after, a: a.on == any(w.product == a.product for w in after.wishes),
)
def wish(s: State, ctx: k.Ctx, product: ProductId, on: bool) -> None:
    """Put a product on the wish list, or take it off."""
    s.products[product]
    row = s.wishes.first(lambda w: w.product == product)
    if on and row is None:
        s.wishes.add(seed.Wish(product=product))
        ctx.toast(ctx.t("Saved to wishes", "已加入心愿单"))
    if not on and row is not None:
        s.wishes.remove(row.id)
        ctx.toast(ctx.t("Removed from wishes", "已移出心愿单"))


@app.action(
    "wishes.to_cart",
    tool=True,
    writes=["wishes", "cart"],
    check=lambda before, after, a: not any(w.product == a.product for w in after.wishes),
)
def wish_to_cart(s: State, ctx: k.Ctx, product: ProductId) -> None:
    """Move a product from the wish list to the cart, in its first colour."""
    row = s.wishes.first(lambda w: w.product == product)
    if row is None:
        ctx.refuse(ctx.t("It is not on the wish list", "不在心愿单中"))
        return
    state.put_in_cart(s, ctx, product, (*s.products[product].colours, "")[0], 1)
    s.wishes.remove(row.id)
    ctx.toast(ctx.t("Moved to cart", "已移到购物车"))


# ---- actions: addresses --------------------------------------------------------------------------


def _complete(ctx: k.Ctx, *parts: str) -> None:
    if not all(part.strip() for part in parts):
        ctx.refuse(ctx.t("An address needs all its parts", "请填写完整地址"))


@app.action("addresses.add", tool=True, writes=["addresses"], check=k.one_more("addresses"))
def add_address(
    s: State,
    ctx: k.Ctx,
    label: ShortText,
    name: ShortText,
    street: ShortText,
    city: ShortText,
    postcode: ShortText,
) -> None:
    """Save a new delivery address."""
    _complete(ctx, label, name, street, city, postcode)
    s.addresses.add(
        Address(
            label=label.strip(),
            name=name.strip(),
            street=street.strip(),
            city=city.strip(),
            postcode=postcode.strip(),
        )
    )
    ctx.toast(ctx.t("Address saved", "地址已保存"))
    ctx.move(k.Back())


@app.action(
    "addresses.edit",
    tool=True,
    writes=["addresses"],
    check=lambda before, after, a: after.addresses[a.address].street == a.street.strip(),
)
def edit_address(
    s: State,
    ctx: k.Ctx,
    address: AddressId,
    label: ShortText,
    name: ShortText,
    street: ShortText,
    city: ShortText,
    postcode: ShortText,
) -> None:
    """Change a delivery address."""
    _complete(ctx, label, name, street, city, postcode)
    s.addresses.update(
        address,
        label=label.strip(),
        name=name.strip(),
        street=street.strip(),
        city=city.strip(),
        postcode=postcode.strip(),
    )
    ctx.toast(ctx.t("Address saved", "地址已保存"))
    ctx.move(k.Back())


@app.action(
    "addresses.delete", tool=True, writes=["addresses"], check=k.gone("addresses", "address")
)
def delete_address(s: State, ctx: k.Ctx, address: AddressId) -> None:
    """Delete a delivery address that is not the default."""
    if address == s.default_address:
        ctx.refuse(ctx.t("Choose another default address first", "请先选择其他默认地址"))
    if any(o.address == address and o.state in ("unpaid", "processing") for o in s.orders):
        ctx.refuse(ctx.t("An open order goes to this address", "有未完成的订单使用该地址"))
    s.addresses.remove(address)
    ctx.move(k.Back())


@app.action(
    "addresses.default",
    tool=True,
    writes=["default_address"],
    check=k.value_is("default_address", "address"),
)
def make_default(s: State, ctx: k.Ctx, address: AddressId) -> None:
    """Make an address the default one."""
    s.addresses[address]
    s.default_address = address
    ctx.toast(ctx.t("Default address changed", "默认地址已更改"))


# ---- actions: orders -----------------------------------------------------------------------------


@app.action(
    "orders.place",
    tool="Order what is in the cart; then pay it in the wallet (wallet.payments.pay).",
    writes=["orders", "cart", "coupon"],
    check=lambda before, after, a: (
        len(after.orders) == len(before.orders) + 1 and len(after.cart) == 0
    ),
)
def place(
    s: State, ctx: k.Ctx, address: AddressId, speed: seed.Speed = "standard", note: LongText = ""
) -> None:
    """Turn the cart into an order and ask the wallet for its price."""
    state.online(ctx)
    s.addresses[address]
    if not len(s.cart):
        ctx.refuse(ctx.t("Your cart is empty", "购物车是空的"))
    items = []
    for line in s.cart:
        row = s.products[line.product]
        state.in_stock(ctx, row, line.quantity)
        items.append(
            seed.Item(
                product=row.id,
                name=row.name,
                colour=line.colour,
                quantity=line.quantity,
                price_cents=row.price_cents,
            )
        )
    sums = state.totals_of(s, speed)
    order = s.orders.add(
        Order(
            number=f"N-{1001 + len(s.orders)}",
            items=tuple(items),
            address=address,
            speed=speed,
            note=note.strip(),
            coupon=s.coupon,
            discount_cents=sums.discount,
            delivery_cents=sums.delivery,
            total_cents=sums.total,
            placed_at=ctx.now_s,
        )
    )
    for line in list(s.cart):
        s.cart.remove(line.id)
    s.coupon = ""
    ctx.move(at("/").at_root())
    ctx.move(at(f"/orders/{order.id}"))
    _ask_payment(ctx, order)


def _ask_payment(ctx: k.Ctx, order: Order) -> None:
    """Ask the wallet for an order's price, once, and go to its page."""

    def is_open(p: Payment) -> bool:
        return p.order == order.number and p.state == "open"

    if ctx.of(Wallet).payments.first(is_open) is None:
        ctx.call(
            request_payment(
                merchant=MERCHANT,
                amount_cents=order.total_cents,
                order=order.number,
                app="shop",
                action="orders.paid",
                args={"order": order.id},
                path=f"/orders/{order.id}",
            )
        )
    payment = ctx.of(Wallet).payments.first(is_open)
    if payment is not None:
        ctx.move(k.Go(app="wallet", path=f"/pay/{payment.id}"))


@app.action(
    "orders.pay",
    tool=True,
    writes=[],
    check=lambda before, after, a: after.orders[a.order].state == "unpaid",
)
def pay(s: State, ctx: k.Ctx, order: OrderId) -> None:
    """Ask the wallet again to pay an unpaid order."""
    state.online(ctx)
    _in_state(s, ctx, order, "unpaid")
    _ask_payment(ctx, s.orders[order])


def _in_state(s: State, ctx: k.Ctx, order: str, *states: seed.OrderState) -> Order:
    row = s.orders[order]
    if row.state not in states:
        ctx.refuse(
            ctx.t(f"Order {row.number} is {row.state}", f"订单{row.number}当前不可进行此操作")
        )
    return row


@app.action("orders.paid", writes=["orders"])
def paid(s: State, ctx: k.Ctx, order: OrderId, receipt: str) -> None:
    """The wallet has paid: pack the order."""
    row = _in_state(s, ctx, order, "unpaid")
    s.orders.update(order, state="processing", receipt=receipt)
    ctx.after(state.SHIPPED_AFTER_S[row.speed], ship(order=order))


@app.action("orders.ship", writes=["orders"])
def ship(s: State, ctx: k.Ctx, order: OrderId) -> None:
    """The order leaves, unless it was cancelled."""
    row = s.orders[order]
    if row.state != "processing":
        return
    s.orders.update(order, state="shipped")
    _tell(s, ctx, row, ("is on its way", "已发货"))
    ctx.after(state.DELIVERED_AFTER_S[row.speed], deliver(order=order))


@app.action("orders.deliver", writes=["orders"])
def deliver(s: State, ctx: k.Ctx, order: OrderId) -> None:
    """The order arrives."""
    if s.orders[order].state == "shipped":
        row = s.orders.update(order, state="delivered")
        _tell(s, ctx, row, ("was delivered", "已送达"))


def _tell(s: State, ctx: k.Ctx, order: Order, words: tuple[str, str]) -> None:
    if s.order_updates:
        text = ctx.t(f"Order {order.number} {words[0]}", f"订单{order.number}{words[1]}")
        ctx.notify(MERCHANT, text, at(f"/orders/{order.id}"))


@app.action(
    "orders.cancel",
    tool=True,
    writes=["orders"],
    check=lambda before, after, a: after.orders[a.order].state == "cancelled",
)
def cancel(s: State, ctx: k.Ctx, order: OrderId, reason: state.CancelReason) -> None:
    """Cancel an order that has not been shipped; a paid one is refunded."""
    row = _in_state(s, ctx, order, "unpaid", "processing")
    s.orders.update(order, state="cancelled", reason=reason)
    if row.state == "unpaid":
        ctx.call(void_payment(order=row.number))
    else:
        _refund(ctx, row)
    ctx.toast(ctx.t("Order cancelled", "订单已取消"))
    ctx.move(k.Back())


@app.action(
    "orders.return",
    tool=True,
    writes=["orders"],
    check=lambda before, after, a: after.orders[a.order].state == "returned",
)
def give_back(s: State, ctx: k.Ctx, order: OrderId, reason: state.ReturnReason) -> None:
    """Send a delivered order back; it is refunded."""
    row = _in_state(s, ctx, order, "delivered")
    s.orders.update(order, state="returned", reason=reason)
    _refund(ctx, row)
    ctx.toast(ctx.t("Return accepted", "退货已受理"))
    ctx.move(k.Back())


def _refund(ctx: k.Ctx, order: Order) -> None:
    ctx.call(refund(merchant=MERCHANT, amount_cents=order.total_cents, order=order.number))


@app.action(
    "orders.readdress",
    tool=True,
    writes=["orders"],
    check=k.row_has("orders", "order", address="address"),
)
def readdress(s: State, ctx: k.Ctx, order: OrderId, address: AddressId) -> None:
    """Send an order that has not been shipped to another address."""
    _in_state(s, ctx, order, "unpaid", "processing")
    s.addresses[address]
    s.orders.update(order, address=address)
    ctx.toast(ctx.t("Delivery address changed", "收货地址已更改"))
    ctx.move(k.Back())


@app.action(
    "orders.reorder",
    tool=True,
    writes=["cart"],
    check=lambda before, after, a: len(after.cart) >= len(before.cart),
)
def reorder(s: State, ctx: k.Ctx, order: OrderId) -> None:
    """Put the items of an order into the cart again."""
    for item in s.orders[order].items:
        state.put_in_cart(s, ctx, item.product, item.colour, item.quantity)
    ctx.toast(ctx.t("Items are in the cart", "商品已加入购物车"))
    ctx.move(at("/cart").at_root())


@app.action("reviews.add", tool=True, writes=["reviews"], check=k.one_more("reviews"))
def review(
    s: State,
    ctx: k.Ctx,
    order: OrderId,
    product: ProductId,
    stars: state.StarCount,
    text: LongText = "",
) -> None:
    """Write a review of a product from a delivered order."""
    row = _in_state(s, ctx, order, "delivered")
    if product not in (i.product for i in row.items):
        ctx.refuse(ctx.t("This order has no such product", "该订单没有此商品"))
    if s.reviews.first(lambda r: r.product == product) is not None:
        ctx.refuse(ctx.t("You have reviewed this product", "你已评价过此商品"))
    s.reviews.add(
        seed.Review(product=product, order=order, stars=stars, text=text.strip(), at_s=ctx.now_s)
    )
    ctx.toast(ctx.t("Thank you for your review", "感谢你的评价"))
    ctx.move(k.Back())


@app.action(
    "updates.set", tool=True, writes=["order_updates"], check=k.value_is("order_updates", "on")
)
def set_updates(s: State, ctx: k.Ctx, on: bool) -> None:
    """Turn notifications about orders on or off."""
    s.order_updates = on
