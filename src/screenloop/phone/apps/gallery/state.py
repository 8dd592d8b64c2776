"""What the gallery keeps: the roll, its albums, and the phone's files; what a search finds."""

from __future__ import annotations

from typing import Annotated

from screenloop.phone.apps.gallery.seed import (
    Album,
    File,
    Folder,
    Photo,
    seed_albums,
    seed_files,
    seed_folders,
    seed_photos,
)
from screenloop.phone.commands import Go
from screenloop.phone.declare.app import App
from screenloop.phone.declare.state import AppState, Refers, Table

PhotoId = Annotated[str, Refers("gallery.photos")]
FileId = Annotated[str, Refers("gallery.files")]


class State(AppState):
    """The roll, its albums, and the documents."""

    photos = Table(Photo, prefix="photo", seed=seed_photos)
    albums = Table(Album, prefix="album", seed=seed_albums)
    folders = Table(Folder, prefix="folder", seed=seed_folders)
    files = Table(File, prefix="file", seed=seed_files)


app = App("gallery", State, title=("Gallery", "相册"), icon="image", tint="#be185d")


def at(path: str) -> Go:
    """Return the move to a page by its path."""
    return Go(app="gallery", path=path)


def found(s: State, text: str, *, trashed: bool = False) -> list[Photo]:
    """Return the photos that hold the text, newest first."""
    wanted = text.casefold().strip()
    names = {a.id: a.name for a in s.albums}
    photos = s.photos.where(
        lambda p: (
            p.trashed == trashed
            and wanted in f"{p.title} {p.place} {names.get(p.album, '')}".casefold()
        )
    )
    return sorted(photos, key=lambda p: (-p.taken_at, p.id))
