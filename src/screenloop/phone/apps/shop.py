"""Nimbus, a shop: what it keeps and what can be done; its pages are in `shop_pages`.

A placed order is unpaid until the wallet has paid it; then timers ship and deliver it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from screenloop.phone.app import App
from screenloop.phone.apps import wallet
from screenloop.phone.apps.shop_seed import (
    COUPONS,
    Address,
    Category,
    Item,
    Line,
    LongText,
    Opinion,
    Order,
    OrderState,
    Product,
    ProductId,
    Review,
    ShortText,
    Speed,
    Totals,
    Wish,
    seed_addresses,
    seed_cart,
    seed_opinions,
    seed_orders,
    seed_products,
    seed_wishes,
    totals,
)
from screenloop.phone.apps.wallet_seed import Payment
from screenloop.phone.ctx import Ctx
from screenloop.phone.do import Back, Go
from screenloop.phone.state import AppState, Catalog, Refers, Table
from screenloop.phone.system import SystemState

LineId = Annotated[str, Refers("shop.cart")]
OrderId = Annotated[str, Refers("shop.orders")]
AddressId = Annotated[str, Refers("shop.addresses")]
Quantity = Annotated[int, msgspec.Meta(ge=1, le=20)]
Stars = Annotated[int, msgspec.Meta(ge=1, le=5)]
Sort = Literal["featured", "price_up", "price_down", "rating"]
CancelReason = Literal["Changed my mind", "Found it cheaper", "Ordered by mistake"]
ReturnReason = Literal["Does not fit", "Damaged", "Not as described", "No longer needed"]
SHIPPED_AFTER_S: dict[Speed, int] = {"express": 60, "standard": 600}
DELIVERED_AFTER_S: dict[Speed, int] = {"express": 1800, "standard": 86_400}
MERCHANT = "Nimbus"


class State(AppState):
    """The catalogue, the cart, and what was ordered."""

    products = Catalog(Product, prefix="product", seed=seed_products)
    opinions = Catalog(Opinion, prefix="opinion", seed=seed_opinions)
    cart = Table(Line, prefix="line", seed=seed_cart)
    orders = Table(Order, prefix="order", seed=seed_orders)
    addresses = Table(Address, prefix="address", seed=seed_addresses)
    wishes = Table(Wish, prefix="wish", seed=seed_wishes)
    reviews = Table(Review, prefix="review")
    coupon: str = ""
    default_address: str = "address1"
    order_updates: bool = True


app = App("shop", State, title=("Nimbus", "云上商店"), icon="bag", tint="#d9480f")


# ---- rules -----------------------------------------------------------------------------------


def _at(path: str) -> Go:
    return Go(app="shop", path=path)


def _online(ctx: Ctx) -> None:
    if not ctx.of(SystemState).online:
        ctx.refuse(ctx.t("You are offline", "当前没有网络"))


def items_cents(s: State) -> int:
    """Return what the cart's lines cost."""
    return sum(s.products[line.product].price_cents * line.quantity for line in s.cart)


def totals_of(s: State, speed: Speed) -> Totals:
    """Return what the cart costs with delivery and the coupon."""
    return totals(items_cents(s), speed, s.coupon)


def found(
    s: State, text: str = "", category: str = "", sort: Sort = "featured", *,
    max_cents: int = 0, on_sale: bool = False, in_stock: bool = False,
) -> list[Product]:  # fmt: skip
    """Return the products that fit, in order; empty arguments fit all."""
    words = text.casefold().split()
    rows = s.products.where(
        lambda p: (
            category in ("", p.category)
            and all(w in f"{p.name} {p.brand} {p.kind} {p.category}".casefold() for w in words)
            and (not max_cents or p.price_cents <= max_cents)
            and (not on_sale or p.was_cents > 0)
            and (not in_stock or p.stock > 0)
        )
    )
    if sort == "price_up":
        rows.sort(key=lambda p: p.price_cents)
    elif sort == "price_down":
        rows.sort(key=lambda p: -p.price_cents)
    elif sort == "rating":
        rows.sort(key=lambda p: (-p.rating, -p.ratings))
    return rows


