"""What the shop draws: its own widgets, and the tiles, sums and words of several pages."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.phone import kit as k
from screenloop.phone.apps.shop.seed import COLOURS, Address, OrderState, Product, Speed, Totals
from screenloop.phone.apps.shop.state import CancelReason, ReturnReason, Sort, State, at
from screenloop.phone.draw.fonts import advance_px

STAR = "#f0a020"


class Hero(k.Struct, frozen=True, kw_only=True):
    """The offer at the top of the shop."""

    title: k.Words
    text: k.Words
    kind: str
    seed: int
    tint: str
    do: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        return 148

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        left, width = x + k.MARGIN_PX, w - 2 * k.MARGIN_PX
        ground = f"linear-gradient(120deg,{self.tint},{k.mix(self.tint, '#000000', 0.35)})"
        d.box(left, y + 4, width, 136, ground, radius=22)
        d.picture(self.kind, self.seed, left + width - 128, y + 14, 116, 116, radius=18)
        d.text(
            self.title,
            left + 20,
            y + 30,
            width - 160,
            21,
            "#ffffff",
            line_px=26,
            bold=True,
            lines=2,
            role=None,
        )
        d.text(self.text, left + 20, y + 90, width - 160, 14, "#ffe3d6", lines=2, role=None)
        label = f"{d.words(self.title)} · {d.words(self.text)}"
        box = k.Box(left, y + 4, width, 136)
        d.node(k.Node("button", label, box, do=self.do))


class CategoryDot(k.Struct, frozen=True, kw_only=True):
    """A category as a round picture with its name."""

    kind: str
    seed: int
    words: k.Words
    do: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        return 96

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        d.picture(self.kind, self.seed, x + (w - 60) // 2, y + 6, 60, 60, radius=30)
        label = d.words(self.words)
        d.centered(label, x, y + 70, w, 12)
        d.node(k.Node("button", label, k.Box(x, y, w, 94), do=self.do))


class Price(k.Struct, frozen=True, kw_only=True):
    """A price, with the old one struck through, and a word on the right."""

    now: str
    was: str = ""
    note: k.Words = ""
    note_color: str = ""

    def height(self, d: k.Canvas, w: int) -> int:
        return 44

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        left = x + k.MARGIN_PX
        d.text(self.now, left, y + 4, 150, 26, d.theme.tint, bold=True)
        step = int(advance_px(self.now, 26, True)) + 10
        d.text(self.was, left + step, y + 14, 100, 15, d.theme.muted, strike=True)
        d.text(
            self.note,
            x + w - k.MARGIN_PX - 150,
            y + 14,
            150,
            14,
            self.note_color or d.theme.muted,
            align="right",
        )


class SumLine(k.Struct, frozen=True, kw_only=True):
    """One line of a bill."""

    words: k.Words
    amount: str
    bold: bool = False

    def height(self, d: k.Canvas, w: int) -> int:
        return 40 if self.bold else 32

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        size = 18 if self.bold else 14
        color = d.theme.ink if self.bold else d.theme.muted
        top = y + (8 if self.bold else 6)
        label = d.words(self.words)
        d.text(label, x + 16, top, w - 140, size, color, bold=self.bold, role=None)
        d.text(self.amount, x + w - 136, top, 120, size, bold=self.bold, align="right", role=None)
        box = k.Box(x, y, w, self.height(d, w))
        d.node(k.Node("text", f"{label} · {self.amount}", box))


class Stars(k.Struct, frozen=True, kw_only=True):
    """Five stars; where a local is named, a touch sets it."""

    stars: int
    label: str
    local: str = ""

    def height(self, d: k.Canvas, w: int) -> int:
        return 64 if self.local else 28

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        size, step = (36, 56) if self.local else (18, 21)
        left = x + (w - 5 * step) // 2 if self.local else x + k.MARGIN_PX
        for number in range(1, 6):
            lit = number <= self.stars
            at = left + (number - 1) * step
            inset = (step - size) // 2
            color = STAR if lit else d.theme.line
            d.icon("star_filled", at + inset, y + (14 if self.local else 5), size, color)
            if self.local:
                do = k.SetLocal(values={self.local: number})
                name = f"{number} {'star' if number == 1 else 'stars'}"
                label = d.words((name, f"{number}星"))
                box = k.Box(at, y, step, 64)
                d.node(k.Node("button", label, box, do=do, selected=lit))
        if not self.local:
            d.text(self.label, left + 5 * step + 8, y + 4, w - 150, 13, d.theme.muted)


class Way(k.Struct, frozen=True, kw_only=True):
    """How far an order has come: dots on a line."""

    steps: tuple[k.Words, ...]
    reached: int
    """Number of steps that are done."""

    def height(self, d: k.Canvas, w: int) -> int:
        return 84

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        cell = w // len(self.steps)
        first, last = x + cell // 2, x + w - cell // 2
        d.box(first, y + 26, last - first, 4, t.line, radius=2)
        if self.reached > 1:
            d.box(first, y + 26, (self.reached - 1) * cell, 4, t.tint, radius=2)
        for number, words in enumerate(self.steps):
            done = number < self.reached
            left = x + number * cell + cell // 2
            d.box(left - 12, y + 16, 24, 24, t.tint if done else t.line, radius=12)
            if done:
                d.icon("check", left - 8, y + 20, 16, t.on_tint)
            d.text(
                words,
                x + number * cell,
                y + 48,
                cell,
                12,
                t.ink if done else t.muted,
                align="center",
            )


# ---- what several pages share --------------------------------------------------------------

TINT = "#d9480f"
BACK = ("Back", "返回")
"""The answer that takes a question back."""
STATES: dict[OrderState, tuple[str, str]] = {
    "unpaid": ("Waiting for payment", "待付款"),
    "processing": ("Being packed", "备货中"),
    "shipped": ("On its way", "运输中"),
    "delivered": ("Delivered", "已送达"),
    "cancelled": ("Cancelled", "已取消"),
    "returned": ("Returned", "已退货"),
}
REACHED: dict[OrderState, int] = {"unpaid": 0, "processing": 1, "shipped": 2, "delivered": 3}
WAY: tuple[k.Words, ...] = (("Paid", "已付款"), ("Shipped", "已发货"), ("Delivered", "已送达"))
SPEEDS: tuple[tuple[Speed, tuple[str, str]], ...] = (
    ("standard", ("Standard, tomorrow", "标准，明天送达")),
    ("express", ("Express, within the hour", "快速，一小时内")),
)
SORTS: tuple[tuple[Sort, tuple[str, str]], ...] = (
    ("", ("Featured", "推荐")),
    ("price_up", ("Low price", "价格从低到高")),
    ("price_down", ("High price", "价格从高到低")),
    ("rating", ("Rating", "评分最高")),
)
CANCEL_REASONS: tuple[tuple[CancelReason, tuple[str, str]], ...] = (
    ("Changed my mind", ("Changed my mind", "不想要了")),
    ("Found it cheaper", ("Found it cheaper", "找到更便宜的")),
    ("Ordered by mistake", ("Ordered by mistake", "误下单")),
)
RETURN_REASONS: tuple[tuple[ReturnReason, tuple[str, str]], ...] = (
    ("Does not fit", ("Does not fit", "尺寸不合适")),
    ("Damaged", ("Damaged", "商品损坏")),
    ("Not as described", ("Not as described", "与描述不符")),
    ("No longer needed", ("No longer needed", "不再需要")),
)


def tabs(s: State, shown: str) -> tuple[k.Tab, ...]:
    """Return the shop's main pages; the cart's tab counts its pieces."""
    return k.tabs(
        shown,
        ("home", "store", ("Shop", "商店"), at("/")),
        ("wishes", "heart", ("Wishes", "心愿单"), at("/wishes")),
        ("cart", "cart", ("Cart", "购物车"), at("/cart")),
        ("orders", "truck", ("Orders", "订单"), at("/orders")),
        ("account", "user", ("Account", "账户"), at("/account")),
        badges={"cart": sum(line.quantity for line in s.cart)},
    )


def tile(ui: k.Ui, p: Product) -> k.Tile:
    """Return a product as a tile."""
    note = f"{p.rating / 10:.1f} / 5"
    if p.was_cents:
        note += ui.t(f" · was {ui.money(p.was_cents)}", f" · 原价{ui.money(p.was_cents)}")
    if not p.stock:
        note = ui.t("Out of stock", "已售罄")
    return k.Tile(p.kind, p.seed, p.name, ui.money(p.price_cents), at(f"/p/{p.id}"), note=note)


def tiles(ui: k.Ui, products: Sequence[Product]) -> k.Grid:
    """Return products as two columns of tiles."""
    return k.Grid(tuple(tile(ui, p) for p in products), columns=2, gap_px=12)


def colour_words(ui: k.Ui, colour: str) -> str:
    """Return a colour's name."""
    return ui.t(*COLOURS[colour]) if colour else ui.t("One colour", "单色")


def sums_card(ui: k.Ui, sums: Totals, coupon: str) -> k.Card:
    """Return what an order costs, line by line."""
    rows: list[k.Widget] = [SumLine(words=("Items", "商品"), amount=ui.money(sums.items))]
    if coupon:
        words = ui.t(f"Coupon {coupon}", f"优惠码 {coupon}")
        rows.append(SumLine(words=words, amount=ui.money(-sums.discount)))
    free = ui.t("Free", "免费")
    shown = ui.money(sums.delivery) if sums.delivery else free
    rows.append(SumLine(words=("Delivery", "运费"), amount=shown))
    rows.append(SumLine(words=("Total", "合计"), amount=ui.money(sums.total), bold=True))
    return k.Card(tuple(rows))


def address_line(a: Address) -> str:
    """Return an address in one line."""
    return f"{a.street}, {a.postcode} {a.city}"
