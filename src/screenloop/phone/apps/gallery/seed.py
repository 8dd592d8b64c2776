"""What the gallery keeps, photos, albums, folders and files, and what a new phone has of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec

from screenloop.phone import kit as k

AlbumId = Annotated[str, k.Refers("gallery.albums")]
FolderId = Annotated[str, k.Refers("gallery.folders")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
FileKind = Literal["pdf", "doc", "sheet", "text", "zip"]
FILE_TINTS: dict[FileKind, str] = {
    "pdf": "#d92d20",
    "doc": "#2563eb",
    "sheet": "#12805c",
    "text": "#676d76",
    "zip": "#b45309",
}
CAMERA, SCREENSHOTS = "album1", "album2"
OWN_ALBUMS = (CAMERA, SCREENSHOTS)
"""Albums that belong to the phone: neither renamed nor deleted."""


class Photo(k.Record, frozen=True, kw_only=True):
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


class Album(k.Record, frozen=True, kw_only=True):
    """A named set of photos; each photo is in one."""

    name: str


class Folder(k.Record, frozen=True, kw_only=True):
    """A place for files."""

    name: str


class File(k.Record, frozen=True, kw_only=True):
    """A document."""

    name: str
    folder: FolderId
    kind: FileKind
    size_kb: int
    modified_at: int


TITLES = msgspec.convert(k.read_data(__package__)["titles"], dict[str, str])
ALBUM_OF: dict[str, str] = {
    "sea": "album3",
    "mountains": "album3",
    "desert": "album3",
    "city": CAMERA,
    "forest": CAMERA,
    "food": CAMERA,
    "pet": "album4",
    "portrait": "album4",
    "document": SCREENSHOTS,
    "flower": "album5",
}
FILES = msgspec.convert(k.read_data(__package__)["files"], tuple[tuple[str, str, FileKind], ...])


def seed_photos(cast: k.Cast) -> Iterable[Photo]:
    """About four dozen photos of the last ten weeks, a few starred, three in the trash."""
    rng = cast.rng("gallery")
    entries = [(kind, title) for kind, names in TITLES.items() for title in names.split(",")]
    rng.shuffle(entries)
    starred = set(rng.sample(range(3, len(entries)), 7))
    gone = set(rng.sample([n for n in range(3, len(entries)) if n not in starred], 3))
    day = 0
    for number, (kind, title) in enumerate(entries):
        day -= rng.choice((0, 0, 0, 0, 1, 4, 7)) if number else 1
        clock = f"{rng.randrange(8, 21):02d}:{rng.randrange(60):02d}"
        yield Photo(
            title=title,
            kind=kind,
            seed=rng.randrange(10_000),
            album=ALBUM_OF[kind],
            taken_at=cast.at(day, clock),
            size_kb=rng.randrange(600, 5200),
            place="" if kind == "document" else rng.choice(k.CITIES),
            favourite=number in starred,
            trashed=number in gone,
        )


def seed_albums(cast: k.Cast) -> Iterable[Album]:
    """The phone's two albums and three of the user's."""
    return [Album(name=n) for n in ("Camera", "Screenshots", "Trips", "Family", "Garden")]


def seed_folders(cast: k.Cast) -> Iterable[Folder]:
    """Four folders."""
    return [Folder(name=n) for n in ("Travel", "Work", "Invoices", "Downloads")]


def seed_files(cast: k.Cast) -> Iterable[File]:
    """Documents of the last four months."""
    rng = cast.rng("files")
    for name, folder, kind in FILES:
        when = cast.at(-rng.randrange(1, 120), f"{rng.randrange(8, 19):02d}:15")
        size_kb = rng.randrange(12, 9000)
        yield File(name=name, folder=folder, kind=kind, size_kb=size_kb, modified_at=when)
