"""What can be done in the gallery: photos, albums, folders and files, and look-ups."""

from __future__ import annotations

from typing import Literal

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.gallery import seed as seeds
from screenloop.phone.apps.gallery.seed import CAMERA, Album, AlbumId, File, FolderId, Name, Photo
from screenloop.phone.apps.gallery.state import FileId, PhotoId, State, app, at, found
from screenloop.phone.draw.imagery import SCENE_KINDS

# ---- actions on photos -----------------------------------------------------------------------


@app.action(
    "photos.favourite",
    tool=True,
    writes=["photos"],
    check=k.row_has("photos", "photo", favourite="on"),
)
def favourite(s: State, ctx: k.Ctx, photo: PhotoId, on: bool) -> None:
    """Mark a photo as favourite, or not."""
    s.photos.update(photo, favourite=on)


@app.action(
    "photos.edit",
    tool=True,
    writes=["photos"],
    check=lambda before, after, a: after.photos[a.photo].title == a.title.strip(),
)
def edit(s: State, ctx: k.Ctx, photo: PhotoId, title: Name, place: str) -> None:
    """Change a photo's title and place."""
    if not title.strip():
        ctx.refuse(ctx.t("A photo needs a title", "照片需要标题"))
    s.photos.update(photo, title=title.strip(), place=place.strip())
    ctx.toast(ctx.t("Details saved", "详情已保存"))
    ctx.move(k.Back())


@app.action(
    "photos.move", tool=True, writes=["photos"], check=k.row_has("photos", "photo", album="album")
)
def move(s: State, ctx: k.Ctx, photo: PhotoId, album: AlbumId) -> None:
    """Move a photo to another album."""
    name = s.albums[album].name
    s.photos.update(photo, album=album)
    ctx.toast(ctx.t(f"Moved to {name}", f"已移到{name}"))
    ctx.move(k.Back())


@app.action("photos.copy", tool="Duplicate a photo.", writes=["photos"], check=k.one_more("photos"))
def copy(s: State, ctx: k.Ctx, photo: PhotoId) -> None:
    """Duplicate a photo, next to itself in time."""
    old = s.photos[photo]
    s.photos.add(msgspec.structs.replace(old, title=f"{old.title} copy"[:40], favourite=False))
    ctx.toast(ctx.t("Copy saved", "已保存副本"))


@app.action(
    "photos.trash", tool=True, writes=["photos"], check=k.row_has("photos", "photo", trashed=True)
)
def trash(s: State, ctx: k.Ctx, photo: PhotoId) -> None:
    """Move a photo to the trash."""
    s.photos.update(photo, trashed=True, favourite=False)
    ctx.toast(ctx.t("Moved to trash", "已移到回收站"))
    ctx.move(k.Back())


@app.action(
    "photos.restore",
    tool=True,
    writes=["photos"],
    check=k.row_has("photos", "photo", trashed=False),
)
def restore(s: State, ctx: k.Ctx, photo: PhotoId) -> None:
    """Bring a photo back from the trash."""
    s.photos.update(photo, trashed=False)
    ctx.toast(ctx.t("Photo restored", "照片已恢复"))
    ctx.move(k.Back())


@app.action("photos.delete", tool=True, writes=["photos"], check=k.gone("photos", "photo"))
def delete(s: State, ctx: k.Ctx, photo: PhotoId) -> None:
    """Delete a photo of the trash for good."""
    if not s.photos[photo].trashed:
        ctx.refuse(ctx.t("Move the photo to the trash first", "请先将照片移到回收站"))
    s.photos.remove(photo)
    ctx.toast(ctx.t("Photo deleted", "照片已删除"))
    ctx.move(k.Back())


@app.action(
    "trash.empty",
    tool=True,
    writes=["photos"],
    check=lambda before, after, a: not after.photos.where(lambda p: p.trashed),
)
def empty_trash(s: State, ctx: k.Ctx) -> None:
    """Delete all photos of the trash for good."""
    for photo in s.photos.where(lambda p: p.trashed):
        s.photos.remove(photo.id)
    ctx.toast(ctx.t("Trash emptied", "回收站已清空"))


