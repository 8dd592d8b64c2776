"""What the wallet keeps, the rules for money that leaves it, and look-ups."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.wallet import seed

TransactionId = Annotated[str, k.Refers("wallet.transactions")]
BillId = Annotated[str, k.Refers("wallet.bills")]
RequestId = Annotated[str, k.Refers("wallet.requests")]
PaymentId = Annotated[str, k.Refers("wallet.payments")]
Amount = Annotated[str, msgspec.Meta(max_length=14)]
"""Dollars as typed: `12.50`."""
Source = Annotated[str, msgspec.Meta(max_length=20)]
"""`balance` or a card's id."""
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
TINT = "#0f766e"
SENDER = "72480"
"""Short number that codes come from."""
CODE_AFTER_S = 5
ANSWER_AFTER_S = 600
"""How long a contact takes to pay what the user asked for."""
MASKED = "••••••"


class State(k.AppState):
    """Money, and who wants some."""

    cards = k.Table(seed.BankCard, prefix="card", seed=seed.seed_cards)
    transactions = k.Table(seed.Transaction, prefix="txn", seed=seed.seed_transactions)
    bills = k.Table(seed.Bill, prefix="bill", seed=seed.seed_bills)
    requests = k.Table(seed.MoneyRequest, prefix="request", seed=seed.seed_requests)
    payments = k.Table(seed.Payment, prefix="payment")
    balance_cents: int = 124_350
    daily_limit_cents: int = 100_000
    hide_balance: bool = False
    main_card: str = "card1"


app = k.App("wallet", State, title=("Wallet", "钱包"), icon="wallet", tint=TINT)


# ---- rules -----------------------------------------------------------------------------------


def at(path: str) -> k.Go:
    """Return the move to a page by its path."""
    return k.Go(app="wallet", path=path)


def cents_of(ctx: k.Ctx, amount: str) -> int:
    """Return an amount above zero, or refuse what was typed."""
    cents = seed.parse_cents(amount)
    if not cents:
        why = (
            f"{amount.strip() or 'Nothing'} is no amount; enter dollars such as 12.50",
            f"{amount.strip() or '空'}不是金额；请输入美元，例如12.50",
        )
        raise k.Refused(ctx.t(*why))
    return cents


def money(cents: int) -> str:
    """Return `$12.50`."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def spent_today(s: State, now_s: int) -> int:
    """Return the cents that left the wallet today; what counts against the daily limit."""
    day = now_s // 86_400
    out = s.transactions.where(lambda t: t.amount_cents < 0 and t.at_s // 86_400 == day)
    return -sum(t.amount_cents for t in out)


def take(s: State, ctx: k.Ctx, cents: int, source: str) -> None:
    """Check that money may leave a source now, and take it from there."""
    if not ctx.of(k.SystemState).online:
        ctx.refuse(ctx.t("You are offline", "当前没有网络"))
    left = s.daily_limit_cents - spent_today(s, ctx.now_s)
    if cents > left:
        ctx.refuse(
            ctx.t(
                f"Over your daily limit: {money(max(0, left))} left today",
                f"超出每日限额：今天还可用{money(max(0, left))}",
            )
        )
    if source == seed.BALANCE:
        if cents > s.balance_cents:
            ctx.refuse(ctx.t("Your balance is too low", "余额不足"))
        s.balance_cents -= cents
    else:
        check_card(s, ctx, source)


def check_card(s: State, ctx: k.Ctx, card_id: str) -> None:
    """Refuse a card that is frozen or not confirmed."""
    card = s.cards[card_id]
    if card.frozen:
        ctx.refuse(ctx.t(f"{card.bank} is frozen", f"{card.bank}已冻结"))
    if not card.verified:
        ctx.refuse(ctx.t(f"{card.bank} is not verified yet", f"{card.bank}尚未验证"))


def name_of(ctx: k.Ctx, person: str) -> str:
    """Return a contact's name; refuse who is blocked."""
    row = ctx.of(contacts.State).people[person]
    if row.blocked:
        ctx.refuse(ctx.t(f"{row.name} is blocked in Contacts", f"{row.name}已被屏蔽"))
    return row.name


