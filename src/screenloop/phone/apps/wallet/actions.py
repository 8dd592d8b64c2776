"""What can be done with the wallet: people, bills, cards, payments of other apps."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.wallet import seed, state
from screenloop.phone.apps.wallet.state import Amount, BillId, State, app, at, cents_of, money, take

# ---- actions: people and balance ----------------------------------------------------------------


def _book(
    s: State,
    ctx: k.Ctx,
    title: str,
    cents: int,
    *,
    category: seed.Category = "transfer",
    source: str = seed.BALANCE,
    note: str = "",
    person: str = "",
) -> seed.Transaction:
    """Keep what came in (above zero) or went out."""
    return s.transactions.add(
        seed.Transaction(
            title=title,
            category=category,
            amount_cents=cents,
            at_s=ctx.now_s,
            source=source,
            note=note,
            person=person,
        )
    )


@app.action(
    "money.send",
    tool=True,
    writes=["transactions", "balance_cents"],
    check=lambda before, after, a: (
        after.balance_cents == before.balance_cents - seed.parse_cents(a.amount)
    ),
)
def send(s: State, ctx: k.Ctx, person: seed.PersonId, amount: Amount, note: seed.Note = "") -> None:
    """Send dollars from the balance to a contact."""
    cents, name = cents_of(ctx, amount), state.name_of(ctx, person)
    take(s, ctx, cents, seed.BALANCE)
    row = _book(s, ctx, name, -cents, note=note.strip(), person=person)
    ctx.toast(ctx.t(f"Sent {money(cents)} to {name}", f"已向{name}转账{money(cents)}"))
    state.done(ctx, row)


@app.action("money.request", tool=True, writes=["requests"], check=k.one_more("requests"))
def ask(s: State, ctx: k.Ctx, person: seed.PersonId, amount: Amount, note: seed.Note = "") -> None:
    """Ask a contact for dollars; they may pay within minutes."""
    cents, name = cents_of(ctx, amount), state.name_of(ctx, person)
    row = s.requests.add(
        seed.MoneyRequest(
            person=person,
            name=name,
            amount_cents=cents,
            note=note.strip(),
            incoming=False,
            at_s=ctx.now_s,
        )
    )
    ctx.after(state.ANSWER_AFTER_S, settle(request=row.id))
    ctx.toast(ctx.t(f"Asked {name} for {money(cents)}", f"已向{name}请求{money(cents)}"))
    ctx.move(at("/").at_root())
    ctx.move(at("/requests"))


@app.action("requests.settle", writes=["requests", "transactions", "balance_cents"])
def settle(s: State, ctx: k.Ctx, request: state.RequestId) -> None:
    """The contact pays what the user asked for, unless that was taken back."""
    row = s.requests.get(request)
    if row is None or row.state != "open":
        return
    s.requests.update(request, state="paid")
    s.balance_cents += row.amount_cents
    got = _book(s, ctx, row.name, row.amount_cents, note=row.note, person=row.person)
    ctx.notify(
        ctx.t("Money received", "收到转账"),
        ctx.t(
            f"{row.name} paid you {money(row.amount_cents)}",
            f"{row.name}向你支付了{money(row.amount_cents)}",
        ),
        at(f"/t/{got.id}"),
    )


def _open_request(s: State, ctx: k.Ctx, request: str, *, incoming: bool) -> seed.MoneyRequest:
    row = s.requests[request]
    if row.state != "open" or row.incoming != incoming:
        ctx.refuse(ctx.t("This request is not open", "该请求已处理"))
    return row


@app.action(
    "requests.approve",
    tool=True,
    writes=["requests", "transactions", "balance_cents"],
    check=lambda before, after, a: after.requests[a.request].state == "paid",
)
def approve(s: State, ctx: k.Ctx, request: state.RequestId) -> None:
    """Pay what a contact asks for, from the balance."""
    row = _open_request(s, ctx, request, incoming=True)
    take(s, ctx, row.amount_cents, seed.BALANCE)
    s.requests.update(request, state="paid")
    _book(s, ctx, row.name, -row.amount_cents, note=row.note, person=row.person)
    ctx.toast(ctx.t(f"Paid {row.name}", f"已支付给{row.name}"))


@app.action(
    "requests.decline",
    tool=True,
    writes=["requests"],
    check=lambda before, after, a: after.requests[a.request].state == "declined",
)
def decline(s: State, ctx: k.Ctx, request: state.RequestId) -> None:
    """Decline what a contact asks for."""
    _open_request(s, ctx, request, incoming=True)
    s.requests.update(request, state="declined")
    ctx.toast(ctx.t("Request declined", "已拒绝请求"))


@app.action(
    "requests.cancel",
    tool=True,
    writes=["requests"],
    check=lambda before, after, a: after.requests[a.request].state == "cancelled",
)
def cancel(s: State, ctx: k.Ctx, request: state.RequestId) -> None:
    """Take back a request to a contact."""
    _open_request(s, ctx, request, incoming=False)
    s.requests.update(request, state="cancelled")
    ctx.toast(ctx.t("Request cancelled", "已取消请求"))


@app.action(
    "balance.top_up",
    tool=True,
    writes=["transactions", "balance_cents"],
    check=lambda before, after, a: (
        after.balance_cents == before.balance_cents + seed.parse_cents(a.amount)
    ),
)
def top_up(s: State, ctx: k.Ctx, card: seed.CardId, amount: Amount) -> None:
    """Move dollars from a card to the balance."""
    cents = cents_of(ctx, amount)
    state.check_card(s, ctx, card)
    if not ctx.of(k.SystemState).online:
        ctx.refuse(ctx.t("You are offline", "当前没有网络"))
    s.balance_cents += cents
    row = _book(s, ctx, ctx.t("Top-up", "充值"), cents, source=card)
    ctx.toast(ctx.t(f"{money(cents)} added", f"已充值{money(cents)}"))
    state.done(ctx, row)


@app.action(
    "balance.hide", tool=True, writes=["hide_balance"], check=k.value_is("hide_balance", "on")
)
def hide(s: State, ctx: k.Ctx, on: bool) -> None:
    """Hide or show the balance on the first page."""
    s.hide_balance = on


@app.action(
    "limit.set",
    tool=True,
    writes=["daily_limit_cents"],
    check=lambda before, after, a: after.daily_limit_cents == seed.parse_cents(a.amount),
)
def set_limit(s: State, ctx: k.Ctx, amount: Amount) -> None:
    """Set how many dollars may leave the wallet in a day."""
    s.daily_limit_cents = cents_of(ctx, amount)
    ctx.toast(ctx.t("Daily limit changed", "每日限额已修改"))


# ---- actions: bills ------------------------------------------------------------------------------


@app.action("bills.add", tool=True, writes=["bills"], check=k.one_more("bills"))
def add_bill(
    s: State,
    ctx: k.Ctx,
    payee: Annotated[str, msgspec.Meta(min_length=1, max_length=40)],
    amount: Amount,
    due: state.Day,
) -> None:
    """Add a bill with its amount in dollars and its due day."""
    if not payee.strip():
        ctx.refuse(ctx.t("A bill needs a payee", "账单需要收款方"))
    try:
        date.fromisoformat(due)
    except ValueError:
        ctx.refuse(ctx.t(f"{due} is no day", f"{due}不是有效日期"))
    bill = s.bills.add(seed.Bill(payee=payee.strip(), amount_cents=cents_of(ctx, amount), due=due))
    ctx.move(k.Back())
    ctx.move(at(f"/bills/{bill.id}"))


@app.action(
    "bills.pay",
    tool=True,
    writes=["bills", "transactions", "balance_cents"],
    check=k.row_has("bills", "bill", paid=True),
)
def pay_bill(s: State, ctx: k.Ctx, bill: BillId, source: state.Source = seed.BALANCE) -> None:
    """Pay a bill from the balance or a card (source: balance or a card's id)."""
    row = s.bills[bill]
    if row.paid:
        ctx.refuse(ctx.t("This bill is paid already", "账单已支付"))
    take(s, ctx, row.amount_cents, source)
    s.bills.update(bill, paid=True)
    _book(s, ctx, row.payee, -row.amount_cents, category="bills", source=source)
    ctx.toast(ctx.t(f"{row.payee} paid", f"已支付{row.payee}"))


@app.action(
    "bills.autopay", tool=True, writes=["bills"], check=k.row_has("bills", "bill", autopay="on")
)
def set_autopay(s: State, ctx: k.Ctx, bill: BillId, on: bool) -> None:
    """Let a bill be paid from the balance on its due day, or not."""
    row = s.bills.update(bill, autopay=on)
    seconds = state.days_until(row.due, ctx.now_s) * 86_400 - ctx.now_s % 86_400
    if on and seconds > 0 and not row.paid:
        ctx.after(seconds, autopay_due(bill=bill))


@app.action("bills.due", writes=["bills", "transactions", "balance_cents"])
def autopay_due(s: State, ctx: k.Ctx, bill: BillId) -> None:
    """The due day of a bill has come: pay it where that was asked for and is possible."""
    row = s.bills.get(bill)
    if row is None or row.paid or not row.autopay:
        return
    try:
        ctx.call(pay_bill(bill=bill, source=seed.BALANCE))
    except k.Refused as refused:
        text = f"{row.payee}: {refused}"
        ctx.notify(ctx.t("Bill not paid", "账单未支付"), text, at(f"/bills/{bill}"))


@app.action("bills.delete", tool=True, writes=["bills"], check=k.gone("bills", "bill"))
def delete_bill(s: State, ctx: k.Ctx, bill: BillId) -> None:
    """Remove a bill from the list."""
    s.bills.remove(bill)
    ctx.move(k.Back())


# ---- actions: cards ------------------------------------------------------------------------------


@app.action(
    "cards.add",
    tool="Add a card by its 16 digits and MM/YY; a code comes by text message.",
    writes=["cards"],
    check=k.one_more("cards"),
)
def add_card(
    s: State,
    ctx: k.Ctx,
    bank: Annotated[str, msgspec.Meta(min_length=1, max_length=24)],
    number: Annotated[str, msgspec.Meta(max_length=24)],
    expires: Annotated[str, msgspec.Meta(max_length=8)],
) -> None:
    """Add a card that still has to be confirmed."""
    digits = number.replace(" ", "")
    if not bank.strip():
        ctx.refuse(ctx.t("A card needs the name of its bank", "请输入银行名称"))
    if re.fullmatch(r"[0-9]{16}", digits) is None:
        ctx.refuse(ctx.t("A card number has 16 digits", "卡号应为16位数字"))
    if any(c.last4 == digits[-4:] for c in s.cards):
        ctx.refuse(ctx.t("This card is here already", "该卡已添加"))
    if re.fullmatch(r"(0[1-9]|1[0-2])/[0-9]{2}", expires.strip()) is None:
        ctx.refuse(ctx.t("Enter the expiry as MM/YY", "请按MM/YY输入有效期"))
    month, year = expires.strip().split("/")
    if f"20{year}-{month}" < ctx.today()[:7]:
        ctx.refuse(ctx.t("This card has expired", "该卡已过期"))
    card = s.cards.add(
        seed.BankCard(
            bank=bank.strip(),
            network="Orbis" if int(digits[0]) % 2 else "Lumo",
            kind="debit",
            last4=digits[-4:],
            expires=expires.strip(),
            verified=False,
            tint=seed.CARD_TINTS[len(s.cards) % len(seed.CARD_TINTS)],
        )
    )
    _send_code(s, ctx, card)
    ctx.move(k.Back())
    ctx.move(at(f"/cards/{card.id}"))
    ctx.move(at(f"/cards/{card.id}/verify"))


def _send_code(s: State, ctx: k.Ctx, card: seed.BankCard) -> None:
    sent = card.codes_sent + 1
    code = seed.code_for(card.last4, sent)
    s.cards.update(card.id, codes_sent=sent, code=code)
    text = ctx.t(
        f"Wallet code {code} confirms your card ending in {card.last4}. Share it with nobody.",
        f"验证码{code}，用于确认尾号{card.last4}的银行卡。请勿告诉他人。",
    )
    ctx.after(state.CODE_AFTER_S, messages.receive(sender=state.SENDER, text=text))


@app.action(
    "cards.resend",
    tool="Send a new code for a card that is not confirmed.",
    writes=["cards"],
    check=lambda before, after, a: (
        after.cards[a.card].codes_sent == before.cards[a.card].codes_sent + 1
    ),
)
def resend(s: State, ctx: k.Ctx, card: seed.CardId) -> None:
    """Send a new code; the old one is void."""
    if s.cards[card].verified:
        ctx.refuse(ctx.t("This card is verified already", "该卡已验证"))
    _send_code(s, ctx, s.cards[card])
    ctx.toast(ctx.t("A new code is on its way", "新的验证码已发送"))


@app.action(
    "cards.verify", tool=True, writes=["cards"], check=k.row_has("cards", "card", verified=True)
)
def verify(
    s: State, ctx: k.Ctx, card: seed.CardId, code: Annotated[str, msgspec.Meta(max_length=10)]
) -> None:
    """Confirm a new card with the code from the text message."""
    row = s.cards[card]
    if row.verified:
        ctx.refuse(ctx.t("This card is verified already", "该卡已验证"))
    if code.strip() != row.code:
        ctx.refuse(ctx.t("This code is wrong", "验证码错误"))
    s.cards.update(card, verified=True, code="")
    ctx.toast(ctx.t("Card verified", "银行卡已验证"))
    ctx.move(k.Back())


@app.action(
    "cards.freeze", tool=True, writes=["cards"], check=k.row_has("cards", "card", frozen="on")
)
def freeze(s: State, ctx: k.Ctx, card: seed.CardId, on: bool) -> None:
    """Freeze or unfreeze a card."""
    s.cards.update(card, frozen=on)


@app.action("cards.main", tool=True, writes=["main_card"], check=k.value_is("main_card", "card"))
def make_main(s: State, ctx: k.Ctx, card: seed.CardId) -> None:
    """Make a card the one that is offered first."""
    state.check_card(s, ctx, card)
    s.main_card = card


@app.action("cards.delete", tool=True, writes=["cards"], check=k.gone("cards", "card"))
def delete_card(s: State, ctx: k.Ctx, card: seed.CardId) -> None:
    """Remove a card that is not the main one."""
    if card == s.main_card:
        ctx.refuse(ctx.t("Choose another main card first", "请先选择其他主卡"))
    s.cards.remove(card)
    ctx.toast(ctx.t("Card removed", "银行卡已移除"))
    ctx.move(k.Back())


# ---- actions: payments of other apps -----------------------------------------------------------


@app.action("payments.request", writes=["payments"])
def request_payment(
    s: State,
    ctx: k.Ctx,
    merchant: str,
    amount_cents: int,
    order: str,
    app: str,
    action: str,
    args: dict[str, Any],
    path: str,
) -> None:
    """Keep what another app wants paid; its page `/pay/{payment}` is where the user answers.

    Once paid, `app.action` is called with `args` and `receipt`, the transaction's id.
    """
    s.payments.add(
        seed.Payment(
            merchant=merchant,
            amount_cents=amount_cents,
            order=order,
            app=app,
            action=action,
            args=args,
            path=path,
            at_s=ctx.now_s,
        )
    )


def _open_payment(s: State, ctx: k.Ctx, payment: str) -> seed.Payment:
    row = s.payments[payment]
    if row.state != "open":
        ctx.refuse(ctx.t("This payment is not open", "该付款已处理"))
    return row


@app.action(
    "payments.pay",
    tool="Pay what another app asks for (source: balance or a card's id).",
    writes=["payments", "transactions", "balance_cents"],
    check=lambda before, after, a: after.payments[a.payment].state == "paid",
)
def pay(s: State, ctx: k.Ctx, payment: state.PaymentId, source: state.Source) -> None:
    """Pay, tell the app that asked, and go back to it."""
    row = _open_payment(s, ctx, payment)
    take(s, ctx, row.amount_cents, source)
    s.payments.update(payment, state="paid", source=source)
    receipt = _book(
        s, ctx, row.merchant, -row.amount_cents, category="shopping", source=source, note=row.order
    )
    ctx.call(k.Call(app=row.app, action=row.action, args={**row.args, "receipt": receipt.id}))
    ctx.toast(ctx.t(f"Paid {money(row.amount_cents)}", f"已支付{money(row.amount_cents)}"))
    ctx.move(k.Back())
    ctx.move(k.Go(app=row.app, path=row.path))


@app.action(
    "payments.decline",
    tool="Decline a payment that another app asks for.",
    writes=["payments"],
    check=lambda before, after, a: after.payments[a.payment].state == "declined",
)
def decline_payment(s: State, ctx: k.Ctx, payment: state.PaymentId) -> None:
    """Decline a payment and go back to the app that asked."""
    row = _open_payment(s, ctx, payment)
    s.payments.update(payment, state="declined")
    ctx.move(k.Back())
    ctx.move(k.Go(app=row.app, path=row.path))


@app.action("payments.void", writes=["payments"])
def void_payment(s: State, ctx: k.Ctx, order: str) -> None:
    """Close what is still open for an order that was called off."""
    for row in s.payments.where(lambda p: p.order == order and p.state == "open"):
        s.payments.update(row.id, state="void")


@app.action("payments.refund", writes=["transactions", "balance_cents"])
def refund(s: State, ctx: k.Ctx, merchant: str, amount_cents: int, order: str) -> None:
    """Give money back to the balance."""
    s.balance_cents += amount_cents
    row = _book(
        s,
        ctx,
        merchant,
        amount_cents,
        category="shopping",
        note=ctx.t(f"Refund {order}", f"退款{order}"),
    )
    ctx.notify(
        ctx.t("Refund received", "收到退款"),
        f"{merchant} {money(amount_cents)}",
        at(f"/t/{row.id}"),
    )


# ---- actions: transactions ---------------------------------------------------------------------


@app.action(
    "transactions.note",
    tool=True,
    writes=["transactions"],
    check=lambda before, after, a: after.transactions[a.transaction].note == a.note.strip(),
)
def write_note(s: State, ctx: k.Ctx, transaction: state.TransactionId, note: seed.Note) -> None:
    """Write a note on a transaction."""
    s.transactions.update(transaction, note=note.strip())
    ctx.toast(ctx.t("Note saved", "备注已保存"))


@app.action(
    "transactions.categorise",
    tool=True,
    writes=["transactions"],
    check=k.row_has("transactions", "transaction", category="category"),
)
def categorise(
    s: State, ctx: k.Ctx, transaction: state.TransactionId, category: seed.Category
) -> None:
    """Put a transaction into another category."""
    s.transactions.update(transaction, category=category)
