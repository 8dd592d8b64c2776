"""What can be done in Messages: send, receive, sort, schedule, and look things up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from screenloop.phone import kit as k
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.gallery.state import PhotoId
from screenloop.phone.apps.gallery.state import State as Gallery
from screenloop.phone.apps.messages import state
from screenloop.phone.apps.messages.state import Message, State, Thread, ThreadId, app, person_of

Phone = Annotated[str, msgspec.Meta(min_length=1, max_length=30)]
Words1000 = Annotated[str, msgspec.Meta(max_length=1000)]
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Clock = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5][05]$")]
RETRY_S = 300
"""How long a scheduled message waits when the phone is offline."""


# ---- actions: messages -----------------------------------------------------------------------


def _thread_for(s: State, ctx: k.Ctx, phone: str) -> Thread:
    found = state.thread_of(s, phone)
    if found is not None:
        return found
    person = person_of(ctx.of(contacts.State), phone)
    return s.threads.add(Thread(phone=person.phone if person else phone.strip()))


def _post(s: State, ctx: k.Ctx, phone: str, draft: Message) -> Thread:
    """Send a message, and let the other side answer when it has something prepared."""
    if ctx.of(k.SystemState).airplane:
        ctx.refuse(
            ctx.t("Airplane mode is on; turn it off to send", "飞行模式已开启，请先关闭再发送")
        )
    if not state.is_number(phone):
        ctx.refuse(
            ctx.t(
                f"{phone!r} takes no messages; it needs a full phone number",
                f"{phone} 无法接收短信，请使用完整的电话号码",
            )
        )
    person = person_of(ctx.of(contacts.State), phone)
    if person is not None and person.blocked:
        ctx.refuse(ctx.t(f"{person.name} is blocked; unblock first", f"{person.name} 已被屏蔽"))
    if not draft.text and not draft.picture_kind:
        ctx.refuse(ctx.t("Write something first", "请先输入内容"))
    thread = _thread_for(s, ctx, phone)
    s.messages.add(replace(draft, thread=thread.id))
    answer = s.answers.first(
        lambda a: a.number == thread.answered and state.same_number(a.phone, thread.phone)
    )
    if answer is not None:
        ctx.after(answer.after_s, receive(sender=thread.phone, text=answer.text))
    return s.threads.update(
        thread.id, unread=0, archived=False, answered=thread.answered + (answer is not None)
    )


def _draft(ctx: k.Ctx, text: str, photo: str = "") -> Message:
    draft = Message(thread="", mine=True, text=text.strip(), at_s=ctx.now_s)
    if not photo:
        return draft
    row = ctx.of(Gallery).photos[photo]
    return replace(draft, photo=photo, picture_kind=row.kind, picture_seed=row.seed)


def _is_sent(before: State, after: State, text: str) -> bool:
    fresh = [m for m in after.messages if m.id not in before.messages]
    return len(fresh) == 1 and fresh[0].mine and fresh[0].text == text.strip()


@app.action(
    "messages.send",
    tool=True,
    writes=["messages", "threads"],
    check=lambda before, after, a: _is_sent(before, after, a.text),
)
def send(s: State, ctx: k.Ctx, thread: ThreadId, text: Words1000 = "", photo: PhotoId = "") -> None:
    """Send a text, a picture or both in a conversation."""
    _post(s, ctx, s.threads[thread].phone, _draft(ctx, text, photo))


@app.action(
    "messages.start",
    tool="Send a message to a phone number.",
    writes=["messages", "threads"],
    check=lambda before, after, a: _is_sent(before, after, a.text),
)
def start(s: State, ctx: k.Ctx, phone: Phone, text: Words1000 = "", photo: PhotoId = "") -> None:
    """Send a message to a number; opens a conversation where there was none."""
    thread = _post(s, ctx, phone, _draft(ctx, text, photo))
    ctx.move(k.Back())
    ctx.move(state.open_thread(thread.id))


@app.action(
    "messages.forward",
    tool=True,
    writes=["messages", "threads"],
    check=lambda before, after, a: _is_sent(before, after, before.messages[a.message].text),
)
def forward(s: State, ctx: k.Ctx, message: state.MessageId, phone: Phone) -> None:
    """Send a message on to another phone number."""
    row = s.messages[message]
    thread = _post(s, ctx, phone, replace(row, mine=True, at_s=ctx.now_s, starred=False))
    ctx.toast(ctx.t("Forwarded", "已转发"))
    ctx.move(k.Back())
    ctx.move(state.open_thread(thread.id))


@app.action("messages.receive", writes=["messages", "threads"])
def receive(s: State, ctx: k.Ctx, sender: Phone, text: Words1000) -> None:
    """Take in a message; other apps schedule it with `ctx.after`, e.g. a one-time code."""
    thread = _thread_for(s, ctx, sender)
    s.messages.add(Message(thread=thread.id, mine=False, text=text, at_s=ctx.now_s))
    book = ctx.of(contacts.State)
    person = person_of(book, sender)
    quiet = thread.muted or (person is not None and person.blocked)
    s.threads.update(thread.id, unread=thread.unread + 1, archived=thread.archived and quiet)
    if not quiet:
        shown = text if s.previews else ctx.t("New message", "新短信")
        ctx.notify(state.name_of(book, thread.phone), shown, state.open_thread(thread.id))


@app.action(
    "messages.star",
    tool=True,
    writes=["messages"],
    check=k.row_has("messages", "message", starred="on"),
)
def star(s: State, ctx: k.Ctx, message: state.MessageId, on: bool) -> None:
    """Star a message, or not."""
    s.messages.update(message, starred=on)


@app.action("messages.delete", tool=True, writes=["messages"], check=k.gone("messages", "message"))
def delete_message(s: State, ctx: k.Ctx, message: state.MessageId) -> None:
    """Delete one message."""
    s.messages.remove(message)
    ctx.toast(ctx.t("Message deleted", "消息已删除"))


# ---- actions: conversations ------------------------------------------------------------------


@app.action(
    "threads.mark_read",
    tool=True,
    writes=["threads"],
    check=k.row_has("threads", "thread", unread=0),
)
def mark_read(s: State, ctx: k.Ctx, thread: ThreadId) -> None:
    """Mark a conversation as read."""
    s.threads.update(thread, unread=0)


@app.action(
    "threads.mark_unread",
    tool=True,
    writes=["threads"],
    check=lambda before, after, a: after.threads[a.thread].unread > 0,
)
def mark_unread(s: State, ctx: k.Ctx, thread: ThreadId) -> None:
    """Mark a conversation as unread."""
    s.threads.update(thread, unread=max(1, s.threads[thread].unread))


@app.action(
    "threads.read_all",
    tool=True,
    writes=["threads"],
    check=lambda before, after, a: not after.threads.where(lambda t: t.unread > 0),
)
def read_all(s: State, ctx: k.Ctx) -> None:
    """Mark all conversations as read."""
    for row in s.threads.where(lambda t: t.unread > 0):
        s.threads.update(row.id, unread=0)
    ctx.toast(ctx.t("All read", "已全部标为已读"))


@app.action(
    "threads.pin", tool=True, writes=["threads"], check=k.row_has("threads", "thread", pinned="on")
)
def pin(s: State, ctx: k.Ctx, thread: ThreadId, on: bool) -> None:
    """Keep a conversation at the top, or not."""
    s.threads.update(thread, pinned=on)


@app.action(
    "threads.mute", tool=True, writes=["threads"], check=k.row_has("threads", "thread", muted="on")
)
def mute(s: State, ctx: k.Ctx, thread: ThreadId, on: bool) -> None:
    """Turn a conversation's notifications off or on."""
    s.threads.update(thread, muted=on)


