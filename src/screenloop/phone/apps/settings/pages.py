"""Settings: the tree over the system's state, search in it, and facts about the phone."""

from __future__ import annotations

from screenloop.phone.apps.settings.actions import (
    add_account,
    add_network,
    allow_notices,
    check_update,
    clear_cache,
    connect,
    edit_hotspot,
    forget_gadget,
    forget_network,
    join,
    pair,
    remove_account,
    remove_pin,
    rename_gadget,
    rename_phone,
    set_data_limit,
    set_language,
    set_notification_sound,
    set_option,
    set_permission,
    set_pin,
    set_ringtone,
    set_sleep,
    set_switch,
    sound_notices,
    sync_account,
)
from screenloop.phone.apps.settings.connect import (
    add_network_page,
    bluetooth_page,
    data_page,
    gadget_page,
    hotspot_page,
    network_page,
    system_switch,
    wifi_network_page,
    wifi_page,
    wifi_words,
)
from screenloop.phone.apps.settings.device import (
    app_glyph,
    chime_page,
    display_page,
    notice_page,
    notices_page,
    option_switch,
    permission_page,
    privacy_page,
    ringtone_page,
    security_page,
    sound_page,
)
from screenloop.phone.apps.settings.state import (
    PHONE,
    SERVICES,
    SYSTEM_MB,
    TOTAL_GB,
    AccountId,
    State,
    UsageId,
    app,
    app_title,
    size_words,
    used_mb,
)
from screenloop.phone.commands import Copy, Go
from screenloop.phone.declare.flow_steps import enter, press, tap
from screenloop.phone.declare.view import Ui
from screenloop.phone.draw.inputs import Switch
from screenloop.phone.draw.page import Fab, Page
from screenloop.phone.draw.rows import Avatar, Glyph, Row
from screenloop.phone.draw.widgets import Big, Button, Card, Empty, Heading, Paragraph, Widget
from screenloop.types import Struct

__all__ = ["State", "app"]
GROUPS = 5


class Entry(Struct, frozen=True, kw_only=True):
    """One way into the tree, and the words by which it is found."""

    title: tuple[str, str]
    icon: str
    tint: str
    do: Go
    more: str = ""
    """Further words for the search, both languages."""
    group: int = -1
    """Group on the first page; -1 is found by search only."""


