"""Gallery: photos by day, albums, favourites, trash, a camera, and the phone's files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import msgspec

from screenloop.phone.app import App
from screenloop.phone.canvas import Box, Canvas, Node
from screenloop.phone.cast import CITIES, Cast
from screenloop.phone.ctx import Ctx
from screenloop.phone.do import Back, Call, Do, Go, Share
from screenloop.phone.flows import enter, press, tap
from screenloop.phone.imagery import SCENE_KINDS
from screenloop.phone.page import Dialog, DialogButton, Fab, Page, Tab
from screenloop.phone.state import AppState, Record, Refers, Table
from screenloop.phone.theme import BAR_PX, NAV_PX, STATUS_PX
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
from screenloop.types import Struct

PhotoId = Annotated[str, Refers("gallery.photos")]
AlbumId = Annotated[str, Refers("gallery.albums")]
FileId = Annotated[str, Refers("gallery.files")]
FolderId = Annotated[str, Refers("gallery.folders")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
FileKind = Literal["pdf", "doc", "sheet", "text", "zip"]
FILE_TINTS: dict[FileKind, str] = {
    "pdf": "#d92d20", "doc": "#2563eb", "sheet": "#12805c", "text": "#676d76", "zip": "#b45309",
}  # fmt: skip
CAMERA, SCREENSHOTS = "album1", "album2"
OWN_ALBUMS = (CAMERA, SCREENSHOTS)
"""Albums that belong to the phone: neither renamed nor deleted."""


class Photo(Record, frozen=True, kw_only=True):
    """One picture of the roll."""

    title: str
    kind: str
    seed: int
    album: AlbumId
    taken_at: int
    place: str = ""
    favourite: bool = False
    size_kb: int = 2400
    trashed: bool = False


class Album(Record, frozen=True, kw_only=True):
    """A named set of photos; each photo is in one."""

    name: str


class Folder(Record, frozen=True, kw_only=True):
    """A place for files."""

    name: str


class File(Record, frozen=True, kw_only=True):
    """A document."""

    name: str
    folder: FolderId
    kind: FileKind
    size_kb: int
    modified_at: int


TITLES: dict[str, str] = {
    "sea": "Evening tide,Sailing day,Pier at dawn,Calm bay,Ferry crossing,First swim",
    "mountains": "Summit ridge,Snow line,Cabin morning,Long trail,Valley mist",
    "city": "Rooftop lights,Market street,Night tram,Old bridge,River front",
    "forest": "Pine path,Autumn walk,Green light,Moss and stone",
    "desert": "Red dunes,Dry heat,Canyon road",
    "food": "Sunday brunch,Green salad,Birthday dinner,Picnic bowl,Lunch special",
    "pet": "Miso asleep,Miso at the window,Neighbour's cat,New kitten,Grumpy Miso",
    "portrait": "Passport photo,Team badge,Grandma smiling,Graduation day,School portrait",
    "document": "Rent receipt,Recipe card,Warranty card,Bus timetable,Signed lease",
    "flower": "First tulip,Balcony rose,Daisy field,Garden bed,Wedding bouquet",
}
ALBUM_OF: dict[str, str] = {
    "sea": "album3", "mountains": "album3", "desert": "album3", "city": CAMERA, "forest": CAMERA,
    "food": CAMERA, "pet": "album4", "portrait": "album4", "document": SCREENSHOTS,
    "flower": "album5",
}  # fmt: skip
FILES: tuple[tuple[str, str, FileKind], ...] = (
    ("Flight ticket", "folder1", "pdf"), ("Hotel booking", "folder1", "pdf"),
    ("Packing list", "folder1", "text"), ("Quarterly report", "folder2", "doc"),
    ("Budget 2026", "folder2", "sheet"), ("Meeting minutes", "folder2", "doc"),
    ("Project archive", "folder2", "zip"), ("Electricity invoice", "folder3", "pdf"),
    ("Water invoice", "folder3", "pdf"), ("Tax summary", "folder3", "sheet"),
    ("User manual", "folder4", "pdf"), ("Song lyrics", "folder4", "text"),
    ("Holiday photos", "folder4", "zip"), ("Reading list", "folder4", "text"),
)  # fmt: skip


def seed_photos(cast: Cast) -> Iterable[Photo]:
    """About four dozen photos of the last ten weeks, a few starred, three in the trash."""
    rng = cast.rng("gallery")
    entries = [(kind, title) for kind, names in TITLES.items() for title in names.split(",")]
    rng.shuffle(entries)
    starred = set(rng.sample(range(3, len(entries)), 7))
    gone = set(rng.sample([n for n in range(3, len(entries)) if n not in starred], 3))
    day = 0
    for number, (kind, title) in enumerate(entries):
        day -= rng.choice((0, 0, 1, 1, 2, 3)) if number else 1
        clock = f"{rng.randrange(8, 21):02d}:{rng.randrange(60):02d}"
        yield Photo(
            title=title, kind=kind, seed=rng.randrange(10_000), album=ALBUM_OF[kind],
            taken_at=cast.at(day, clock), size_kb=rng.randrange(600, 5200),
            place="" if kind == "document" else rng.choice(CITIES), favourite=number in starred,
            trashed=number in gone,
        )  # fmt: skip


def seed_albums(cast: Cast) -> Iterable[Album]:
    """The phone's two albums and three of the user's."""
    return [Album(name=n) for n in ("Camera", "Screenshots", "Trips", "Family", "Garden")]


def seed_folders(cast: Cast) -> Iterable[Folder]:
    """Four folders."""
    return [Folder(name=n) for n in ("Travel", "Work", "Invoices", "Downloads")]


def seed_files(cast: Cast) -> Iterable[File]:
    """Documents of the last four months."""
    rng = cast.rng("files")
    for name, folder, kind in FILES:
        when = cast.at(-rng.randrange(1, 120), f"{rng.randrange(8, 19):02d}:15")
        size_kb = rng.randrange(12, 9000)
        yield File(name=name, folder=folder, kind=kind, size_kb=size_kb, modified_at=when)


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
        lambda p: p.trashed == trashed
        and wanted in f"{p.title} {p.place} {names.get(p.album, '')}".casefold()
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


def _sure(ui: Ui, name: str, title: tuple[str, str], text: str, do: Do, yes: tuple[str, str]
          ) -> Dialog | None:  # fmt: skip
    if not ui.get(name, False):
        return None
    no = ui.set(**{name: False})
    return Dialog(
        title=title, text=text, dismiss=no,
        buttons=(
            DialogButton(words=("Cancel", "取消"), do=no),
            DialogButton(words=yes, do=do, danger=True),
        ),
    )  # fmt: skip


DELETE = ("Delete", "删除")


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


class Viewer(Struct, frozen=True, kw_only=True):
    """One photo on black, with the bars of the viewer above and below it."""

    photo: Photo
    caption: str
    zoom: int
    """Per cent."""
    newer: Do | None
    older: Do | None
    double: Do | None
    buttons: tuple[IconButton, ...]

    def height(self, d: Canvas, w: int) -> int:
        """Return its height: the whole screen between the system's bars."""
        return d.size_px[1] - STATUS_PX - NAV_PX

    def draw(self, d: Canvas, x: int, y: int, w: int) -> None:
        """Draw it; the bars cover what a zoomed picture has too much."""
        h = self.height(d, w)
        room = h - BAR_PX - 76
        side, tall = w * self.zoom // 100, w * 13 // 10 * self.zoom // 100
        top = y + BAR_PX + (room - tall) // 2
        d.picture(self.photo.kind, self.photo.seed, x + (w - side) // 2, top, side, tall)
        d.box(x, 0, w, y + BAR_PX, "#0b0c0e")
        d.box(x, y + BAR_PX + room, w, d.size_px[1], "#0b0c0e")
        d.node(
            Node(
                role="image", label=self.photo.title, box=Box(x, y + BAR_PX, w, room),
                double=self.double, swipe_left=self.older, swipe_right=self.newer,
                value=f"{self.zoom}%", pinch=self._zoomed,
            )
        )  # fmt: skip
        back = IconButton(icon="back", label=("Navigate up", "返回上一页"), do=Back(), color="#ffffff")
        back.place(d, x + 4, y + 6)
        d.text(self.photo.title, x + 56, y + 6, w - 72, size_px=17, bold=True, color="#ffffff")
        d.text(self.caption, x + 56, y + 31, w - 72, size_px=12, color="#b6bac2")
        cell = w // max(1, len(self.buttons))
        for number, button in enumerate(self.buttons):
            left, below = x + number * cell, y + BAR_PX + room
            button.place(d, left + (cell - 44) // 2, below + 4)
            d.text(
                button.label, left, below + 48, cell, size_px=11, color="#b6bac2", align="center",
                role=None,
            )  # fmt: skip

    def _zoomed(self, scale: float) -> Do:
        return SetZoom(max(100, min(400, round(self.zoom * scale))))


def SetZoom(percent: int) -> Do:  # noqa: N802
    """Return the touch that zooms the viewer."""
    raise NotImplementedError
