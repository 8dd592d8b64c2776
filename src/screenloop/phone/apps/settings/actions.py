"""What can be changed in the settings; what the system holds is changed by the system's actions."""

from __future__ import annotations

from typing import Any, Literal, get_args

from screenloop.phone import kit as k
from screenloop.phone.apps.os import pages as shell
from screenloop.phone.apps.settings import state
from screenloop.phone.apps.settings.state import State, app

SwitchName = Literal[
    "wifi",
    "bluetooth",
    "mobile_data",
    "airplane",
    "hotspot",
    "location",
    "do_not_disturb",
    "auto_rotate",
    "battery_saver",
    "dark",
]
"""The system's switches, the flashlight left out: it is in the shade only."""
SWITCHES: tuple[SwitchName, ...] = get_args(SwitchName)
Volume = Literal["media", "ring", "alarm"]


# ---- the system's own state ----------------------------------------------------------------


@app.action(
    "switch.set", tool="Turn a system switch on or off.", writes=[f"os.{name}" for name in SWITCHES]
)
def set_switch(s: State, ctx: k.Ctx, name: SwitchName, on: bool) -> None:
    """Turn a system switch on or off; airplane mode takes the radios with it."""
    ctx.call(shell.set_switch(name=name, on=on))


@app.action(
    "volume.set", tool=True, writes=["os.media_volume", "os.ring_volume", "os.alarm_volume"]
)
def set_volume(s: State, ctx: k.Ctx, name: Volume, level: state.Level) -> None:
    """Set the media, ring or alarm volume, 0 to 100."""
    ctx.call(shell.set_volume(name=name, level=level))


@app.action(
    "brightness.set",
    tool="Set the screen brightness, 0 to 100.",
    writes=["os.brightness", "auto_brightness"],
    check=lambda before, after, a: not after.auto_brightness,
)
def set_brightness(s: State, ctx: k.Ctx, level: state.Level) -> None:
    """Set the screen brightness, which ends its automatic setting."""
    s.auto_brightness = False
    ctx.call(shell.set_brightness(level=level))


@app.action("display.font", tool=True, writes=["os.font_scale"])
def set_font(s: State, ctx: k.Ctx, percent: state.FontPercent) -> None:
    """Set the size of text in percent."""
    ctx.of(k.SystemState).font_scale = percent


@app.action("language.set", tool=True, writes=["os.language"])
def set_language(s: State, ctx: k.Ctx, language: Literal["en", "zh"]) -> None:
    """Set the language of the phone."""
    ctx.of(k.SystemState).language = language


@app.action(
    "permissions.set", tool="Allow or deny an app the use of something.", writes=["os.permissions"]
)
def set_permission(
    s: State, ctx: k.Ctx, app: str, name: state.PermissionName, granted: bool
) -> None:
    """Allow or deny an app the use of something that it may ask for."""
    if app not in state.app_ids() or name not in state.WANTED.get(app, ()):
        ctx.refuse(ctx.t(f"{app} does not ask for this", f"{app} 不需要此权限"))
    ctx.call(shell.set_permission(app=app, name=name, granted=granted))


# ---- networks ------------------------------------------------------------------------------


@app.action(
    "networks.join",
    tool="Connect to a Wi-Fi network; a saved one needs no password.",
    writes=["networks", "os.wifi_network"],
    check=k.row_has("networks", "network", saved=True),
)
def join(s: State, ctx: k.Ctx, network: state.NetworkId, password: state.Password = "") -> None:
    """Connect to a Wi-Fi network and keep it."""
    row = s.networks[network]
    if not ctx.of(k.SystemState).wifi:
        ctx.refuse(ctx.t("Wi-Fi is off", "无线网络已关闭"))
    if row.secured and not row.saved and password != row.password:
        ctx.refuse(ctx.t("The password is wrong", "密码错误"))
    s.networks.update(network, saved=True)
    ctx.of(k.SystemState).wifi_network = row.name
    ctx.toast(ctx.t(f"Connected to {row.name}", f"已连接到 {row.name}"))
    ctx.move(k.Back())


@app.action(
    "networks.add",
    tool="Add a hidden Wi-Fi network by its name and connect to it.",
    writes=["networks", "os.wifi_network"],
    check=k.one_more("networks"),
)
def add_network(s: State, ctx: k.Ctx, name: state.Name, password: state.Password = "") -> None:
    """Add a hidden Wi-Fi network by its name and connect to it; no password means an open one."""
    name = name.strip()
    if not ctx.of(k.SystemState).wifi:
        ctx.refuse(ctx.t("Wi-Fi is off", "无线网络已关闭"))
    if s.networks.first(lambda n: n.name == name):
        ctx.refuse(ctx.t(f"{name} is in the list", f"{name} 已在列表中"))
    if 0 < len(password) < 8:
        ctx.refuse(ctx.t("A password has at least 8 characters", "密码至少 8 个字符"))
    s.networks.add(state.Network(name=name, secured=bool(password), saved=True, password=password))
    ctx.of(k.SystemState).wifi_network = name
    ctx.toast(ctx.t(f"Connected to {name}", f"已连接到 {name}"))
    ctx.move(k.Back())