def _put_in_cart(s: State, ctx: Ctx, product: str, colour: str, quantity: int) -> None:
    """Add to the line of the same product and colour, or make one."""
    row = s.products[product]
    if colour not in (row.colours or ("",)):
        offered = ", ".join(row.colours) or ctx.t("one colour only", "仅一种颜色")
        ctx.refuse(ctx.t(f"{row.name} is offered in: {offered}", f"{row.name}可选颜色：{offered}"))
    same = s.cart.first(lambda x: x.product == product and x.colour == colour)
    wanted = quantity + (same.quantity if same else 0)
    _in_stock(ctx, row, wanted)
    if same is not None:
        s.cart.update(same.id, quantity=wanted)
    else:
        s.cart.add(Line(product=product, colour=colour, quantity=quantity))


def _in_stock(ctx: Ctx, product: Product, quantity: int) -> None:
    if product.stock == 0:
        ctx.refuse(ctx.t(f"{product.name} is out of stock", f"{product.name}已售罄"))
    if quantity > product.stock:
        ctx.refuse(
            ctx.t(f"Only {product.stock} of {product.name} left",
                  f"{product.name}仅剩{product.stock}件")
        )  # fmt: skip


def in_cart(s: State, product: str, colour: str) -> int:
    """Return how many of a product in a colour are in the cart."""
    return sum(x.quantity for x in s.cart if x.product == product and x.colour == colour)


# ---- actions: cart and wishes -------------------------------------------------------------------


@app.action(
    "cart.add", tool="Put a product in the cart, in one of its colours.", writes=["cart"],
    check=lambda before, after, a: in_cart(after, a.product, a.colour)
    == in_cart(before, a.product, a.colour) + a.quantity,
)  # fmt: skip
def add(s: State, ctx: Ctx, product: ProductId, colour: str = "", quantity: Quantity = 1) -> None:
    """Put a product in the cart."""
    _put_in_cart(s, ctx, product, colour, quantity)
    ctx.toast(ctx.t("Added to cart", "已加入购物车"))


@app.action(
    "cart.set", tool="Change how many of a cart line are wanted.", writes=["cart"],
    check=lambda before, after, a: after.cart[a.line].quantity == a.quantity,
)  # fmt: skip
def set_quantity(s: State, ctx: Ctx, line: LineId, quantity: Quantity) -> None:
    """Change how many of a cart line are wanted."""
    _in_stock(ctx, s.products[s.cart[line].product], quantity)
    s.cart.update(line, quantity=quantity)


@app.action(
    "cart.remove", tool="Take a line out of the cart.", writes=["cart"],
    check=lambda before, after, a: a.line not in after.cart,
)  # fmt: skip
def remove(s: State, ctx: Ctx, line: LineId) -> None:
    """Take a line out of the cart."""
    s.cart.remove(line)
    ctx.toast(ctx.t("Removed from cart", "已从购物车移除"))


@app.action(
    "cart.clear", tool="Empty the cart.", writes=["cart"],
    check=lambda before, after, a: len(after.cart) == 0,
)  # fmt: skip
def clear(s: State, ctx: Ctx) -> None:
    """Empty the cart."""
    for line in list(s.cart):
        s.cart.remove(line.id)


@app.action(
    "coupon.apply", tool="Use a coupon code for the cart.", writes=["coupon"],
    check=lambda before, after, a: after.coupon == a.code.strip().upper(),
)  # fmt: skip
def apply_coupon(
    s: State, ctx: Ctx, code: Annotated[str, msgspec.Meta(min_length=1, max_length=20)]
) -> None:
    """Use a coupon code."""
    wanted = code.strip().upper()
    coupon = COUPONS.get(wanted)
    if coupon is None:
        ctx.refuse(ctx.t(f"{wanted} is no valid code", f"{wanted}不是有效的优惠码"))
    elif items_cents(s) < coupon.from_cents:
        ctx.refuse(
            ctx.t(f"{wanted} needs items worth ${coupon.from_cents // 100}",
                  f"{wanted}需满{coupon.from_cents // 100}美元")
        )  # fmt: skip
    s.coupon = wanted
    ctx.toast(ctx.t("Coupon applied", "优惠码已使用"))


