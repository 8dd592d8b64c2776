"""Messages: conversations by phone number, pictures, scheduled texts, answers that come later."""

from __future__ import annotations

from screenloop.phone import kit as k
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages import actions as act
from screenloop.phone.apps.messages import chat, state
from screenloop.phone.apps.messages.state import State, app

__all__ = ["State", "app"]


# ---- parts -------------------------------------------------------------------------------------


def _tabs(shown: str) -> tuple[k.Tab, ...]:
    return k.tabs(
        shown,
        ("chats", "chat", ("Chats", "会话"), chats_page()),
        ("starred", "star", ("Starred", "星标"), starred_page()),
        ("scheduled", "clock", ("Scheduled", "定时"), scheduled_page()),
        ("archive", "archive", ("Archive", "归档"), archive_page()),
    )


def _opening(thread: state.Thread) -> k.Do:
    page = chat.thread_page(thread=thread.id)
    return k.Both(first=act.mark_read(thread=thread.id), then=page) if thread.unread else page


def _shown_text(ui: k.Ui, message: state.Message) -> str:
    text = message.text or ui.t("Picture", "图片")
    return ui.t(f"You: {text}", f"我：{text}") if message.mine else text


def _thread_row(s: State, ui: k.Ui, thread: state.Thread) -> k.Row:
    texts = state.messages_of(s, thread.id)
    icon = "bell_off" if thread.muted else "pin" if thread.pinned else ""
    return k.Row(
        state.name_of(ui.of(contacts.State), thread.phone),
        _shown_text(ui, texts[-1]) if texts else ("No messages", "没有消息"),
        chat.lead_of(ui, thread.phone),
        trailing=ui.ago(texts[-1].at_s) if texts else "",
        trailing_icon=icon,
        badge=thread.unread,
        bold=thread.unread > 0,
        do=_opening(thread),
        long=ui.set(menu=thread.id),
        swipe_left=act.archive(thread=thread.id, on=not thread.archived),
    )


def _message_row(s: State, ui: k.Ui, message: state.Message) -> k.Row:
    thread = s.threads[message.thread]
    return k.Row(
        state.name_of(ui.of(contacts.State), thread.phone),
        _shown_text(ui, message),
        chat.lead_of(ui, thread.phone),
        trailing=ui.ago(message.at_s),
        do=_opening(thread),
    )


def _listed(s: State, *, archived: bool) -> list[state.Thread]:
    def latest(thread: state.Thread) -> tuple[bool, int]:
        texts = state.messages_of(s, thread.id)
        return (not thread.pinned, -(texts[-1].at_s if texts else 0))

    return sorted(s.threads.where(lambda t: t.archived == archived), key=latest)


def _thread_dialog(s: State, ui: k.Ui) -> k.Dialog | None:
    """What a long press on a conversation offers, or the question before it is deleted."""
    asked = s.threads.get(ui.get("sure", ""))
    if asked is not None:
        return chat.delete_dialog(ui, asked)
    thread = s.threads.get(ui.get("menu", ""))
    if thread is None:
        return None
    closed = ui.set(menu="")
    read = (
        ("check", ("Mark as read", "标为已读"), act.mark_read(thread=thread.id))
        if thread.unread
        else ("mail", ("Mark as unread", "标为未读"), act.mark_unread(thread=thread.id))
    )
    choices = (
        (
            "pin",
            ("Unpin", "取消置顶") if thread.pinned else ("Pin", "置顶"),
            act.pin(thread=thread.id, on=not thread.pinned),
        ),
        (
            "bell_off",
            ("Unmute", "取消静音") if thread.muted else ("Mute", "静音"),
            act.mute(thread=thread.id, on=not thread.muted),
        ),
        read,
        (
            "archive",
            ("Unarchive", "取消归档") if thread.archived else ("Archive", "归档"),
            act.archive(thread=thread.id, on=not thread.archived),
        ),
    )
    return k.Dialog.question(
        state.name_of(ui.of(contacts.State), thread.phone),
        ("Delete", "删除"),
        ui.set(menu="", sure=thread.id),
        closed,
        body=tuple(
            k.Row(words, lead=k.Glyph(icon, size_px=36), do=k.Both(first=do, then=closed))
            for icon, words, do in choices
        ),
    )


# ---- main pages --------------------------------------------------------------------------------


def _is_shown(thread: state.Thread, shown: str) -> bool:
    if shown == "unread":
        return thread.unread > 0
    return shown == "all" or state.is_number(thread.phone) == (shown == "people")


