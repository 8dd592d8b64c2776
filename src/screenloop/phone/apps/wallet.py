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
from screenloop.phone.ctx import Ctx, Refused
from screenloop.phone.do import Back, Call, Go
from screenloop.phone.state import AppState, Refers, Table
from screenloop.phone.system import SystemState

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


def _at(path: str) -> Go:
    return Go(app="wallet", path=path)


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
    ctx.move(_at("/").at_root())
    ctx.move(_at(f"/t/{transaction.id}"))


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
    ctx.move(_at("/").at_root())
    ctx.move(_at("/requests"))


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
        _at(f"/t/{got.id}"),
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
    ctx.move(_at(f"/bills/{bill.id}"))


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
    seconds = days_until(row.due, ctx.now_s) * 86_400 - ctx.now_s % 86_400
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
        ctx.notify(ctx.t("Bill not paid", "账单未支付"), text, _at(f"/bills/{bill}"))


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
    ctx.move(_at(f"/cards/{card.id}"))
    ctx.move(_at(f"/cards/{card.id}/verify"))


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


# ---- actions: payments of other apps -----------------------------------------------------------


@app.action("payments.request", writes=["payments"])
def request_payment(
    s: State, ctx: Ctx, merchant: str, amount_cents: int, order: str, app: str, action: str,
    args: dict[str, Any], path: str,
) -> None:  # fmt: skip
    """Keep what another app wants paid; its page `/pay/{payment}` is where the user answers.

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
        _at(f"/t/{row.id}"),
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
    rows = found(s, text, category or "", direction)
    return [t for t in rows if month_of(t.at_s).startswith(month)]


@app.query("spending.month", tool="Sum what was spent in a month (YYYY-MM) by category, in cents.")
def spending(s: State, ctx: Ctx, month: str) -> dict[str, int]:
    """Return cents by category."""
    return spent(s, month)


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


def month_of(at_s: int) -> str:
    """Return the month of an epoch second, `YYYY-MM`."""
    return date.fromordinal(date(1970, 1, 1).toordinal() + at_s // 86_400).isoformat()[:7]


def days_until(due: str, now_s: int) -> int:
    """Return the days from now to an ISO date; below zero when it is past."""
    return date.fromisoformat(due).toordinal() - date(1970, 1, 1).toordinal() - now_s // 86_400


def found(s: State, text: str, category: str, direction: str) -> list[Transaction]:
    """Return the transactions that fit, newest first; empty arguments fit all."""
    wanted = text.casefold().strip()
    rows = s.transactions.where(
        lambda t: (
            wanted in f"{t.title} {t.note}".casefold()
            and category in ("", t.category)
            and (direction == "all" or (direction == "in") == (t.amount_cents > 0))
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
