"""Tasks that need the clock or the settings and another app."""

from __future__ import annotations

from screenloop.criteria import Check, Text, Time
from screenloop.phone.apps.calendar import actions as calendar
from screenloop.phone.apps.calendar.state import later
from screenloop.phone.apps.clock import actions as clock
from screenloop.phone.apps.clock.state import EVERY_DAY
from screenloop.phone.apps.clock.state import State as Clock
from screenloop.phone.apps.messages import actions as messages
from screenloop.phone.apps.messages.seed import facts
from screenloop.phone.apps.notes import actions as notes
from screenloop.phone.apps.notes import seed as notes_seed
from screenloop.phone.apps.settings import actions as settings
from screenloop.phone.apps.settings.state import PHONE
from screenloop.phone.apps.settings.state import State as Settings
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, look, set_row
from screenloop.suites.phone_core.worlds import records, times

pack = Pack("device")


# ---- the clock ---------------------------------------------------------------------------------


@pack.template("wake_before_event", apps=("clock", "calendar"))
def wake_before_event(w: WorldView) -> Draft:
    """Set an alarm some time before an event of tomorrow."""
    event = times.event_titled(w, "Dentist")
    start = f"{w.one_of('07:10', '07:40', '08:05', '08:25')}"
    before = w.one_of(45, 50, 70, 75, 95)
    time = later(start, -before)
    return Draft(
        goal=f"Tomorrow I have to be at the dentist early. Wake me {before} minutes before that "
        "begins, just this once.",
        params={"time": time, "before": before},
        patches=(set_row("calendar.events", event.id, start=start, end=later(start, 45)),),
        checks=(
            added("clock.alarms", f"An alarm rings at {time}", weight=2, time=time, enabled=True),
            added("clock.alarms", "It rings once", days=""),
        ),
        golden=(
            look(calendar.get, event=event.id, date=event.date),
            call(clock.add_alarm, time=time),
        ),
    )


@pack.template("medicine_alarms", apps=("clock", "notes"))
def medicine_alarms(w: WorldView) -> Draft:
    """Replace an alarm by two whose times a note tells."""
    f = notes_seed.facts(w.cast)
    old = times.alarm_labelled(w, "Take medicine")
    label = w.one_of("Medicine", f.medicine)
    daily: tuple[Check, ...] = tuple(
        added(
            "clock.alarms",
            f"One rings at {time} every day",
            time=time,
            days=EVERY_DAY,
            enabled=True,
        )
        for time in f.medicine_times
    )
    return Draft(
        goal="I noted at which times of the day I have to take my medicine now. Set an alarm for "
        f'each of them, every day, called "{label}", and delete the old one for the medicine.',
        params={"times": list(f.medicine_times), "label": label},
        checks=(
            *daily,
            added("clock.alarms", f"Both are called {label}", count=2, label=Text(label)),
            template.removed("clock.alarms", "The old alarm is gone", id=old.id),
        ),
        golden=(
            look(notes.get, note=records.note_titled(w, "Health").id),
            *(
                call(clock.add_alarm, time=time, label=label, days=EVERY_DAY)
                for time in f.medicine_times
            ),
            call(clock.delete_alarm, alarm=old.id),
        ),
    )


@pack.template("time_the_oven", apps=("clock", "notes"))
def time_the_oven(w: WorldView) -> Draft:
    """Start a timer for as long as a recipe says."""
    f = notes_seed.facts(w.cast)
    label = w.one_of("Oven", "Baking", f.recipe)
    note = records.note_titled(w, f.recipe)
    minutes = w.one_of(12, 16, 28, 31, 32, 44, 46)
    body = note.body.replace(f"{f.oven_minutes} minutes", f"{minutes} minutes")
    return Draft(
        goal=f"My {f.recipe.lower()} just went into the oven. Start a timer for as long as my "
        f'recipe says and call it "{label}".',
        params={"minutes": minutes, "label": label},
        patches=(set_row("notes.notes", note.id, body=body),),
        checks=(
            added(
                "clock.countdowns",
                "It runs for the right time",
                weight=2,
                total_s=60 * minutes,
                state="running",
            ),
            added("clock.countdowns", f"It is called {label}", label=Text(label)),
        ),
        golden=(
            look(notes.get, note=note.id),
            call(clock.start_countdown, minutes=minutes, label=label),
        ),
    )


