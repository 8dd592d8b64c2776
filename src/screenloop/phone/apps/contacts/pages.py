"""Contacts: people with numbers, favourites, groups, blocked callers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal
from urllib.parse import quote

import msgspec

from screenloop.phone import kit as k

Group = Literal["family", "friends", "work", "other"]
GROUPS: tuple[tuple[Group, tuple[str, str]], ...] = (
    ("family", ("Family", "家人")),
    ("friends", ("Friends", "朋友")),
    ("work", ("Work", "工作")),
    ("other", ("Other", "其他")),
)
PersonId = Annotated[str, k.Refers("contacts.people")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]


class Person(k.Record, frozen=True, kw_only=True):
    """One contact."""

    name: str
    phone: str
    email: str = ""
    city: str = ""
    group: Group = "other"
    birthday: str = ""
    note: str = ""
    favourite: bool = False
    blocked: bool = False


def seed_people(cast: k.Cast) -> Iterable[Person]:
    """Most of the world's people, with groups and a few favourites."""
    rng = cast.rng("contacts")
    for member in cast.people[:20]:
        yield Person(
            name=member.name,
            phone=member.phone,
            email=member.email,
            city=member.city,
            birthday=member.birthday,
            group=rng.choice(GROUPS)[0],
            favourite=rng.random() < 0.2,
        )


class State(k.AppState):
    """The address book."""

    people = k.Table(Person, prefix="person", seed=seed_people)


app = k.App("contacts", State, title=("Contacts", "通讯录"), icon="users", tint="#2563eb")


# ---- actions -------------------------------------------------------------------------------


@app.action("people.add", tool=True, writes=["people"], check=k.one_more("people"))
def add(
    s: State,
    ctx: k.Ctx,
    name: Name,
    phone: str,
    email: str = "",
    city: str = "",
    group: Group = "other",
) -> None:
    """Save a new contact."""
    person = s.people.add(
        Person(
            name=name.strip(),
            phone=phone.strip(),
            email=email.strip(),
            city=city.strip(),
            group=group,
        )
    )
    ctx.toast(ctx.t("Contact saved", "联系人已保存"))
    ctx.move(k.Back())
    ctx.move(person_page(person=person.id))


@app.action(
    "people.edit",
    tool=True,
    writes=["people"],
    check=lambda before, after, a: after.people[a.person].name == a.name.strip(),
)
def edit(
    s: State,
    ctx: k.Ctx,
    person: PersonId,
    name: Name,
    phone: str,
    email: str,
    city: str,
    group: Group,
) -> None:
    """Change a contact's details."""
    s.people.update(
        person,
        name=name.strip(),
        phone=phone.strip(),
        email=email.strip(),
        city=city.strip(),
        group=group,
    )
    ctx.toast(ctx.t("Contact updated", "联系人已更新"))
    ctx.move(k.Back())


@app.action(
    "people.note", tool=True, writes=["people"], check=k.row_has("people", "person", note="note")
)
def write_note(s: State, ctx: k.Ctx, person: PersonId, note: str) -> None:
    """Write a note about a contact."""
    s.people.update(person, note=note)
    ctx.toast(ctx.t("Note saved", "备注已保存"))


@app.action(
    "people.favourite",
    tool=True,
    writes=["people"],
    check=k.row_has("people", "person", favourite="on"),
)
def favourite(s: State, ctx: k.Ctx, person: PersonId, on: bool) -> None:
    """Mark a contact as favourite, or not."""
    s.people.update(person, favourite=on)


@app.action(
    "people.block", tool=True, writes=["people"], check=k.row_has("people", "person", blocked="on")
)
def block(s: State, ctx: k.Ctx, person: PersonId, on: bool) -> None:
    """Block or unblock a contact."""
    s.people.update(person, blocked=on)
    ctx.toast(ctx.t("Blocked", "已屏蔽") if on else ctx.t("Unblocked", "已取消屏蔽"))


