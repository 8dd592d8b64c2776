"""The pages of the cart, the checkout, and orders."""

from __future__ import annotations

from screenloop.phone import kit as k
from screenloop.phone.apps.shop import actions as act
from screenloop.phone.apps.shop import seed, views
from screenloop.phone.apps.shop import state as st
from screenloop.phone.apps.shop.state import State, app, at

# ---- pages: cart and checkout ------------------------------------------------------------------


def _cart_line(s: State, ui: k.Ui, line: seed.Line) -> k.Card:
    p = s.products[line.product]

    words = ui.t(f"Quantity · {line.quantity}", f"数量 · {line.quantity}")
    change = k.Button(
        words, ui.set(line=line.id, quantity=line.quantity), kind="tonal", inset_px=12
    )
    label = (f"Remove {p.name}", f"移除{p.name}")
    bin_it = k.IconButton("trash", label, act.remove(line=line.id))
    return k.card(
        k.Row(
            p.name,
            f"{views.colour_words(ui, line.colour)} · {ui.money(p.price_cents)}",
            k.Thumb(p.kind, p.seed, size_px=56),
            trailing=ui.money(p.price_cents * line.quantity),
            do=at(f"/p/{p.id}"),
            swipe_left=act.remove(line=line.id),
        ),
        k.Line((change, bin_it), shares=(5, 1)),
    )


def _quantity_dialog(s: State, ui: k.Ui) -> k.Dialog | None:
    """Return the dialog that changes how many of a line are wanted, where one was touched."""
    line = s.cart.get(ui.get("line", ""))
    if line is None:
        return None
    p = s.products[line.product]
    quantity = ui.stepper("quantity", ("Quantity", "数量"), 1, low=1, high=max(1, min(20, p.stock)))
    closed = ui.set(line="")
    save = k.Both(first=act.set_quantity(line=line.id, quantity=quantity.value), then=closed)
    return k.Dialog.question(
        ("Change quantity", "修改数量"),
        ("Save", "保存"),
        save,
        closed,
        p.name,
        body=(quantity,),
        danger=False,
    )


@app.page("/cart")
def cart_page(s: State, ui: k.Ui) -> k.Page:
    """What is in the cart, the coupon, what it costs."""
    if not len(s.cart):
        empty = k.Empty("cart", ("Your cart is empty", "购物车是空的"))
        return k.Page(("Cart", "购物车"), (empty,), large=True, tabs=views.tabs(s, "cart"))
    body: list[k.Widget] = [_cart_line(s, ui, line) for line in s.cart]
    if s.coupon:
        body.append(
            k.Row(
                s.coupon,
                ui.t(*seed.COUPONS[s.coupon].words),
                k.Glyph("tag"),
                trailing=ui.t("Remove", "移除"),
                do=act.remove_coupon(),
            )
        )
    else:
        code = ui.field("code", ("Coupon code", "优惠码"))
        button = k.Button(
            ("Apply", "使用"),
            act.apply_coupon(code=code.value),
            kind="tonal",
            enabled=bool(code.value.strip()),
        )
        body.append(k.Line((code, button), shares=(2, 1)))
    sums = st.totals_of(s, "standard")
    body.append(views.sums_card(ui, sums, s.coupon))
    missing = seed.FREE_FROM_CENTS - st.items_cents(s)
    if missing > 0:
        words = ui.t(
            f"{ui.money(missing)} more for free delivery", f"再买{ui.money(missing)}免运费"
        )
        body.append(k.Banner("truck", words))
    words = ui.t(f"Checkout · {ui.money(sums.total)}", f"结算 · {ui.money(sums.total)}")
    sure = ui.question(
        ("Empty cart?", "清空购物车？"),
        ("Empty", "清空"),
        k.Both(first=act.clear(), then=ui.set(sure=False)),
        no=views.BACK,
    )
    return k.Page(
        ("Cart", "购物车"),
        body,
        large=True,
        tabs=views.tabs(s, "cart"),
        dialog=sure or _quantity_dialog(s, ui),
        actions=(k.IconButton("trash", ("Empty cart", "清空购物车"), ui.set(sure=True)),),
        footer=(k.Button(words, checkout_page()),),
    )