@app.action(
    "networks.forget",
    tool="Forget a saved Wi-Fi network.",
    writes=["networks", "os.wifi_network"],
    check=k.row_has("networks", "network", saved=False),
)
def forget_network(s: State, ctx: k.Ctx, network: state.NetworkId) -> None:
    """Forget a saved Wi-Fi network, and leave it."""
    row = s.networks[network]
    if not row.saved:
        ctx.refuse(ctx.t("This network is not saved", "此网络未保存"))
    s.networks.update(network, saved=False)
    system = ctx.of(k.SystemState)
    if system.wifi_network == row.name:
        system.wifi_network = ""
    ctx.toast(ctx.t(f"{row.name} forgotten", f"已忘记 {row.name}"))
    ctx.move(k.Back())


@app.action(
    "hotspot.edit",
    tool=True,
    writes=["hotspot_name", "hotspot_password"],
    check=k.value_is("hotspot_password", "password"),
)
def edit_hotspot(s: State, ctx: k.Ctx, name: state.Name, password: state.Password) -> None:
    """Set the hotspot's name and password."""
    if len(password) < 8:
        ctx.refuse(ctx.t("A password has at least 8 characters", "密码至少 8 个字符"))
    s.hotspot_name, s.hotspot_password = name.strip(), password
    ctx.toast(ctx.t("Hotspot saved", "热点已保存"))


@app.action(
    "data.limit",
    tool=True,
    writes=["data_limit_gb"],
    check=k.value_is("data_limit_gb", "gigabytes"),
)
def set_data_limit(s: State, ctx: k.Ctx, gigabytes: state.Gigabytes) -> None:
    """Set the monthly limit of mobile data in GB."""
    s.data_limit_gb = gigabytes
    ctx.toast(ctx.t(f"Limit set to {gigabytes} GB", f"上限已设为 {gigabytes} GB"))


# ---- Bluetooth -----------------------------------------------------------------------------


@app.action(
    "devices.pair",
    tool="Pair a Bluetooth device in reach.",
    writes=["gadgets"],
    check=k.row_has("gadgets", "device", paired=True),
)
def pair(s: State, ctx: k.Ctx, device: state.GadgetId) -> None:
    """Pair a Bluetooth device in reach and connect it."""
    row = s.gadgets[device]
    if not ctx.of(k.SystemState).bluetooth:
        ctx.refuse(ctx.t("Bluetooth is off", "蓝牙已关闭"))
    if row.paired:
        ctx.refuse(ctx.t("It is paired already", "已配对"))
    s.gadgets.update(device, paired=True, connected=True)
    ctx.toast(ctx.t(f"Paired with {row.name}", f"已与 {row.name} 配对"))


@app.action(
    "devices.connect",
    tool=True,
    writes=["gadgets"],
    check=k.row_has("gadgets", "device", connected="on"),
)
def connect(s: State, ctx: k.Ctx, device: state.GadgetId, on: bool) -> None:
    """Connect or disconnect a paired Bluetooth device."""
    if not ctx.of(k.SystemState).bluetooth:
        ctx.refuse(ctx.t("Bluetooth is off", "蓝牙已关闭"))
    if not s.gadgets[device].paired:
        ctx.refuse(ctx.t("Pair it first", "请先配对"))
    s.gadgets.update(device, connected=on)


@app.action(
    "devices.rename",
    tool=True,
    writes=["gadgets"],
    check=lambda before, after, a: after.gadgets[a.device].name == a.name.strip(),
)
def rename_gadget(s: State, ctx: k.Ctx, device: state.GadgetId, name: state.Name) -> None:
    """Give a paired Bluetooth device another name."""
    if not s.gadgets[device].paired:
        ctx.refuse(ctx.t("Pair it first", "请先配对"))
    s.gadgets.update(device, name=name.strip())
    ctx.toast(ctx.t("Name saved", "名称已保存"))


