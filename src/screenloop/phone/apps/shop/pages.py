"""Nimbus, a shop: products by category, wishes, a cart, orders paid through the wallet."""

from __future__ import annotations

from typing import Any

from screenloop.phone import kit as k
from screenloop.phone.apps.shop import actions as act
from screenloop.phone.apps.shop import orders, seed, views
from screenloop.phone.apps.shop.state import AddressId, State, app, found

__all__ = ["State", "app"]


# ---- pages: looking around ---------------------------------------------------------------------


@app.page("/")
def home_page(s: State, ui: k.Ui) -> k.Page:
    """Search, the offer, categories, deals; while something is typed, what was found."""
    text = ui.field("text", ("Search Nimbus", "搜索云上商店"), kind="search")
    body: list[k.Widget] = [text]
    if text.value.strip():
        body += _results(s, ui, text.value, "")
    else:
        deals = list({p.kind: p for p in found(s, on_sale=True, in_stock=True)}.values())[:4]
        best = found(s, sort="rating", in_stock=True)[:4]
        dots = tuple(
            views.CategoryDot(kind=kind, seed=3, words=words, do=category_page(category=name))
            for name, words, kind in seed.CATEGORIES
        )
        if not ui.system.online:
            body.append(k.Banner("wifi_off", ("You are offline", "当前没有网络")))
        body += [
            views.Hero(
                title=("Spring is in the air", "春日上新"),
                kind="plant",
                seed=12,
                tint=views.TINT,
                text=("See all offers", "查看全部优惠"),
                do=offers_page(),
            ),
            k.Line(dots, inset_px=8),
            k.Heading(("Deals", "特惠"), ("See all", "全部"), offers_page()),
            views.tiles(ui, deals),
            k.Heading(("Best rated", "好评")),
            views.tiles(ui, best),
        ]
    return k.Page("Nimbus", body, large=True, tabs=views.tabs(s, "home"))


def _results(s: State, ui: k.Ui, text: str, category: str) -> list[k.Widget]:
    """Return the chips that sort and narrow, and the tiles that fit."""
    sort = ui.chips("sort", views.SORTS, "")
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
    shown: k.Widget = views.tiles(ui, rows)
    if not rows:
        shown = k.Empty("search", ("Nothing found", "没有找到商品"))
    return [sort, most, in_stock, k.Heading(words), shown]


@app.page("/c/{category}")
def category_page(s: State, ui: k.Ui, category: str) -> k.Page:
    """The products of one category."""
    words = next((c[1] for c in seed.CATEGORIES if c[0] == category), (category, category))
    return k.Page(words, _results(s, ui, "", category))


@app.page("/offers")
def offers_page(s: State, ui: k.Ui) -> k.Page:
    """Coupon codes and reduced products."""
    codes: tuple[k.Widget, ...] = tuple(
        k.Row(code, ui.t(*coupon.words), k.Glyph("tag"), trailing_icon="copy", do=k.Copy(text=code))
        for code, coupon in seed.COUPONS.items()
    )
    return k.Page(
        ("Offers", "优惠"),
        (
            k.Heading(("Coupon codes", "优惠码")),
            k.Card(codes),
            k.Heading(("Reduced", "降价商品")),
            views.tiles(ui, found(s, on_sale=True)),
        ),
    )


def _offer(ui: k.Ui, p: seed.Product) -> list[k.Widget]:
    """What it is, what it costs, and what buyers think of it."""
    left = ui.t(f"{p.stock} in stock", f"库存{p.stock}件")
    mean = f"{p.rating / 10:.1f}"
    return [
        k.Picture(p.kind, p.seed, p.name, height_px=300, radius_px=0),
        k.Paragraph(p.brand, muted=True, size_px=13, lines=1),
        k.Paragraph(p.name, size_px=22, bold=True, lines=1),
        views.Price(
            now=ui.money(p.price_cents),
            was=ui.money(p.was_cents) if p.was_cents else "",
            note=left if p.stock else ("Out of stock", "已售罄"),
            note_color="" if p.stock else "#d92d20",
        ),
        views.Stars(
            stars=round(p.rating / 10),
            label=ui.t(f"{mean} from {p.ratings} buyers", f"{mean}分，{p.ratings}位买家"),
        ),
    ]