@app.action("people.delete", tool=True, writes=["people"], check=k.gone("people", "person"))
def delete(s: State, ctx: k.Ctx, person: PersonId) -> None:
    """Delete a contact."""
    s.people.remove(person)
    ctx.toast(ctx.t("Contact deleted", "联系人已删除"))
    ctx.move(k.Back())


@app.query("people.search", shows="/")
def search(s: State, ctx: k.Ctx, text: str = "") -> list[Person]:
    """Find contacts by part of a name, number or city."""
    return _found(s, text)


@app.query("people.get", shows="/p/{person}")
def get(s: State, ctx: k.Ctx, person: PersonId) -> Person:
    """Read one contact."""
    return s.people[person]


# ---- pages ---------------------------------------------------------------------------------


def _found(s: State, text: str) -> list[Person]:
    wanted = text.casefold().strip()
    people = s.people.where(lambda p: wanted in f"{p.name} {p.phone} {p.city}".casefold())
    return sorted(people, key=lambda p: p.name)


def _row(person: Person) -> k.Row:
    return k.Row(
        person.name,
        person.phone,
        k.Avatar(person.name),
        trailing_icon="star_filled" if person.favourite else "",
        do=person_page(person=person.id),
    )


def _tabs(shown: str) -> tuple[k.Tab, ...]:
    return k.tabs(
        shown,
        ("people", "users", ("People", "联系人"), people_page()),
        ("favourites", "star", ("Favourites", "收藏"), favourites_page()),
        ("groups", "tag", ("Groups", "分组"), groups_page()),
    )


@app.page("/")
def people_page(s: State, ui: k.Ui) -> k.Page:
    """All people, by name."""
    text = ui.field("text", ("Search people", "搜索联系人"), kind="search")
    found = _found(s, text.value)
    body: list[k.Widget] = [text]
    letter = ""
    for person in found:
        if person.name[0] != letter:
            letter = person.name[0]
            body.append(k.Heading(letter))
        body.append(_row(person))
    if not found:
        body.append(k.Empty("users", ("Nobody found", "没有找到联系人")))
    return k.Page(
        ("Contacts", "通讯录"),
        body,
        large=True,
        tabs=_tabs("people"),
        fab=k.Fab("user_plus", ("New contact", "新建联系人"), new_page()),
    )


@app.page("/favourites")
def favourites_page(s: State, ui: k.Ui) -> k.Page:
    """The favourites only."""
    rows: list[k.Widget] = [_row(p) for p in _found(s, "") if p.favourite]
    if not rows:
        rows.append(k.Empty("star", ("No favourites yet", "还没有收藏")))
    return k.Page(("Favourites", "收藏"), rows, large=True, tabs=_tabs("favourites"))


@app.page("/groups")
def groups_page(s: State, ui: k.Ui) -> k.Page:
    """The groups and how many are in each."""
    rows = [
        k.link(
            words, ui.t(f"{count} people", f"{count} 人"), k.Glyph("users"), group_page(group=group)
        )
        for group, words in GROUPS
        for count in (len(s.people.where(lambda p, g=group: p.group == g)),)  # type: ignore[misc]
    ]
    return k.Page(("Groups", "分组"), rows, large=True, tabs=_tabs("groups"))


@app.page("/groups/{group}")
def group_page(s: State, ui: k.Ui, group: str) -> k.Page:
    """The people of one group."""
    rows: list[k.Widget] = [_row(p) for p in _found(s, "") if p.group == group]
    return k.Page(dict(GROUPS).get(group, group), rows)  # type: ignore[call-overload]


def _writing_to(phone: str) -> str:
    return f"/new/{quote(phone, safe='')}" if phone else "/new"


