"""A small app that the tests of the phone's core declare for themselves, and a phone with it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from screenloop.phone.apps.os import pages as shell
from screenloop.phone.commands import Back, Both, Copy
from screenloop.phone.declare.app import App
from screenloop.phone.declare.cast import Cast
from screenloop.phone.declare.context import Ctx
from screenloop.phone.declare.document import AppDoc, PageDoc
from screenloop.phone.declare.flow_steps import enter, press, tap, wait
from screenloop.phone.declare.state import AppState, Catalog, Record, Refers, Table
from screenloop.phone.declare.system import OS_ID, SystemState
from screenloop.phone.declare.view import Ui
from screenloop.phone.device.boot import initial_doc
from screenloop.phone.device.device import Device
from screenloop.phone.draw.inputs import Slider
from screenloop.phone.draw.page import Dialog, DialogButton, Fab, Page, Tab
from screenloop.phone.draw.rows import Picture, Row
from screenloop.phone.draw.widgets import Button, Paragraph

ItemId = Annotated[str, Refers("toy.items")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
Count = Annotated[int, msgspec.Meta(ge=1, le=20)]


class Item(Record, frozen=True, kw_only=True):
    """Something with a name and a number."""

    name: str
    count: int = 1
    done: bool = False


class Kind(Record, frozen=True, kw_only=True):
    """Shared by all phones."""

    name: str


def seed_items(cast: Cast) -> list[Item]:
    return [Item(name=f"Thing {number}", count=number) for number in range(1, 31)]


class State(AppState):
    """What the toy keeps."""

    items = Table(Item, prefix="item", seed=seed_items)
    kinds = Catalog(Kind, seed=lambda cast: [Kind(name="round"), Kind(name="flat")])
    level: int = 50
    motto: str = ""


app = App("toy", State, title=("Toy", "玩具"), icon="star", tint="#2563eb")


@app.action(
    "items.add",
    tool="Add a thing.",
    writes=["items"],
    check=lambda before, after, a: len(after.items) == len(before.items) + 1,
)
def add(
    s: State, ctx: Ctx, name: Name, count: Count = 1, colour: Literal["red", "blue"] = "red"
) -> None:
    s.items.add(Item(name=f"{name} ({colour})", count=count))
    ctx.toast("Added")
    ctx.move(Back())


@app.action("items.rename", tool="Rename a thing.", writes=["items"])
def rename(s: State, ctx: Ctx, item: ItemId, name: Name) -> None:
    s.items.update(item, name=name)


@app.action("items.done", tool="Mark a thing as done, or not.", writes=["items"])
def mark(s: State, ctx: Ctx, item: ItemId, done: bool) -> None:
    s.items.update(item, done=done)


@app.action("items.remove", tool="Remove a thing.", writes=["items"])
def remove(s: State, ctx: Ctx, item: ItemId) -> None:
    s.items.remove(item)


@app.action("items.swap", tool="Put a new thing in place of an old one.", writes=["items"])
def swap(s: State, ctx: Ctx, item: ItemId, name: Name, fail: bool = False) -> None:
    ctx.call(remove(item=item))
    ctx.call(add(name=name))
    if fail:
        ctx.refuse("not today")


@app.action("items.later", tool="Have a thing marked in a while.", writes=[])
def later(s: State, ctx: Ctx, item: ItemId, seconds: int = 60) -> None:
    ctx.after(seconds, ring(item=item))


@app.action("items.ring", writes=["items"])
def ring(s: State, ctx: Ctx, item: ItemId) -> None:
    if item not in s.items:
        return
    s.items.update(item, done=True)
    ctx.notify("Done", s.items[item].name, item_page(item=item))


@app.action(
    "level.set",
    tool="Set the level.",
    writes=["level"],
    check=lambda before, after, a: after.level == a.level,
)
def set_level(s: State, ctx: Ctx, level: Annotated[int, msgspec.Meta(ge=0, le=100)]) -> None:
    s.level = level


@app.action("motto.set", tool="Write the motto.", writes=["motto"])
def set_motto(s: State, ctx: Ctx, motto: str) -> None:
    s.motto = motto


@app.action("sound.copy", tool="Copy the level to the media volume.", writes=["os.media_volume"])
def copy_level(s: State, ctx: Ctx) -> None:
    ctx.of(SystemState).media_volume = s.level


@app.query("items.find", tool="Find things by name.", shows="/")
def find(s: State, ctx: Ctx, text: str = "") -> list[Item]:
    return s.items.where(lambda i: text in i.name)


@app.query("items.get", tool="Read one thing.", shows="/i/{item}")
def get(s: State, ctx: Ctx, item: ItemId) -> Item:
    return s.items[item]


def _tabs(at: str) -> tuple[Tab, ...]:
    return (
        Tab(icon="list", words="Things", do=home().at_root(), selected=at == "things"),
        Tab(icon="settings", words="Level", do=level_page().at_root(), selected=at == "level"),
    )


@app.page("/")
def home(s: State, ui: Ui) -> Page:
    text = ui.field("text", "Find", kind="search")
    rows = [
        Row(
            title=i.name,
            trailing="done" if i.done else "",
            do=item_page(item=i.id),
            long=ui.set(chosen=i.id),
            swipe_left=remove(item=i.id),
        )
        for i in s.items
        if text.value in i.name
    ]
    chosen = ui.get("chosen", "")
    return Page(
        title="Things",
        body=(text, *rows),
        tabs=_tabs("things"),
        fab=Fab(icon="plus", words="New thing", do=new_page()),
        subtitle=chosen,
    )


@app.page("/i/{item}")
def item_page(s: State, ui: Ui, item: ItemId) -> Page:
    i = s.items[item]
    name = ui.field("name", "Name", i.name, submit=rename(item=item, name=ui.get("name", i.name)))
    sure = Dialog(
        title="Remove?",
        text=i.name,
        dismiss=ui.set(sure=False),
        buttons=(
            DialogButton(words="Keep", do=ui.set(sure=False)),
            DialogButton(words="Remove it", do=remove(item=item), danger=True),
        ),
    )
    return Page(
        title=i.name,
        body=(
            Picture(
                kind="mountains",
                seed=1,
                label="Picture",
                height_px=120,
                double=mark(item=item, done=True),
                swipe_left=ui.set(side="left"),
                swipe_right=ui.set(side="right"),
            ),
            name,
            Paragraph(words=f"side {ui.get('side', 'none')}"),
            Button(words="Rename", do=rename(item=item, name=name.value)),
            Button(words="Done", do=mark(item=item, done=not i.done)),
            Button(words="Later", do=later(item=item)),
            Button(words="Remove", do=ui.set(sure=True)),
            Button(words="Remove and leave", do=Both(first=remove(item=item), then=Back())),
            Button(words="Copy name", do=Copy(text=i.name)),
            Button(words="Swap", do=swap(item=item, name="Other", fail=i.done)),
        ),
        dialog=sure if ui.get("sure", False) else None,
    )


@app.page("/new")
def new_page(s: State, ui: Ui) -> Page:
    name = ui.field("name", "Name")
    count = ui.stepper("count", "Count", 1, low=1, high=20)
    colour = ui.chips("colour", (("red", "Red"), ("blue", "Blue")), "red")
    note = ui.field("note", "Note", lines=3)
    save = add(name=name.value, count=count.value, colour=colour.value)
    return Page(
        title="New thing",
        body=(name, count, colour, note, Button(words="Save", do=save, enabled=bool(name.value))),
    )


@app.page("/level")
def level_page(s: State, ui: Ui) -> Page:
    motto = ui.field("motto", "Motto", s.motto, submit=set_motto(motto=ui.get("motto", s.motto)))
    return Page(
        title="Level",
        tabs=_tabs("level"),
        body=(
            Slider(
                label="Level",
                share=s.level / 100,
                place=lambda share: set_level(level=round(share * 100)),
            ),
            motto,
            Button(words="Copy to volume", do=copy_level()),
        ),
    )


app.flow("add a thing", tap("New thing"), enter("name", "Kite"), tap("Blue"), tap(add))
app.flow("rename a thing", tap(item_page, item="item3"), enter("name", "Ball"), tap(rename))
app.flow("mark one in a while", tap(item_page, item="item2"), tap(later), wait(90), press("back"))
app.flow("set the level", tap("Level"), tap(copy_level), enter("motto", "Onward", submit=True))
app.flow("remove a thing", tap(item_page, item="item25"), tap("Remove"), tap(remove))


def toy_device(*others: App[Any], quantum_ms: int = 0, strict: bool = True) -> Device:
    """Return a phone with the toy in front (and other apps), and nothing else installed."""
    apps: dict[str, App[Any]] = {OS_ID: shell.app, app.id: app, **{a.id: a for a in others}}
    base = initial_doc("default", 0)
    cast = Cast("default", 0)
    parts = {OS_ID: base.apps[OS_ID]}
    for each in (app, *others):
        parts[each.id] = AppDoc(data=each.state.initial(cast), stack=(PageDoc(path="/"),))
    doc = msgspec.structs.replace(base, apps=parts, front=app.id)
    return Device(apps, doc, quantum_ms=quantum_ms, strict=strict)
