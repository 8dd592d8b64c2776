"""The pages of one note in Notes, of a checklist item, and of a new note."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

from screenloop.phone import kit as k
from screenloop.phone.apps.notes import actions as act
from screenloop.phone.apps.notes import state
from screenloop.phone.apps.notes.state import State, app
from screenloop.phone.apps.notes.views import COLOURS, hue_of


def question(ui: k.Ui, title: k.Words, text: k.Words, yes: k.Words, do: k.Do) -> k.Dialog:
    """Return the question before something is thrown away; open while local `sure` is set."""
    no = ui.set(sure="")
    return k.Dialog.question(title, yes, k.Both(first=do, then=no), no, text)


def trash_question(ui: k.Ui, note: state.Note, do: k.Do) -> k.Dialog:
    """Return the question before a note goes to the trash."""
    text = ui.t(
        f"{note.title!r} can be restored from the trash.", f"可以从回收站恢复{note.title}。"
    )
    return question(ui, ("Move to trash?", "移到回收站？"), text, ("Move", "移动"), do)


def _checklist(s: State, ui: k.Ui, note: state.Note) -> list[k.Widget]:
    items = state.items_of(s, note.id)
    done = sum(i.done for i in items)
    text = ui.get("text", "")
    adding = k.clearing(act.add_item(note=note.id, text=text), "text")
    field = ui.field("text", ("Add an item", "添加一项"), submit=adding)
    body: list[k.Widget] = []
    if items:
        words = ui.t(f"{done} of {len(items)} done", f"已完成 {done}/{len(items)}")
        checks = tuple(
            k.Check(
                i.text,
                i.done,
                act.check_item(item=i.id, done=not i.done),
                strike=True,
                long=item_page(item=i.id),
            )
            for i in items
        )
        body += [k.Heading(words), k.Card(checks)]
    button = k.Button(("Add", "添加"), adding, kind="tonal", enabled=bool(text.strip()))
    body.append(k.Line((field, button), shares=(3, 1)))
    if done:
        untick = k.Button(
            ("Untick all", "全部取消勾选"), act.untick_all(note=note.id), kind="plain"
        )
        clear = k.Button(
            ("Remove ticked", "移除已勾选"), act.clear_done(note=note.id), kind="plain"
        )
        body.append(k.Line((untick, clear)))
    return body


def _note_dialog(s: State, ui: k.Ui, note: state.Note) -> k.Dialog | None:
    """The rarer things that can be done with a note, or the question before the trash."""
    if ui.get("sure", ""):
        leaving = k.Both(first=ui.set(sure=""), then=k.Back())
        return trash_question(ui, note, k.Both(first=act.trash(note=note.id), then=leaving))
    if not ui.get("menu", False):
        return None
    closed = ui.set(menu=False)
    archiving = ("Unarchive", "取消归档") if note.archived else ("Archive", "归档")
    choices: tuple[tuple[str, tuple[str, str], k.Do], ...] = (
        ("tag", ("Colour and folder", "颜色和文件夹"), organise_page(note=note.id)),
        ("alarm", ("Reminder", "提醒"), remind_page(note=note.id)),
        ("copy", ("Copy text", "复制文字"), k.Copy(text=state.note_text(s, note))),
        ("share", ("Share", "分享"), k.Share(text=state.note_text(s, note))),
        ("note", ("Make a copy", "创建副本"), act.duplicate(note=note.id)),
        ("archive", archiving, act.archive(note=note.id, on=not note.archived)),
    )
    return k.Dialog.question(
        note.title,
        ("Trash", "回收站"),
        ui.set(menu=False, sure=note.id),
        closed,
        body=tuple(
            k.Row(words, lead=k.Glyph(icon, size_px=36), do=k.Both(first=closed, then=do))
            for icon, words, do in choices
        ),
    )


def _trashed_page(s: State, note: state.Note) -> k.Page:
    banner = k.Banner(
        "undo",
        ("In the trash · Tap to restore", "在回收站中 · 点按恢复"),
        act.restore(note=note.id),
    )
    return k.Page(note.title, (banner, k.Paragraph(state.note_text(s, note))))


@app.page("/n/{note}")
def note_page(s: State, ui: k.Ui, note: state.NoteId) -> k.Page:
    """One note."""
    row = s.notes[note]
    if row.trashed:
        return _trashed_page(s, row)
    folder = s.folders.get(row.folder)
    where = folder.name if folder else ui.t("No folder", "无文件夹")
    body: list[k.Widget] = [
        k.Paragraph(row.title, size_px=24, bold=True, color=hue_of(row.colour)),
        k.Paragraph(
            f"{where} · {ui.day(row.edited_s)} {ui.clock(row.edited_s)}", size_px=13, muted=True
        ),
    ]
    if row.remind_s:
        when = f"{ui.day(row.remind_s)} {ui.clock(row.remind_s)}"
        words = ui.t(f"Reminder: {when}", f"提醒：{when}")
        body.append(k.Banner("alarm", words, remind_page(note=note)))
    if row.body:
        body.append(k.Paragraph(row.body, size_px=16, pad_px=10))
    body += _checklist(s, ui, row)
    return k.Page(
        "",
        body,
        dialog=_note_dialog(s, ui, row),
        actions=(
            k.IconButton(
                "pin",
                ("Unpin", "取消置顶") if row.pinned else ("Pin", "置顶"),
                act.pin(note=note, on=not row.pinned),
                selected=row.pinned,
            ),
            k.IconButton("edit", ("Edit", "编辑"), edit_page(note=note)),
            k.IconButton("more", ("More", "更多"), ui.set(menu=True)),
        ),
    )


@app.page("/n/{note}/edit")
def edit_page(s: State, ui: k.Ui, note: state.NoteId) -> k.Page:
    """The form for a note's words."""
    row = s.notes[note]
    title = ui.field("title", ("Title", "标题"), row.title)
    body = ui.field("body", ("Note", "内容"), row.body, lines=8)
    save = k.Button(
        ("Save", "保存"),
        act.edit(note=note, title=title.value, body=body.value),
        enabled=bool(title.value.strip()),
    )
    return k.Page(("Edit note", "编辑笔记"), (title, body, save))


