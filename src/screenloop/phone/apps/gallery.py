"""Gallery: photos by day, albums, favourites, trash, a camera, and the phone's files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import msgspec

from screenloop.phone.app import App
from screenloop.phone.apps.gallery_seed import (
    CAMERA,
    FILE_TINTS,
    OWN_ALBUMS,
    Album,
    AlbumId,
    File,
    Folder,
    FolderId,
    Name,
    Photo,
    seed_albums,
    seed_files,
    seed_folders,
    seed_photos,
)
from screenloop.phone.apps.gallery_views import AlbumTile, Viewer
from screenloop.phone.ctx import Ctx
from screenloop.phone.do import Back, Do, Go, Share
from screenloop.phone.flows import enter, press, tap
from screenloop.phone.imagery import SCENE_KINDS
from screenloop.phone.page import Dialog, DialogButton, Fab, Page, Tab
from screenloop.phone.state import AppState, Refers, Table
from screenloop.phone.ui import Ui
from screenloop.phone.widgets import (
    Button,
    Card,
    Empty,
    Glyph,
    Grid,
    Heading,
    IconButton,
    Picture,
    Row,
    Text,
    Thumb,
    Widget,
)

PhotoId = Annotated[str, Refers("gallery.photos")]
FileId = Annotated[str, Refers("gallery.files")]
DELETE = ("Delete", "删除")
RENAME = ("Rename", "重命名")


class State(AppState):
    """The roll, its albums, and the documents."""

    photos = Table(Photo, prefix="photo", seed=seed_photos)
    albums = Table(Album, prefix="album", seed=seed_albums)
    folders = Table(Folder, prefix="folder", seed=seed_folders)
    files = Table(File, prefix="file", seed=seed_files)


app = App("gallery", State, title=("Gallery", "相册"), icon="image", tint="#be185d")


# ---- actions on photos -----------------------------------------------------------------------


@app.action(
    "photos.favourite", tool="Mark a photo as favourite, or not.", writes=["photos"],
    check=lambda before, after, a: after.photos[a.photo].favourite == a.on,
)  # fmt: skip
def favourite(s: State, ctx: Ctx, photo: PhotoId, on: bool) -> None:
    """Mark a photo as favourite, or not."""
    s.photos.update(photo, favourite=on)


@app.action(
    "photos.edit", tool="Change a photo's title and place.", writes=["photos"],
    check=lambda before, after, a: after.photos[a.photo].title == a.title.strip(),
)  # fmt: skip
def edit(s: State, ctx: Ctx, photo: PhotoId, title: Name, place: str) -> None:
    """Change a photo's title and place."""
    if not title.strip():
        ctx.refuse(ctx.t("A photo needs a title", "照片需要标题"))
    s.photos.update(photo, title=title.strip(), place=place.strip())
    ctx.toast(ctx.t("Details saved", "详情已保存"))
    ctx.move(Back())


@app.action(
    "photos.move", tool="Move a photo to another album.", writes=["photos"],
    check=lambda before, after, a: after.photos[a.photo].album == a.album,
)  # fmt: skip
def move(s: State, ctx: Ctx, photo: PhotoId, album: AlbumId) -> None:
    """Move a photo to another album."""
    name = s.albums[album].name
    s.photos.update(photo, album=album)
    ctx.toast(ctx.t(f"Moved to {name}", f"已移到{name}"))
    ctx.move(Back())


@app.action(
    "photos.copy", tool="Duplicate a photo.", writes=["photos"],
    check=lambda before, after, a: len(after.photos) == len(before.photos) + 1,
)  # fmt: skip
def copy(s: State, ctx: Ctx, photo: PhotoId) -> None:
    """Duplicate a photo, next to itself in time."""
    old = s.photos[photo]
    s.photos.add(msgspec.structs.replace(old, title=f"{old.title} copy"[:40], favourite=False))
    ctx.toast(ctx.t("Copy saved", "已保存副本"))


@app.action(
    "photos.trash", tool="Move a photo to the trash.", writes=["photos"],
    check=lambda before, after, a: after.photos[a.photo].trashed,
)  # fmt: skip
def trash(s: State, ctx: Ctx, photo: PhotoId) -> None:
    """Move a photo to the trash."""
    s.photos.update(photo, trashed=True, favourite=False)
    ctx.toast(ctx.t("Moved to trash", "已移到回收站"))
    ctx.move(Back())


