"""The pages of bills, limits and cards, and of payments that other apps ask for."""

from __future__ import annotations

from screenloop.phone import kit as k
from screenloop.phone.apps.wallet import actions as act
from screenloop.phone.apps.wallet import state
from screenloop.phone.apps.wallet.seed import BankCard, Bill, CardId
from screenloop.phone.apps.wallet.state import State, app
from screenloop.phone.apps.wallet.views import STATES, CardFace, sources, tabs, transaction_row

# ---- pages: bills and limits -------------------------------------------------------------------


@app.page("/bills")
def bills_page(s: State, ui: k.Ui) -> k.Page:
    """The bills, the first due first; paid ones last."""
    rows: list[k.Widget] = []
    for title, paid in ((("To pay", "待支付"), False), (("Paid", "已支付"), True)):
        group = sorted(s.bills.where(lambda b, p=paid: b.paid == p), key=lambda b: b.due)  # type: ignore[misc]
        if group:
            rows.append(k.Heading(title))
        rows += [
            k.Row(
                b.payee,
                _due(ui, b),
                k.Glyph("check" if b.paid else "receipt"),
                trailing=ui.money(b.amount_cents),
                do=bill_page(bill=b.id),
                trailing_icon="chevron_right",
            )
            for b in group
        ]
    if not rows:
        rows.append(k.Empty("receipt", ("No bills", "没有账单")))
    return k.Page(
        ("Bills", "账单"), rows, fab=k.Fab("plus", ("New bill", "新建账单"), new_bill_page())
    )


def _due(ui: k.Ui, bill: Bill) -> str:
    if bill.paid:
        return ui.t("Paid", "已支付")
    days = state.days_until(bill.due, ui.now_s)
    day = ui.day(ui.now_s + days * 86_400)
    if days < 0:
        return ui.t(f"Overdue since {day}", f"已逾期 {day}")
    auto = ui.t(" · autopay", " · 自动支付") if bill.autopay else ""
    return ui.t(f"Due {day}", f"到期日 {day}") + auto


@app.page("/bills/new")
def new_bill_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new bill."""
    payee = ui.field("payee", ("Payee", "收款方"))
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    due = ui.date("due", ("Due", "到期日"), ui.today())
    save = k.Button(
        ("Save", "保存"),
        act.add_bill(payee=payee.value, amount=amount.value, due=due.value),
        enabled=bool(payee.value.strip() and amount.value),
    )
    return k.Page(("New bill", "新建账单"), (payee, amount, due, save))


@app.page("/bills/{bill}")
def bill_page(s: State, ui: k.Ui, bill: state.BillId) -> k.Page:
    """One bill."""
    b = s.bills[bill]
    body: list[k.Widget] = [k.Big(ui.money(b.amount_cents), _due(ui, b))]
    if not b.paid:
        source = sources(s, ui)
        autopay = k.Switch(
            ("Pay automatically on the due day", "到期日自动支付"),
            b.autopay,
            act.set_autopay(bill=b.id, on=not b.autopay),
        )
        button = k.Button(("Pay bill", "支付账单"), act.pay_bill(bill=b.id, source=source.value))
        body += [source, autopay, button]
    sure = ui.question(
        ("Remove bill?", "移除账单？"), ("Remove", "移除"), act.delete_bill(bill=b.id), b.payee
    )
    bin_it = k.IconButton("trash", ("Remove", "移除"), ui.set(sure=True))
    return k.Page(b.payee, body, dialog=sure, actions=(bin_it,))


@app.page("/limits")
def limits_page(s: State, ui: k.Ui) -> k.Page:
    """The daily limit and what is hidden."""
    initial = f"{s.daily_limit_cents / 100:.2f}"
    amount = ui.field(
        "amount", ("Daily limit in dollars", "每日限额（美元）"), initial, kind="number"
    )
    used = ui.money(state.spent_today(s, ui.now_s))
    masked = k.Switch(
        ("Hide balance", "隐藏余额"),
        s.hide_balance,
        act.hide(on=not s.hide_balance),
        icon="eye_off",
    )
    return k.Page(
        ("Limits", "限额"),
        (
            k.Big(
                ui.money(s.daily_limit_cents),
                ui.t(f"a day, {used} used today", f"每天，今日已用{used}"),
            ),
            amount,
            k.Button(
                ("Save limit", "保存限额"),
                act.set_limit(amount=amount.value),
                enabled=amount.value != initial,
            ),
            masked,
        ),
    )


# ---- pages: cards --------------------------------------------------------------------------------


def _face(s: State, card: BankCard, do: k.Do | None) -> CardFace:
    status: k.Words = ("Main", "主卡") if card.id == s.main_card else ""
    if card.frozen:
        status = ("Frozen", "已冻结")
    if not card.verified:
        status = ("Unverified", "未验证")
    return CardFace(
        bank=card.bank,
        network=card.network,
        last4=card.last4,
        expires=card.expires,
        tint="#64748b" if card.frozen else card.tint,
        status=status,
        do=do,
    )


@app.page("/cards")
def cards_page(s: State, ui: k.Ui) -> k.Page:
    """The cards."""
    faces: list[k.Widget] = [_face(s, c, card_page(card=c.id)) for c in s.cards]
    return k.Page(
        ("Cards", "卡片"),
        faces,
        large=True,
        tabs=tabs("cards"),
        fab=k.Fab("plus", ("Add card", "添加银行卡"), new_card_page()),
    )


@app.page("/cards/new")
def new_card_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new card."""
    bank = ui.field("bank", ("Bank", "银行"))
    number = ui.field(
        "number", ("Card number", "卡号"), kind="number", hint=("16 digits", "16位数字")
    )
    expires = ui.field("expires", ("Expires", "有效期"), kind="number", hint="MM/YY")
    button = k.Button(
        ("Add card", "添加银行卡"),
        act.add_card(bank=bank.value, number=number.value, expires=expires.value),
        enabled=bool(bank.value.strip() and number.value),
    )
    hint = ("We send a code by text message to confirm the card.", "我们会发送短信验证码确认该卡。")
    return k.Page(
        ("Add card", "添加银行卡"),
        (bank, number, expires, k.Paragraph(hint, muted=True, size_px=13), button),
    )


