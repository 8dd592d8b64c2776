"""The phone that a person drives in ten lines."""

from __future__ import annotations

import doctest
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from toy_app import app as toy

import screenloop.phone.phone as module
from screenloop.errors import TaskError
from screenloop.phone.declare.document import state_hash
from screenloop.phone.device.boot import new_device
from screenloop.phone.phone import Phone


def test_its_example_runs() -> None:
    done = doctest.testmod(module)
    assert done.attempted > 5
    assert done.failed == 0


def test_a_label_is_found_by_scrolling() -> None:
    phone = Phone()
    phone.open("Settings")
    below = "About phone"
    assert below not in phone.labels
    assert phone.tap(below).ok
    assert below in phone.labels


def test_a_label_that_is_not_there_is_refused_and_changes_nothing() -> None:
    phone = Phone()
    phone.open("Settings")
    before = state_hash(phone.device.doc)
    with pytest.raises(TaskError, match="fits 'Jetpack'"):
        phone.tap("Jetpack")
    assert state_hash(phone.device.doc) == before


def test_points_keys_gestures_and_time() -> None:
    phone = Phone()
    nodes = phone.screen.nodes
    assert phone.tap(next(n for n in nodes if n.label == "Notes").box.center).ok
    assert phone.screen.route == "notes/"
    assert phone.press("home").ok
    assert phone.swipe((200, 5), (200, 300)).ok
    assert phone.screen.route == "os/shade"
    assert phone.press("back").ok
    assert phone.open("settings").ok
    assert phone.scroll("down").ok
    clock_ms = phone.device.doc.clock_ms
    phone.wait(60)
    assert phone.device.doc.clock_ms == clock_ms + 61_000


def test_tools_bring_their_app_to_the_front() -> None:
    phone = Phone()
    assert {tool.name for tool in phone.tools("notes")} >= {"notes.notes.add"}
    effect = phone.call("notes.notes.add", title="Milk")
    assert effect.ok
    assert phone.screen.route.startswith("notes/")
    assert "Milk" in {note["title"] for note in phone.data["notes"]["notes"].values()}
    assert {(row.table, row.channel) for row in phone.changes()} == {("notes", "tool")}
    assert phone.call("notes.notes.add", title=3).code == "bad_args"
    assert phone.call("nothing.add").code == "no_such_tool"


def test_a_fork_and_a_snapshot_are_branches() -> None:
    phone = Phone(seed=2)
    kept = phone.snapshot()
    twin = phone.fork()
    twin.call("notes.notes.add", title="Milk")
    assert (len(phone.changes()), len(twin.changes())) == (0, 1)
    twin.restore(kept)
    assert state_hash(twin.device.doc) == state_hash(phone.device.doc)


def test_frames_are_pngs(tmp_path: Path) -> None:
    phone = Phone()
    phone.save(tmp_path / "home.png")
    assert (tmp_path / "home.png").read_bytes() == phone.frame()
    assert Image.open(BytesIO(phone.frame((1080, 2400)))).size == (1080, 2400)


def test_an_app_of_ones_own_stands_beside_the_installed_ones() -> None:
    patch = {"app": "toy", "table": "items", "op": "set", "id": "item1", "fields": {"count": 9}}
    patched = new_device(apps=[toy], patches=(patch,)).doc.apps["toy"].data.builtins()
    assert patched["items"]["item1"]["count"] == 9
    phone = Phone(apps=[toy])
    assert phone.open("toy").ok
    assert phone.press("home").ok
    assert phone.tap(toy.title[0]).ok
    assert phone.screen.route == "toy/"
    assert "toy" not in Phone().data
