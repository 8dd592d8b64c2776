"""Settings pages for what connects the phone: networks, mobile data, hotspot, Bluetooth."""

from __future__ import annotations

from screenloop.phone.apps.settings.actions import (
    SwitchName,
    add_network,
    connect,
    edit_hotspot,
    forget_gadget,
    forget_network,
    join,
    pair,
    rename_gadget,
    set_data_limit,
    set_option,
    set_switch,
)
from screenloop.phone.apps.settings.state import Gadget, GadgetId, Network, NetworkId, State, app
from screenloop.phone.commands import Copy
from screenloop.phone.declare.view import Ui
from screenloop.phone.draw.canvas import Words
from screenloop.phone.draw.inputs import Switch
from screenloop.phone.draw.page import Page
from screenloop.phone.draw.rows import Glyph, Row
from screenloop.phone.draw.widgets import (
    Banner,
    Button,
    Card,
    Heading,
    IconButton,
    Paragraph,
    Widget,
)

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
    ui: Ui, name: SwitchName, icon: str, label: Words, subtitle: Words = ""
) -> Switch:
    """Return a switch of the system."""
    on: bool = getattr(ui.system, name)
    return Switch(
        label=label, value=on, icon=icon, subtitle=subtitle, do=set_switch(name=name, on=not on)
    )


def wifi_words(ui: Ui) -> str:
    """Return what Wi-Fi is doing."""
    if not ui.system.wifi:
        return ui.t("Off", "已关闭")
    return ui.system.wifi_network or ui.t("Not connected", "未连接")


@app.page("/network")
def network_page(s: State, ui: Ui) -> Page:
    """All that connects the phone to the world."""
    hotspot = ui.t("On", "已开启") if ui.system.hotspot else ui.t("Off", "已关闭")
    data = ui.t(f"{USED_GB} of {s.data_limit_gb} GB used", f"已用 {USED_GB} / {s.data_limit_gb} GB")
    return Page(
        title=("Network & internet", "网络和互联网"),
        body=(
            Card(
                children=(
                    Row(
                        title="Wi-Fi",
                        subtitle=wifi_words(ui),
                        lead=Glyph(icon="wifi"),
                        trailing_icon="chevron_right",
                        do=wifi_page(),
                    ),
                    Row(
                        title=("Mobile data", "移动数据"),
                        subtitle=data,
                        lead=Glyph(icon="data"),
                        trailing_icon="chevron_right",
                        do=data_page(),
                    ),
                    Row(
                        title=("Hotspot", "热点"),
                        subtitle=hotspot,
                        lead=Glyph(icon="hotspot"),
                        trailing_icon="chevron_right",
                        do=hotspot_page(),
                    ),
                )
            ),
            Card(
                children=(
                    system_switch(
                        ui,
                        "airplane",
                        "airplane",
                        ("Airplane mode", "飞行模式"),
                        ("Turns all radios off", "关闭所有无线连接"),
                    ),
                )
            ),
        ),
    )


def _network_row(ui: Ui, n: Network) -> Row:
    connected = ui.system.wifi and ui.system.wifi_network == n.name
    parts = [ui.t(*BARS[n.strength])]
    if connected:
        parts = [ui.t("Connected", "已连接")]
    elif n.saved:
        parts.insert(0, ui.t("Saved", "已保存"))
    elif not n.secured:
        parts.insert(0, ui.t("Open", "开放"))
    return Row(
        title=n.name,
        subtitle=" · ".join(parts),
        lead=Glyph(icon="wifi"),
        bold=connected,
        trailing_icon="lock" if n.secured else "",
        do=wifi_network_page(network=n.id),
    )


@app.page("/wifi")
def wifi_page(s: State, ui: Ui) -> Page:
    """Wi-Fi and the networks in reach."""
    body: list[Widget] = [
        Card(children=(system_switch(ui, "wifi", "wifi", ("Use Wi-Fi", "使用无线网络")),))
    ]
    if ui.system.wifi:
        current = ui.system.wifi_network
        rows = sorted(s.networks, key=lambda n: (n.name != current, not n.saved, -n.strength))
        body += [
            Heading(words=("Networks", "网络")),
            Card(children=tuple(_network_row(ui, n) for n in rows)),
            Row(title=("Add network", "添加网络"), lead=Glyph(icon="plus"), do=add_network_page()),
        ]
    else:
        words = ("Turn Wi-Fi on to see networks", "打开无线网络以查看网络")
        body.append(Paragraph(words=words, muted=True, align="center", pad_px=24))
    return Page(title="Wi-Fi", body=body)


@app.page("/wifi/{network}")
def wifi_network_page(s: State, ui: Ui, network: NetworkId) -> Page:
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
    body: list[Widget] = [
        Paragraph(words=n.name, size_px=24, bold=True),
        Paragraph(
            words=ui.t("Connected", "已连接")
            if connected
            else ui.t("Saved", "已保存")
            if n.saved
            else ui.t("Not connected", "未连接"),
            muted=True,
        ),
        Card(
            children=tuple(
                Row(title=value, subtitle=words, lead=Glyph(icon=icon))
                for value, words, icon in facts
            )
        ),
    ]
    if not connected:
        if asks:
            reveal = ui.switch("reveal", ("Show password", "显示密码"))
            body += [password, reveal]
        do = join(network=network, password=password.value) if asks else join(network=network)
        ready = not asks or bool(password.value)
        body.append(Button(words=("Connect", "连接"), do=do, enabled=ready))
    if n.saved:
        body.append(
            Button(words=("Forget", "忘记"), kind="danger", do=forget_network(network=network))
        )
    return Page(title=("Network", "网络"), body=body)


