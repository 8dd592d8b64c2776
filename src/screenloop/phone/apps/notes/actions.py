"""What can be done in Notes: write, tick, sort into folders, remind, throw away, look up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.notes import state
from screenloop.phone.apps.notes.seed import Colour
from screenloop.phone.apps.notes.state import State, app

Title = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
Body = Annotated[str, msgspec.Meta(max_length=4000)]
ItemText = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]
FolderName = Annotated[str, msgspec.Meta(min_length=1, max_length=30)]
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Clock = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5][05]$")]


def _written(ctx: k.Ctx, text: str) -> str:
    """Return a text without outer blanks; refuses where nothing is left."""
    text = text.strip()
    if not text:
        ctx.refuse(ctx.t("Write something first", "请先输入内容"))
    return text


def _editable(s: State, ctx: k.Ctx, note: str) -> state.Note:
    row = s.notes[note]
    if row.trashed:
        ctx.refuse(ctx.t("It is in the trash; restore it first", "笔记在回收站中，请先恢复"))
    return row


def _in_folder(s: State, folder: str) -> str:
    return s.folders[folder].id if folder else ""


# ---- actions: notes ----------------------------------------------------------------------------


@app.action("notes.add", tool=True, writes=["notes", "items"], check=k.one_more("notes"))
def add(
    s: State,
    ctx: k.Ctx,
    title: Title,
    body: Body = "",
    items: Body = "",
    folder: state.FolderId = "",
    colour: Colour = "plain",
) -> None:
    """Write a new note; `items` makes a checklist, one item a line."""
    note = s.notes.add(
        state.Note(
            title=_written(ctx, title),
            body=body.strip(),
            folder=_in_folder(s, folder),
            colour=colour,
            created_s=ctx.now_s,
            edited_s=ctx.now_s,
        )
    )
    for line in items.splitlines():
        if line.strip():
            s.items.add(state.Item(note=note.id, text=line.strip()))
    ctx.toast(ctx.t("Note saved", "笔记已保存"))
    ctx.move(k.Back())
    ctx.move(state.open_note(note.id))


@app.action(
    "notes.edit",
    tool=True,
    writes=["notes"],
    check=lambda before, after, a: (
        after.notes[a.note].title == a.title.strip() and after.notes[a.note].body == a.body.strip()
    ),
)
def edit(s: State, ctx: k.Ctx, note: state.NoteId, title: Title, body: Body) -> None:
    """Change a note's title and text."""
    _editable(s, ctx, note)
    s.notes.update(note, title=_written(ctx, title), body=body.strip(), edited_s=ctx.now_s)
    ctx.toast(ctx.t("Note saved", "笔记已保存"))
    ctx.move(k.Back())


@app.action(
    "notes.colour", tool=True, writes=["notes"], check=k.row_has("notes", "note", colour="colour")
)
def paint(s: State, ctx: k.Ctx, note: state.NoteId, colour: Colour) -> None:
    """Give a note a colour."""
    _editable(s, ctx, note)
    s.notes.update(note, colour=colour)


@app.action("notes.pin", tool=True, writes=["notes"], check=k.row_has("notes", "note", pinned="on"))
def pin(s: State, ctx: k.Ctx, note: state.NoteId, on: bool) -> None:
    """Keep a note at the top, or not."""
    _editable(s, ctx, note)
    s.notes.update(note, pinned=on)


@app.action(
    "notes.move", tool=True, writes=["notes"], check=k.row_has("notes", "note", folder="folder")
)
def move(s: State, ctx: k.Ctx, note: state.NoteId, folder: state.FolderId) -> None:
    """Put a note into a folder; an empty folder takes it out."""
    _editable(s, ctx, note)
    s.notes.update(note, folder=_in_folder(s, folder))


@app.action(
    "notes.archive", tool=True, writes=["notes"], check=k.row_has("notes", "note", archived="on")
)
def archive(s: State, ctx: k.Ctx, note: state.NoteId, on: bool) -> None:
    """Put a note into the archive, or take it out."""
    _editable(s, ctx, note)
    s.notes.update(note, archived=on)
    ctx.toast(ctx.t("Archived", "已归档") if on else ctx.t("Taken out", "已取消归档"))


@app.action("notes.duplicate", tool=True, writes=["notes", "items"], check=k.one_more("notes"))
def duplicate(s: State, ctx: k.Ctx, note: state.NoteId) -> None:
    """Make a copy of a note with its checklist."""
    row = _editable(s, ctx, note)
    title = ctx.t(f"{row.title} (copy)", f"{row.title}（副本）")
    twin = s.notes.add(
        state.Note(
            title=title,
            body=row.body,
            folder=row.folder,
            colour=row.colour,
            created_s=ctx.now_s,
            edited_s=ctx.now_s,
        )
    )
    for item in s.items.where(lambda i: i.note == note):
        s.items.add(state.Item(note=twin.id, text=item.text, done=item.done))
    ctx.toast(ctx.t("Copy made", "已复制笔记"))
    ctx.move(state.open_note(twin.id))