def _entries() -> tuple[Entry, ...]:
    return (
        Entry(
            title=("Network & internet", "网络和互联网"),
            icon="wifi",
            tint="#2563eb",
            group=0,
            do=network_page(),
            more="airplane mode 飞行模式",
        ),
        Entry(
            title=("Bluetooth", "蓝牙"),
            icon="bluetooth",
            tint="#2563eb",
            group=0,
            do=bluetooth_page(),
            more="devices headphones pair 设备 耳机 配对",
        ),
        Entry(
            title=("Display", "显示"),
            icon="brightness",
            tint="#d97706",
            group=1,
            do=display_page(),
            more="dark brightness font text size sleep rotate 深色 亮度 字体",
        ),
        Entry(
            title=("Sound & vibration", "声音和振动"),
            icon="volume",
            tint="#db2777",
            group=1,
            do=sound_page(),
            more="volume vibrate do not disturb 音量 振动 勿扰",
        ),
        Entry(
            title=("Notifications", "通知"),
            icon="bell",
            tint="#dc2626",
            group=1,
            do=notices_page(),
            more="apps 应用",
        ),
        Entry(
            title=("Privacy", "隐私"),
            icon="eye",
            tint="#0d9488",
            group=2,
            do=privacy_page(),
            more="permissions location camera 权限 位置 相机",
        ),
        Entry(
            title=("Security", "安全"),
            icon="lock",
            tint="#0d9488",
            group=2,
            do=security_page(),
            more="screen lock pin 屏幕锁",
        ),
        Entry(
            title=("Accounts", "账户"),
            icon="user",
            tint="#0d9488",
            group=2,
            do=accounts_page(),
            more="sync email 同步 邮箱",
        ),
        Entry(
            title=("Battery", "电池"),
            icon="battery",
            tint="#16a34a",
            group=3,
            do=battery_page(),
            more="saver percentage 省电 百分比",
        ),
        Entry(
            title=("Storage", "存储"),
            icon="storage",
            tint="#7c3aed",
            group=3,
            do=storage_page(),
            more="cache space 缓存 空间",
        ),
        Entry(
            title=("Language", "语言"),
            icon="language",
            tint="#475569",
            group=4,
            do=language_page(),
            more="english chinese 中文 英语",
        ),
        Entry(
            title=("Date & time", "日期和时间"),
            icon="clock",
            tint="#475569",
            group=4,
            do=time_page(),
            more="24-hour clock 24 小时制",
        ),
        Entry(
            title=("About phone", "关于手机"),
            icon="mobile",
            tint="#475569",
            group=4,
            do=about_page(),
            more="model serial number version update 型号 序列号 版本 更新",
        ),
        Entry(
            title=("Wi-Fi", "无线网络"),
            icon="wifi",
            tint="#2563eb",
            do=wifi_page(),
            more="network password 密码",
        ),
        Entry(
            title=("Mobile data", "移动数据"),
            icon="data",
            tint="#2563eb",
            do=data_page(),
            more="limit saver 上限",
        ),
        Entry(
            title=("Hotspot", "热点"),
            icon="hotspot",
            tint="#2563eb",
            do=hotspot_page(),
            more="tethering 共享",
        ),
        Entry(title=("Ringtone", "铃声"), icon="phone", tint="#db2777", do=ringtone_page()),
        Entry(title=("Notification sound", "通知音"), icon="bell", tint="#db2777", do=chime_page()),
    )


def _subtitles(s: State, ui: Ui) -> dict[str, str]:
    system = ui.system
    connected = [g.name for g in s.gadgets if g.connected and system.bluetooth]
    off = ui.t("Off", "已关闭")
    return {
        network_page().path: ui.t("Airplane mode", "飞行模式")
        if system.airplane
        else wifi_words(ui),
        bluetooth_page().path: (", ".join(connected) or ui.t("On", "已开启"))
        if system.bluetooth
        else off,
        display_page().path: ui.t("Brightness", "亮度") + f" {system.brightness}%",
        sound_page().path: ui.t(f"Ringtone {s.ringtone}", f"铃声 {s.ringtone}"),
        security_page().path: ui.t(*(("PIN", "PIN 码") if s.pin else ("No lock", "无屏幕锁"))),
        accounts_page().path: ui.t(f"{len(s.accounts)} accounts", f"{len(s.accounts)} 个账户"),
        battery_page().path: f"{system.battery}%",
        storage_page().path: f"{size_words(used_mb(s))} / {TOTAL_GB} GB",
        language_page().path: ui.t("English", "中文"),
        about_page().path: s.phone[PHONE].name,
    }


def _card(entries: list[Entry], subtitles: dict[str, str]) -> Card:
    rows = tuple(
        Row(
            title=entry.title,
            subtitle=subtitles.get(entry.do.path, ""),
            do=entry.do,
            lead=Glyph(icon=entry.icon, tint=entry.tint),
            trailing_icon="chevron_right",
        )
        for entry in entries
    )
    return Card(children=rows)


@app.page("/")
def root_page(s: State, ui: Ui) -> Page:
    """The first page: search, then the groups."""
    text = ui.field("text", ("Search settings", "搜索设置"), kind="search")
    wanted = text.value.casefold().strip()
    subtitles = _subtitles(s, ui)
    body: list[Widget] = [text]
    if wanted:
        found = [e for e in _entries() if wanted in f"{' '.join(e.title)} {e.more}".casefold()]
        empty = Empty(icon="search", words=("No setting found", "没有找到设置"))
        body.append(_card(found, subtitles) if found else empty)
    else:
        for group in range(GROUPS):
            body.append(_card([e for e in _entries() if e.group == group], subtitles))
    return Page(title=("Settings", "设置"), large=True, body=body)