def done(ctx: k.Ctx, transaction: seed.Transaction) -> None:
    """Show the receipt on top of the first page."""
    ctx.move(at("/").at_root())
    ctx.move(at(f"/t/{transaction.id}"))


# ---- queries -------------------------------------------------------------------------------------


@app.query("balance.get")
def get_balance(s: State, ctx: k.Ctx) -> dict[str, int]:
    """Read the balance, the daily limit and what is left of it, in cents."""
    left = s.daily_limit_cents - spent_today(s, ctx.now_s)
    return {
        "balance_cents": s.balance_cents,
        "daily_limit_cents": s.daily_limit_cents,
        "left_today_cents": max(0, left),
    }


@app.query("transactions.search", shows="/activity")
def search(
    s: State,
    ctx: k.Ctx,
    text: str = "",
    category: seed.Category | None = None,
    direction: Literal["", "in", "out"] = "",
) -> list[seed.Transaction]:
    """Find transactions by text, category and direction (in or out), newest first."""
    return found(s, text, category or "", direction)


@app.query("transactions.get", shows="/t/{transaction}")
def get_transaction(s: State, ctx: k.Ctx, transaction: TransactionId) -> seed.Transaction:
    """Read one transaction."""
    return s.transactions[transaction]


@app.query("spending.month", shows="/spending")
def spending(s: State, ctx: k.Ctx, month: str) -> dict[str, int]:
    """Sum what was spent in a month (YYYY-MM) by category, in cents."""
    return spent(s, month)


@app.query("cards.list", tool="List the cards.", shows="/cards")
def list_cards(s: State, ctx: k.Ctx) -> list[dict[str, Any]]:
    """Return the cards without their codes."""
    fields = ("id", "bank", "network", "kind", "last4", "expires", "frozen", "verified")
    return [{f: getattr(c, f) for f in fields} | {"main": c.id == s.main_card} for c in s.cards]


@app.query("bills.list", shows="/bills")
def list_bills(s: State, ctx: k.Ctx) -> list[seed.Bill]:
    """List the bills, the first due first."""
    return sorted(s.bills, key=lambda b: b.due)


@app.query("requests.list", shows="/requests")
def list_requests(s: State, ctx: k.Ctx) -> list[seed.MoneyRequest]:
    """List requests for money, both ways."""
    return list(s.requests)


@app.query("payments.list", tool="List payments that other apps asked for.", shows="/")
def list_payments(s: State, ctx: k.Ctx) -> list[dict[str, Any]]:
    """Return the payments without what they call back."""
    fields = ("id", "merchant", "amount_cents", "order", "state", "source")
    return [{f: getattr(p, f) for f in fields} for p in s.payments]


def month_of(at_s: int) -> str:
    """Return the month of an epoch second, `YYYY-MM`."""
    return date.fromordinal(date(1970, 1, 1).toordinal() + at_s // 86_400).isoformat()[:7]


def days_until(due: str, now_s: int) -> int:
    """Return the days from now to an ISO date; below zero when it is past."""
    return date.fromisoformat(due).toordinal() - date(1970, 1, 1).toordinal() - now_s // 86_400


def found(s: State, text: str, category: str, direction: str) -> list[seed.Transaction]:
    """Return the transactions that fit, newest first; empty arguments fit all."""
    wanted = text.casefold().strip()
    rows = s.transactions.where(
        lambda t: (
            wanted in f"{t.title} {t.note}".casefold()
            and category in ("", t.category)
            and (direction == "" or (direction == "in") == (t.amount_cents > 0))
        )
    )
    return sorted(rows, key=lambda t: (-t.at_s, t.id))


def spent(s: State, month: str) -> dict[str, int]:
    """Return what left the wallet in a month, cents by category."""
    sums: dict[str, int] = {}
    for row in s.transactions:
        if row.amount_cents < 0 and month_of(row.at_s) == month:
            sums[row.category] = sums.get(row.category, 0) - row.amount_cents
    return sums
