"""What the wallet draws: its own widgets, and the rows, choices and words of several pages."""

from __future__ import annotations

from screenloop.phone import kit as k
from screenloop.phone.apps.wallet.seed import BALANCE, CATEGORIES, Transaction
from screenloop.phone.apps.wallet.state import State, at


def _ground(tint: str) -> str:
    return f"linear-gradient(135deg,{k.mix(tint, '#ffffff', 0.12)},{k.mix(tint, '#000000', 0.35)})"


class BalanceCard(k.Struct, frozen=True, kw_only=True):
    """The balance on the wallet's colour, with an eye that hides it."""

    amount: str
    caption: k.Words
    tint: str
    note: k.Words
    icon: str
    label: k.Words
    do: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        return 156

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        left, width = x + k.MARGIN_PX, w - 2 * k.MARGIN_PX
        d.box(left, y + 4, width, 144, _ground(self.tint), radius=24, shadow=6)
        pale = k.mix(self.tint, "#ffffff", 0.8)
        d.text(self.caption, left + 20, y + 22, width - 90, 14, pale)
        d.text(self.amount, left + 20, y + 46, width - 40, 36, "#ffffff", bold=True)
        d.text(self.note, left + 20, y + 110, width - 40, 13, pale)
        d.icon(self.icon, left + width - 46, y + 20, 22, "#ffffff")
        box = k.Box(left + width - 56, y + 8, 44, 44)
        d.node(k.Node("button", d.words(self.label), box, do=self.do))


class CardFace(k.Struct, frozen=True, kw_only=True):
    """A payment card as it looks."""

    bank: str
    network: str
    last4: str
    expires: str
    tint: str
    status: k.Words = ""
    do: k.Do | None = None

    def height(self, d: k.Canvas, w: int) -> int:
        return 186

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        left, width = x + k.MARGIN_PX, w - 2 * k.MARGIN_PX
        d.box(left, y + 4, width, 172, _ground(self.tint), radius=20, shadow=4)
        pale = k.mix(self.tint, "#ffffff", 0.75)
        white = "#ffffff"
        d.text(self.bank, left + 20, y + 20, width - 150, 17, white, bold=True, role=None)
        status = d.words(self.status)
        if status:
            d.box(left + width - 118, y + 18, 102, 28, "rgba(0,0,0,0.28)", radius=14)
            d.centered(status, left + width - 118, y + 18, 102, 12, white, line_px=28, bold=True)
        d.box(left + 20, y + 64, 40, 30, "#e8c77a", radius=6)
        d.box(left + 32, y + 64, 1, 30, "#b8934a")
        d.box(left + 47, y + 64, 1, 30, "#b8934a")
        shown = f"•••• •••• •••• {self.last4}"
        d.text(shown, left + 20, y + 108, width - 40, 18, white, role=None)
        d.text(self.expires, left + 20, y + 142, 120, 14, pale, role=None)
        d.text(
            self.network,
            left + width - 140,
            y + 138,
            120,
            18,
            white,
            bold=True,
            align="right",
            role=None,
        )
        label = " · ".join(filter(None, (self.bank, f"•••• {self.last4}", status)))
        box = k.Box(left, y + 4, width, 172)
        d.node(k.Node("button" if self.do else "image", label, box, do=self.do))


class SpendBar(k.Struct, frozen=True, kw_only=True):
    """What went to one category, as a row with a bar."""

    icon: str
    tint: str
    words: k.Words
    amount: str
    share: float
    """Of the largest one."""
    do: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        return 64

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        t = d.theme
        left = x + k.MARGIN_PX
        color = self.tint if not t.dark else k.mix(self.tint, "#ffffff", 0.4)
        d.box(
            left,
            y + 12,
            40,
            40,
            k.mix(self.tint, t.surface, 0.86 if not t.dark else 0.7),
            radius=13,
        )
        d.icon(self.icon, left + 10, y + 22, 20, color)
        room = w - 2 * k.MARGIN_PX - 54
        label = d.words(self.words)
        d.text(label, left + 54, y + 12, room - 100, 15, role=None)
        d.text(
            self.amount,
            left + 54 + room - 100,
            y + 12,
            100,
            15,
            bold=True,
            align="right",
            role=None,
        )
        d.box(left + 54, y + 42, room, 6, t.fill, radius=3)
        d.box(left + 54, y + 42, max(6, round(room * self.share)), 6, color, radius=3)
        box = k.Box(x, y, w, 64)
        d.node(k.Node("row", f"{label} · {self.amount}", box, do=self.do))


# ---- what several pages share --------------------------------------------------------------

STATES = {
    "open": ("Open", "待处理"),
    "paid": ("Paid", "已支付"),
    "declined": ("Declined", "已拒绝"),
    "cancelled": ("Cancelled", "已取消"),
    "void": ("Closed", "已关闭"),
}


def tabs(shown: str) -> tuple[k.Tab, ...]:
    """Return the wallet's main pages."""
    return k.tabs(
        shown,
        ("home", "wallet", ("Home", "首页"), at("/")),
        ("activity", "list", ("Activity", "明细"), at("/activity")),
        ("cards", "card", ("Cards", "卡片"), at("/cards")),
        ("spending", "coins", ("Spending", "支出"), at("/spending")),
    )


def transaction_row(ui: k.Ui, t: Transaction) -> k.Row:
    """Return a transaction as a row of a list."""
    words, icon, tint = next(c[1:] for c in CATEGORIES if c[0] == t.category)
    sign = "+" if t.amount_cents > 0 else ""
    lead = k.Avatar(t.title) if t.person else k.Glyph(icon, tint=tint)
    return k.Row(
        t.title,
        f"{ui.t(*words)} · {ui.ago(t.at_s)}",
        lead,
        trailing=f"{sign}{ui.money(t.amount_cents)}",
        do=at(f"/t/{t.id}"),
    )


def source_words(s: State, ui: k.Ui, source: str) -> str:
    """Return the name of a source of money."""
    if source == BALANCE:
        return ui.t("Balance", "余额")
    card = s.cards.get(source)
    return f"{card.bank} {card.last4}" if card else ui.t("Removed card", "已移除的卡")


def sources(s: State, ui: k.Ui) -> k.Chips:
    """Return chips to choose where money comes from."""
    usable = s.cards.where(lambda c: c.verified)
    usable.sort(key=lambda c: c.id != s.main_card)
    options: list[tuple[str, k.Words]] = [(BALANCE, source_words(s, ui, BALANCE))]
    options += [(c.id, source_words(s, ui, c.id)) for c in usable]
    return ui.chips("source", options, BALANCE, label=("Pay with", "支付方式"))
