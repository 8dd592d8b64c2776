"""Tasks over the settings alone that change how the phone looks, sounds and what it tells."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Changed, Check, Expected, Number, Text, Value
from screenloop.phone.apps.settings import actions as settings
from screenloop.phone.apps.settings.state import CHIMES, PHONE, RINGTONES, SLEEPS, State
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look

pack = Pack("device")

APP_NAMES = {
    "calendar": "the calendar",
    "gallery": "the gallery",
    "shop": "the shop",
    "wallet": "the wallet",
    "notes": "my notes",
    "clock": "the clock",
}
NAMES = ("Pocket", "Blue whale", "Spare phone", "Night owl", "Work phone")


def _system(says: str, **values: Expected) -> tuple[Check, ...]:
    """Return checks that the system's values are as wanted."""
    return tuple(
        Value(app="os", path=name, to=value, says=f"{says}: {name.replace('_', ' ')}")
        for name, value in values.items()
    )


def _chosen(says: str, **values: Expected) -> tuple[Check, ...]:
    """Return checks that the choices of the settings are as wanted."""
    return tuple(
        Value(app="settings", path=name, to=value, says=f"{says}: {name.replace('_', ' ')}")
        for name, value in values.items()
    )


# ---- screen and sound --------------------------------------------------------------------------


@pack.template("easier_to_read", apps=("settings",))
def easier_to_read(w: WorldView) -> Draft:
    """Larger text on a dark ground, that stays lit for longer."""
    percent, words = w.one_of((115, "one size larger than normal"), (130, "as large as it gets"))
    seconds, length = w.one_of((120, "two minutes"), (300, "five minutes"), (600, "ten minutes"))
    return Draft(
        goal=f"My eyes are tired in the evening. Make all text {words}, use dark colours, and let "
        f"the phone wait {length} before it goes dark.",
        params={"percent": percent, "seconds": seconds},
        checks=(
            *_system("Text and colours", font_scale=percent, dark=True),
            *_chosen("It waits long enough", sleep_s=seconds),
        ),
        golden=(
            call(settings.set_font, percent=percent),
            call(settings.set_switch, name="dark", on=True),
            call(settings.set_sleep, seconds=seconds),
        ),
    )


@pack.template("screen_goes_dark", apps=("settings",))
def screen_goes_dark(w: WorldView) -> Draft:
    """Set after how long the screen goes dark."""
    seconds, words = w.pick(SLEEPS, lambda choice: choice[0] != 60)
    return Draft(
        goal=f"When I put the phone down, it should go dark after {words[0]}.",
        params={"seconds": seconds},
        checks=_chosen("It goes dark in time", sleep_s=seconds),
        golden=(call(settings.set_sleep, seconds=seconds),),
    )


@pack.template("new_tones", apps=("settings",))
def new_tones(w: WorldView) -> Draft:
    """Choose both tones, and what else makes a noise."""
    ringtone = w.pick(RINGTONES, lambda name: name != "Aurora")
    chime = w.pick(CHIMES, lambda name: name != "Drop")
    words = (
        "give no sound at all when something new arrives"
        if chime == "Silent"
        else f'play "{chime}" when something new arrives'
    )
    return Draft(
        goal=f'The phone should ring with "{ringtone}" when somebody calls, and not shake then. '
        f"It should {words}, and make no noise when I touch it.",
        params={"ringtone": ringtone, "chime": chime},
        checks=_chosen(
            "It sounds as asked for",
            ringtone=ringtone,
            notification_sound=chime,
            vibrate=False,
            touch_sounds=False,
        ),
        golden=(
            call(settings.set_option, name="vibrate", on=False),
            call(settings.set_option, name="touch_sounds", on=False),
            call(settings.set_ringtone, ringtone=ringtone),
            call(settings.set_notification_sound, sound=chime),
        ),
    )


@pack.template("loudest_volume", apps=("settings",), was="alarms_at_full_volume")
def loudest_volume(w: WorldView) -> Draft:
    """Move a volume to its end."""
    name, words = w.one_of(
        ("alarm", "I slept through my alarm. From now on, alarms"),
        ("ring", "I keep missing calls. From now on, calls"),
        ("media", "I want to hear this film from the kitchen: music and videos"),
    )
    return Draft(
        goal=f"{words} should be as loud as the phone can.",
        params={"volume": name},
        checks=_system("As loud as it gets", **{f"{name}_volume": Number(min=97, max=100)}),
        golden=(call(settings.set_volume, name=name, level=100),),
    )


# ---- what apps may do --------------------------------------------------------------------------


@pack.template("hush_app", apps=("settings",))
def hush_app(w: WorldView) -> Draft:
    """Block the notifications of an app, or only their sound."""
    app = w.rng.choice(sorted(APP_NAMES))
    field, words, says = w.one_of(
        ("allowed", "must not bother me with any news any more", "may not notify"),
        ("sound", "may still show me what is new, but without a sound", "notifies silently"),
    )
    action = settings.allow_notices if field == "allowed" else settings.sound_notices
    name = APP_NAMES[app]
    return Draft(
        goal=f"{name[0].upper()}{name[1:]} {words}."
        if name != "my notes"
        else f"The app with my notes {words}.",
        params={"app": app, "field": field},
        checks=(
            Changed(
                app="settings",
                table="notices",
                ids=(app,),
                to={field: False},
                says=f"{name} {says}",
            ),
        ),
        golden=(call(action, app=app, on=False),),
    )