@app.page("/add-network")
def add_network_page(s: State, ui: Ui) -> Page:
    """A hidden network."""
    name = ui.field("name", ("Network name", "网络名称"))
    password = ui.field("password", ("Password", "密码"))
    do = add_network(name=name.value, password=password.value)
    return Page(
        title=("Add network", "添加网络"),
        body=(
            name,
            password,
            Paragraph(
                words=("Leave the password empty for an open network", "开放网络无需填写密码"),
                muted=True,
                size_px=13,
            ),
            Button(
                words=("Save and connect", "保存并连接"), do=do, enabled=bool(name.value.strip())
            ),
        ),
    )


@app.page("/data")
def data_page(s: State, ui: Ui) -> Page:
    """Mobile data: on or off, and how much."""
    limit = ui.stepper(
        "gigabytes", ("Monthly limit", "每月上限"), s.data_limit_gb, low=1, high=50, unit="GB"
    )
    return Page(
        title=("Mobile data", "移动数据"),
        body=(
            Card(
                children=(
                    system_switch(ui, "mobile_data", "data", ("Mobile data", "移动数据")),
                    Switch(
                        label=("Data saver", "流量节省"),
                        value=s.data_saver,
                        icon="shield",
                        do=set_option(name="data_saver", on=not s.data_saver),
                    ),
                )
            ),
            Heading(words=("Usage", "用量")),
            Paragraph(
                words=ui.t(f"{USED_GB} GB used since 1 March", f"3月1日以来已用 {USED_GB} GB")
            ),
            limit,
            Button(words=("Save limit", "保存上限"), do=set_data_limit(gigabytes=limit.value)),
        ),
    )


@app.page("/hotspot")
def hotspot_page(s: State, ui: Ui) -> Page:
    """The hotspot, its name and password."""
    name = ui.field("name", ("Hotspot name", "热点名称"), s.hotspot_name)
    password = ui.field("password", ("Password", "密码"), s.hotspot_password)
    changed = (name.value, password.value) != (s.hotspot_name, s.hotspot_password)
    return Page(
        title=("Hotspot", "热点"),
        body=(
            Card(
                children=(
                    system_switch(
                        ui,
                        "hotspot",
                        "hotspot",
                        ("Share connection", "共享网络"),
                        ("Turns Wi-Fi off", "会关闭无线网络"),
                    ),
                )
            ),
            name,
            password,
            Button(
                words=("Save", "保存"),
                enabled=changed and bool(name.value.strip()),
                do=edit_hotspot(name=name.value, password=password.value),
            ),
        ),
    )


def _gadget_row(ui: Ui, g: Gadget) -> Row:
    lead = Glyph(icon=GADGET_ICONS[g.kind])
    if not g.paired:
        return Row(
            title=g.name, subtitle=("Tap to pair", "点击配对"), lead=lead, do=pair(device=g.id)
        )
    parts = [ui.t("Connected", "已连接") if g.connected else ui.t("Paired", "已配对")]
    if g.connected and g.battery >= 0:
        parts.append(f"{g.battery}%")
    return Row(
        title=g.name,
        subtitle=" · ".join(parts),
        lead=lead,
        bold=g.connected,
        trailing_icon="settings",
        do=gadget_page(device=g.id),
    )


@app.page("/bluetooth")
def bluetooth_page(s: State, ui: Ui) -> Page:
    """Bluetooth and its devices."""
    body: list[Widget] = [
        Card(
            children=(
                system_switch(
                    ui,
                    "bluetooth",
                    "bluetooth",
                    ("Use Bluetooth", "使用蓝牙"),
                    ui.t(f"Seen as {s.phone['phone'].name}", f"显示为 {s.phone['phone'].name}"),
                ),
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
                body += [Heading(words=words), Card(children=rows)]
    else:
        hint = ("Turn Bluetooth on to see devices", "打开蓝牙以查看设备")
        body.append(Paragraph(words=hint, muted=True, align="center", pad_px=24))
    return Page(title=("Bluetooth", "蓝牙"), body=body)


@app.page("/bluetooth/{device}")
def gadget_page(s: State, ui: Ui, device: GadgetId) -> Page:
    """One paired device."""
    g = s.gadgets[device]
    name = ui.field("name", ("Name", "名称"), g.name)
    sure = ui.question(
        ("Forget device?", "忘记设备？"),
        text=g.name,
        yes=("Forget", "忘记"),
        do=forget_gadget(device=device),
    )
    body: list[Widget] = []
    if not ui.system.bluetooth:
        body.append(Banner(icon="info", words=("Bluetooth is off", "蓝牙已关闭")))
    if not g.paired:
        body += [
            Paragraph(words=g.name, size_px=22, bold=True),
            Button(words=("Pair", "配对"), do=pair(device=device)),
        ]
        return Page(title=("Device", "设备"), body=body)
    battery = (f"Battery {g.battery}%", f"电量 {g.battery}%") if g.battery >= 0 else ""
    body += [
        Card(
            children=(
                Switch(
                    label=("Connected", "已连接"),
                    value=g.connected,
                    subtitle=battery,
                    icon=GADGET_ICONS[g.kind],
                    do=connect(device=device, on=not g.connected),
                ),
            )
        ),
        name,
        Button(
            words=("Save name", "保存名称"),
            do=rename_gadget(device=device, name=name.value),
            enabled=bool(name.value.strip()) and name.value != g.name,
        ),
    ]
    return Page(
        title=g.name,
        body=body,
        dialog=sure,
        actions=(
            IconButton(icon="copy", label=("Copy name", "复制名称"), do=Copy(text=g.name)),
            IconButton(icon="trash", label=("Forget", "忘记"), do=ui.set(sure=True)),
        ),
    )