@app.action(
    "coupon.remove", tool="Take the coupon off the cart.", writes=["coupon"],
    check=lambda before, after, a: after.coupon == "",
)  # fmt: skip
def remove_coupon(s: State, ctx: Ctx) -> None:
    """Take the coupon off."""
    s.coupon = ""


@app.action(
    "wishes.set", tool="Put a product on the wish list, or take it off.", writes=["wishes"],
    check=lambda before, after, a: a.on == any(w.product == a.product for w in after.wishes),
)  # fmt: skip
def wish(s: State, ctx: Ctx, product: ProductId, on: bool) -> None:
    """Put a product on the wish list, or take it off."""
    s.products[product]
    row = s.wishes.first(lambda w: w.product == product)
    if on and row is None:
        s.wishes.add(Wish(product=product))
        ctx.toast(ctx.t("Saved to wishes", "已加入心愿单"))
    if not on and row is not None:
        s.wishes.remove(row.id)
        ctx.toast(ctx.t("Removed from wishes", "已移出心愿单"))


@app.action(
    "wishes.to_cart", tool="Move a product from the wish list to the cart, in its first colour.",
    writes=["wishes", "cart"],
    check=lambda before, after, a: not any(w.product == a.product for w in after.wishes),
)  # fmt: skip
def wish_to_cart(s: State, ctx: Ctx, product: ProductId) -> None:
    """Move a product from the wish list to the cart."""
    row = s.wishes.first(lambda w: w.product == product)
    if row is None:
        ctx.refuse(ctx.t("It is not on the wish list", "不在心愿单中"))
        return
    _put_in_cart(s, ctx, product, (*s.products[product].colours, "")[0], 1)
    s.wishes.remove(row.id)
    ctx.toast(ctx.t("Moved to cart", "已移到购物车"))


# ---- actions: addresses --------------------------------------------------------------------------


@app.action(
    "addresses.add", tool="Save a new delivery address.", writes=["addresses"],
    check=lambda before, after, a: len(after.addresses) == len(before.addresses) + 1,
)  # fmt: skip
def add_address(
    s: State, ctx: Ctx, label: ShortText, name: ShortText, street: ShortText, city: ShortText,
    postcode: ShortText,
) -> None:  # fmt: skip
    """Save a new delivery address."""
    s.addresses.add(
        Address(label=label.strip(), name=name.strip(), street=street.strip(), city=city.strip(),
                postcode=postcode.strip())
    )  # fmt: skip
    ctx.toast(ctx.t("Address saved", "地址已保存"))
    ctx.move(Back())


@app.action(
    "addresses.edit", tool="Change a delivery address.", writes=["addresses"],
    check=lambda before, after, a: after.addresses[a.address].street == a.street.strip(),
)  # fmt: skip
def edit_address(
    s: State, ctx: Ctx, address: AddressId, label: ShortText, name: ShortText, street: ShortText,
    city: ShortText, postcode: ShortText,
) -> None:  # fmt: skip
    """Change a delivery address."""
    s.addresses.update(
        address, label=label.strip(), name=name.strip(), street=street.strip(), city=city.strip(),
        postcode=postcode.strip(),
    )  # fmt: skip
    ctx.toast(ctx.t("Address saved", "地址已保存"))
    ctx.move(Back())


@app.action(
    "addresses.delete", tool="Delete a delivery address that is not the default.",
    writes=["addresses"], check=lambda before, after, a: a.address not in after.addresses,
)  # fmt: skip
def delete_address(s: State, ctx: Ctx, address: AddressId) -> None:
    """Delete a delivery address."""
    if address == s.default_address:
        ctx.refuse(ctx.t("Choose another default address first", "请先选择其他默认地址"))
    if any(o.address == address and o.state in ("unpaid", "processing") for o in s.orders):
        ctx.refuse(ctx.t("An open order goes to this address", "有未完成的订单使用该地址"))
    s.addresses.remove(address)
    ctx.move(Back())