# ---- language, time, battery, storage ------------------------------------------------------


@app.page("/language")
def language_page(s: State, ui: Ui) -> Page:
    """The language of the phone."""
    choices = (("en", "English"), ("zh", "简体中文"))
    rows = tuple(
        Row(
            title=words,
            do=set_language(language="en" if lang == "en" else "zh"),
            selected=ui.lang == lang,
            lead=Glyph(icon="radio_checked" if ui.lang == lang else "radio"),
        )
        for lang, words in choices
    )
    return Page(title=("Language", "语言"), body=(Card(children=rows),))


@app.page("/time")
def time_page(s: State, ui: Ui) -> Page:
    """How the time is set and shown."""
    when = ui.when(ui.now_s)
    shown = (
        when.strftime("%H:%M")
        if s.clock_24h
        else f"{when.hour % 12 or 12}:{when:%M}"
        + (ui.t(" am", " 上午") if when.hour < 12 else ui.t(" pm", " 下午"))
    )
    return Page(
        title=("Date & time", "日期和时间"),
        body=(
            Big(words=shown, caption=f"{ui.day(ui.now_s)} {when.year}"),
            Card(
                children=(
                    option_switch(s, "clock_24h", "clock", ("24-hour clock", "24 小时制")),
                    option_switch(
                        s, "auto_time", "globe", ("Set time automatically", "自动设置时间")
                    ),
                )
            ),
        ),
    )


@app.page("/battery")
def battery_page(s: State, ui: Ui) -> Page:
    """How full the battery is, and how to save it."""
    hours = ui.system.battery * (40 if ui.system.battery_saver else 25) // 100
    return Page(
        title=("Battery", "电池"),
        body=(
            Big(
                words=f"{ui.system.battery}%",
                caption=ui.t(f"About {hours} h left", f"约剩 {hours} 小时"),
            ),
            Card(
                children=(
                    system_switch(ui, "battery_saver", "battery", ("Battery saver", "省电模式")),
                    option_switch(
                        s, "battery_percentage", "info", ("Show percentage", "显示百分比")
                    ),
                )
            ),
        ),
    )


@app.page("/storage")
def storage_page(s: State, ui: Ui) -> Page:
    """What takes space, the most first."""
    used = used_mb(s)
    rows = [
        Row(
            title=app_title(row.id),
            lead=app_glyph(row.id),
            trailing=size_words(row.data_mb + row.cache_mb),
            do=usage_page(app=row.id),
        )
        for row in sorted(s.storage, key=lambda r: (-(r.data_mb + r.cache_mb), r.id))
    ]
    rows.append(
        Row(title=("System", "系统"), lead=Glyph(icon="settings"), trailing=size_words(SYSTEM_MB))
    )
    free = TOTAL_GB - used / 1000
    return Page(
        title=("Storage", "存储"),
        body=(
            Big(
                words=size_words(used),
                caption=ui.t(f"used, {free:.1f} GB free", f"已用，剩余 {free:.1f} GB"),
            ),
            Card(children=tuple(rows)),
        ),
    )


@app.page("/storage/{app}")
def usage_page(s: State, ui: Ui, app: UsageId) -> Page:
    """What one app stores."""
    row = s.storage[app]
    sure = ui.question(
        ("Clear cache?", "清除缓存？"),
        text=size_words(row.cache_mb),
        yes=("Clear", "清除"),
        do=clear_cache(app=app),
        danger=False,
    )
    return Page(
        title=app_title(app),
        dialog=sure if row.cache_mb else None,
        body=(
            Big(words=size_words(row.data_mb + row.cache_mb), caption=("in all", "总计")),
            Card(
                children=(
                    Row(title=("Data", "数据"), trailing=size_words(row.data_mb)),
                    Row(title=("Cache", "缓存"), trailing=size_words(row.cache_mb)),
                )
            ),
            Button(
                words=("Clear cache", "清除缓存"),
                kind="tonal",
                do=ui.set(sure=True),
                enabled=row.cache_mb > 0,
            ),
        ),
    )