@app.action(
    "photos.restore", tool="Bring a photo back from the trash.", writes=["photos"],
    check=lambda before, after, a: not after.photos[a.photo].trashed,
)  # fmt: skip
def restore(s: State, ctx: Ctx, photo: PhotoId) -> None:
    """Bring a photo back from the trash."""
    s.photos.update(photo, trashed=False)
    ctx.toast(ctx.t("Photo restored", "照片已恢复"))
    ctx.move(Back())


@app.action(
    "photos.delete", tool="Delete a photo of the trash for good.", writes=["photos"],
    check=lambda before, after, a: a.photo not in after.photos,
)  # fmt: skip
def delete(s: State, ctx: Ctx, photo: PhotoId) -> None:
    """Delete a photo of the trash for good."""
    if not s.photos[photo].trashed:
        ctx.refuse(ctx.t("Move the photo to the trash first", "请先将照片移到回收站"))
    s.photos.remove(photo)
    ctx.toast(ctx.t("Photo deleted", "照片已删除"))
    ctx.move(Back())


@app.action(
    "trash.empty", tool="Delete all photos of the trash for good.", writes=["photos"],
    check=lambda before, after, a: not after.photos.where(lambda p: p.trashed),
)  # fmt: skip
def empty_trash(s: State, ctx: Ctx) -> None:
    """Delete all photos of the trash for good."""
    for photo in s.photos.where(lambda p: p.trashed):
        s.photos.remove(photo.id)
    ctx.toast(ctx.t("Trash emptied", "回收站已清空"))


@app.action(
    "photos.take", tool="Take a photo with the back or the front camera.", writes=["photos"],
    check=lambda before, after, a: len(after.photos) == len(before.photos) + 1,
)  # fmt: skip
def take(s: State, ctx: Ctx, camera: Literal["back", "front"]) -> None:
    """Take the picture that the viewfinder shows."""
    kind, seed = _scene(s, camera)
    number = 1 + len(s.photos.where(lambda p: p.title.startswith("IMG_")))
    s.photos.add(
        Photo(title=f"IMG_{number:04d}", kind=kind, seed=seed, album=CAMERA, taken_at=ctx.now_s)
    )
    ctx.toast(ctx.t("Photo saved", "照片已保存"))


def _scene(s: State, camera: str) -> tuple[str, int]:
    """Return what is in front of a camera; it changes with each photo taken."""
    number = len(s.photos)
    kinds = [k for k in SCENE_KINDS if k not in ("portrait", "document")]
    return ("portrait" if camera == "front" else kinds[number % len(kinds)]), 1000 + number


@app.query("photos.search", tool="Find photos by part of a title, place or album, newest first.")
def search(
    s: State, ctx: Ctx, text: str = "", favourites_only: bool = False, in_trash: bool = False
) -> list[Photo]:
    """Return the photos that hold the text."""
    found = _found(s, text, trashed=in_trash)
    return [p for p in found if p.favourite or not favourites_only]


@app.query("photos.get", tool="Read one photo's details.")
def get(s: State, ctx: Ctx, photo: PhotoId) -> Photo:
    """Return one photo."""
    return s.photos[photo]


# ---- actions on albums, folders and files ------------------------------------------------------


@app.action(
    "albums.add", tool="Make a new, empty album.", writes=["albums"],
    check=lambda before, after, a: len(after.albums) == len(before.albums) + 1,
)  # fmt: skip
def add_album(s: State, ctx: Ctx, name: Name) -> None:
    """Make a new, empty album."""
    _check_name(ctx, name, [a.name for a in s.albums])
    album = s.albums.add(Album(name=name.strip()))
    ctx.move(Back())
    ctx.move(album_page(album=album.id))


@app.action(
    "albums.rename", tool="Give one of the user's albums another name.", writes=["albums"],
    check=lambda before, after, a: after.albums[a.album].name == a.name.strip(),
)  # fmt: skip
def rename_album(s: State, ctx: Ctx, album: AlbumId, name: Name) -> None:
    """Give an album another name."""
    _check_own(ctx, album)
    _check_name(ctx, name, [a.name for a in s.albums if a.id != album])
    s.albums.update(album, name=name.strip())
    ctx.move(Back())


@app.action(
    "albums.delete", tool="Delete an album of the user's; its photos move to Camera.",
    writes=["albums", "photos"], check=lambda before, after, a: a.album not in after.albums,
)  # fmt: skip
def delete_album(s: State, ctx: Ctx, album: AlbumId) -> None:
    """Delete an album; its photos move to Camera."""
    _check_own(ctx, album)
    s.albums.remove(album)
    for photo in s.photos.where(lambda p: p.album == album):
        s.photos.update(photo.id, album=CAMERA)
    ctx.toast(ctx.t("Album deleted", "相册已删除"))
    ctx.move(Back())


