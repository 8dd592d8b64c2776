"""Parts that several pages of the shop share."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.phone.apps.shop_seed import (
    COLOURS,
    Address,
    OrderState,
    Product,
    Speed,
    Totals,
)
from screenloop.phone.apps.shop_state import CancelReason, ReturnReason, Sort, State, at
from screenloop.phone.apps.shop_views import SumLine
from screenloop.phone.canvas import Words
from screenloop.phone.do import Do, Go
from screenloop.phone.page import Dialog, DialogButton, Tab
from screenloop.phone.ui import Ui
from screenloop.phone.widgets import (
    Card,
    Grid,
    Tile,
    Widget,
)

TINT = "#d9480f"
STATES: dict[OrderState, tuple[str, str]] = {
    "unpaid": ("Waiting for payment", "待付款"), "processing": ("Being packed", "备货中"),
    "shipped": ("On its way", "运输中"), "delivered": ("Delivered", "已送达"),
    "cancelled": ("Cancelled", "已取消"), "returned": ("Returned", "已退货"),
}  # fmt: skip
REACHED: dict[OrderState, int] = {"unpaid": 0, "processing": 1, "shipped": 2, "delivered": 3}
WAY: tuple[Words, ...] = (("Paid", "已付款"), ("Shipped", "已发货"), ("Delivered", "已送达"))
SPEEDS: tuple[tuple[Speed, tuple[str, str]], ...] = (
    ("standard", ("Standard, tomorrow", "标准，明天送达")),
    ("express", ("Express, within the hour", "快速，一小时内")),
)
SORTS: tuple[tuple[Sort, tuple[str, str]], ...] = (
    ("", ("Featured", "推荐")), ("price_up", ("Low price", "价格从低到高")),
    ("price_down", ("High price", "价格从高到低")), ("rating", ("Rating", "评分最高")),
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


def tabs(s: State, shown: str) -> tuple[Tab, ...]:
    """Return the shop's main pages; the cart's tab counts its pieces."""
    entries: tuple[tuple[str, str, tuple[str, str], Go], ...] = (
        ("home", "store", ("Shop", "商店"), at("/")),
        ("wishes", "heart", ("Wishes", "心愿单"), at("/wishes")),
        ("cart", "cart", ("Cart", "购物车"), at("/cart")),
        ("orders", "truck", ("Orders", "订单"), at("/orders")),
        ("account", "user", ("Account", "账户"), at("/account")),
    )
    count = sum(line.quantity for line in s.cart)
    return tuple(
        Tab(icon=icon, words=words, selected=name == shown, do=to.at_root(),
            badge=count if name == "cart" else 0)
        for name, icon, words, to in entries
    )  # fmt: skip


def tile(ui: Ui, p: Product) -> Tile:
    """Return a product as a tile."""
    note = f"{p.rating / 10:.1f} / 5"
    if p.was_cents:
        note += ui.t(f" · was {ui.money(p.was_cents)}", f" · 原价{ui.money(p.was_cents)}")
    if not p.stock:
        note = ui.t("Out of stock", "已售罄")
    return Tile(
        kind=p.kind, seed=p.seed, title=p.name, subtitle=ui.money(p.price_cents), note=note,
        do=at(f"/p/{p.id}"),
    )  # fmt: skip


def tiles(ui: Ui, products: Sequence[Product]) -> Grid:
    """Return products as two columns of tiles."""
    return Grid(children=tuple(tile(ui, p) for p in products), columns=2, gap_px=12)


def colour_words(ui: Ui, colour: str) -> str:
    """Return a colour's name."""
    return ui.t(*COLOURS[colour]) if colour else ui.t("One colour", "单色")


def sums_card(ui: Ui, sums: Totals, coupon: str) -> Card:
    """Return what an order costs, line by line."""
    rows: list[Widget] = [SumLine(words=("Items", "商品"), amount=ui.money(sums.items))]
    if coupon:
        words = ui.t(f"Coupon {coupon}", f"优惠码 {coupon}")
        rows.append(SumLine(words=words, amount=ui.money(-sums.discount)))
    free = ui.t("Free", "免费")
    shown = ui.money(sums.delivery) if sums.delivery else free
    rows.append(SumLine(words=("Delivery", "运费"), amount=shown))
    rows.append(SumLine(words=("Total", "合计"), amount=ui.money(sums.total), bold=True))
    return Card(children=tuple(rows))


def sure_dialog(
    ui: Ui, title: tuple[str, str], text: str, yes: tuple[str, str], do: Do,
    body: tuple[Widget, ...] = (),
) -> Dialog | None:  # fmt: skip
    """Return a question before something final, where it was asked."""
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


def address_line(a: Address) -> str:
    """Return an address in one line."""
    return f"{a.street}, {a.postcode} {a.city}"