@app.action(
    "photos.take",
    tool="Take a photo with the back or the front camera.",
    writes=["photos"],
    check=k.one_more("photos"),
)
def take(s: State, ctx: k.Ctx, camera: Literal["back", "front"]) -> None:
    """Take the picture that the viewfinder shows."""
    kind, seed = scene(s, camera)
    number = 1 + len(s.photos.where(lambda p: p.title.startswith("IMG_")))
    s.photos.add(
        Photo(title=f"IMG_{number:04d}", kind=kind, seed=seed, album=CAMERA, taken_at=ctx.now_s)
    )
    ctx.toast(ctx.t("Photo saved", "照片已保存"))


def scene(s: State, camera: str) -> tuple[str, int]:
    """Return what is in front of a camera; it changes with each photo taken."""
    number = len(s.photos)
    kinds = [k for k in SCENE_KINDS if k not in ("portrait", "document")]
    return ("portrait" if camera == "front" else kinds[number % len(kinds)]), 1000 + number


@app.query("photos.search", shows="/search")
def search(s: State, ctx: k.Ctx, text: str = "") -> list[Photo]:
    """Find photos by part of a title, place or album, newest first."""
    return found(s, text)


@app.query("photos.get", shows="/photo/{photo}/info")
def get(s: State, ctx: k.Ctx, photo: PhotoId) -> Photo:
    """Read one photo's details."""
    return s.photos[photo]


@app.query("favourites.list", shows="/favourites")
def list_favourites(s: State, ctx: k.Ctx) -> list[Photo]:
    """List the favourite photos."""
    return [p for p in found(s, "") if p.favourite]


@app.query("trash.list", shows="/trash")
def list_trash(s: State, ctx: k.Ctx) -> list[Photo]:
    """List the photos in the trash."""
    return found(s, "", trashed=True)


# ---- actions on albums, folders and files ------------------------------------------------------


@app.action("albums.add", tool=True, writes=["albums"], check=k.one_more("albums"))
def add_album(s: State, ctx: k.Ctx, name: Name) -> None:
    """Make a new, empty album."""
    _check_name(ctx, name, [a.name for a in s.albums])
    album = s.albums.add(Album(name=name.strip()))
    ctx.move(k.Back())
    ctx.move(at(f"/album/{album.id}"))


@app.action(
    "albums.rename",
    tool=True,
    writes=["albums"],
    check=lambda before, after, a: after.albums[a.album].name == a.name.strip(),
)
def rename_album(s: State, ctx: k.Ctx, album: AlbumId, name: Name) -> None:
    """Give one of the user's albums another name."""
    _check_own(ctx, album)
    _check_name(ctx, name, [a.name for a in s.albums if a.id != album])
    s.albums.update(album, name=name.strip())
    ctx.move(k.Back())


@app.action(
    "albums.delete", tool=True, writes=["albums", "photos"], check=k.gone("albums", "album")
)
def delete_album(s: State, ctx: k.Ctx, album: AlbumId) -> None:
    """Delete an album of the user's; its photos move to Camera."""
    _check_own(ctx, album)
    s.albums.remove(album)
    for photo in s.photos.where(lambda p: p.album == album):
        s.photos.update(photo.id, album=CAMERA)
    ctx.toast(ctx.t("Album deleted", "相册已删除"))
    ctx.move(k.Back())


@app.query("albums.list", shows="/albums")
def list_albums(s: State, ctx: k.Ctx) -> list[Album]:
    """List the albums."""
    return list(s.albums)


@app.query("albums.photos", tool="List the photos of an album.", shows="/album/{album}")
def album_photos(s: State, ctx: k.Ctx, album: AlbumId) -> list[Photo]:
    """Return the photos of an album, newest first."""
    s.albums[album]
    return [p for p in found(s, "") if p.album == album]


