"""Wallet: balance, cards, sending and asking for money, bills, payments for other apps."""

from __future__ import annotations

from typing import Any

from screenloop.phone import kit as k
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.wallet import accounts, state, views
from screenloop.phone.apps.wallet import actions as act
from screenloop.phone.apps.wallet.seed import CATEGORIES, MoneyRequest, PersonId
from screenloop.phone.apps.wallet.state import MASKED, TINT, State, app, found, month_of, spent

__all__ = ["State", "app"]


# ---- pages: first page and transactions --------------------------------------------------------


@app.page("/")
def home_page(s: State, ui: k.Ui) -> k.Page:
    """The balance, the main actions, what waits, what happened last."""
    left = max(0, s.daily_limit_cents - state.spent_today(s, ui.now_s))
    limit = ui.money(s.daily_limit_cents)
    hidden = s.hide_balance
    body: list[k.Widget] = [
        views.BalanceCard(
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
            (
                k.ActionButton("send", ("Send", "转账"), send_page()),
                k.ActionButton("download", ("Request", "收款"), ask_page()),
                k.ActionButton("plus", ("Top up", "充值"), top_up_page()),
                k.ActionButton("receipt", ("Bills", "账单"), accounts.bills_page()),
            ),
            inset_px=8,
        ),
    ]
    if not ui.system.online:
        body.append(k.Banner("wifi_off", ("You are offline", "当前没有网络")))
    body += [
        k.Banner(
            "bag",
            ui.t(
                f"{p.merchant} asks for {ui.money(p.amount_cents)}",
                f"{p.merchant}请求付款{ui.money(p.amount_cents)}",
            ),
            accounts.pay_page(payment=p.id),
        )
        for p in s.payments.where(lambda p: p.state == "open")
    ]
    waiting = s.requests.where(lambda r: r.incoming and r.state == "open")
    if waiting:
        words = ui.t(f"{len(waiting)} requests wait for you", f"{len(waiting)}个收款请求待处理")
        body.append(k.Banner("bell", words, requests_page()))
    body.append(k.Heading(("Latest", "最近"), ("See all", "全部"), activity_page().at_root()))
    body += [views.transaction_row(ui, t) for t in found(s, "", "", "")[:6]]
    return k.Page(
        ("Wallet", "钱包"),
        body,
        large=True,
        tabs=views.tabs("home"),
        actions=(
            k.IconButton("bell", ("Requests", "请求"), requests_page()),
            k.IconButton("settings", ("Limits", "限额"), accounts.limits_page()),
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
            body.append(k.Heading(day))
        body.append(views.transaction_row(ui, row))
    if not rows:
        body.append(k.Empty("list", ("No transactions", "没有交易")))
    return k.Page(("Activity", "明细"), body, large=True, tabs=views.tabs("activity"))


@app.page("/t/{transaction}")
def transaction_page(s: State, ui: k.Ui, transaction: state.TransactionId) -> k.Page:
    """One transaction."""
    t = s.transactions[transaction]
    note = ui.field("note", ("Note", "备注"), t.note)
    words, icon, _ = next(c[1:] for c in CATEGORIES if c[0] == t.category)
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (f"{ui.day(t.at_s)} {ui.clock(t.at_s)}", ("Date", "日期"), "calendar"),
        (views.source_words(s, ui, t.source), ("Account", "账户"), "card"),
        (ui.t(*words), ("Category", "类别"), icon),
        (t.id.upper(), ("Reference", "流水号"), "receipt"),
    )
    rows = tuple(k.Row(v, w, k.Glyph(i)) for v, w, i in facts)
    chips = tuple(
        k.Chip(c[1], act.categorise(transaction=t.id, category=c[0]), selected=c[0] == t.category)
        for c in CATEGORIES
    )
    sign = "+" if t.amount_cents > 0 else ""
    color = "#12805c" if t.amount_cents > 0 else ""
    return k.Page(
        t.title,
        (
            k.Big(f"{sign}{ui.money(t.amount_cents)}", t.title, color=color),
            k.Card(rows),
            note,
            k.Button(
                ("Save note", "保存备注"),
                act.write_note(transaction=t.id, note=note.value),
                kind="tonal",
                enabled=note.value != t.note,
            ),
            k.Heading(("Change category", "修改类别")),
            k.Chips(chips, value=t.category),
        ),
    )


@app.page("/spending")
def spending_page(s: State, ui: k.Ui) -> k.Page:
    """What was spent in a month, by category."""
    months = sorted({month_of(t.at_s) for t in s.transactions} | {ui.today()[:7]})[-3:]
    month = ui.chips("month", [(m, k.MONTHS[int(m[5:]) - 1]) for m in months], ui.today()[:7])
    sums = spent(s, month.value)
    total = sum(sums.values())
    body: list[k.Widget] = [month, k.Big(ui.money(total), ("Spent", "支出"))]
    ranked = sorted((c for c in CATEGORIES if c[0] in sums), key=lambda c: -sums[c[0]])
    body += [
        views.SpendBar(
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
        body.append(k.Empty("coins", ("Nothing spent this month", "本月还没有支出")))
    return k.Page(("Spending", "支出"), body, large=True, tabs=views.tabs("spending"))


@app.page("/spending/{month}/{category}")
def category_page(s: State, ui: k.Ui, month: str, category: str) -> k.Page:
    """The payments of one category in one month."""
    rows = [t for t in found(s, "", category, "out") if month_of(t.at_s) == month]
    words = next((c[1] for c in CATEGORIES if c[0] == category), (category, category))
    total = ui.money(-sum(t.amount_cents for t in rows))
    return k.Page(words, [views.transaction_row(ui, t) for t in rows], subtitle=total)


# ---- pages: people -------------------------------------------------------------------------------


def _people(ui: k.Ui, to: Any) -> list[k.Widget]:
    text = ui.field("text", ("Search people", "搜索联系人"), kind="search")
    wanted = text.value.casefold().strip()
    people = ui.of(contacts.State).people.where(
        lambda p: wanted in f"{p.name} {p.phone}".casefold()
    )
    rows: list[k.Widget] = [
        k.Row(p.name, p.phone, k.Avatar(p.name), do=to(person=p.id))
        for p in sorted(people, key=lambda p: p.name)
    ]
    return [text, *(rows or [k.Empty("users", ("Nobody found", "没有找到联系人"))])]


@app.page("/send")
def send_page(s: State, ui: k.Ui) -> k.Page:
    """Choose whom to send money."""
    return k.Page(("Send to", "转账给"), _people(ui, send_form))


@app.page("/send/{person}")
def send_form(s: State, ui: k.Ui, person: PersonId) -> k.Page:
    """Amount and note of a transfer."""
    p = ui.of(contacts.State).people[person]
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    note = ui.field("note", ("Note", "备注"))
    button = k.Button(
        ("Send", "转账"),
        act.send(person=person, amount=amount.value, note=note.value),
        icon="send",
        enabled=bool(amount.value),
    )
    have = ui.t("Balance ", "余额 ") + (MASKED if s.hide_balance else ui.money(s.balance_cents))
    head = (
        k.Avatar(p.name, size_px=72),
        k.Paragraph(p.name, size_px=20, bold=True, align="center"),
    )
    return k.Page(("Send", "转账"), (*head, amount, note, button), subtitle=have)


@app.page("/request")
def ask_page(s: State, ui: k.Ui) -> k.Page:
    """Choose whom to ask for money."""
    return k.Page(("Request from", "向谁收款"), _people(ui, ask_form))


@app.page("/request/{person}")
def ask_form(s: State, ui: k.Ui, person: PersonId) -> k.Page:
    """Amount and note of a request."""
    p = ui.of(contacts.State).people[person]
    amount = ui.field("amount", ("Amount in dollars", "金额（美元）"), kind="number", hint="0.00")
    note = ui.field("note", ("What for", "用途"))
    button = k.Button(
        ("Request", "收款"),
        act.ask(person=person, amount=amount.value, note=note.value),
        icon="download",
        enabled=bool(amount.value),
    )
    head = (
        k.Avatar(p.name, size_px=72),
        k.Paragraph(p.name, size_px=20, bold=True, align="center"),
    )
    return k.Page(("Request", "收款"), (*head, amount, note, button))


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
            body.append(k.Heading(words))
        for row in sorted(rows, key=lambda r: (r.state != "open", -r.at_s)):
            body += _request(ui, row)
    if not body:
        body.append(k.Empty("bell", ("No requests", "没有请求")))
    return k.Page(("Requests", "收款请求"), body)


def _request(ui: k.Ui, row: MoneyRequest) -> list[k.Widget]:
    note = row.note or ui.t("No note", "无备注")
    about = k.Row(
        f"{row.name} · {ui.money(row.amount_cents)}",
        f"{note} · {ui.ago(row.at_s)}",
        k.Avatar(row.name),
        trailing=ui.t(*views.STATES[row.state]),
    )
    if row.state != "open":
        return [about]
    buttons: tuple[k.Widget, ...] = (
        k.Button(("Decline", "拒绝"), act.decline(request=row.id), kind="tonal", inset_px=8),
        k.Button(("Pay", "支付"), act.approve(request=row.id), inset_px=8),
    )
    if not row.incoming:
        take_back = act.cancel(request=row.id)
        buttons = (k.Button(("Cancel request", "取消请求"), take_back, kind="tonal", inset_px=8),)
    return [k.card(about, k.Line(buttons, inset_px=8))]


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
        tuple(
            k.Chip(f"${n}", ui.set(amount=str(n)), selected=amount.value == str(n))
            for n in (20, 50, 100, 200)
        )
    )
    button = k.Button(
        ("Top up", "充值"),
        act.top_up(card=card.value, amount=amount.value),
        icon="plus",
        enabled=bool(amount.value),
    )
    shown = MASKED if s.hide_balance else ui.money(s.balance_cents)
    return k.Page(
        ("Top up", "充值"), (k.Big(shown, ("Balance", "余额")), amount, quick, card, button)
    )


# ---- flows -------------------------------------------------------------------------------------

NEW_NUMBER = "4929 1180 7745 3186"


k.read_flows(app, __package__)