@app.page("/n/{note}/organise")
def organise_page(s: State, ui: k.Ui, note: state.NoteId) -> k.Page:
    """Its colour and its folder."""
    row = s.notes[note]
    colours = k.Chips(
        tuple(
            k.Chip(words, act.paint(note=note, colour=name), selected=row.colour == name)
            for name, words, _ in COLOURS
        ),
        label=("Colour", "颜色"),
    )
    folders = k.Chips(
        tuple(
            k.Chip(words, act.move(note=note, folder=folder), selected=row.folder == folder)
            for folder, words in _folders(s)
        ),
        label=("Folder", "文件夹"),
    )
    return k.Page(
        ("Colour and folder", "颜色和文件夹"),
        (k.Space(px=8), colours, k.Space(px=16), folders),
        subtitle=row.title,
    )


def _folders(s: State) -> tuple[tuple[str, k.Words], ...]:
    none: tuple[str, k.Words] = ("", ("None", "无"))
    return (none, *((f.id, f.name) for f in sorted(s.folders, key=lambda f: f.name)))


@app.page("/n/{note}/remind")
def remind_page(s: State, ui: k.Ui, note: state.NoteId) -> k.Page:
    """When it should remind."""
    row = s.notes[note]
    tomorrow = (datetime.fromtimestamp(ui.now_s, UTC) + timedelta(days=1)).date().isoformat()
    date = ui.date("date", ("Day", "日期"), tomorrow)
    time = ui.time("time", ("Time", "时间"), "09:00")
    body: list[k.Widget] = [
        date,
        time,
        k.Space(px=8),
        k.Button(
            ("Set reminder", "设置提醒"),
            act.remind(note=note, date=date.value, time=time.value),
            icon="alarm",
        ),
    ]
    if row.remind_s:
        body.append(
            k.Button(("Remove reminder", "取消提醒"), act.unremind(note=note), kind="danger")
        )
    return k.Page(("Reminder", "提醒"), body, subtitle=row.title)


@app.page("/i/{item}")
def item_page(s: State, ui: k.Ui, item: state.ItemId) -> k.Page:
    """One line of a checklist."""
    row = s.items[item]
    text = ui.field("text", ("Item", "清单项"), row.text)
    save = k.Button(
        ("Save", "保存"),
        act.edit_item(item=item, text=text.value),
        enabled=bool(text.value.strip()),
    )
    delete = k.Button(("Delete item", "删除该项"), ui.set(sure=item), kind="danger")
    asking = question(
        ui, ("Delete item?", "删除该项？"), row.text, ("Delete", "删除"), act.delete_item(item=item)
    )
    return k.Page(
        ("Edit item", "编辑清单项"),
        (text, save, delete),
        subtitle=s.notes[row.note].title,
        dialog=asking if ui.get("sure", "") else None,
    )


# ---- new notes ---------------------------------------------------------------------------------


def _new(s: State, ui: k.Ui, folder: str = "", text: str = "") -> k.Page:
    title = ui.field("title", ("Title", "标题"))
    body = ui.field("body", ("Note", "内容"), text, lines=4)
    items = ui.field("items", ("Checklist, one item a line", "清单，每行一项"), lines=3)
    colour = ui.chips(
        "colour", [(name, words) for name, words, _ in COLOURS], "plain", label=("Colour", "颜色")
    )
    chosen = ui.chips("folder", _folders(s), folder, label=("Folder", "文件夹"))
    save = k.Button(
        ("Save", "保存"),
        act.add(
            title=title.value,
            body=body.value,
            items=items.value,
            folder=chosen.value,
            colour=colour.value,
        ),
        enabled=bool(title.value.strip()),
    )
    return k.Page(
        ("New note", "新建笔记"), (title, body, items, colour, chosen, k.Space(px=8), save)
    )


@app.page("/new")
def new_page(s: State, ui: k.Ui) -> k.Page:
    """A new note."""
    return _new(s, ui)


@app.page("/new/{folder}")
def new_in_page(s: State, ui: k.Ui, folder: state.FolderId) -> k.Page:
    """A new note in a folder."""
    return _new(s, ui, folder)


@app.page("/share/{text}")
def share_page(s: State, ui: k.Ui, text: str) -> k.Page:
    """A new note with what was shared."""
    return _new(s, ui, text="" if text == "-" else unquote(text))


app.accepts_shared(share_page)
