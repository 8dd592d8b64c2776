"""Settings pages for what connects the phone: networks, mobile data, hotspot, Bluetooth."""

from __future__ import annotations

from screenloop.phone import kit as k
from screenloop.phone.apps.settings import actions as act
from screenloop.phone.apps.settings.state import Gadget, GadgetId, Network, NetworkId, State, app

BARS = (("Weak", "弱"), ("Weak", "弱"), ("Fair", "一般"), ("Good", "良好"), ("Excellent", "极好"))
GADGET_ICONS = {
    "headphones": "music",
    "watch": "stopwatch",
    "car": "truck",
    "tv": "video",
    "keyboard": "keyboard",
    "speaker": "volume",
}
USED_GB = 4.2


def system_switch(
    ui: k.Ui, name: act.SwitchName, icon: str, label: k.Words, subtitle: k.Words = ""
) -> k.Switch:
    """Return a switch of the system."""
    on: bool = getattr(ui.system, name)
    return k.Switch(label, on, act.set_switch(name=name, on=not on), icon=icon, subtitle=subtitle)


def choice_row(words: k.Words, chosen: bool, do: k.Do) -> k.Row:
    """Return one of several choices, marked where it is the chosen one."""
    return k.Row(
        words, lead=k.Glyph("radio_checked" if chosen else "radio"), selected=chosen, do=do
    )


def wifi_words(ui: k.Ui) -> str:
    """Return what Wi-Fi is doing."""
    if not ui.system.wifi:
        return ui.t("Off", "已关闭")
    return ui.system.wifi_network or ui.t("Not connected", "未连接")


@app.page("/network")
def network_page(s: State, ui: k.Ui) -> k.Page:
    """All that connects the phone to the world."""
    hotspot = ui.t("On", "已开启") if ui.system.hotspot else ui.t("Off", "已关闭")
    data = ui.t(f"{USED_GB} of {s.data_limit_gb} GB used", f"已用 {USED_GB} / {s.data_limit_gb} GB")
    return k.Page(
        ("Network & internet", "网络和互联网"),
        (
            k.card(
                k.link("Wi-Fi", wifi_words(ui), k.Glyph("wifi"), wifi_page()),
                k.link(("Mobile data", "移动数据"), data, k.Glyph("data"), data_page()),
                k.link(("Hotspot", "热点"), hotspot, k.Glyph("hotspot"), hotspot_page()),
            ),
            k.card(
                system_switch(
                    ui,
                    "airplane",
                    "airplane",
                    ("Airplane mode", "飞行模式"),
                    ("Turns all radios off", "关闭所有无线连接"),
                )
            ),
        ),
    )


def _network_row(ui: k.Ui, n: Network) -> k.Row:
    connected = ui.system.wifi and ui.system.wifi_network == n.name
    parts = [ui.t(*BARS[n.strength])]
    if connected:
        parts = [ui.t("Connected", "已连接")]
    elif n.saved:
        parts.insert(0, ui.t("Saved", "已保存"))
    elif not n.secured:
        parts.insert(0, ui.t("Open", "开放"))
    return k.Row(
        n.name,
        " · ".join(parts),
        k.Glyph("wifi"),
        bold=connected,
        trailing_icon="lock" if n.secured else "",
        do=wifi_network_page(network=n.id),
    )


@app.page("/wifi")
def wifi_page(s: State, ui: k.Ui) -> k.Page:
    """Wi-Fi and the networks in reach."""
    body: list[k.Widget] = [
        k.card(system_switch(ui, "wifi", "wifi", ("Use Wi-Fi", "使用无线网络")))
    ]
    if ui.system.wifi:
        current = ui.system.wifi_network
        rows = sorted(s.networks, key=lambda n: (n.name != current, not n.saved, -n.strength))
        body += [
            k.Heading(("Networks", "网络")),
            k.Card(tuple(_network_row(ui, n) for n in rows)),
            k.Row(("Add network", "添加网络"), lead=k.Glyph("plus"), do=add_network_page()),
        ]
    else:
        words = ("Turn Wi-Fi on to see networks", "打开无线网络以查看网络")
        body.append(k.Paragraph(words, muted=True, align="center", pad_px=24))
    return k.Page("Wi-Fi", body)