@app.action(
    "addresses.default", tool="Make an address the default one.", writes=["default_address"],
    check=lambda before, after, a: after.default_address == a.address,
)  # fmt: skip
def make_default(s: State, ctx: Ctx, address: AddressId) -> None:
    """Make an address the default one."""
    s.addresses[address]
    s.default_address = address
    ctx.toast(ctx.t("Default address changed", "默认地址已更改"))


# ---- actions: orders -----------------------------------------------------------------------------


@app.action(
    "orders.place",
    tool="Order what is in the cart; then pay it in the wallet (wallet.payments.pay).",
    writes=["orders", "cart", "coupon"],
    check=lambda before, after, a: len(after.orders) == len(before.orders) + 1
    and len(after.cart) == 0,
)  # fmt: skip
def place(
    s: State, ctx: Ctx, address: AddressId, speed: Speed = "standard", note: LongText = ""
) -> None:
    """Turn the cart into an order and ask the wallet for its price."""
    _online(ctx)
    s.addresses[address]
    if not len(s.cart):
        ctx.refuse(ctx.t("Your cart is empty", "购物车是空的"))
    items = []
    for line in s.cart:
        row = s.products[line.product]
        _in_stock(ctx, row, line.quantity)
        items.append(
            Item(product=row.id, name=row.name, colour=line.colour, quantity=line.quantity,
                 price_cents=row.price_cents)
        )  # fmt: skip
    sums = totals_of(s, speed)
    order = s.orders.add(
        Order(
            number=f"N-{1001 + len(s.orders)}", items=tuple(items), address=address, speed=speed,
            note=note.strip(), coupon=s.coupon, discount_cents=sums.discount,
            delivery_cents=sums.delivery, total_cents=sums.total, placed_at=ctx.now_s,
        )
    )  # fmt: skip
    for line in list(s.cart):
        s.cart.remove(line.id)
    s.coupon = ""
    ctx.move(_at("/").at_root())
    ctx.move(_at(f"/orders/{order.id}"))
    _ask_payment(ctx, order)


def _ask_payment(ctx: Ctx, order: Order) -> None:
    """Ask the wallet for an order's price, once, and go to its page."""

    def is_open(p: Payment) -> bool:
        return p.order == order.number and p.state == "open"

    if ctx.of(wallet.State).payments.first(is_open) is None:
        ctx.call(
            wallet.request_payment(
                merchant=MERCHANT, amount_cents=order.total_cents, order=order.number, app="shop",
                action="orders.paid", args={"order": order.id}, path=f"/orders/{order.id}",
            )
        )  # fmt: skip
    payment = ctx.of(wallet.State).payments.first(is_open)
    if payment is not None:
        ctx.move(Go(app="wallet", path=f"/pay/{payment.id}"))


@app.action(
    "orders.pay", tool="Ask the wallet again to pay an unpaid order.", writes=[],
    check=lambda before, after, a: after.orders[a.order].state == "unpaid",
)  # fmt: skip
def pay(s: State, ctx: Ctx, order: OrderId) -> None:
    """Ask the wallet again to pay an unpaid order."""
    _online(ctx)
    _in_state(s, ctx, order, "unpaid")
    _ask_payment(ctx, s.orders[order])


def _in_state(s: State, ctx: Ctx, order: str, *states: OrderState) -> Order:
    row = s.orders[order]
    if row.state not in states:
        ctx.refuse(
            ctx.t(f"Order {row.number} is {row.state}", f"订单{row.number}当前不可进行此操作")
        )
    return row


@app.action("orders.paid", writes=["orders"])
def paid(s: State, ctx: Ctx, order: OrderId, receipt: str) -> None:
    """The wallet has paid: pack the order."""
    row = _in_state(s, ctx, order, "unpaid")
    s.orders.update(order, state="processing", receipt=receipt)
    ctx.after(SHIPPED_AFTER_S[row.speed], ship(order=order))


