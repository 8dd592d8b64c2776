"""Settings pages for screen, sounds, notifications, permissions and the screen lock."""

from __future__ import annotations

from screenloop.phone import kit as k
from screenloop.phone.apps.settings import actions as act
from screenloop.phone.apps.settings import state as st
from screenloop.phone.apps.settings.connect import choice_row, system_switch
from screenloop.phone.apps.settings.state import State, app


def app_glyph(app_id: str) -> k.Glyph:
    """Return an app's icon in its colour."""
    from screenloop.phone.device.boot import installed

    return k.Glyph(installed()[app_id].icon, tint=installed()[app_id].tint)


def option_switch(
    s: State, name: st.OptionName, icon: str, label: k.Words, subtitle: k.Words = ""
) -> k.Switch:
    """Return a switch of these settings."""
    on: bool = getattr(s, name)
    return k.Switch(label, on, act.set_option(name=name, on=not on), icon=icon, subtitle=subtitle)


@app.page("/display")
def display_page(s: State, ui: k.Ui) -> k.Page:
    """Brightness, colours, text size, sleep."""
    sleeps = tuple(
        k.Chip(words, act.set_sleep(seconds=seconds), selected=s.sleep_s == seconds)
        for seconds, words in st.SLEEPS
    )
    fonts = tuple(
        k.Chip(words, act.set_font(percent=percent), selected=ui.system.font_scale == percent)
        for percent, words in st.FONTS
    )
    return k.Page(
        ("Display", "显示"),
        (
            k.card(
                k.Slider(
                    ("Brightness", "亮度"),
                    ui.system.brightness / 100,
                    lambda share: act.set_brightness(level=round(share * 100)),
                    icon="brightness",
                ),
                option_switch(s, "auto_brightness", "sun", ("Automatic brightness", "自动亮度")),
            ),
            k.card(
                system_switch(ui, "dark", "moon", ("Dark theme", "深色主题")),
                option_switch(
                    s,
                    "night_light",
                    "eye",
                    ("Night light", "护眼模式"),
                    ("Warmer colours", "更暖的颜色"),
                ),
                system_switch(ui, "auto_rotate", "rotate", ("Auto-rotate", "自动旋转")),
            ),
            k.Chips(fonts, label=("Text size", "字体大小")),
            k.Space(8),
            k.Chips(sleeps, label=("Screen goes dark after", "自动熄屏")),
        ),
    )


def _volume(ui: k.Ui, name: act.Volume, icon: str, words: k.Words) -> k.Slider:
    return k.Slider(
        words,
        getattr(ui.system, f"{name}_volume") / 100,
        lambda share: act.set_volume(name=name, level=round(share * 100)),
        icon=icon,
    )


@app.page("/sound")
def sound_page(s: State, ui: k.Ui) -> k.Page:
    """Volumes and tones."""
    volumes: tuple[tuple[act.Volume, str, tuple[str, str]], ...] = (
        ("media", "music", ("Media volume", "媒体音量")),
        ("ring", "bell", ("Ring volume", "铃声音量")),
        ("alarm", "alarm", ("Alarm volume", "闹钟音量")),
    )
    sliders = tuple(_volume(ui, name, icon, words) for name, icon, words in volumes)
    return k.Page(
        ("Sound & vibration", "声音和振动"),
        (
            k.Card(sliders),
            k.card(
                system_switch(ui, "do_not_disturb", "bell_off", ("Do not disturb", "勿扰模式")),
                option_switch(s, "vibrate", "vibrate", ("Vibrate for calls", "来电振动")),
                option_switch(s, "touch_sounds", "volume", ("Touch sounds", "触摸提示音")),
            ),
            k.card(
                k.link(("Ringtone", "铃声"), s.ringtone, k.Glyph("phone"), ringtone_page()),
                k.link(
                    ("Notification sound", "通知音"),
                    s.notification_sound,
                    k.Glyph("bell"),
                    chime_page(),
                ),
            ),
        ),
    )


@app.page("/ringtone")
def ringtone_page(s: State, ui: k.Ui) -> k.Page:
    """Choose the ringtone."""
    rows = tuple(
        choice_row(name, s.ringtone == name, act.set_ringtone(ringtone=name))
        for name in st.RINGTONES
    )
    return k.Page(("Ringtone", "铃声"), (k.Card(rows),))


@app.page("/chime")
def chime_page(s: State, ui: k.Ui) -> k.Page:
    """Choose the sound of notifications."""
    rows = tuple(
        choice_row(name, s.notification_sound == name, act.set_notification_sound(sound=name))
        for name in st.CHIMES
    )
    return k.Page(("Notification sound", "通知音"), (k.Card(rows),))