def _product_bar(s: State, ui: k.Ui, p: seed.Product) -> tuple[k.IconButton, ...]:
    wished = any(w.product == p.id for w in s.wishes)
    price = ui.money(p.price_cents)
    return (
        k.IconButton("share", ("Share", "分享"), k.Share(text=f"{p.name} {price}")),
        k.IconButton(
            "heart_filled" if wished else "heart",
            ("Wish list", "心愿单"),
            act.wish(product=p.id, on=not wished),
            selected=wished,
        ),
        k.IconButton("cart", ("Cart", "购物车"), orders.cart_page()),
    )


@app.page("/p/{product}")
def product_page(s: State, ui: k.Ui, product: seed.ProductId) -> k.Page:
    """One product: choose a colour and a number, put it in the cart or buy it now."""
    p = s.products[product]
    body = _offer(ui, p)
    colour = ""
    if p.colours:
        choices = [(c, seed.COLOURS[c]) for c in p.colours]
        chips = ui.chips("colour", choices, p.colours[0], label=("Colour", "颜色"))
        colour = chips.value
        body.append(chips)
    quantity = ui.stepper("quantity", ("Quantity", "数量"), 1, low=1, high=max(1, min(20, p.stock)))
    into_cart = act.add(product=product, colour=colour, quantity=quantity.value)
    body += [
        quantity,
        k.Paragraph(p.text, muted=True),
        k.link(("Reviews", "评价"), "", k.Glyph("star"), reviews_page(product=product)),
    ]
    some = p.stock > 0
    at_once = k.Both(first=into_cart, then=orders.checkout_page())
    words = ("Add to cart", "加入购物车")
    buttons = (
        k.Button(words, into_cart, kind="tonal", enabled=some, inset_px=6),
        k.Button(("Buy now", "立即购买"), at_once, enabled=some, inset_px=6),
    )
    return k.Page("", body, actions=_product_bar(s, ui, p), footer=(k.Line(buttons, inset_px=10),))


@app.page("/p/{product}/reviews")
def reviews_page(s: State, ui: k.Ui, product: seed.ProductId) -> k.Page:
    """What buyers wrote about a product, the user first."""
    p = s.products[product]
    body: list[k.Widget] = [
        k.Paragraph(f"{p.rating / 10:.1f}", size_px=40, bold=True, align="center"),
        k.Paragraph(ui.t(f"{p.ratings} ratings", f"{p.ratings}个评分"), muted=True, align="center"),
    ]
    entries = [
        (ui.t("You", "你"), r.stars, r.text, ui.ago(r.at_s))
        for r in s.reviews
        if r.product == product
    ]
    theirs = sorted(s.opinions.where(lambda o: o.product == product), key=lambda o: o.day)[::-1]
    entries += [(o.author, o.stars, ui.t(*o.text), o.day) for o in theirs]
    for author, stars, text, when in entries:
        card = (views.Stars(stars=stars, label=f"{author} · {when}"), k.Paragraph(text or "-"))
        body.append(k.Card(card, pad_px=8))
    return k.Page(("Reviews", "评价"), body, subtitle=p.name)


@app.page("/wishes")
def wishes_page(s: State, ui: k.Ui) -> k.Page:
    """The wish list."""
    body: list[k.Widget] = []
    for row in s.wishes:
        p = s.products[row.product]
        about = k.Row(
            p.name,
            p.brand,
            k.Thumb(p.kind, p.seed, size_px=56),
            trailing=ui.money(p.price_cents),
            do=product_page(product=p.id),
        )
        buttons = (
            k.Button(
                ("Remove", "移除"), act.wish(product=p.id, on=False), kind="plain", inset_px=6
            ),
            k.Button(
                ("Move to cart", "移到购物车"),
                act.wish_to_cart(product=p.id),
                kind="tonal",
                enabled=p.stock > 0,
                inset_px=6,
            ),
        )
        body.append(k.card(about, k.Line(buttons, inset_px=8)))
    if not body:
        body.append(k.Empty("heart", ("Your wish list is empty", "心愿单是空的")))
    return k.Page(("Wishes", "心愿单"), body, large=True, tabs=views.tabs(s, "wishes"))


# ---- pages: account and addresses --------------------------------------------------------------