@app.action("orders.ship", writes=["orders"])
def ship(s: State, ctx: Ctx, order: OrderId) -> None:
    """The order leaves, unless it was cancelled."""
    row = s.orders[order]
    if row.state != "processing":
        return
    s.orders.update(order, state="shipped")
    _tell(s, ctx, row, ("is on its way", "已发货"))
    ctx.after(DELIVERED_AFTER_S[row.speed], deliver(order=order))


@app.action("orders.deliver", writes=["orders"])
def deliver(s: State, ctx: Ctx, order: OrderId) -> None:
    """The order arrives."""
    if s.orders[order].state == "shipped":
        row = s.orders.update(order, state="delivered")
        _tell(s, ctx, row, ("was delivered", "已送达"))


def _tell(s: State, ctx: Ctx, order: Order, words: tuple[str, str]) -> None:
    if s.order_updates:
        text = ctx.t(f"Order {order.number} {words[0]}", f"订单{order.number}{words[1]}")
        ctx.notify(MERCHANT, text, _at(f"/orders/{order.id}"))


@app.action(
    "orders.cancel", tool="Cancel an order that has not been shipped; a paid one is refunded.",
    writes=["orders"], check=lambda before, after, a: after.orders[a.order].state == "cancelled",
)  # fmt: skip
def cancel(s: State, ctx: Ctx, order: OrderId, reason: CancelReason) -> None:
    """Cancel an order."""
    row = _in_state(s, ctx, order, "unpaid", "processing")
    s.orders.update(order, state="cancelled", reason=reason)
    if row.state == "unpaid":
        ctx.call(wallet.void_payment(order=row.number))
    else:
        _refund(ctx, row)
    ctx.toast(ctx.t("Order cancelled", "订单已取消"))
    ctx.move(Back())


@app.action(
    "orders.return", tool="Send a delivered order back; it is refunded.", writes=["orders"],
    check=lambda before, after, a: after.orders[a.order].state == "returned",
)  # fmt: skip
def give_back(s: State, ctx: Ctx, order: OrderId, reason: ReturnReason) -> None:
    """Send a delivered order back."""
    row = _in_state(s, ctx, order, "delivered")
    s.orders.update(order, state="returned", reason=reason)
    _refund(ctx, row)
    ctx.toast(ctx.t("Return accepted", "退货已受理"))
    ctx.move(Back())


def _refund(ctx: Ctx, order: Order) -> None:
    ctx.call(wallet.refund(merchant=MERCHANT, amount_cents=order.total_cents, order=order.number))


@app.action(
    "orders.readdress", tool="Send an order that has not been shipped to another address.",
    writes=["orders"], check=lambda before, after, a: after.orders[a.order].address == a.address,
)  # fmt: skip
def readdress(s: State, ctx: Ctx, order: OrderId, address: AddressId) -> None:
    """Send an order to another address."""
    _in_state(s, ctx, order, "unpaid", "processing")
    s.addresses[address]
    s.orders.update(order, address=address)
    ctx.toast(ctx.t("Delivery address changed", "收货地址已更改"))
    ctx.move(Back())


@app.action(
    "orders.reorder", tool="Put the items of an order into the cart again.", writes=["cart"],
    check=lambda before, after, a: len(after.cart) >= len(before.cart),
)  # fmt: skip
def reorder(s: State, ctx: Ctx, order: OrderId) -> None:
    """Put the items of an order into the cart again."""
    for item in s.orders[order].items:
        _put_in_cart(s, ctx, item.product, item.colour, item.quantity)
    ctx.toast(ctx.t("Items are in the cart", "商品已加入购物车"))
    ctx.move(_at("/cart").at_root())