@app.page("/wifi/{network}")
def wifi_network_page(s: State, ui: k.Ui, network: NetworkId) -> k.Page:
    """One network: join it, or forget it."""
    n = s.networks[network]
    connected = ui.system.wifi and ui.system.wifi_network == n.name
    password = ui.field("password", ("Password", "密码"), secret=not ui.get("reveal", False))
    asks = n.secured and not n.saved
    facts = (
        (ui.t(*BARS[n.strength]), ("Signal", "信号"), "signal"),
        (
            (ui.t("Password", "密码") if n.secured else ui.t("None", "无")),
            ("Security", "安全性"),
            "lock",
        ),
    )
    body: list[k.Widget] = [
        k.Paragraph(n.name, size_px=24, bold=True),
        k.Paragraph(
            (
                ui.t("Connected", "已连接")
                if connected
                else ui.t("Saved", "已保存")
                if n.saved
                else ui.t("Not connected", "未连接")
            ),
            muted=True,
        ),
        k.Card(tuple(k.Row(value, words, k.Glyph(icon)) for value, words, icon in facts)),
    ]
    if not connected:
        if asks:
            reveal = ui.switch("reveal", ("Show password", "显示密码"))
            body += [password, reveal]
        do = (
            act.join(network=network, password=password.value)
            if asks
            else act.join(network=network)
        )
        ready = not asks or bool(password.value)
        body.append(k.Button(("Connect", "连接"), do, enabled=ready))
    if n.saved:
        body.append(
            k.Button(("Forget", "忘记"), act.forget_network(network=network), kind="danger")
        )
    return k.Page(("Network", "网络"), body)


@app.page("/add-network")
def add_network_page(s: State, ui: k.Ui) -> k.Page:
    """A hidden network."""
    name = ui.field("name", ("Network name", "网络名称"))
    password = ui.field("password", ("Password", "密码"))
    do = act.add_network(name=name.value, password=password.value)
    return k.Page(
        ("Add network", "添加网络"),
        (
            name,
            password,
            k.Paragraph(
                ("Leave the password empty for an open network", "开放网络无需填写密码"),
                muted=True,
                size_px=13,
            ),
            k.Button(("Save and connect", "保存并连接"), do, enabled=bool(name.value.strip())),
        ),
    )


@app.page("/data")
def data_page(s: State, ui: k.Ui) -> k.Page:
    """Mobile data: on or off, and how much."""
    limit = ui.stepper(
        "gigabytes", ("Monthly limit", "每月上限"), s.data_limit_gb, low=1, high=50, unit="GB"
    )
    return k.Page(
        ("Mobile data", "移动数据"),
        (
            k.card(
                system_switch(ui, "mobile_data", "data", ("Mobile data", "移动数据")),
                k.Switch(
                    ("Data saver", "流量节省"),
                    s.data_saver,
                    act.set_option(name="data_saver", on=not s.data_saver),
                    icon="shield",
                ),
            ),
            k.Heading(("Usage", "用量")),
            k.Paragraph(ui.t(f"{USED_GB} GB used since 1 March", f"3月1日以来已用 {USED_GB} GB")),
            limit,
            k.Button(("Save limit", "保存上限"), act.set_data_limit(gigabytes=limit.value)),
        ),
    )


