"""What the settings keep besides the system's own state: networks, devices, accounts, choices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, get_args

import msgspec

from screenloop.phone import kit as k

Ringtone = Literal["Aurora", "Beacon", "Breeze", "Carousel", "Lagoon", "Pulse"]
RINGTONES: tuple[Ringtone, ...] = ("Aurora", "Beacon", "Breeze", "Carousel", "Lagoon", "Pulse")
Chime = Literal["Drop", "Ping", "Pop", "Silent", "Tick"]
CHIMES: tuple[Chime, ...] = ("Drop", "Ping", "Pop", "Silent", "Tick")
SleepS = Literal[15, 30, 60, 120, 300, 600]
SLEEPS: tuple[tuple[SleepS, tuple[str, str]], ...] = (
    (15, ("15 s", "15 秒")),
    (30, ("30 s", "30 秒")),
    (60, ("1 min", "1 分钟")),
    (120, ("2 min", "2 分钟")),
    (300, ("5 min", "5 分钟")),
    (600, ("10 min", "10 分钟")),
)
FontPercent = Literal[85, 100, 115, 130]
FONTS: tuple[tuple[FontPercent, tuple[str, str]], ...] = (
    (85, ("Small", "小")),
    (100, ("Normal", "标准")),
    (115, ("Large", "大")),
    (130, ("Largest", "特大")),
)
Service = Literal["Postbox", "Cloudlet", "Huddle"]
SERVICES: tuple[tuple[Service, tuple[str, str]], ...] = (
    ("Postbox", ("Postbox mail", "Postbox 邮箱")),
    ("Cloudlet", ("Cloudlet files", "Cloudlet 云盘")),
    ("Huddle", ("Huddle chat", "Huddle 聊天")),
)
PermissionName = Literal["photos", "camera", "location", "contacts", "microphone"]
PERMISSIONS: tuple[tuple[PermissionName, tuple[str, str], str], ...] = (
    ("photos", ("Photos", "照片"), "image"),
    ("camera", ("Camera", "相机"), "camera"),
    ("location", ("Location", "位置"), "location"),
    ("contacts", ("Contacts", "通讯录"), "users"),
    ("microphone", ("Microphone", "麦克风"), "mic"),
)
WANTED: dict[str, tuple[PermissionName, ...]] = {
    "contacts": ("photos", "camera"),
    "messages": ("photos", "camera", "contacts", "microphone"),
    "notes": ("photos", "camera", "microphone"),
    "calendar": ("contacts", "location"),
    "gallery": ("photos", "camera", "location"),
    "shop": ("photos", "location"),
    "wallet": ("camera", "contacts", "location"),
}
"""What each app may ask for."""
OptionName = Literal[
    "vibrate",
    "touch_sounds",
    "night_light",
    "auto_brightness",
    "clock_24h",
    "auto_time",
    "battery_percentage",
    "data_saver",
]
OPTIONS: tuple[OptionName, ...] = get_args(OptionName)
NetworkId = Annotated[str, k.Refers("settings.networks")]
GadgetId = Annotated[str, k.Refers("settings.gadgets")]
NoticeId = Annotated[str, k.Refers("settings.notices")]
AccountId = Annotated[str, k.Refers("settings.accounts")]
UsageId = Annotated[str, k.Refers("settings.storage")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=32)]
Password = Annotated[str, msgspec.Meta(max_length=63)]
Pin = Annotated[str, msgspec.Meta(pattern=r"^\d{4}$")]
Level = Annotated[int, msgspec.Meta(ge=0, le=100)]
Gigabytes = Annotated[int, msgspec.Meta(ge=1, le=50)]
TOTAL_GB = 128
SYSTEM_MB = 18_432
MODEL = "Aster 5"
PHONE = "phone"
"""Id of the only row of the table of that name."""


class Network(k.Record, frozen=True, kw_only=True):
    """A Wi-Fi network in reach."""

    name: str
    secured: bool = True
    saved: bool = False
    strength: int = 3
    """Bars, 1 to 4."""
    password: str = ""


class Gadget(k.Record, frozen=True, kw_only=True):
    """A Bluetooth device, paired or in reach."""

    name: str
    kind: Literal["headphones", "watch", "car", "tv", "keyboard", "speaker"]
    paired: bool = False
    connected: bool = False
    battery: int = -1
    """Percent; -1 where it tells none."""


class Notice(k.Record, frozen=True, kw_only=True):
    """Whether an app may post notifications; its id is the app's."""

    allowed: bool = True
    sound: bool = True


class Account(k.Record, frozen=True, kw_only=True):
    """An account on the phone."""

    service: Service
    email: str
    sync: bool = True


class Usage(k.Record, frozen=True, kw_only=True):
    """What an app stores; its id is the app's."""

    data_mb: int
    cache_mb: int


class Phone(k.Record, frozen=True, kw_only=True):
    """The phone itself."""

    name: str
    """The owner may change it."""
    model: str
    version: str
    serial: str
    number: str
    security_update: str


