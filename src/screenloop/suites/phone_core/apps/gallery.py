"""Tasks over Gallery alone: photos, albums and files."""

from __future__ import annotations

from typing import Any

from screenloop.actions import Answer
from screenloop.criteria import Added, AnswerIs, Changed, Check, Date, Number, Text
from screenloop.phone.apps.gallery import actions as gallery
from screenloop.phone.apps.gallery.seed import Photo
from screenloop.phone.apps.gallery.state import State, found
from screenloop.phone.apps.messages.seed import spoken
from screenloop.phone.declare.cast import CITIES
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look
from screenloop.suites.phone_core.worlds.money import day_of
from screenloop.suites.phone_core.worlds.records import listed

pack = Pack("media")

FAMILY, GARDEN = "album4", "album5"
FACES = ("Me at last", "First day at the office", "New haircut", "After the race")
ALBUM_NAMES = ("Best of winter", "For the calendar", "Living room wall", "Grandma's frame")
FILE_NAMES = {
    "Flight ticket": "Flight to Mirador",
    "Hotel booking": "Hotel voucher",
    "Quarterly report": "Report first quarter",
    "Meeting minutes": "Minutes of the board",
    "Tax summary": "Tax 2025",
    "User manual": "Manual of the washing machine",
}
"""What a file may be called better."""


# ---- records -------------------------------------------------------------------------------


def shown_photos(w: WorldView) -> list[Photo]:
    """Return the photos that are not in the trash, newest first."""
    return found(w.state(State), "")


def _photo(photo: Photo, says: str, *, weight: float = 1.0, **to: Text | str | bool) -> Check:
    return Changed(
        app="gallery", table="photos", ids=(photo.id,), to=dict(to), weight=weight, says=says
    )


# ---- photos ----------------------------------------------------------------------------------


@pack.template("star_photo", apps=("gallery",))
def star_photo(w: WorldView) -> Draft:
    """Make a photo a favourite, told by its title."""
    photo = w.pick(shown_photos(w), lambda p: not p.favourite)
    return Draft(
        goal=f'The picture "{photo.title}" came out so well. Make it one of my favourites.',
        params={"photo": photo.id},
        checks=(_photo(photo, f"{photo.title} is a favourite", favourite=True),),
        golden=(call(gallery.favourite, photo=photo.id, on=True),),
    )


@pack.template("throw_photo_away", apps=("gallery",))
def throw_photo_away(w: WorldView) -> Draft:
    """Delete a photo so that it could still be brought back."""
    photo = w.pick(shown_photos(w), lambda p: not p.favourite)
    return Draft(
        goal=f'I do not need the picture "{photo.title}" any more. Delete it, but so that I could '
        "still get it back.",
        params={"photo": photo.id},
        checks=(_photo(photo, f"{photo.title} is in the trash", trashed=True),),
        golden=(call(gallery.trash, photo=photo.id),),
    )


@pack.template("rescue_photo", apps=("gallery",))
def rescue_photo(w: WorldView) -> Draft:
    """Bring a deleted photo back and put it where it belongs."""
    s = w.state(State)
    photo = w.pick(s.photos, lambda p: p.trashed)
    album = w.pick(s.albums, lambda a: a.id != photo.album)
    return Draft(
        goal=f'I threw "{photo.title}" away by mistake. Get that picture back, and let it be in '
        f"the album {album.name} from now on.",
        params={"photo": photo.id, "album": album.id},
        checks=(
            _photo(photo, f"{photo.title} is back", trashed=False),
            _photo(photo, f"It is in {album.name}", album=album.id),
        ),
        golden=(
            call(gallery.restore, photo=photo.id),
            call(gallery.move, photo=photo.id, album=album.id),
        ),
    )


@pack.template("correct_photo_details", apps=("gallery",))
def correct_photo_details(w: WorldView) -> Draft:
    """Give a photo another title and place."""
    photo = w.pick(shown_photos(w), lambda p: bool(p.place))
    place = w.rng.choice([city for city in CITIES if city != photo.place])
    title = f"{photo.title} {w.rng.randrange(2019, 2026)}"
    return Draft(
        goal=f'"{photo.title}" is a photo I took in {place}, not in {photo.place}. Correct that, '
        f'and call it "{title}".',
        params={"photo": photo.id, "title": title, "place": place},
        checks=(
            _photo(photo, f"It was taken in {place}", place=Text(place)),
            _photo(photo, f"It is called {title}", title=Text(title)),
        ),
        golden=(call(gallery.edit, photo=photo.id, title=title, place=place),),
    )