@app.page("/hotspot")
def hotspot_page(s: State, ui: k.Ui) -> k.Page:
    """The hotspot, its name and password."""
    name = ui.field("name", ("Hotspot name", "热点名称"), s.hotspot_name)
    password = ui.field("password", ("Password", "密码"), s.hotspot_password)
    changed = (name.value, password.value) != (s.hotspot_name, s.hotspot_password)
    return k.Page(
        ("Hotspot", "热点"),
        (
            k.card(
                system_switch(
                    ui,
                    "hotspot",
                    "hotspot",
                    ("Share connection", "共享网络"),
                    ("Turns Wi-Fi off", "会关闭无线网络"),
                )
            ),
            name,
            password,
            k.Button(
                ("Save", "保存"),
                act.edit_hotspot(name=name.value, password=password.value),
                enabled=changed and bool(name.value.strip()),
            ),
        ),
    )


def _gadget_row(ui: k.Ui, g: Gadget) -> k.Row:
    lead = k.Glyph(GADGET_ICONS[g.kind])
    if not g.paired:
        return k.Row(g.name, ("Tap to pair", "点击配对"), lead, do=act.pair(device=g.id))
    parts = [ui.t("Connected", "已连接") if g.connected else ui.t("Paired", "已配对")]
    if g.connected and g.battery >= 0:
        parts.append(f"{g.battery}%")
    return k.Row(
        g.name,
        " · ".join(parts),
        lead,
        bold=g.connected,
        trailing_icon="settings",
        do=gadget_page(device=g.id),
    )


@app.page("/bluetooth")
def bluetooth_page(s: State, ui: k.Ui) -> k.Page:
    """Bluetooth and its devices."""
    body: list[k.Widget] = [
        k.card(
            system_switch(
                ui,
                "bluetooth",
                "bluetooth",
                ("Use Bluetooth", "使用蓝牙"),
                ui.t(f"Seen as {s.phone['phone'].name}", f"显示为 {s.phone['phone'].name}"),
            )
        )
    ]
    if ui.system.bluetooth:
        for words, paired in (
            (("My devices", "我的设备"), True),
            (("In reach", "附近设备"), False),
        ):
            rows = tuple(_gadget_row(ui, g) for g in s.gadgets if g.paired == paired)
            if rows:
                body += [k.Heading(words), k.Card(rows)]
    else:
        hint = ("Turn Bluetooth on to see devices", "打开蓝牙以查看设备")
        body.append(k.Paragraph(hint, muted=True, align="center", pad_px=24))
    return k.Page(("Bluetooth", "蓝牙"), body)


@app.page("/bluetooth/{device}")
def gadget_page(s: State, ui: k.Ui, device: GadgetId) -> k.Page:
    """One paired device."""
    g = s.gadgets[device]
    name = ui.field("name", ("Name", "名称"), g.name)
    sure = ui.question(
        ("Forget device?", "忘记设备？"),
        ("Forget", "忘记"),
        act.forget_gadget(device=device),
        g.name,
    )
    body: list[k.Widget] = []
    if not ui.system.bluetooth:
        body.append(k.Banner("info", ("Bluetooth is off", "蓝牙已关闭")))
    if not g.paired:
        body += [
            k.Paragraph(g.name, size_px=22, bold=True),
            k.Button(("Pair", "配对"), act.pair(device=device)),
        ]
        return k.Page(("Device", "设备"), body)
    battery = (f"Battery {g.battery}%", f"电量 {g.battery}%") if g.battery >= 0 else ""
    body += [
        k.card(
            k.Switch(
                ("Connected", "已连接"),
                g.connected,
                act.connect(device=device, on=not g.connected),
                subtitle=battery,
                icon=GADGET_ICONS[g.kind],
            )
        ),
        name,
        k.Button(
            ("Save name", "保存名称"),
            act.rename_gadget(device=device, name=name.value),
            enabled=bool(name.value.strip()) and name.value != g.name,
        ),
    ]
    return k.Page(
        g.name,
        body,
        dialog=sure,
        actions=(
            k.IconButton("copy", ("Copy name", "复制名称"), k.Copy(text=g.name)),
            k.IconButton("trash", ("Forget", "忘记"), ui.set(sure=True)),
        ),
    )
