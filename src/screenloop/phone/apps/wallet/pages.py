"""Wallet: balance, cards, sending and asking for money, bills, payments for other apps."""

from __future__ import annotations

from typing import Any

from screenloop.phone import kit as k
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.wallet import accounts
from screenloop.phone.apps.wallet import actions as act
from screenloop.phone.apps.wallet.seed import CATEGORIES, MoneyRequest, PersonId
from screenloop.phone.apps.wallet.state import (
    MASKED,
    TINT,
    State,
    TransactionId,
    app,
    found,
    month_of,
    spent,
    spent_today,
)
from screenloop.phone.apps.wallet.views import (
    STATES,
    BalanceCard,
    SpendBar,
    source_words,
    tabs,
    transaction_row,
)

__all__ = ["State", "app"]


# ---- pages: first page and transactions --------------------------------------------------------


@app.page("/")
def home_page(s: State, ui: k.Ui) -> k.Page:
    """The balance, the main actions, what waits, what happened last."""
    left = max(0, s.daily_limit_cents - spent_today(s, ui.now_s))
    limit = ui.money(s.daily_limit_cents)
    hidden = s.hide_balance
    body: list[k.Widget] = [
        BalanceCard(
            amount=MASKED if hidden else ui.money(s.balance_cents),
            tint=TINT,
            caption=("Balance", "余额"),
            icon="eye_off" if hidden else "eye",
            note=ui.t(
                f"{ui.money(left)} of {limit} left to spend today",
                f"今天还可支付{ui.money(left)}，每日限额{limit}",
            ),
            label=("Show balance", "显示余额") if hidden else ("Hide balance", "隐藏余额"),
            do=act.hide(on=not hidden),
        ),
        k.Line(
            children=(
                k.ActionButton(icon="send", words=("Send", "转账"), do=send_page()),
                k.ActionButton(icon="download", words=("Request", "收款"), do=ask_page()),
                k.ActionButton(icon="plus", words=("Top up", "充值"), do=top_up_page()),
                k.ActionButton(icon="receipt", words=("Bills", "账单"), do=accounts.bills_page()),
            ),
            inset_px=8,
        ),
    ]
    if not ui.system.online:
        body.append(k.Banner(icon="wifi_off", words=("You are offline", "当前没有网络")))
    body += [
        k.Banner(
            icon="bag",
            do=accounts.pay_page(payment=p.id),
            words=ui.t(
                f"{p.merchant} asks for {ui.money(p.amount_cents)}",
                f"{p.merchant}请求付款{ui.money(p.amount_cents)}",
            ),
        )
        for p in s.payments.where(lambda p: p.state == "open")
    ]
    waiting = s.requests.where(lambda r: r.incoming and r.state == "open")
    if waiting:
        words = ui.t(f"{len(waiting)} requests wait for you", f"{len(waiting)}个收款请求待处理")
        body.append(k.Banner(icon="bell", words=words, do=requests_page()))
    body.append(
        k.Heading(words=("Latest", "最近"), link=("See all", "全部"), do=activity_page().at_root())
    )
    body += [transaction_row(ui, t) for t in found(s, "", "", "")[:6]]
    return k.Page(
        title=("Wallet", "钱包"),
        body=body,
        large=True,
        tabs=tabs("home"),
        actions=(
            k.IconButton(icon="bell", label=("Requests", "请求"), do=requests_page()),
            k.IconButton(icon="settings", label=("Limits", "限额"), do=accounts.limits_page()),
        ),
    )


@app.page("/activity")
def activity_page(s: State, ui: k.Ui) -> k.Page:
    """All transactions by day, with search and filters."""
    text = ui.field("text", ("Search transactions", "搜索交易"), kind="search")
    direction = ui.chips(
        "direction", (("", ("All", "全部")), ("in", ("In", "收入")), ("out", ("Out", "支出"))), ""
    )
    category = ui.chips(
        "category", (("", ("Any kind", "全部类别")), *((c[0], c[1]) for c in CATEGORIES)), ""
    )
    rows = found(s, text.value, category.value, direction.value)
    body: list[k.Widget] = [text, direction, category]
    day = ""
    for row in rows:
        if ui.day(row.at_s) != day:
            day = ui.day(row.at_s)
            body.append(k.Heading(words=day))
        body.append(transaction_row(ui, row))
    if not rows:
        body.append(k.Empty(icon="list", words=("No transactions", "没有交易")))
    return k.Page(title=("Activity", "明细"), body=body, large=True, tabs=tabs("activity"))