@app.query("albums.list", tool="List the albums.")
def list_albums(s: State, ctx: Ctx) -> list[Album]:
    """Return all albums."""
    return list(s.albums)


@app.action(
    "folders.add", tool="Make a new folder for files.", writes=["folders"],
    check=lambda before, after, a: len(after.folders) == len(before.folders) + 1,
)  # fmt: skip
def add_folder(s: State, ctx: Ctx, name: Name) -> None:
    """Make a new folder."""
    _check_name(ctx, name, [f.name for f in s.folders])
    folder = s.folders.add(Folder(name=name.strip()))
    ctx.move(Back())
    ctx.move(folder_page(folder=folder.id))


@app.action(
    "folders.rename", tool="Give a folder another name.", writes=["folders"],
    check=lambda before, after, a: after.folders[a.folder].name == a.name.strip(),
)  # fmt: skip
def rename_folder(s: State, ctx: Ctx, folder: FolderId, name: Name) -> None:
    """Give a folder another name."""
    _check_name(ctx, name, [f.name for f in s.folders if f.id != folder])
    s.folders.update(folder, name=name.strip())
    ctx.move(Back())


@app.action(
    "folders.delete", tool="Delete an empty folder.", writes=["folders"],
    check=lambda before, after, a: a.folder not in after.folders,
)  # fmt: skip
def delete_folder(s: State, ctx: Ctx, folder: FolderId) -> None:
    """Delete an empty folder."""
    if s.files.where(lambda f: f.folder == folder):
        ctx.refuse(ctx.t("The folder is not empty", "文件夹不为空"))
    s.folders.remove(folder)
    ctx.move(Back())


@app.action(
    "files.rename", tool="Give a file another name.", writes=["files"],
    check=lambda before, after, a: after.files[a.file].name == a.name.strip(),
)  # fmt: skip
def rename_file(s: State, ctx: Ctx, file: FileId, name: Name) -> None:
    """Give a file another name."""
    folder = s.files[file].folder
    _check_name(ctx, name, [f.name for f in s.files if f.folder == folder and f.id != file])
    s.files.update(file, name=name.strip(), modified_at=ctx.now_s)
    ctx.move(Back())


@app.action(
    "files.move", tool="Move a file to another folder.", writes=["files"],
    check=lambda before, after, a: after.files[a.file].folder == a.folder,
)  # fmt: skip
def move_file(s: State, ctx: Ctx, file: FileId, folder: FolderId) -> None:
    """Move a file to another folder."""
    name = s.folders[folder].name
    s.files.update(file, folder=folder)
    ctx.toast(ctx.t(f"Moved to {name}", f"已移到{name}"))
    ctx.move(Back())


@app.action(
    "files.delete", tool="Delete a file.", writes=["files"],
    check=lambda before, after, a: a.file not in after.files,
)  # fmt: skip
def delete_file(s: State, ctx: Ctx, file: FileId) -> None:
    """Delete a file."""
    s.files.remove(file)
    ctx.toast(ctx.t("File deleted", "文件已删除"))
    ctx.move(Back())


@app.query("files.search", tool="Find files by part of a name; tells their folder.")
def search_files(s: State, ctx: Ctx, text: str = "") -> list[File]:
    """Return the files whose name holds the text."""
    wanted = text.casefold().strip()
    return sorted(s.files.where(lambda f: wanted in f.name.casefold()), key=lambda f: f.name)


@app.query("folders.list", tool="List the folders.")
def list_folders(s: State, ctx: Ctx) -> list[Folder]:
    """Return all folders."""
    return list(s.folders)


def _check_name(ctx: Ctx, name: str, taken: list[str]) -> None:
    if not name.strip():
        ctx.refuse(ctx.t("Enter a name", "请输入名称"))
    if name.strip().casefold() in (n.casefold() for n in taken):
        ctx.refuse(ctx.t(f"{name.strip()} exists already", f"{name.strip()}已存在"))


def _check_own(ctx: Ctx, album: str) -> None:
    if album in OWN_ALBUMS:
        ctx.refuse(ctx.t("This album belongs to the phone", "这是系统相册"))


# ---- parts of pages --------------------------------------------------------------------------


def _found(s: State, text: str, *, trashed: bool = False) -> list[Photo]:
    wanted = text.casefold().strip()
    names = {a.id: a.name for a in s.albums}
    photos = s.photos.where(
        lambda p: (
            p.trashed == trashed
            and wanted in f"{p.title} {p.place} {names.get(p.album, '')}".casefold()
        )
    )
    return sorted(photos, key=lambda p: (-p.taken_at, p.id))


