"""Wallet: balance, cards, sending and asking for money, bills, payments that other apps ask for."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import msgspec

from screenloop.phone.app import App
from screenloop.phone.apps import contacts, messages
from screenloop.phone.apps.wallet_seed import (
    BALANCE,
    CARD_TINTS,
    CATEGORIES,
    BankCard,
    Bill,
    CardId,
    Category,
    MoneyRequest,
    Note,
    Payment,
    PersonId,
    Transaction,
    code_for,
    parse_cents,
    seed_bills,
    seed_cards,
    seed_requests,
    seed_transactions,
)
from screenloop.phone.apps.wallet_views import BalanceCard, CardFace, SpendBar
from screenloop.phone.canvas import Words
from screenloop.phone.ctx import Ctx, Refused
from screenloop.phone.do import Back, Call, Do, Go
from screenloop.phone.flows import enter, tap, wait
from screenloop.phone.inputs import MONTHS, Chip, Chips
from screenloop.phone.page import Dialog, DialogButton, Fab, Page, Tab
from screenloop.phone.state import AppState, Refers, Table
from screenloop.phone.system import SystemState
from screenloop.phone.ui import Ui
from screenloop.phone.widgets import (
    Action,
    Avatar,
    Banner,
    Big,
    Button,
    Card,
    Empty,
    Glyph,
    Heading,
    IconButton,
    Line,
    Row,
    Text,
    Widget,
)

TransactionId = Annotated[str, Refers("wallet.transactions")]
BillId = Annotated[str, Refers("wallet.bills")]
RequestId = Annotated[str, Refers("wallet.requests")]
PaymentId = Annotated[str, Refers("wallet.payments")]
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


class State(AppState):
    """Money, and who wants some."""

    cards = Table(BankCard, prefix="card", seed=seed_cards)
    transactions = Table(Transaction, prefix="txn", seed=seed_transactions)
    bills = Table(Bill, prefix="bill", seed=seed_bills)
    requests = Table(MoneyRequest, prefix="request", seed=seed_requests)
    payments = Table(Payment, prefix="payment")
    balance_cents: int = 124_350
    daily_limit_cents: int = 100_000
    hide_balance: bool = False
    main_card: str = "card1"


app = App("wallet", State, title=("Wallet", "钱包"), icon="wallet", tint=TINT)


# ---- rules -----------------------------------------------------------------------------------


def _cents(ctx: Ctx, amount: str) -> int:
    """Return an amount above zero, or refuse what was typed."""
    cents = parse_cents(amount)
    if not cents:
        why = (
            f"{amount.strip() or 'Nothing'} is no amount; enter dollars such as 12.50",
            f"{amount.strip() or '空'}不是金额；请输入美元，例如12.50",
        )
        raise Refused(ctx.t(*why))
    return cents


def _money(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02d}"


def spent_today(s: State, now_s: int) -> int:
    """Return the cents that left the wallet today; what counts against the daily limit."""
    day = now_s // 86_400
    out = s.transactions.where(lambda t: t.amount_cents < 0 and t.at_s // 86_400 == day)
    return -sum(t.amount_cents for t in out)


def _take(s: State, ctx: Ctx, cents: int, source: str) -> None:
    """Check that money may leave a source now, and take it from there."""
    if not ctx.of(SystemState).online:
        ctx.refuse(ctx.t("You are offline", "当前没有网络"))
    left = s.daily_limit_cents - spent_today(s, ctx.now_s)
    if cents > left:
        ctx.refuse(
            ctx.t(f"Over your daily limit: {_money(max(0, left))} left today",
                  f"超出每日限额：今天还可用{_money(max(0, left))}")
        )  # fmt: skip
    if source == BALANCE:
        if cents > s.balance_cents:
            ctx.refuse(ctx.t("Your balance is too low", "余额不足"))
        s.balance_cents -= cents
    else:
        _check_card(s, ctx, source)


def _check_card(s: State, ctx: Ctx, card_id: str) -> None:
    card = s.cards[card_id]
    if card.frozen:
        ctx.refuse(ctx.t(f"{card.bank} is frozen", f"{card.bank}已冻结"))
    if not card.verified:
        ctx.refuse(ctx.t(f"{card.bank} is not verified yet", f"{card.bank}尚未验证"))


def _name_of(ctx: Ctx, person: str) -> str:
    row = ctx.of(contacts.State).people[person]
    if row.blocked:
        ctx.refuse(ctx.t(f"{row.name} is blocked in Contacts", f"{row.name}已被屏蔽"))
    return row.name


def _done(ctx: Ctx, transaction: Transaction) -> None:
    """Show the receipt on top of the first page."""
    ctx.move(home_page().at_root())
    ctx.move(transaction_page(transaction=transaction.id))


# ---- actions: people and balance ----------------------------------------------------------------


@app.action(
    "money.send", tool="Send dollars from the balance to a contact.",
    writes=["transactions", "balance_cents"],
    check=lambda before, after, a: after.balance_cents
    == before.balance_cents - parse_cents(a.amount),
)  # fmt: skip
def send(s: State, ctx: Ctx, person: PersonId, amount: Amount, note: Note = "") -> None:
    """Send money to a contact."""
    cents, name = _cents(ctx, amount), _name_of(ctx, person)
    _take(s, ctx, cents, BALANCE)
    row = s.transactions.add(
        Transaction(title=name, category="transfer", amount_cents=-cents, at_s=ctx.now_s,
                    source=BALANCE, note=note.strip(), person=person)
    )  # fmt: skip
    ctx.toast(ctx.t(f"Sent {_money(cents)} to {name}", f"已向{name}转账{_money(cents)}"))
    _done(ctx, row)


@app.action(
    "money.request", tool="Ask a contact for dollars; they may pay within minutes.",
    writes=["requests"],
    check=lambda before, after, a: len(after.requests) == len(before.requests) + 1,
)  # fmt: skip
def ask(s: State, ctx: Ctx, person: PersonId, amount: Amount, note: Note = "") -> None:
    """Ask a contact for money."""
    cents, name = _cents(ctx, amount), _name_of(ctx, person)
    row = s.requests.add(
        MoneyRequest(person=person, name=name, amount_cents=cents, note=note.strip(),
                     incoming=False, at_s=ctx.now_s)
    )  # fmt: skip
    ctx.after(ANSWER_AFTER_S, settle(request=row.id))
    ctx.toast(ctx.t(f"Asked {name} for {_money(cents)}", f"已向{name}请求{_money(cents)}"))
    ctx.move(home_page().at_root())
    ctx.move(requests_page())


@app.action("requests.settle", writes=["requests", "transactions", "balance_cents"])
def settle(s: State, ctx: Ctx, request: RequestId) -> None:
    """The contact pays what the user asked for, unless that was taken back."""
    row = s.requests.get(request)
    if row is None or row.state != "open":
        return
    s.requests.update(request, state="paid")
    s.balance_cents += row.amount_cents
    got = s.transactions.add(
        Transaction(title=row.name, category="transfer", amount_cents=row.amount_cents,
                    at_s=ctx.now_s, source=BALANCE, note=row.note, person=row.person)
    )  # fmt: skip
    ctx.notify(
        ctx.t("Money received", "收到转账"),
        ctx.t(f"{row.name} paid you {_money(row.amount_cents)}",
              f"{row.name}向你支付了{_money(row.amount_cents)}"),
        transaction_page(transaction=got.id),
    )  # fmt: skip


def _open_request(s: State, ctx: Ctx, request: str, *, incoming: bool) -> MoneyRequest:
    row = s.requests[request]
    if row.state != "open" or row.incoming != incoming:
        ctx.refuse(ctx.t("This request is not open", "该请求已处理"))
    return row


@app.action(
    "requests.approve", tool="Pay what a contact asks for, from the balance.",
    writes=["requests", "transactions", "balance_cents"],
    check=lambda before, after, a: after.requests[a.request].state == "paid",
)  # fmt: skip
def approve(s: State, ctx: Ctx, request: RequestId) -> None:
    """Pay what a contact asks for."""
    row = _open_request(s, ctx, request, incoming=True)
    _take(s, ctx, row.amount_cents, BALANCE)
    s.requests.update(request, state="paid")
    s.transactions.add(
        Transaction(title=row.name, category="transfer", amount_cents=-row.amount_cents,
                    at_s=ctx.now_s, source=BALANCE, note=row.note, person=row.person)
    )  # fmt: skip
    ctx.toast(ctx.t(f"Paid {row.name}", f"已支付给{row.name}"))


@app.action(
    "requests.decline", tool="Decline what a contact asks for.", writes=["requests"],
    check=lambda before, after, a: after.requests[a.request].state == "declined",
)  # fmt: skip
def decline(s: State, ctx: Ctx, request: RequestId) -> None:
    """Decline what a contact asks for."""
    _open_request(s, ctx, request, incoming=True)
    s.requests.update(request, state="declined")
    ctx.toast(ctx.t("Request declined", "已拒绝请求"))


@app.action(
    "requests.cancel", tool="Take back a request to a contact.", writes=["requests"],
    check=lambda before, after, a: after.requests[a.request].state == "cancelled",
)  # fmt: skip
def cancel(s: State, ctx: Ctx, request: RequestId) -> None:
    """Take back what the user asked for."""
    _open_request(s, ctx, request, incoming=False)
    s.requests.update(request, state="cancelled")
    ctx.toast(ctx.t("Request cancelled", "已取消请求"))


@app.action(
    "balance.top_up", tool="Move dollars from a card to the balance.",
    writes=["transactions", "balance_cents"],
    check=lambda before, after, a: after.balance_cents
    == before.balance_cents + parse_cents(a.amount),
)  # fmt: skip
def top_up(s: State, ctx: Ctx, card: CardId, amount: Amount) -> None:
    """Move money from a card to the balance."""
    cents = _cents(ctx, amount)
    _check_card(s, ctx, card)
    if not ctx.of(SystemState).online:
        ctx.refuse(ctx.t("You are offline", "当前没有网络"))
    s.balance_cents += cents
    row = s.transactions.add(
        Transaction(title=ctx.t("Top-up", "充值"), category="transfer", amount_cents=cents,
                    at_s=ctx.now_s, source=card)
    )  # fmt: skip
    ctx.toast(ctx.t(f"{_money(cents)} added", f"已充值{_money(cents)}"))
    _done(ctx, row)


@app.action(
    "balance.hide", tool="Hide or show the balance on the first page.", writes=["hide_balance"],
    check=lambda before, after, a: after.hide_balance == a.on,
)  # fmt: skip
def hide(s: State, ctx: Ctx, on: bool) -> None:
    """Hide or show the balance."""
    s.hide_balance = on


@app.action(
    "limit.set", tool="Set how many dollars may leave the wallet in a day.",
    writes=["daily_limit_cents"],
    check=lambda before, after, a: after.daily_limit_cents == parse_cents(a.amount),
)  # fmt: skip
def set_limit(s: State, ctx: Ctx, amount: Amount) -> None:
    """Set the daily limit."""
    s.daily_limit_cents = _cents(ctx, amount)
    ctx.toast(ctx.t("Daily limit changed", "每日限额已修改"))


# ---- actions: bills ------------------------------------------------------------------------------


@app.action(
    "bills.add", tool="Add a bill with its amount in dollars and its due day.", writes=["bills"],
    check=lambda before, after, a: len(after.bills) == len(before.bills) + 1,
)  # fmt: skip
def add_bill(
    s: State, ctx: Ctx, payee: Annotated[str, msgspec.Meta(min_length=1, max_length=40)],
    amount: Amount, due: Day,
) -> None:  # fmt: skip
    """Add a bill."""
    bill = s.bills.add(Bill(payee=payee.strip(), amount_cents=_cents(ctx, amount), due=due))
    ctx.move(Back())
    ctx.move(bill_page(bill=bill.id))


@app.action(
    "bills.pay", tool="Pay a bill from the balance or a card (source: balance or a card's id).",
    writes=["bills", "transactions", "balance_cents"],
    check=lambda before, after, a: after.bills[a.bill].paid,
)  # fmt: skip
def pay_bill(s: State, ctx: Ctx, bill: BillId, source: Source = BALANCE) -> None:
    """Pay a bill."""
    row = s.bills[bill]
    if row.paid:
        ctx.refuse(ctx.t("This bill is paid already", "账单已支付"))
    _take(s, ctx, row.amount_cents, source)
    s.bills.update(bill, paid=True)
    s.transactions.add(
        Transaction(title=row.payee, category="bills", amount_cents=-row.amount_cents,
                    at_s=ctx.now_s, source=source)
    )  # fmt: skip
    ctx.toast(ctx.t(f"{row.payee} paid", f"已支付{row.payee}"))


@app.action(
    "bills.autopay", tool="Let a bill be paid from the balance on its due day, or not.",
    writes=["bills"], check=lambda before, after, a: after.bills[a.bill].autopay == a.on,
)  # fmt: skip
def set_autopay(s: State, ctx: Ctx, bill: BillId, on: bool) -> None:
    """Turn automatic payment on or off."""
    row = s.bills.update(bill, autopay=on)
    seconds = _days_until(row.due, ctx.now_s) * 86_400 - ctx.now_s % 86_400
    if on and seconds > 0 and not row.paid:
        ctx.after(seconds, autopay_due(bill=bill))


@app.action("bills.due", writes=["bills", "transactions", "balance_cents"])
def autopay_due(s: State, ctx: Ctx, bill: BillId) -> None:
    """The due day of a bill has come: pay it where that was asked for and is possible."""
    row = s.bills.get(bill)
    if row is None or row.paid or not row.autopay:
        return
    try:
        ctx.call(pay_bill(bill=bill, source=BALANCE))
    except Refused as refused:
        text = f"{row.payee}: {refused}"
        ctx.notify(ctx.t("Bill not paid", "账单未支付"), text, bill_page(bill=bill))


@app.action(
    "bills.delete", tool="Remove a bill from the list.", writes=["bills"],
    check=lambda before, after, a: a.bill not in after.bills,
)  # fmt: skip
def delete_bill(s: State, ctx: Ctx, bill: BillId) -> None:
    """Remove a bill."""
    s.bills.remove(bill)
    ctx.move(Back())


# ---- actions: cards ------------------------------------------------------------------------------


@app.action(
    "cards.add", tool="Add a card by its 16 digits and MM/YY; a code comes by text message.",
    writes=["cards"], check=lambda before, after, a: len(after.cards) == len(before.cards) + 1,
)  # fmt: skip
def add_card(
    s: State, ctx: Ctx, bank: Annotated[str, msgspec.Meta(min_length=1, max_length=24)],
    number: Annotated[str, msgspec.Meta(max_length=24)],
    expires: Annotated[str, msgspec.Meta(max_length=8)],
) -> None:  # fmt: skip
    """Add a card that still has to be confirmed."""
    digits = number.replace(" ", "")
    if len(digits) != 16 or not digits.isdecimal():
        ctx.refuse(ctx.t("A card number has 16 digits", "卡号应为16位数字"))
    if any(c.last4 == digits[-4:] for c in s.cards):
        ctx.refuse(ctx.t("This card is here already", "该卡已添加"))
    month, _, year = expires.strip().partition("/")
    if not (len(expires.strip()) == 5 and month.isdecimal() and year.isdecimal()) or not (
        1 <= int(month) <= 12
    ):
        ctx.refuse(ctx.t("Enter the expiry as MM/YY", "请按MM/YY输入有效期"))
    if f"20{year}-{month}" < ctx.today()[:7]:
        ctx.refuse(ctx.t("This card has expired", "该卡已过期"))
    card = s.cards.add(
        BankCard(
            bank=bank.strip(), network="Orbis" if int(digits[0]) % 2 else "Lumo", kind="debit",
            last4=digits[-4:], expires=expires.strip(), verified=False,
            tint=CARD_TINTS[len(s.cards) % len(CARD_TINTS)],
        )
    )  # fmt: skip
    _send_code(s, ctx, card)
    ctx.move(Back())
    ctx.move(card_page(card=card.id))
    ctx.move(verify_page(card=card.id))


def _send_code(s: State, ctx: Ctx, card: BankCard) -> None:
    sent = card.codes_sent + 1
    code = code_for(card.last4, sent)
    s.cards.update(card.id, codes_sent=sent, code=code)
    text = ctx.t(
        f"Wallet code {code} confirms your card ending in {card.last4}. Share it with nobody.",
        f"验证码{code}，用于确认尾号{card.last4}的银行卡。请勿告诉他人。",
    )
    ctx.after(CODE_AFTER_S, messages.receive(sender=SENDER, text=text))


@app.action(
    "cards.resend", tool="Send a new code for a card that is not confirmed.", writes=["cards"],
    check=lambda before, after, a: after.cards[a.card].codes_sent
    == before.cards[a.card].codes_sent + 1,
)  # fmt: skip
def resend(s: State, ctx: Ctx, card: CardId) -> None:
    """Send a new code; the old one is void."""
    if s.cards[card].verified:
        ctx.refuse(ctx.t("This card is verified already", "该卡已验证"))
    _send_code(s, ctx, s.cards[card])
    ctx.toast(ctx.t("A new code is on its way", "新的验证码已发送"))


@app.action(
    "cards.verify", tool="Confirm a new card with the code from the text message.",
    writes=["cards"], check=lambda before, after, a: after.cards[a.card].verified,
)  # fmt: skip
def verify(
    s: State, ctx: Ctx, card: CardId, code: Annotated[str, msgspec.Meta(max_length=10)]
) -> None:
    """Confirm a card."""
    row = s.cards[card]
    if row.verified:
        ctx.refuse(ctx.t("This card is verified already", "该卡已验证"))
    if code.strip() != row.code:
        ctx.refuse(ctx.t("This code is wrong", "验证码错误"))
    s.cards.update(card, verified=True, code="")
    ctx.toast(ctx.t("Card verified", "银行卡已验证"))
    ctx.move(Back())


@app.action(
    "cards.freeze", tool="Freeze or unfreeze a card.", writes=["cards"],
    check=lambda before, after, a: after.cards[a.card].frozen == a.on,
)  # fmt: skip
def freeze(s: State, ctx: Ctx, card: CardId, on: bool) -> None:
    """Freeze or unfreeze a card."""
    s.cards.update(card, frozen=on)


@app.action(
    "cards.main", tool="Make a card the one that is offered first.", writes=["main_card"],
    check=lambda before, after, a: after.main_card == a.card,
)  # fmt: skip
def make_main(s: State, ctx: Ctx, card: CardId) -> None:
    """Make a card the main one."""
    _check_card(s, ctx, card)
    s.main_card = card


@app.action(
    "cards.delete", tool="Remove a card that is not the main one.", writes=["cards"],
    check=lambda before, after, a: a.card not in after.cards,
)  # fmt: skip
def delete_card(s: State, ctx: Ctx, card: CardId) -> None:
    """Remove a card."""
    if card == s.main_card:
        ctx.refuse(ctx.t("Choose another main card first", "请先选择其他主卡"))
    s.cards.remove(card)
    ctx.toast(ctx.t("Card removed", "银行卡已移除"))
    ctx.move(Back())


# ---- actions: payments of other apps ---------------------------------------------------------------


@app.action("payments.request", writes=["payments"])
def request_payment(
    s: State, ctx: Ctx, merchant: str, amount_cents: int, order: str, app: str, action: str,
    args: dict[str, Any], path: str,
) -> None:  # fmt: skip
    """Keep what another app wants paid; `pay_page` is where the user answers.

    Once paid, `app.action` is called with `args` and `receipt`, the transaction's id.
    """
    s.payments.add(
        Payment(merchant=merchant, amount_cents=amount_cents, order=order, app=app, action=action,
                args=args, path=path, at_s=ctx.now_s)
    )  # fmt: skip


def _open_payment(s: State, ctx: Ctx, payment: str) -> Payment:
    row = s.payments[payment]
    if row.state != "open":
        ctx.refuse(ctx.t("This payment is not open", "该付款已处理"))
    return row


@app.action(
    "payments.pay", tool="Pay what another app asks for (source: balance or a card's id).",
    writes=["payments", "transactions", "balance_cents"],
    check=lambda before, after, a: after.payments[a.payment].state == "paid",
)  # fmt: skip
def pay(s: State, ctx: Ctx, payment: PaymentId, source: Source) -> None:
    """Pay, tell the app that asked, and go back to it."""
    row = _open_payment(s, ctx, payment)
    _take(s, ctx, row.amount_cents, source)
    s.payments.update(payment, state="paid", source=source)
    receipt = s.transactions.add(
        Transaction(title=row.merchant, category="shopping", amount_cents=-row.amount_cents,
                    at_s=ctx.now_s, source=source, note=row.order)
    )  # fmt: skip
    ctx.call(Call(app=row.app, action=row.action, args={**row.args, "receipt": receipt.id}))
    ctx.toast(ctx.t(f"Paid {_money(row.amount_cents)}", f"已支付{_money(row.amount_cents)}"))
    ctx.move(Back())
    ctx.move(Go(app=row.app, path=row.path))


@app.action(
    "payments.decline", tool="Decline a payment that another app asks for.", writes=["payments"],
    check=lambda before, after, a: after.payments[a.payment].state == "declined",
)  # fmt: skip
def decline_payment(s: State, ctx: Ctx, payment: PaymentId) -> None:
    """Decline a payment and go back to the app that asked."""
    row = _open_payment(s, ctx, payment)
    s.payments.update(payment, state="declined")
    ctx.move(Back())
    ctx.move(Go(app=row.app, path=row.path))


@app.action("payments.void", writes=["payments"])
def void_payment(s: State, ctx: Ctx, order: str) -> None:
    """Close what is still open for an order that was called off."""
    for row in s.payments.where(lambda p: p.order == order and p.state == "open"):
        s.payments.update(row.id, state="void")


@app.action("payments.refund", writes=["transactions", "balance_cents"])
def refund(s: State, ctx: Ctx, merchant: str, amount_cents: int, order: str) -> None:
    """Give money back to the balance."""
    s.balance_cents += amount_cents
    row = s.transactions.add(
        Transaction(title=merchant, category="shopping", amount_cents=amount_cents,
                    at_s=ctx.now_s, source=BALANCE, note=ctx.t(f"Refund {order}", f"退款{order}"))
    )  # fmt: skip
    ctx.notify(
        ctx.t("Refund received", "收到退款"), f"{merchant} {_money(amount_cents)}",
        transaction_page(transaction=row.id),
    )  # fmt: skip


# ---- actions: transactions ---------------------------------------------------------------------


@app.action(
    "transactions.note", tool="Write a note on a transaction.", writes=["transactions"],
    check=lambda before, after, a: after.transactions[a.transaction].note == a.note.strip(),
)  # fmt: skip
def write_note(s: State, ctx: Ctx, transaction: TransactionId, note: Note) -> None:
    """Write a note on a transaction."""
    s.transactions.update(transaction, note=note.strip())
    ctx.toast(ctx.t("Note saved", "备注已保存"))


@app.action(
    "transactions.categorise", tool="Put a transaction into another category.",
    writes=["transactions"],
    check=lambda before, after, a: after.transactions[a.transaction].category == a.category,
)  # fmt: skip
def categorise(s: State, ctx: Ctx, transaction: TransactionId, category: Category) -> None:
    """Put a transaction into another category."""
    s.transactions.update(transaction, category=category)


# ---- queries -------------------------------------------------------------------------------------


@app.query(
    "balance.get", tool="Read the balance, the daily limit and what is left of it, in cents."
)
def get_balance(s: State, ctx: Ctx) -> dict[str, int]:
    """Return the balance and the limit."""
    left = s.daily_limit_cents - spent_today(s, ctx.now_s)
    return {
        "balance_cents": s.balance_cents, "daily_limit_cents": s.daily_limit_cents,
        "left_today_cents": max(0, left),
    }  # fmt: skip


@app.query(
    "transactions.search",
    tool="Find transactions by text, category, direction and month (YYYY-MM), newest first.",
)
def search(
    s: State, ctx: Ctx, text: str = "", category: Category | None = None, direction: str = "all",
    month: str = "",
) -> list[Transaction]:  # fmt: skip
    """Return the transactions that fit."""
    found = _found(s, text, category or "", direction)
    return [t for t in found if _month_of(t.at_s).startswith(month)]


@app.query("spending.month", tool="Sum what was spent in a month (YYYY-MM) by category, in cents.")
def spending(s: State, ctx: Ctx, month: str) -> dict[str, int]:
    """Return cents by category."""
    return _spent(s, month)


@app.query("cards.list", tool="List the cards.")
def list_cards(s: State, ctx: Ctx) -> list[dict[str, Any]]:
    """Return the cards without their codes."""
    fields = ("id", "bank", "network", "kind", "last4", "expires", "frozen", "verified")
    return [{f: getattr(c, f) for f in fields} | {"main": c.id == s.main_card} for c in s.cards]


@app.query("bills.list", tool="List the bills, the first due first.")
def list_bills(s: State, ctx: Ctx) -> list[Bill]:
    """Return the bills."""
    return sorted(s.bills, key=lambda b: b.due)


@app.query("requests.list", tool="List requests for money, both ways.")
def list_requests(s: State, ctx: Ctx) -> list[MoneyRequest]:
    """Return the requests."""
    return list(s.requests)


@app.query("payments.list", tool="List payments that other apps asked for.")
def list_payments(s: State, ctx: Ctx) -> list[dict[str, Any]]:
    """Return the payments without what they call back."""
    fields = ("id", "merchant", "amount_cents", "order", "state", "source")
    return [{f: getattr(p, f) for f in fields} for p in s.payments]


def _month_of(at_s: int) -> str:
    return date.fromordinal(date(1970, 1, 1).toordinal() + at_s // 86_400).isoformat()[:7]


def _days_until(due: str, now_s: int) -> int:
    return date.fromisoformat(due).toordinal() - date(1970, 1, 1).toordinal() - now_s // 86_400


def _found(s: State, text: str, category: str, direction: str) -> list[Transaction]:
    wanted = text.casefold().strip()
    rows = s.transactions.where(
        lambda t: (
            wanted in f"{t.title} {t.note}".casefold()
            and category in ("", t.category)
            and (direction == "all" or (direction == "in") == (t.amount_cents > 0))
        )
    )
    return sorted(rows, key=lambda t: (-t.at_s, t.id))


def _spent(s: State, month: str) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in s.transactions:
        if row.amount_cents < 0 and _month_of(row.at_s) == month:
            sums[row.category] = sums.get(row.category, 0) - row.amount_cents
    return sums


# ---- parts of pages ------------------------------------------------------------------------------


def _tabs(shown: str) -> tuple[Tab, ...]:
    entries: tuple[tuple[str, str, tuple[str, str], Go], ...] = (
        ("home", "wallet", ("Home", "首页"), home_page()),
        ("activity", "list", ("Activity", "明细"), activity_page()),
        ("cards", "card", ("Cards", "卡片"), cards_page()),
        ("spending", "coins", ("Spending", "支出"), spending_page()),
    )
    return tuple(
        Tab(icon=icon, words=words, selected=name == shown, do=to.at_root())
        for name, icon, words, to in entries
    )


def _transaction_row(ui: Ui, t: Transaction) -> Row:
    words, icon, tint = next(c[1:] for c in CATEGORIES if c[0] == t.category)
    sign = "+" if t.amount_cents > 0 else ""
    lead = Avatar(name=t.title) if t.person else Glyph(icon=icon, tint=tint)
    return Row(
        title=t.title, subtitle=f"{ui.t(*words)} · {ui.ago(t.at_s)}", lead=lead,
        trailing=f"{sign}{ui.money(t.amount_cents)}", do=transaction_page(transaction=t.id),
    )  # fmt: skip


def _source_words(s: State, ui: Ui, source: str) -> str:
    if source == BALANCE:
        return ui.t("Balance", "余额")
    card = s.cards.get(source)
    return f"{card.bank} {card.last4}" if card else ui.t("Removed card", "已移除的卡")


def _sources(s: State, ui: Ui) -> Chips:
    """Return chips to choose where money comes from."""
    usable = s.cards.where(lambda c: c.verified)
    usable.sort(key=lambda c: c.id != s.main_card)
    options: list[tuple[str, Words]] = [(BALANCE, _source_words(s, ui, BALANCE))]
    options += [(c.id, _source_words(s, ui, c.id)) for c in usable]
    return ui.chips("source", options, BALANCE, label=("Pay with", "支付方式"))


def _sure(ui: Ui, title: tuple[str, str], text: str, do: Do) -> Dialog | None:
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


# ---- pages: first page and transactions --------------------------------------------------------


@app.page("/")
def home_page(s: State, ui: Ui) -> Page:
    """The balance, the main actions, what waits, what happened last."""
    left = max(0, s.daily_limit_cents - spent_today(s, ui.now_s))
    hidden = s.hide_balance
    body: list[Widget] = [
        BalanceCard(
            amount=MASKED if hidden else ui.money(s.balance_cents), tint=TINT,
            caption=("Balance", "余额"), icon="eye_off" if hidden else "eye",
            note=ui.t(f"{ui.money(left)} left to spend today", f"今天还可支付{ui.money(left)}"),
            label=("Show balance", "显示余额") if hidden else ("Hide balance", "隐藏余额"),
            do=hide(on=not hidden),
        ),
        Line(
            children=(
                Action(icon="send", words=("Send", "转账"), do=send_page()),
                Action(icon="download", words=("Request", "收款"), do=ask_page()),
                Action(icon="plus", words=("Top up", "充值"), do=top_up_page()),
                Action(icon="receipt", words=("Bills", "账单"), do=bills_page()),
            ),
            inset_px=8,
        ),
    ]  # fmt: skip
    if not ui.system.online:
        body.append(Banner(icon="wifi_off", words=("You are offline", "当前没有网络")))
    body += [
        Banner(
            icon="bag", do=pay_page(payment=p.id),
            words=ui.t(f"{p.merchant} asks for {ui.money(p.amount_cents)}",
                       f"{p.merchant}请求付款{ui.money(p.amount_cents)}"),
        )
        for p in s.payments.where(lambda p: p.state == "open")
    ]  # fmt: skip
    waiting = s.requests.where(lambda r: r.incoming and r.state == "open")
    if waiting:
        words = ui.t(f"{len(waiting)} requests wait for you", f"{len(waiting)}个收款请求待处理")
        body.append(Banner(icon="bell", words=words, do=requests_page()))
    body.append(
        Heading(words=("Latest", "最近"), link=("See all", "全部"), do=activity_page().at_root())
    )
    body += [_transaction_row(ui, t) for t in _found(s, "", "", "all")[:6]]
    return Page(
        title=("Wallet", "钱包"), body=body, large=True, tabs=_tabs("home"),
        actions=(
            IconButton(icon="bell", label=("Requests", "请求"), do=requests_page()),
            IconButton(icon="settings", label=("Limits", "限额"), do=limits_page()),
        ),
    )  # fmt: skip


@app.page("/activity")
def activity_page(s: State, ui: Ui) -> Page:
    """All transactions by day, with search and filters."""
    text = ui.field("text", ("Search transactions", "搜索交易"), kind="search")
    direction = ui.chips(
        "direction",
        (("all", ("All", "全部")), ("in", ("In", "收入")), ("out", ("Out", "支出"))),
        "all",
    )
    category = ui.chips(
        "category", (("", ("Any kind", "全部类别")), *((c[0], c[1]) for c in CATEGORIES)), ""
    )
    found = _found(s, text.value, category.value, direction.value)
    body: list[Widget] = [text, direction, category]
    day = ""
    for row in found:
        if ui.day(row.at_s) != day:
            day = ui.day(row.at_s)
            body.append(Heading(words=day))
        body.append(_transaction_row(ui, row))
    if not found:
        body.append(Empty(icon="list", words=("No transactions", "没有交易")))
    return Page(title=("Activity", "明细"), body=body, large=True, tabs=_tabs("activity"))


@app.page("/t/{transaction}")
def transaction_page(s: State, ui: Ui, transaction: TransactionId) -> Page:
    """One transaction."""
    t = s.transactions[transaction]
    note = ui.field("note", ("Note", "备注"), t.note)
    words, icon, _ = next(c[1:] for c in CATEGORIES if c[0] == t.category)
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (f"{ui.day(t.at_s)} {ui.clock(t.at_s)}", ("Date", "日期"), "calendar"),
        (_source_words(s, ui, t.source), ("Account", "账户"), "card"),
        (ui.t(*words), ("Category", "类别"), icon),
        (t.id.upper(), ("Reference", "流水号"), "receipt"),
    )
    rows = tuple(Row(title=v, subtitle=w, lead=Glyph(icon=i)) for v, w, i in facts)
    chips = tuple(
        Chip(words=c[1], selected=c[0] == t.category,
             do=categorise(transaction=t.id, category=c[0]))
        for c in CATEGORIES
    )  # fmt: skip
    sign = "+" if t.amount_cents > 0 else ""
    color = "#12805c" if t.amount_cents > 0 else ""
    return Page(
        title=t.title,
        body=(
            Big(words=f"{sign}{ui.money(t.amount_cents)}", caption=t.title, color=color),
            Card(children=rows),
            note,
            Button(words=("Save note", "保存备注"), kind="tonal", enabled=note.value != t.note,
                   do=write_note(transaction=t.id, note=note.value)),
            Heading(words=("Change category", "修改类别")),
            Chips(chips=chips, value=t.category),
        ),
    )  # fmt: skip


@app.page("/spending")
def spending_page(s: State, ui: Ui) -> Page:
    """What was spent in a month, by category."""
    months = sorted({_month_of(t.at_s) for t in s.transactions} | {ui.today()[:7]})[-3:]
    month = ui.chips("month", [(m, MONTHS[int(m[5:]) - 1]) for m in months], ui.today()[:7])
    sums = _spent(s, month.value)
    total = sum(sums.values())
    body: list[Widget] = [month, Big(words=ui.money(total), caption=("Spent", "支出"))]
    ranked = sorted((c for c in CATEGORIES if c[0] in sums), key=lambda c: -sums[c[0]])
    body += [
        SpendBar(
            icon=icon, tint=tint, words=words, amount=ui.money(sums[name]),
            share=sums[name] / sums[ranked[0][0]],
            do=category_page(month=month.value, category=name),
        )
        for name, words, icon, tint in ranked
    ]  # fmt: skip
    if not ranked:
        body.append(Empty(icon="coins", words=("Nothing spent this month", "本月还没有支出")))
    return Page(title=("Spending", "支出"), body=body, large=True, tabs=_tabs("spending"))


@app.page("/spending/{month}/{category}")
def category_page(s: State, ui: Ui, month: str, category: str) -> Page:
    """The payments of one category in one month."""
    rows = [t for t in _found(s, "", category, "out") if _month_of(t.at_s) == month]
    words = next((c[1] for c in CATEGORIES if c[0] == category), (category, category))
    total = ui.money(-sum(t.amount_cents for t in rows))
    return Page(title=words, subtitle=total, body=[_transaction_row(ui, t) for t in rows])


# ---- pages: people -------------------------------------------------------------------------------


def _people(ui: Ui, to: Any) -> list[Widget]:
    text = ui.field("text", ("Search people", "搜索联系人"), kind="search")
    wanted = text.value.casefold().strip()
    people = ui.of(contacts.State).people.where(
        lambda p: wanted in f"{p.name} {p.phone}".casefold()
    )
    rows: list[Widget] = [
        Row(title=p.name, subtitle=p.phone, lead=Avatar(name=p.name), do=to(person=p.id))
        for p in sorted(people, key=lambda p: p.name)
    ]
    return [text, *(rows or [Empty(icon="users", words=("Nobody found", "没有找到联系人"))])]


@app.page("/send")
def send_page(s: State, ui: Ui) -> Page:
    """Choose whom to send money."""
    return Page(title=("Send to", "转账给"), body=_people(ui, send_form))


@app.page("/send/{person}")
def send_form(s: State, ui: Ui, person: PersonId) -> Page:
    """Amount and note of a transfer."""
    p = ui.of(contacts.State).people[person]
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    note = ui.field("note", ("Note", "备注"))
    button = Button(
        words=("Send", "转账"), icon="send", enabled=bool(amount.value),
        do=send(person=person, amount=amount.value, note=note.value),
    )  # fmt: skip
    have = ui.t("Balance ", "余额 ") + (MASKED if s.hide_balance else ui.money(s.balance_cents))
    head = (
        Avatar(name=p.name, size_px=72),
        Text(words=p.name, size_px=20, bold=True, align="center"),
    )
    return Page(title=("Send", "转账"), subtitle=have, body=(*head, amount, note, button))


@app.page("/request")
def ask_page(s: State, ui: Ui) -> Page:
    """Choose whom to ask for money."""
    return Page(title=("Request from", "向谁收款"), body=_people(ui, ask_form))


@app.page("/request/{person}")
def ask_form(s: State, ui: Ui, person: PersonId) -> Page:
    """Amount and note of a request."""
    p = ui.of(contacts.State).people[person]
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    note = ui.field("note", ("What for", "用途"))
    button = Button(
        words=("Request", "收款"), icon="download", enabled=bool(amount.value),
        do=ask(person=person, amount=amount.value, note=note.value),
    )  # fmt: skip
    head = (
        Avatar(name=p.name, size_px=72),
        Text(words=p.name, size_px=20, bold=True, align="center"),
    )
    return Page(title=("Request", "收款"), body=(*head, amount, note, button))


@app.page("/requests")
def requests_page(s: State, ui: Ui) -> Page:
    """Requests for money, both ways."""
    body: list[Widget] = []
    groups: tuple[tuple[bool, tuple[str, str]], ...] = (
        (True, ("They ask you", "对方向你收款")), (False, ("You asked", "你发起的收款")),
    )  # fmt: skip
    for incoming, words in groups:
        rows = s.requests.where(lambda r, i=incoming: r.incoming == i)  # type: ignore[misc]
        if rows:
            body.append(Heading(words=words))
        for row in sorted(rows, key=lambda r: (r.state != "open", -r.at_s)):
            body += _request(ui, row)
    if not body:
        body.append(Empty(icon="bell", words=("No requests", "没有请求")))
    return Page(title=("Requests", "收款请求"), body=body)


STATES = {
    "open": ("Open", "待处理"), "paid": ("Paid", "已支付"), "declined": ("Declined", "已拒绝"),
    "cancelled": ("Cancelled", "已取消"), "void": ("Closed", "已关闭"),
}  # fmt: skip


def _request(ui: Ui, row: MoneyRequest) -> list[Widget]:
    note = row.note or ui.t("No note", "无备注")
    about = Row(
        title=f"{row.name} · {ui.money(row.amount_cents)}", lead=Avatar(name=row.name),
        subtitle=f"{note} · {ui.ago(row.at_s)}", trailing=ui.t(*STATES[row.state]),
    )  # fmt: skip
    if row.state != "open":
        return [about]
    buttons: tuple[Widget, ...] = (
        Button(words=("Decline", "拒绝"), kind="tonal", do=decline(request=row.id), inset_px=8),
        Button(words=("Pay", "支付"), do=approve(request=row.id), inset_px=8),
    )
    if not row.incoming:
        take_back = cancel(request=row.id)
        buttons = (
            Button(words=("Cancel request", "取消请求"), kind="tonal", do=take_back, inset_px=8),
        )
    return [Card(children=(about, Line(children=buttons, inset_px=8)))]


@app.page("/topup")
def top_up_page(s: State, ui: Ui) -> Page:
    """Move money from a card to the balance."""
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    card = ui.chips(
        "card", [(c.id, f"{c.bank} {c.last4}") for c in s.cards], s.main_card,
        label=("From", "来源"),
    )  # fmt: skip
    quick = Chips(
        chips=tuple(
            Chip(words=f"${n}", do=ui.set(amount=str(n)), selected=amount.value == str(n))
            for n in (20, 50, 100, 200)
        )
    )
    button = Button(
        words=("Top up", "充值"), icon="plus", enabled=bool(amount.value),
        do=top_up(card=card.value, amount=amount.value),
    )  # fmt: skip
    shown = MASKED if s.hide_balance else ui.money(s.balance_cents)
    return Page(
        title=("Top up", "充值"),
        body=(Big(words=shown, caption=("Balance", "余额")), amount, quick, card, button),
    )


# ---- pages: bills and limits -------------------------------------------------------------------


@app.page("/bills")
def bills_page(s: State, ui: Ui) -> Page:
    """The bills, the first due first; paid ones last."""
    rows: list[Widget] = []
    for title, paid in ((("To pay", "待支付"), False), (("Paid", "已支付"), True)):
        group = sorted(s.bills.where(lambda b, p=paid: b.paid == p), key=lambda b: b.due)  # type: ignore[misc]
        if group:
            rows.append(Heading(words=title))
        rows += [
            Row(
                title=b.payee, subtitle=_due(ui, b), trailing=ui.money(b.amount_cents),
                lead=Glyph(icon="check" if b.paid else "receipt"), do=bill_page(bill=b.id),
                trailing_icon="chevron_right",
            )
            for b in group
        ]  # fmt: skip
    if not rows:
        rows.append(Empty(icon="receipt", words=("No bills", "没有账单")))
    return Page(
        title=("Bills", "账单"), body=rows,
        fab=Fab(icon="plus", words=("New bill", "新建账单"), do=new_bill_page()),
    )  # fmt: skip


def _due(ui: Ui, bill: Bill) -> str:
    if bill.paid:
        return ui.t("Paid", "已支付")
    days = _days_until(bill.due, ui.now_s)
    day = ui.day(ui.now_s + days * 86_400)
    if days < 0:
        return ui.t(f"Overdue since {day}", f"已逾期 {day}")
    auto = ui.t(" · autopay", " · 自动支付") if bill.autopay else ""
    return ui.t(f"Due {day}", f"到期日 {day}") + auto


@app.page("/bills/new")
def new_bill_page(s: State, ui: Ui) -> Page:
    """The form for a new bill."""
    payee = ui.field("payee", ("Payee", "收款方"))
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    due = ui.date("due", ("Due", "到期日"), ui.today())
    save = Button(
        words=("Save", "保存"), enabled=bool(payee.value.strip() and amount.value),
        do=add_bill(payee=payee.value, amount=amount.value, due=due.value),
    )  # fmt: skip
    return Page(title=("New bill", "新建账单"), body=(payee, amount, due, save))


@app.page("/bills/{bill}")
def bill_page(s: State, ui: Ui, bill: BillId) -> Page:
    """One bill."""
    b = s.bills[bill]
    body: list[Widget] = [Big(words=ui.money(b.amount_cents), caption=_due(ui, b))]
    if not b.paid:
        source = _sources(s, ui)
        autopay = ui.switch("autopay", ("Pay automatically on the due day", "到期日自动支付"))
        autopay = msgspec.structs.replace(
            autopay, value=b.autopay, do=set_autopay(bill=b.id, on=not b.autopay)
        )
        button = Button(words=("Pay bill", "支付账单"), do=pay_bill(bill=b.id, source=source.value))
        body += [source, autopay, button]
    sure = _sure(ui, ("Remove bill?", "移除账单？"), b.payee, delete_bill(bill=b.id))
    bin_it = IconButton(icon="trash", label=("Remove", "移除"), do=ui.set(sure=True))
    return Page(title=b.payee, body=body, dialog=sure, actions=(bin_it,))


@app.page("/limits")
def limits_page(s: State, ui: Ui) -> Page:
    """The daily limit and what is hidden."""
    initial = f"{s.daily_limit_cents / 100:.2f}"
    amount = ui.field(
        "amount", ("Daily limit in dollars", "每日限额（美元）"), initial, kind="number"
    )
    used = ui.money(spent_today(s, ui.now_s))
    masked = msgspec.structs.replace(
        ui.switch("hide", ("Hide balance", "隐藏余额")), value=s.hide_balance,
        do=hide(on=not s.hide_balance), icon="eye_off",
    )  # fmt: skip
    return Page(
        title=("Limits", "限额"),
        body=(
            Big(words=ui.money(s.daily_limit_cents),
                caption=ui.t(f"a day, {used} used today", f"每天，今日已用{used}")),
            amount,
            Button(words=("Save limit", "保存限额"), do=set_limit(amount=amount.value),
                   enabled=amount.value != initial),
            masked,
        ),
    )  # fmt: skip


# ---- pages: cards --------------------------------------------------------------------------------


def _face(s: State, ui: Ui, card: BankCard, do: Do | None) -> CardFace:
    status: Words = ("Main", "主卡") if card.id == s.main_card else ""
    if card.frozen:
        status = ("Frozen", "已冻结")
    if not card.verified:
        status = ("Unverified", "未验证")
    return CardFace(
        bank=card.bank, network=card.network, last4=card.last4, expires=card.expires,
        tint="#64748b" if card.frozen else card.tint, status=status, do=do,
    )  # fmt: skip


@app.page("/cards")
def cards_page(s: State, ui: Ui) -> Page:
    """The cards."""
    faces: list[Widget] = [_face(s, ui, c, card_page(card=c.id)) for c in s.cards]
    return Page(
        title=("Cards", "卡片"), body=faces, large=True, tabs=_tabs("cards"),
        fab=Fab(icon="plus", words=("Add card", "添加银行卡"), do=new_card_page()),
    )  # fmt: skip


@app.page("/cards/new")
def new_card_page(s: State, ui: Ui) -> Page:
    """The form for a new card."""
    bank = ui.field("bank", ("Bank", "银行"))
    number = ui.field("number", ("Card number", "卡号"), kind="number", hint="16 digits")
    expires = ui.field("expires", ("Expires", "有效期"), kind="number", hint="MM/YY")
    button = Button(
        words=("Add card", "添加银行卡"), enabled=bool(bank.value.strip() and number.value),
        do=add_card(bank=bank.value, number=number.value, expires=expires.value),
    )  # fmt: skip
    hint = ("We send a code by text message to confirm the card.", "我们会发送短信验证码确认该卡。")
    return Page(
        title=("Add card", "添加银行卡"),
        body=(bank, number, expires, Text(words=hint, muted=True, size_px=13), button),
    )


@app.page("/cards/{card}")
def card_page(s: State, ui: Ui, card: CardId) -> Page:
    """One card and its last payments."""
    c = s.cards[card]
    body: list[Widget] = [_face(s, ui, c, None)]
    if not c.verified:
        words = ("Enter the code from the text message", "输入短信验证码")
        body.append(Banner(icon="message", words=words, do=verify_page(card=card)))
    frozen = msgspec.structs.replace(
        ui.switch("frozen", ("Freeze card", "冻结银行卡")), value=c.frozen, icon="lock",
        do=freeze(card=card, on=not c.frozen),
        subtitle=ui.t("No payments while frozen", "冻结后无法付款"),
    )  # fmt: skip
    body.append(frozen)
    if card != s.main_card:
        body.append(
            Button(words=("Make main card", "设为主卡"), kind="tonal", do=make_main(card=card))
        )
    used = [t for t in _found(s, "", "", "all") if t.source == card][:6]
    if used:
        body += [Heading(words=("Payments", "付款")), *(_transaction_row(ui, t) for t in used)]
    title = f"{c.bank} {c.last4}"
    sure = _sure(ui, ("Remove card?", "移除银行卡？"), title, delete_card(card=card))
    bin_it = IconButton(icon="trash", label=("Remove", "移除"), do=ui.set(sure=True))
    return Page(title=c.bank, body=body, dialog=sure, actions=(bin_it,))


@app.page("/cards/{card}/verify")
def verify_page(s: State, ui: Ui, card: CardId) -> Page:
    """Where the code goes."""
    c = s.cards[card]
    code = ui.field("code", ("Code", "验证码"), kind="number", hint="6 digits")
    words = ui.t(
        f"We sent a code by text message for your card ending in {c.last4}.",
        f"我们已发送短信验证码，用于尾号{c.last4}的银行卡。",
    )
    return Page(
        title=("Confirm card", "确认银行卡"),
        body=(
            Text(words=words, muted=True),
            code,
            Button(words=("Confirm", "确认"), do=verify(card=card, code=code.value),
                   enabled=bool(code.value)),
            Button(words=("Send a new code", "重新发送"), kind="plain", do=resend(card=card)),
        ),
    )  # fmt: skip


# ---- page: payments of other apps ------------------------------------------------------------------


@app.page("/pay/{payment}")
def pay_page(s: State, ui: Ui, payment: PaymentId) -> Page:
    """Answer a payment that another app asks for."""
    p = s.payments[payment]
    source = _sources(s, ui)
    facts = (
        Row(title=p.merchant, subtitle=("Merchant", "商户"), lead=Glyph(icon="store")),
        Row(title=p.order, subtitle=("Order", "订单"), lead=Glyph(icon="receipt")),
    )
    body: list[Widget] = [
        Big(words=ui.money(p.amount_cents), caption=ui.t(*STATES[p.state])), Card(children=facts),
    ]  # fmt: skip
    footer: tuple[Widget, ...] = ()
    if p.state == "open":
        body.append(source)
        have = MASKED if s.hide_balance else ui.money(s.balance_cents)
        body.append(Text(words=ui.t(f"Balance {have}", f"余额 {have}"), muted=True, size_px=13))
        footer = (
            Button(words=("Confirm payment", "确认付款"), icon="lock",
                   do=pay(payment=payment, source=source.value)),
            Button(words=("Decline", "拒绝"), kind="plain", do=decline_payment(payment=payment)),
        )  # fmt: skip
    return Page(title=("Payment", "付款"), body=body, footer=footer)


# ---- flows -------------------------------------------------------------------------------------

NEW_NUMBER = "4929 1180 7745 3186"

app.flow(
    "send money", tap("Send"), tap(send_form, person="person3"), enter("amount", "24.50"),
    enter("note", "Lunch"), tap(send),
)  # fmt: skip
app.flow(
    "ask for money and get it", tap("Request"), tap(ask_form, person="person5"),
    enter("amount", "18"), tap(ask), wait(ANSWER_AFTER_S),
)  # fmt: skip
app.flow("take a request back", tap("Requests"), tap(cancel))
app.flow("answer requests", tap("Requests"), tap(approve), tap(decline))
app.flow("top up", tap("Top up"), tap("$50"), tap(top_up))
app.flow("hide the balance", tap("Hide balance"), tap("Show balance"))
app.flow("a lower limit", tap("Limits"), enter("amount", "250"), tap(set_limit))
app.flow("pay a bill", tap("Bills"), tap(bill_page, bill="bill1"), tap("Balance"), tap(pay_bill))
app.flow(
    "pay a bill automatically", tap("Bills"), tap(bill_page, bill="bill4"), tap(set_autopay),
    wait(13 * 86_400),
)  # fmt: skip
app.flow(
    "add and remove a bill", tap("Bills"), tap("New bill"), enter("payee", "Tidy Cleaners"),
    enter("amount", "45"), tap("Due"), tap("20"), tap(add_bill), tap("Remove"), tap(delete_bill),
)  # fmt: skip
app.flow(
    "add and confirm a card", tap("Cards"), tap("Add card"), enter("bank", "Cedar Union"),
    enter("number", NEW_NUMBER), enter("expires", "08/29"), tap(add_card), wait(CODE_AFTER_S),
    tap(resend), wait(CODE_AFTER_S), enter("code", code_for(NEW_NUMBER, 2)), tap(verify),
    tap(make_main),
)  # fmt: skip
app.flow(
    "freeze and remove a card", tap("Cards"), tap(card_page, card="card2"), tap(freeze),
    tap("Remove"), tap(delete_card),
)  # fmt: skip
app.flow(
    "note and category", tap("Activity"), enter("text", "Fernleaf"), tap("Fernleaf Studio"),
    enter("note", "February"), tap(write_note), tap(categorise, category="fun"),
)  # fmt: skip
app.flow("look at spending", tap("Spending"), tap("February"), tap(category_page))