@app.action(
    "devices.forget",
    tool=True,
    writes=["gadgets"],
    check=k.row_has("gadgets", "device", paired=False),
)
def forget_gadget(s: State, ctx: k.Ctx, device: state.GadgetId) -> None:
    """Unpair a Bluetooth device."""
    row = s.gadgets[device]
    if not row.paired:
        ctx.refuse(ctx.t("It is not paired", "未配对"))
    s.gadgets.update(device, paired=False, connected=False)
    ctx.toast(ctx.t(f"{row.name} forgotten", f"已忘记 {row.name}"))
    ctx.move(k.Back())


# ---- choices -------------------------------------------------------------------------------


@app.action(
    "options.set",
    tool=True,
    writes=list(state.OPTIONS),
    check=lambda before, after, a: getattr(after, a.name) == a.on,
)
def set_option(s: State, ctx: k.Ctx, name: state.OptionName, on: bool) -> None:
    """Turn one of the other options on or off."""
    setattr(s, name, on)


@app.action("display.sleep", tool=True, writes=["sleep_s"], check=k.value_is("sleep_s", "seconds"))
def set_sleep(s: State, ctx: k.Ctx, seconds: state.SleepS) -> None:
    """Set after how many seconds the screen goes dark."""
    s.sleep_s = seconds


@app.action(
    "sound.ringtone", tool=True, writes=["ringtone"], check=k.value_is("ringtone", "ringtone")
)
def set_ringtone(s: State, ctx: k.Ctx, ringtone: state.Ringtone) -> None:
    """Choose the ringtone."""
    s.ringtone = ringtone


@app.action(
    "sound.notification",
    tool=True,
    writes=["notification_sound"],
    check=k.value_is("notification_sound", "sound"),
)
def set_notification_sound(s: State, ctx: k.Ctx, sound: state.Chime) -> None:
    """Choose the sound of notifications."""
    s.notification_sound = sound


@app.action(
    "notices.allow", tool=True, writes=["notices"], check=k.row_has("notices", "app", allowed="on")
)
def allow_notices(s: State, ctx: k.Ctx, app: state.NoticeId, on: bool) -> None:
    """Allow or block the notifications of an app."""
    s.notices.update(app, allowed=on)


@app.action(
    "notices.sound", tool=True, writes=["notices"], check=k.row_has("notices", "app", sound="on")
)
def sound_notices(s: State, ctx: k.Ctx, app: state.NoticeId, on: bool) -> None:
    """Let the notifications of an app sound, or not."""
    s.notices.update(app, sound=on)


@app.action("lock.set", tool=True, writes=["pin"], check=k.value_is("pin", "pin"))
def set_pin(s: State, ctx: k.Ctx, pin: state.Pin) -> None:
    """Lock the screen with a PIN of four digits."""
    s.pin = pin
    ctx.toast(ctx.t("Screen lock is on", "屏幕锁已开启"))


@app.action("lock.remove", tool=True, writes=["pin"], check=lambda before, after, a: not after.pin)
def remove_pin(s: State, ctx: k.Ctx) -> None:
    """Remove the screen lock."""
    if not s.pin:
        ctx.refuse(ctx.t("There is no screen lock", "没有屏幕锁"))
    s.pin = ""
    ctx.toast(ctx.t("Screen lock is off", "屏幕锁已关闭"))


# ---- accounts, storage, the phone ----------------------------------------------------------


@app.action("accounts.add", tool=True, writes=["accounts"], check=k.one_more("accounts"))
def add_account(s: State, ctx: k.Ctx, service: state.Service, email: state.Name) -> None:
    """Add an account of a service."""
    email = email.strip()
    if "@" not in email:
        ctx.refuse(ctx.t("That is no email address", "邮箱地址无效"))
    if s.accounts.first(lambda row: (row.service, row.email) == (service, email)):
        ctx.refuse(ctx.t("This account is there already", "该账户已存在"))
    s.accounts.add(state.Account(service=service, email=email))
    ctx.toast(ctx.t("Account added", "账户已添加"))
    ctx.move(k.Back())


@app.action(
    "accounts.sync",
    tool=True,
    writes=["accounts"],
    check=k.row_has("accounts", "account", sync="on"),
)
def sync_account(s: State, ctx: k.Ctx, account: state.AccountId, on: bool) -> None:
    """Turn the sync of an account on or off."""
    s.accounts.update(account, sync=on)


@app.action("accounts.remove", tool=True, writes=["accounts"], check=k.gone("accounts", "account"))
def remove_account(s: State, ctx: k.Ctx, account: state.AccountId) -> None:
    """Remove an account from the phone."""
    s.accounts.remove(account)
    ctx.toast(ctx.t("Account removed", "账户已移除"))
    ctx.move(k.Back())


