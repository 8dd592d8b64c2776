"""Tasks over Notes alone that change something: write, tick, sort, remind, throw away."""

from __future__ import annotations

from screenloop.criteria import Check, Text
from screenloop.phone.apps.messages.seed import dollars, spoken
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes.seed import facts
from screenloop.phone.apps.notes.state import State
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed
from screenloop.suites.phone_core.worlds import records
from screenloop.suites.phone_core.worlds.records import day_before, folder_id, lines_of, note_titled

pack = Pack("productivity")

PARTIES = (
    ("Barbecue", ("Charcoal", "Burger buns", "Corn cobs", "Lemonade")),
    ("Movie night", ("Popcorn", "Lemon soda", "Blankets", "Projector cable")),
    ("Balcony garden", ("Potting soil", "Basil seeds", "Watering can", "Gloves")),
    ("First aid refill", ("Plasters", "Gauze", "Tweezers", "Burn gel")),
)
THOUGHTS = (
    ("Podcast idea", "Interview the night baker about the first bread of the day."),
    ("Bike trip", "Follow the river to the old mill and take the ferry back."),
    ("Lamp for the desk", "Warm light, clamp foot, cable of two metres."),
)


# ---- writing -----------------------------------------------------------------------------------


@pack.template("write_down_thought", apps=("notes",))
def write_down_thought(w: WorldView) -> Draft:
    """Write a note in a folder and colour."""
    title, body = w.rng.choice(THOUGHTS)
    folder = w.one_of("Home", "Work", "Travel", "Ideas")
    colour = w.one_of("yellow", "pink", "purple", "green")
    return Draft(
        goal=f'Write this down in a new {colour} note among my {folder} notes, titled "{title}": '
        f'"{body}"',
        params={"title": title, "folder": folder, "colour": colour},
        checks=(
            added(
                "notes.notes",
                "The note says what it should",
                weight=2,
                title=Text(title),
                body=Text(body),
            ),
            added(
                "notes.notes",
                f"It is in the folder {folder}",
                title=Text(title),
                folder=folder_id(w, folder),
            ),
            added("notes.notes", f"It is {colour}", title=Text(title), colour=colour),
        ),
        golden=(
            call(notes.add, title=title, body=body, folder=folder_id(w, folder), colour=colour),
        ),
    )


def _on_list(note: str, text: str, *, done: bool = False) -> Check:
    return added("notes.items", f"{text} is on the list", note=note, text=Text(text), done=done)


@pack.template("start_checklist", apps=("notes",))
def start_checklist(w: WorldView) -> Draft:
    """Make a list of things to tick off."""
    title, things = w.rng.choice(PARTIES)
    return Draft(
        goal=f'Start a list "{title}" where I can tick things off: '
        f"{records.listed(things).lower()}.",
        params={"title": title},
        checks=(
            added("notes.notes", f"There is a list {title}", title=Text(title), body=""),
            *(_on_list(records.new_note_id(w), thing) for thing in things),
        ),
        golden=(call(notes.add, title=title, items="\n".join(things)),),
    )


@pack.template("raise_budget", apps=("notes",))
def raise_budget(w: WorldView) -> Draft:
    """Correct one amount in a note and leave its other words alone."""
    f = facts(w.cast)
    note = note_titled(w, "Project meeting")
    cents = f.meeting_budget_cents + w.rng.randrange(3, 30) * 5000
    body = note.body.replace(dollars(f.meeting_budget_cents), dollars(cents))
    return Draft(
        goal=f"The budget in my notes about the project meeting is out of date. It is "
        f"{dollars(cents)} now. Correct it, all other words stay as they are.",
        params={"note": note.id, "cents": cents},
        checks=(
            changed(
                "notes.notes",
                note.id,
                f"The note says {dollars(cents)}, and else what it said",
                body=Text(body),
            ),
        ),
        golden=(call(notes.edit, note=note.id, title=note.title, body=body),),
    )


@pack.template("remind_on_evening_before", apps=("notes",), was="remind_of_service")
def remind_on_evening_before(w: WorldView) -> Draft:
    """Set a reminder for the evening before a day that the note tells."""
    f = facts(w.cast)
    title, words, day = w.one_of(
        ("Car", "my car goes to the garage", f.service_day),
        ("Flight and hotel", "I fly", f.flight_day),
        ("Project meeting", "the proposal is due", f.meeting_due),
    )
    note = note_titled(w, title)
    clock = w.one_of("18:30", "19:15", "20:45")
    return Draft(
        goal=f"Let the note that says when {words} remind me at {clock} on the evening before.",
        params={"note": note.id, "day": day_before(day), "clock": clock},
        checks=(
            changed(
                "notes.notes",
                note.id,
                f"It reminds on {spoken(day_before(day))} at {clock}",
                weight=2,
                remind_s=records.at_s(day_before(day), clock),
            ),
        ),
        golden=(call(notes.remind, note=note.id, date=day_before(day), time=clock),),
    )