@app.action("folders.add", tool=True, writes=["folders"], check=k.one_more("folders"))
def add_folder(s: State, ctx: k.Ctx, name: Name) -> None:
    """Make a new folder for files."""
    _check_name(ctx, name, [f.name for f in s.folders])
    folder = s.folders.add(seeds.Folder(name=name.strip()))
    ctx.move(k.Back())
    ctx.move(at(f"/folder/{folder.id}"))


@app.action(
    "folders.rename",
    tool=True,
    writes=["folders"],
    check=lambda before, after, a: after.folders[a.folder].name == a.name.strip(),
)
def rename_folder(s: State, ctx: k.Ctx, folder: FolderId, name: Name) -> None:
    """Give a folder another name."""
    _check_name(ctx, name, [f.name for f in s.folders if f.id != folder])
    s.folders.update(folder, name=name.strip())
    ctx.move(k.Back())


@app.action("folders.delete", tool=True, writes=["folders"], check=k.gone("folders", "folder"))
def delete_folder(s: State, ctx: k.Ctx, folder: FolderId) -> None:
    """Delete an empty folder."""
    if s.files.where(lambda f: f.folder == folder):
        ctx.refuse(ctx.t("The folder is not empty", "文件夹不为空"))
    s.folders.remove(folder)
    ctx.move(k.Back())


@app.action(
    "files.rename",
    tool=True,
    writes=["files"],
    check=lambda before, after, a: after.files[a.file].name == a.name.strip(),
)
def rename_file(s: State, ctx: k.Ctx, file: FileId, name: Name) -> None:
    """Give a file another name."""
    folder = s.files[file].folder
    _check_name(ctx, name, [f.name for f in s.files if f.folder == folder and f.id != file])
    s.files.update(file, name=name.strip(), modified_at=ctx.now_s)
    ctx.move(k.Back())


@app.action(
    "files.move", tool=True, writes=["files"], check=k.row_has("files", "file", folder="folder")
)
def move_file(s: State, ctx: k.Ctx, file: FileId, folder: FolderId) -> None:
    """Move a file to another folder."""
    name = s.folders[folder].name
    s.files.update(file, folder=folder)
    ctx.toast(ctx.t(f"Moved to {name}", f"已移到{name}"))
    ctx.move(k.Back())


@app.action("files.delete", tool=True, writes=["files"], check=k.gone("files", "file"))
def delete_file(s: State, ctx: k.Ctx, file: FileId) -> None:
    """Delete a file."""
    s.files.remove(file)
    ctx.toast(ctx.t("File deleted", "文件已删除"))
    ctx.move(k.Back())


@app.query("files.search", shows="/search")
def search_files(s: State, ctx: k.Ctx, text: str = "") -> list[File]:
    """Find files by part of a name; tells their folder."""
    wanted = text.casefold().strip()
    return sorted(s.files.where(lambda f: wanted in f.name.casefold()), key=lambda f: f.name)


@app.query("folders.list", shows="/files")
def list_folders(s: State, ctx: k.Ctx) -> list[seeds.Folder]:
    """List the folders."""
    return list(s.folders)


@app.query("folders.files", tool="List the files of a folder.", shows="/folder/{folder}")
def folder_files(s: State, ctx: k.Ctx, folder: FolderId) -> list[File]:
    """Return the files of a folder by name."""
    s.folders[folder]
    return sorted(s.files.where(lambda f: f.folder == folder), key=lambda f: f.name)


@app.query("files.get", shows="/file/{file}")
def get_file(s: State, ctx: k.Ctx, file: FileId) -> File:
    """Read one file's details."""
    return s.files[file]


def _check_name(ctx: k.Ctx, name: str, taken: list[str]) -> None:
    if not name.strip():
        ctx.refuse(ctx.t("Enter a name", "请输入名称"))
    if name.strip().casefold() in (n.casefold() for n in taken):
        ctx.refuse(ctx.t(f"{name.strip()} exists already", f"{name.strip()}已存在"))


def _check_own(ctx: k.Ctx, album: str) -> None:
    if album in seeds.OWN_ALBUMS:
        ctx.refuse(ctx.t("This album belongs to the phone", "这是系统相册"))