@app.action(
    "notes.trash",
    tool="Move a note to the trash.",
    writes=["notes"],
    check=k.row_has("notes", "note", trashed=True),
)
def trash(s: State, ctx: k.Ctx, note: state.NoteId) -> None:
    """Move a note to the trash; its reminder is dropped."""
    s.notes.update(note, trashed=True, pinned=False, remind_s=0)
    ctx.toast(ctx.t("Moved to trash", "已移到回收站"))


@app.action(
    "notes.restore", tool=True, writes=["notes"], check=k.row_has("notes", "note", trashed=False)
)
def restore(s: State, ctx: k.Ctx, note: state.NoteId) -> None:
    """Take a note out of the trash."""
    s.notes.update(note, trashed=False)
    ctx.toast(ctx.t("Restored", "已恢复"))


def _purge(s: State, note: str) -> None:
    s.notes.remove(note)
    for item in s.items.where(lambda i: i.note == note):
        s.items.remove(item.id)


@app.action("notes.purge", tool=True, writes=["notes", "items"], check=k.gone("notes", "note"))
def purge(s: State, ctx: k.Ctx, note: state.NoteId) -> None:
    """Delete a note in the trash for ever."""
    if not s.notes[note].trashed:
        ctx.refuse(ctx.t("Move it to the trash first", "请先移到回收站"))
    _purge(s, note)
    ctx.toast(ctx.t("Deleted for ever", "已永久删除"))


@app.action(
    "notes.empty_trash",
    tool=True,
    writes=["notes", "items"],
    check=lambda before, after, a: not after.notes.where(lambda n: n.trashed),
)
def empty_trash(s: State, ctx: k.Ctx) -> None:
    """Delete all notes in the trash for ever."""
    for row in s.notes.where(lambda n: n.trashed):
        _purge(s, row.id)
    ctx.toast(ctx.t("Trash emptied", "回收站已清空"))


# ---- actions: reminders ------------------------------------------------------------------------


