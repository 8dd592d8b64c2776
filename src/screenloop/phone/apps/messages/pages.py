"""Messages: conversations by phone number, pictures, scheduled texts, answers that come later."""

from __future__ import annotations

from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages.actions import (
    archive,
    block,
    cancel,
    delete_message,
    delete_thread,
    forward,
    mark_read,
    mark_unread,
    mute,
    pin,
    read_all,
    save_contact,
    schedule,
    send,
    send_now,
    set_previews,
    star,
    start,
)
from screenloop.phone.apps.messages.chat import (
    delete_dialog,
    info_page,
    lead_of,
    new_page,
    new_to_page,
    schedule_page,
    thread_page,
)
from screenloop.phone.apps.messages.state import (
    Message,
    Scheduled,
    State,
    Thread,
    app,
    found_messages,
    found_people,
    is_number,
    messages_of,
    name_of,
    thread_of,
)
from screenloop.phone.commands import Both, Do
from screenloop.phone.declare.flow_steps import enter, hold, press, tap, wait
from screenloop.phone.declare.view import Ui
from screenloop.phone.draw.inputs import Switch
from screenloop.phone.draw.page import Dialog, Fab, Page, Tab
from screenloop.phone.draw.rows import Avatar, Glyph, Row
from screenloop.phone.draw.widgets import (
    Button,
    Card,
    Empty,
    Heading,
    IconButton,
    Line,
    Paragraph,
    Widget,
)

__all__ = ["State", "app"]


# ---- parts -------------------------------------------------------------------------------------


def _tabs(shown: str) -> tuple[Tab, ...]:
    return (
        Tab(
            icon="chat",
            words=("Chats", "会话"),
            selected=shown == "chats",
            do=chats_page().at_root(),
        ),
        Tab(
            icon="star",
            words=("Starred", "星标"),
            selected=shown == "starred",
            do=starred_page().at_root(),
        ),
        Tab(
            icon="clock",
            words=("Scheduled", "定时"),
            selected=shown == "scheduled",
            do=scheduled_page().at_root(),
        ),
        Tab(
            icon="archive",
            words=("Archive", "归档"),
            selected=shown == "archive",
            do=archive_page().at_root(),
        ),
    )


def _opening(thread: Thread) -> Do:
    page = thread_page(thread=thread.id)
    return Both(first=mark_read(thread=thread.id), then=page) if thread.unread else page


def _shown_text(ui: Ui, message: Message) -> str:
    text = message.text or ui.t("Picture", "图片")
    return ui.t(f"You: {text}", f"我：{text}") if message.mine else text


def _thread_row(s: State, ui: Ui, thread: Thread) -> Row:
    texts = messages_of(s, thread.id)
    icon = "bell_off" if thread.muted else "pin" if thread.pinned else ""
    return Row(
        title=name_of(ui.of(contacts.State), thread.phone),
        lead=lead_of(ui, thread.phone),
        subtitle=_shown_text(ui, texts[-1]) if texts else ("No messages", "没有消息"),
        trailing=ui.ago(texts[-1].at_s) if texts else "",
        trailing_icon=icon,
        badge=thread.unread,
        bold=thread.unread > 0,
        do=_opening(thread),
        long=ui.set(menu=thread.id),
        swipe_left=archive(thread=thread.id, on=not thread.archived),
    )


def _message_row(s: State, ui: Ui, message: Message) -> Row:
    thread = s.threads[message.thread]
    return Row(
        title=name_of(ui.of(contacts.State), thread.phone),
        subtitle=_shown_text(ui, message),
        lead=lead_of(ui, thread.phone),
        trailing=ui.ago(message.at_s),
        do=_opening(thread),
    )


def _listed(s: State, *, archived: bool) -> list[Thread]:
    def latest(thread: Thread) -> tuple[bool, int]:
        texts = messages_of(s, thread.id)
        return (not thread.pinned, -(texts[-1].at_s if texts else 0))

    return sorted(s.threads.where(lambda t: t.archived == archived), key=latest)


