"""Tasks over the settings alone that connect the phone with others, or cut it off."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Number, Text, Value
from screenloop.phone.apps.settings import actions as settings
from screenloop.phone.apps.settings.state import State
from screenloop.suites.phone_core.template import (
    Draft,
    Pack,
    WorldView,
    added,
    call,
    changed,
    look,
    value_is,
)
from screenloop.suites.phone_core.worlds.times import joined, network_named

pack = Pack("device")

HIDDEN = ("Attic", "Workshop", "Studio 9", "Back office")
SECRETS = ("moonlight", "sunflower", "riverbank", "lighthouse")


def _secret(w: WorldView) -> str:
    return f"{w.rng.choice(SECRETS)}{w.rng.randrange(100, 1000)}"


@pack.template("ready_for_takeoff", apps=("settings",))
def ready_for_takeoff(w: WorldView) -> Draft:
    """Turn all radios off, and make the phone quiet."""
    extra, words = w.one_of(
        ("do_not_disturb", "nothing may disturb me either"),
        ("battery_saver", "it should use as little power as it can, too"),
        ("location", "it need not know where I am either"),
    )
    wanted = extra != "location"
    return Draft(
        goal=f"We are about to take off: my phone must not send anything any more, and {words}.",
        params={"extra": extra},
        checks=(
            value_is("os.airplane", "The phone is ready for a flight", True),
            value_is("os.wifi", "Wi-Fi is off", False),
            value_is("os.bluetooth", "Bluetooth is off", False),
            Value(app="os", path=extra, to=wanted, says=f"{extra} is {wanted}"),
        ),
        golden=(
            call(settings.set_switch, name="airplane", on=True),
            call(settings.set_switch, name=extra, on=wanted),
        ),
    )


@pack.template("join_network", apps=("settings",))
def join_network(w: WorldView) -> Draft:
    """Join a network whose password the goal tells."""
    name = w.one_of("Corner Cafe", "Guest House", "Printer-7C1A")
    network = network_named(w, name)
    return Draft(
        goal=f'Get me into the Wi-Fi "{name}". The password is {network.password}.',
        params={"network": network.id},
        checks=joined(network.id, name),
        golden=(call(settings.join, network=network.id, password=network.password),),
    )


@pack.template("join_hidden_network", apps=("settings",))
def join_hidden_network(w: WorldView) -> Draft:
    """Add a network that does not show."""
    name, password = w.rng.choice(HIDDEN), _secret(w)
    return Draft(
        goal=f'There is a Wi-Fi here that does not show by itself. Its name is "{name}", its '
        f"password {password}. Connect me.",
        params={"name": name, "password": password},
        checks=(
            added(
                "settings.networks",
                f"The phone knows {name}",
                name=Text(name, mode="exact"),
                secured=True,
            ),
            added("settings.networks", "The password is right", password=password),
            value_is("os.wifi_network", f"The phone is in {name}", name),
        ),
        golden=(call(settings.add_network, name=name, password=password),),
    )


@pack.template("forget_old_office", apps=("settings",))
def forget_old_office(w: WorldView) -> Draft:
    """Forget one saved network, or leave the one in use for another."""
    home, office = network_named(w, "Lindenhof"), network_named(w, "Office 4F")
    if w.rng.random() < 0.5:
        return Draft(
            goal="I no longer work on the fourth floor. My phone should not join the Wi-Fi of that "
            "office by itself ever again.",
            params={"network": office.id},
            checks=(
                changed("settings.networks", office.id, f"{office.name} is forgotten", saved=False),
            ),
            golden=(call(settings.forget_network, network=office.id),),
        )
    return Draft(
        goal=f"I moved out of {home.name}: my phone should no longer know the Wi-Fi there. "
        f"Connect it to the one of my office, {office.name}, instead.",
        params={"network": home.id},
        checks=(
            changed("settings.networks", home.id, f"{home.name} is forgotten", saved=False),
            value_is("os.wifi_network", f"The phone is in {office.name}", office.name),
        ),
        golden=(
            call(settings.forget_network, network=home.id),
            call(settings.join, network=office.id),
        ),
    )


@pack.template("open_hotspot", apps=("settings",))
def open_hotspot(w: WorldView) -> Draft:
    """Name and protect the hotspot, and turn it on."""
    name, password = w.one_of("Picnic", "Train seat", "Tent 4"), _secret(w)
    return Draft(
        goal="Let others use the internet of my phone from now on. They should see it as "
        f'"{name}" and need the password {password}.',
        params={"name": name, "password": password},
        allowed=("os.wifi",),
        checks=(
            value_is("settings.hotspot_name", f"It is called {name}", Text(name, mode="exact")),
            value_is("settings.hotspot_password", "The password is right", password),
            value_is("os.hotspot", "It is on", True),
        ),
        golden=(
            call(settings.edit_hotspot, name=name, password=password),
            call(settings.set_switch, name="hotspot", on=True),
        ),
    )


@pack.template("new_data_plan", apps=("settings",))
def new_data_plan(w: WorldView) -> Draft:
    """Set the limit of mobile data, and save some."""
    gigabytes = w.one_of(4, 6, 7, 12, 14, 15)
    return Draft(
        goal=f"My new contract gives me {gigabytes} GB a month. See to it that the phone keeps to "
        "that on the road, and that apps use no more than they need.",
        params={"gigabytes": gigabytes},
        checks=(
            value_is("settings.data_limit_gb", f"The limit is {gigabytes} GB", gigabytes),
            value_is("settings.data_saver", "Apps save data", True),
        ),
        golden=(
            call(settings.set_option, name="data_saver", on=True),
            call(settings.set_data_limit, gigabytes=gigabytes),
        ),
    )


@pack.template("music_in_kitchen", apps=("settings",))
def music_in_kitchen(w: WorldView) -> Draft:
    """Change over from the headphones to something new."""
    gadget = w.pick(w.state(State).gadgets, lambda g: not g.paired)
    buds = w.state(State).gadgets["device1"]
    words = {
        "tv": "the TV in the living room",
        "keyboard": "my new Pebble keyboard",
        "speaker": "the speaker in the kitchen",
    }[gadget.kind]
    return Draft(
        goal=f"Connect my phone to {words}, which it does not know yet, and part it from my "
        "headphones for now. It should still know them.",
        params={"device": gadget.id},
        checks=(
            changed(
                "settings.gadgets",
                gadget.id,
                f"{gadget.name} is connected",
                paired=True,
                connected=True,
            ),
            changed("settings.gadgets", buds.id, f"{buds.name} are not", connected=False),
        ),
        golden=(
            call(settings.pair, device=gadget.id),
            call(settings.connect, device=buds.id, on=False),
        ),
    )


@pack.template("rename_gadget", apps=("settings",), was="name_of_watch")
def rename_gadget(w: WorldView) -> Draft:
    """Rename a device."""
    gadget = w.pick(w.state(State).gadgets, lambda g: g.paired)
    words = {"headphones": "headphones", "watch": "watch", "car": "car kit"}[gadget.kind]
    name = w.one_of("Comet", "Old friend", "Number two", "Blueberry")
    return Draft(
        goal=f'We have several of the kind at home, so my {words} should go by the name "{name}" '
        "on this phone.",
        params={"device": gadget.id, "name": name},
        checks=(
            changed(
                "settings.gadgets", gadget.id, f"The {words} is called {name}", name=Text(name)
            ),
        ),
        golden=(call(settings.rename_gadget, device=gadget.id, name=name),),
    )


@pack.template("battery_of_headphones", apps=("settings",))
def battery_of_headphones(w: WorldView) -> Draft:
    """Tell how full a device's battery is."""
    buds = w.state(State).gadgets["device1"]
    return Draft(
        goal="How many percent are left in the battery of my headphones?",
        params={"device": buds.id},
        checks=(AnswerIs(to=Number(value=buds.battery), says="The number is right"),),
        golden=(look(settings.list_gadgets), Answer(text=str(buds.battery))),
    )