@app.page("/t/{transaction}")
def transaction_page(s: State, ui: k.Ui, transaction: TransactionId) -> k.Page:
    """One transaction."""
    t = s.transactions[transaction]
    note = ui.field("note", ("Note", "备注"), t.note)
    words, icon, _ = next(c[1:] for c in CATEGORIES if c[0] == t.category)
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (f"{ui.day(t.at_s)} {ui.clock(t.at_s)}", ("Date", "日期"), "calendar"),
        (source_words(s, ui, t.source), ("Account", "账户"), "card"),
        (ui.t(*words), ("Category", "类别"), icon),
        (t.id.upper(), ("Reference", "流水号"), "receipt"),
    )
    rows = tuple(k.Row(title=v, subtitle=w, lead=k.Glyph(icon=i)) for v, w, i in facts)
    chips = tuple(
        k.Chip(
            words=c[1],
            selected=c[0] == t.category,
            do=act.categorise(transaction=t.id, category=c[0]),
        )
        for c in CATEGORIES
    )
    sign = "+" if t.amount_cents > 0 else ""
    color = "#12805c" if t.amount_cents > 0 else ""
    return k.Page(
        title=t.title,
        body=(
            k.Big(words=f"{sign}{ui.money(t.amount_cents)}", caption=t.title, color=color),
            k.Card(children=rows),
            note,
            k.Button(
                words=("Save note", "保存备注"),
                kind="tonal",
                enabled=note.value != t.note,
                do=act.write_note(transaction=t.id, note=note.value),
            ),
            k.Heading(words=("Change category", "修改类别")),
            k.Chips(chips=chips, value=t.category),
        ),
    )


@app.page("/spending")
def spending_page(s: State, ui: k.Ui) -> k.Page:
    """What was spent in a month, by category."""
    months = sorted({month_of(t.at_s) for t in s.transactions} | {ui.today()[:7]})[-3:]
    month = ui.chips("month", [(m, k.MONTHS[int(m[5:]) - 1]) for m in months], ui.today()[:7])
    sums = spent(s, month.value)
    total = sum(sums.values())
    body: list[k.Widget] = [month, k.Big(words=ui.money(total), caption=("Spent", "支出"))]
    ranked = sorted((c for c in CATEGORIES if c[0] in sums), key=lambda c: -sums[c[0]])
    body += [
        SpendBar(
            icon=icon,
            tint=tint,
            words=words,
            amount=ui.money(sums[name]),
            share=sums[name] / sums[ranked[0][0]],
            do=category_page(month=month.value, category=name),
        )
        for name, words, icon, tint in ranked
    ]
    if not ranked:
        body.append(k.Empty(icon="coins", words=("Nothing spent this month", "本月还没有支出")))
    return k.Page(title=("Spending", "支出"), body=body, large=True, tabs=tabs("spending"))


@app.page("/spending/{month}/{category}")
def category_page(s: State, ui: k.Ui, month: str, category: str) -> k.Page:
    """The payments of one category in one month."""
    rows = [t for t in found(s, "", category, "out") if month_of(t.at_s) == month]
    words = next((c[1] for c in CATEGORIES if c[0] == category), (category, category))
    total = ui.money(-sum(t.amount_cents for t in rows))
    return k.Page(title=words, subtitle=total, body=[transaction_row(ui, t) for t in rows])


# ---- pages: people -------------------------------------------------------------------------------


def _people(ui: k.Ui, to: Any) -> list[k.Widget]:
    text = ui.field("text", ("Search people", "搜索联系人"), kind="search")
    wanted = text.value.casefold().strip()
    people = ui.of(contacts.State).people.where(
        lambda p: wanted in f"{p.name} {p.phone}".casefold()
    )
    rows: list[k.Widget] = [
        k.Row(title=p.name, subtitle=p.phone, lead=k.Avatar(name=p.name), do=to(person=p.id))
        for p in sorted(people, key=lambda p: p.name)
    ]
    return [text, *(rows or [k.Empty(icon="users", words=("Nobody found", "没有找到联系人"))])]


@app.page("/send")
def send_page(s: State, ui: k.Ui) -> k.Page:
    """Choose whom to send money."""
    return k.Page(title=("Send to", "转账给"), body=_people(ui, send_form))


