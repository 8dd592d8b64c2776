"""Parts that several pages of the wallet share."""

from __future__ import annotations

from screenloop.phone.apps.wallet_seed import (
    BALANCE,
    CATEGORIES,
    Transaction,
)
from screenloop.phone.apps.wallet_state import State, at
from screenloop.phone.canvas import Words
from screenloop.phone.do import Do, Go
from screenloop.phone.inputs import Chips
from screenloop.phone.page import Dialog, DialogButton, Tab
from screenloop.phone.ui import Ui
from screenloop.phone.widgets import (
    Avatar,
    Glyph,
    Row,
)

STATES = {
    "open": ("Open", "待处理"), "paid": ("Paid", "已支付"), "declined": ("Declined", "已拒绝"),
    "cancelled": ("Cancelled", "已取消"), "void": ("Closed", "已关闭"),
}  # fmt: skip


def tabs(shown: str) -> tuple[Tab, ...]:
    """Return the wallet's main pages."""
    entries: tuple[tuple[str, str, tuple[str, str], Go], ...] = (
        ("home", "wallet", ("Home", "首页"), at("/")),
        ("activity", "list", ("Activity", "明细"), at("/activity")),
        ("cards", "card", ("Cards", "卡片"), at("/cards")),
        ("spending", "coins", ("Spending", "支出"), at("/spending")),
    )
    return tuple(
        Tab(icon=icon, words=words, selected=name == shown, do=to.at_root())
        for name, icon, words, to in entries
    )


def transaction_row(ui: Ui, t: Transaction) -> Row:
    """Return a transaction as a row of a list."""
    words, icon, tint = next(c[1:] for c in CATEGORIES if c[0] == t.category)
    sign = "+" if t.amount_cents > 0 else ""
    lead = Avatar(name=t.title) if t.person else Glyph(icon=icon, tint=tint)
    return Row(
        title=t.title, subtitle=f"{ui.t(*words)} · {ui.ago(t.at_s)}", lead=lead,
        trailing=f"{sign}{ui.money(t.amount_cents)}", do=at(f"/t/{t.id}"),
    )  # fmt: skip


def source_words(s: State, ui: Ui, source: str) -> str:
    """Return the name of a source of money."""
    if source == BALANCE:
        return ui.t("Balance", "余额")
    card = s.cards.get(source)
    return f"{card.bank} {card.last4}" if card else ui.t("Removed card", "已移除的卡")


def sources(s: State, ui: Ui) -> Chips:
    """Return chips to choose where money comes from."""
    usable = s.cards.where(lambda c: c.verified)
    usable.sort(key=lambda c: c.id != s.main_card)
    options: list[tuple[str, Words]] = [(BALANCE, source_words(s, ui, BALANCE))]
    options += [(c.id, source_words(s, ui, c.id)) for c in usable]
    return ui.chips("source", options, BALANCE, label=("Pay with", "支付方式"))


def sure_dialog(ui: Ui, title: tuple[str, str], text: str, do: Do) -> Dialog | None:
    """Return the question before something is removed, where it was asked."""
    if not ui.get("sure", False):
        return None
    no = ui.set(sure=False)
    return Dialog(
        title=title, text=text, dismiss=no,
        buttons=(
            DialogButton(words=("Cancel", "取消"), do=no),
            DialogButton(words=("Remove", "移除"), do=do, danger=True),
        ),
    )  # fmt: skip