def _grid(photos: Sequence[Photo], columns: int = 3) -> Grid:
    cells = tuple(
        Picture(
            kind=p.kind, seed=p.seed, label=p.title, radius_px=4, do=photo_page(photo=p.id),
            long=info_page(photo=p.id), mark="heart_filled" if p.favourite else "",
        )
        for p in photos
    )  # fmt: skip
    return Grid(children=cells, columns=columns, gap_px=3, inset_px=3)


def _size(size_kb: int) -> str:
    return f"{size_kb} KB" if size_kb < 1000 else f"{size_kb / 1000:.1f} MB"


def _sure(
    ui: Ui, title: tuple[str, str], text: str, do: Do, yes: tuple[str, str] = DELETE
) -> Dialog | None:
    if not ui.get("sure", False):
        return None
    no = ui.set(sure=False)
    return Dialog(
        title=title, text=text, dismiss=no,
        buttons=(
            DialogButton(words=("Cancel", "取消"), do=no),
            DialogButton(words=yes, do=do, danger=True),
        ),
    )  # fmt: skip


def _tabs(shown: str) -> tuple[Tab, ...]:
    entries: tuple[tuple[str, str, tuple[str, str], Go], ...] = (
        ("photos", "image", ("Photos", "照片"), roll_page()),
        ("albums", "bookmark", ("Albums", "相册"), albums_page()),
        ("favourites", "heart", ("Favourites", "收藏"), favourites_page()),
        ("files", "folder", ("Files", "文件"), files_page()),
    )
    return tuple(
        Tab(icon=icon, words=words, selected=name == shown, do=to.at_root())
        for name, icon, words, to in entries
    )


# ---- pages: photos ---------------------------------------------------------------------------


@app.page("/")
def roll_page(s: State, ui: Ui) -> Page:
    """All photos, the newest day first."""
    body: list[Widget] = []
    day: list[Photo] = []
    photos = _found(s, "")
    for number, photo in enumerate(photos):
        day.append(photo)
        last = number + 1 == len(photos)
        if last or ui.day(photos[number + 1].taken_at) != ui.day(photo.taken_at):
            today = ui.when(photo.taken_at).date().isoformat() == ui.today()
            words = ui.t("Today", "今天") if today else ui.ago(photo.taken_at)
            body += [Heading(words=words), _grid(day)]
            day = []
    if not photos:
        body.append(Empty(icon="image", words=("No photos yet", "还没有照片")))
    return Page(
        title=("Gallery", "相册"), subtitle=ui.t(f"{len(photos)} photos", f"{len(photos)}张照片"),
        body=body, tabs=_tabs("photos"),
        actions=(
            IconButton(icon="search", label=("Search", "搜索"), do=search_page()),
            IconButton(icon="trash", label=("Trash", "回收站"), do=trash_page()),
        ),
        fab=Fab(icon="camera", words=("Camera", "相机"), do=camera_page(camera="back")),
    )  # fmt: skip


@app.page("/search")
def search_page(s: State, ui: Ui) -> Page:
    """Photos by title, place or album, and files by name."""
    text = ui.field("text", ("Title, place or album", "标题、地点或相册"), kind="search")
    body: list[Widget] = [text]
    if text.value.strip():
        photos = _found(s, text.value)
        files = s.files.where(lambda f: text.value.casefold().strip() in f.name.casefold())
        count = ui.t(f"{len(photos)} photos", f"{len(photos)}张照片")
        body += [Heading(words=count), *(_photo_row(ui, p) for p in photos)]
        if files:
            body += [Heading(words=("Files", "文件")), *(_file_row(ui, f) for f in files)]
        if not photos and not files:
            body.append(Empty(icon="search", words=("Nothing found", "没有找到")))
    else:
        places = sorted({p.place for p in s.photos if p.place and not p.trashed})
        body.append(Heading(words=("Places", "地点")))
        body += [
            Row(title=place, lead=Glyph(icon="location"), do=ui.set(text=place)) for place in places
        ]
    return Page(title=("Search", "搜索"), body=body)


def _photo_row(ui: Ui, p: Photo) -> Row:
    place = f"{p.place} · " if p.place else ""
    return Row(
        title=p.title, subtitle=f"{place}{ui.ago(p.taken_at)}", do=photo_page(photo=p.id),
        lead=Thumb(kind=p.kind, seed=p.seed, size_px=52),
        trailing_icon="heart_filled" if p.favourite else "",
    )  # fmt: skip


