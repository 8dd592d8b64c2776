"""Settings: the tree over the system's state, search in it, and facts about the phone."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.settings import actions as act
from screenloop.phone.apps.settings import connect, device, state
from screenloop.phone.apps.settings.state import PHONE, SERVICES, TOTAL_GB, State, app, size_words

__all__ = ["State", "app"]
GROUPS = 5


class Entry(k.Struct, frozen=True, kw_only=True):
    """One way into the tree, and the words by which it is found."""

    title: tuple[str, str]
    icon: str
    tint: str
    page: str
    """Its path."""
    more: str = ""
    """Further words for the search, both languages."""
    group: int = -1
    """Group on the first page; -1 is found by search only."""


@lru_cache
def _entries() -> tuple[Entry, ...]:
    return msgspec.convert(k.read_data(__package__)["entries"], tuple[Entry, ...])


def _subtitles(s: State, ui: k.Ui) -> dict[str, str]:
    system = ui.system
    connected = [g.name for g in s.gadgets if g.connected and system.bluetooth]
    off = ui.t("Off", "已关闭")
    return {
        connect.network_page().path: ui.t("Airplane mode", "飞行模式")
        if system.airplane
        else connect.wifi_words(ui),
        connect.bluetooth_page().path: (", ".join(connected) or ui.t("On", "已开启"))
        if system.bluetooth
        else off,
        device.display_page().path: ui.t("Brightness", "亮度") + f" {system.brightness}%",
        device.sound_page().path: ui.t(f"Ringtone {s.ringtone}", f"铃声 {s.ringtone}"),
        device.security_page().path: ui.t(
            *(("PIN", "PIN 码") if s.pin else ("No lock", "无屏幕锁"))
        ),
        accounts_page().path: ui.t(f"{len(s.accounts)} accounts", f"{len(s.accounts)} 个账户"),
        battery_page().path: f"{system.battery}%",
        storage_page().path: f"{size_words(state.used_mb(s))} / {TOTAL_GB} GB",
        language_page().path: ui.t("English", "中文"),
        about_page().path: s.phone[PHONE].name,
    }


def _card(entries: list[Entry], subtitles: dict[str, str]) -> k.Card:
    rows = tuple(
        k.link(
            entry.title,
            subtitles.get(entry.page, ""),
            k.Glyph(entry.icon, tint=entry.tint),
            k.Go(app=app.id, path=entry.page),
        )
        for entry in entries
    )
    return k.Card(rows)


@app.page("/")
def root_page(s: State, ui: k.Ui) -> k.Page:
    """The first page: search, then the groups."""
    text = ui.field("text", ("Search settings", "搜索设置"), kind="search")
    wanted = text.value.casefold().strip()
    subtitles = _subtitles(s, ui)
    body: list[k.Widget] = [text]
    if wanted:
        found = [e for e in _entries() if wanted in f"{' '.join(e.title)} {e.more}".casefold()]
        empty = k.Empty("search", ("No setting found", "没有找到设置"))
        body.append(_card(found, subtitles) if found else empty)
    else:
        for group in range(GROUPS):
            body.append(_card([e for e in _entries() if e.group == group], subtitles))
    return k.Page(("Settings", "设置"), body, large=True)


# ---- language, time, battery, storage ------------------------------------------------------


@app.page("/language")
def language_page(s: State, ui: k.Ui) -> k.Page:
    """The language of the phone."""
    choices = (("en", "English"), ("zh", "简体中文"))
    rows = tuple(
        connect.choice_row(
            words, ui.lang == lang, act.set_language(language="en" if lang == "en" else "zh")
        )
        for lang, words in choices
    )
    return k.Page(("Language", "语言"), (k.Card(rows),))


@app.page("/time")
def time_page(s: State, ui: k.Ui) -> k.Page:
    """How the time is set and shown."""
    when = ui.when(ui.now_s)
    shown = (
        when.strftime("%H:%M")
        if s.clock_24h
        else f"{when.hour % 12 or 12}:{when:%M}"
        + (ui.t(" am", " 上午") if when.hour < 12 else ui.t(" pm", " 下午"))
    )
    return k.Page(
        ("Date & time", "日期和时间"),
        (
            k.Big(shown, f"{ui.day(ui.now_s)} {when.year}"),
            k.card(
                device.option_switch(s, "clock_24h", "clock", ("24-hour clock", "24 小时制")),
                device.option_switch(
                    s, "auto_time", "globe", ("Set time automatically", "自动设置时间")
                ),
            ),
        ),
    )


@app.page("/battery")
def battery_page(s: State, ui: k.Ui) -> k.Page:
    """How full the battery is, and how to save it."""
    hours = ui.system.battery * (40 if ui.system.battery_saver else 25) // 100
    return k.Page(
        ("Battery", "电池"),
        (
            k.Big(f"{ui.system.battery}%", ui.t(f"About {hours} h left", f"约剩 {hours} 小时")),
            k.card(
                connect.system_switch(
                    ui, "battery_saver", "battery", ("Battery saver", "省电模式")
                ),
                device.option_switch(
                    s, "battery_percentage", "info", ("Show percentage", "显示百分比")
                ),
            ),
        ),
    )


@app.page("/storage")
def storage_page(s: State, ui: k.Ui) -> k.Page:
    """What takes space, the most first."""
    used = state.used_mb(s)
    rows = [
        k.Row(
            state.app_title(row.id),
            lead=device.app_glyph(row.id),
            trailing=size_words(row.data_mb + row.cache_mb),
            do=usage_page(app=row.id),
        )
        for row in sorted(s.storage, key=lambda r: (-(r.data_mb + r.cache_mb), r.id))
    ]
    rows.append(
        k.Row(("System", "系统"), lead=k.Glyph("settings"), trailing=size_words(state.SYSTEM_MB))
    )
    free = TOTAL_GB - used / 1000
    return k.Page(
        ("Storage", "存储"),
        (
            k.Big(size_words(used), ui.t(f"used, {free:.1f} GB free", f"已用，剩余 {free:.1f} GB")),
            k.Card(tuple(rows)),
        ),
    )


@app.page("/storage/{app}")
def usage_page(s: State, ui: k.Ui, app: state.UsageId) -> k.Page:
    """What one app stores."""
    row = s.storage[app]
    sure = ui.question(
        ("Clear cache?", "清除缓存？"),
        ("Clear", "清除"),
        act.clear_cache(app=app),
        size_words(row.cache_mb),
        danger=False,
    )
    return k.Page(
        state.app_title(app),
        (
            k.Big(size_words(row.data_mb + row.cache_mb), ("in all", "总计")),
            k.card(
                k.Row(("Data", "数据"), trailing=size_words(row.data_mb)),
                k.Row(("Cache", "缓存"), trailing=size_words(row.cache_mb)),
            ),
            k.Button(
                ("Clear cache", "清除缓存"),
                ui.set(sure=True),
                kind="tonal",
                enabled=row.cache_mb > 0,
            ),
        ),
        dialog=sure if row.cache_mb else None,
    )


# ---- accounts and the phone ----------------------------------------------------------------


@app.page("/accounts")
def accounts_page(s: State, ui: k.Ui) -> k.Page:
    """The accounts on the phone."""
    rows: list[k.Widget] = [
        k.Row(
            row.email,
            dict(SERVICES)[row.service],
            k.Avatar(row.service),
            trailing=ui.t("Sync on", "同步开") if row.sync else ui.t("Sync off", "同步关"),
            do=account_page(account=row.id),
        )
        for row in sorted(s.accounts, key=lambda a: (a.service, a.email))
    ]
    if not rows:
        rows.append(k.Empty("user", ("No accounts", "没有账户")))
    return k.Page(
        ("Accounts", "账户"),
        rows,
        fab=k.Fab("plus", ("Add account", "添加账户"), new_account_page()),
    )


@app.page("/accounts/{account}")
def account_page(s: State, ui: k.Ui, account: state.AccountId) -> k.Page:
    """One account."""
    row = s.accounts[account]
    sure = ui.question(
        ("Remove account?", "移除账户？"),
        ("Remove", "移除"),
        act.remove_account(account=account),
        row.email,
    )
    return k.Page(
        dict(SERVICES)[row.service],
        (
            k.Avatar(row.service, size_px=80),
            k.Paragraph(row.email, size_px=18, align="center"),
            k.card(
                k.Switch(
                    ("Sync", "同步"),
                    row.sync,
                    act.sync_account(account=account, on=not row.sync),
                    icon="refresh",
                )
            ),
            k.Button(("Remove account", "移除账户"), ui.set(sure=True), kind="danger"),
        ),
        dialog=sure,
    )


@app.page("/new-account")
def new_account_page(s: State, ui: k.Ui) -> k.Page:
    """The form for a new account."""
    service = ui.chips("service", SERVICES, "Postbox", label=("Service", "服务"))
    email = ui.field("email", ("Email", "邮箱"))
    do = act.add_account(service=service.value, email=email.value)
    return k.Page(
        ("Add account", "添加账户"),
        (service, email, k.Button(("Add", "添加"), do, enabled=bool(email.value.strip()))),
    )


@app.page("/about")
def about_page(s: State, ui: k.Ui) -> k.Page:
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
        k.Row(value, words, k.Glyph(icon), do=k.Copy(text=value)) for value, words, icon in facts
    )
    checked = s.update_checked_s
    last = ui.t(f"Checked {ui.ago(checked)}", f"检查于 {ui.ago(checked)}") if checked else ""
    return k.Page(
        ("About phone", "关于手机"),
        (
            name,
            k.Button(
                ("Save name", "保存名称"),
                act.rename_phone(name=name.value),
                kind="tonal",
                enabled=bool(name.value.strip()) and name.value != phone.name,
            ),
            k.Heading(("Facts", "信息")),
            k.Card(rows),
            k.Button(("Check for update", "检查更新"), act.check_update(), icon="refresh"),
            k.Paragraph(last, muted=True, align="center"),
        ),
    )


k.read_flows(app, __package__)