@app.action(
    "notes.remind",
    tool="Set a note's reminder for a day (YYYY-MM-DD) and time (HH:MM).",
    writes=["notes"],
    check=lambda before, after, a: after.notes[a.note].remind_s > 0,
)
def remind(s: State, ctx: k.Ctx, note: state.NoteId, date: Day, time: Clock) -> None:
    """Set a note's reminder, in place of an earlier one."""
    _editable(s, ctx, note)
    try:
        at_s = int(datetime.fromisoformat(f"{date}T{time}").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise k.Refused(ctx.t(f"There is no day {date}", f"没有 {date} 这一天")) from None
    if at_s <= ctx.now_s:
        ctx.refuse(ctx.t("Choose a time in the future", "请选择将来的时间"))
    s.notes.update(note, remind_s=at_s)
    ctx.after(at_s - ctx.now_s, notify(note=note, at_s=at_s))
    ctx.toast(ctx.t("Reminder set", "已设置提醒"))
    ctx.move(k.Back())


@app.action(
    "notes.unremind", tool=True, writes=["notes"], check=k.row_has("notes", "note", remind_s=0)
)
def unremind(s: State, ctx: k.Ctx, note: state.NoteId) -> None:
    """Remove a note's reminder."""
    s.notes.update(note, remind_s=0)
    ctx.toast(ctx.t("Reminder removed", "已取消提醒"))
    ctx.move(k.Back())


@app.action("notes.notify", writes=["notes"])
def notify(s: State, ctx: k.Ctx, note: state.NoteId, at_s: int) -> None:
    """Remind of a note; does nothing where the reminder was changed, or the note is gone."""
    row = s.notes.get(note)
    if row is None or row.remind_s != at_s:
        return
    s.notes.update(note, remind_s=0)
    ctx.notify(row.title, row.body.partition("\n")[0], state.open_note(note))


# ---- actions: checklists -----------------------------------------------------------------------


@app.action("items.add", tool=True, writes=["items", "notes"], check=k.one_more("items"))
def add_item(s: State, ctx: k.Ctx, note: state.NoteId, text: ItemText) -> None:
    """Add a line to a note's checklist."""
    _editable(s, ctx, note)
    s.items.add(state.Item(note=note, text=_written(ctx, text)))
    s.notes.update(note, edited_s=ctx.now_s)


@app.action(
    "items.check", tool=True, writes=["items"], check=k.row_has("items", "item", done="done")
)
def check_item(s: State, ctx: k.Ctx, item: state.ItemId, done: bool) -> None:
    """Tick a line of a checklist, or untick it."""
    _editable(s, ctx, s.items[item].note)
    s.items.update(item, done=done)


@app.action(
    "items.edit",
    tool=True,
    writes=["items", "notes"],
    check=lambda before, after, a: after.items[a.item].text == a.text.strip(),
)
def edit_item(s: State, ctx: k.Ctx, item: state.ItemId, text: ItemText) -> None:
    """Change the words of a line of a checklist."""
    row = s.items[item]
    _editable(s, ctx, row.note)
    s.items.update(item, text=_written(ctx, text))
    s.notes.update(row.note, edited_s=ctx.now_s)
    ctx.move(k.Back())


@app.action("items.delete", tool=True, writes=["items", "notes"], check=k.gone("items", "item"))
def delete_item(s: State, ctx: k.Ctx, item: state.ItemId) -> None:
    """Take a line out of a checklist."""
    row = s.items.remove(item)
    _editable(s, ctx, row.note)
    s.notes.update(row.note, edited_s=ctx.now_s)
    ctx.toast(ctx.t("Item removed", "已删除该项"))


@app.action(
    "items.untick_all",
    tool=True,
    writes=["items"],
    check=lambda before, after, a: not any(i.done for i in state.items_of(after, a.note)),
)
def untick_all(s: State, ctx: k.Ctx, note: state.NoteId) -> None:
    """Untick all lines of a note's checklist."""
    _editable(s, ctx, note)
    for item in s.items.where(lambda i: i.note == note and i.done):
        s.items.update(item.id, done=False)


@app.action(
    "items.clear_done",
    tool=True,
    writes=["items", "notes"],
    check=lambda before, after, a: not any(i.done for i in state.items_of(after, a.note)),
)
def clear_done(s: State, ctx: k.Ctx, note: state.NoteId) -> None:
    """Take the ticked lines out of a note's checklist."""
    _editable(s, ctx, note)
    for item in s.items.where(lambda i: i.note == note and i.done):
        s.items.remove(item.id)
    s.notes.update(note, edited_s=ctx.now_s)


# ---- actions: folders and the list -------------------------------------------------------------


def _fresh_name(s: State, ctx: k.Ctx, name: str) -> str:
    name = _written(ctx, name)
    if s.folders.first(lambda f: f.name.casefold() == name.casefold()):
        ctx.refuse(ctx.t(f"There is already a folder {name!r}", f"已有名为 {name} 的文件夹"))
    return name


@app.action("folders.add", tool=True, writes=["folders"], check=k.one_more("folders"))
def add_folder(s: State, ctx: k.Ctx, name: FolderName) -> None:
    """Make a folder."""
    s.folders.add(state.Folder(name=_fresh_name(s, ctx, name)))
    ctx.toast(ctx.t("Folder made", "已新建文件夹"))


@app.action(
    "folders.rename",
    tool=True,
    writes=["folders"],
    check=lambda before, after, a: after.folders[a.folder].name == a.name.strip(),
)
def rename_folder(s: State, ctx: k.Ctx, folder: state.FolderId, name: FolderName) -> None:
    """Rename a folder."""
    if s.folders[folder].name != name.strip():
        s.folders.update(folder, name=_fresh_name(s, ctx, name))


@app.action(
    "folders.delete", tool=True, writes=["folders", "notes"], check=k.gone("folders", "folder")
)
def delete_folder(s: State, ctx: k.Ctx, folder: state.FolderId) -> None:
    """Delete a folder; its notes stay, in no folder."""
    s.folders.remove(folder)
    for row in s.notes.where(lambda n: n.folder == folder):
        s.notes.update(row.id, folder="")
    ctx.toast(ctx.t("Folder deleted", "已删除文件夹"))


@app.action("settings.sort", tool=True, writes=["sort"], check=k.value_is("sort", "by"))
def sort(s: State, ctx: k.Ctx, by: state.SortBy) -> None:
    """Sort the notes by last edit, creation or title."""
    s.sort = by


@app.action("settings.grid", tool=True, writes=["grid"], check=k.value_is("grid", "on"))
def show_grid(s: State, ctx: k.Ctx, on: bool) -> None:
    """Show the notes as cards, or as a list."""
    s.grid = on


# ---- look-ups ----------------------------------------------------------------------------------


@app.query("notes.list", tool="List notes: all shown ones, of a folder, archived or trashed.")
def list_notes(
    s: State, ctx: k.Ctx, folder: state.FolderId = "", archived: bool = False, trashed: bool = False
) -> list[state.Note]:
    """Return notes in the set order."""
    found = s.notes.where(
        lambda n: (
            n.trashed == trashed
            and (trashed or n.archived == archived)
            and folder in ("", n.folder)
        )
    )
    return state.ordered(s, found)


@app.query("notes.search", shows="/")
def search(s: State, ctx: k.Ctx, text: str) -> list[state.Note]:
    """Find notes by part of their title, text or checklist."""
    return state.shown_notes(s, text)


@app.query("notes.get", shows="/n/{note}")
def get(s: State, ctx: k.Ctx, note: state.NoteId) -> dict[str, Any]:
    """Read a note with its checklist."""
    return {**msgspec.structs.asdict(s.notes[note]), "items": state.items_of(s, note)}


@app.query("folders.list", tool="List the folders.", shows="/folders")
def list_folders(s: State, ctx: k.Ctx) -> list[state.Folder]:
    """Return the folders by name."""
    return sorted(s.folders, key=lambda f: f.name)