def _pieces(ui: k.Ui, quantity: int, cents: int, colour: str) -> str:
    return f"{quantity} x {ui.money(cents)} · {views.colour_words(ui, colour)}"


@app.page("/checkout")
def checkout_page(s: State, ui: k.Ui) -> k.Page:
    """Where to, how fast, and what it costs; placing the order leads to the wallet."""
    chosen = ui.get("address", s.default_address)
    rows: list[k.Widget] = [
        k.Row(
            a.label,
            views.address_line(a),
            k.Glyph("location"),
            trailing_icon="radio_checked" if a.id == chosen else "radio",
            do=ui.set(address=a.id),
        )
        for a in s.addresses
    ]
    rows.append(k.Row(("Add address", "添加地址"), lead=k.Glyph("plus"), do=at("/addresses/new")))
    speed = ui.chips("speed", views.SPEEDS, "standard")
    note = ui.field("note", ("Note for the courier", "给快递员的备注"))
    sums = st.totals_of(s, speed.value)
    words = ui.t(f"Place order · {ui.money(sums.total)}", f"提交订单 · {ui.money(sums.total)}")
    button = k.Button(
        words,
        act.place(address=chosen, speed=speed.value, note=note.value),
        enabled=len(s.cart) > 0,
    )
    items: list[k.Widget] = [
        k.Row(
            p.name,
            _pieces(ui, line.quantity, p.price_cents, line.colour),
            k.Thumb(p.kind, p.seed, size_px=44),
        )
        for line in s.cart
        for p in (s.products[line.product],)
    ]
    return k.Page(
        ("Checkout", "结算"),
        (
            k.Heading(("Deliver to", "收货地址")),
            k.Card(tuple(rows)),
            k.Heading(("Delivery", "配送")),
            speed,
            note,
            k.Heading(("Items", "商品")),
            k.Card(tuple(items)),
            views.sums_card(ui, sums, s.coupon),
        ),
        footer=(button,),
    )


# ---- pages: orders -----------------------------------------------------------------------------


def _thumb(s: State, item: seed.Item, size_px: int = 56) -> k.Thumb:
    p = s.products[item.product]
    return k.Thumb(p.kind, p.seed, size_px=size_px)


@app.page("/orders")
def orders_page(s: State, ui: k.Ui) -> k.Page:
    """The orders, the latest first."""
    groups: tuple[tuple[str, tuple[str, str]], ...] = (
        ("", ("All", "全部")),
        ("open", ("Open", "进行中")),
        ("done", ("Done", "已完成")),
    )
    which = ui.chips("which", groups, "")
    rows: list[k.Widget] = []
    for o in sorted(s.orders, key=lambda o: -o.placed_at):
        if which.value and (o.state in st.OPEN_STATES) != (which.value == "open"):
            continue
        names = ", ".join(i.name for i in o.items)
        about = k.Row(
            f"{o.number} · {ui.t(*views.STATES[o.state])}",
            names,
            _thumb(s, o.items[0]),
            trailing=ui.day(o.placed_at),
            do=order_page(order=o.id),
        )
        rows.append(k.card(about))
    if not rows:
        rows.append(k.Empty("truck", ("No orders", "没有订单")))
    return k.Page(("Orders", "订单"), (which, *rows), large=True, tabs=views.tabs(s, "orders"))


