"""Notes: notes and checklists in folders, with colours, reminders, an archive and a trash."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.phone import kit as k
from screenloop.phone.apps.notes import actions as act
from screenloop.phone.apps.notes import editor, state
from screenloop.phone.apps.notes.state import State, app
from screenloop.phone.apps.notes.views import Board, NoteCard, hue_of

__all__ = ["State", "app"]
SORTS: tuple[tuple[state.SortBy, tuple[str, str], str], ...] = (
    ("edited", ("Last edited", "最近编辑"), "edit"),
    ("created", ("Date created", "创建时间"), "calendar"),
    ("title", ("Title", "标题"), "sort"),
)


# ---- parts -------------------------------------------------------------------------------------


def _tabs(shown: str) -> tuple[k.Tab, ...]:
    return k.tabs(
        shown,
        ("notes", "note", ("Notes", "笔记"), notes_page()),
        ("folders", "folder", ("Folders", "文件夹"), folders_page()),
        ("archive", "archive", ("Archive", "归档"), archive_page()),
        ("trash", "trash", ("Trash", "回收站"), trash_page()),
    )


def _listing(s: State, ui: k.Ui, notes: Sequence[state.Note]) -> list[k.Widget]:
    """Return notes as cards or rows, as is set."""
    if not s.grid:
        return [_note_row(s, ui, n, editor.note_page(note=n.id)) for n in notes]
    cards = tuple(
        NoteCard(
            note=n,
            items=tuple(state.items_of(s, n.id)),
            when=ui.ago(n.edited_s),
            do=editor.note_page(note=n.id),
            long=ui.set(menu=n.id),
        )
        for n in notes
    )
    return [Board(cards=cards)] if cards else []


def _note_row(s: State, ui: k.Ui, note: state.Note, do: k.Do) -> k.Row:
    items = state.items_of(s, note.id)
    done = sum(i.done for i in items)
    preview = note.body.partition("\n")[0] or ui.t(
        f"{done} of {len(items)} done", f"已完成 {done}/{len(items)}"
    )
    return k.Row(
        note.title,
        preview,
        k.Glyph("list" if items else "note", tint=hue_of(note.colour)),
        trailing=ui.ago(note.edited_s),
        do=do,
        trailing_icon="pin" if note.pinned else "",
        long=ui.set(menu=note.id),
    )


def _card_dialog(s: State, ui: k.Ui) -> k.Dialog | None:
    """What a long press on a note offers, or the question before it goes to the trash."""
    asked = s.notes.get(ui.get("sure", ""))
    if asked is not None:
        return editor.trash_question(ui, asked, act.trash(note=asked.id))
    note = s.notes.get(ui.get("menu", ""))
    if note is None:
        return None
    closed = ui.set(menu="")
    choices: tuple[tuple[str, tuple[str, str], k.Do], ...] = (
        (
            "pin",
            ("Unpin", "取消置顶") if note.pinned else ("Pin", "置顶"),
            act.pin(note=note.id, on=not note.pinned),
        ),
        (
            "archive",
            ("Unarchive", "取消归档") if note.archived else ("Archive", "归档"),
            act.archive(note=note.id, on=not note.archived),
        ),
        ("copy", ("Copy text", "复制文字"), k.Copy(text=state.note_text(s, note))),
        ("share", ("Share", "分享"), k.Share(text=state.note_text(s, note))),
    )
    return k.Dialog.question(
        note.title,
        ("Trash", "回收站"),
        ui.set(menu="", sure=note.id),
        closed,
        body=tuple(
            k.Row(words, lead=k.Glyph(icon, size_px=36), do=k.Both(first=closed, then=do))
            for icon, words, do in choices
        ),
    )


def _sort_dialog(s: State, ui: k.Ui) -> k.Dialog:
    closed = ui.set(sorting=False)
    return k.Dialog(
        title=("Sort by", "排序方式"),
        dismiss=closed,
        body=tuple(
            k.Row(
                words,
                lead=k.Glyph(icon, size_px=36),
                do=k.Both(first=act.sort(by=by), then=closed),
                trailing_icon="check" if s.sort == by else "",
            )
            for by, words, icon in SORTS
        ),
        buttons=(k.DialogButton(k.CANCEL, closed),),
    )


# ---- main pages --------------------------------------------------------------------------------


@app.page("/")
def notes_page(s: State, ui: k.Ui) -> k.Page:
    """All notes, pinned ones first."""
    text = ui.field("text", ("Search notes", "搜索笔记"), kind="search")
    found = state.shown_notes(s, text.value)
    pinned = [n for n in found if n.pinned]
    others = [n for n in found if not n.pinned]
    body: list[k.Widget] = [text]
    if pinned:
        body += [k.Heading(("Pinned", "置顶")), *_listing(s, ui, pinned)]
        body.append(k.Heading(("Others", "其他")))
    body += _listing(s, ui, others)
    if not found:
        body.append(k.Empty("note", ("No notes found", "没有找到笔记")))
    look = ("Show as list", "列表显示") if s.grid else ("Show as cards", "卡片显示")
    return k.Page(
        ("Notes", "笔记"),
        body,
        large=True,
        tabs=_tabs("notes"),
        actions=(
            k.IconButton("list" if s.grid else "apps", look, act.show_grid(on=not s.grid)),
            k.IconButton("sort", ("Sort", "排序"), ui.set(sorting=True)),
        ),
        fab=k.Fab("plus", ("New note", "新建笔记"), editor.new_page()),
        dialog=_sort_dialog(s, ui) if ui.get("sorting", False) else _card_dialog(s, ui),
    )


@app.page("/folders")
def folders_page(s: State, ui: k.Ui) -> k.Page:
    """The folders, and a field to make one."""
    rows: list[k.Widget] = []
    for folder in sorted(s.folders, key=lambda f: f.name):
        count = len([n for n in state.shown_notes(s) if n.folder == folder.id])
        rows.append(
            k.link(
                folder.name,
                ui.t(f"{count} notes", f"{count} 条笔记"),
                k.Glyph("folder"),
                folder_page(folder=folder.id),
            )
        )
    name = ui.field("name", ("New folder", "新建文件夹"))
    make = k.Button(
        ("Make folder", "新建文件夹"),
        k.clearing(act.add_folder(name=name.value), "name"),
        kind="tonal",
        icon="plus",
        enabled=bool(name.value.strip()),
    )
    return k.Page(
        ("Folders", "文件夹"),
        (k.Card(tuple(rows)), k.Space(px=8), name, make) if rows else (name, make),
        large=True,
        tabs=_tabs("folders"),
    )


@app.page("/folders/{folder}")
def folder_page(s: State, ui: k.Ui, folder: state.FolderId) -> k.Page:
    """The notes of one folder."""
    row = s.folders[folder]
    body = _listing(s, ui, [n for n in state.shown_notes(s) if n.folder == folder])
    if not body:
        body.append(k.Empty("folder", ("This folder is empty", "文件夹是空的")))
    dialog = _card_dialog(s, ui)
    if ui.get("sure", "") == folder:
        text = ui.t("Its notes stay, in no folder.", "其中的笔记会保留。")
        title = ("Delete folder?", "删除文件夹？")
        dialog = editor.question(
            ui, title, text, ("Delete", "删除"), act.delete_folder(folder=folder)
        )
    elif ui.get("naming", False):
        name, closed = ui.field("name", ("Name", "名称"), row.name), ui.set(naming=False)
        saving = k.Both(first=act.rename_folder(folder=folder, name=name.value), then=closed)
        dialog = k.Dialog.question(
            ("Rename folder", "重命名文件夹"),
            ("Save", "保存"),
            saving,
            closed,
            body=(name,),
            danger=False,
        )
    return k.Page(
        row.name,
        body,
        dialog=dialog,
        actions=(
            k.IconButton("edit", ("Rename", "重命名"), ui.set(naming=True)),
            k.IconButton("trash", ("Delete folder", "删除文件夹"), ui.set(sure=folder)),
        ),
        fab=k.Fab("plus", ("New note", "新建笔记"), editor.new_in_page(folder=folder)),
    )


@app.page("/archive")
def archive_page(s: State, ui: k.Ui) -> k.Page:
    """The notes that were put away."""
    found = state.ordered(s, s.notes.where(lambda n: n.archived and not n.trashed))
    body = _listing(s, ui, found)
    if not body:
        body.append(k.Empty("archive", ("Nothing archived", "没有归档的笔记")))
    return k.Page(
        ("Archive", "归档"), body, large=True, tabs=_tabs("archive"), dialog=_card_dialog(s, ui)
    )


@app.page("/trash")
def trash_page(s: State, ui: k.Ui) -> k.Page:
    """The notes that were thrown away."""
    found = state.ordered(s, s.notes.where(lambda n: n.trashed))
    body: list[k.Widget] = [_note_row(s, ui, n, editor.note_page(note=n.id)) for n in found]
    if not body:
        body.append(k.Empty("trash", ("The trash is empty", "回收站是空的")))
    dialog = None
    chosen = s.notes.get(ui.get("menu", ""))
    asked = s.notes.get(ui.get("sure", ""))
    for_ever = ("Delete for ever", "永久删除")
    if ui.get("sure", "") == "all":
        text = ui.t(f"{len(found)} notes will be gone.", f"将删除 {len(found)} 条笔记。")
        dialog = editor.question(
            ui, ("Empty the trash?", "清空回收站？"), text, ("Empty", "清空"), act.empty_trash()
        )
    elif asked is not None:
        title = ("Delete for ever?", "永久删除？")
        dialog = editor.question(
            ui, title, asked.title, ("Delete", "删除"), act.purge(note=asked.id)
        )
    elif chosen is not None:
        closed = ui.set(menu="")
        dialog = k.Dialog(
            title=chosen.title,
            dismiss=closed,
            body=(
                k.Row(
                    ("Restore", "恢复"),
                    lead=k.Glyph("undo", size_px=36),
                    do=k.Both(first=act.restore(note=chosen.id), then=closed),
                ),
                k.Row(
                    for_ever,
                    lead=k.Glyph("trash", size_px=36),
                    danger=True,
                    do=ui.set(menu="", sure=chosen.id),
                ),
            ),
            buttons=(k.DialogButton(k.CANCEL, closed),),
        )
    empty = k.IconButton("trash", ("Empty trash", "清空回收站"), ui.set(sure="all"))
    return k.Page(
        ("Trash", "回收站"),
        body,
        large=True,
        tabs=_tabs("trash"),
        dialog=dialog,
        actions=(empty,) if found else (),
    )


k.read_flows(app, __package__)