@app.page("/send/{person}")
def send_form(s: State, ui: k.Ui, person: PersonId) -> k.Page:
    """Amount and note of a transfer."""
    p = ui.of(contacts.State).people[person]
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    note = ui.field("note", ("Note", "备注"))
    button = k.Button(
        words=("Send", "转账"),
        icon="send",
        enabled=bool(amount.value),
        do=act.send(person=person, amount=amount.value, note=note.value),
    )
    have = ui.t("Balance ", "余额 ") + (MASKED if s.hide_balance else ui.money(s.balance_cents))
    head = (
        k.Avatar(name=p.name, size_px=72),
        k.Paragraph(words=p.name, size_px=20, bold=True, align="center"),
    )
    return k.Page(title=("Send", "转账"), subtitle=have, body=(*head, amount, note, button))


@app.page("/request")
def ask_page(s: State, ui: k.Ui) -> k.Page:
    """Choose whom to ask for money."""
    return k.Page(title=("Request from", "向谁收款"), body=_people(ui, ask_form))


@app.page("/request/{person}")
def ask_form(s: State, ui: k.Ui, person: PersonId) -> k.Page:
    """Amount and note of a request."""
    p = ui.of(contacts.State).people[person]
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    note = ui.field("note", ("What for", "用途"))
    button = k.Button(
        words=("Request", "收款"),
        icon="download",
        enabled=bool(amount.value),
        do=act.ask(person=person, amount=amount.value, note=note.value),
    )
    head = (
        k.Avatar(name=p.name, size_px=72),
        k.Paragraph(words=p.name, size_px=20, bold=True, align="center"),
    )
    return k.Page(title=("Request", "收款"), body=(*head, amount, note, button))


@app.page("/requests")
def requests_page(s: State, ui: k.Ui) -> k.Page:
    """Requests for money, both ways."""
    body: list[k.Widget] = []
    groups: tuple[tuple[bool, tuple[str, str]], ...] = (
        (True, ("They ask you", "对方向你收款")),
        (False, ("You asked", "你发起的收款")),
    )
    for incoming, words in groups:
        rows = s.requests.where(lambda r, i=incoming: r.incoming == i)  # type: ignore[misc]
        if rows:
            body.append(k.Heading(words=words))
        for row in sorted(rows, key=lambda r: (r.state != "open", -r.at_s)):
            body += _request(ui, row)
    if not body:
        body.append(k.Empty(icon="bell", words=("No requests", "没有请求")))
    return k.Page(title=("Requests", "收款请求"), body=body)


def _request(ui: k.Ui, row: MoneyRequest) -> list[k.Widget]:
    note = row.note or ui.t("No note", "无备注")
    about = k.Row(
        title=f"{row.name} · {ui.money(row.amount_cents)}",
        lead=k.Avatar(name=row.name),
        subtitle=f"{note} · {ui.ago(row.at_s)}",
        trailing=ui.t(*STATES[row.state]),
    )
    if row.state != "open":
        return [about]
    buttons: tuple[k.Widget, ...] = (
        k.Button(
            words=("Decline", "拒绝"), kind="tonal", do=act.decline(request=row.id), inset_px=8
        ),
        k.Button(words=("Pay", "支付"), do=act.approve(request=row.id), inset_px=8),
    )
    if not row.incoming:
        take_back = act.cancel(request=row.id)
        buttons = (
            k.Button(words=("Cancel request", "取消请求"), kind="tonal", do=take_back, inset_px=8),
        )
    return [k.Card(children=(about, k.Line(children=buttons, inset_px=8)))]


@app.page("/topup")
def top_up_page(s: State, ui: k.Ui) -> k.Page:
    """Move money from a card to the balance."""
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    card = ui.chips(
        "card",
        [(c.id, f"{c.bank} {c.last4}") for c in s.cards],
        s.main_card,
        label=("From", "来源"),
    )
    quick = k.Chips(
        chips=tuple(
            k.Chip(words=f"${n}", do=ui.set(amount=str(n)), selected=amount.value == str(n))
            for n in (20, 50, 100, 200)
        )
    )
    button = k.Button(
        words=("Top up", "充值"),
        icon="plus",
        enabled=bool(amount.value),
        do=act.top_up(card=card.value, amount=amount.value),
    )
    shown = MASKED if s.hide_balance else ui.money(s.balance_cents)
    return k.Page(
        title=("Top up", "充值"),
        body=(k.Big(words=shown, caption=("Balance", "余额")), amount, quick, card, button),
    )


# ---- flows -------------------------------------------------------------------------------------

NEW_NUMBER = "4929 1180 7745 3186"


k.read_flows(app, __package__)
