"""Nimbus, a shop: products by category, wishes, a cart, orders paid through the wallet."""

from __future__ import annotations

from typing import Any

from screenloop.phone.apps.shop.actions import (
    add,
    add_address,
    apply_coupon,
    cancel,
    clear,
    delete_address,
    edit_address,
    give_back,
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
    wish,
    wish_to_cart,
)
from screenloop.phone.apps.shop.orders import (
    cart_page,
    checkout_page,
    order_page,
    readdress_page,
    review_page,
)
from screenloop.phone.apps.shop.seed import CATEGORIES, COLOURS, COUPONS, Address, ProductId
from screenloop.phone.apps.shop.state import AddressId, State, app, found
from screenloop.phone.apps.shop.views import (
    BACK,
    SORTS,
    TINT,
    CategoryDot,
    Hero,
    Price,
    Stars,
    address_line,
    tabs,
    tiles,
)
from screenloop.phone.apps.wallet.actions import pay as wallet_pay
from screenloop.phone.commands import Both, Copy, Share
from screenloop.phone.declare.flow_steps import enter, press, tap, wait
from screenloop.phone.declare.view import Ui
from screenloop.phone.draw.inputs import Switch
from screenloop.phone.draw.page import Fab, Page
from screenloop.phone.draw.rows import Glyph, Picture, Row, Thumb
from screenloop.phone.draw.widgets import (
    Banner,
    Button,
    Card,
    Empty,
    Heading,
    IconButton,
    Paragraph,
    Widget,
)
from screenloop.phone.draw.widgets import Line as SideBySide

__all__ = ["State", "app"]


# ---- pages: looking around ---------------------------------------------------------------------


@app.page("/")
def home_page(s: State, ui: Ui) -> Page:
    """Search, the offer, categories, deals; while something is typed, what was found."""
    text = ui.field("text", ("Search Nimbus", "搜索云上商店"), kind="search")
    body: list[Widget] = [text]
    if text.value.strip():
        body += _results(s, ui, text.value, "")
    else:
        deals = list({p.kind: p for p in found(s, on_sale=True, in_stock=True)}.values())[:4]
        best = found(s, sort="rating", in_stock=True)[:4]
        dots = tuple(
            CategoryDot(kind=kind, seed=3, words=words, do=category_page(category=name))
            for name, words, kind in CATEGORIES
        )
        if not ui.system.online:
            body.append(Banner(icon="wifi_off", words=("You are offline", "当前没有网络")))
        body += [
            Hero(
                title=("Spring is in the air", "春日上新"),
                kind="plant",
                seed=12,
                tint=TINT,
                text=("See all offers", "查看全部优惠"),
                do=offers_page(),
            ),
            SideBySide(children=dots, inset_px=8),
            Heading(words=("Deals", "特惠"), link=("See all", "全部"), do=offers_page()),
            tiles(ui, deals),
            Heading(words=("Best rated", "好评")),
            tiles(ui, best),
        ]
    return Page(title="Nimbus", body=body, large=True, tabs=tabs(s, "home"))


def _results(s: State, ui: Ui, text: str, category: str) -> list[Widget]:
    """Return the chips that sort and narrow, and the tiles that fit."""
    sort = ui.chips("sort", SORTS, "")
    prices: tuple[tuple[int, tuple[str, str]], ...] = (
        (0, ("Any price", "不限价格")),
        (2500, ("To $25", "25美元以下")),
        (5000, ("To $50", "50美元以下")),
        (10_000, ("To $100", "100美元以下")),
    )
    most = ui.chips("max_price_cents", prices, 0)
    in_stock = ui.switch("in_stock", ("In stock only", "仅看有货"))
    rows = found(s, text, category, sort.value, max_cents=most.value, in_stock=in_stock.value)
    words = ui.t(f"{len(rows)} products", f"{len(rows)}件商品")
    shown: Widget = tiles(ui, rows)
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
            title=code,
            subtitle=ui.t(*coupon.words),
            lead=Glyph(icon="tag"),
            trailing_icon="copy",
            do=Copy(text=code),
        )
        for code, coupon in COUPONS.items()
    )
    return Page(
        title=("Offers", "优惠"),
        body=(
            Heading(words=("Coupon codes", "优惠码")),
            Card(children=codes),
            Heading(words=("Reduced", "降价商品")),
            tiles(ui, found(s, on_sale=True)),
        ),
    )