# ---- checklists --------------------------------------------------------------------------------


@pack.template("tick_packed", apps=("notes",))
def tick_packed(w: WorldView) -> Draft:
    """Tick several lines of a list."""
    note = note_titled(w, "Packing list")
    packed = w.sample(lines_of(w, note), 3, lambda line: not line.done)
    return Draft(
        goal=f"My suitcase now holds the {records.listed([line.text.lower() for line in packed])}. "
        "Tick them off.",
        params={"items": [line.id for line in packed]},
        checks=tuple(
            changed("notes.items", line.id, f"{line.text} is ticked", done=True) for line in packed
        ),
        golden=tuple(call(notes.check_item, item=line.id, done=True) for line in packed),
    )


@pack.template("after_the_market", apps=("notes",))
def after_the_market(w: WorldView) -> Draft:
    """Tick, take the ticked lines out, and add new ones."""
    note = note_titled(w, "Groceries")
    lines = lines_of(w, note)
    bought = w.sample(lines, 3, lambda line: not line.done)
    fresh = w.rng.sample(("Lemons, 4 pieces", "Flour, 1 kg", "Honey, 1 jar", "Leeks, 3 pieces"), 2)
    gone = [line for line in lines if line.done] + bought
    names = [line.text.partition(",")[0].lower() for line in bought]
    return Draft(
        goal=f"I have bought the {records.listed(names)}. On my list of groceries, keep only what "
        f'is still to buy, and put these on it: "{fresh[0]}" and "{fresh[1]}".',
        params={"bought": [line.id for line in bought], "fresh": fresh},
        checks=(
            *(
                template.removed("notes.items", f"{line.text} is off the list", id=line.id)
                for line in gone
            ),
            *(_on_list(note.id, text) for text in fresh),
        ),
        golden=(
            *(call(notes.check_item, item=line.id, done=True) for line in bought),
            call(notes.clear_done, note=note.id),
            *(call(notes.add_item, note=note.id, text=text) for text in fresh),
        ),
    )


@pack.template("change_amount_to_buy", apps=("notes",))
def change_amount_to_buy(w: WorldView) -> Draft:
    """Change the words of one line."""
    note = note_titled(w, "Groceries")
    line = w.pick(lines_of(w, note), lambda line: not line.done)
    name = line.text.partition(",")[0]
    text = f"{name}, {w.rng.randrange(5, 10)} packs"
    return Draft(
        goal=f"Guests are coming. The line about {name.lower()} among my groceries should say "
        f'"{text}".',
        params={"item": line.id, "text": text},
        checks=(changed("notes.items", line.id, f"The line says {text}", text=Text(text)),),
        golden=(call(notes.edit_item, item=line.id, text=text),),
    )


@pack.template("pack_again", apps=("notes",))
def pack_again(w: WorldView) -> Draft:
    """Start a list over."""
    note = note_titled(w, "Packing list")
    done = tuple(line.id for line in lines_of(w, note) if line.done)
    return Draft(
        goal="I am packing for another trip. Nothing on my packing list should be ticked any more.",
        params={"note": note.id},
        checks=(changed("notes.items", done, "Nothing is ticked", done=False),),
        golden=(call(notes.untick_all, note=note.id),),
    )


# ---- sorting and throwing away -----------------------------------------------------------------


@pack.template("file_note", apps=("notes",))
def file_note(w: WorldView) -> Draft:
    """Put a note into another folder and give it a colour."""
    title, words = w.one_of(
        ("Gym", "about my locker and my runs"),
        ("Health", "about my tablets or drops"),
        ("Plants and library", "about the ferns and the library"),
        ("Living room window", "with the size of the window"),
    )
    note = note_titled(w, title)
    folder = w.one_of("Work", "Travel", "Ideas")
    colour = w.one_of("orange", "blue", "green")
    return Draft(
        goal=f"Move the note {words} into my {folder} folder and make it {colour}.",
        params={"note": note.id, "folder": folder, "colour": colour},
        checks=(
            changed("notes.notes", note.id, f"It is in {folder}", folder=folder_id(w, folder)),
            changed("notes.notes", note.id, f"It is {colour}", colour=colour),
        ),
        golden=(
            call(notes.move, note=note.id, folder=folder_id(w, folder)),
            call(notes.paint, note=note.id, colour=colour),
        ),
    )


