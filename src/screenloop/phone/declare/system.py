"""What the operating system keeps: settings, notifications, timers, permissions, clipboard."""

from __future__ import annotations

from typing import Any

from screenloop.phone.declare.state import AppState, Record, Table

OS_ID = "os"


class Notification(Record, frozen=True, kw_only=True):
    """One entry of the shade."""

    app: str
    title: str
    text: str
    target: str
    """App whose page it opens."""
    path: str
    at_s: int


class Timer(Record, frozen=True, kw_only=True):
    """An action that will run when the clock gets there."""

    due_s: int
    app: str
    action: str
    args: dict[str, Any] = {}


class Permission(Record, frozen=True, kw_only=True):
    """Whether an app may use something; no row means that it has not asked."""

    app: str
    name: str
    granted: bool


class SystemState(AppState):
    """The system's own data; the settings app writes most of it."""

    app_id = OS_ID
    notifications = Table(Notification, prefix="note")
    timers = Table(Timer, prefix="timer")
    permissions = Table(Permission, prefix="perm")
    language: str = "en"
    dark: bool = False
    wifi: bool = True
    wifi_network: str = "Lindenhof"
    bluetooth: bool = True
    mobile_data: bool = True
    airplane: bool = False
    hotspot: bool = False
    location: bool = True
    do_not_disturb: bool = False
    flashlight: bool = False
    auto_rotate: bool = True
    battery_saver: bool = False
    battery: int = 82
    brightness: int = 60
    media_volume: int = 50
    ring_volume: int = 70
    alarm_volume: int = 80
    font_scale: int = 100
    clipboard: str = ""

    @property
    def online(self) -> bool:
        """Whether apps can reach their servers."""
        return not self.airplane and (self.wifi or self.mobile_data)
