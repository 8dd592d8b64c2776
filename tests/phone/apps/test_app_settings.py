from __future__ import annotations

import pytest

from screenloop.phone.apps.settings.pages import State, app
from screenloop.phone.apps.settings.state import PHONE, SYSTEM_MB, used_mb
from screenloop.phone.commands import Go
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import business_hash, state_hash
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.types import Effect

PATHS = (
    "/",
    "/network",
    "/wifi",
    "/wifi/network1",
    "/wifi/network2",
    "/add-network",
    "/data",
    "/hotspot",
    "/bluetooth",
    "/bluetooth/device1",
    "/bluetooth/device4",
    "/display",
    "/sound",
    "/ringtone",
    "/chime",
    "/notifications",
    "/notifications/calendar",
    "/privacy",
    "/privacy/photos",
    "/security",
    "/language",
    "/time",
    "/battery",
    "/storage",
    "/storage/calendar",
    "/accounts",
    "/accounts/account1",
    "/new-account",
    "/about",
)


def opened(**switches: object) -> Device:
    patches = tuple({"app": "os", "field": n, "value": v} for n, v in switches.items())
    device = new_device(patches=patches, strict=True)
    device.open(app.id)
    return device


def state_of(device: Device) -> State:
    doc = device.doc
    return State(doc.apps[app.id].data, cast(doc.world, doc.seed))


def tool(device: Device, action: str, /, **args: object) -> Effect:
    device.begin("", "tool")
    effect = device.call_tool(f"{app.id}.{action}", args)
    device.end()
    return effect


def test_every_page_is_shown_by_its_path_in_both_languages_and_dark() -> None:
    for device in (opened(), opened(language="zh", dark=True), opened(wifi=False, bluetooth=False)):
        for path in PATHS:
            device.perform(Go(app=app.id, path=path))
            assert len(device.painted().nodes) > 5
    assert {app.resolve(path)[0].template for path in PATHS} == set(app.routes)


@pytest.mark.parametrize("flow", app.flows, ids=lambda flow: flow.name)
def test_each_flow_runs_and_resets_exactly(flow) -> None:  # type: ignore[no-untyped-def]
    device = opened()
    first, kept = state_hash(device.doc), device.snapshot()
    business = business_hash(device.doc)
    for step in flow.steps:
        device.begin()
        effect = run_step(device, step)
        device.end()
        assert effect.ok, (step, effect)
    assert business_hash(device.doc) != business
    device.restore(kept)
    assert state_hash(device.doc) == first


def test_the_settings_are_the_system_s_own_state() -> None:
    device = opened()
    tool(device, "switch.set", name="wifi", on=False)
    tool(device, "volume.set", name="alarm", level=15)
    tool(device, "brightness.set", level=35)
    tool(device, "display.font", percent=115)
    system = device.system
    assert (system.wifi, system.alarm_volume, system.brightness) == (False, 15, 35)
    assert system.font_scale == 115
    assert not state_of(device).auto_brightness


def test_a_slider_is_set_where_it_is_touched() -> None:
    device = opened()
    device.perform(Go(app=app.id, path="/sound"))
    node = next(n for n in device.screen.nodes if n.label == "Ring volume" and n.place)
    x, y = node.box.x + round((node.box.w - 1) * 0.25), node.box.center[1]
    assert device.tap(x, y).ok
    assert device.system.ring_volume == 25
    assert device.swipe(x, y, node.box.x - 20, y).ok
    assert device.system.ring_volume == 0


def test_the_language_changes_the_whole_phone() -> None:
    device = opened()
    tool(device, "language.set", language="zh")
    device.perform(Go(app="clock", path="/"))
    assert any(node.label == "闹钟" for node in device.screen.nodes)


def test_airplane_mode_takes_the_radios_with_it() -> None:
    device = opened()
    tool(device, "switch.set", name="airplane", on=True)
    assert not device.system.online
    assert tool(device, "update.check").code == "refused"


def test_a_secured_network_wants_its_password_once() -> None:
    device = opened()
    network = state_of(device).networks["network2"]
    assert tool(device, "networks.join", network=network.id).code == "refused"
    wrong = tool(device, "networks.join", network=network.id, password="nonsense")
    assert (wrong.code, device.system.wifi_network) == ("refused", "Lindenhof")
    assert tool(device, "networks.join", network=network.id, password=network.password).ok
    assert device.system.wifi_network == network.name
    tool(device, "networks.join", network="network1")
    assert tool(device, "networks.join", network=network.id).ok


