"""The pages of the phone's files."""

from __future__ import annotations

from screenloop.phone import kit as k
from screenloop.phone.apps.gallery import actions as act
from screenloop.phone.apps.gallery.seed import FolderId
from screenloop.phone.apps.gallery.state import FileId, State, app, at
from screenloop.phone.apps.gallery.views import DELETE, RENAME, file_row, name_form, size, tabs

# ---- pages: files ----------------------------------------------------------------------------


@app.page("/files")
def files_page(s: State, ui: k.Ui) -> k.Page:
    """The folders, and the files changed last."""
    folders: list[k.Widget] = []
    for folder in s.folders:
        count = len(s.files.where(lambda f, i=folder.id: f.folder == i))  # type: ignore[misc]
        folders.append(
            k.link(
                folder.name,
                ui.t(f"{count} files", f"{count}个文件"),
                k.Glyph("folder"),
                folder_page(folder=folder.id),
            )
        )
    recent = sorted(s.files, key=lambda f: -f.modified_at)[:5]
    body: list[k.Widget] = [
        k.Heading(("Folders", "文件夹")),
        k.Card(tuple(folders)),
        k.Heading(("Recent", "最近")),
        *(file_row(ui, f) for f in recent),
    ]
    return k.Page(
        ("Files", "文件"),
        body,
        large=True,
        tabs=tabs("files"),
        actions=(k.IconButton("search", ("Search", "搜索"), at("/search")),),
        fab=k.Fab("plus", ("New folder", "新建文件夹"), new_folder_page()),
    )


@app.page("/files/new")
def new_folder_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new folder."""
    return name_form(ui, ("New folder", "新建文件夹"), "", lambda name: act.add_folder(name=name))


@app.page("/folder/{folder}")
def folder_page(s: State, ui: k.Ui, folder: FolderId) -> k.Page:
    """The files of one folder, by name."""
    f = s.folders[folder]
    inside = sorted(s.files.where(lambda x: x.folder == folder), key=lambda x: x.name)
    body: list[k.Widget] = [file_row(ui, x) for x in inside]
    if not inside:
        body = [k.Empty("folder", ("The folder is empty", "文件夹是空的"))]
    sure = ui.question(
        ("Delete folder?", "删除文件夹？"), DELETE, act.delete_folder(folder=folder), f.name
    )
    return k.Page(
        f.name,
        body,
        dialog=sure,
        actions=(
            k.IconButton("edit", RENAME, rename_folder_page(folder=folder)),
            k.IconButton("trash", DELETE, ui.set(sure=True)),
        ),
    )


@app.page("/folder/{folder}/rename")
def rename_folder_page(s: State, ui: k.Ui, folder: FolderId) -> k.Page:
    """The form for another name."""
    return name_form(
        ui,
        ("Rename folder", "重命名文件夹"),
        s.folders[folder].name,
        lambda name: act.rename_folder(folder=folder, name=name),
    )


@app.page("/file/{file}")
def file_page(s: State, ui: k.Ui, file: FileId) -> k.Page:
    """One file's details."""
    f = s.files[file]
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (f.kind.upper(), ("Kind", "类型"), "file"),
        (size(f.size_kb), ("Size", "大小"), "storage"),
        (s.folders[f.folder].name, ("Folder", "文件夹"), "folder"),
        (f"{ui.day(f.modified_at)} {ui.clock(f.modified_at)}", ("Modified", "修改时间"), "clock"),
    )
    rows = tuple(k.Row(v, words, k.Glyph(i)) for v, words, i in facts)
    sure = ui.question(("Delete file?", "删除文件？"), DELETE, act.delete_file(file=file), f.name)
    cover = k.Picture("document", len(f.name) * 31 + f.size_kb, f.name, height_px=200)
    return k.Page(
        f.name,
        (
            k.Grid((cover,), columns=1),
            k.Card(rows),
            k.Row(RENAME, lead=k.Glyph("edit"), do=rename_file_page(file=file)),
            k.Row(
                ("Move to folder", "移到文件夹"),
                lead=k.Glyph("forward"),
                do=move_file_page(file=file),
            ),
            k.Row(DELETE, danger=True, lead=k.Glyph("trash", tint="#d92d20"), do=ui.set(sure=True)),
        ),
        dialog=sure,
        actions=(k.IconButton("share", ("Share", "分享"), k.Share(text=f.name)),),
    )


@app.page("/file/{file}/rename")
def rename_file_page(s: State, ui: k.Ui, file: FileId) -> k.Page:
    """The form for another name."""
    return name_form(
        ui,
        ("Rename file", "重命名文件"),
        s.files[file].name,
        lambda name: act.rename_file(file=file, name=name),
    )


@app.page("/file/{file}/move")
def move_file_page(s: State, ui: k.Ui, file: FileId) -> k.Page:
    """Choose the folder that a file goes to."""
    f = s.files[file]
    rows: list[k.Widget] = [
        k.Row(
            o.name,
            lead=k.Glyph("folder"),
            do=act.move_file(file=file, folder=o.id),
            trailing_icon="check" if o.id == f.folder else "",
            selected=o.id == f.folder,
        )
        for o in s.folders
    ]
    return k.Page(("Move to folder", "移到文件夹"), rows, subtitle=f.name)