# ---- accounts and the phone ----------------------------------------------------------------


@app.page("/accounts")
def accounts_page(s: State, ui: Ui) -> Page:
    """The accounts on the phone."""
    rows: list[Widget] = [
        Row(
            title=row.email,
            subtitle=dict(SERVICES)[row.service],
            lead=Avatar(name=row.service),
            trailing=ui.t("Sync on", "同步开") if row.sync else ui.t("Sync off", "同步关"),
            do=account_page(account=row.id),
        )
        for row in sorted(s.accounts, key=lambda a: (a.service, a.email))
    ]
    if not rows:
        rows.append(Empty(icon="user", words=("No accounts", "没有账户")))
    return Page(
        title=("Accounts", "账户"),
        body=rows,
        fab=Fab(icon="plus", words=("Add account", "添加账户"), do=new_account_page()),
    )


@app.page("/accounts/{account}")
def account_page(s: State, ui: Ui, account: AccountId) -> Page:
    """One account."""
    row = s.accounts[account]
    sure = ui.question(
        ("Remove account?", "移除账户？"),
        text=row.email,
        yes=("Remove", "移除"),
        do=remove_account(account=account),
    )
    return Page(
        title=dict(SERVICES)[row.service],
        dialog=sure,
        body=(
            Avatar(name=row.service, size_px=80),
            Paragraph(words=row.email, size_px=18, align="center"),
            Card(
                children=(
                    Switch(
                        label=("Sync", "同步"),
                        value=row.sync,
                        icon="refresh",
                        do=sync_account(account=account, on=not row.sync),
                    ),
                )
            ),
            Button(words=("Remove account", "移除账户"), kind="danger", do=ui.set(sure=True)),
        ),
    )


@app.page("/new-account")
def new_account_page(s: State, ui: Ui) -> Page:
    """The form for a new account."""
    service = ui.chips("service", SERVICES, "Postbox", label=("Service", "服务"))
    email = ui.field("email", ("Email", "邮箱"))
    do = add_account(service=service.value, email=email.value)
    return Page(
        title=("Add account", "添加账户"),
        body=(
            service,
            email,
            Button(words=("Add", "添加"), do=do, enabled=bool(email.value.strip())),
        ),
    )


@app.page("/about")
def about_page(s: State, ui: Ui) -> Page:
    """Facts about the phone."""
    phone = s.phone[PHONE]
    name = ui.field("name", ("Phone name", "手机名称"), phone.name)
    facts = (
        (phone.model, ("Model", "型号"), "mobile"),
        (phone.version, ("System version", "系统版本"), "info"),
        (phone.serial, ("Serial number", "序列号"), "tag"),
        (phone.number, ("Phone number", "手机号码"), "phone"),
        (phone.security_update, ("Security update", "安全更新"), "shield"),
    )
    rows = tuple(
        Row(title=value, subtitle=words, lead=Glyph(icon=icon), do=Copy(text=value))
        for value, words, icon in facts
    )
    checked = s.update_checked_s
    last = ui.t(f"Checked {ui.ago(checked)}", f"检查于 {ui.ago(checked)}") if checked else ""
    return Page(
        title=("About phone", "关于手机"),
        body=(
            name,
            Button(
                words=("Save name", "保存名称"),
                kind="tonal",
                do=rename_phone(name=name.value),
                enabled=bool(name.value.strip()) and name.value != phone.name,
            ),
            Heading(words=("Facts", "信息")),
            Card(children=rows),
            Button(words=("Check for update", "检查更新"), icon="refresh", do=check_update()),
            Paragraph(words=last, muted=True, align="center"),
        ),
    )


