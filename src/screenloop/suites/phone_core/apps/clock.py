"""Tasks over the clock alone: alarms, timers, cities of the world, bedtime."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Changed, Text, Time
from screenloop.phone.apps.calendar.state import later
from screenloop.phone.apps.clock import actions as clock
from screenloop.phone.apps.clock.state import State, Zone
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look
from screenloop.suites.phone_core.worlds.times import alarm_labelled, weekdays

pack = Pack("time")

LABELS = ("Morning run", "Rowing", "Bread dough", "Stretching", "Dog walk")
DAY_CHOICES = ("2,4", "1,3", "3,6", "1,5", "2,5,7")


def _chosen(w: WorldView) -> list[Zone]:
    s = w.state(State)
    return [s.zones[city.zone] for city in s.cities]


# ---- alarms ------------------------------------------------------------------------------------


@pack.template("repeating_alarm", apps=("clock",), was="alarm_for_run")
def repeating_alarm(w: WorldView) -> Draft:
    """Set an alarm that repeats on some weekdays."""
    label, days = w.rng.choice(LABELS), w.rng.choice(DAY_CHOICES)
    time = f"{w.rng.randrange(5, 9):02d}:{w.one_of('05', '20', '35', '50')}"
    return Draft(
        goal=f'Wake me on {weekdays(days)} at {time} from now on; call it "{label}".',
        params={"label": label, "days": days, "time": time},
        checks=(
            added("clock.alarms", f"An alarm rings at {time}", time=time, enabled=True),
            added("clock.alarms", f"It rings on {weekdays(days)}", days=days),
            added("clock.alarms", f"It is called {label}", label=Text(label)),
        ),
        golden=(call(clock.add_alarm, time=time, label=label, days=days),),
    )


@pack.template("switch_alarm", apps=("clock",))
def switch_alarm(w: WorldView) -> Draft:
    """Turn one alarm on or off."""
    label, on, words = w.one_of(
        (
            "School run",
            True,
            "The holidays are over: from now on, my phone must ring for the school run again.",
        ),
        (
            "Work",
            False,
            "I am on holiday. My phone must not ring on work days for now, but I "
            "want to use that alarm again afterwards.",
        ),
        (
            "Gym",
            False,
            "I hurt my knee. Do not let the phone ring for the gym for now; I will "
            "need that alarm again.",
        ),
        (
            "Lunch break",
            True,
            "Make sure that I am called to today's lunch break: I have an alarm for it.",
        ),
        (
            "Weekend",
            False,
            "I want to sleep in at weekends for a while. Silence the alarm that "
            "I have for that, but keep it.",
        ),
    )
    alarm = alarm_labelled(w, label)
    return Draft(
        goal=words,
        params={"alarm": alarm.id, "on": on},
        checks=(
            changed(
                "clock.alarms",
                alarm.id,
                f"The alarm {label} is {'on' if on else 'off'}",
                enabled=on,
            ),
        ),
        golden=(call(clock.enable, alarm=alarm.id, on=on),),
    )


@pack.template("later_on_more_days", apps=("clock",))
def later_on_more_days(w: WorldView) -> Draft:
    """Let an alarm ring at another time and on one more day."""
    alarm = alarm_labelled(w, "Gym")
    minutes = w.one_of(10, 20, 35, 40)
    day, words = w.one_of(("6", "Saturdays"), ("5", "Fridays"), ("7", "Sundays"))
    time, days = later(alarm.time, minutes), f"{alarm.days},{day}"
    return Draft(
        goal=f"I will start for the gym {minutes} minutes later from now on, and go on {words} as "
        "well. Change the alarm that I have for that.",
        params={"alarm": alarm.id, "time": time, "days": days},
        checks=(
            changed("clock.alarms", alarm.id, f"It rings at {time}", time=time),
            changed("clock.alarms", alarm.id, f"It rings on {weekdays(days)}", days=days),
        ),
        golden=(
            call(
                clock.edit_alarm,
                alarm=alarm.id,
                time=time,
                label=alarm.label,
                days=days,
                snooze_min=alarm.snooze_min,
                sound=alarm.sound,
                vibrate=alarm.vibrate,
            ),
        ),
    )


@pack.template("gentler_alarm", apps=("clock",))
def gentler_alarm(w: WorldView) -> Draft:
    """Change how an alarm wakes."""
    alarm = alarm_labelled(w, w.one_of("Work", "Weekend"))
    sound = w.one_of("Ripple", "Chimes", "Marimba", "Rooster")
    if sound == alarm.sound:
        sound = "Rooster"
    words = "on work days" if alarm.label == "Work" else "at weekends"
    snooze = 5 if alarm.snooze_min != 5 else 10
    return Draft(
        goal=f"The alarm that wakes me {words} should play {sound}, not vibrate, and let me doze "
        f"for {snooze} minutes at a time.",
        params={"alarm": alarm.id, "sound": sound, "snooze": snooze},
        checks=tuple(
            Changed(app="clock", table="alarms", ids=(alarm.id,), to={field: value}, says=says)
            for field, value, says in (
                ("sound", sound, f"It plays {sound}"),
                ("vibrate", False, "It does not vibrate"),
                ("snooze_min", snooze, f"It can be put off for {snooze} minutes"),
            )
        ),
        golden=(
            call(
                clock.edit_alarm,
                alarm=alarm.id,
                time=alarm.time,
                label=alarm.label,
                days=alarm.days,
                snooze_min=snooze,
                sound=sound,
                vibrate=False,
            ),
        ),
    )


@pack.template("delete_unused_alarms", apps=("clock",))
def delete_unused_alarms(w: WorldView) -> Draft:
    """Delete the alarms that are off."""
    alarms = list(w.state(State).alarms)
    off = sorted(w.sample(alarms, w.one_of(2, 3, 3)), key=lambda a: a.time)
    return Draft(
        goal="Tidy up my alarms: those that are switched off can go for good.",
        params={"off": [a.id for a in off]},
        patches=tuple(template.set_row("clock.alarms", a.id, enabled=a not in off) for a in alarms),
        checks=(
            template.removed(
                "clock.alarms",
                "All alarms that were off are gone",
                weight=2,
                count=len(off),
                enabled=False,
            ),
            template.counted(
                "clock.alarms",
                "All others are still there",
                len(alarms) - len(off),
                weight=0,
                enabled=True,
            ),
        ),
        golden=tuple(call(clock.delete_alarm, alarm=a.id) for a in off),
    )


@pack.template("first_alarm_of_day", apps=("clock",))
def first_alarm_of_day(w: WorldView) -> Draft:
    """Tell when the phone rings first on a weekday."""
    alarms = list(w.state(State).alarms)
    day = w.rng.choice("34567")
    on = {a.id for a in w.rng.sample(alarms[1:], 3)} | {"alarm1", "alarm3", "alarm6"}
    ringing = [a.time for a in alarms if a.id in on and day in a.days]
    return Draft(
        goal=f"At what time do I hear the first alarm on {weekdays(day)}?",
        params={"day": day},
        patches=tuple(template.set_row("clock.alarms", a.id, enabled=a.id in on) for a in alarms),
        checks=(AnswerIs(to=Time(min(ringing)), says="The first one that is on"),),
        golden=(look(clock.list_alarms), Answer(text=min(ringing))),
    )


# ---- timers ------------------------------------------------------------------------------------


@pack.template("labelled_timer", apps=("clock",), was="time_the_eggs")
def labelled_timer(w: WorldView) -> Draft:
    """Start a timer with a label."""
    label = w.one_of("Eggs", "Tea", "Face mask", "Plank", "Steak")
    minutes, seconds = w.one_of(2, 3, 6, 7, 11, 12), w.one_of(5, 10, 15, 20)
    words = f"{minutes} minutes and {seconds} seconds"
    return Draft(
        goal=f'Give me a signal in {words}, marked "{label}". Start now.',
        params={"label": label, "minutes": minutes, "seconds": seconds},
        checks=(
            added(
                "clock.countdowns",
                f"A timer of {words} runs",
                weight=2,
                total_s=60 * minutes + seconds,
                state="running",
            ),
            added("clock.countdowns", f"It is marked {label}", label=Text(label)),
        ),
        golden=(call(clock.start_countdown, minutes=minutes, seconds=seconds, label=label),),
    )


@pack.template("kitchen_timers", apps=("clock",))
def kitchen_timers(w: WorldView) -> Draft:
    """Let one paused timer go on, and take another one away."""
    labels = w.rng.sample(("Rice", "Potatoes", "Soup", "Beans", "Pudding"), 3)
    going, gone, _ = w.rng.sample((1, 2, 3), 3)
    rows = tuple(
        template.add_row(
            "clock.countdowns",
            label=label,
            total_s=900,
            state="paused",
            left_s=60 * w.rng.randrange(6, 14),
        )
        for label in labels
    )
    return Draft(
        goal=f"I stopped my kitchen timers for a moment. Let the one for the {labels[going - 1]} "
        f"go on, and take the one for the {labels[gone - 1]} away.",
        params={"going": going, "gone": gone},
        patches=rows,
        allowed=("clock.countdowns.ends_s", "clock.countdowns.left_s"),
        checks=(
            changed(
                "clock.countdowns",
                f"timer{going}",
                f"The timer for {labels[going - 1]} runs",
                state="running",
            ),
            template.removed(
                "clock.countdowns", f"The timer for {labels[gone - 1]} is gone", id=f"timer{gone}"
            ),
        ),
        golden=(
            call(clock.resume, countdown=f"timer{going}"),
            call(clock.cancel, countdown=f"timer{gone}"),
        ),
    )


# ---- the world, bedtime ------------------------------------------------------------------------


@pack.template("other_city", apps=("clock",))
def other_city(w: WorldView) -> Draft:
    """Swap a city of the world clock."""
    gone = w.rng.choice(_chosen(w))
    zones = {city.zone for city in w.state(State).cities}
    comes = w.pick(w.state(State).zones, lambda z: z.id not in zones)
    return Draft(
        goal=f"My sister has moved from {gone.name} to {comes.name}. I want to see what time it "
        "is for her where I look at the times of the world, and no longer the old city.",
        params={"gone": gone.id, "comes": comes.id},
        checks=(
            added("clock.cities", f"{comes.name} is there", zone=comes.id),
            template.removed("clock.cities", f"{gone.name} is not", zone=gone.id),
        ),
        golden=(call(clock.add_city, zone=comes.id), call(clock.remove_city, zone=gone.id)),
    )


@pack.template("time_in_city", apps=("clock",))
def time_in_city(w: WorldView) -> Draft:
    """Tell what time it is elsewhere when it is a time here."""
    zone = w.rng.choice(_chosen(w))
    here = f"{w.rng.randrange(6, 21):02d}:{w.one_of('05', '15', '40', '55')}"
    minutes = int(here[:2]) * 60 + int(here[3:]) + zone.offset_min
    there = f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"
    return Draft(
        goal=f"I will call my colleague in {zone.name} when it is {here} here. What will the "
        "clock over there show?",
        params={"zone": zone.id, "here": here},
        checks=(AnswerIs(to=Time(there), says=f"The time in {zone.name}"),),
        golden=(look(clock.convert, zone=zone.id, here=here), Answer(text=there)),
    )


@pack.template("sleep_enough", apps=("clock",))
def sleep_enough(w: WorldView) -> Draft:
    """Set bedtime so that a night is as long as wanted."""
    hours, wake = w.one_of(7, 8, 9), w.one_of("05:45", "06:10", "07:20", "07:55")
    minutes = (int(wake[:2]) - hours) % 24 * 60 + int(wake[3:])
    bedtime = f"{minutes // 60:02d}:{minutes % 60:02d}"
    return Draft(
        goal=f"I have to get up at {wake} these days and want exactly {hours} hours of sleep. "
        "Set up my phone's plan for the night like that, and let it apply from now on.",
        params={"bedtime": bedtime, "wake": wake},
        checks=(
            template.value_is("clock.bedtime", f"Bedtime is {bedtime}", bedtime),
            template.value_is("clock.wake", f"I get up at {wake}", wake),
            template.value_is("clock.bedtime_on", "The plan applies", True),
        ),
        golden=(
            call(clock.set_bedtime, bedtime=bedtime, wake=wake),
            call(clock.enable_bedtime, on=True),
        ),
    )
