"""Gallery: photos by day, albums, favourites, trash, a camera, and the phone's files."""

from __future__ import annotations

from typing import Literal

from screenloop.phone import kit as k
from screenloop.phone.apps.gallery import actions as act
from screenloop.phone.apps.gallery import files, views
from screenloop.phone.apps.gallery.seed import CAMERA, OWN_ALBUMS, AlbumId, Photo
from screenloop.phone.apps.gallery.state import PhotoId, State, app, found
from screenloop.phone.apps.gallery.views import DELETE, RENAME, Viewer, grid, name_form, size, tabs

__all__ = ["State", "app", "files"]
"""`files` declares the other half of the pages."""


# ---- pages: photos ---------------------------------------------------------------------------


@app.page("/")
def roll_page(s: State, ui: k.Ui) -> k.Page:
    """All photos, the newest day first."""
    body: list[k.Widget] = []
    day: list[Photo] = []
    photos = found(s, "")
    for number, photo in enumerate(photos):
        day.append(photo)
        last = number + 1 == len(photos)
        if last or ui.day(photos[number + 1].taken_at) != ui.day(photo.taken_at):
            today = ui.when(photo.taken_at).date().isoformat() == ui.today()
            words = ui.t("Today", "今天") if today else ui.ago(photo.taken_at)
            body += [k.Heading(words), grid(day)]
            day = []
    if not photos:
        body.append(k.Empty("image", ("No photos yet", "还没有照片")))
    return k.Page(
        ("Gallery", "相册"),
        body,
        subtitle=ui.t(f"{len(photos)} photos", f"{len(photos)}张照片"),
        tabs=tabs("photos"),
        actions=(
            k.IconButton("search", ("Search", "搜索"), search_page()),
            k.IconButton("trash", ("Trash", "回收站"), trash_page()),
        ),
        fab=k.Fab("camera", ("Camera", "相机"), camera_page(camera="back")),
    )


@app.page("/search")
def search_page(s: State, ui: k.Ui) -> k.Page:
    """Photos by title, place or album, and files by name."""
    text = ui.field("text", ("Title, place or album", "标题、地点或相册"), kind="search")
    body: list[k.Widget] = [text]
    if text.value.strip():
        photos = found(s, text.value)
        files = s.files.where(lambda f: text.value.casefold().strip() in f.name.casefold())
        count = ui.t(f"{len(photos)} photos", f"{len(photos)}张照片")
        body += [k.Heading(count), *(_photo_row(ui, p) for p in photos)]
        if files:
            body += [k.Heading(("Files", "文件")), *(views.file_row(ui, f) for f in files)]
        if not photos and not files:
            body.append(k.Empty("search", ("Nothing found", "没有找到")))
    else:
        places = sorted({p.place for p in s.photos if p.place and not p.trashed})
        body.append(k.Heading(("Places", "地点")))
        body += [k.Row(place, lead=k.Glyph("location"), do=ui.set(text=place)) for place in places]
    return k.Page(("Search", "搜索"), body)


def _photo_row(ui: k.Ui, p: Photo) -> k.Row:
    place = f"{p.place} · " if p.place else ""
    return k.Row(
        p.title,
        f"{place}{ui.ago(p.taken_at)}",
        k.Thumb(p.kind, p.seed, size_px=52),
        do=photo_page(photo=p.id),
        trailing_icon="heart_filled" if p.favourite else "",
    )


@app.page("/favourites")
def favourites_page(s: State, ui: k.Ui) -> k.Page:
    """The starred photos."""
    photos = [p for p in found(s, "") if p.favourite]
    body: list[k.Widget] = [grid(photos, 2)]
    if not photos:
        body = [k.Empty("heart", ("No favourites yet", "还没有收藏"))]
    return k.Page(("Favourites", "收藏"), body, large=True, tabs=tabs("favourites"))


@app.page("/trash")
def trash_page(s: State, ui: k.Ui) -> k.Page:
    """What was deleted, until the trash is emptied."""
    photos = found(s, "", trashed=True)
    body: list[k.Widget] = [
        k.Paragraph(
            (
                "Photos stay here until you delete them for good.",
                "照片会保留在这里，直到你彻底删除。",
            ),
            muted=True,
            size_px=13,
        ),
        grid(photos),
    ]
    if not photos:
        body = [k.Empty("trash", ("The trash is empty", "回收站是空的"))]
    bin_it = k.Button(("Empty trash", "清空回收站"), ui.set(sure=True), kind="danger")
    words = (f"{len(photos)} photos will be deleted for good.", f"将彻底删除{len(photos)}张照片。")
    sure = ui.question(("Empty trash?", "清空回收站？"), DELETE, act.empty_trash(), words)
    return k.Page(
        ("Trash", "回收站"),
        body,
        footer=(bin_it,) if photos else (),
        dialog=sure if photos else None,
    )