def test_a_network_is_joined_by_typing_its_password() -> None:
    device = opened()
    network = state_of(device).networks["network5"]
    device.perform(Go(app=app.id, path=f"/wifi/{network.id}"))
    field = device.screen.field("password")
    assert field is not None
    device.tap(*field.box.center)
    device.type_text(network.password)
    device.press("back")
    button = next(n for n in device.screen.nodes if n.label == "Connect")
    assert device.tap(*button.box.center).ok
    assert device.system.wifi_network == network.name


def test_forgetting_the_current_network_leaves_it() -> None:
    device = opened()
    tool(device, "networks.forget", network="network1")
    assert device.system.wifi_network == ""
    assert tool(device, "networks.forget", network="network1").code == "refused"


def test_nothing_connects_while_its_radio_is_off() -> None:
    device = opened(wifi=False, bluetooth=False)
    assert tool(device, "networks.join", network="network1").code == "refused"
    assert tool(device, "networks.add", name="Attic").code == "refused"
    assert tool(device, "devices.pair", device="device4").code == "refused"


def test_the_list_of_networks_tells_no_password() -> None:
    found = tool(opened(), "networks.list").result
    assert all("password" not in row for row in found)


def test_only_paired_devices_are_connected_renamed_and_forgotten() -> None:
    device = opened()
    for action, args in (
        ("devices.connect", {"on": True}),
        ("devices.rename", {"name": "Big screen"}),
        ("devices.forget", {}),
    ):
        assert tool(device, action, device="device4", **args).code == "refused"
    assert tool(device, "devices.pair", device="device4").ok
    assert state_of(device).gadgets["device4"].connected


def test_an_app_is_granted_only_what_it_asks_for() -> None:
    device = opened()
    assert tool(device, "permissions.set", app="clock", name="camera", granted=True).code == (
        "refused"
    )
    tool(device, "permissions.set", app="calendar", name="location", granted=True)
    tool(device, "permissions.set", app="calendar", name="location", granted=False)
    rows = [(p.app, p.name, p.granted) for p in device.system.permissions]
    assert rows == [("calendar", "location", False)]


def test_a_cleared_cache_frees_its_space() -> None:
    device = opened()
    before, cache = used_mb(state_of(device)), state_of(device).storage["calendar"].cache_mb
    tool(device, "storage.clear_cache", app="calendar")
    assert used_mb(state_of(device)) == before - cache
    assert tool(device, "storage.clear_cache", app="calendar").code == "refused"
    assert before > SYSTEM_MB


def test_a_pin_has_four_digits() -> None:
    device = opened()
    assert tool(device, "lock.set", pin="12a4").code == "bad_args"
    assert tool(device, "lock.remove").code == "refused"
    assert tool(device, "lock.set", pin="2468").ok
    assert state_of(device).pin == "2468"


def test_an_account_is_added_once() -> None:
    device = opened()
    assert tool(device, "accounts.add", service="Huddle", email="sam").code == "refused"
    assert tool(device, "accounts.add", service="Huddle", email="sam@example.org").ok
    again = tool(device, "accounts.add", service="Huddle", email="sam@example.org")
    assert again.code == "refused"


def test_a_hotspot_password_is_long_enough() -> None:
    device = opened()
    assert tool(device, "hotspot.edit", name="Mine", password="short").code == "refused"
    assert state_of(device).hotspot_name == "Aster 5"


def test_the_search_finds_a_setting_by_a_word_of_it() -> None:
    device = opened()
    device.tap(*device.screen.nodes[0].box.center)
    field = device.screen.field("text")
    assert field is not None
    device.tap(*field.box.center)
    device.type_text("serial")
    assert any(n.label.startswith("About phone") for n in device.screen.nodes)
    assert not any(n.label.startswith("Storage") for n in device.screen.nodes)


def test_each_world_has_its_own_phone() -> None:
    serials = {state_of(new_device(seed=seed)).phone[PHONE].serial for seed in range(5)}
    assert len(serials) == 5


def test_the_clock_is_shown_as_chosen() -> None:
    device = opened()
    tool(device, "options.set", name="clock_24h", on=False)
    device.perform(Go(app=app.id, path="/time"))
    assert any(node.label == "9:00 am" for node in device.screen.nodes)