@app.action(
    "threads.archive",
    tool=True,
    writes=["threads"],
    check=k.row_has("threads", "thread", archived="on"),
)
def archive(s: State, ctx: k.Ctx, thread: ThreadId, on: bool) -> None:
    """Put a conversation into the archive, or take it out."""
    s.threads.update(thread, archived=on)
    ctx.toast(ctx.t("Archived", "已归档") if on else ctx.t("Moved to chats", "已移回会话"))


@app.action(
    "threads.delete",
    tool=True,
    writes=["threads", "messages"],
    check=lambda before, after, a: (
        a.thread not in after.threads and not state.messages_of(after, a.thread)
    ),
)
def delete_thread(s: State, ctx: k.Ctx, thread: ThreadId) -> None:
    """Delete a conversation with all its messages."""
    s.threads.remove(thread)
    for row in s.messages.where(lambda m: m.thread == thread):
        s.messages.remove(row.id)
    ctx.toast(ctx.t("Conversation deleted", "会话已删除"))


@app.action("threads.block", tool=True, writes=["contacts.people"])
def block(s: State, ctx: k.Ctx, thread: ThreadId, on: bool) -> None:
    """Block or unblock the contact of a conversation."""
    person = person_of(ctx.of(contacts.State), s.threads[thread].phone)
    if person is None:
        raise k.Refused(ctx.t("Only contacts can be blocked", "只能屏蔽联系人"))
    ctx.call(contacts.block(person=person.id, on=on))


@app.action("threads.save_contact", tool=True, writes=["contacts.people"])
def save_contact(s: State, ctx: k.Ctx, thread: ThreadId, name: contacts.Name) -> None:
    """Save the number of a conversation as a new contact."""
    phone = s.threads[thread].phone
    known = person_of(ctx.of(contacts.State), phone)
    if known is not None:
        ctx.refuse(ctx.t(f"Already saved as {known.name}", f"已保存为 {known.name}"))
    ctx.call(contacts.add(name=name, phone=phone))


# ---- actions: later, and settings -------------------------------------------------------------