@app.page("/")
def chats_page(s: State, ui: k.Ui) -> k.Page:
    """The conversations, pinned ones first."""
    options = (
        ("all", ("All", "全部")),
        ("unread", ("Unread", "未读")),
        ("people", ("People", "联系人")),
        ("services", ("Services", "服务号")),
    )
    shown = ui.chips("shown", options, "all")
    rows: list[k.Widget] = [
        _thread_row(s, ui, t) for t in _listed(s, archived=False) if _is_shown(t, shown.value)
    ]
    if not rows:
        rows.append(k.Empty("message", ("No conversations", "没有会话")))
    return k.Page(
        ("Messages", "短信"),
        (shown, *rows),
        large=True,
        tabs=_tabs("chats"),
        actions=(
            k.IconButton("search", ("Search", "搜索"), search_page()),
            k.IconButton("settings", ("Settings", "设置"), settings_page()),
        ),
        fab=k.Fab("edit", ("New message", "新短信"), chat.new_page()),
        dialog=_thread_dialog(s, ui),
    )


@app.page("/archive")
def archive_page(s: State, ui: k.Ui) -> k.Page:
    """The conversations that were put away."""
    rows: list[k.Widget] = [_thread_row(s, ui, t) for t in _listed(s, archived=True)]
    if not rows:
        rows.append(k.Empty("archive", ("Nothing archived", "没有归档的会话")))
    return k.Page(
        ("Archive", "归档"), rows, large=True, tabs=_tabs("archive"), dialog=_thread_dialog(s, ui)
    )


@app.page("/starred")
def starred_page(s: State, ui: k.Ui) -> k.Page:
    """The starred messages of all conversations."""
    found = sorted(s.messages.where(lambda m: m.starred), key=lambda m: -m.at_s)
    rows: list[k.Widget] = [_message_row(s, ui, m) for m in found]
    if not rows:
        rows.append(k.Empty("star", ("Hold a message to star it", "长按消息即可加星标")))
    return k.Page(("Starred", "星标"), rows, large=True, tabs=_tabs("starred"))


def _cancel_dialog(ui: k.Ui, row: state.Scheduled) -> k.Dialog:
    return k.Dialog.question(
        ("Cancel this message?", "取消定时发送？"),
        ("Do not send", "不发送"),
        act.cancel(scheduled=row.id),
        ui.set(sure=""),
        row.text,
        no=("Keep", "保留"),
    )


@app.page("/scheduled")
def scheduled_page(s: State, ui: k.Ui) -> k.Page:
    """The texts that will be sent later."""
    body: list[k.Widget] = []
    for row in sorted(s.scheduled, key=lambda r: r.at_s):
        name = state.name_of(ui.of(contacts.State), row.phone)
        body.append(
            k.card(
                k.Row(
                    name, f"{ui.day(row.at_s)} {ui.clock(row.at_s)}", chat.lead_of(ui, row.phone)
                ),
                k.Paragraph(row.text),
                k.Line(
                    (
                        k.Button(
                            ("Send now", "立即发送"), act.send_now(scheduled=row.id), kind="tonal"
                        ),
                        k.Button(("Cancel", "取消"), ui.set(sure=row.id), kind="danger"),
                    )
                ),
            )
        )
    if not body:
        body.append(k.Empty("clock", ("Nothing waits to be sent", "没有待发送的定时短信")))
    asked = s.scheduled.get(ui.get("sure", ""))
    return k.Page(
        ("Scheduled", "定时"),
        body,
        large=True,
        tabs=_tabs("scheduled"),
        dialog=_cancel_dialog(ui, asked) if asked else None,
    )


@app.page("/search")
def search_page(s: State, ui: k.Ui) -> k.Page:
    """People and messages that hold a text."""
    text = ui.field("text", ("Search messages", "搜索短信"), kind="search")
    body: list[k.Widget] = [text]
    if text.value.strip():
        people = state.found_people(ui.of(contacts.State), text.value)
        if people:
            body.append(k.Heading(("People", "联系人")))
        for person in people:
            thread = state.thread_of(s, person.phone)
            do = _opening(thread) if thread else chat.new_to_page(phone=person.phone)
            body.append(k.Row(person.name, person.phone, k.Avatar(person.name), do=do))
        messages = state.found_messages(s, text.value)
        if messages:
            body.append(k.Heading(("Messages", "短信")))
        body += [_message_row(s, ui, m) for m in messages]
        if len(body) == 1:
            body.append(k.Empty("search", ("Nothing found", "没有找到结果")))
    return k.Page(("Search", "搜索"), body)


@app.page("/settings")
def settings_page(s: State, ui: k.Ui) -> k.Page:
    """Notifications and upkeep."""
    unread = sum(t.unread for t in s.threads)
    return k.Page(
        ("Settings", "设置"),
        (
            k.Switch(
                ("Show text in notifications", "在通知中显示内容"),
                s.previews,
                act.set_previews(on=not s.previews),
                icon="bell",
            ),
            k.Button(
                ("Mark all as read", "全部标为已读"),
                act.read_all(),
                kind="tonal",
                enabled=unread > 0,
            ),
            k.Paragraph(
                ui.t(f"{unread} unread messages", f"{unread} 条未读短信"),
                muted=True,
                align="center",
            ),
        ),
    )


k.read_flows(app, __package__)