@app.page("/favourites")
def favourites_page(s: State, ui: Ui) -> Page:
    """The starred photos."""
    photos = [p for p in _found(s, "") if p.favourite]
    body: list[Widget] = [_grid(photos, 2)]
    if not photos:
        body = [Empty(icon="heart", words=("No favourites yet", "还没有收藏"))]
    return Page(title=("Favourites", "收藏"), body=body, large=True, tabs=_tabs("favourites"))


@app.page("/trash")
def trash_page(s: State, ui: Ui) -> Page:
    """What was deleted, until the trash is emptied."""
    photos = _found(s, "", trashed=True)
    body: list[Widget] = [
        Text(words=("Photos stay here until you delete them for good.",
                    "照片会保留在这里，直到你彻底删除。"), muted=True, size_px=13),
        _grid(photos),
    ]  # fmt: skip
    if not photos:
        body = [Empty(icon="trash", words=("The trash is empty", "回收站是空的"))]
    bin_it = Button(words=("Empty trash", "清空回收站"), kind="danger", do=ui.set(sure=True))
    sure = _sure(
        ui, ("Empty trash?", "清空回收站？"),
        ui.t(f"{len(photos)} photos will be deleted for good.", f"将彻底删除{len(photos)}张照片。"),
        empty_trash(),
    ) if photos else None  # fmt: skip
    return Page(
        title=("Trash", "回收站"), body=body, footer=(bin_it,) if photos else (), dialog=sure
    )


@app.page("/camera/{camera}")
def camera_page(s: State, ui: Ui, camera: str) -> Page:
    """The viewfinder."""
    side: Literal["back", "front"] = "front" if camera == "front" else "back"
    other = camera_page(camera="back" if side == "front" else "front")
    kind, seed = _scene(s, side)
    shown = Photo(
        title=ui.t("Viewfinder", "取景框"), kind=kind, seed=seed, album=CAMERA, taken_at=0
    )
    caption = (
        ui.t("Front camera", "前置相机") if side == "front" else ui.t("Back camera", "后置相机")
    )
    latest = _found(s, "")[:1]
    buttons = [
        IconButton(icon="rotate", label=("Switch", "切换"), do=other, color="#ffffff"),
        IconButton(icon="camera", label=("Take photo", "拍照"), do=take(camera=side),
                   color="#ff8fc0"),
    ]  # fmt: skip
    if latest:
        buttons.append(
            IconButton(icon="image", label=("Last photo", "上一张"), color="#ffffff",
                       do=photo_page(photo=latest[0].id))
        )  # fmt: skip
    viewer = Viewer(
        photo=shown, caption=caption, zoom=ui.get("zoom", 100), newer=None, older=None,
        double=None, buttons=tuple(buttons),
    )  # fmt: skip
    return Page(title="", body=(viewer,), bare=True)


@app.page("/photo/{photo}")
def photo_page(s: State, ui: Ui, photo: PhotoId) -> Page:
    """One photo; a swipe goes to its neighbours, which replace it on the page."""
    p = s.photos[ui.get("at", photo)]
    roll = [q.id for q in _found(s, "", trashed=p.trashed)]
    here = roll.index(p.id)
    newer = ui.set(at=roll[here - 1], zoom=100) if here else None
    older = ui.set(at=roll[here + 1], zoom=100) if here + 1 < len(roll) else None
    star = favourite(photo=p.id, on=not p.favourite)
    white = "#ffffff"
    if p.trashed:
        buttons: tuple[IconButton, ...] = (
            IconButton(icon="undo", label=("Restore", "恢复"), do=restore(photo=p.id), color=white),
            IconButton(icon="trash", label=DELETE, do=ui.set(sure=True), color=white),
        )
        sure = _sure(ui, ("Delete for good?", "彻底删除？"), p.title, delete(photo=p.id))
    else:
        buttons = (
            IconButton(icon="share", label=("Share", "分享"), do=Share(image=p.id), color=white),
            IconButton(
                icon="heart_filled" if p.favourite else "heart", label=("Favourite", "收藏"),
                do=star, color="#ff6fae" if p.favourite else white,
            ),
            IconButton(icon="edit", label=("Edit", "编辑"), do=edit_page(photo=p.id), color=white),
            IconButton(icon="info", label=("Info", "信息"), do=info_page(photo=p.id), color=white),
            IconButton(icon="trash", label=DELETE, do=ui.set(sure=True), color=white),
        )  # fmt: skip
        sure = _sure(
            ui, ("Move to trash?", "移到回收站？"), p.title, trash(photo=p.id),
            ("Move to trash", "移到回收站"),
        )  # fmt: skip
    place = f"{p.place} · " if p.place else ""
    viewer = Viewer(
        photo=p, caption=f"{place}{ui.day(p.taken_at)} {ui.clock(p.taken_at)}",
        zoom=ui.get("zoom", 100), newer=newer, older=older, buttons=buttons,
        double=None if p.trashed else star,
    )  # fmt: skip
    return Page(title="", body=(viewer,), bare=True, dialog=sure)