def _word(cast: k.Cast, purpose: str) -> str:
    rng = cast.rng(f"settings {purpose}")
    first = rng.choice(("amber", "birch", "cedar", "maple", "river", "stone", "tulip", "willow"))
    return f"{first}{rng.randrange(1000, 10_000)}"


def seed_networks(cast: k.Cast) -> Iterable[Network]:
    """The home network and its neighbours; each secured one has a password of its own."""
    rows: tuple[tuple[str, bool, bool, int], ...] = (
        ("Lindenhof", True, True, 4),
        ("Corner Cafe", True, False, 3),
        ("City Free Wi-Fi", False, False, 2),
        ("Office 4F", True, True, 1),
        ("Guest House", True, False, 3),
        ("Printer-7C1A", True, False, 2),
    )
    for name, secured, saved, strength in rows:
        password = _word(cast, name) if secured else ""
        yield Network(name=name, secured=secured, saved=saved, strength=strength, password=password)


def seed_gadgets(cast: k.Cast) -> Iterable[Gadget]:
    """Three paired devices and three in reach."""
    rng = cast.rng("settings gadgets")
    return [
        Gadget(
            name="Nimbus Buds",
            kind="headphones",
            paired=True,
            connected=True,
            battery=rng.randrange(30, 95),
        ),
        Gadget(name="Orbit Watch", kind="watch", paired=True, battery=rng.randrange(30, 95)),
        Gadget(name="Car kit", kind="car", paired=True),
        Gadget(name="Living room TV", kind="tv"),
        Gadget(name="Pebble Keyboard", kind="keyboard"),
        Gadget(name="Kitchen speaker", kind="speaker"),
    ]


def app_ids() -> list[str]:
    """Return the apps that a person can open, in the launcher's order."""
    from screenloop.phone.device.boot import installed

    return [app_id for app_id in installed() if app_id not in (k.OS_ID, "settings")]


def app_title(app_id: str) -> tuple[str, str]:
    """Return an app's name."""
    from screenloop.phone.device.boot import installed

    return installed()[app_id].title


def seed_notices(cast: k.Cast) -> Iterable[Notice]:
    """Every app may notify."""
    return [Notice(id=app_id) for app_id in app_ids()]


def seed_accounts(cast: k.Cast) -> Iterable[Account]:
    """A mail and a file account."""
    number = cast.rng("settings account").randrange(10, 100)
    return [
        Account(service="Postbox", email=f"alex{number}@example.org"),
        Account(service="Cloudlet", email=f"alex{number}@example.net", sync=False),
    ]


def seed_storage(cast: k.Cast) -> Iterable[Usage]:
    """What each app takes; no two are equal."""
    for number, app_id in enumerate(app_ids()):
        rng = cast.rng(f"settings storage {app_id}")
        size = 8000 if app_id == "gallery" else 300
        yield Usage(
            id=app_id,
            data_mb=size + 10 * rng.randrange(2, 60) + number,
            cache_mb=10 * rng.randrange(2, 40) + number,
        )


def seed_phone(cast: k.Cast) -> Iterable[Phone]:
    """The phone with the numbers of its world."""
    rng = cast.rng("settings phone")
    yield Phone(
        id=PHONE,
        name=MODEL,
        model=MODEL,
        version=f"Lumen OS 4.{rng.randrange(1, 9)}",
        serial=f"AS5-{rng.randrange(10_000, 100_000)}-K{rng.randrange(10)}",
        number=f"555-{rng.randrange(100, 1000)}-{rng.randrange(1000, 10_000)}",
        security_update=f"2026-02-{rng.randrange(1, 28):02d}",
    )


class State(k.AppState):
    """The choices that the system's own state does not hold."""

    networks = k.Table(Network, prefix="network", seed=seed_networks)
    gadgets = k.Table(Gadget, prefix="device", seed=seed_gadgets)
    notices = k.Table(Notice, prefix="notice", seed=seed_notices)
    accounts = k.Table(Account, prefix="account", seed=seed_accounts)
    storage = k.Table(Usage, prefix="usage", seed=seed_storage)
    phone = k.Table(Phone, prefix="phone", seed=seed_phone)
    ringtone: str = "Aurora"
    notification_sound: str = "Drop"
    vibrate: bool = True
    touch_sounds: bool = True
    sleep_s: int = 60
    night_light: bool = False
    auto_brightness: bool = True
    clock_24h: bool = True
    auto_time: bool = True
    battery_percentage: bool = False
    data_saver: bool = False
    data_limit_gb: int = 10
    hotspot_name: str = MODEL
    hotspot_password: str = "meadow4471"
    pin: str = ""
    """Four digits; empty is no screen lock."""
    update_checked_s: int = 0


app = k.App("settings", State, title=("Settings", "设置"), icon="settings", tint="#475569")


def used_mb(s: State) -> int:
    """Return all that is stored, in MB."""
    return SYSTEM_MB + sum(row.data_mb + row.cache_mb for row in s.storage)


def size_words(megabytes: int) -> str:
    """Return a size, in GB from 1000 MB on."""
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes} MB"
