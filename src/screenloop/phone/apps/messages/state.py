"""What Messages keeps: conversations by phone number, their messages, and what waits to be sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from screenloop.phone import kit as k
from screenloop.phone.apps.contacts import pages as contacts
from screenloop.phone.apps.messages import seed as messages_seed

ThreadId = Annotated[str, k.Refers("messages.threads")]
MessageId = Annotated[str, k.Refers("messages.messages")]
ScheduledId = Annotated[str, k.Refers("messages.scheduled")]
PHONE_DIGITS = 7
"""A sender with fewer digits is a service and takes no replies."""


class Thread(k.Record, frozen=True, kw_only=True):
    """A conversation with one number or service."""

    phone: str
    unread: int = 0
    pinned: bool = False
    muted: bool = False
    archived: bool = False
    answered: int = 0
    """How many of the other side's prepared answers were used."""


class Message(k.Record, frozen=True, kw_only=True):
    """One text, with a picture or without."""

    thread: ThreadId
    mine: bool
    text: str
    at_s: int
    photo: str = ""
    """Id of the gallery photo that was sent; kind and seed outlive it."""
    picture_kind: str = ""
    picture_seed: int = 0
    starred: bool = False


class Scheduled(k.Record, frozen=True, kw_only=True):
    """A text that will be sent later."""

    phone: str
    text: str
    at_s: int


def seed_threads(cast: k.Cast) -> Iterable[Thread]:
    """The conversations of the scripts."""
    for script in messages_seed.scripts(cast):
        yield Thread(
            phone=script.phone,
            unread=script.unread,
            pinned=script.pinned,
            muted=script.muted,
            archived=script.archived,
        )


def seed_messages(cast: k.Cast) -> Iterable[Message]:
    """The lines of the scripts."""
    for number, script in enumerate(messages_seed.scripts(cast), start=1):
        for line in script.lines.strip().splitlines():
            days, clock, side, text = line.split(maxsplit=3)
            yield Message(
                thread=f"thread{number}",
                mine=side == ">",
                text=text,
                at_s=cast.at(int(days), clock),
            )


class State(k.AppState):
    """Conversations, their messages, and what waits to be sent."""

    threads = k.Table(Thread, prefix="thread", seed=seed_threads)
    messages = k.Table(Message, prefix="message", seed=seed_messages)
    scheduled = k.Table(Scheduled, prefix="scheduled")
    answers = k.Catalog(messages_seed.Answer, prefix="answer", seed=messages_seed.answers)
    previews: bool = True


app = k.App("messages", State, title=("Messages", "短信"), icon="message", tint="#0f8a6d")


# ---- numbers and names -----------------------------------------------------------------------


def _digits(phone: str) -> str:
    return "".join(c for c in phone if c.isdigit())


def is_number(phone: str) -> bool:
    """Whether it can be written to: a full phone number, not a service."""
    return len(_digits(phone)) >= PHONE_DIGITS


def same_number(one: str, other: str) -> bool:
    """Whether two senders are one, however their digits are grouped."""
    if is_number(one) and is_number(other):
        return _digits(one) == _digits(other)
    return one.strip().casefold() == other.strip().casefold()


def person_of(book: contacts.State, phone: str) -> contacts.Person | None:
    """Return the contact with a number, or `None`."""
    return book.people.first(lambda p: same_number(p.phone, phone))


def name_of(book: contacts.State, phone: str) -> str:
    """Return who a number belongs to, else the number."""
    person = person_of(book, phone)
    return person.name if person else phone


def thread_of(s: State, phone: str) -> Thread | None:
    """Return the conversation with a number, or `None`."""
    return s.threads.first(lambda t: same_number(t.phone, phone))


def messages_of(s: State, thread: str) -> list[Message]:
    """Return a conversation, the oldest message first."""
    return sorted(s.messages.where(lambda m: m.thread == thread), key=lambda m: m.at_s)


def open_thread(thread: str) -> k.Go:
    """Return the move to a conversation's page."""
    return k.Go(app=app.id, path=f"/t/{thread}")


def found_messages(s: State, text: str) -> list[Message]:
    """Return the messages that hold a text, the latest first."""
    wanted = text.casefold().strip()
    found = s.messages.where(lambda m: wanted in m.text.casefold())
    return sorted(found, key=lambda m: -m.at_s)


def found_people(book: contacts.State, text: str) -> list[contacts.Person]:
    """Return the contacts that hold a text in name or number, by name."""
    wanted = text.casefold().strip()
    found = book.people.where(lambda p: wanted in f"{p.name} {p.phone}".casefold())
    return sorted(found, key=lambda p: p.name)
