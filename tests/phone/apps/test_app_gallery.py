"""The gallery: photos, albums, files, and the media picker that reads it."""

from __future__ import annotations

from typing import Any

import pytest

from screenloop.phone.apps.gallery.pages import State, app, photo_page
from screenloop.phone.commands import Call, Go, PickMedia
from screenloop.phone.declare.cast import cast
from screenloop.phone.declare.document import state_hash
from screenloop.phone.declare.flow_steps import tap
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step

SLOTS = {
    "photo": "photo2",
    "album": "album3",
    "folder": "folder1",
    "file": "file2",
    "camera": "back",
}


def gallery_of(device: Device) -> State:
    """Return the gallery's data."""
    return State(device.doc.apps["gallery"].data, cast(device.doc.world, device.doc.seed))


def call(device: Device, action: str, **args: Any) -> tuple[bool, str]:
    """Run an action as a tool would and return whether it was done, and what it said."""
    effect = device.perform(Call(app="gallery", action=action, args=args))
    return effect.ok, effect.message


@pytest.mark.parametrize("flow", app.flows, ids=lambda flow: flow.name)
def test_a_flow_runs_and_restoring_gives_the_first_state(flow: Any) -> None:
    device = new_device(strict=True)
    start, first = device.snapshot(), state_hash(device.doc)
    device.open("gallery")
    for step in flow.steps:
        device.begin()
        effect = run_step(device, step)
        device.end()
        assert effect.ok, effect
    device.restore(start)
    assert state_hash(device.doc) == first


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_draws(lang: str, dark: bool) -> None:
    patches = (
        {"app": "os", "field": "language", "op": "set", "value": lang},
        {"app": "os", "field": "dark", "op": "set", "value": dark},
    )
    device = new_device(patches=patches)
    for route in app.routes.values():
        path = route.path(**{slot: SLOTS[slot] for slot in route.slots})
        device.perform(Go(app="gallery", path=path))
        assert device.painted().html


def test_every_photo_of_a_new_phone_has_its_own_title_and_an_album_that_exists() -> None:
    gallery = gallery_of(new_device(seed=3))
    titles = [p.title for p in gallery.photos]
    assert len(set(titles)) == len(titles) == 48
    assert all(p.album in gallery.albums for p in gallery.photos)
    assert all(f.folder in gallery.folders for f in gallery.files)


def test_a_photo_is_deleted_for_good_only_from_the_trash() -> None:
    device = new_device(strict=True)
    assert call(device, "photos.delete", photo="photo2")[0] is False
    assert call(device, "photos.trash", photo="photo2")[0]
    assert call(device, "photos.delete", photo="photo2")[0]
    assert "photo2" not in gallery_of(device).photos


def test_the_albums_of_the_phone_are_neither_renamed_nor_deleted() -> None:
    device = new_device(strict=True)
    assert call(device, "albums.delete", album="album1") == (
        False,
        "This album belongs to the phone",
    )
    assert not call(device, "albums.rename", album="album2", name="Mine")[0]


def test_deleting_an_album_moves_its_photos_to_camera() -> None:
    device = new_device(strict=True)
    inside = [p.id for p in gallery_of(device).photos if p.album == "album3"]
    assert call(device, "albums.delete", album="album3")[0]
    after = gallery_of(device)
    assert inside
    assert all(after.photos[i].album == "album1" for i in inside)


def test_a_folder_with_files_is_not_deleted() -> None:
    device = new_device(strict=True)
    assert call(device, "folders.delete", folder="folder1") == (False, "The folder is not empty")


def test_names_are_not_used_twice() -> None:
    device = new_device(strict=True)
    assert call(device, "albums.add", name="trips ") == (False, "trips exists already")
    assert call(device, "files.rename", file="file1", name="Hotel booking")[0] is False


def test_swiping_the_viewer_goes_to_the_older_photo_and_back() -> None:
    device = new_device()
    device.open("gallery")
    run_step(device, tap(photo_page, photo="photo2"))
    titles = [next(n.label for n in device.screen.nodes if n.role == "image")]
    for x0, x1 in ((350, 60), (60, 350)):
        assert device.swipe(x0, 450, x1, 450).ok
        titles.append(next(n.label for n in device.screen.nodes if n.role == "image"))
    assert titles[0] == titles[2] != titles[1]


def test_a_pinch_zooms_the_viewer_and_a_double_tap_stars_the_photo() -> None:
    device = new_device()
    device.perform(Go(app="gallery", path="/photo/photo2"))
    assert device.pinch(200, 450, 2.0).ok
    assert next(n.value for n in device.screen.nodes if n.role == "image") == "200%"
    was = gallery_of(device).photos["photo2"].favourite
    assert device.double_tap(200, 450).ok
    assert gallery_of(device).photos["photo2"].favourite is not was


def test_the_picker_sets_the_local_of_the_page_that_asked() -> None:
    patch = {
        "app": "os",
        "table": "permissions",
        "op": "add",
        "row": {"app": "gallery", "name": "photos", "granted": True},
    }
    device = new_device(patches=(patch,))
    device.perform(Go(app="gallery", path="/albums/new"))
    device.perform(PickMedia(local="picture"))
    assert device.screen.route == "os/pick"
    title = gallery_of(device).photos["photo2"].title
    assert run_step(device, tap(title)).ok
    assert device.screen.route == "gallery/albums/new"
    assert device.doc.page.locals == {"picture": "photo2"}


def test_back_closes_the_picker_and_nothing_else() -> None:
    device = new_device()
    device.perform(Go(app="gallery", path="/albums/new"))
    device.perform(PickMedia(local="picture"))
    assert device.screen.route == "os/permission"
    run_step(device, tap("Allow"))
    assert device.screen.route == "os/pick"
    device.press("back")
    assert device.screen.route == "gallery/albums/new"
    assert device.doc.page.locals == {}


def test_a_photo_taken_with_the_front_camera_is_a_portrait_in_camera() -> None:
    device = new_device(strict=True)
    assert call(device, "photos.take", camera="front")[0]
    newest = max(gallery_of(device).photos, key=lambda p: p.taken_at)
    assert (newest.title, newest.kind, newest.album) == ("IMG_0001", "portrait", "album1")