@pack.template("start_in_their_city", apps=("clock", "calendar", "messages"))
def start_in_their_city(w: WorldView) -> Draft:
    """Text somebody far away when an event begins by their clock."""
    person = w.pick(records.without_chat(w))
    event = times.event_titled(w, w.one_of("Design workshop", "Quarterly planning"))
    clocks = w.state(Clock)
    zone = clocks.zones[w.rng.choice([city.zone for city in clocks.cities])]
    minutes = int(event.start[:2]) * 60 + int(event.start[3:]) + zone.offset_min
    there = f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"
    return Draft(
        goal=f"{person.name} is in {zone.name} and will join {event.title} from there. Text them "
        "what their clock will show when it begins; only that time.",
        params={"person": person.id, "event": event.id, "zone": zone.id},
        checks=records.texted(
            w, person.phone, Time(there), says=f"{person.name} knows the time in {zone.name}"
        ),
        golden=(
            look(calendar.get, event=event.id, date=event.date),
            look(clock.convert, zone=zone.id, here=event.start),
            call(messages.start, phone=person.phone, text=there),
        ),
    )


# ---- the settings ------------------------------------------------------------------------------


@pack.template("join_network_from_note", apps=("settings", "notes"))
def join_network_from_note(w: WorldView) -> Draft:
    """Join a network whose password stands in a note."""
    name, words, title, more = w.one_of(
        ("Corner Cafe", "the cafe at the corner", "Places to work", "Best seats are upstairs."),
        ("Guest House", "the guest house", "Weekend away", "Breakfast until ten."),
        ("Printer-7C1A", "the printer itself", "How to print", "Paper is in the drawer."),
    )
    network = times.network_named(w, name)
    note = records.new_note_id(w)
    return Draft(
        goal=f"Connect me to the Wi-Fi of {words}. I wrote the password into a note once.",
        params={"network": network.id},
        patches=(
            template.add_row(
                "notes.notes",
                title=title,
                body=f"{more}\nWi-Fi {name}: {network.password}",
                created_s=w.cast.at(-18),
                edited_s=w.cast.at(-18),
            ),
        ),
        checks=times.joined(network.id, name),
        golden=(
            look(notes.get, note=note),
            call(settings.join, network=network.id, password=network.password),
        ),
    )


@pack.template("join_network_from_text", apps=("settings", "messages"))
def join_network_from_text(w: WorldView) -> Draft:
    """Add a hidden network that a text named, and leave the old one."""
    f = facts(w.cast)
    return Draft(
        goal=f"{records.first_name(f.flat.name)} texted me the name and the password of our new "
        "network at home. It does not show by itself. Connect my phone to it.",
        params={"name": f.wifi_name},
        checks=(
            added(
                "settings.networks",
                "The name is right",
                name=Text(f.wifi_name, mode="exact"),
                secured=True,
            ),
            added("settings.networks", "The password is right", password=f.wifi_password),
            template.value_is("os.wifi_network", "The phone is in it", f.wifi_name),
        ),
        golden=(
            look(messages.get_thread, thread=records.chat_with(w, f.flat.phone).id),
            call(settings.add_network, name=f.wifi_name, password=f.wifi_password),
        ),
    )


@pack.template("hotspot_for_friend", apps=("settings", "messages"))
def hotspot_for_friend(w: WorldView) -> Draft:
    """Turn the hotspot on, and text what is needed to use it."""
    person = w.pick(records.without_chat(w))
    name = w.one_of("Aster-Air", "Field Net", "Roof Net")
    password = f"{w.one_of('harvest', 'lantern', 'compass')}{w.rng.randrange(100, 1000)}"
    return Draft(
        goal=f"{person.name} wants to use the internet of my phone. Turn that on, and text them "
        "the name and the password that they need.",
        params={"person": person.id},
        patches=(
            {"app": "settings", "field": "hotspot_name", "op": "set", "value": name},
            {"app": "settings", "field": "hotspot_password", "op": "set", "value": password},
        ),
        allowed=("os.wifi",),
        checks=(
            template.value_is("os.hotspot", "The internet is shared", True),
            *records.texted(
                w,
                person.phone,
                Text(name, mode="contains"),
                Text(password, mode="contains"),
                says=f"{person.name} has both",
            ),
        ),
        golden=(
            call(settings.set_switch, name="hotspot", on=True),
            look(settings.read_hotspot),
            call(messages.start, phone=person.phone, text=f"{name}, {password}"),
        ),
    )


@pack.template("text_fact_about_phone", apps=("settings", "messages"), was="text_serial_number")
def text_fact_about_phone(w: WorldView) -> Draft:
    """Text a fact about the phone."""
    person = w.pick(records.without_chat(w))
    phone = w.state(Settings).phone[PHONE]
    words, fact = w.one_of(
        ("its serial number", phone.serial), ("the number to call it by", phone.number)
    )
    return Draft(
        goal=f"{person.name} takes out an insurance for this phone and needs {words}. Look it up "
        "and text it.",
        params={"person": person.id, "fact": fact},
        checks=records.texted(
            w, person.phone, Text(fact, mode="contains"), says=f"{person.name} has {words}"
        ),
        golden=(look(settings.about), call(messages.start, phone=person.phone, text=fact)),
    )