@app.action(
    "reviews.add", tool="Write a review of a product from a delivered order.", writes=["reviews"],
    check=lambda before, after, a: len(after.reviews) == len(before.reviews) + 1,
)  # fmt: skip
def review(
    s: State, ctx: Ctx, order: OrderId, product: ProductId, stars: Stars, text: LongText = ""
) -> None:
    """Write a review."""
    row = _in_state(s, ctx, order, "delivered")
    if product not in (i.product for i in row.items):
        ctx.refuse(ctx.t("This order has no such product", "该订单没有此商品"))
    if s.reviews.first(lambda r: r.product == product) is not None:
        ctx.refuse(ctx.t("You have reviewed this product", "你已评价过此商品"))
    s.reviews.add(
        Review(product=product, order=order, stars=stars, text=text.strip(), at_s=ctx.now_s)
    )
    ctx.toast(ctx.t("Thank you for your review", "感谢你的评价"))
    ctx.move(Back())


@app.action(
    "updates.set", tool="Turn notifications about orders on or off.", writes=["order_updates"],
    check=lambda before, after, a: after.order_updates == a.on,
)  # fmt: skip
def set_updates(s: State, ctx: Ctx, on: bool) -> None:
    """Turn notifications about orders on or off."""
    s.order_updates = on


# ---- queries -------------------------------------------------------------------------------------


@app.query(
    "products.search",
    tool="Find products by words, category and price; sorts by price or rating.",
)
def search(
    s: State, ctx: Ctx, text: str = "", category: Category | None = None, sort: Sort = "featured",
    max_price_cents: int = 0, on_sale: bool = False, in_stock: bool = False, limit: int = 20,
) -> list[dict[str, object]]:  # fmt: skip
    """Return the products that fit, shortened."""
    rows = found(s, text, category or "", sort, max_cents=max_price_cents, on_sale=on_sale,
                 in_stock=in_stock)  # fmt: skip
    fields = ("id", "name", "brand", "category", "price_cents", "was_cents", "rating", "stock")
    return [{f: getattr(p, f) for f in fields} for p in rows[: max(0, limit)]]


@app.query("products.get", tool="Read one product with its colours.")
def get(s: State, ctx: Ctx, product: ProductId) -> Product:
    """Return one product."""
    return s.products[product]


@app.query("products.reviews", tool="Read the reviews of a product.")
def opinions(s: State, ctx: Ctx, product: ProductId) -> list[Opinion]:
    """Return what other buyers wrote."""
    return s.opinions.where(lambda o: o.product == product)


@app.query("cart.get", tool="Read the cart and what it costs with each delivery speed, in cents.")
def get_cart(s: State, ctx: Ctx) -> dict[str, object]:
    """Return the cart."""
    lines = [
        {"id": x.id, "product": x.product, "name": s.products[x.product].name, "colour": x.colour,
         "quantity": x.quantity, "price_cents": s.products[x.product].price_cents}
        for x in s.cart
    ]  # fmt: skip
    return {
        "lines": lines, "coupon": s.coupon, "standard_cents": totals_of(s, "standard").total,
        "express_cents": totals_of(s, "express").total,
    }  # fmt: skip


@app.query("orders.list", tool="List the orders, the latest first.")
def list_orders(s: State, ctx: Ctx, state: OrderState | None = None) -> list[Order]:
    """Return the orders."""
    rows = s.orders.where(lambda o: state in (None, o.state))
    return sorted(rows, key=lambda o: -o.placed_at)


@app.query("orders.get", tool="Read one order.")
def get_order(s: State, ctx: Ctx, order: OrderId) -> Order:
    """Return one order."""
    return s.orders[order]


@app.query("addresses.list", tool="List the delivery addresses.")
def list_addresses(s: State, ctx: Ctx) -> list[dict[str, object]]:
    """Return the addresses and which is the default."""
    return [
        {**msgspec.structs.asdict(a), "default": a.id == s.default_address} for a in s.addresses
    ]


@app.query("wishes.list", tool="List the products on the wish list.")
def list_wishes(s: State, ctx: Ctx) -> list[dict[str, object]]:
    """Return the wishes."""
    return [{"product": w.product, "name": s.products[w.product].name} for w in s.wishes]