def _thread_dialog(s: State, ui: Ui) -> Dialog | None:
    """What a long press on a conversation offers, or the question before it is deleted."""
    asked = s.threads.get(ui.get("sure", ""))
    if asked is not None:
        return delete_dialog(ui, asked)
    thread = s.threads.get(ui.get("menu", ""))
    if thread is None:
        return None
    closed = ui.set(menu="")
    read = (
        ("check", ("Mark as read", "标为已读"), mark_read(thread=thread.id))
        if thread.unread
        else ("mail", ("Mark as unread", "标为未读"), mark_unread(thread=thread.id))
    )
    choices = (
        (
            "pin",
            ("Unpin", "取消置顶") if thread.pinned else ("Pin", "置顶"),
            pin(thread=thread.id, on=not thread.pinned),
        ),
        (
            "bell_off",
            ("Unmute", "取消静音") if thread.muted else ("Mute", "静音"),
            mute(thread=thread.id, on=not thread.muted),
        ),
        read,
        (
            "archive",
            ("Unarchive", "取消归档") if thread.archived else ("Archive", "归档"),
            archive(thread=thread.id, on=not thread.archived),
        ),
    )
    return Dialog.question(
        name_of(ui.of(contacts.State), thread.phone),
        dismiss=closed,
        body=tuple(
            Row(title=words, lead=Glyph(icon=icon, size_px=36), do=Both(first=do, then=closed))
            for icon, words, do in choices
        ),
        yes=("Delete", "删除"),
        do=ui.set(menu="", sure=thread.id),
    )


# ---- main pages --------------------------------------------------------------------------------


def _is_shown(thread: Thread, shown: str) -> bool:
    if shown == "unread":
        return thread.unread > 0
    return shown == "all" or is_number(thread.phone) == (shown == "people")


@app.page("/")
def chats_page(s: State, ui: Ui) -> Page:
    """The conversations, pinned ones first."""
    options = (
        ("all", ("All", "全部")),
        ("unread", ("Unread", "未读")),
        ("people", ("People", "联系人")),
        ("services", ("Services", "服务号")),
    )
    shown = ui.chips("shown", options, "all")
    rows: list[Widget] = [
        _thread_row(s, ui, t) for t in _listed(s, archived=False) if _is_shown(t, shown.value)
    ]
    if not rows:
        rows.append(Empty(icon="message", words=("No conversations", "没有会话")))
    return Page(
        title=("Messages", "短信"),
        large=True,
        tabs=_tabs("chats"),
        body=(shown, *rows),
        actions=(
            IconButton(icon="search", label=("Search", "搜索"), do=search_page()),
            IconButton(icon="settings", label=("Settings", "设置"), do=settings_page()),
        ),
        fab=Fab(icon="edit", words=("New message", "新短信"), do=new_page()),
        dialog=_thread_dialog(s, ui),
    )


@app.page("/archive")
def archive_page(s: State, ui: Ui) -> Page:
    """The conversations that were put away."""
    rows: list[Widget] = [_thread_row(s, ui, t) for t in _listed(s, archived=True)]
    if not rows:
        rows.append(Empty(icon="archive", words=("Nothing archived", "没有归档的会话")))
    return Page(
        title=("Archive", "归档"),
        large=True,
        body=rows,
        tabs=_tabs("archive"),
        dialog=_thread_dialog(s, ui),
    )


@app.page("/starred")
def starred_page(s: State, ui: Ui) -> Page:
    """The starred messages of all conversations."""
    found = sorted(s.messages.where(lambda m: m.starred), key=lambda m: -m.at_s)
    rows: list[Widget] = [_message_row(s, ui, m) for m in found]
    if not rows:
        rows.append(Empty(icon="star", words=("Hold a message to star it", "长按消息即可加星标")))
    return Page(title=("Starred", "星标"), large=True, body=rows, tabs=_tabs("starred"))


def _cancel_dialog(ui: Ui, row: Scheduled) -> Dialog:
    return Dialog.question(
        ("Cancel this message?", "取消定时发送？"),
        text=row.text,
        no=("Keep", "保留"),
        yes=("Do not send", "不发送"),
        do=cancel(scheduled=row.id),
        dismiss=ui.set(sure=""),
    )


@app.page("/scheduled")
def scheduled_page(s: State, ui: Ui) -> Page:
    """The texts that will be sent later."""
    body: list[Widget] = []
    for row in sorted(s.scheduled, key=lambda r: r.at_s):
        name = name_of(ui.of(contacts.State), row.phone)
        body.append(
            Card(
                children=(
                    Row(
                        title=name,
                        subtitle=f"{ui.day(row.at_s)} {ui.clock(row.at_s)}",
                        lead=lead_of(ui, row.phone),
                    ),
                    Paragraph(words=row.text),
                    Line(
                        children=(
                            Button(
                                words=("Send now", "立即发送"),
                                kind="tonal",
                                do=send_now(scheduled=row.id),
                            ),
                            Button(words=("Cancel", "取消"), kind="danger", do=ui.set(sure=row.id)),
                        )
                    ),
                ),
            )
        )
    if not body:
        body.append(Empty(icon="clock", words=("Nothing waits to be sent", "没有待发送的定时短信")))
    asked = s.scheduled.get(ui.get("sure", ""))
    return Page(
        title=("Scheduled", "定时"),
        large=True,
        body=body,
        tabs=_tabs("scheduled"),
        dialog=_cancel_dialog(ui, asked) if asked else None,
    )


