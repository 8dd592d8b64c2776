"""Exploration: what the apps offer to a finger, and the figures made of it."""

from __future__ import annotations

import msgspec
import pytest
from toy_app import app as toy
from toy_app import toy_device

from screenloop.phone.commands import Back, Both, Call, Copy, Go, OpenApp
from screenloop.phone.declare.app import App
from screenloop.phone.declare.context import Ctx
from screenloop.phone.declare.state import AppState
from screenloop.phone.declare.view import Ui
from screenloop.phone.device.device import Device
from screenloop.phone.draw.page import Page
from screenloop.phone.draw.widgets import Button
from screenloop.phone.prove.affordances import affordances_of, broken_link, template_key
from screenloop.phone.prove.explore import FEW, Coverage, RouteAction, Transition, explore, names_in
from screenloop.phone.prove.replay import replay
from screenloop.phone.prove.stats import AppsStats, stats_of


class PartState(AppState):
    """Of an app that does not offer all it declares."""

    number: int = 0


part = App("part", PartState, title=("Part", "部分"), icon="star", tint="#2563eb")


@part.action("number.up", tool="One more.", writes=["number"])
def up(s: PartState, ctx: Ctx) -> None:
    s.number += 1
    if s.number == 1:
        ctx.after(3600, tick())


@part.action("number.tick", writes=["number"])
def tick(s: PartState, ctx: Ctx) -> None:
    ctx.call(double())


@part.action("number.double", writes=["number"])
def double(s: PartState, ctx: Ctx) -> None:
    s.number *= 2


@part.action("number.hide", tool="Nobody can touch this.", writes=["number"])
def hide(s: PartState, ctx: Ctx) -> None:
    s.number = -1


@part.page("/")
def first(s: PartState, ui: Ui) -> Page:
    more = [Button(words="Deep", do=deep())] if s.number >= 2 else []
    lost = Button(words="Lost", do=Go(app="part", path="/nowhere/at/all"))
    return Page(title="Part", body=(Button(words="Up", do=up()), *more, lost))


@part.page("/deep")
def deep(s: PartState, ui: Ui) -> Page:
    return Page(title="Deep", body=())


@part.page("/island")
def island(s: PartState, ui: Ui) -> Page:
    return Page(title="Nobody gets here", body=())


def at_home() -> Device:
    """Return a phone with both apps that shows its launcher."""
    device = toy_device(part)
    device.open("os")
    device.end()
    return device


@pytest.fixture(scope="module")
def small() -> Coverage:
    return explore(at_home())


def test_all_pages_and_actions_of_the_toy_are_reached(small: Coverage) -> None:
    found = small.apps["toy"]
    assert found.routes == ("toy/", "toy/i/{item}", "toy/new", "toy/level")
    assert found.unreached == ()
    assert found.uncovered == ()
    assert RouteAction(route="toy/i/{item}", key="toy.items.mark") not in found.actions
    assert RouteAction(route="toy/i/{item}", key="double:toy.items.done") in found.actions
    assert RouteAction(route="toy/i/{item}", key="submit:toy.items.rename") in found.actions
    assert RouteAction(route="toy/", key="swipe_left:toy.items.remove") in found.actions
    assert RouteAction(route="toy/level", key="toy.level.set") in found.actions


def test_transitions_say_where_a_touch_leads(small: Coverage) -> None:
    found = small.apps["toy"].transitions
    assert Transition(route="toy/", key="go:toy/i/{item}", to="toy/i/{item}") in found
    assert Transition(route="toy/new", key="toy.items.add", to="toy/") in found


def test_the_bars_of_the_system_are_no_actions_of_a_page(small: Coverage) -> None:
    keys = {offer.key for offer in small.apps["toy"].actions}
    assert "overlay:/shade" not in keys
    assert not any(key.startswith(("press", "open:")) for key in keys)


def test_an_action_that_no_page_offers_is_uncovered_unless_something_else_runs_it(
    small: Coverage,
) -> None:
    assert small.apps["part"].uncovered == ("part.number.hide",)


def test_a_page_that_needs_a_change_first_is_reached_and_an_island_is_not(
    small: Coverage,
) -> None:
    assert small.apps["part"].routes == ("part/", "part/deep")
    assert small.apps["part"].unreached == ("part/island",)


def test_a_link_to_no_page_is_told(small: Coverage) -> None:
    (told,) = small.broken
    assert told.startswith("part/: 'Lost': app 'part' has no page '/nowhere/at/all'")
    assert broken_link(Go(app="part", path="/nowhere/at/all"), toy_device(part).apps)


def test_depth_counts_touches_from_where_it_began(small: Coverage) -> None:
    assert small.apps["toy"].depth == 2
    assert explore(toy_device(), FEW).apps["toy"].depth == 1


def test_exploring_does_not_change_the_device() -> None:
    device = toy_device()
    before = device.doc
    explore(device, FEW)
    assert device.doc is before
    assert device.on_call is None


def test_keys_are_templates() -> None:
    apps = toy_device(part).apps
    row = Call(app="toy", action="items.done", args={"item": "item3", "done": True})
    assert template_key(Go(app="toy", path="/i/item3"), apps) == "go:toy/i/{item}"
    assert template_key(Both(first=row, then=Back()), apps) == "toy.items.done>back"
    assert template_key(OpenApp(app="toy"), apps) == "open:toy"
    assert names_in("double:toy.items.done>back") == ("toy.items.done", "back")
    assert template_key(Copy(text="a"), apps) == "copy"


def test_what_is_scrolled_away_is_offered_too() -> None:
    device = toy_device()
    rows = [
        o
        for o in affordances_of(device)
        if o.gesture == "tap" and o.node.label.startswith("Thing ")
    ]
    assert len(rows) == 30
    assert rows[0].scrolls == 0
    assert (rows[-1].scroll, rows[-1].scrolls > 1) == ("down", True)
    while device.scroll("down", 1.0).ok:
        pass
    first_row = next(o for o in affordances_of(device) if o.node.label == "Thing 1")
    assert (first_row.scroll, first_row.scrolls > 1) == ("up", True)


def test_figures_count_apps_without_the_system() -> None:
    device = at_home()
    reports = tuple(replay(toy, flow, toy_device()) for flow in toy.flows)
    found = stats_of(device.apps, explore(device, FEW), reports)
    assert found.apps == 2
    assert found.tools == len(toy.tools()) + len(part.tools())
    assert found.routes_median == 3
    assert {row.app: len(row.uncovered_actions) for row in found.table}["part"] == 1
    assert found.uncovered_actions == sum(len(row.uncovered_actions) for row in found.table)
    assert found.replay_failures == 0
    assert [row.app for row in found.table] == ["os", "toy", "part"]
    plain = msgspec.json.decode(msgspec.json.encode(found))
    assert set(plain) == set(AppsStats.__struct_fields__)


def test_every_page_and_action_of_the_apps_can_be_reached_by_touch() -> None:
    found = explore(bounds=FEW)
    assert {app.app: app.unreached for app in found.apps.values() if app.unreached} == {}
    assert {app.app: app.uncovered for app in found.apps.values() if app.uncovered} == {}
    assert found.broken == ()