@app.page("/notifications")
def notices_page(s: State, ui: k.Ui) -> k.Page:
    """Which apps may notify."""
    blocked = len(s.notices.where(lambda n: not n.allowed))
    words = ui.t(f"{blocked} blocked", f"已屏蔽 {blocked} 个")
    rows = tuple(
        k.link(
            st.app_title(n.id),
            _notice_words(ui, n.allowed, n.sound),
            app_glyph(n.id),
            notice_page(app=n.id),
        )
        for n in sorted(s.notices, key=lambda n: ui.t(*st.app_title(n.id)))
    )
    return k.Page(
        ("Notifications", "通知"),
        (
            k.card(system_switch(ui, "do_not_disturb", "bell_off", ("Do not disturb", "勿扰模式"))),
            k.Heading(("Apps", "应用")),
            k.Card(rows),
        ),
        subtitle=words if blocked else "",
    )


def _notice_words(ui: k.Ui, allowed: bool, sound: bool) -> str:
    if not allowed:
        return ui.t("Blocked", "已屏蔽")
    return ui.t("Allowed", "已允许") if sound else ui.t("Allowed, silent", "已允许，静音")


@app.page("/notifications/{app}")
def notice_page(s: State, ui: k.Ui, app: st.NoticeId) -> k.Page:
    """The notifications of one app."""
    n = s.notices[app]
    return k.Page(
        st.app_title(app),
        (
            k.card(
                k.Switch(
                    ("Show notifications", "显示通知"),
                    n.allowed,
                    act.allow_notices(app=app, on=not n.allowed),
                    icon="bell",
                ),
                k.Switch(
                    ("Sound", "声音"),
                    n.sound,
                    act.sound_notices(app=app, on=not n.sound),
                    icon="volume",
                ),
            ),
        ),
    )


def _granted(ui: k.Ui, app_id: str, name: str) -> bool:
    row = ui.system.permissions.first(lambda p: p.app == app_id and p.name == name)
    return row is not None and row.granted


@app.page("/privacy")
def privacy_page(s: State, ui: k.Ui) -> k.Page:
    """What apps may use, by what it is."""
    rows = []
    for name, words, icon in st.PERMISSIONS:
        wanting = [app_id for app_id in st.app_ids() if name in st.WANTED.get(app_id, ())]
        count = sum(_granted(ui, app_id, name) for app_id in wanting)
        rows.append(
            k.link(
                words,
                ui.t(
                    f"{count} of {len(wanting)} apps allowed",
                    f"已允许 {count} / {len(wanting)} 个应用",
                ),
                k.Glyph(icon),
                permission_page(name=name),
            )
        )
    return k.Page(
        ("Privacy", "隐私"),
        (
            k.card(system_switch(ui, "location", "location", ("Use location", "使用位置信息"))),
            k.Heading(("Permissions", "权限")),
            k.Card(tuple(rows)),
        ),
    )


@app.page("/privacy/{name}")
def permission_page(s: State, ui: k.Ui, name: str) -> k.Page:
    """Which apps may use one thing."""
    found = next((p for p in st.PERMISSIONS if p[0] == name), st.PERMISSIONS[0])
    rows = []
    for app_id in st.app_ids():
        if found[0] in st.WANTED.get(app_id, ()):
            on = _granted(ui, app_id, found[0])
            do = act.set_permission(app=app_id, name=found[0], granted=not on)
            rows.append(k.Switch(st.app_title(app_id), on, do, icon=found[2]))
    return k.Page(found[1], (k.Card(tuple(rows)),))


@app.page("/security")
def security_page(s: State, ui: k.Ui) -> k.Page:
    """The screen lock."""
    pin = ui.field("pin", ("New PIN (4 digits)", "新 PIN 码（4 位）"), kind="number", secret=True)
    ready = len(pin.value) == 4 and pin.value.isdecimal()
    locked = bool(s.pin)
    state = ("The screen is locked with a PIN", "屏幕已用 PIN 码锁定")
    open_ = ("There is no screen lock", "没有屏幕锁")
    body: list[k.Widget] = [
        k.Banner("lock" if locked else "unlock", state if locked else open_),
        pin,
        k.Button(
            ("Change PIN", "更改 PIN 码") if locked else ("Set PIN", "设置 PIN 码"),
            act.set_pin(pin=pin.value),
            enabled=ready,
        ),
    ]
    if locked:
        body.append(k.Button(("Remove lock", "移除屏幕锁"), act.remove_pin(), kind="danger"))
    update = s.phone["phone"].security_update
    body.append(
        k.Paragraph(ui.t(f"Security update of {update}", f"安全更新：{update}"), muted=True)
    )
    return k.Page(("Security", "安全"), body)