@app.page("/search")
def search_page(s: State, ui: Ui) -> Page:
    """People and messages that hold a text."""
    text = ui.field("text", ("Search messages", "搜索短信"), kind="search")
    body: list[Widget] = [text]
    if text.value.strip():
        people = found_people(ui.of(contacts.State), text.value)
        if people:
            body.append(Heading(words=("People", "联系人")))
        for person in people:
            thread = thread_of(s, person.phone)
            do = _opening(thread) if thread else new_to_page(phone=person.phone)
            body.append(
                Row(title=person.name, subtitle=person.phone, lead=Avatar(name=person.name), do=do)
            )
        messages = found_messages(s, text.value)
        if messages:
            body.append(Heading(words=("Messages", "短信")))
        body += [_message_row(s, ui, m) for m in messages]
        if len(body) == 1:
            body.append(Empty(icon="search", words=("Nothing found", "没有找到结果")))
    return Page(title=("Search", "搜索"), body=body)


@app.page("/settings")
def settings_page(s: State, ui: Ui) -> Page:
    """Notifications and upkeep."""
    unread = sum(t.unread for t in s.threads)
    return Page(
        title=("Settings", "设置"),
        body=(
            Switch(
                label=("Show text in notifications", "在通知中显示内容"),
                icon="bell",
                value=s.previews,
                do=set_previews(on=not s.previews),
            ),
            Button(
                words=("Mark all as read", "全部标为已读"),
                kind="tonal",
                do=read_all(),
                enabled=unread > 0,
            ),
            Paragraph(
                muted=True,
                align="center",
                words=ui.t(f"{unread} unread messages", f"{unread} 条未读短信"),
            ),
        ),
    )


# ---- flows -------------------------------------------------------------------------------------

app.flow(
    "answer a friend",
    tap(thread_page, thread="thread1"),
    enter("text", "See you there"),
    tap(send),
    wait(30),
    tap(mark_read),
)
app.flow(
    "write to a new number",
    tap("New message"),
    enter("phone", "555-010-2030"),
    enter("text", "Is the room still free?"),
    tap(start),
)
app.flow(
    "write to a contact",
    tap("New message"),
    enter("phone", "clara"),
    tap("Clara Olsen"),
    enter("text", "Lunch tomorrow?"),
    tap(start),
)
app.flow(
    "find somebody",
    tap("Search"),
    enter("text", "chloe"),
    tap("Chloe Fischer"),
    enter("text", "Are you in town?"),
    tap(start),
)
app.flow(
    "star and forward",
    tap(thread_page, thread="thread2"),
    hold("Noted. Which room?"),
    tap(star),
    hold("2A as always"),
    tap("Forward"),
    tap("Chloe Fischer"),
    tap(forward),
)
app.flow(
    "delete a message",
    tap(thread_page, thread="thread3"),
    hold("Works, thanks"),
    tap("Delete"),
    tap(delete_message),
)
app.flow(
    "sort the chats",
    hold("Felix Lindgren"),
    tap(pin),
    hold("Felix Lindgren"),
    tap(mark_unread),
    hold("Nimbus"),
    tap(mute),
    hold("Harbor Bank"),
    tap(archive),
    hold("Yara Farah"),
    tap(mark_read),
)
app.flow("delete a conversation", hold("Harbor Dental"), tap("Delete"), tap(delete_thread))
app.flow(
    "bring one back",
    tap("Archive"),
    tap(thread_page, thread="thread14"),
    tap(info_page),
    tap(archive),
)
app.flow(
    "block and unblock",
    tap(thread_page, thread="thread5"),
    tap(info_page),
    tap(block, on=True),
    press("back"),
    tap(block, on=False),
    enter("text", "Sorry, wrong button"),
    tap(send),
)
app.flow(
    "save an unknown number",
    tap(thread_page, thread="thread9"),
    tap(info_page),
    enter("name", "Liam Greene"),
    tap(save_contact),
)
app.flow(
    "schedule, then send at once",
    tap(thread_page, thread="thread7"),
    tap(schedule_page),
    enter("text", "Do not forget the tickets"),
    tap(schedule),
    press("back"),
    tap("Scheduled"),
    tap(send_now),
)
app.flow(
    "schedule, then cancel",
    tap(thread_page, thread="thread8"),
    tap(schedule_page),
    enter("text", "Today is payday"),
    tap("Time"),
    tap("Hour 10"),
    tap("Minute 30"),
    tap(schedule),
    press("back"),
    tap("Scheduled"),
    tap("Cancel"),
    tap(cancel),
)
app.flow("settings", tap("Settings"), tap(set_previews), tap(read_all))
