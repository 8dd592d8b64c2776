"""Parts that several pages of the gallery share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from screenloop.phone.apps.gallery_actions import at
from screenloop.phone.apps.gallery_seed import (
    FILE_TINTS,
    File,
    Photo,
)
from screenloop.phone.do import Do, Go
from screenloop.phone.page import Dialog, DialogButton, Page, Tab
from screenloop.phone.ui import Ui
from screenloop.phone.widgets import (
    Button,
    Glyph,
    Grid,
    Picture,
    Row,
)

DELETE = ("Delete", "删除")
RENAME = ("Rename", "重命名")


def grid(photos: Sequence[Photo], columns: int = 3) -> Grid:
    """Return the photos as a grid; a long press tells what is known of one."""
    cells = tuple(
        Picture(
            kind=p.kind, seed=p.seed, label=p.title, radius_px=4, do=at(f"/photo/{p.id}"),
            long=at(f"/photo/{p.id}/info"), mark="heart_filled" if p.favourite else "",
        )
        for p in photos
    )  # fmt: skip
    return Grid(children=cells, columns=columns, gap_px=3, inset_px=3)


def size(size_kb: int) -> str:
    """Return a size with its unit."""
    return f"{size_kb} KB" if size_kb < 1000 else f"{size_kb / 1000:.1f} MB"


def sure_dialog(
    ui: Ui, title: tuple[str, str], text: str, do: Do, yes: tuple[str, str] = DELETE
) -> Dialog | None:
    """Return the question before something is deleted, where it was asked."""
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


def tabs(shown: str) -> tuple[Tab, ...]:
    """Return the gallery's main pages."""
    entries: tuple[tuple[str, str, tuple[str, str], Go], ...] = (
        ("photos", "image", ("Photos", "照片"), at("/")),
        ("albums", "bookmark", ("Albums", "相册"), at("/albums")),
        ("favourites", "heart", ("Favourites", "收藏"), at("/favourites")),
        ("files", "folder", ("Files", "文件"), at("/files")),
    )
    return tuple(
        Tab(icon=icon, words=words, selected=name == shown, do=to.at_root())
        for name, icon, words, to in entries
    )


def name_form(ui: Ui, title: tuple[str, str], initial: str, save: Callable[[str], Do]) -> Page:
    """Return a page with one field for a name."""
    name = ui.field("name", ("Name", "名称"), initial)
    button = Button(words=("Save", "保存"), do=save(name.value), enabled=bool(name.value.strip()))
    return Page(title=title, body=(name, button))


def file_row(ui: Ui, f: File) -> Row:
    """Return a file as a row of a list."""
    return Row(
        title=f.name, subtitle=f"{f.kind.upper()} · {size(f.size_kb)}", do=at(f"/file/{f.id}"),
        lead=Glyph(icon="file", tint=FILE_TINTS[f.kind]), trailing=ui.ago(f.modified_at),
    )  # fmt: skip