@app.page("/p/{product}")
def product_page(s: State, ui: Ui, product: ProductId) -> Page:
    """One product: choose a colour and a number, put it in the cart or buy it now."""
    p = s.products[product]
    wished = any(w.product == product for w in s.wishes)
    body: list[Widget] = [
        Picture(kind=p.kind, seed=p.seed, label=p.name, height_px=300, radius_px=0),
        Paragraph(words=p.brand, muted=True, size_px=13, lines=1),
        Paragraph(words=p.name, size_px=22, bold=True, lines=1),
        Price(
            now=ui.money(p.price_cents),
            was=ui.money(p.was_cents) if p.was_cents else "",
            note=ui.t(f"{p.stock} in stock", f"库存{p.stock}件")
            if p.stock
            else ("Out of stock", "已售罄"),
            note_color="" if p.stock else "#d92d20",
        ),
        Stars(
            stars=round(p.rating / 10),
            label=ui.t(
                f"{p.rating / 10:.1f} from {p.ratings} buyers",
                f"{p.rating / 10:.1f}分，{p.ratings}位买家",
            ),
        ),
    ]
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
        Paragraph(words=p.text, muted=True),
        Row(
            title=("Reviews", "评价"),
            lead=Glyph(icon="star"),
            trailing_icon="chevron_right",
            do=reviews_page(product=product),
        ),
    ]
    return Page(
        title="",
        actions=(
            IconButton(
                icon="share",
                label=("Share", "分享"),
                do=Share(text=f"{p.name} {ui.money(p.price_cents)}"),
            ),
            IconButton(
                icon="heart_filled" if wished else "heart",
                selected=wished,
                label=("Wish list", "心愿单"),
                do=wish(product=product, on=not wished),
            ),
            IconButton(icon="cart", label=("Cart", "购物车"), do=cart_page()),
        ),
        body=body,
        footer=(
            SideBySide(
                children=(
                    Button(
                        words=("Add to cart", "加入购物车"),
                        kind="tonal",
                        do=into_cart,
                        enabled=p.stock > 0,
                        inset_px=6,
                    ),
                    Button(
                        words=("Buy now", "立即购买"),
                        enabled=p.stock > 0,
                        inset_px=6,
                        do=Both(first=into_cart, then=checkout_page()),
                    ),
                ),
                inset_px=10,
            ),
        ),
    )


@app.page("/p/{product}/reviews")
def reviews_page(s: State, ui: Ui, product: ProductId) -> Page:
    """What buyers wrote about a product, the user first."""
    p = s.products[product]
    body: list[Widget] = [
        Paragraph(words=f"{p.rating / 10:.1f}", size_px=40, bold=True, align="center"),
        Paragraph(
            words=ui.t(f"{p.ratings} ratings", f"{p.ratings}个评分"), muted=True, align="center"
        ),
    ]
    entries = [
        (ui.t("You", "你"), r.stars, r.text, ui.ago(r.at_s))
        for r in s.reviews
        if r.product == product
    ]
    theirs = sorted(s.opinions.where(lambda o: o.product == product), key=lambda o: o.day)[::-1]
    entries += [(o.author, o.stars, ui.t(*o.text), o.day) for o in theirs]
    for author, stars, text, when in entries:
        card = (Stars(stars=stars, label=f"{author} · {when}"), Paragraph(words=text or "-"))
        body.append(Card(children=card, pad_px=8))
    return Page(title=("Reviews", "评价"), subtitle=p.name, body=body)


@app.page("/wishes")
def wishes_page(s: State, ui: Ui) -> Page:
    """The wish list."""
    body: list[Widget] = []
    for row in s.wishes:
        p = s.products[row.product]
        about = Row(
            title=p.name,
            subtitle=p.brand,
            lead=Thumb(kind=p.kind, seed=p.seed, size_px=56),
            trailing=ui.money(p.price_cents),
            do=product_page(product=p.id),
        )
        buttons = (
            Button(
                words=("Remove", "移除"), kind="plain", inset_px=6, do=wish(product=p.id, on=False)
            ),
            Button(
                words=("Move to cart", "移到购物车"),
                kind="tonal",
                enabled=p.stock > 0,
                do=wish_to_cart(product=p.id),
                inset_px=6,
            ),
        )
        body.append(Card(children=(about, SideBySide(children=buttons, inset_px=8))))
    if not body:
        body.append(Empty(icon="heart", words=("Your wish list is empty", "心愿单是空的")))
    return Page(title=("Wishes", "心愿单"), body=body, large=True, tabs=tabs(s, "wishes"))


# ---- pages: account and addresses --------------------------------------------------------------


@app.page("/account")
def account_page(s: State, ui: Ui) -> Page:
    """Addresses, offers, and whether to be told about orders."""
    switch = Switch(
        label=("Order updates", "订单通知"),
        value=s.order_updates,
        icon="bell",
        do=set_updates(on=not s.order_updates),
        subtitle=("Tell me when orders move", "订单有进展时通知我"),
    )
    chevron = "chevron_right"
    reviews = ui.t(f"{len(s.reviews)} written", f"已写{len(s.reviews)}条")
    return Page(
        title=("Account", "账户"),
        large=True,
        tabs=tabs(s, "account"),
        body=(
            Card(
                children=(
                    Row(
                        title=("Addresses", "收货地址"),
                        lead=Glyph(icon="location"),
                        trailing=str(len(s.addresses)),
                        trailing_icon=chevron,
                        do=addresses_page(),
                    ),
                    Row(
                        title=("Offers and coupons", "优惠与优惠码"),
                        lead=Glyph(icon="tag"),
                        trailing_icon=chevron,
                        do=offers_page(),
                    ),
                    Row(
                        title=("My reviews", "我的评价"),
                        lead=Glyph(icon="star"),
                        trailing=reviews,
                        trailing_icon=chevron,
                        do=my_reviews_page(),
                    ),
                )
            ),
            Card(children=(switch,)),
        ),
    )