@app.page("/account")
def account_page(s: State, ui: k.Ui) -> k.Page:
    """Addresses, offers, and whether to be told about orders."""
    switch = k.Switch(
        ("Order updates", "订单通知"),
        s.order_updates,
        act.set_updates(on=not s.order_updates),
        icon="bell",
        subtitle=("Tell me when orders move", "订单有进展时通知我"),
    )
    chevron = "chevron_right"
    reviews = ui.t(f"{len(s.reviews)} written", f"已写{len(s.reviews)}条")
    return k.Page(
        ("Account", "账户"),
        (
            k.card(
                k.Row(
                    ("Addresses", "收货地址"),
                    lead=k.Glyph("location"),
                    trailing=str(len(s.addresses)),
                    trailing_icon=chevron,
                    do=addresses_page(),
                ),
                k.Row(
                    ("Offers and coupons", "优惠与优惠码"),
                    lead=k.Glyph("tag"),
                    trailing_icon=chevron,
                    do=offers_page(),
                ),
                k.Row(
                    ("My reviews", "我的评价"),
                    lead=k.Glyph("star"),
                    trailing=reviews,
                    trailing_icon=chevron,
                    do=my_reviews_page(),
                ),
            ),
            k.card(switch),
        ),
        large=True,
        tabs=views.tabs(s, "account"),
    )


@app.page("/reviews")
def my_reviews_page(s: State, ui: k.Ui) -> k.Page:
    """What the user wrote."""
    rows: list[k.Widget] = []
    for r in sorted(s.reviews, key=lambda r: -r.at_s):
        p = s.products[r.product]
        rows.append(
            k.card(
                k.Row(
                    p.name,
                    lead=k.Thumb(p.kind, p.seed),
                    trailing=ui.ago(r.at_s),
                    do=product_page(product=p.id),
                ),
                views.Stars(stars=r.stars, label=""),
                k.Paragraph(r.text or "-"),
            )
        )
    if not rows:
        rows.append(k.Empty("star", ("No reviews yet", "还没有评价")))
    return k.Page(("My reviews", "我的评价"), rows)


@app.page("/addresses")
def addresses_page(s: State, ui: k.Ui) -> k.Page:
    """The delivery addresses."""
    rows: list[k.Widget] = []
    for a in s.addresses:
        default = ui.t("Default", "默认") if a.id == s.default_address else ""
        rows.append(
            k.Row(
                a.label,
                views.address_line(a),
                k.Glyph("location"),
                trailing=default,
                trailing_icon="chevron_right",
                do=address_page(address=a.id),
            )
        )
    return k.Page(
        ("Addresses", "收货地址"),
        (k.Card(tuple(rows)),),
        fab=k.Fab("plus", ("New address", "新建地址"), new_address_page()),
    )


def _address_form(ui: k.Ui, a: seed.Address) -> tuple[list[k.Widget], dict[str, Any], bool]:
    label = ui.field("label", ("Label", "标签"), a.label)
    name = ui.field("name", ("Name", "姓名"), a.name)
    street = ui.field("street", ("Street", "街道"), a.street)
    city = ui.field("city", ("City", "城市"), a.city)
    postcode = ui.field("postcode", ("Postcode", "邮编"), a.postcode, kind="number")
    fields = (label, name, street, city, postcode)
    args = {f.name: f.value for f in fields}
    return list(fields), args, all(v.strip() for v in args.values())


@app.page("/addresses/new")
def new_address_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new address."""
    blank = seed.Address(label="", name="", street="", city="", postcode="")
    fields, args, complete = _address_form(ui, blank)
    save = k.Button(("Save", "保存"), act.add_address(**args), enabled=complete)
    return k.Page(("New address", "新建地址"), (*fields, save))


@app.page("/addresses/{address}")
def address_page(s: State, ui: k.Ui, address: AddressId) -> k.Page:
    """The form for an address, with what else can be done with it."""
    a = s.addresses[address]
    fields, args, complete = _address_form(ui, a)
    buttons: list[k.Widget] = [
        k.Button(("Save", "保存"), act.edit_address(address=address, **args), enabled=complete)
    ]
    if address != s.default_address:
        buttons.append(
            k.Button(("Make default", "设为默认"), act.make_default(address=address), kind="tonal")
        )
    sure = ui.question(
        ("Delete address?", "删除地址？"),
        ("Delete", "删除"),
        act.delete_address(address=address),
        views.address_line(a),
        no=views.BACK,
    )
    bin_it = k.IconButton("trash", ("Delete", "删除"), ui.set(sure=True))
    return k.Page(a.label, (*fields, *buttons), dialog=sure, actions=(bin_it,))


k.read_flows(app, __package__)