@app.page("/cards/{card}")
def card_page(s: State, ui: k.Ui, card: CardId) -> k.Page:
    """One card and its last payments."""
    c = s.cards[card]
    body: list[k.Widget] = [_face(s, c, None)]
    if not c.verified:
        words = ("Enter the code from the text message", "输入短信验证码")
        body.append(k.Banner("message", words, verify_page(card=card)))
    frozen = k.Switch(
        ("Freeze card", "冻结银行卡"),
        c.frozen,
        act.freeze(card=card, on=not c.frozen),
        icon="lock",
        subtitle=("No payments while frozen", "冻结后无法付款"),
    )
    body.append(frozen)
    if card != s.main_card:
        body.append(
            k.Button(("Make main card", "设为主卡"), act.make_main(card=card), kind="tonal")
        )
    used = [t for t in state.found(s, "", "", "") if t.source == card][:6]
    if used:
        body += [k.Heading(("Payments", "付款")), *(transaction_row(ui, t) for t in used)]
    title = f"{c.bank} {c.last4}"
    sure = ui.question(
        ("Remove card?", "移除银行卡？"), ("Remove", "移除"), act.delete_card(card=card), title
    )
    bin_it = k.IconButton("trash", ("Remove", "移除"), ui.set(sure=True))
    return k.Page(c.bank, body, dialog=sure, actions=(bin_it,))


@app.page("/cards/{card}/verify")
def verify_page(s: State, ui: k.Ui, card: CardId) -> k.Page:
    """Where the code goes."""
    c = s.cards[card]
    code = ui.field("code", ("Code", "验证码"), kind="number", hint=("6 digits", "6位数字"))
    words = ui.t(
        f"We sent a code by text message for your card ending in {c.last4}.",
        f"我们已发送短信验证码，用于尾号{c.last4}的银行卡。",
    )
    return k.Page(
        ("Confirm card", "确认银行卡"),
        (
            k.Paragraph(words, muted=True),
            code,
            k.Button(
                ("Confirm", "确认"),
                act.verify(card=card, code=code.value),
                enabled=bool(code.value),
            ),
            k.Button(("Send a new code", "重新发送"), act.resend(card=card), kind="plain"),
        ),
    )


# ---- page: payments of other apps --------------------------------------------------------------


@app.page("/pay/{payment}")
def pay_page(s: State, ui: k.Ui, payment: state.PaymentId) -> k.Page:
    """Answer a payment that another app asks for."""
    p = s.payments[payment]
    source = sources(s, ui)
    facts = (
        k.Row(p.merchant, ("Merchant", "商户"), k.Glyph("store")),
        k.Row(p.order, ("Order", "订单"), k.Glyph("receipt")),
    )
    body: list[k.Widget] = [k.Big(ui.money(p.amount_cents), ui.t(*STATES[p.state])), k.Card(facts)]
    footer: tuple[k.Widget, ...] = ()
    if p.state == "open":
        body.append(source)
        have = state.MASKED if s.hide_balance else ui.money(s.balance_cents)
        body.append(k.Paragraph(ui.t(f"Balance {have}", f"余额 {have}"), muted=True, size_px=13))
        footer = (
            k.Button(
                ("Confirm payment", "确认付款"),
                act.pay(payment=payment, source=source.value),
                icon="lock",
            ),
            k.Button(("Decline", "拒绝"), act.decline_payment(payment=payment), kind="plain"),
        )
    return k.Page(("Payment", "付款"), body, footer=footer)