# ---- flows ---------------------------------------------------------------------------------

app.flow(
    "leave the network",
    tap(network_page),
    tap(wifi_page),
    tap(wifi_network_page, network="network1"),
    tap(forget_network),
    tap("Use Wi-Fi"),
    press("back"),
    tap("Airplane mode"),
)
app.flow(
    "join an open network",
    tap(network_page),
    tap(wifi_page),
    tap(wifi_network_page, network="network3"),
    tap(join),
)
app.flow(
    "add a hidden network",
    tap(network_page),
    tap(wifi_page),
    tap(add_network_page),
    enter("name", "Attic"),
    enter("password", "moonlight9"),
    press("back"),
    tap(add_network),
)
app.flow(
    "data and hotspot",
    tap(network_page),
    tap(data_page),
    tap("Data saver"),
    tap("Monthly limit +"),
    tap("Monthly limit +"),
    tap(set_data_limit),
    press("back"),
    tap(hotspot_page),
    enter("password", "sunflower8"),
    press("back"),
    tap(edit_hotspot),
    tap(set_switch, name="hotspot"),
)
app.flow(
    "devices",
    tap(bluetooth_page),
    tap(pair, device="device4"),
    tap(gadget_page, device="device2"),
    tap(connect),
    enter("name", "Wrist"),
    press("back"),
    tap(rename_gadget),
    press("back"),
    tap(gadget_page, device="device1"),
    tap("Forget"),
    tap(forget_gadget),
)
app.flow(
    "a calmer screen",
    tap(display_page),
    tap(set_switch, name="dark"),
    tap("Night light"),
    tap("Large"),
    tap(set_sleep, seconds=300),
    tap("Automatic brightness"),
)
app.flow(
    "other tones",
    tap(sound_page),
    tap(set_switch, name="do_not_disturb"),
    tap("Vibrate for calls"),
    tap(ringtone_page),
    tap(set_ringtone, ringtone="Lagoon"),
    press("back"),
    tap(chime_page),
    tap(set_notification_sound, sound="Silent"),
)
app.flow(
    "silence the calendar",
    tap(notices_page),
    tap(notice_page, app="calendar"),
    tap(sound_notices),
    tap(allow_notices),
)
app.flow(
    "permissions",
    tap(privacy_page),
    tap(permission_page, name="photos"),
    tap(set_permission, app="messages"),
    press("back"),
    tap(set_switch, name="location"),
)
app.flow("lock the screen", tap(security_page), enter("pin", "2580"), press("back"), tap(set_pin))
app.flow(
    "lock and unlock",
    tap(security_page),
    enter("pin", "2580"),
    press("back"),
    tap(set_pin),
    tap(remove_pin),
    enter("pin", "1379"),
    press("back"),
    tap(set_pin),
)
app.flow(
    "accounts",
    tap(accounts_page),
    tap("Add account"),
    tap("Huddle chat"),
    enter("email", "sam@example.org"),
    press("back"),
    tap(add_account),
    tap(account_page, account="account2"),
    tap(sync_account),
    tap("Remove account"),
    tap(remove_account),
)
app.flow(
    "clear a cache",
    tap(storage_page),
    tap(usage_page, app="calendar"),
    tap("Clear cache"),
    tap(clear_cache),
)
app.flow(
    "battery and time",
    tap(battery_page),
    tap(set_switch),
    tap(set_option),
    press("back"),
    tap(time_page),
    tap("24-hour clock"),
)
app.flow("speak Chinese", tap(language_page), tap(set_language, language="zh"))
app.flow(
    "name the phone",
    tap(about_page),
    enter("name", "Pocket"),
    press("back"),
    tap(rename_phone),
    tap(check_update),
)