@app.page("/reviews")
def my_reviews_page(s: State, ui: Ui) -> Page:
    """What the user wrote."""
    rows: list[Widget] = []
    for r in sorted(s.reviews, key=lambda r: -r.at_s):
        p = s.products[r.product]
        rows.append(
            Card(
                children=(
                    Row(
                        title=p.name,
                        lead=Thumb(kind=p.kind, seed=p.seed),
                        trailing=ui.ago(r.at_s),
                        do=product_page(product=p.id),
                    ),
                    Stars(stars=r.stars, label=""),
                    Paragraph(words=r.text or "-"),
                )
            )
        )
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
            Row(
                title=a.label,
                subtitle=address_line(a),
                lead=Glyph(icon="location"),
                trailing=default,
                trailing_icon="chevron_right",
                do=address_page(address=a.id),
            )
        )
    return Page(
        title=("Addresses", "收货地址"),
        body=(Card(children=tuple(rows)),),
        fab=Fab(icon="plus", words=("New address", "新建地址"), do=new_address_page()),
    )


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
    sure = ui.question(
        ("Delete address?", "删除地址？"),
        text=address_line(a),
        no=BACK,
        yes=("Delete", "删除"),
        do=delete_address(address=address),
    )
    bin_it = IconButton(icon="trash", label=("Delete", "删除"), do=ui.set(sure=True))
    return Page(title=a.label, body=(*fields, *buttons), dialog=sure, actions=(bin_it,))


# ---- flows -------------------------------------------------------------------------------------

app.flow(
    "buy in two colours and pay",
    tap("Kitchen"),
    tap(product_page, product="product4"),
    tap("Quantity +"),
    tap("Add to cart"),
    tap("Cart"),
    tap(checkout_page),
    tap("Express, within the hour"),
    enter("note", "Ring twice"),
    press("back"),
    tap(place),
    tap(wallet_pay),
    wait(60),
    wait(1800),
)
app.flow(
    "pay later, then cancel",
    tap("Cart"),
    tap(checkout_page),
    tap("Work"),
    tap(place),
    tap("Decline"),
    tap(pay),
    tap("Decline"),
    tap("Cancel order"),
    tap("Found it cheaper"),
    tap(cancel),
)
app.flow("buy now", tap("Books"), tap(product_page, product="product111"), tap("Buy now"))
app.flow(
    "change the cart",
    tap("Cart"),
    tap("Quantity"),
    tap("Quantity +"),
    tap("Quantity +"),
    tap(set_quantity),
    enter("code", "welcome10"),
    tap(apply_coupon),
    tap(remove_coupon),
    tap(remove, line="line1"),
    tap("Empty cart"),
    tap(clear),
)
app.flow(
    "wish and take",
    tap("Tech"),
    tap(product_page, product="product82"),
    tap(wish),
    press("back"),
    press("back"),
    tap("Wishes"),
    tap(wish_to_cart),
)
app.flow(
    "a new default address",
    tap("Account"),
    tap("Addresses"),
    tap("New address"),
    enter("label", "Parents"),
    enter("name", "Robin Vale"),
    enter("street", "8 Mill Lane"),
    enter("city", "Sunvale"),
    enter("postcode", "20111"),
    tap(add_address),
    tap(address_page, address="address3"),
    tap(make_default),
    press("back"),
    tap(address_page, address="address2"),
    enter("street", "231 Foundry Street"),
    tap(edit_address),
    tap(address_page, address="address2"),
    tap("Delete"),
    tap(delete_address),
)
app.flow(
    "send it back",
    tap("Orders"),
    tap(order_page, order="order4"),
    tap("Return order"),
    tap("Damaged"),
    tap(give_back),
)
app.flow(
    "another address",
    tap("Orders"),
    tap(order_page, order="order6"),
    tap(readdress_page),
    tap(readdress, address="address2"),
)
app.flow("order again", tap("Orders"), tap(order_page, order="order3"), tap(reorder))
app.flow(
    "write a review",
    tap("Orders"),
    tap(order_page, order="order3"),
    tap(review_page),
    tap("4 stars"),
    enter("text", "Does what it should."),
    tap(review),
)
app.flow("no more updates", tap("Account"), tap(set_updates))
app.flow("search", enter("text", "lamp"), tap("Low price"), tap("To $50"))
