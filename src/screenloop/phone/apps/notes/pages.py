"""Notes: notes and checklists in folders, with colours, reminders, an archive and a trash."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.phone.apps.notes.actions import (
    add,
    add_folder,
    add_item,
    archive,
    check_item,
    clear_done,
    delete_folder,
    delete_item,
    duplicate,
    edit,
    edit_item,
    empty_trash,
    move,
    paint,
    pin,
    purge,
    remind,
    rename_folder,
    restore,
    show_grid,
    sort,
    trash,
    unremind,
    untick_all,
)
from screenloop.phone.apps.notes.editor import (
    item_page,
    new_in_page,
    new_page,
    note_page,
    question,
    trash_question,
)
from screenloop.phone.apps.notes.state import (
    FolderId,
    Note,
    SortBy,
    State,
    app,
    items_of,
    note_text,
    ordered,
    shown_notes,
)
from screenloop.phone.apps.notes.views import Board, NoteCard, hue_of
from screenloop.phone.commands import Both, Copy, Do, Share
from screenloop.phone.declare.flow_steps import enter, hold, press, tap, wait
from screenloop.phone.declare.view import Ui
from screenloop.phone.draw.inputs import clearing
from screenloop.phone.draw.page import CANCEL, Dialog, DialogButton, Fab, Page, Tab
from screenloop.phone.draw.rows import Glyph, Row
from screenloop.phone.draw.widgets import Button, Card, Empty, Heading, IconButton, Space, Widget

__all__ = ["State", "app"]
SORTS: tuple[tuple[SortBy, tuple[str, str], str], ...] = (
    ("edited", ("Last edited", "最近编辑"), "edit"),
    ("created", ("Date created", "创建时间"), "calendar"),
    ("title", ("Title", "标题"), "sort"),
)


# ---- parts -------------------------------------------------------------------------------------


def _tabs(shown: str) -> tuple[Tab, ...]:
    return (
        Tab(
            icon="note",
            words=("Notes", "笔记"),
            selected=shown == "notes",
            do=notes_page().at_root(),
        ),
        Tab(
            icon="folder",
            words=("Folders", "文件夹"),
            selected=shown == "folders",
            do=folders_page().at_root(),
        ),
        Tab(
            icon="archive",
            words=("Archive", "归档"),
            selected=shown == "archive",
            do=archive_page().at_root(),
        ),
        Tab(
            icon="trash",
            words=("Trash", "回收站"),
            selected=shown == "trash",
            do=trash_page().at_root(),
        ),
    )


def _listing(s: State, ui: Ui, notes: Sequence[Note]) -> list[Widget]:
    """Return notes as cards or rows, as is set."""
    if not s.grid:
        return [_note_row(s, ui, n, note_page(note=n.id)) for n in notes]
    cards = tuple(
        NoteCard(
            note=n,
            items=tuple(items_of(s, n.id)),
            when=ui.ago(n.edited_s),
            do=note_page(note=n.id),
            long=ui.set(menu=n.id),
        )
        for n in notes
    )
    return [Board(cards=cards)] if cards else []


def _note_row(s: State, ui: Ui, note: Note, do: Do) -> Row:
    items = items_of(s, note.id)
    done = sum(i.done for i in items)
    preview = note.body.partition("\n")[0] or ui.t(
        f"{done} of {len(items)} done", f"已完成 {done}/{len(items)}"
    )
    return Row(
        title=note.title,
        subtitle=preview,
        trailing=ui.ago(note.edited_s),
        do=do,
        lead=Glyph(icon="list" if items else "note", tint=hue_of(note.colour)),
        trailing_icon="pin" if note.pinned else "",
        long=ui.set(menu=note.id),
    )


def _card_dialog(s: State, ui: Ui) -> Dialog | None:
    """What a long press on a note offers, or the question before it goes to the trash."""
    asked = s.notes.get(ui.get("sure", ""))
    if asked is not None:
        return trash_question(ui, asked, trash(note=asked.id))
    note = s.notes.get(ui.get("menu", ""))
    if note is None:
        return None
    closed = ui.set(menu="")
    choices: tuple[tuple[str, tuple[str, str], Do], ...] = (
        (
            "pin",
            ("Unpin", "取消置顶") if note.pinned else ("Pin", "置顶"),
            pin(note=note.id, on=not note.pinned),
        ),
        (
            "archive",
            ("Unarchive", "取消归档") if note.archived else ("Archive", "归档"),
            archive(note=note.id, on=not note.archived),
        ),
        ("copy", ("Copy text", "复制文字"), Copy(text=note_text(s, note))),
        ("share", ("Share", "分享"), Share(text=note_text(s, note))),
    )
    return Dialog.question(
        note.title,
        dismiss=closed,
        body=tuple(
            Row(title=words, lead=Glyph(icon=icon, size_px=36), do=Both(first=closed, then=do))
            for icon, words, do in choices
        ),
        yes=("Trash", "回收站"),
        do=ui.set(menu="", sure=note.id),
    )


def _sort_dialog(s: State, ui: Ui) -> Dialog:
    closed = ui.set(sorting=False)
    return Dialog(
        title=("Sort by", "排序方式"),
        dismiss=closed,
        body=tuple(
            Row(
                title=words,
                lead=Glyph(icon=icon, size_px=36),
                do=Both(first=sort(by=by), then=closed),
                trailing_icon="check" if s.sort == by else "",
            )
            for by, words, icon in SORTS
        ),
        buttons=(DialogButton(words=CANCEL, do=closed),),
    )


# ---- main pages --------------------------------------------------------------------------------


@app.page("/")
def notes_page(s: State, ui: Ui) -> Page:
    """All notes, pinned ones first."""
    text = ui.field("text", ("Search notes", "搜索笔记"), kind="search")
    found = shown_notes(s, text.value)
    pinned = [n for n in found if n.pinned]
    others = [n for n in found if not n.pinned]
    body: list[Widget] = [text]
    if pinned:
        body += [Heading(words=("Pinned", "置顶")), *_listing(s, ui, pinned)]
        body.append(Heading(words=("Others", "其他")))
    body += _listing(s, ui, others)
    if not found:
        body.append(Empty(icon="note", words=("No notes found", "没有找到笔记")))
    look = ("Show as list", "列表显示") if s.grid else ("Show as cards", "卡片显示")
    return Page(
        title=("Notes", "笔记"),
        large=True,
        tabs=_tabs("notes"),
        body=body,
        actions=(
            IconButton(icon="list" if s.grid else "apps", label=look, do=show_grid(on=not s.grid)),
            IconButton(icon="sort", label=("Sort", "排序"), do=ui.set(sorting=True)),
        ),
        fab=Fab(icon="plus", words=("New note", "新建笔记"), do=new_page()),
        dialog=_sort_dialog(s, ui) if ui.get("sorting", False) else _card_dialog(s, ui),
    )


@app.page("/folders")
def folders_page(s: State, ui: Ui) -> Page:
    """The folders, and a field to make one."""
    rows: list[Widget] = []
    for folder in sorted(s.folders, key=lambda f: f.name):
        count = len([n for n in shown_notes(s) if n.folder == folder.id])
        rows.append(
            Row(
                title=folder.name,
                subtitle=ui.t(f"{count} notes", f"{count} 条笔记"),
                lead=Glyph(icon="folder"),
                trailing_icon="chevron_right",
                do=folder_page(folder=folder.id),
            )
        )
    name = ui.field("name", ("New folder", "新建文件夹"))
    make = Button(
        words=("Make folder", "新建文件夹"),
        kind="tonal",
        icon="plus",
        do=clearing(add_folder(name=name.value), "name"),
        enabled=bool(name.value.strip()),
    )
    return Page(
        title=("Folders", "文件夹"),
        large=True,
        tabs=_tabs("folders"),
        body=(Card(children=tuple(rows)), Space(px=8), name, make) if rows else (name, make),
    )


@app.page("/folders/{folder}")
def folder_page(s: State, ui: Ui, folder: FolderId) -> Page:
    """The notes of one folder."""
    row = s.folders[folder]
    body = _listing(s, ui, [n for n in shown_notes(s) if n.folder == folder])
    if not body:
        body.append(Empty(icon="folder", words=("This folder is empty", "文件夹是空的")))
    dialog = _card_dialog(s, ui)
    if ui.get("sure", "") == folder:
        text = ui.t("Its notes stay, in no folder.", "其中的笔记会保留。")
        title = ("Delete folder?", "删除文件夹？")
        dialog = question(ui, title, text, ("Delete", "删除"), delete_folder(folder=folder))
    elif ui.get("naming", False):
        name, closed = ui.field("name", ("Name", "名称"), row.name), ui.set(naming=False)
        saving = Both(first=rename_folder(folder=folder, name=name.value), then=closed)
        dialog = Dialog.question(
            ("Rename folder", "重命名文件夹"),
            body=(name,),
            yes=("Save", "保存"),
            do=saving,
            dismiss=closed,
            danger=False,
        )
    return Page(
        title=row.name,
        body=body,
        dialog=dialog,
        actions=(
            IconButton(icon="edit", label=("Rename", "重命名"), do=ui.set(naming=True)),
            IconButton(icon="trash", label=("Delete folder", "删除文件夹"), do=ui.set(sure=folder)),
        ),
        fab=Fab(icon="plus", words=("New note", "新建笔记"), do=new_in_page(folder=folder)),
    )


@app.page("/archive")
def archive_page(s: State, ui: Ui) -> Page:
    """The notes that were put away."""
    found = ordered(s, s.notes.where(lambda n: n.archived and not n.trashed))
    body = _listing(s, ui, found)
    if not body:
        body.append(Empty(icon="archive", words=("Nothing archived", "没有归档的笔记")))
    return Page(
        title=("Archive", "归档"),
        large=True,
        tabs=_tabs("archive"),
        body=body,
        dialog=_card_dialog(s, ui),
    )


@app.page("/trash")
def trash_page(s: State, ui: Ui) -> Page:
    """The notes that were thrown away."""
    found = ordered(s, s.notes.where(lambda n: n.trashed))
    body: list[Widget] = [_note_row(s, ui, n, note_page(note=n.id)) for n in found]
    if not body:
        body.append(Empty(icon="trash", words=("The trash is empty", "回收站是空的")))
    dialog = None
    chosen = s.notes.get(ui.get("menu", ""))
    asked = s.notes.get(ui.get("sure", ""))
    for_ever = ("Delete for ever", "永久删除")
    if ui.get("sure", "") == "all":
        text = ui.t(f"{len(found)} notes will be gone.", f"将删除 {len(found)} 条笔记。")
        dialog = question(
            ui, ("Empty the trash?", "清空回收站？"), text, ("Empty", "清空"), empty_trash()
        )
    elif asked is not None:
        title = ("Delete for ever?", "永久删除？")
        dialog = question(ui, title, asked.title, ("Delete", "删除"), purge(note=asked.id))
    elif chosen is not None:
        closed = ui.set(menu="")
        dialog = Dialog(
            title=chosen.title,
            dismiss=closed,
            body=(
                Row(
                    title=("Restore", "恢复"),
                    lead=Glyph(icon="undo", size_px=36),
                    do=Both(first=restore(note=chosen.id), then=closed),
                ),
                Row(
                    title=for_ever,
                    lead=Glyph(icon="trash", size_px=36),
                    danger=True,
                    do=ui.set(menu="", sure=chosen.id),
                ),
            ),
            buttons=(DialogButton(words=CANCEL, do=closed),),
        )
    empty = IconButton(icon="trash", label=("Empty trash", "清空回收站"), do=ui.set(sure="all"))
    return Page(
        title=("Trash", "回收站"),
        large=True,
        tabs=_tabs("trash"),
        body=body,
        dialog=dialog,
        actions=(empty,) if found else (),
    )


# ---- flows -------------------------------------------------------------------------------------

app.flow(
    "write a note",
    tap("New note"),
    enter("title", "Boat trip"),
    enter("body", "Meet at the pier"),
    tap("Blue"),
    tap("Travel"),
    tap(add),
)
app.flow(
    "write a checklist",
    tap("New note"),
    enter("title", "Picnic"),
    enter("items", "Bread\nCheese\nGrapes"),
    tap(add),
)
app.flow(
    "change a note",
    tap(note_page, note="note7"),
    tap("Edit"),
    enter("title", "Wi-Fi for guests"),
    tap(edit),
    tap(pin),
)
app.flow(
    "go shopping",
    tap(note_page, note="note1"),
    tap(check_item, item="item4"),
    tap(check_item, item="item5"),
    enter("text", "Lemons"),
    tap(add_item),
    tap(clear_done),
)
app.flow(
    "mend the packing list",
    tap(note_page, note="note2"),
    hold(item_page, item="item8"),
    enter("text", "Toothbrush"),
    tap(edit_item),
    hold(item_page, item="item9"),
    tap("Delete item"),
    tap(delete_item),
    tap(untick_all),
)
app.flow(
    "colour and folder",
    tap(note_page, note="note8"),
    tap("More"),
    tap("Colour and folder"),
    tap(paint, colour="green"),
    tap(move, folder="folder1"),
)
app.flow(
    "set a reminder",
    tap(note_page, note="note9"),
    tap("More"),
    tap("Reminder"),
    tap("Time"),
    tap("Hour 08"),
    tap("Minute 30"),
    tap(remind),
    wait(86_400),
)
app.flow(
    "change one's mind about a reminder",
    tap(note_page, note="note4"),
    tap("More"),
    tap("Reminder"),
    tap(remind),
    tap("More"),
    tap("Reminder"),
    tap(unremind),
    tap(pin),
)
app.flow(
    "copy and archive",
    tap(note_page, note="note15"),
    tap("More"),
    tap(duplicate),
    press("back"),
    tap("More"),
    tap(archive),
)
app.flow(
    "throw a note away and bring it back",
    hold("Car"),
    tap("Trash"),
    tap(trash),
    tap("Trash"),
    hold("Car"),
    tap(restore),
    hold("Speech draft"),
    tap("Delete for ever"),
    tap(purge),
)
app.flow("empty the trash", tap("Trash"), tap("Empty trash"), tap(empty_trash))
app.flow(
    "keep folders",
    tap("Folders"),
    enter("name", "Recipes"),
    tap(add_folder),
    tap("Ideas"),
    tap("Rename"),
    enter("name", "Plans"),
    tap(rename_folder),
    tap("Delete folder"),
    tap(delete_folder),
)
app.flow("show by title in a list", tap("Sort"), tap(sort, by="title"), tap(show_grid))