@app.page("/orders/{order}")
def order_page(s: State, ui: k.Ui, order: st.OrderId) -> k.Page:
    """One order, how far it has come, and what can be done about it."""
    o = s.orders[order]
    state = ui.t(*views.STATES[o.state])
    body: list[k.Widget] = []
    if o.state in views.REACHED:
        body.append(views.Way(steps=views.WAY, reached=views.REACHED[o.state]))
    reason = f" · {o.reason}" if o.reason else ""
    body.append(k.Paragraph(state + reason, size_px=20, bold=True, align="center"))
    placed = ui.t(f"Ordered {ui.day(o.placed_at)}", f"下单时间 {ui.day(o.placed_at)}")
    body.append(k.Paragraph(placed, muted=True, size_px=13, align="center"))
    if o.state == "unpaid":
        body.append(k.Button(("Pay now", "立即付款"), act.pay(order=order), icon="wallet"))
    body.append(k.Card(tuple(_item(s, ui, o, i) for i in o.items)))
    body.append(_address(s, ui, o))
    if o.note:
        body.append(k.Row(o.note, ("Note", "备注"), k.Glyph("note")))
    items = sum(i.price_cents * i.quantity for i in o.items)
    sums = seed.Totals(items=items, discount=o.discount_cents, delivery=o.delivery_cents)
    body.append(views.sums_card(ui, sums, o.coupon))
    body.append(k.Button(("Order again", "再次购买"), act.reorder(order=order), kind="tonal"))
    dialog = None
    if o.state in ("unpaid", "processing"):
        body.append(k.Button(("Cancel order", "取消订单"), ui.set(sure=True), kind="danger"))
        why = ui.chips("reason", views.CANCEL_REASONS, "Changed my mind")
        dialog = ui.question(
            ("Cancel order?", "取消订单？"),
            ("Cancel order", "取消订单"),
            act.cancel(order=order, reason=why.value),
            o.number,
            body=(why,),
            no=views.BACK,
        )
    elif o.state == "delivered":
        body.append(k.Button(("Return order", "退货"), ui.set(sure=True), kind="danger"))
        back = ui.chips("reason", views.RETURN_REASONS, "Does not fit")
        dialog = ui.question(
            ("Return order?", "申请退货？"),
            ("Return order", "退货"),
            act.give_back(order=order, reason=back.value),
            o.number,
            body=(back,),
            no=views.BACK,
        )
    return k.Page(o.number, body, subtitle=state, dialog=dialog)


def _item(s: State, ui: k.Ui, o: seed.Order, item: seed.Item) -> k.Row:
    reviewed = any(r.product == item.product for r in s.reviews)
    rates = o.state == "delivered" and not reviewed
    return k.Row(
        item.name,
        _pieces(ui, item.quantity, item.price_cents, item.colour),
        _thumb(s, item),
        trailing=ui.t("Review", "评价") if rates else "",
        trailing_icon="chevron_right",
        do=review_page(order=o.id, product=item.product) if rates else at(f"/p/{item.product}"),
    )


def _address(s: State, ui: k.Ui, o: seed.Order) -> k.Row:
    a = s.addresses.get(o.address)
    may_change = o.state in ("unpaid", "processing")
    return k.Row(
        a.label if a else ui.t("Deleted address", "已删除的地址"),
        views.address_line(a) if a else "-",
        k.Glyph("location"),
        trailing=ui.t("Change", "更改") if may_change else "",
        do=readdress_page(order=o.id) if may_change else None,
    )


@app.page("/orders/{order}/address")
def readdress_page(s: State, ui: k.Ui, order: st.OrderId) -> k.Page:
    """Choose another address for an order."""
    o = s.orders[order]
    rows = [
        k.Row(
            a.label,
            views.address_line(a),
            k.Glyph("location"),
            trailing_icon="radio_checked" if a.id == o.address else "radio",
            do=act.readdress(order=order, address=a.id),
        )
        for a in s.addresses
    ]
    return k.Page(("Deliver to", "收货地址"), rows, subtitle=o.number)


@app.page("/orders/{order}/review/{product}")
def review_page(s: State, ui: k.Ui, order: st.OrderId, product: seed.ProductId) -> k.Page:
    """Stars and words about something bought."""
    p = s.products[product]
    stars = ui.get("stars", 0)
    text = ui.field("text", ("What do you think of it?", "你觉得怎么样？"), lines=4)
    button = k.Button(
        ("Send review", "提交评价"),
        act.review(order=order, product=product, stars=max(1, stars), text=text.value),
        enabled=stars > 0,
    )
    return k.Page(
        ("Review", "评价"),
        (
            k.Row(p.name, p.brand, k.Thumb(p.kind, p.seed, size_px=56)),
            views.Stars(stars=stars, label="", local="stars"),
            text,
            button,
        ),
    )