def _details(ui: k.Ui, p: Person) -> k.Card:
    rows = [k.Row(p.phone, ("Mobile", "手机"), k.Glyph("phone"), do=k.Copy(text=p.phone))]
    if p.email:
        rows.append(k.Row(p.email, ("Email", "邮箱"), k.Glyph("mail"), do=k.Copy(text=p.email)))
    facts = (
        (p.city, ("City", "城市"), "location"),
        (p.birthday, ("Birthday", "生日"), "gift"),
        (ui.t(*dict(GROUPS)[p.group]), ("Group", "分组"), "tag"),
    )
    rows += [k.Row(value, words, k.Glyph(icon)) for value, words, icon in facts if value]
    return k.Card(tuple(rows))


def _reach(p: Person) -> k.Line:
    buttons = (
        k.ActionButton("phone", ("Call", "呼叫"), k.Copy(text=p.phone)),
        k.ActionButton(
            "message", ("Message", "发短信"), k.Go(app="messages", path=_writing_to(p.phone))
        ),
        k.ActionButton("share", ("Share", "分享"), k.Share(text=f"{p.name} {p.phone}")),
    )
    return k.Line(buttons, inset_px=24)


@app.page("/p/{person}")
def person_page(s: State, ui: k.Ui, person: PersonId) -> k.Page:
    """One contact."""
    p = s.people[person]
    note = ui.field("note", ("Note", "备注"), p.note, lines=2)
    return k.Page(
        "",
        (
            k.Avatar(p.name, size_px=96),
            k.Paragraph(p.name, size_px=24, bold=True, align="center", lines=1),
            *(
                [k.Paragraph(("Blocked", "已屏蔽"), color="#d92d20", align="center")]
                if p.blocked
                else []
            ),
            _reach(p),
            _details(ui, p),
            note,
            k.Button(
                ("Save note", "保存备注"),
                write_note(person=p.id, note=note.value),
                kind="tonal",
                enabled=note.value != p.note,
            ),
            k.Divider(),
            k.Row(
                ("Unblock", "取消屏蔽") if p.blocked else ("Block", "屏蔽"),
                danger=True,
                do=block(person=p.id, on=not p.blocked),
            ),
        ),
        actions=(
            k.IconButton(
                "star_filled" if p.favourite else "star",
                ("Favourite", "收藏"),
                favourite(person=p.id, on=not p.favourite),
                selected=p.favourite,
            ),
            k.IconButton("edit", ("Edit", "编辑"), edit_page(person=p.id)),
            k.IconButton("trash", ("Delete", "删除"), ui.set(sure=True)),
        ),
        dialog=ui.question(
            ("Delete contact?", "删除联系人？"), ("Delete", "删除"), delete(person=p.id), p.name
        ),
    )


def _form(ui: k.Ui, p: Person) -> tuple[list[k.Widget], dict[str, Any]]:
    name = ui.field("name", ("Name", "姓名"), p.name)
    phone = ui.field("phone", ("Phone", "电话"), p.phone, kind="phone")
    email = ui.field("email", ("Email", "邮箱"), p.email)
    city = ui.field("city", ("City", "城市"), p.city)
    group = ui.chips("group", GROUPS, p.group, label=("Group", "分组"))
    args = {
        "name": name.value,
        "phone": phone.value,
        "email": email.value,
        "city": city.value,
        "group": group.value,
    }
    return [name, phone, email, city, group], args


@app.page("/new")
def new_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new contact."""
    fields, args = _form(ui, Person(name="", phone=""))
    save = k.Button(("Save", "保存"), add(**args), enabled=bool(args["name"].strip()))
    return k.Page(("New contact", "新建联系人"), (*fields, save))


@app.page("/p/{person}/edit")
def edit_page(s: State, ui: k.Ui, person: PersonId) -> k.Page:
    """The form for an existing contact."""
    fields, args = _form(ui, s.people[person])
    save = k.Button(
        ("Save", "保存"), edit(person=person, **args), enabled=bool(args["name"].strip())
    )
    return k.Page(("Edit contact", "编辑联系人"), (*fields, save))


k.read_flows(app, __package__)