@app.action(
    "storage.clear_cache",
    tool=True,
    writes=["storage"],
    check=k.row_has("storage", "app", cache_mb=0),
)
def clear_cache(s: State, ctx: k.Ctx, app: state.UsageId) -> None:
    """Clear the cache of an app."""
    if not s.storage[app].cache_mb:
        ctx.refuse(ctx.t("The cache is empty", "缓存已清空"))
    s.storage.update(app, cache_mb=0)
    ctx.toast(ctx.t("Cache cleared", "缓存已清除"))


@app.action(
    "phone.rename",
    tool=True,
    writes=["phone"],
    check=lambda before, after, a: after.phone[state.PHONE].name == a.name.strip(),
)
def rename_phone(s: State, ctx: k.Ctx, name: state.Name) -> None:
    """Give the phone another name."""
    s.phone.update(state.PHONE, name=name.strip())
    ctx.toast(ctx.t("Name saved", "名称已保存"))


@app.action(
    "update.check",
    tool=True,
    writes=["update_checked_s"],
    check=lambda before, after, a: after.update_checked_s > before.update_checked_s,
)
def check_update(s: State, ctx: k.Ctx) -> None:
    """Look for a system update."""
    if not ctx.of(k.SystemState).online:
        ctx.refuse(ctx.t("The phone is offline", "手机已离线"))
    s.update_checked_s = ctx.now_s
    ctx.toast(ctx.t("The system is up to date", "系统已是最新版本"))


# ---- queries -------------------------------------------------------------------------------


@app.query("switch.list")
def list_switches(s: State, ctx: k.Ctx) -> dict[str, Any]:
    """Read all system switches, volumes and other levels."""
    system = ctx.of(k.SystemState)
    names = (
        *SWITCHES,
        "language",
        "wifi_network",
        "brightness",
        "media_volume",
        "ring_volume",
        "alarm_volume",
        "font_scale",
        "battery",
    )
    return {name: getattr(system, name) for name in names}


@app.query("options.list")
def list_options(s: State, ctx: k.Ctx) -> dict[str, Any]:
    """Read the other options: sounds, sleep, hotspot, data."""
    names = (
        *state.OPTIONS,
        "ringtone",
        "notification_sound",
        "sleep_s",
        "data_limit_gb",
        "hotspot_name",
        "hotspot_password",
    )
    return {**{name: getattr(s, name) for name in names}, "screen_lock": bool(s.pin)}


@app.query("hotspot.read", tool="Read the hotspot's name and password.", shows="/hotspot")
def read_hotspot(s: State, ctx: k.Ctx) -> dict[str, Any]:
    """Return what others need to use the hotspot, and whether it is on."""
    return {
        "name": s.hotspot_name,
        "password": s.hotspot_password,
        "on": ctx.of(k.SystemState).hotspot,
    }


@app.query("networks.list", tool="List the Wi-Fi networks in reach.", shows="/wifi")
def list_networks(s: State, ctx: k.Ctx) -> list[dict[str, Any]]:
    """Return the networks without their passwords."""
    system = ctx.of(k.SystemState)
    return [
        {
            "network": n.id,
            "name": n.name,
            "secured": n.secured,
            "saved": n.saved,
            "strength": n.strength,
            "connected": system.wifi and system.wifi_network == n.name,
        }
        for n in s.networks
    ]


@app.query("devices.list", shows="/bluetooth")
def list_gadgets(s: State, ctx: k.Ctx) -> list[Any]:
    """List the Bluetooth devices, paired and in reach."""
    return list(s.gadgets)


@app.query("notices.list", tool="List which apps may notify.", shows="/notifications")
def list_notices(s: State, ctx: k.Ctx) -> list[Any]:
    """Return the apps and whether they may notify and sound."""
    return list(s.notices)


@app.query("permissions.list", tool="List what an app may use.")
def list_permissions(s: State, ctx: k.Ctx, app: str) -> dict[str, bool]:
    """Return what an app may ask for, and whether it is granted."""
    granted = {p.name for p in ctx.of(k.SystemState).permissions if p.app == app and p.granted}
    return {name: name in granted for name in state.WANTED.get(app, ())}


@app.query("accounts.list", shows="/accounts")
def list_accounts(s: State, ctx: k.Ctx) -> list[state.Account]:
    """List the accounts on the phone."""
    return list(s.accounts)


@app.query("storage.list", tool="List what each app stores, in MB.", shows="/storage")
def list_storage(s: State, ctx: k.Ctx) -> dict[str, Any]:
    """Return what is used in all and by each app."""
    return {"used": state.size_words(state.used_mb(s)), "apps": list(s.storage)}


@app.query("phone.about", shows="/about")
def about(s: State, ctx: k.Ctx) -> state.Phone:
    """Read the phone's model, version, serial number and own number."""
    return s.phone[state.PHONE]