@pack.template("oldest_of_album", apps=("gallery",))
def oldest_of_album(w: WorldView) -> Draft:
    """Find the first photo of an album, and give it a title and a star."""
    s = w.state(State)
    album = w.pick(s.albums, lambda a: a.id != "album2")
    photo = [p for p in shown_photos(w) if p.album == album.id][-1]
    title = w.one_of("Where it began", "The very first", "How it all started")
    checks = [
        _photo(photo, f"The oldest photo of {album.name} is called {title}", title=Text(title))
    ]
    golden = [call(gallery.edit, photo=photo.id, title=title, place=photo.place)]
    if not photo.favourite:
        checks.append(_photo(photo, "It is a favourite", favourite=True))
        golden.append(call(gallery.favourite, photo=photo.id, on=True))
    return Draft(
        goal=f'Name the oldest picture of my {album.name} album "{title}", and see to it that it '
        "is among my favourites.",
        params={"photo": photo.id, "album": album.id, "title": title},
        checks=tuple(checks),
        golden=(look(gallery.album_photos, album=album.id), *golden),
    )


@pack.template("collect_in_new_album", apps=("gallery",))
def collect_in_new_album(w: WorldView) -> Draft:
    """Make an album and fill it."""
    name = w.rng.choice(ALBUM_NAMES)
    photos = w.sample(shown_photos(w), 3)
    album = f"album{len(w.state(State).albums) + 1}"
    titles = listed([f'"{photo.title}"' for photo in photos])
    return Draft(
        goal=f'I need a new album "{name}" with three pictures in it: {titles}.',
        params={"name": name, "photos": [photo.id for photo in photos]},
        checks=(
            added("gallery.albums", f"There is an album {name}", name=Text(name)),
            *(_photo(photo, f"{photo.title} is in it", album=album) for photo in photos),
        ),
        golden=(
            call(gallery.add_album, name=name),
            *(call(gallery.move, photo=photo.id, album=album) for photo in photos),
        ),
    )


@pack.template("dissolve_album", apps=("gallery",))
def dissolve_album(w: WorldView) -> Draft:
    """Keep a few photos of an album in another one, and give the album up."""
    album, target = w.one_of(("album3", FAMILY), ("album5", FAMILY), ("album4", GARDEN))
    s = w.state(State)
    inside = s.photos.where(lambda p: p.album == album)
    kept = w.sample(inside, 2, lambda p: not p.trashed)
    name, other = (s.albums[row].name for row in (album, target))
    titles = listed([f'"{photo.title}"' for photo in kept])
    rest = tuple(photo.id for photo in inside if photo not in kept)
    return Draft(
        goal=f"I no longer want an album {name}. Put {titles} into {other} first, then delete the "
        "album. The pictures left in it may go wherever they go by themselves.",
        params={"album": album, "kept": [photo.id for photo in kept]},
        checks=(
            template.removed("gallery.albums", f"{name} is gone", id=album),
            *(_photo(photo, f"{photo.title} is in {other}", album=target) for photo in kept),
            changed(
                "gallery.photos",
                rest,
                "The other pictures are still there",
                weight=0,
                album="album1",
            ),
        ),
        golden=(
            *(call(gallery.move, photo=photo.id, album=target) for photo in kept),
            call(gallery.delete_album, album=album),
        ),
    )


@pack.template("delete_for_good", apps=("gallery",))
def delete_for_good(w: WorldView) -> Draft:
    """Get rid of a photo and of what was thrown away before."""
    photo = w.pick(shown_photos(w), lambda p: not p.favourite)
    gone = w.state(State).photos.where(lambda p: p.trashed)
    return Draft(
        goal=f'Nobody must ever see "{photo.title}" again, nor the pictures that I have thrown '
        "away before: none of them can be brought back.",
        params={"photo": photo.id},
        checks=(
            template.removed(
                "gallery.photos", f"{photo.title} is gone for good", weight=2, id=photo.id
            ),
            template.removed(
                "gallery.photos", "So are the pictures of the trash", count=len(gone), trashed=True
            ),
        ),
        golden=(call(gallery.trash, photo=photo.id), call(gallery.empty_trash)),
    )


@pack.template("selfie_into_album", apps=("gallery",), was="selfie_for_family")
def selfie_into_album(w: WorldView) -> Draft:
    """Take a picture of oneself, name it, and sort it."""
    s = w.state(State)
    title = w.rng.choice(FACES)
    place = w.rng.choice(CITIES)
    album = w.pick(s.albums, lambda a: a.id not in ("album1", "album2"))
    photo = f"photo{len(s.photos) + 1}"
    taken: dict[str, Any] = {"kind": "portrait", "trashed": False}
    called: dict[str, Any] = {"title": Text(title), "place": Text(place)}
    return Draft(
        goal=f'Take a selfie right now. It should be called "{title}" with {place} as its place, '
        f"and be kept in the album {album.name}.",
        params={"title": title, "place": place, "album": album.id},
        checks=(
            Added(app="gallery", table="photos", where=taken, says="A selfie was taken"),
            added(
                "gallery.photos",
                f"It is called {title} and was taken in {place}",
                **taken,
                **called,
            ),
            added("gallery.photos", f"It is in {album.name}", **taken, album=album.id),
        ),
        golden=(
            call(gallery.take, camera="front"),
            call(gallery.edit, photo=photo, title=title, place=place),
            call(gallery.move, photo=photo, album=album.id),
        ),
    )