@app.page("/photo/{photo}/info")
def info_page(s: State, ui: Ui, photo: PhotoId) -> Page:
    """What is known about a photo, and what else can be done with it."""
    p = s.photos[photo]
    album = s.albums[p.album].name
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (f"{ui.day(p.taken_at)} {ui.clock(p.taken_at)}", ("Taken", "拍摄时间"), "calendar"),
        (p.place or ui.t("Unknown", "未知"), ("Place", "地点"), "location"),
        (album, ("Album", "相册"), "bookmark"),
        (_size(p.size_kb), ("Size", "大小"), "storage"),
    )
    rows = tuple(Row(title=v, subtitle=words, lead=Glyph(icon=i)) for v, words, i in facts)
    return Page(
        title=("Details", "详情"),
        actions=(IconButton(icon="edit", label=("Edit", "编辑"), do=edit_page(photo=p.id)),),
        body=(
            Grid(children=(Picture(kind=p.kind, seed=p.seed, label=p.title, height_px=190),),
                 columns=1),
            Text(words=p.title, size_px=22, bold=True, lines=1),
            Card(children=rows),
            Row(title=("Move to album", "移到相册"), lead=Glyph(icon="forward"),
                trailing_icon="chevron_right", do=move_page(photo=p.id)),
            Row(title=("Duplicate", "创建副本"), lead=Glyph(icon="copy"), do=copy(photo=p.id)),
        ),
    )  # fmt: skip


@app.page("/photo/{photo}/edit")
def edit_page(s: State, ui: Ui, photo: PhotoId) -> Page:
    """Title and place of a photo."""
    p = s.photos[photo]
    title = ui.field("title", ("Title", "标题"), p.title)
    place = ui.field("place", ("Place", "地点"), p.place)
    save = Button(
        words=("Save", "保存"), enabled=bool(title.value.strip()),
        do=edit(photo=p.id, title=title.value, place=place.value),
    )  # fmt: skip
    return Page(title=("Edit details", "编辑详情"), body=(title, place, save))


@app.page("/photo/{photo}/move")
def move_page(s: State, ui: Ui, photo: PhotoId) -> Page:
    """Choose the album that a photo goes to."""
    p = s.photos[photo]
    rows: list[Widget] = [
        Row(
            title=a.name, lead=Glyph(icon="bookmark"), do=move(photo=p.id, album=a.id),
            trailing_icon="check" if a.id == p.album else "", selected=a.id == p.album,
        )
        for a in s.albums
    ]  # fmt: skip
    return Page(title=("Move to album", "移到相册"), subtitle=p.title, body=rows)


# ---- pages: albums ---------------------------------------------------------------------------


@app.page("/albums")
def albums_page(s: State, ui: Ui) -> Page:
    """The albums as tiles."""
    photos = _found(s, "")
    tiles: list[Widget] = []
    for album in s.albums:
        inside = [p for p in photos if p.album == album.id]
        tiles.append(
            AlbumTile(
                name=album.name, count=ui.t(f"{len(inside)} photos", f"{len(inside)}张照片"),
                cover=inside[0] if inside else None, do=album_page(album=album.id),
            )
        )  # fmt: skip
    return Page(
        title=("Albums", "相册"), large=True, tabs=_tabs("albums"),
        body=(Grid(children=tuple(tiles), columns=2, gap_px=14),),
        fab=Fab(icon="plus", words=("New album", "新建相册"), do=new_album_page()),
    )  # fmt: skip


def _name_form(ui: Ui, title: tuple[str, str], initial: str, save: Callable[[str], Do]) -> Page:
    name = ui.field("name", ("Name", "名称"), initial)
    button = Button(words=("Save", "保存"), do=save(name.value), enabled=bool(name.value.strip()))
    return Page(title=title, body=(name, button))


@app.page("/albums/new")
def new_album_page(s: State, ui: Ui) -> Page:
    """The form for a new album."""
    return _name_form(ui, ("New album", "新建相册"), "", lambda name: add_album(name=name))