@app.page("/camera/{camera}")
def camera_page(s: State, ui: k.Ui, camera: str) -> k.Page:
    """The viewfinder."""
    side: Literal["back", "front"] = "front" if camera == "front" else "back"
    other = camera_page(camera="back" if side == "front" else "front")
    kind, seed = act.scene(s, side)
    shown = Photo(
        title=ui.t("Viewfinder", "取景框"), kind=kind, seed=seed, album=CAMERA, taken_at=0
    )
    caption = (
        ui.t("Front camera", "前置相机") if side == "front" else ui.t("Back camera", "后置相机")
    )
    latest = found(s, "")[:1]
    buttons = [
        k.IconButton("rotate", ("Switch", "切换"), other, color="#ffffff"),
        k.IconButton("camera", ("Take photo", "拍照"), act.take(camera=side), color="#ff8fc0"),
    ]
    if latest:
        buttons.append(
            k.IconButton(
                "image", ("Last photo", "上一张"), photo_page(photo=latest[0].id), color="#ffffff"
            )
        )
    viewer = Viewer(
        photo=shown,
        caption=caption,
        zoom=ui.get("zoom", 100),
        newer=None,
        older=None,
        double=None,
        buttons=tuple(buttons),
    )
    return k.Page("", (viewer,), bare=True)


@app.page("/photo/{photo}")
def photo_page(s: State, ui: k.Ui, photo: PhotoId) -> k.Page:
    """One photo; a swipe goes to its neighbours, which replace it on the page."""
    p = s.photos[ui.get("at", photo)]
    roll = [q.id for q in found(s, "", trashed=p.trashed)]
    here = roll.index(p.id)
    newer = ui.set(at=roll[here - 1], zoom=100) if here else None
    older = ui.set(at=roll[here + 1], zoom=100) if here + 1 < len(roll) else None
    star = act.favourite(photo=p.id, on=not p.favourite)
    white = "#ffffff"
    if p.trashed:
        buttons: tuple[k.IconButton, ...] = (
            k.IconButton("undo", ("Restore", "恢复"), act.restore(photo=p.id), color=white),
            k.IconButton("trash", DELETE, ui.set(sure=True), color=white),
        )
        sure = ui.question(
            ("Delete for good?", "彻底删除？"), DELETE, act.delete(photo=p.id), p.title
        )
    else:
        buttons = (
            k.IconButton("share", ("Share", "分享"), k.Share(image=p.id), color=white),
            k.IconButton(
                "heart_filled" if p.favourite else "heart",
                ("Favourite", "收藏"),
                star,
                color="#ff6fae" if p.favourite else white,
            ),
            k.IconButton("edit", ("Edit", "编辑"), edit_page(photo=p.id), color=white),
            k.IconButton("info", ("Info", "信息"), info_page(photo=p.id), color=white),
            k.IconButton("trash", DELETE, ui.set(sure=True), color=white),
        )
        sure = ui.question(
            ("Move to trash?", "移到回收站？"),
            ("Move to trash", "移到回收站"),
            act.trash(photo=p.id),
            p.title,
        )
    place = f"{p.place} · " if p.place else ""
    viewer = Viewer(
        photo=p,
        caption=f"{place}{ui.day(p.taken_at)} {ui.clock(p.taken_at)}",
        zoom=ui.get("zoom", 100),
        newer=newer,
        older=older,
        buttons=buttons,
        double=None if p.trashed else star,
    )
    return k.Page("", (viewer,), bare=True, dialog=sure)


@app.page("/photo/{photo}/info")
def info_page(s: State, ui: k.Ui, photo: PhotoId) -> k.Page:
    """What is known about a photo, and what else can be done with it."""
    p = s.photos[photo]
    album = s.albums[p.album].name
    facts: tuple[tuple[str, tuple[str, str], str], ...] = (
        (f"{ui.day(p.taken_at)} {ui.clock(p.taken_at)}", ("Taken", "拍摄时间"), "calendar"),
        (p.place or ui.t("Unknown", "未知"), ("Place", "地点"), "location"),
        (album, ("Album", "相册"), "bookmark"),
        (size(p.size_kb), ("Size", "大小"), "storage"),
    )
    rows = tuple(k.Row(v, words, k.Glyph(i)) for v, words, i in facts)
    return k.Page(
        ("Details", "详情"),
        (
            k.Grid((k.Picture(p.kind, p.seed, p.title, height_px=190),), columns=1),
            k.Paragraph(p.title, size_px=22, bold=True, lines=1),
            k.Card(rows),
            k.link(("Move to album", "移到相册"), "", k.Glyph("forward"), move_page(photo=p.id)),
            k.Row(("Duplicate", "创建副本"), lead=k.Glyph("copy"), do=act.copy(photo=p.id)),
        ),
        actions=(k.IconButton("edit", ("Edit", "编辑"), edit_page(photo=p.id)),),
    )


