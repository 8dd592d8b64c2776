"""The operating system as an app: launcher, shade, recents, share sheet, picker, permissions."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from screenloop.phone import kit as k

app = k.App("os", k.SystemState, title=("System", "系统"), icon="settings", tint="#2f5fd0")

SwitchName = Literal[
    "wifi",
    "bluetooth",
    "mobile_data",
    "airplane",
    "hotspot",
    "location",
    "do_not_disturb",
    "flashlight",
    "auto_rotate",
    "battery_saver",
    "dark",
]
Level = Annotated[int, msgspec.Meta(ge=0, le=100)]
QUICK: tuple[tuple[SwitchName, str, tuple[str, str]], ...] = (
    ("wifi", "wifi", ("Wi-Fi", "无线网络")),
    ("bluetooth", "bluetooth", ("Bluetooth", "蓝牙")),
    ("airplane", "airplane", ("Airplane", "飞行模式")),
    ("do_not_disturb", "bell_off", ("Do not disturb", "勿扰")),
    ("flashlight", "flashlight", ("Flashlight", "手电筒")),
    ("auto_rotate", "rotate", ("Rotate", "自动旋转")),
    ("battery_saver", "battery", ("Saver", "省电")),
    ("dark", "moon", ("Dark", "深色")),
)


# ---- actions -------------------------------------------------------------------------------


@app.action(
    "switch.set",
    writes=[
        "wifi",
        "bluetooth",
        "mobile_data",
        "airplane",
        "hotspot",
        "location",
        "do_not_disturb",
        "flashlight",
        "auto_rotate",
        "battery_saver",
        "dark",
    ],
    check=lambda before, after, a: getattr(after, a.name) == a.on,
)
def set_switch(s: k.SystemState, ctx: k.Ctx, name: SwitchName, on: bool) -> None:
    """Turn a system switch on or off; airplane mode takes the radios with it."""
    setattr(s, name, on)
    if name == "airplane" and on:
        s.wifi = s.bluetooth = s.hotspot = False
    if name == "hotspot" and on:
        s.wifi = False


@app.action(
    "volume.set",
    writes=["media_volume", "ring_volume", "alarm_volume"],
    check=lambda before, after, a: getattr(after, f"{a.name}_volume") == a.level,
)
def set_volume(
    s: k.SystemState, ctx: k.Ctx, name: Literal["media", "ring", "alarm"], level: Level
) -> None:
    """Set one of the volumes."""
    setattr(s, f"{name}_volume", level)


@app.action("brightness.set", writes=["brightness"], check=k.value_is("brightness", "level"))
def set_brightness(s: k.SystemState, ctx: k.Ctx, level: Level) -> None:
    """Set the screen brightness."""
    s.brightness = level


@app.action("clipboard.set", writes=["clipboard"])
def set_clipboard(s: k.SystemState, ctx: k.Ctx, text: str) -> None:
    """Put a text on the clipboard."""
    s.clipboard = text


@app.action("notifications.dismiss", writes=["notifications"])
def dismiss(s: k.SystemState, ctx: k.Ctx, notification: str) -> None:
    """Take a notification away."""
    s.notifications.remove(notification)


@app.action("notifications.clear", writes=["notifications"])
def clear(s: k.SystemState, ctx: k.Ctx) -> None:
    """Take all notifications away."""
    for row in list(s.notifications):
        s.notifications.remove(row.id)


@app.action("permissions.set", writes=["permissions"])
def set_permission(s: k.SystemState, ctx: k.Ctx, app: str, name: str, granted: bool) -> None:
    """Allow or deny an app the use of something."""
    row = s.permissions.first(lambda p: p.app == app and p.name == name)
    if row is None:
        s.permissions.add(k.Permission(app=app, name=name, granted=granted))
    else:
        s.permissions.update(row.id, granted=granted)


# ---- launcher ------------------------------------------------------------------------------


class Launcher(k.Struct, frozen=True, kw_only=True):
    """The home screen: wallpaper, clock, a grid of apps, a dock."""

    apps: tuple[tuple[str, tuple[str, str], str, str], ...]
    """Id, title, icon, tint; in order."""
    docked: tuple[str, ...]
    clock: str
    day: str
    folder: tuple[str, ...] = ()
    """Ids of the apps in the open folder."""
    folders: dict[str, tuple[str, ...]] = {}
    close: k.Do

    def height(self, d: k.Canvas, w: int) -> int:
        """Return its height: the whole screen below the status bar."""
        return d.size_px[1] - k.STATUS_PX - k.NAV_PX

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw it over everything."""
        screen_h = d.size_px[1]
        d.limit(0, screen_h)
        d.picture("wallpaper", 7, 0, 0, w, screen_h)
        d.text(self.clock, 0, y + 40, w, 64, "#ffffff", line_px=76, bold=True, align="center")
        d.text(self.day, 0, y + 120, w, 17, "#ffffff", align="center")
        loose = [a for a in self.apps if a[0] not in self.docked]
        inside = {i for ids in self.folders.values() for i in ids}
        cells = [a for a in loose if a[0] not in inside]
        for number, entry in enumerate(cells):
            self._icon(d, entry, number % 4 * w // 4, y + 200 + number // 4 * 104, w // 4)
        for number, (name, ids) in enumerate(self.folders.items(), start=len(cells)):
            left, top = number % 4 * w // 4, y + 200 + number // 4 * 104
            self._folder_icon(d, name, ids, left, top, w // 4)
        dock = screen_h - k.NAV_PX - 110
        d.box(12, dock, w - 24, 96, "rgba(255,255,255,0.22)", radius=28)
        docked = [a for a in self.apps if a[0] in self.docked]
        for number, entry in enumerate(docked):
            self._icon(d, entry, 12 + number * (w - 24) // 4, dock + 10, (w - 24) // 4, "")
        if self.folder:
            d.later(lambda: self._open_folder(d, w))

    def _icon(
        self,
        d: k.Canvas,
        entry: tuple[str, tuple[str, str], str, str],
        x: int,
        y: int,
        w: int,
        color: str = "#ffffff",
    ) -> None:
        app_id, title, icon, tint = entry
        left = x + (w - 58) // 2
        d.box(left, y, 58, 58, tint, radius=18)
        d.icon(icon, left + 14, y + 14, 30, "#ffffff")
        label = d.words(title)
        if color:
            d.centered(label, x, y + 64, w, 12, color)
        d.node(k.Node("button", label, k.Box(x, y - 4, w, 92), do=k.OpenApp(app=app_id)))

    def _folder_icon(
        self, d: k.Canvas, name: str, ids: tuple[str, ...], x: int, y: int, w: int
    ) -> None:
        left = x + (w - 58) // 2
        d.box(left, y, 58, 58, "rgba(255,255,255,0.35)", radius=18)
        members = [a for a in self.apps if a[0] in ids]
        for number, (_, _, icon, tint) in enumerate(members[:4]):
            at_x, at_y = left + 8 + number % 2 * 22, y + 8 + number // 2 * 22
            d.box(at_x, at_y, 20, 20, tint, radius=6)
            d.icon(icon, at_x + 4, at_y + 4, 12, "#ffffff")
        d.centered(name, x, y + 64, w, 12, "#ffffff")
        opening = k.SetLocal(values={"folder": name})
        d.node(k.Node("button", name, k.Box(x, y - 4, w, 92), do=opening))

    def _open_folder(self, d: k.Canvas, w: int) -> None:
        screen_h = d.size_px[1]
        d.box(0, 0, w, screen_h, "rgba(0,0,0,0.5)")
        whole = k.Box(0, 0, w, screen_h)
        d.node(k.Node("dialog", "", whole, do=self.close, blocks=True))
        d.box(36, 320, w - 72, 160, "rgba(255,255,255,0.88)", radius=28)
        members = [a for a in self.apps if a[0] in self.folder]
        for number, entry in enumerate(members):
            self._icon(d, entry, 36 + number * (w - 72) // 4, 356, (w - 72) // 4, "#1a1c20")


FOLDER = ("Tools", "工具")
FOLDED = ("clock", "settings")
DOCKED = ("contacts", "messages", "gallery", "shop")


@app.page("/")
def home(s: k.SystemState, ui: k.Ui) -> k.Page:
    """The launcher."""
    entries = tuple((a.id, a.title, a.icon, a.tint) for a in ui.apps.values() if a.id != "os")
    name = ui.t(*FOLDER)
    launcher = Launcher(
        apps=entries,
        docked=DOCKED,
        clock=ui.clock(ui.now_s),
        day=ui.day(ui.now_s),
        folders={name: FOLDED},
        folder=FOLDED if ui.get("folder", "") else (),
        close=ui.set(folder=""),
    )
    return k.Page(("Home", "主屏幕"), (launcher,), bare=True)


# ---- overlays ------------------------------------------------------------------------------


@app.page("/shade")
def shade(s: k.SystemState, ui: k.Ui) -> k.Sheet:
    """Quick settings and notifications."""
    tiles = tuple(
        k.ActionButton(
            icon, words, set_switch(name=name, on=not getattr(s, name)), selected=getattr(s, name)
        )
        for name, icon, words in QUICK
    )
    body: list[k.Widget] = [
        k.Grid(tiles, columns=4, gap_px=4),
        k.Slider(
            ("Brightness", "亮度"),
            s.brightness / 100,
            lambda share: set_brightness(level=round(share * 100)),
            icon="brightness",
        ),
        k.Heading(
            ("Notifications", "通知"),
            ("Clear all", "全部清除"),
            clear() if len(s.notifications) else None,
        ),
    ]
    for row in sorted(s.notifications, key=lambda n: -n.at_s):
        body.append(_notification(ui, row))
    if not len(s.notifications):
        body.append(k.Paragraph(("No notifications", "没有通知"), muted=True, align="center"))
    return k.Sheet(ui.day(ui.now_s), body, dismiss=k.Back(), from_top=True)


def _notification(ui: k.Ui, row: k.Notification) -> k.Row:
    opens = k.Go(app=row.target, path=row.path)
    return k.Row(
        row.title,
        row.text,
        k.Glyph("bell"),
        trailing=ui.ago(row.at_s),
        do=k.Both(first=dismiss(notification=row.id), then=opens),
        swipe_left=dismiss(notification=row.id),
    )


@app.page("/recents")
def recents(s: k.SystemState, ui: k.Ui) -> k.Page:
    """The apps used last."""
    rows: list[k.Widget] = [
        k.Row(
            ui.apps[app_id].title,
            do=k.OpenApp(app=app_id),
            lead=k.Glyph(ui.apps[app_id].icon, tint=ui.apps[app_id].tint, size_px=44),
        )
        for app_id in ui.recents
    ]
    if not rows:
        rows.append(k.Empty("recents", ("No recent apps", "没有最近任务")))
    return k.Page(("Recent apps", "最近任务"), rows, large=True)


@app.page("/share")
def share(s: k.SystemState, ui: k.Ui) -> k.Sheet:
    """Where a text or picture can go."""
    text, image = ui.get("text", ""), ui.get("image", "")
    rows: list[k.Widget] = [k.Paragraph(text, muted=True, lines=2)] if text else []
    for target in ui.apps.values():
        if target.share_path:
            rows.append(
                k.Row(
                    target.title,
                    lead=k.Glyph(target.icon, tint=target.tint),
                    do=k.Go(app=target.id, path=_shared_path(target, text, image)),
                )
            )
    return k.Sheet(("Share", "分享"), rows, dismiss=k.Back())


def _shared_path(target: k.AppCard, text: str, image: str) -> str:
    from urllib.parse import quote

    return target.share_path.format(text=quote(text or "-", safe=""), image=image or "-")


@app.page("/permission")
def permission(s: k.SystemState, ui: k.Ui) -> k.Sheet:
    """Ask whether an app may use something."""
    asking, name = ui.get("app", ""), ui.get("name", "")
    title = ui.t(*ui.apps[asking].title)
    local = ui.get("local", "")
    allow = k.Both(
        first=set_permission(app=asking, name=name, granted=True),
        then=k.Overlay(path="/pick", locals={"app": asking, "name": name, "local": local}),
    )
    deny = k.Both(first=set_permission(app=asking, name=name, granted=False), then=k.Back())
    words = ui.t(f"Allow {title} to access your photos?", f"允许{title}访问你的照片吗？")
    return k.Sheet(
        words,
        (
            k.Row(("Allow", "允许"), lead=k.Glyph("check"), do=allow),
            k.Row(("Don't allow", "不允许"), lead=k.Glyph("close"), do=deny),
        ),
        dismiss=k.Back(),
    )


@app.page("/pick")
def pick(s: k.SystemState, ui: k.Ui) -> k.Sheet:
    """Choose one of the photos; its id becomes a value of the page that asked."""
    from screenloop.phone.apps.gallery.state import State as Gallery

    local = ui.get("local", "")
    photos = sorted(ui.of(Gallery).photos.where(lambda p: not p.trashed), key=lambda p: -p.taken_at)
    cells = tuple(
        k.Picture(
            p.kind,
            p.seed,
            p.title,
            radius_px=4,
            do=k.Both(first=k.Back(), then=k.SetLocal(values={local: p.id})),
        )
        for p in photos
    )
    body: list[k.Widget] = [k.Grid(cells, columns=3, gap_px=3, inset_px=8)]
    if not cells:
        body = [k.Empty("image", ("No photos yet", "还没有照片"))]
    return k.Sheet(("Choose a photo", "选择照片"), body, dismiss=k.Back())