@app.action("scheduled.add", tool=True, writes=["scheduled"], check=k.one_more("scheduled"))
def schedule(
    s: State, ctx: k.Ctx, thread: ThreadId, text: Words1000, date: Day, time: Clock
) -> None:
    """Schedule a text for a day (YYYY-MM-DD) and time (HH:MM)."""
    try:
        at_s = int(datetime.fromisoformat(f"{date}T{time}").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise k.Refused(ctx.t(f"There is no day {date}", f"没有 {date} 这一天")) from None
    phone = s.threads[thread].phone
    if not state.is_number(phone):
        ctx.refuse(ctx.t(f"{phone} takes no messages", f"{phone} 无法接收短信"))
    if not text.strip():
        ctx.refuse(ctx.t("Write something first", "请先输入内容"))
    if at_s <= ctx.now_s:
        ctx.refuse(ctx.t("Choose a time in the future", "请选择将来的时间"))
    row = s.scheduled.add(state.Scheduled(phone=phone, text=text.strip(), at_s=at_s))
    ctx.after(at_s - ctx.now_s, send_due(scheduled=row.id))
    ctx.toast(ctx.t("Message scheduled", "已设定定时发送"))
    ctx.move(k.Back())


@app.action(
    "scheduled.cancel", tool=True, writes=["scheduled"], check=k.gone("scheduled", "scheduled")
)
def cancel(s: State, ctx: k.Ctx, scheduled: state.ScheduledId) -> None:
    """Cancel a scheduled text."""
    s.scheduled.remove(scheduled)
    ctx.toast(ctx.t("Cancelled", "已取消"))


@app.action(
    "scheduled.send_now",
    tool=True,
    writes=["scheduled", "messages", "threads"],
    check=k.gone("scheduled", "scheduled"),
)
def send_now(s: State, ctx: k.Ctx, scheduled: state.ScheduledId) -> None:
    """Send a scheduled text now."""
    row = s.scheduled.remove(scheduled)
    _post(s, ctx, row.phone, _draft(ctx, row.text))
    ctx.toast(ctx.t("Message sent", "已发送"))


@app.action("scheduled.send_due", writes=["scheduled", "messages", "threads"])
def send_due(s: State, ctx: k.Ctx, scheduled: state.ScheduledId) -> None:
    """Send a scheduled text when its time has come; runs from a timer, so it never refuses."""
    row = s.scheduled.get(scheduled)
    if row is None:
        return
    try:
        _post(s, ctx, row.phone, _draft(ctx, row.text))
    except k.Refused:
        ctx.after(RETRY_S, send_due(scheduled=scheduled))
        return
    s.scheduled.remove(scheduled)


@app.action("settings.previews", tool=True, writes=["previews"], check=k.value_is("previews", "on"))
def set_previews(s: State, ctx: k.Ctx, on: bool) -> None:
    """Show the text in notifications, or not."""
    s.previews = on


# ---- look-ups ----------------------------------------------------------------------------------


def _thread_facts(s: State, ctx: k.Ctx, row: Thread) -> dict[str, Any]:
    texts = state.messages_of(s, row.id)
    return {
        **msgspec.structs.asdict(row),
        "name": state.name_of(ctx.of(contacts.State), row.phone),
        "last_text": texts[-1].text if texts else "",
        "last_at_s": texts[-1].at_s if texts else 0,
    }


@app.query("threads.list", tool="List conversations, the latest first; archived ones on request.")
def list_threads(s: State, ctx: k.Ctx, archived: bool = False) -> list[dict[str, Any]]:
    """Return the conversations with names and last texts."""
    rows = [_thread_facts(s, ctx, t) for t in s.threads if t.archived == archived]
    return sorted(rows, key=lambda row: -row["last_at_s"])


@app.query("threads.get", shows="/t/{thread}")
def get_thread(s: State, ctx: k.Ctx, thread: ThreadId) -> dict[str, Any]:
    """Read a conversation with all its messages."""
    return {**_thread_facts(s, ctx, s.threads[thread]), "messages": state.messages_of(s, thread)}


@app.query("messages.search", tool="Find messages by part of their text.", shows="/search")
def search_messages(s: State, ctx: k.Ctx, text: str) -> list[Message]:
    """Return the messages that hold the text, the latest first."""
    return state.found_messages(s, text)


@app.query("people.search")
def search_people(s: State, ctx: k.Ctx, text: str = "") -> list[dict[str, str]]:
    """Find contacts to write to, by part of a name or number."""
    found = state.found_people(ctx.of(contacts.State), text)
    return [{"name": person.name, "phone": person.phone} for person in found]


@app.query("scheduled.list", tool="List the texts that will be sent later.", shows="/scheduled")
def list_scheduled(s: State, ctx: k.Ctx) -> list[state.Scheduled]:
    """Return the scheduled texts, the next first."""
    return sorted(s.scheduled, key=lambda row: row.at_s)