@app.page("/album/{album}")
def album_page(s: State, ui: Ui, album: AlbumId) -> Page:
    """The photos of one album, in a chosen order."""
    a = s.albums[album]
    photos = [p for p in _found(s, "") if p.album == album]
    order = ui.chips(
        "order",
        (
            ("newest", ("Newest", "最新")),
            ("oldest", ("Oldest", "最早")),
            ("title", ("Title", "标题")),
        ),
        "newest",
    )  # fmt: skip
    if order.value == "oldest":
        photos.reverse()
    elif order.value == "title":
        photos.sort(key=lambda p: p.title)
    body: list[Widget] = [order, _grid(photos)]
    if not photos:
        body = [Empty(icon="image", words=("No photos in this album", "相册里没有照片"))]
    actions: tuple[IconButton, ...] = ()
    if album not in OWN_ALBUMS:
        actions = (
            IconButton(icon="edit", label=RENAME, do=rename_album_page(album=album)),
            IconButton(icon="trash", label=DELETE, do=ui.set(sure=True)),
        )
    sure = _sure(
        ui, ("Delete album?", "删除相册？"),
        ui.t(f"{a.name}: its photos move to Camera.", f"{a.name}：其中的照片将移到Camera。"),
        delete_album(album=album),
    )  # fmt: skip
    return Page(title=a.name, body=body, actions=actions, dialog=sure)


@app.page("/album/{album}/rename")
def rename_album_page(s: State, ui: Ui, album: AlbumId) -> Page:
    """The form for another name."""
    old = s.albums[album].name
    return _name_form(
        ui, ("Rename album", "重命名相册"), old, lambda name: rename_album(album=album, name=name)
    )


# ---- pages: files ----------------------------------------------------------------------------


def _file_row(ui: Ui, f: File) -> Row:
    return Row(
        title=f.name, subtitle=f"{f.kind.upper()} · {_size(f.size_kb)}", do=file_page(file=f.id),
        lead=Glyph(icon="file", tint=FILE_TINTS[f.kind]), trailing=ui.ago(f.modified_at),
    )  # fmt: skip


@app.page("/files")
def files_page(s: State, ui: Ui) -> Page:
    """The folders, and the files changed last."""
    folders: list[Widget] = []
    for folder in s.folders:
        count = len(s.files.where(lambda f, i=folder.id: f.folder == i))  # type: ignore[misc]
        folders.append(
            Row(
                title=folder.name, subtitle=ui.t(f"{count} files", f"{count}个文件"),
                lead=Glyph(icon="folder"), trailing_icon="chevron_right",
                do=folder_page(folder=folder.id),
            )
        )  # fmt: skip
    recent = sorted(s.files, key=lambda f: -f.modified_at)[:5]
    body: list[Widget] = [
        Heading(words=("Folders", "文件夹")), Card(children=tuple(folders)),
        Heading(words=("Recent", "最近")), *(_file_row(ui, f) for f in recent),
    ]  # fmt: skip
    return Page(
        title=("Files", "文件"), body=body, large=True, tabs=_tabs("files"),
        actions=(IconButton(icon="search", label=("Search", "搜索"), do=search_page()),),
        fab=Fab(icon="plus", words=("New folder", "新建文件夹"), do=new_folder_page()),
    )  # fmt: skip


@app.page("/files/new")
def new_folder_page(s: State, ui: Ui) -> Page:
    """The form for a new folder."""
    return _name_form(ui, ("New folder", "新建文件夹"), "", lambda name: add_folder(name=name))


@app.page("/folder/{folder}")
def folder_page(s: State, ui: Ui, folder: FolderId) -> Page:
    """The files of one folder, by name."""
    f = s.folders[folder]
    inside = sorted(s.files.where(lambda x: x.folder == folder), key=lambda x: x.name)
    body: list[Widget] = [_file_row(ui, x) for x in inside]
    if not inside:
        body = [Empty(icon="folder", words=("The folder is empty", "文件夹是空的"))]
    sure = _sure(ui, ("Delete folder?", "删除文件夹？"), f.name, delete_folder(folder=folder))
    return Page(
        title=f.name, body=body, dialog=sure,
        actions=(
            IconButton(icon="edit", label=RENAME, do=rename_folder_page(folder=folder)),
            IconButton(icon="trash", label=DELETE, do=ui.set(sure=True)),
        ),
    )  # fmt: skip


@app.page("/folder/{folder}/rename")
def rename_folder_page(s: State, ui: Ui, folder: FolderId) -> Page:
    """The form for another name."""
    return _name_form(
        ui, ("Rename folder", "重命名文件夹"), s.folders[folder].name,
        lambda name: rename_folder(folder=folder, name=name),
    )  # fmt: skip


