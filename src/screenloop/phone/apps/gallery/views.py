"""What the gallery draws: its own widgets, and the rows, grids and forms of several pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from screenloop.phone import kit as k
from screenloop.phone.apps.gallery.seed import FILE_TINTS, File, Photo
from screenloop.phone.apps.gallery.state import at


class Viewer(k.Struct, frozen=True, kw_only=True):
    """One photo on black, with the bars of the viewer above and below it."""

    photo: Photo
    caption: str
    zoom: int
    """Per cent."""
    newer: k.Do | None
    older: k.Do | None
    double: k.Do | None
    buttons: tuple[k.IconButton, ...]

    def height(self, d: k.Canvas, w: int) -> int:
        """Return its height: the whole screen between the system's bars."""
        return d.size_px[1] - k.STATUS_PX - k.NAV_PX

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw it; the bars cover what a zoomed picture has too much."""
        h = self.height(d, w)
        room = h - k.BAR_PX - 76
        side, tall = w * self.zoom // 100, w * 13 // 10 * self.zoom // 100
        top = y + k.BAR_PX + (room - tall) // 2
        d.picture(self.photo.kind, self.photo.seed, x + (w - side) // 2, top, side, tall)
        d.box(x, 0, w, y + k.BAR_PX, "#0b0c0e")
        d.box(x, y + k.BAR_PX + room, w, d.size_px[1], "#0b0c0e")
        d.node(
            k.Node(
                "image",
                self.photo.title,
                k.Box(x, y + k.BAR_PX, w, room),
                double=self.double,
                swipe_left=self.older,
                swipe_right=self.newer,
                value=f"{self.zoom}%",
                pinch=self._zoomed,
            )
        )
        back = k.IconButton("back", ("Navigate up", "返回上一页"), k.Back(), color="#ffffff")
        back.place(d, x + 4, y + 6)
        d.text(self.photo.title, x + 56, y + 6, w - 72, 17, "#ffffff", bold=True)
        d.text(self.caption, x + 56, y + 31, w - 72, 12, "#b6bac2")
        cell = w // max(1, len(self.buttons))
        for number, button in enumerate(self.buttons):
            left, below = x + number * cell, y + k.BAR_PX + room
            button.place(d, left + (cell - 44) // 2, below + 4)
            d.centered(button.label, left, below + 48, cell, 11, "#b6bac2")

    def _zoomed(self, scale: float) -> k.Do:
        return k.SetLocal(values={"zoom": max(100, min(400, round(self.zoom * scale)))})


class AlbumTile(k.Struct, frozen=True, kw_only=True):
    """An album's newest photo with its name and count."""

    name: str
    count: str
    cover: Photo | None
    do: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        return w + 50

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        if self.cover is not None:
            d.picture(self.cover.kind, self.cover.seed, x, y, w, w, radius=18)
        else:
            d.box(x, y, w, w, d.theme.fill, radius=18)
            d.icon("image", x + w // 2 - 18, y + w // 2 - 18, 36, d.theme.muted)
        d.text(self.name, x + 4, y + w + 6, w - 8, 15, bold=True, role=None)
        d.text(self.count, x + 4, y + w + 27, w - 8, 13, d.theme.muted, role=None)
        label = f"{self.name} · {self.count}"
        d.node(k.Node("button", label, k.Box(x, y, w, w + 46), do=self.do))


# ---- what several pages share --------------------------------------------------------------

DELETE = ("Delete", "删除")
RENAME = ("Rename", "重命名")


def grid(photos: Sequence[Photo], columns: int = 3) -> k.Grid:
    """Return the photos as a grid; a long press tells what is known of one."""
    cells = tuple(
        k.Picture(
            p.kind,
            p.seed,
            p.title,
            radius_px=4,
            do=at(f"/photo/{p.id}"),
            long=at(f"/photo/{p.id}/info"),
            mark="heart_filled" if p.favourite else "",
        )
        for p in photos
    )
    return k.Grid(cells, columns=columns, gap_px=3, inset_px=3)


def size(size_kb: int) -> str:
    """Return a size with its unit."""
    return f"{size_kb} KB" if size_kb < 1000 else f"{size_kb / 1000:.1f} MB"


def tabs(shown: str) -> tuple[k.Tab, ...]:
    """Return the gallery's main pages."""
    return k.tabs(
        shown,
        ("photos", "image", ("Photos", "照片"), at("/")),
        ("albums", "bookmark", ("Albums", "相册"), at("/albums")),
        ("favourites", "heart", ("Favourites", "收藏"), at("/favourites")),
        ("files", "folder", ("Files", "文件"), at("/files")),
    )


def name_form(
    ui: k.Ui, title: tuple[str, str], initial: str, save: Callable[[str], k.Do]
) -> k.Page:
    """Return a page with one field for a name."""
    name = ui.field("name", ("Name", "名称"), initial)
    button = k.Button(("Save", "保存"), save(name.value), enabled=bool(name.value.strip()))
    return k.Page(title, (name, button))


def file_row(ui: k.Ui, f: File) -> k.Row:
    """Return a file as a row of a list."""
    return k.Row(
        f.name,
        f"{f.kind.upper()} · {size(f.size_kb)}",
        k.Glyph("file", tint=FILE_TINTS[f.kind]),
        do=at(f"/file/{f.id}"),
        trailing=ui.ago(f.modified_at),
    )
