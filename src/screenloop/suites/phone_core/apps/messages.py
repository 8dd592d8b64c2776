"""Tasks over Messages alone that change something: write, forward, schedule, sort, delete."""

from __future__ import annotations

from screenloop.actions import Answer, Wait
from screenloop.criteria import AnswerIs, Date, Number, Text, Time
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import BANK, DENTIST, SHOP, facts, spoken
from screenloop.phone.apps.messages.state import State, messages_of
from screenloop.phone.declare.cast import Member
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, call, changed, removed
from screenloop.suites.phone_core.worlds import records
from screenloop.suites.phone_core.worlds.records import chat_with, first_name, texted, without_chat

pack = Pack("communication")

GREETINGS = (
    "I will be ten minutes late, sorry.",
    "Thank you for yesterday, it was lovely!",
    "Are you free on Saturday afternoon?",
    "The parcel for you is at my place.",
    "Good luck with the exam tomorrow!",
)
REPLIES = (
    "That works for me.",
    "Sorry, I cannot make it.",
    "Count me in, see you there.",
    "I will let you know tonight.",
)
REMINDERS = (
    "Please water the plants today.",
    "Happy birthday, have a great day!",
    "The bins go out tonight.",
    "Do not forget the passports.",
)


# ---- writing -----------------------------------------------------------------------------------


@pack.template("text_someone_new", apps=("messages",))
def text_someone_new(w: WorldView) -> Draft:
    """Write to a contact for the first time."""
    person = w.pick(without_chat(w))
    text = w.rng.choice(GREETINGS)
    return Draft(
        goal=f'Text {person.name}: "{text}"',
        params={"person": person.id, "text": text},
        checks=texted(w, person.phone, Text(text), says=f"{person.name} got the text"),
        golden=(call(messages.start, phone=person.phone, text=text),),
    )


@pack.template("reply_to_friend", apps=("messages",))
def reply_to_friend(w: WorldView) -> Draft:
    """Answer in a conversation, told by what it is about."""
    f = facts(w.cast)
    topics: tuple[tuple[Member, str], ...] = (
        (f.dinner, f"the friend who booked a table at {f.dinner_place}"),
        (f.buyer, f"the stranger who asks about {f.buyer_item}"),
        (f.plumber, "the plumber"),
        (f.review, "the colleague who moved our design review"),
    )
    person, words = w.rng.choice(topics)
    thread = chat_with(w, person.phone)
    text = w.rng.choice(REPLIES)
    return Draft(
        goal=f'Reply to {words}: "{text}"',
        params={"thread": thread.id, "text": text},
        patches=records.quiet(thread),
        checks=texted(w, person.phone, Text(text), says="The reply went to the right person"),
        golden=(call(messages.send, thread=thread.id, text=text),),
    )


@pack.template("forward_party_address", apps=("messages",))
def forward_party_address(w: WorldView) -> Draft:
    """Pass somebody's message on as it is."""
    f = facts(w.cast)
    person = w.pick(without_chat(w))
    message = records.message_in(w, f.party.phone, f.party_address)
    text = w.state(State).messages[message].text
    return Draft(
        goal=f"{person.name} is invited to the surprise party, too. Pass on the message that says "
        "where we meet, word for word.",
        params={"person": person.id, "message": message},
        checks=texted(w, person.phone, Text(text), says=f"{person.name} got the message"),
        golden=(call(messages.forward, message=message, phone=person.phone),),
    )


@pack.template("schedule_text", apps=("messages",))
def schedule_text(w: WorldView) -> Draft:
    """Have a text sent on a day and time."""
    f = facts(w.cast)
    person = w.one_of(f.dinner, f.flat, f.trip, f.club, f.party)
    thread = chat_with(w, person.phone)
    text = w.rng.choice(REMINDERS)
    day = w.cast.day(w.rng.randrange(2, 20))
    clock = f"{w.rng.randrange(7, 21):02d}:{w.one_of('15', '30', '45')}"
    return Draft(
        goal=f'Have this text go out to {person.name} on {spoken(day)} at {clock}: "{text}"',
        params={"thread": thread.id, "text": text, "day": day, "clock": clock},
        checks=(
            template.added(
                "messages.scheduled",
                "The text waits for its time",
                weight=2,
                text=Text(text),
                phone=Text(person.phone, mode="digits"),
                at_s=records.at_s(day, clock),
            ),
        ),
        golden=(call(messages.schedule, thread=thread.id, text=text, date=day, time=clock),),
    )