@app.page("/file/{file}")
def file_page(s: State, ui: Ui, file: FileId) -> Page:
    """One file's details."""
    f = s.files[file]
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (f.kind.upper(), ("Kind", "类型"), "file"),
        (_size(f.size_kb), ("Size", "大小"), "storage"),
        (s.folders[f.folder].name, ("Folder", "文件夹"), "folder"),
        (f"{ui.day(f.modified_at)} {ui.clock(f.modified_at)}", ("Modified", "修改时间"), "clock"),
    )
    rows = tuple(Row(title=v, subtitle=words, lead=Glyph(icon=i)) for v, words, i in facts)
    sure = _sure(ui, ("Delete file?", "删除文件？"), f.name, delete_file(file=file))
    cover = Picture(kind="document", seed=len(f.name) * 31 + f.size_kb, label=f.name, height_px=200)
    return Page(
        title=f.name, dialog=sure,
        actions=(IconButton(icon="share", label=("Share", "分享"), do=Share(text=f.name)),),
        body=(
            Grid(children=(cover,), columns=1),
            Card(children=rows),
            Row(title=RENAME, lead=Glyph(icon="edit"), do=rename_file_page(file=file)),
            Row(title=("Move to folder", "移到文件夹"), lead=Glyph(icon="forward"),
                do=move_file_page(file=file)),
            Row(title=DELETE, danger=True, lead=Glyph(icon="trash", tint="#d92d20"),
                do=ui.set(sure=True)),
        ),
    )  # fmt: skip


@app.page("/file/{file}/rename")
def rename_file_page(s: State, ui: Ui, file: FileId) -> Page:
    """The form for another name."""
    return _name_form(
        ui, ("Rename file", "重命名文件"), s.files[file].name,
        lambda name: rename_file(file=file, name=name),
    )  # fmt: skip


@app.page("/file/{file}/move")
def move_file_page(s: State, ui: Ui, file: FileId) -> Page:
    """Choose the folder that a file goes to."""
    f = s.files[file]
    rows: list[Widget] = [
        Row(
            title=o.name, lead=Glyph(icon="folder"), do=move_file(file=file, folder=o.id),
            trailing_icon="check" if o.id == f.folder else "", selected=o.id == f.folder,
        )
        for o in s.folders
    ]  # fmt: skip
    return Page(title=("Move to folder", "移到文件夹"), subtitle=f.name, body=rows)


# ---- flows -----------------------------------------------------------------------------------

app.flow("star a photo", tap(photo_page, photo="photo2"), tap(favourite))
app.flow(
    "title and place", tap(photo_page, photo="photo3"), tap("Edit"), enter("title", "Blue hour"),
    enter("place", "Port Alma"), tap(edit),
)  # fmt: skip
app.flow("move to an album", tap(photo_page, photo="photo4"), tap("Info"), tap(move_page),
         tap(move, album="album5"))  # fmt: skip
app.flow("duplicate", tap(photo_page, photo="photo5"), tap(info_page), tap(copy))
app.flow(
    "trash and restore", tap(photo_page, photo="photo1"), tap("Delete"), tap(trash), tap("Trash"),
    tap(photo_page, photo="photo1"), tap(restore),
)  # fmt: skip
app.flow(
    "delete for good, then the rest", tap(photo_page, photo="photo2"), tap("Delete"), tap(trash),
    tap("Trash"), tap(photo_page, photo="photo2"), tap("Delete"), tap(delete), tap("Empty trash"),
    tap(empty_trash),
)  # fmt: skip
app.flow("take two photos", tap("Camera"), tap(take), tap("Switch"), tap(take, camera="front"))
app.flow(
    "make, rename and delete an album", tap("Albums"), tap("New album"), enter("name", "Winter"),
    tap(add_album), tap("Rename"), enter("name", "Winter 2026"), tap(rename_album), tap("Delete"),
    tap(delete_album),
)  # fmt: skip
app.flow(
    "make, rename and delete a folder", tap("Files"), tap("New folder"), enter("name", "Home"),
    tap(add_folder), tap("Rename"), enter("name", "House"), tap(rename_folder), tap("Delete"),
    tap(delete_folder),
)  # fmt: skip
app.flow(
    "rename, move and delete a file", tap("Files"), tap(folder_page, folder="folder1"),
    tap(file_page, file="file2"), tap(rename_file_page), enter("name", "Hotel voucher"),
    tap(rename_file), tap(move_file_page), tap(move_file, folder="folder4"), tap("Delete"),
    tap(delete_file),
)  # fmt: skip
app.flow(
    "find by place", tap("Search"), enter("text", "Lindenau"), press("back"), press("back"),
)  # fmt: skip
