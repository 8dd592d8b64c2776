"""The pages of the wallet, and walks through them."""

from __future__ import annotations

from typing import Any

import msgspec

from screenloop.phone.apps import contacts
from screenloop.phone.apps.wallet import (
    ANSWER_AFTER_S,
    CODE_AFTER_S,
    MASKED,
    TINT,
    BillId,
    PaymentId,
    State,
    TransactionId,
    add_bill,
    add_card,
    app,
    approve,
    ask,
    cancel,
    categorise,
    days_until,
    decline,
    decline_payment,
    delete_bill,
    delete_card,
    found,
    freeze,
    hide,
    make_main,
    month_of,
    pay,
    pay_bill,
    resend,
    send,
    set_autopay,
    set_limit,
    spent,
    spent_today,
    top_up,
    verify,
    write_note,
)
from screenloop.phone.apps.wallet_seed import (
    BALANCE,
    CATEGORIES,
    BankCard,
    Bill,
    CardId,
    MoneyRequest,
    PersonId,
    Transaction,
    code_for,
)
from screenloop.phone.apps.wallet_views import BalanceCard, CardFace, SpendBar
from screenloop.phone.canvas import Words
from screenloop.phone.do import Do, Go
from screenloop.phone.flows import enter, tap, wait
from screenloop.phone.inputs import MONTHS, Chip, Chips
from screenloop.phone.page import Dialog, DialogButton, Fab, Page, Tab
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
    body += [_transaction_row(ui, t) for t in found(s, "", "", "all")[:6]]
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
    rows = found(s, text.value, category.value, direction.value)
    body: list[Widget] = [text, direction, category]
    day = ""
    for row in rows:
        if ui.day(row.at_s) != day:
            day = ui.day(row.at_s)
            body.append(Heading(words=day))
        body.append(_transaction_row(ui, row))
    if not rows:
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
    months = sorted({month_of(t.at_s) for t in s.transactions} | {ui.today()[:7]})[-3:]
    month = ui.chips("month", [(m, MONTHS[int(m[5:]) - 1]) for m in months], ui.today()[:7])
    sums = spent(s, month.value)
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
    rows = [t for t in found(s, "", category, "out") if month_of(t.at_s) == month]
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
    days = days_until(bill.due, ui.now_s)
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
    number = ui.field("number", ("Card number", "卡号"), kind="number", hint=("16 digits", "16位数字"))
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
    used = [t for t in found(s, "", "", "all") if t.source == card][:6]
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
    code = ui.field("code", ("Code", "验证码"), kind="number", hint=("6 digits", "6位数字"))
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


# ---- page: payments of other apps --------------------------------------------------------------


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
