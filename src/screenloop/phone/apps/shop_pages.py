"""The pages of the shop, and walks through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from screenloop.phone.apps.shop import (
    AddressId,
    CancelReason,
    OrderId,
    ReturnReason,
    Sort,
    State,
    add,
    add_address,
    app,
    apply_coupon,
    cancel,
    clear,
    delete_address,
    edit_address,
    found,
    give_back,
    items_cents,
    make_default,
    pay,
    place,
    readdress,
    remove,
    remove_coupon,
    reorder,
    review,
    set_quantity,
    set_updates,
    totals_of,
    wish,
    wish_to_cart,
)
from screenloop.phone.apps.shop_seed import (
    CATEGORIES,
    COLOURS,
    COUPONS,
    FREE_FROM_CENTS,
    Address,
    Item,
    Line,
    Order,
    OrderState,
    Product,
    ProductId,
    Speed,
    Totals,
)
from screenloop.phone.apps.shop_views import CategoryDot, Hero, Price, Stars, SumLine, Way
from screenloop.phone.apps.wallet import pay as wallet_pay
from screenloop.phone.canvas import Words
from screenloop.phone.do import Both, Copy, Do, Go, Share
from screenloop.phone.flows import enter, press, tap, wait
from screenloop.phone.inputs import Stepper
from screenloop.phone.page import Dialog, DialogButton, Fab, Page, Tab
from screenloop.phone.ui import Ui
from screenloop.phone.widgets import (
    Banner,
    Button,
    Card,
    Empty,
    Glyph,
    Grid,
    Heading,
    IconButton,
    Picture,
    Row,
    Text,
    Thumb,
    Tile,
    Widget,
)
from screenloop.phone.widgets import Line as SideBySide

TINT = "#d9480f"
STATES: dict[OrderState, tuple[str, str]] = {
    "unpaid": ("Waiting for payment", "待付款"), "processing": ("Being packed", "备货中"),
    "shipped": ("On its way", "运输中"), "delivered": ("Delivered", "已送达"),
    "cancelled": ("Cancelled", "已取消"), "returned": ("Returned", "已退货"),
}  # fmt: skip
REACHED: dict[OrderState, int] = {"unpaid": 0, "processing": 1, "shipped": 2, "delivered": 3}
WAY: tuple[Words, ...] = (("Packed", "备货"), ("Shipped", "发货"), ("Delivered", "送达"))
SPEEDS: tuple[tuple[Speed, tuple[str, str]], ...] = (
    ("standard", ("Standard, tomorrow", "标准，明天送达")),
    ("express", ("Express, within the hour", "快速，一小时内")),
)
SORTS: tuple[tuple[Sort, tuple[str, str]], ...] = (
    ("featured", ("Featured", "推荐")), ("price_up", ("Price: low first", "价格从低到高")),
    ("price_down", ("Price: high first", "价格从高到低")), ("rating", ("Best rated", "评分最高")),
)  # fmt: skip
CANCEL_REASONS: tuple[tuple[CancelReason, tuple[str, str]], ...] = (
    ("Changed my mind", ("Changed my mind", "不想要了")),
    ("Found it cheaper", ("Found it cheaper", "找到更便宜的")),
    ("Ordered by mistake", ("Ordered by mistake", "误下单")),
)
RETURN_REASONS: tuple[tuple[ReturnReason, tuple[str, str]], ...] = (
    ("Does not fit", ("Does not fit", "尺寸不合适")), ("Damaged", ("Damaged", "商品损坏")),
    ("Not as described", ("Not as described", "与描述不符")),
    ("No longer needed", ("No longer needed", "不再需要")),
)  # fmt: skip


# ---- parts of pages ------------------------------------------------------------------------------


def _tabs(s: State, shown: str) -> tuple[Tab, ...]:
    entries: tuple[tuple[str, str, tuple[str, str], Go], ...] = (
        ("home", "store", ("Shop", "商店"), home_page()),
        ("wishes", "heart", ("Wishes", "心愿单"), wishes_page()),
        ("cart", "cart", ("Cart", "购物车"), cart_page()),
        ("orders", "truck", ("Orders", "订单"), orders_page()),
        ("account", "user", ("Account", "账户"), account_page()),
    )
    count = sum(line.quantity for line in s.cart)
    return tuple(
        Tab(icon=icon, words=words, selected=name == shown, do=to.at_root(),
            badge=count if name == "cart" else 0)
        for name, icon, words, to in entries
    )  # fmt: skip


def _tile(ui: Ui, p: Product) -> Tile:
    note = f"{p.rating / 10:.1f} / 5"
    if p.was_cents:
        note += ui.t(f" · was {ui.money(p.was_cents)}", f" · 原价{ui.money(p.was_cents)}")
    if not p.stock:
        note = ui.t("Out of stock", "已售罄")
    return Tile(
        kind=p.kind, seed=p.seed, title=p.name, subtitle=ui.money(p.price_cents), note=note,
        do=product_page(product=p.id),
    )  # fmt: skip


def _tiles(ui: Ui, products: Sequence[Product]) -> Grid:
    return Grid(children=tuple(_tile(ui, p) for p in products), columns=2, gap_px=12)


def _colour(ui: Ui, colour: str) -> str:
    return ui.t(*COLOURS[colour]) if colour else ui.t("One colour", "单色")


def _sums(ui: Ui, sums: Totals, coupon: str) -> Card:
    rows: list[Widget] = [SumLine(words=("Items", "商品"), amount=ui.money(sums.items))]
    if coupon:
        words = ui.t(f"Coupon {coupon}", f"优惠码 {coupon}")
        rows.append(SumLine(words=words, amount=ui.money(-sums.discount)))
    free = ui.t("Free", "免费")
    shown = ui.money(sums.delivery) if sums.delivery else free
    rows.append(SumLine(words=("Delivery", "运费"), amount=shown))
    rows.append(SumLine(words=("Total", "合计"), amount=ui.money(sums.total), bold=True))
    return Card(children=tuple(rows))


def _dialog(
    ui: Ui, title: tuple[str, str], text: str, yes: tuple[str, str], do: Do,
    body: tuple[Widget, ...] = (),
) -> Dialog | None:  # fmt: skip
    if not ui.get("sure", False):
        return None
    no = ui.set(sure=False)
    return Dialog(
        title=title, text=text, dismiss=no, body=body,
        buttons=(
            DialogButton(words=("Back", "返回"), do=no),
            DialogButton(words=yes, do=do, danger=True),
        ),
    )  # fmt: skip


def _address_line(a: Address) -> str:
    return f"{a.street}, {a.postcode} {a.city}"


# ---- pages: looking around ---------------------------------------------------------------------


@app.page("/")
def home_page(s: State, ui: Ui) -> Page:
    """Search, the offer, categories, deals; while something is typed, what was found."""
    text = ui.field("text", ("Search Nimbus", "搜索云上商店"), kind="search")
    body: list[Widget] = [text]
    if text.value.strip():
        body += _results(s, ui, text.value, "")
    else:
        deals = [p for p in s.products if p.was_cents and p.stock][:4]
        best = found(s, sort="rating", in_stock=True)[:4]
        dots = tuple(
            CategoryDot(kind=kind, seed=3, words=words, do=category_page(category=name))
            for name, words, kind in CATEGORIES
        )
        if not ui.system.online:
            body.append(Banner(icon="wifi_off", words=("You are offline", "当前没有网络")))
        body += [
            Hero(title=("Spring is in the air", "春日上新"), kind="plant", seed=12, tint=TINT,
                 text=("See all offers", "查看全部优惠"), do=offers_page()),
            SideBySide(children=dots, inset_px=8),
            Heading(words=("Deals", "特惠"), link=("See all", "全部"), do=offers_page()),
            _tiles(ui, deals),
            Heading(words=("Best rated", "好评")),
            _tiles(ui, best),
        ]  # fmt: skip
    return Page(title="Nimbus", body=body, large=True, tabs=_tabs(s, "home"))


def _results(s: State, ui: Ui, text: str, category: str) -> list[Widget]:
    """Return the chips that sort and narrow, and the tiles that fit."""
    sort = ui.chips("sort", SORTS, "featured")
    prices: tuple[tuple[int, tuple[str, str]], ...] = (
        (0, ("Any price", "不限价格")), (2500, ("Up to $25", "25美元以下")),
        (5000, ("Up to $50", "50美元以下")), (10_000, ("Up to $100", "100美元以下")),
    )  # fmt: skip
    most = ui.chips("max_price_cents", prices, 0)
    in_stock = ui.switch("in_stock", ("In stock only", "仅看有货"))
    rows = found(s, text, category, sort.value, max_cents=most.value, in_stock=in_stock.value)
    words = ui.t(f"{len(rows)} products", f"{len(rows)}件商品")
    shown: Widget = _tiles(ui, rows)
    if not rows:
        shown = Empty(icon="search", words=("Nothing found", "没有找到商品"))
    return [sort, most, in_stock, Heading(words=words), shown]


@app.page("/c/{category}")
def category_page(s: State, ui: Ui, category: str) -> Page:
    """The products of one category."""
    words = next((c[1] for c in CATEGORIES if c[0] == category), (category, category))
    return Page(title=words, body=_results(s, ui, "", category))


@app.page("/offers")
def offers_page(s: State, ui: Ui) -> Page:
    """Coupon codes and reduced products."""
    codes: tuple[Widget, ...] = tuple(
        Row(
            title=code, subtitle=ui.t(*coupon.words), lead=Glyph(icon="tag"), trailing_icon="copy",
            do=Copy(text=code),
        )
        for code, coupon in COUPONS.items()
    )  # fmt: skip
    return Page(
        title=("Offers", "优惠"),
        body=(
            Heading(words=("Coupon codes", "优惠码")),
            Card(children=codes),
            Heading(words=("Reduced", "降价商品")),
            _tiles(ui, found(s, on_sale=True)),
        ),
    )


@app.page("/p/{product}")
def product_page(s: State, ui: Ui, product: ProductId) -> Page:
    """One product: choose a colour and a number, put it in the cart or buy it now."""
    p = s.products[product]
    wished = any(w.product == product for w in s.wishes)
    body: list[Widget] = [
        Picture(kind=p.kind, seed=p.seed, label=p.name, height_px=300, radius_px=0),
        Text(words=p.brand, muted=True, size_px=13, lines=1),
        Text(words=p.name, size_px=22, bold=True, lines=1),
        Price(
            now=ui.money(p.price_cents), was=ui.money(p.was_cents) if p.was_cents else "",
            note=ui.t(f"{p.stock} in stock", f"库存{p.stock}件") if p.stock
            else ("Out of stock", "已售罄"),
            note_color="" if p.stock else "#d92d20",
        ),
        Stars(stars=round(p.rating / 10),
              label=ui.t(f"{p.rating / 10:.1f} from {p.ratings} buyers",
                         f"{p.rating / 10:.1f}分，{p.ratings}位买家")),
    ]  # fmt: skip
    colour = ""
    if p.colours:
        chips = ui.chips(
            "colour", [(c, COLOURS[c]) for c in p.colours], p.colours[0], label=("Colour", "颜色")
        )
        colour = chips.value
        body.append(chips)
    quantity = ui.stepper("quantity", ("Quantity", "数量"), 1, low=1, high=max(1, min(20, p.stock)))
    into_cart = add(product=product, colour=colour, quantity=quantity.value)
    body += [
        quantity,
        Text(words=p.text, muted=True),
        Row(title=("Reviews", "评价"), lead=Glyph(icon="star"), trailing_icon="chevron_right",
            do=reviews_page(product=product)),
    ]  # fmt: skip
    return Page(
        title="",
        actions=(
            IconButton(icon="share", label=("Share", "分享"),
                       do=Share(text=f"{p.name} {ui.money(p.price_cents)}")),
            IconButton(icon="heart_filled" if wished else "heart", selected=wished,
                       label=("Wish list", "心愿单"), do=wish(product=product, on=not wished)),
            IconButton(icon="cart", label=("Cart", "购物车"), do=cart_page()),
        ),
        body=body,
        footer=(
            SideBySide(
                children=(
                    Button(words=("Add to cart", "加入购物车"), kind="tonal", do=into_cart,
                           enabled=p.stock > 0, inset_px=6),
                    Button(words=("Buy now", "立即购买"), enabled=p.stock > 0, inset_px=6,
                           do=Both(first=into_cart, then=checkout_page())),
                ),
                inset_px=10,
            ),
        ),
    )  # fmt: skip


@app.page("/p/{product}/reviews")
def reviews_page(s: State, ui: Ui, product: ProductId) -> Page:
    """What buyers wrote about a product, the user first."""
    p = s.products[product]
    body: list[Widget] = [
        Text(words=f"{p.rating / 10:.1f}", size_px=40, bold=True, align="center"),
        Text(words=ui.t(f"{p.ratings} ratings", f"{p.ratings}个评分"), muted=True, align="center"),
    ]
    entries = [
        (ui.t("You", "你"), r.stars, r.text, ui.ago(r.at_s))
        for r in s.reviews
        if r.product == product
    ]
    theirs = sorted(s.opinions.where(lambda o: o.product == product), key=lambda o: o.day)[::-1]
    entries += [(o.author, o.stars, ui.t(*o.text), o.day) for o in theirs]
    for author, stars, text, when in entries:
        card = (Stars(stars=stars, label=f"{author} · {when}"), Text(words=text or "-"))
        body.append(Card(children=card, pad_px=8))
    return Page(title=("Reviews", "评价"), subtitle=p.name, body=body)


@app.page("/wishes")
def wishes_page(s: State, ui: Ui) -> Page:
    """The wish list."""
    body: list[Widget] = []
    for row in s.wishes:
        p = s.products[row.product]
        about = Row(
            title=p.name, subtitle=p.brand, lead=Thumb(kind=p.kind, seed=p.seed, size_px=56),
            trailing=ui.money(p.price_cents), do=product_page(product=p.id),
        )  # fmt: skip
        buttons = (
            Button(words=("Remove", "移除"), kind="plain", inset_px=6,
                   do=wish(product=p.id, on=False)),
            Button(words=("Move to cart", "移到购物车"), kind="tonal", enabled=p.stock > 0,
                   do=wish_to_cart(product=p.id), inset_px=6),
        )  # fmt: skip
        body.append(Card(children=(about, SideBySide(children=buttons, inset_px=8))))
    if not body:
        body.append(Empty(icon="heart", words=("Your wish list is empty", "心愿单是空的")))
    return Page(title=("Wishes", "心愿单"), body=body, large=True, tabs=_tabs(s, "wishes"))


# ---- pages: cart and checkout ------------------------------------------------------------------


def _cart_line(s: State, ui: Ui, line: Line) -> Card:
    p = s.products[line.product]

    def to(quantity: int) -> Do | None:
        fits = 1 <= quantity <= min(20, p.stock)
        return set_quantity(line=line.id, quantity=quantity) if fits else None

    stepper = Stepper(
        label=("Quantity", "数量"), value=line.quantity, less=to(line.quantity - 1),
        more=to(line.quantity + 1),
    )  # fmt: skip
    label = (f"Remove {p.name}", f"移除{p.name}")
    bin_it = IconButton(icon="trash", label=label, do=remove(line=line.id))
    return Card(
        children=(
            Row(
                title=p.name, lead=Thumb(kind=p.kind, seed=p.seed, size_px=56),
                subtitle=f"{_colour(ui, line.colour)} · {ui.money(p.price_cents)}",
                trailing=ui.money(p.price_cents * line.quantity), do=product_page(product=p.id),
                swipe_left=remove(line=line.id),
            ),
            SideBySide(children=(stepper, bin_it), shares=(6, 1)),
        )
    )  # fmt: skip


@app.page("/cart")
def cart_page(s: State, ui: Ui) -> Page:
    """What is in the cart, the coupon, what it costs."""
    if not len(s.cart):
        empty = Empty(icon="cart", words=("Your cart is empty", "购物车是空的"))
        return Page(title=("Cart", "购物车"), body=(empty,), large=True, tabs=_tabs(s, "cart"))
    body: list[Widget] = [_cart_line(s, ui, line) for line in s.cart]
    if s.coupon:
        body.append(
            Row(title=s.coupon, subtitle=ui.t(*COUPONS[s.coupon].words), lead=Glyph(icon="tag"),
                trailing=ui.t("Remove", "移除"), do=remove_coupon())
        )  # fmt: skip
    else:
        code = ui.field("code", ("Coupon code", "优惠码"))
        button = Button(words=("Apply", "使用"), kind="tonal", do=apply_coupon(code=code.value),
                        enabled=bool(code.value.strip()), inset_px=8)  # fmt: skip
        body.append(SideBySide(children=(code, button), shares=(2, 1)))
    sums = totals_of(s, "standard")
    body.append(_sums(ui, sums, s.coupon))
    missing = FREE_FROM_CENTS - items_cents(s)
    if missing > 0:
        words = ui.t(
            f"{ui.money(missing)} more for free delivery", f"再买{ui.money(missing)}免运费"
        )
        body.append(Banner(icon="truck", words=words))
    words = ui.t(f"Checkout · {ui.money(sums.total)}", f"结算 · {ui.money(sums.total)}")
    sure = _dialog(ui, ("Empty cart?", "清空购物车？"), "", ("Empty", "清空"),
                   Both(first=clear(), then=ui.set(sure=False)))  # fmt: skip
    return Page(
        title=("Cart", "购物车"), body=body, large=True, tabs=_tabs(s, "cart"), dialog=sure,
        actions=(
            IconButton(icon="trash", label=("Empty cart", "清空购物车"), do=ui.set(sure=True)),
        ),
        footer=(Button(words=words, do=checkout_page()),),
    )  # fmt: skip


@app.page("/checkout")
def checkout_page(s: State, ui: Ui) -> Page:
    """Where to, how fast, and what it costs; placing the order leads to the wallet."""
    chosen = ui.get("address", s.default_address)
    rows: list[Widget] = [
        Row(
            title=a.label, subtitle=_address_line(a), lead=Glyph(icon="location"),
            trailing_icon="radio_checked" if a.id == chosen else "radio", do=ui.set(address=a.id),
        )
        for a in s.addresses
    ]  # fmt: skip
    rows.append(
        Row(title=("Add address", "添加地址"), lead=Glyph(icon="plus"), do=new_address_page())
    )
    speed = ui.chips("speed", SPEEDS, "standard")
    note = ui.field("note", ("Note for the courier", "给快递员的备注"))
    sums = totals_of(s, speed.value)
    words = ui.t(f"Place order · {ui.money(sums.total)}", f"提交订单 · {ui.money(sums.total)}")
    button = Button(
        words=words, do=place(address=chosen, speed=speed.value, note=note.value),
        enabled=len(s.cart) > 0,
    )  # fmt: skip
    items: list[Widget] = [
        Row(
            title=p.name, lead=Thumb(kind=p.kind, seed=p.seed, size_px=44),
            subtitle=f"{line.quantity} x {ui.money(p.price_cents)} · {_colour(ui, line.colour)}",
        )
        for line in s.cart
        for p in (s.products[line.product],)
    ]  # fmt: skip
    return Page(
        title=("Checkout", "结算"),
        body=(
            Heading(words=("Deliver to", "收货地址")), Card(children=tuple(rows)),
            Heading(words=("Delivery", "配送")), speed, note,
            Heading(words=("Items", "商品")), Card(children=tuple(items)),
            _sums(ui, sums, s.coupon),
        ),
        footer=(button,),
    )  # fmt: skip


# ---- pages: orders -----------------------------------------------------------------------------


def _thumb(s: State, item: Item, size_px: int = 56) -> Thumb:
    p = s.products[item.product]
    return Thumb(kind=p.kind, seed=p.seed, size_px=size_px)


@app.page("/orders")
def orders_page(s: State, ui: Ui) -> Page:
    """The orders, the latest first."""
    groups: tuple[tuple[str, tuple[str, str]], ...] = (
        ("all", ("All", "全部")), ("open", ("Open", "进行中")), ("done", ("Done", "已完成")),
    )  # fmt: skip
    which = ui.chips("which", groups, "all")
    rows: list[Widget] = []
    for o in sorted(s.orders, key=lambda o: -o.placed_at):
        is_open = o.state in ("unpaid", "processing", "shipped")
        if which.value != "all" and is_open != (which.value == "open"):
            continue
        names = ", ".join(i.name for i in o.items)
        about = Row(
            title=f"{o.number} · {ui.t(*STATES[o.state])}", subtitle=names,
            lead=_thumb(s, o.items[0]), trailing=ui.day(o.placed_at), do=order_page(order=o.id),
        )  # fmt: skip
        rows.append(Card(children=(about,)))
    if not rows:
        rows.append(Empty(icon="truck", words=("No orders", "没有订单")))
    return Page(title=("Orders", "订单"), body=(which, *rows), large=True, tabs=_tabs(s, "orders"))


@app.page("/orders/{order}")
def order_page(s: State, ui: Ui, order: OrderId) -> Page:
    """One order, how far it has come, and what can be done about it."""
    o = s.orders[order]
    state = ui.t(*STATES[o.state])
    body: list[Widget] = []
    if o.state in REACHED:
        body.append(Way(steps=WAY, reached=REACHED[o.state]))
    reason = f" · {o.reason}" if o.reason else ""
    body.append(Text(words=state + reason, size_px=20, bold=True, align="center"))
    placed = ui.t(f"Ordered {ui.day(o.placed_at)}", f"下单时间 {ui.day(o.placed_at)}")
    body.append(Text(words=placed, muted=True, size_px=13, align="center"))
    if o.state == "unpaid":
        body.append(Button(words=("Pay now", "立即付款"), icon="wallet", do=pay(order=order)))
    body.append(Card(children=tuple(_item(s, ui, o, i) for i in o.items)))
    body.append(_address(s, ui, o))
    if o.note:
        body.append(Row(title=o.note, subtitle=("Note", "备注"), lead=Glyph(icon="note")))
    items = sum(i.price_cents * i.quantity for i in o.items)
    sums = Totals(items=items, discount=o.discount_cents, delivery=o.delivery_cents)
    body.append(_sums(ui, sums, o.coupon))
    body.append(Button(words=("Order again", "再次购买"), kind="tonal", do=reorder(order=order)))
    dialog = None
    if o.state in ("unpaid", "processing"):
        body.append(Button(words=("Cancel order", "取消订单"), kind="danger", do=ui.set(sure=True)))
        why = ui.chips("reason", CANCEL_REASONS, "Changed my mind")
        dialog = _dialog(
            ui, ("Cancel order?", "取消订单？"), o.number, ("Cancel order", "取消订单"),
            cancel(order=order, reason=why.value), (why,),
        )  # fmt: skip
    elif o.state == "delivered":
        body.append(Button(words=("Return order", "退货"), kind="danger", do=ui.set(sure=True)))
        back = ui.chips("reason", RETURN_REASONS, "Does not fit")
        dialog = _dialog(ui, ("Return order?", "申请退货？"), o.number, ("Return order", "退货"),
                         give_back(order=order, reason=back.value), (back,))  # fmt: skip
    return Page(title=o.number, subtitle=state, body=body, dialog=dialog)


def _item(s: State, ui: Ui, o: Order, item: Item) -> Row:
    reviewed = any(r.product == item.product for r in s.reviews)
    rates = o.state == "delivered" and not reviewed
    return Row(
        title=item.name, lead=_thumb(s, item),
        subtitle=f"{item.quantity} x {ui.money(item.price_cents)} · {_colour(ui, item.colour)}",
        trailing=ui.t("Review", "评价") if rates else "", trailing_icon="chevron_right",
        do=review_page(order=o.id, product=item.product) if rates
        else product_page(product=item.product),
    )  # fmt: skip


def _address(s: State, ui: Ui, o: Order) -> Row:
    a = s.addresses.get(o.address)
    may_change = o.state in ("unpaid", "processing")
    return Row(
        title=a.label if a else ui.t("Deleted address", "已删除的地址"),
        subtitle=_address_line(a) if a else "-", lead=Glyph(icon="location"),
        trailing=ui.t("Change", "更改") if may_change else "",
        do=readdress_page(order=o.id) if may_change else None,
    )  # fmt: skip


@app.page("/orders/{order}/address")
def readdress_page(s: State, ui: Ui, order: OrderId) -> Page:
    """Choose another address for an order."""
    o = s.orders[order]
    rows = [
        Row(
            title=a.label, subtitle=_address_line(a), lead=Glyph(icon="location"),
            trailing_icon="radio_checked" if a.id == o.address else "radio",
            do=readdress(order=order, address=a.id),
        )
        for a in s.addresses
    ]  # fmt: skip
    return Page(title=("Deliver to", "收货地址"), subtitle=o.number, body=rows)


@app.page("/orders/{order}/review/{product}")
def review_page(s: State, ui: Ui, order: OrderId, product: ProductId) -> Page:
    """Stars and words about something bought."""
    p = s.products[product]
    stars = ui.get("stars", 0)
    text = ui.field("text", ("What do you think of it?", "你觉得怎么样？"), lines=4)
    button = Button(
        words=("Send review", "提交评价"), enabled=stars > 0,
        do=review(order=order, product=product, stars=max(1, stars), text=text.value),
    )  # fmt: skip
    return Page(
        title=("Review", "评价"),
        body=(
            Row(title=p.name, subtitle=p.brand, lead=Thumb(kind=p.kind, seed=p.seed, size_px=56)),
            Stars(stars=stars, label="", local="stars"), text, button,
        ),
    )  # fmt: skip


# ---- pages: account and addresses --------------------------------------------------------------


@app.page("/account")
def account_page(s: State, ui: Ui) -> Page:
    """Addresses, offers, and whether to be told about orders."""
    switch = msgspec.structs.replace(
        ui.switch("updates", ("Order updates", "订单通知")), value=s.order_updates, icon="bell",
        do=set_updates(on=not s.order_updates),
        subtitle=ui.t("Tell me when orders move", "订单有进展时通知我"),
    )  # fmt: skip
    chevron = "chevron_right"
    reviews = ui.t(f"{len(s.reviews)} written", f"已写{len(s.reviews)}条")
    return Page(
        title=("Account", "账户"), large=True, tabs=_tabs(s, "account"),
        body=(
            Card(
                children=(
                    Row(title=("Addresses", "收货地址"), lead=Glyph(icon="location"),
                        trailing=str(len(s.addresses)), trailing_icon=chevron,
                        do=addresses_page()),
                    Row(title=("Offers and coupons", "优惠与优惠码"), lead=Glyph(icon="tag"),
                        trailing_icon=chevron, do=offers_page()),
                    Row(title=("My reviews", "我的评价"), lead=Glyph(icon="star"),
                        trailing=reviews, trailing_icon=chevron, do=my_reviews_page()),
                )
            ),
            Card(children=(switch,)),
        ),
    )  # fmt: skip


@app.page("/reviews")
def my_reviews_page(s: State, ui: Ui) -> Page:
    """What the user wrote."""
    rows: list[Widget] = []
    for r in sorted(s.reviews, key=lambda r: -r.at_s):
        p = s.products[r.product]
        rows.append(
            Card(
                children=(
                    Row(title=p.name, lead=Thumb(kind=p.kind, seed=p.seed), trailing=ui.ago(r.at_s),
                        do=product_page(product=p.id)),
                    Stars(stars=r.stars, label=""), Text(words=r.text or "-"),
                )
            )
        )  # fmt: skip
    if not rows:
        rows.append(Empty(icon="star", words=("No reviews yet", "还没有评价")))
    return Page(title=("My reviews", "我的评价"), body=rows)


@app.page("/addresses")
def addresses_page(s: State, ui: Ui) -> Page:
    """The delivery addresses."""
    rows: list[Widget] = []
    for a in s.addresses:
        default = ui.t("Default", "默认") if a.id == s.default_address else ""
        rows.append(
            Row(title=a.label, subtitle=_address_line(a), lead=Glyph(icon="location"),
                trailing=default, trailing_icon="chevron_right", do=address_page(address=a.id))
        )  # fmt: skip
    return Page(
        title=("Addresses", "收货地址"), body=(Card(children=tuple(rows)),),
        fab=Fab(icon="plus", words=("New address", "新建地址"), do=new_address_page()),
    )  # fmt: skip


def _address_form(ui: Ui, a: Address) -> tuple[list[Widget], dict[str, Any], bool]:
    label = ui.field("label", ("Label", "标签"), a.label)
    name = ui.field("name", ("Name", "姓名"), a.name)
    street = ui.field("street", ("Street", "街道"), a.street)
    city = ui.field("city", ("City", "城市"), a.city)
    postcode = ui.field("postcode", ("Postcode", "邮编"), a.postcode, kind="number")
    fields = (label, name, street, city, postcode)
    args = {f.name: f.value for f in fields}
    return list(fields), args, all(v.strip() for v in args.values())


@app.page("/addresses/new")
def new_address_page(s: State, ui: Ui) -> Page:
    """The form for a new address."""
    blank = Address(label="", name="", street="", city="", postcode="")
    fields, args, complete = _address_form(ui, blank)
    save = Button(words=("Save", "保存"), do=add_address(**args), enabled=complete)
    return Page(title=("New address", "新建地址"), body=(*fields, save))


@app.page("/addresses/{address}")
def address_page(s: State, ui: Ui, address: AddressId) -> Page:
    """The form for an address, with what else can be done with it."""
    a = s.addresses[address]
    fields, args, complete = _address_form(ui, a)
    buttons: list[Widget] = [
        Button(words=("Save", "保存"), do=edit_address(address=address, **args), enabled=complete)
    ]
    if address != s.default_address:
        buttons.append(
            Button(
                words=("Make default", "设为默认"), kind="tonal", do=make_default(address=address)
            )
        )
    sure = _dialog(ui, ("Delete address?", "删除地址？"), _address_line(a), ("Delete", "删除"),
                   delete_address(address=address))  # fmt: skip
    bin_it = IconButton(icon="trash", label=("Delete", "删除"), do=ui.set(sure=True))
    return Page(title=a.label, body=(*fields, *buttons), dialog=sure, actions=(bin_it,))


# ---- flows -------------------------------------------------------------------------------------

app.flow(
    "buy in two colours and pay", tap("Kitchen"), tap(product_page, product="product4"),
    tap("Quantity +"), tap("Add to cart"), tap("Cart"), tap(checkout_page), tap("Express, within the hour"),
    enter("note", "Ring twice"), press("back"), tap(place), tap(wallet_pay), wait(60), wait(1800),
)  # fmt: skip
app.flow(
    "pay later, then cancel", tap("Cart"), tap(checkout_page), tap("Work"), tap(place),
    tap("Decline"), tap(pay), tap("Decline"), tap("Cancel order"), tap("Found it cheaper"),
    tap(cancel),
)  # fmt: skip
app.flow("buy now", tap("Books"), tap(product_page, product="product111"), tap("Buy now"))
app.flow(
    "change the cart", tap("Cart"), tap("Quantity +"), enter("code", "welcome10"),
    tap(apply_coupon), tap(remove_coupon), tap(remove, line="line1"), tap("Empty cart"), tap(clear),
)  # fmt: skip
app.flow("wish and take", tap("Tech"), tap(product_page, product="product82"), tap(wish),
         press("back"), press("back"), tap("Wishes"), tap(wish_to_cart))  # fmt: skip
app.flow(
    "a new default address", tap("Account"), tap("Addresses"), tap("New address"),
    enter("label", "Parents"), enter("name", "Robin Vale"), enter("street", "8 Mill Lane"),
    enter("city", "Sunvale"), enter("postcode", "20111"), tap(add_address),
    tap(address_page, address="address3"), tap(make_default), press("back"),
    tap(address_page, address="address2"), enter("street", "231 Foundry Street"),
    tap(edit_address), tap(address_page, address="address2"), tap("Delete"), tap(delete_address),
)  # fmt: skip
app.flow("send it back", tap("Orders"), tap(order_page, order="order4"), tap("Return order"),
         tap("Damaged"), tap(give_back))  # fmt: skip
app.flow("another address", tap("Orders"), tap(order_page, order="order6"), tap(readdress_page),
         tap(readdress, address="address2"))  # fmt: skip
app.flow("order again", tap("Orders"), tap(order_page, order="order3"), tap(reorder))
app.flow(
    "write a review", tap("Orders"), tap(order_page, order="order3"), tap(review_page),
    tap("4 stars"), enter("text", "Does what it should."), tap(review),
)  # fmt: skip
app.flow("no more updates", tap("Account"), tap(set_updates))
app.flow("search", enter("text", "lamp"), tap("Price: low first"), tap("Up to $50"))
