"""Conversations and notes of a world that templates start from, and checks that many share."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from screenloop.criteria import Check, Expected, Text
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages.state import State as Chats
from screenloop.phone.apps.messages.state import Thread, messages_of, thread_of
from screenloop.phone.apps.notes.state import Item, Note, items_of
from screenloop.phone.apps.notes.state import State as Notes
from screenloop.suites.phone_core.template import WorldView, added, set_row

PREPARED_ANSWERS = 2
"""Answers that a world holds for each person who is in a conversation."""


# ---- Messages ----------------------------------------------------------------------------------


def chat_with(w: WorldView, phone: str) -> Thread:
    """Return the conversation with a number or service; every world has those of its facts."""
    found = thread_of(w.state(Chats), phone)
    if found is None:
        raise ValueError(f"the world has no conversation with {phone}")
    return found


def message_in(w: WorldView, phone: str, words: str) -> str:
    """Return the id of the one message in a conversation that holds the words."""
    (found,) = [m for m in messages_of(w.state(Chats), chat_with(w, phone).id) if words in m.text]
    return found.id


def without_chat(w: WorldView) -> list[contacts.Person]:
    """Return the contacts who never wrote; nobody of them answers a message."""
    chats = w.state(Chats)
    return [p for p in w.state(contacts.State).people if thread_of(chats, p.phone) is None]


def quiet(*threads: Thread) -> tuple[dict[str, Any], ...]:
    """Return patches after which nobody in the conversations answers of their own accord.

    An answer that may or may not have come in would be a side effect that depends on the pace.
    """
    return tuple(
        set_row("messages.threads", thread.id, answered=PREPARED_ANSWERS) for thread in threads
    )


def texted(
    w: WorldView, phone: str, *texts: Expected, says: str, weight: float = 1.0
) -> tuple[Check, ...]:
    """Return checks that one message went to a number, whose text matches each of `texts`."""
    thread = thread_of(w.state(Chats), phone)
    chat = thread.id if thread else f"thread{len(w.state(Chats).threads) + 1}"
    sent = tuple(
        added("messages.messages", says, weight=weight, thread=chat, mine=True, text=text, photo="")
        for text in texts
    )
    if thread is not None:
        return sent
    opened = added(
        "messages.threads",
        "The only new conversation is with that number",
        weight=0,
        phone=Text(phone, mode="digits"),
    )
    return (*sent, opened)


# ---- Notes -------------------------------------------------------------------------------------


def note_titled(w: WorldView, title: str) -> Note:
    """Return the note with a title."""
    (found,) = w.state(Notes).notes.where(lambda n: n.title == title)
    return found


def lines_of(w: WorldView, note: Note) -> list[Item]:
    """Return the checklist of a note, what is open first."""
    return items_of(w.state(Notes), note.id)


def new_note_id(w: WorldView) -> str:
    """Return the id that the next note gets."""
    return f"note{len(w.state(Notes).notes) + 1}"


def folder_id(w: WorldView, name: str) -> str:
    """Return the id of a folder."""
    (found,) = w.state(Notes).folders.where(lambda f: f.name == name)
    return found.id


def at_s(day: str, clock: str) -> int:
    """Return the epoch second of an ISO date and `HH:MM`."""
    return int(datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC).timestamp())


def day_before(day: str) -> str:
    """Return the ISO date one day earlier."""
    return date.fromordinal(date.fromisoformat(day).toordinal() - 1).isoformat()


def first_name(name: str) -> str:
    """Return what friends say; first names are unique in a world."""
    return name.split()[0]


def listed(words: Iterable[str]) -> str:
    """Return `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