@pack.template("cancel_scheduled_text", apps=("messages",))
def cancel_scheduled_text(w: WorldView) -> Draft:
    """Call one of two waiting texts off, and send the other one at once."""
    f = facts(w.cast)
    dropped, hurried = w.rng.sample((f.dinner, f.flat, f.trip, f.club, f.party), 2)
    words = w.rng.sample(REMINDERS, 2)
    rows = tuple(
        template.add_row(
            "messages.scheduled", phone=person.phone, text=text, at_s=w.cast.at(day, "18:30")
        )
        for person, text, day in ((dropped, words[0], 2), (hurried, words[1], 3))
    )
    return Draft(
        goal=f"I had two texts prepared for later. The one to {first_name(dropped.name)} should "
        f"not go out at all. The one to {first_name(hurried.name)} should go out right now.",
        params={"dropped": dropped.phone, "hurried": hurried.phone},
        patches=(*rows, *records.quiet(chat_with(w, hurried.phone))),
        checks=(
            removed(
                "messages.scheduled", f"The text to {dropped.name} is called off", id="scheduled1"
            ),
            removed(
                "messages.scheduled", f"The text to {hurried.name} waits no longer", id="scheduled2"
            ),
            *texted(w, hurried.phone, Text(words[1]), says=f"{hurried.name} got the text"),
        ),
        golden=(
            call(messages.cancel, scheduled="scheduled1"),
            call(messages.send_now, scheduled="scheduled2"),
        ),
    )


@pack.template("ask_and_tell", apps=("messages",))
def ask_and_tell(w: WorldView) -> Draft:
    """Ask somebody, wait for the answer, and tell it."""
    f = facts(w.cast)
    person, question, wanted, number = w.one_of(
        (f.flat, "Where is the spare key?", "on which floor the spare key is", f.key_floor),
        (f.party, "How many will we be?", "how many guests the party will have", f.party_guests),
        (f.review, "How long may my talk be?", "how many slides I may show", f.review_pages),
        (f.cabin, "Where can I park?", "which parking spot I can use", f.cabin_spot),
    )
    thread = chat_with(w, person.phone)
    return Draft(
        goal=f'Ask {person.name} in a text: "{question}" When the answer comes, tell me {wanted}.',
        params={"thread": thread.id},
        allowed=("messages.threads.answered", "messages.threads.archived"),
        checks=(
            *texted(w, person.phone, Text(question), says="The question was asked"),
            template.added(
                "messages.messages",
                "Only the answer came in",
                weight=0,
                thread=thread.id,
                mine=False,
            ),
            AnswerIs(to=Number(value=number), says="The answer tells the number"),
        ),
        golden=(
            call(messages.send, thread=thread.id, text=question),
            Wait(seconds=25),
            template.look(messages.get_thread, thread=thread.id),
            Answer(text=str(number)),
        ),
    )


@pack.template("text_moved_review", apps=("messages",), was="tell_team_new_room")
def text_moved_review(w: WorldView) -> Draft:
    """Pass on what changed: day, time and room come from one conversation."""
    f = facts(w.cast)
    person = w.pick(without_chat(w))
    text = f"{spoken(f.review_day)}, {f.review_time}, room {f.review_room}"
    return Draft(
        goal=f"Our design review was moved. Text {person.name} the new day, the new time and the "
        "new room, and nothing that no longer holds.",
        params={"person": person.id},
        checks=texted(
            w,
            person.phone,
            Date(f.review_day),
            Time(f.review_time),
            Text(f.review_room, mode="contains"),
            says=f"{person.name} knows the new day, time and room",
        ),
        golden=(
            template.look(messages.get_thread, thread=chat_with(w, f.review.phone).id),
            call(messages.start, phone=person.phone, text=text),
        ),
    )


# ---- sorting and deleting ----------------------------------------------------------------------


@pack.template("pin_chat", apps=("messages",))
def pin_chat(w: WorldView) -> Draft:
    """Keep a conversation at the top."""
    thread = w.pick(w.state(State).threads, lambda t: not t.pinned and not t.archived)
    book = {p.phone: p.name for p in w.cast.people[:20]}
    who = f"with {book[thread.phone]}" if thread.phone in book else f"with {thread.phone}"
    return Draft(
        goal=f"I want the conversation {who} to stay at the top of my texts.",
        params={"thread": thread.id},
        checks=(
            changed(
                "messages.threads",
                thread.id,
                f"The conversation {who} stays at the top",
                pinned=True,
            ),
        ),
        golden=(call(messages.pin, thread=thread.id, on=True),),
    )