# ---- files ---------------------------------------------------------------------------------


@pack.template("tidy_files", apps=("gallery",))
def tidy_files(w: WorldView) -> Draft:
    """Rename, move and delete files."""
    s = w.state(State)
    renamed = w.pick(s.files, lambda f: f.name in FILE_NAMES)
    moved, deleted = w.sample(s.files, 2, lambda f: f.id != renamed.id)
    folder = w.pick(s.folders, lambda f: f.id != moved.folder)
    name = FILE_NAMES[renamed.name]
    return Draft(
        goal=f'Three things about the documents on my phone: "{renamed.name}" should be called '
        f'"{name}", "{moved.name}" belongs to {folder.name}, and "{deleted.name}" can be deleted.',
        params={"renamed": renamed.id, "moved": moved.id, "deleted": deleted.id},
        allowed=("gallery.files.modified_at",),
        checks=(
            changed(
                "gallery.files", renamed.id, f"{renamed.name} is called {name}", name=Text(name)
            ),
            changed(
                "gallery.files", moved.id, f"{moved.name} is in {folder.name}", folder=folder.id
            ),
            template.removed("gallery.files", f"{deleted.name} is gone", id=deleted.id),
        ),
        golden=(
            call(gallery.rename_file, file=renamed.id, name=name),
            call(gallery.move_file, file=moved.id, folder=folder.id),
            call(gallery.delete_file, file=deleted.id),
        ),
    )


@pack.template("largest_document", apps=("gallery",))
def largest_document(w: WorldView) -> Draft:
    """Compare the sizes of all files; one is larger by more than rounding hides."""
    s = w.state(State)
    file = w.pick(s.files)
    size_kb = max(f.size_kb for f in s.files) + w.rng.randrange(400, 2000)
    return Draft(
        goal="Which document on my phone takes the most space? Tell me just its name.",
        params={"file": file.id},
        patches=(template.set_row("gallery.files", file.id, size_kb=size_kb),),
        checks=(AnswerIs(to=Text(file.name), says="The largest document"),),
        golden=(
            *(look(gallery.folder_files, folder=folder.id) for folder in s.folders),
            Answer(text=file.name),
        ),
    )


# ---- questions -----------------------------------------------------------------------------


@pack.template("photos_taken_in", apps=("gallery",))
def photos_taken_in(w: WorldView) -> Draft:
    """Count the photos of a place."""
    place = w.rng.choice(CITIES)
    count = len(found(w.state(State), place))
    return Draft(
        goal=f"How many of my photos were taken in {place}? Those that I threw away do not count.",
        params={"place": place},
        checks=(AnswerIs(to=Number(value=count), says=f"The number of photos of {place}"),),
        golden=(look(gallery.search, text=place), Answer(text=str(count))),
    )


@pack.template("when_and_where_taken", apps=("gallery",))
def when_and_where_taken(w: WorldView) -> Draft:
    """Tell the day and the place of a photo."""
    photos = shown_photos(w)
    photo = w.pick(photos, lambda p: bool(p.place))
    day = day_of(w, photo.taken_at)
    others = tuple(sorted({p.place for p in photos if p.place} - {photo.place}))
    return Draft(
        goal=f'On which day, and in which town, did I take the picture "{photo.title}"?',
        params={"photo": photo.id},
        checks=(
            AnswerIs(to=Date(day), weight=2, says="The day in the answer is right"),
            AnswerIs(
                to=Text(photo.place, mode="contains", others=others), says="The town is right"
            ),
        ),
        golden=(look(gallery.get, photo=photo.id), Answer(text=f"{spoken(day)}, {photo.place}")),
    )


@pack.template("unstar_all_but_one", apps=("gallery",))
def unstar_all_but_one(w: WorldView) -> Draft:
    """Have one favourite left, told by when it was taken."""
    starred = [photo for photo in shown_photos(w) if photo.favourite]
    kept, *others = starred
    ids = tuple(photo.id for photo in others)
    return Draft(
        goal="Of my favourite pictures only the most recent one should stay a favourite.",
        params={"kept": kept.id},
        checks=(
            changed(
                "gallery.photos", ids, "The older ones are no favourites", weight=2, favourite=False
            ),
            template.counted("gallery.photos", "One favourite is left", 1, favourite=True),
        ),
        golden=tuple(call(gallery.favourite, photo=photo, on=False) for photo in ids),
    )
