"""The pages of one conversation in Messages, and of a new message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

from screenloop.phone import kit as k
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.gallery.state import State as Gallery
from screenloop.phone.apps.messages import actions as act
from screenloop.phone.apps.messages import state
from screenloop.phone.apps.messages.state import State, app

NOTHING = "-"
"""Stands for an empty slot of a path, as the share sheet writes it."""


class Composer(k.Struct, frozen=True, kw_only=True):
    """The line at the bottom of a chat: attach, text field, send."""

    field: k.Field
    attach: k.Do
    send: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        return self.field.height(d, w - 92)

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        label = ("Attach picture", "添加图片")
        k.IconButton("image", label, self.attach).place(d, x + 6, y + 11)
        self.field.draw(d, x + 38, y, w - 92)
        left = x + w - 58
        d.box(left, y + 11, 44, 44, d.theme.tint, radius=22)
        d.icon("send", left + 11, y + 22, 22, d.theme.on_tint)
        box = k.Box(left, y + 11, 44, 44)
        d.node(k.Node("button", d.words(("Send", "发送")), box, do=self.send))


# ---- parts -------------------------------------------------------------------------------------


def lead_of(ui: k.Ui, phone: str) -> k.Avatar | k.Glyph:
    """Return the badge of a sender."""
    if not state.is_number(phone):
        return k.Glyph("bell", size_px=44)
    name = state.name_of(ui.of(contacts.State), phone)
    return k.Avatar(name, size_px=44) if name != phone else k.Glyph("user", size_px=44)


def delete_dialog(ui: k.Ui, thread: state.Thread) -> k.Dialog:
    """Return the question before a conversation is deleted."""
    name = state.name_of(ui.of(contacts.State), thread.phone)
    return k.Dialog.question(
        ("Delete conversation?", "删除会话？"),
        ("Delete", "删除"),
        act.delete_thread(thread=thread.id),
        ui.set(sure=""),
        (f"All messages with {name} will be gone.", f"与 {name} 的所有消息都会被删除。"),
    )


def _message_dialog(s: State, ui: k.Ui) -> k.Dialog | None:
    """What a long press on a message offers, or the question before it is deleted."""
    asked = s.messages.get(ui.get("sure", ""))
    if asked is not None:
        return k.Dialog.question(
            ("Delete message?", "删除消息？"),
            ("Delete", "删除"),
            act.delete_message(message=asked.id),
            ui.set(sure=""),
            asked.text[:120],
        )
    message = s.messages.get(ui.get("menu", ""))
    if message is None:
        return None
    closed = ui.set(menu="")
    choices: tuple[tuple[str, tuple[str, str], k.Do], ...] = (
        ("copy", ("Copy text", "复制文字"), k.Copy(text=message.text)),
        ("forward", ("Forward", "转发"), forward_page(message=message.id)),
        (
            "star",
            ("Unstar", "取消星标") if message.starred else ("Star", "加星标"),
            act.star(message=message.id, on=not message.starred),
        ),
        ("share", ("Share", "分享"), k.Share(text=message.text)),
    )
    return k.Dialog.question(
        ("Message", "消息"),
        ("Delete", "删除"),
        ui.set(menu="", sure=message.id),
        closed,
        body=tuple(
            k.Row(words, lead=k.Glyph(icon, size_px=36), do=k.Both(first=closed, then=do))
            for icon, words, do in choices
        ),
    )


def _attached(ui: k.Ui, initial: str = "") -> tuple[str, list[k.Widget]]:
    """Return the id of the chosen photo, if any, and the row that shows it."""
    chosen = ui.get("photo", initial)
    photo = ui.of(Gallery).photos.get(chosen)
    if photo is None:
        return "", []
    return photo.id, [
        k.Row(
            photo.title,
            ("Picture to send", "待发送的图片"),
            k.Thumb(photo.kind, photo.seed),
            trailing_icon="close",
            do=ui.set(photo=""),
        )
    ]


def _recipients(ui: k.Ui, initial: str = "") -> tuple[str, list[k.Widget]]:
    """Return the chosen number, and the field and contacts to choose it from."""
    book = ui.of(contacts.State)
    phone = ui.field("phone", ("To: name or number", "收件人：姓名或号码"), initial)
    person = state.person_of(book, phone.value)
    body: list[k.Widget] = [phone]
    if person is not None:
        body.append(
            k.Row(
                person.name,
                person.phone,
                k.Avatar(person.name),
                trailing_icon="check",
                selected=True,
            )
        )
        return phone.value, body
    body.append(k.Heading(("Contacts", "联系人")))
    body += [
        k.Row(p.name, p.phone, k.Avatar(p.name), do=ui.set(phone=p.phone))
        for p in state.found_people(book, phone.value)
    ]
    return phone.value, body


# ---- a conversation ----------------------------------------------------------------------------


def _bubbles(s: State, ui: k.Ui, thread: state.Thread) -> list[k.Widget]:
    body: list[k.Widget] = []
    day = ""
    for message in state.messages_of(s, thread.id):
        if ui.day(message.at_s) != day:
            day = ui.day(message.at_s)
            body.append(k.Paragraph(day, size_px=12, muted=True, align="center", pad_px=10))
        picture = (message.picture_kind, message.picture_seed) if message.picture_kind else None
        starred = ui.t(" · Starred", " · 星标") if message.starred else ""
        body.append(
            k.Bubble(
                message.text,
                message.mine,
                note=ui.clock(message.at_s) + starred,
                picture=picture,
                long=ui.set(menu=message.id),
            )
        )
    if not body:
        body.append(k.Empty("message", ("No messages", "没有消息")))
    if thread.unread:
        words = ui.t(f"{thread.unread} new · Mark as read", f"{thread.unread} 条新消息 · 标为已读")
        body.append(k.Banner("check", words, act.mark_read(thread=thread.id)))
    return body


@app.page("/t/{thread}")
def thread_page(s: State, ui: k.Ui, thread: state.ThreadId) -> k.Page:
    """One conversation."""
    row = s.threads[thread]
    book = ui.of(contacts.State)
    person = state.person_of(book, row.phone)
    photo, attached = _attached(ui)
    footer: tuple[k.Widget, ...]
    if not state.is_number(row.phone):
        words = ("This sender takes no replies", "该发件人不接收回复")
        footer = (k.Paragraph(words, muted=True, align="center", pad_px=14),)
    elif person is not None and person.blocked:
        words = ("Blocked · Tap to unblock", "已屏蔽 · 点按取消屏蔽")
        footer = (k.Banner("shield", words, act.block(thread=thread, on=False)),)
    else:
        text = ui.get("text", "")
        sending = k.clearing(act.send(thread=thread, text=text, photo=photo), "text", "photo")
        field = ui.field("text", ("Text message", "短信"), submit=sending)
        composer = Composer(field=field, attach=k.PickMedia(local="photo"), send=sending)
        footer = (*attached, composer)
    return k.Page(
        state.name_of(book, row.phone),
        _bubbles(s, ui, row),
        subtitle=row.phone if person else "",
        actions=(
            (
                k.IconButton("clock", ("Schedule", "定时发送"), schedule_page(thread=thread)),
                k.IconButton("info", ("Details", "详情"), info_page(thread=thread)),
            )
            if state.is_number(row.phone)
            else (k.IconButton("info", ("Details", "详情"), info_page(thread=thread)),)
        ),
        footer=footer,
        from_bottom=True,
        dialog=_message_dialog(s, ui),
    )


def _switches(row: state.Thread) -> k.Card:
    switches = (
        (("Pin to top", "置顶"), "pin", row.pinned, act.pin),
        (("Mute", "静音"), "bell_off", row.muted, act.mute),
        (("Archived", "归档"), "archive", row.archived, act.archive),
    )
    return k.Card(
        tuple(
            k.Switch(words, on, action(thread=row.id, on=not on), icon=icon)
            for words, icon, on, action in switches
        )
    )


def _save_form(ui: k.Ui, thread: str) -> tuple[k.Widget, ...]:
    name = ui.field("name", ("Name", "姓名"))
    save = k.Button(
        ("Save as contact", "保存为联系人"),
        act.save_contact(thread=thread, name=name.value),
        kind="tonal",
        icon="user_plus",
        enabled=bool(name.value.strip()),
    )
    return k.Heading(("Not in your contacts", "不在通讯录中")), name, save


@app.page("/t/{thread}/info")
def info_page(s: State, ui: k.Ui, thread: state.ThreadId) -> k.Page:
    """Who it is, and what can be done with the conversation."""
    row = s.threads[thread]
    person = state.person_of(ui.of(contacts.State), row.phone)
    badge = person.name if person else "?" if state.is_number(row.phone) else row.phone
    name = person.name if person else row.phone
    body: list[k.Widget] = [
        k.Avatar(badge, size_px=88),
        k.Paragraph(name, size_px=22, bold=True, align="center", lines=1),
    ]
    actions = [k.ActionButton("copy", ("Copy number", "复制号码"), k.Copy(text=row.phone))]
    if person is not None:
        opened = contacts.person_page(person=person.id)
        actions.append(k.ActionButton("user", ("Contact", "联系人"), opened))
    actions.append(k.ActionButton("trash", ("Delete", "删除"), ui.set(sure=thread)))
    body += [k.Paragraph(row.phone, muted=True, align="center")] if person else []
    body += [k.Line(tuple(actions), inset_px=24), _switches(row)]
    if person is not None:
        words = ("Unblock", "取消屏蔽") if person.blocked else ("Block", "屏蔽")
        do = act.block(thread=thread, on=not person.blocked)
        body.append(k.Row(words, danger=True, do=do))
    elif state.is_number(row.phone):
        body += _save_form(ui, thread)
    return k.Page(
        ("Details", "详情"), body, dialog=delete_dialog(ui, row) if ui.get("sure", "") else None
    )


@app.page("/t/{thread}/schedule")
def schedule_page(s: State, ui: k.Ui, thread: state.ThreadId) -> k.Page:
    """The form for a text that is sent later."""
    tomorrow = (datetime.fromtimestamp(ui.now_s, UTC) + timedelta(days=1)).date().isoformat()
    text = ui.field("text", ("Text message", "短信"), lines=3)
    date = ui.date("date", ("Day", "日期"), tomorrow)
    time = ui.time("time", ("Time", "时间"), "09:00")
    saving = act.schedule(thread=thread, text=text.value, date=date.value, time=time.value)
    return k.Page(
        ("Schedule message", "定时发送"),
        (
            text,
            date,
            time,
            k.Space(px=8),
            k.Button(
                ("Schedule", "定时发送"), saving, icon="clock", enabled=bool(text.value.strip())
            ),
        ),
        subtitle=state.name_of(ui.of(contacts.State), s.threads[thread].phone),
    )


# ---- new messages ------------------------------------------------------------------------------


def _new(ui: k.Ui, phone: str, text: str = "", photo: str = "") -> k.Page:
    """The form for a message to somebody, with what is already known filled in."""
    to, body = _recipients(ui, phone)
    chosen, attached = _attached(ui, photo)
    words = ui.get("text", text)
    sending = act.start(phone=to, text=words, photo=chosen)
    field = ui.field("text", ("Text message", "短信"), text, submit=sending)
    return k.Page(
        ("New message", "新短信"),
        body,
        footer=(*attached, Composer(field=field, attach=k.PickMedia(local="photo"), send=sending)),
    )


@app.page("/new")
def new_page(s: State, ui: k.Ui) -> k.Page:
    """A new message."""
    return _new(ui, "")


@app.page("/new/{phone}")
def new_to_page(s: State, ui: k.Ui, phone: str) -> k.Page:
    """A new message to a number."""
    return _new(ui, unquote(phone))


@app.page("/share/{text}/{image}")
def share_page(s: State, ui: k.Ui, text: str, image: str) -> k.Page:
    """A new message with what was shared."""
    shared = "" if text == NOTHING else unquote(text)
    return _new(ui, "", shared, "" if image == NOTHING else image)


@app.page("/forward/{message}")
def forward_page(s: State, ui: k.Ui, message: state.MessageId) -> k.Page:
    """Choose who gets a message."""
    row = s.messages[message]
    to, body = _recipients(ui)
    shown = k.Bubble(
        row.text,
        True,
        note=ui.clock(row.at_s),
        picture=(row.picture_kind, row.picture_seed) if row.picture_kind else None,
    )
    button = k.Button(
        ("Forward", "转发"),
        act.forward(message=message, phone=to),
        icon="forward",
        enabled=state.is_number(to),
    )
    return k.Page(("Forward message", "转发消息"), (shown, *body), footer=(button,))


app.accepts_shared(share_page)
