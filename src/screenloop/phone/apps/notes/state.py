"""What Notes keeps: notes in folders, items of checklists, how the list is shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from screenloop.phone import kit as k
from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.phone.apps.notes.seed import Colour

SortBy = Literal["edited", "created", "title"]
NoteId = Annotated[str, k.Refers("notes.notes")]
ItemId = Annotated[str, k.Refers("notes.items")]
FolderId = Annotated[str, k.Refers("notes.folders")]


class Note(k.Record, frozen=True, kw_only=True):
    """One note; its checklist, if any, is in the items."""

    title: str
    body: str = ""
    folder: FolderId = ""
    """Empty: in no folder."""
    colour: Colour = "plain"
    pinned: bool = False
    archived: bool = False
    trashed: bool = False
    created_s: int = 0
    edited_s: int = 0
    remind_s: int = 0
    """When it will remind; 0: never."""


class Item(k.Record, frozen=True, kw_only=True):
    """One line of a checklist."""

    note: NoteId
    text: str
    done: bool = False


class Folder(k.Record, frozen=True, kw_only=True):
    """A named group of notes."""

    name: str


def seed_folders(cast: k.Cast) -> Iterable[Folder]:
    """The folders."""
    return (Folder(name=name) for name in notes_seed.FOLDERS)


def seed_notes(cast: k.Cast) -> Iterable[Note]:
    """The notes."""
    rng = cast.rng("notes times")
    for sheet in notes_seed.sheets(cast):
        at_s = cast.at(sheet.days, f"{rng.randrange(8, 21):02d}:{rng.randrange(60):02d}")
        folder = f"folder{notes_seed.FOLDERS.index(sheet.folder) + 1}" if sheet.folder else ""
        yield Note(
            title=sheet.title,
            colour=sheet.colour,
            folder=folder,
            pinned=sheet.pinned,
            body="\n".join(line.strip() for line in sheet.lines.strip().splitlines()),
            archived=sheet.archived,
            trashed=sheet.trashed,
            edited_s=at_s,
            created_s=at_s - rng.randrange(1, 400) * 3600,
        )


def seed_items(cast: k.Cast) -> Iterable[Item]:
    """The lines of the checklists."""
    for number, sheet in enumerate(notes_seed.sheets(cast), start=1):
        for position, text in enumerate(sheet.items):
            yield Item(note=f"note{number}", text=text, done=position < sheet.done)


class State(k.AppState):
    """The notebook."""

    notes = k.Table(Note, prefix="note", seed=seed_notes)
    items = k.Table(Item, prefix="item", seed=seed_items)
    folders = k.Table(Folder, prefix="folder", seed=seed_folders)
    sort: str = "edited"
    grid: bool = True


app = k.App("notes", State, title=("Notes", "笔记"), icon="note", tint="#b7791f")


def open_note(note: str) -> k.Go:
    """Return the move to a note's page."""
    return k.Go(app=app.id, path=f"/n/{note}")


def items_of(s: State, note: str) -> list[Item]:
    """Return a note's checklist, what is open first."""
    return sorted(s.items.where(lambda i: i.note == note), key=lambda i: i.done)


def note_text(s: State, note: Note) -> str:
    """Return a note as plain text, to share or copy."""
    lines = [f"[{'x' if i.done else ' '}] {i.text}" for i in items_of(s, note.id)]
    return "\n".join(part for part in (note.title, note.body, *lines) if part)


def shown_notes(s: State, text: str = "") -> list[Note]:
    """Return the notes that are neither archived nor trashed and hold a text, in the set order."""
    wanted = text.casefold().strip()
    found = s.notes.where(
        lambda n: not n.archived and not n.trashed and wanted in note_text(s, n).casefold()
    )
    return ordered(s, found)


def ordered(s: State, notes: Iterable[Note]) -> list[Note]:
    """Return notes in the set order."""
    if s.sort == "title":
        return sorted(notes, key=lambda n: n.title.casefold())
    return sorted(notes, key=lambda n: -(n.created_s if s.sort == "created" else n.edited_s))