@pack.template("archive_service_chat", apps=("messages",))
def archive_service_chat(w: WorldView) -> Draft:
    """Put a service's conversation away, told by what it writes about."""
    sender, words = w.one_of(
        (SHOP, "about my parcel"),
        (BANK, "about payments with my card"),
        (DENTIST, "about my check-up"),
    )
    thread = chat_with(w, sender)
    return Draft(
        goal=f"Put the conversation with the messages {words} away, but do not delete it.",
        params={"thread": thread.id},
        checks=(
            changed(
                "messages.threads",
                thread.id,
                f"The conversation {words} is archived",
                archived=True,
            ),
        ),
        golden=(call(messages.archive, thread=thread.id, on=True),),
    )


@pack.template("read_everything", apps=("messages",))
def read_everything(w: WorldView) -> Draft:
    """Have nothing unread."""
    threads = w.state(State).threads
    new = w.sample(threads, 3, lambda t: not t.unread and not t.archived)
    return Draft(
        goal="I have seen all my new texts on the watch. Nothing should count as unread any more.",
        patches=tuple(
            template.set_row("messages.threads", thread.id, unread=w.rng.randrange(1, 4))
            for thread in new
        ),
        checks=(template.counted("messages.threads", "Nothing is unread", len(threads), unread=0),),
        golden=(call(messages.read_all),),
    )


@pack.template("star_found_message", apps=("messages",), was="star_booking_code")
def star_found_message(w: WorldView) -> Draft:
    """Star a message, told by what it says."""
    f = facts(w.cast)
    words, person, inside = w.one_of(
        (f"the booking code of the hotel in {f.trip_city}", f.trip, f.hotel_code),
        ("the password of our new internet router", f.flat, f.wifi_password),
        (f"where the practice of {f.clinic_doctor} is now", f.clinic, f.clinic_address),
        ("how far we read in the book club", f.club, f"chapter {f.club_chapter}"),
    )
    message = records.message_in(w, person.phone, inside)
    return Draft(
        goal=f"Put a star on the text that tells {words}, so that I find it again.",
        params={"message": message},
        checks=(
            changed(
                "messages.messages",
                message,
                f"The text that tells {words} has a star",
                starred=True,
            ),
        ),
        golden=(call(messages.star, message=message, on=True),),
    )


@pack.template("delete_stranger_chat", apps=("messages",))
def delete_stranger_chat(w: WorldView) -> Draft:
    """Delete the conversation with somebody who is no contact, told by what it is about."""
    f = facts(w.cast)
    person, words = w.one_of(
        (f.buyer, f"{f.buyer_item.capitalize()} is sold by now"),
        (f.plumber, "The kitchen tap has been fixed by somebody else"),
    )
    thread = chat_with(w, person.phone)
    count = len(messages_of(w.state(State), thread.id))
    return Draft(
        goal=f"{words}. Delete the whole conversation about it.",
        params={"thread": thread.id},
        checks=(
            removed("messages.threads", "The conversation is gone", id=thread.id),
            removed("messages.messages", "So are its messages", count=count, thread=thread.id),
        ),
        golden=(call(messages.delete_thread, thread=thread.id),),
    )


@pack.template("tidy_chats", apps=("messages",))
def tidy_chats(w: WorldView) -> Draft:
    """Sort many conversations at once."""
    f = facts(w.cast)
    services = [chat_with(w, name).id for name in (SHOP, BANK, DENTIST)]
    loud, kept = w.rng.sample((f.flat, f.trip, f.debt, f.party), 2)
    old, quiet_one, top = (chat_with(w, p.phone).id for p in (f.cabin, loud, kept))
    return Draft(
        goal="Clean up my texts: archive everything from the shop, the bank and the dentist, get "
        f"the conversation about the cabin out of the archive, silence {loud.name}, and keep "
        f"{kept.name} at the top.",
        params={"services": services, "cabin": old, "muted": quiet_one, "pinned": top},
        checks=(
            changed(
                "messages.threads",
                services,
                "Shop, bank and dentist are archived",
                weight=3,
                archived=True,
            ),
            changed(
                "messages.threads", old, "The conversation about the cabin is back", archived=False
            ),
            changed("messages.threads", quiet_one, f"{loud.name} is silenced", muted=True),
            changed("messages.threads", top, f"{kept.name} stays at the top", pinned=True),
        ),
        golden=(
            *(call(messages.archive, thread=thread, on=True) for thread in services),
            call(messages.mute, thread=quiet_one, on=True),
            call(messages.pin, thread=top, on=True),
            call(messages.archive, thread=old, on=False),
        ),
    )