@pack.template("no_location_for_app", apps=("settings",))
def no_location_for_app(w: WorldView) -> Draft:
    """Take a permission from one app that another one keeps."""
    apps = ["calendar", "gallery", "shop", "wallet"]
    denied = w.rng.choice(apps)
    rows = tuple(
        template.add_row("os.permissions", app=app, name="location", granted=True) for app in apps
    )
    name = APP_NAMES[denied]
    return Draft(
        goal=f"I do not want {name} to know where I am any more. The other apps may go on as "
        "before.",
        params={"app": denied},
        patches=rows,
        checks=(
            changed(
                "os.permissions",
                f"perm{apps.index(denied) + 1}",
                f"{name} does not know it any more",
                granted=False,
            ),
            template.counted(
                "os.permissions", "The others still do", 3, name="location", granted=True
            ),
        ),
        golden=(call(settings.set_permission, app=denied, name="location", granted=False),),
    )


@pack.template("clear_second_largest", apps=("settings",))
def clear_second_largest(w: WorldView) -> Draft:
    """Clear the cache of the app that takes the most space, the gallery left out."""
    rows = w.state(State).storage.where(lambda row: row.id != "gallery")
    largest = max(rows, key=lambda row: row.data_mb + row.cache_mb)
    return Draft(
        goal="I need some space. Look which app takes the most of it, apart from the gallery, and "
        "throw away what that app keeps only to be faster.",
        params={"app": largest.id},
        checks=(
            changed(
                "settings.storage", largest.id, f"The cache of {largest.id} is empty", cache_mb=0
            ),
        ),
        golden=(look(settings.list_storage), call(settings.clear_cache, app=largest.id)),
    )


# ---- the phone and its accounts ----------------------------------------------------------------


@pack.template("fact_about_phone", apps=("settings",))
def fact_about_phone(w: WorldView) -> Draft:
    """Tell a fact about the phone."""
    phone = w.state(State).phone[PHONE]
    words, fact, how = w.one_of(
        ("the serial number", phone.serial, Text(phone.serial)),
        ("its own phone number", phone.number, Text(phone.number, mode="digits")),
        (
            "the version of its system",
            phone.version,
            Text(phone.version.split()[-1], mode="contains"),
        ),
    )
    return Draft(
        goal=f"The repair shop asks for something about this phone: {words}. What is it? Answer "
        "with nothing else.",
        params={"fact": fact},
        checks=(AnswerIs(to=how, says=f"It is {fact}"),),
        golden=(look(settings.about), Answer(text=fact)),
    )


@pack.template("lock_with_pin", apps=("settings",))
def lock_with_pin(w: WorldView) -> Draft:
    """Protect the phone, and give it a name."""
    pin, name = f"{w.rng.randrange(1000, 10_000)}", w.rng.choice(NAMES)
    return Draft(
        goal=f'Nobody should get into my phone without the four digits {pin}. And call it "{name}" '
        "for all that see it.",
        params={"pin": pin, "name": name},
        checks=(
            *_chosen("The phone is locked", pin=pin),
            changed("settings.phone", PHONE, f"The phone is called {name}", name=Text(name)),
        ),
        golden=(call(settings.set_pin, pin=pin), call(settings.rename_phone, name=name)),
    )


@pack.template("tidy_accounts", apps=("settings",))
def tidy_accounts(w: WorldView) -> Draft:
    """Add one account, remove one, and let one sync."""
    mail, files = w.state(State).accounts
    name = w.one_of("sam", "robin", "kim", "alex")
    email = f"{name}{w.rng.randrange(10, 100)}@example.com"
    swap = w.rng.random() < 0.5
    gone, kept = (files, mail) if swap else (mail, files)
    last = (
        f"The one at {kept.service} must not be kept in step any more."
        if kept.sync
        else f"The one at {kept.service} should be kept in step from now on."
    )
    return Draft(
        goal=f"Sort out my accounts on this phone: the one at {gone.service} can go, I now have "
        f"{email} at Huddle. {last}",
        params={"email": email, "gone": gone.id, "kept": kept.id},
        checks=(
            added("settings.accounts", f"{email} is there", service="Huddle", email=Text(email)),
            template.removed("settings.accounts", f"{gone.service} is gone", id=gone.id),
            changed(
                "settings.accounts",
                kept.id,
                f"{kept.service}: sync is {'off' if kept.sync else 'on'}",
                sync=not kept.sync,
            ),
        ),
        golden=(
            call(settings.remove_account, account=gone.id),
            call(settings.sync_account, account=kept.id, on=not kept.sync),
            call(settings.add_account, service="Huddle", email=email),
        ),
    )