@pack.template("bring_note_back", apps=("notes",))
def bring_note_back(w: WorldView) -> Draft:
    """Get a note out of the trash."""
    speech = f"what I wanted to say to {facts(w.cast).speech_for.name} and friends"
    title, words = w.one_of(
        ("Speech draft", speech),
        ("Gym", "my locker code and my running plan"),
        ("Books to read", "the books that were recommended to me"),
        ("Passport", "the number of my passport"),
        ("Health", "when I take my medicine"),
    )
    note = note_titled(w, title)
    return Draft(
        goal=f"By mistake I have deleted the note with {words}. Get it back.",
        params={"note": note.id},
        patches=(template.set_row("notes.notes", note.id, trashed=True),),
        checks=(changed("notes.notes", note.id, f"The note with {words} is back", trashed=False),),
        golden=(call(notes.restore, note=note.id),),
    )


@pack.template("throw_notes_away", apps=("notes",))
def throw_notes_away(w: WorldView) -> Draft:
    """Delete one note beyond recovery, together with what was in the trash before."""
    title, words = w.one_of(
        ("Gym", "I have left the gym"),
        ("Car", "I have sold my car"),
        ("Guest Wi-Fi", "We no longer have a network for guests"),
        ("Living room window", "The blinds for the living room are up"),
    )
    note = note_titled(w, title)
    trashed = w.state(State).notes.where(lambda n: n.trashed)
    lines = w.state(State).items.where(lambda line: line.note in {n.id for n in trashed})
    return Draft(
        goal=f"{words}. Delete my note about that, and see to it that no deleted note can be "
        "brought back.",
        params={"note": note.id},
        checks=(
            template.removed("notes.notes", "The note is gone for good", weight=2, id=note.id),
            template.removed(
                "notes.notes",
                "So are those that were thrown away before",
                count=len(trashed),
                trashed=True,
            ),
            template.removed(
                "notes.items", "So are their lines", weight=0, count=len(lines), note=trashed[-1].id
            ),
        ),
        golden=(call(notes.trash, note=note.id), call(notes.empty_trash)),
    )


@pack.template("put_trip_notes_away", apps=("notes",))
def put_trip_notes_away(w: WorldView) -> Draft:
    """Archive all notes of a folder, and pin another one."""
    folder = folder_id(w, "Travel")
    travel = [n.id for n in w.state(State).notes if n.folder == folder]
    kept = note_titled(w, w.one_of("Health", "Gym", "Car", "Team offsite"))
    return Draft(
        goal="I am back from my travels. Put every note in the Travel folder into the archive, "
        f'and have "{kept.title}" always at the top instead.',
        params={"archived": travel, "pinned": kept.id},
        checks=(
            *(
                changed(
                    "notes.notes",
                    note,
                    f"{w.state(State).notes[note].title} is archived",
                    archived=True,
                )
                for note in travel
            ),
            changed("notes.notes", kept.id, f"{kept.title} is at the top", pinned=True),
        ),
        golden=(
            *(call(notes.archive, note=note, on=True) for note in travel),
            call(notes.pin, note=kept.id, on=True),
        ),
    )


@pack.template("recipe_folder", apps=("notes",))
def recipe_folder(w: WorldView) -> Draft:
    """Make a folder and put notes into it."""
    f = facts(w.cast)
    name = w.one_of("Recipes", "Kitchen", "Cooking")
    moved = (note_titled(w, f.recipe), note_titled(w, "Groceries"))
    ids = tuple(note.id for note in moved)
    return Draft(
        goal=f'Make a new folder "{name}" for my notes, and move the recipe and the groceries '
        "into it.",
        params={"name": name, "notes": list(ids)},
        checks=(
            added("notes.folders", f"There is a folder {name}", name=Text(name)),
            changed(
                "notes.notes", ids, "Recipe and groceries are in it", weight=2, folder="folder5"
            ),
            template.counted("notes.notes", "Nothing else is in it", 2, weight=0, folder="folder5"),
        ),
        golden=(
            call(notes.add_folder, name=name),
            *(call(notes.move, note=note, folder="folder5") for note in ids),
        ),
    )
