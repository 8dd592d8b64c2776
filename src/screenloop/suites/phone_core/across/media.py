"""Tasks that need the gallery and another app."""

from __future__ import annotations

from screenloop.criteria import Text
from screenloop.phone.apps.calendar import actions as calendar
from screenloop.phone.apps.gallery import actions as gallery
from screenloop.phone.apps.gallery.state import State, found
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import facts, spoken
from screenloop.phone.apps.notes import actions as notes
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, look
from screenloop.suites.phone_core.worlds import records

pack = Pack("media")

CAPTIONS = ("Look what I found!", "Remember this one?", "For your wall.", "My best one so far.")
LATEST = 9
"""Pictures that one sees first when choosing one to send."""


@pack.template("text_photo_place", apps=("gallery", "messages"))
def text_photo_place(w: WorldView) -> Draft:
    """Text somebody where a photo was taken."""
    person = w.pick(records.without_chat(w))
    photo = w.pick(found(w.state(State), ""), lambda p: bool(p.place))
    return Draft(
        goal=f'{person.name} likes my picture "{photo.title}" and wonders in which town I took it. '
        "Text just the name of the town.",
        params={"person": person.id, "photo": photo.id},
        checks=records.texted(
            w, person.phone, Text(photo.place), says=f"{person.name} knows the town"
        ),
        golden=(
            look(gallery.get, photo=photo.id),
            call(messages.start, phone=person.phone, text=photo.place),
        ),
    )


@pack.template("send_photo", apps=("gallery", "messages"))
def send_photo(w: WorldView) -> Draft:
    """Send somebody one of the latest pictures with some words."""
    f = facts(w.cast)
    person = w.one_of(f.flat, f.clinic, f.trip, f.debt, f.club, f.party)
    thread = records.chat_with(w, person.phone)
    photo = w.pick(found(w.state(State), "")[:LATEST])
    text = w.rng.choice(CAPTIONS)
    return Draft(
        goal=f'Send {person.name} my picture "{photo.title}" together with the words "{text}"',
        params={"thread": thread.id, "photo": photo.id},
        patches=records.quiet(thread),
        checks=(
            added(
                "messages.messages",
                f"{person.name} got the picture",
                weight=2,
                thread=thread.id,
                mine=True,
                photo=photo.id,
            ),
            added(
                "messages.messages",
                "The words are right",
                thread=thread.id,
                mine=True,
                text=Text(text),
            ),
        ),
        golden=(call(messages.send, thread=thread.id, text=text, photo=photo.id),),
    )


@pack.template("return_to_photo_place", apps=("gallery", "calendar"))
def return_to_photo_place(w: WorldView) -> Draft:
    """Plan a day at the place of a photo."""
    photo = w.pick(found(w.state(State), ""), lambda p: bool(p.place))
    title = w.one_of("Day trip", "Photo walk", "Picnic")
    day = w.cast.day(w.rng.randrange(12, 28))
    return Draft(
        goal=f'I want to go back to the town where I took "{photo.title}". Plan that as "{title}" '
        f"for the whole of {spoken(day)}, with the town as the place.",
        params={"photo": photo.id, "title": title, "day": day},
        checks=(
            added(
                "calendar.events",
                f"{title} is planned for {day}",
                title=Text(title),
                date=day,
                all_day=True,
            ),
            added(
                "calendar.events",
                f"It takes place in {photo.place}",
                title=Text(title),
                location=Text(photo.place),
            ),
        ),
        golden=(
            look(gallery.get, photo=photo.id),
            call(calendar.add, title=title, date=day, all_day=True, location=photo.place),
        ),
    )


@pack.template("list_of_documents", apps=("gallery", "notes"))
def list_of_documents(w: WorldView) -> Draft:
    """Make a list of the files in a folder."""
    s = w.state(State)
    folder = w.pick(s.folders)
    names = sorted(f.name for f in s.files if f.folder == folder.id)
    title = w.one_of("To print", "Papers to check", "To sign")
    note = records.new_note_id(w)
    return Draft(
        goal=f"I have to go through all documents in the folder {folder.name} on my phone. Start a "
        f'list "{title}" with one line for each, which I can tick off.',
        params={"folder": folder.id, "title": title},
        checks=(
            added("notes.notes", f"There is a list {title}", title=Text(title)),
            *(
                added("notes.items", f"{name} is on it", note=note, text=Text(name), done=False)
                for name in names
            ),
        ),
        golden=(
            look(gallery.folder_files, folder=folder.id),
            call(notes.add, title=title, items="\n".join(names)),
        ),
    )
