"""What the gallery keeps: the roll, its albums, and the phone's files; what a search finds."""

from __future__ import annotations

from typing import Annotated

from screenloop.phone import kit as k
from screenloop.phone.apps.gallery import seed

PhotoId = Annotated[str, k.Refers("gallery.photos")]
FileId = Annotated[str, k.Refers("gallery.files")]


class State(k.AppState):
    """The roll, its albums, and the documents."""

    photos = k.Table(seed.Photo, prefix="photo", seed=seed.seed_photos)
    albums = k.Table(seed.Album, prefix="album", seed=seed.seed_albums)
    folders = k.Table(seed.Folder, prefix="folder", seed=seed.seed_folders)
    files = k.Table(seed.File, prefix="file", seed=seed.seed_files)


app = k.App("gallery", State, title=("Gallery", "相册"), icon="image", tint="#be185d")


def at(path: str) -> k.Go:
    """Return the move to a page by its path."""
    return k.Go(app="gallery", path=path)


def found(s: State, text: str, *, trashed: bool = False) -> list[seed.Photo]:
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