@app.page("/photo/{photo}/edit")
def edit_page(s: State, ui: k.Ui, photo: PhotoId) -> k.Page:
    """Title and place of a photo."""
    p = s.photos[photo]
    title = ui.field("title", ("Title", "标题"), p.title)
    place = ui.field("place", ("Place", "地点"), p.place)
    save = k.Button(
        ("Save", "保存"),
        act.edit(photo=p.id, title=title.value, place=place.value),
        enabled=bool(title.value.strip()),
    )
    return k.Page(("Edit details", "编辑详情"), (title, place, save))


@app.page("/photo/{photo}/move")
def move_page(s: State, ui: k.Ui, photo: PhotoId) -> k.Page:
    """Choose the album that a photo goes to."""
    p = s.photos[photo]
    rows: list[k.Widget] = [
        k.Row(
            a.name,
            lead=k.Glyph("bookmark"),
            do=act.move(photo=p.id, album=a.id),
            trailing_icon="check" if a.id == p.album else "",
            selected=a.id == p.album,
        )
        for a in s.albums
    ]
    return k.Page(("Move to album", "移到相册"), rows, subtitle=p.title)


# ---- pages: albums ---------------------------------------------------------------------------


@app.page("/albums")
def albums_page(s: State, ui: k.Ui) -> k.Page:
    """The albums as tiles."""
    photos = found(s, "")
    tiles: list[k.Widget] = []
    for album in s.albums:
        inside = [p for p in photos if p.album == album.id]
        tiles.append(
            views.AlbumTile(
                name=album.name,
                count=ui.t(f"{len(inside)} photos", f"{len(inside)}张照片"),
                cover=inside[0] if inside else None,
                do=album_page(album=album.id),
            )
        )
    return k.Page(
        ("Albums", "相册"),
        (k.Grid(tuple(tiles), columns=2, gap_px=14),),
        large=True,
        tabs=tabs("albums"),
        fab=k.Fab("plus", ("New album", "新建相册"), new_album_page()),
    )


@app.page("/albums/new")
def new_album_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new album."""
    return name_form(ui, ("New album", "新建相册"), "", lambda name: act.add_album(name=name))


@app.page("/album/{album}")
def album_page(s: State, ui: k.Ui, album: AlbumId) -> k.Page:
    """The photos of one album, in a chosen order."""
    a = s.albums[album]
    photos = [p for p in found(s, "") if p.album == album]
    order = ui.chips(
        "order",
        (
            ("newest", ("Newest", "最新")),
            ("oldest", ("Oldest", "最早")),
            ("title", ("Title", "标题")),
        ),
        "newest",
    )
    if order.value == "oldest":
        photos.reverse()
    elif order.value == "title":
        photos.sort(key=lambda p: p.title)
    body: list[k.Widget] = [order, grid(photos)]
    if not photos:
        body = [k.Empty("image", ("No photos in this album", "相册里没有照片"))]
    actions: tuple[k.IconButton, ...] = ()
    if album not in OWN_ALBUMS:
        actions = (
            k.IconButton("edit", RENAME, rename_album_page(album=album)),
            k.IconButton("trash", DELETE, ui.set(sure=True)),
        )
    words = (f"{a.name}: its photos move to Camera.", f"{a.name}：其中的照片将移到Camera。")
    sure = ui.question(
        ("Delete album?", "删除相册？"), DELETE, act.delete_album(album=album), words
    )
    return k.Page(a.name, body, actions=actions, dialog=sure)


@app.page("/album/{album}/rename")
def rename_album_page(s: State, ui: k.Ui, album: AlbumId) -> k.Page:
    """The form for another name."""
    old = s.albums[album].name
    return name_form(
        ui,
        ("Rename album", "重命名相册"),
        old,
        lambda name: act.rename_album(album=album, name=name),
    )


k.read_flows(app, __package__)
