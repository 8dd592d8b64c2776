"""The phone's line icons: one style, drawn for this project, as SVG.

Every icon lives on a 24 by 24 grid with round caps and joins. ``_SHAPES`` holds them in a small
notation, shapes divided by semicolons: path data as in SVG, ``c x y radius`` for a circle,
``r x y width height radius`` for a rectangle. A shape is stroked; ``!`` before it fills it
instead, ``*`` fills and strokes it.

How to paint one cheaply: give the native renderer ``images={key: icon_image(...)}`` and place
``<img src="key">`` at the icon's size. The renderer rasterises an SVG image once for each size
and device scale and keeps it, so 25 icons cost about 0.2 CPU-ms and stay sharp at every scale;
the same markup inline is parsed and drawn again at each frame, about 2.3 CPU-ms. Pass only the
images that a page shows: the renderer hashes each one's bytes at each frame.
"""

from __future__ import annotations

import difflib
import functools

from screenloop.errors import ConfigError

_SLASH = "M4 4l16 16"
_STAR = "M12 3.6l2.5 5.7 6.2.7-4.6 4.1 1.3 6.1-5.4-3.1-5.4 3.1 1.3-6.1L3.3 10l6.2-.7z"
_HEART = (
    "M12 20C8 17.3 3.5 13.8 3.5 9.4A4.7 4.7 0 0 1 8.2 4.7 4.7 4.7 0 0 1 12 6.6"
    "a4.7 4.7 0 0 1 3.8-1.9 4.7 4.7 0 0 1 4.7 4.7C20.5 13.8 16 17.3 12 20z"
)
_BELL = "M6.5 10.5a5.5 5.5 0 0 1 11 0V15l2 2.5h-15l2-2.5zM10 20.5h4"
_BUBBLE = (
    "M6.5 4.5h11A2.5 2.5 0 0 1 20 7v7.5a2.5 2.5 0 0 1-2.5 2.5H12l-4.5 3.8V17h-1"
    "A2.5 2.5 0 0 1 4 14.5V7a2.5 2.5 0 0 1 2.5-2.5z"
)
_WIFI = (
    "M2.5 9.5a13.5 13.5 0 0 1 19 0M5.7 12.9a9 9 0 0 1 12.6 0M8.9 16.2a4.5 4.5 0 0 1 6.2 0;"
    "!c 12 19.3 1.3"
)
_SPEAKER = "M4 9.5h3.5L12 5.5v13l-4.5-4H4z"
_CALENDAR = "r 4 5 16 15.5 2.5;M4 10h16M8.5 3v4M15.5 3v4"
_BOOKMARK = "M6.5 6A2.5 2.5 0 0 1 9 3.5h6A2.5 2.5 0 0 1 17.5 6v14.5L12 16.5l-5.5 4z"
_SHIFT = "M12 4 4 12.5h4v6.5h8v-6.5h4z"
_CLOUD = "M7 {0}a4.5 4.5 0 0 1-.6-9 6 6 0 0 1 11.6 1.5 3.8 3.8 0 0 1-.5 7.5z"
_GEAR = (
    "M10.2 5.3l.2-2.4h3.2l.2 2.4A6.9 6.9 0 0 1 15.4 6l1.9-1.5 2.2 2.2L18 8.6a6.9 6.9 0 0 1 .7 1.6"
    "l2.4.2v3.2l-2.4.2a6.9 6.9 0 0 1-.7 1.6l1.5 1.9-2.2 2.2-1.9-1.5a6.9 6.9 0 0 1-1.6.7"
    "l-.2 2.4h-3.2l-.2-2.4A6.9 6.9 0 0 1 8.6 18l-1.9 1.5-2.2-2.2L6 15.4a6.9 6.9 0 0 1-.7-1.6"
    "l-2.4-.2v-3.2l2.4-.2A6.9 6.9 0 0 1 6 8.6L4.5 6.7l2.2-2.2L8.6 6a6.9 6.9 0 0 1 1.6-.7z"
)

_NAVIGATION = {
    "back": "M19 12H5M11 18l-6-6 6-6",
    "forward": "M5 12h14M13 6l6 6-6 6",
    "close": "M6 6l12 12M18 6 6 18",
    "menu": "M4 7h16M4 12h16M4 17h16",
    "more": "!c 12 5.5 1.7;!c 12 12 1.7;!c 12 18.5 1.7",
    "search": "c 11 11 6.5;M20 20l-4.3-4.3",
    "plus": "M12 5v14M5 12h14",
    "minus": "M5 12h14",
    "check": "M5 12.5l4.5 4.5L19 7.5",
    "chevron_left": "M15 6l-6 6 6 6",
    "chevron_right": "M9 6l6 6-6 6",
    "chevron_down": "M6 9l6 6 6-6",
    "chevron_up": "M6 15l6-6 6 6",
    "home": "M4 10.5 12 4l8 6.5V18a2.5 2.5 0 0 1-2.5 2.5h-11A2.5 2.5 0 0 1 4 18zM9.5 20.5V14h5v6.5",
    "recents": "r 5 5 14 14 3",
    "apps": "r 4 4 6.2 6.2 1.5;r 13.8 4 6.2 6.2 1.5;r 4 13.8 6.2 6.2 1.5;r 13.8 13.8 6.2 6.2 1.5",
    "filter": "M4 6.5h16M7 12h10M10 17.5h4",
    "sort": "M7 5v14M4 16l3 3 3-3M13 6h7M13 12h5M13 18h3",
    "edit": "M11.5 5h-5A2.5 2.5 0 0 0 4 7.5v10A2.5 2.5 0 0 0 6.5 20h10a2.5 2.5 0 0 0 2.5-2.5v-5"
    "M9 15l.6-3.2 7.9-7.9a1.8 1.8 0 0 1 2.6 2.6l-7.9 7.9z",
    "trash": "M4.5 6.5h15M9 6.5V5a1.5 1.5 0 0 1 1.5-1.5h3A1.5 1.5 0 0 1 15 5v1.5"
    "M6.5 6.5l.8 12a2 2 0 0 0 2 1.9h5.4a2 2 0 0 0 2-1.9l.8-12M10 11v5M14 11v5",
    "share": "c 17.5 5.5 2.5;c 6.5 12 2.5;c 17.5 18.5 2.5;M8.7 10.7l6.6-3.9M8.7 13.3l6.6 3.9",
    "copy": "r 8 8 12 12 2.5;M16 8V6.5A2.5 2.5 0 0 0 13.5 4h-7A2.5 2.5 0 0 0 4 6.5v7"
    "A2.5 2.5 0 0 0 6.5 16H8",
    "download": "M12 4v11.5M7.5 11l4.5 4.5 4.5-4.5M5 20h14",
    "upload": "M12 15.5V4M7.5 8.5 12 4l4.5 4.5M5 20h14",
    "refresh": "M19.5 13a7.6 7.6 0 1 1-2-6.2L20 9.4M20 4.5v4.9h-4.9",
    "undo": "M8.5 5 4 9.5 8.5 14M4 9.5h10a5.3 5.3 0 0 1 0 10.5h-4",
    "star": _STAR,
    "star_filled": f"*{_STAR}",
    "heart": _HEART,
    "heart_filled": f"*{_HEART}",
    "bell": _BELL,
    "bell_off": "M9 5.9a5.5 5.5 0 0 1 8.5 4.6V13M16.5 17.5h-12l2-2.5v-4.5a5.5 5.5 0 0 1 .3-1.8"
    f"M10 20.5h4{_SLASH}",
    "lock": "r 5 11 14 9.5 2.5;M8 11V8a4 4 0 0 1 8 0v3;!c 12 15.7 1.5",
    "unlock": "r 5 11 14 9.5 2.5;M8 11V7.5a4 4 0 0 1 7.7-1.5;!c 12 15.7 1.5",
    "eye": "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z;c 12 12 3",
    "eye_off": "M9.5 5.9a8.6 8.6 0 0 1 2.5-.4c6 0 9.5 6.5 9.5 6.5a16 16 0 0 1-2.2 3"
    "M16.3 17.4a8.6 8.6 0 0 1-4.3 1.1C6 18.5 2.5 12 2.5 12a16 16 0 0 1 4-4.6"
    f"M10 10a2.9 2.9 0 0 0 4 4{_SLASH}",
    "info": "c 12 12 8.5;M12 11.5v4.7;!c 12 8 1.3",
    "warning": "M12 4 21 19.5H3zM12 10v4.2;!c 12 16.8 1.2",
    "help": "c 12 12 8.5;M9.7 9.6a2.4 2.4 0 1 1 3.5 2.1c-.8.5-1.2 1-1.2 1.8;!c 12 16.5 1.2",
    "link": "M10 14a4 4 0 0 0 5.7 0l3.1-3.1a4 4 0 0 0-5.7-5.7L12 6.3"
    "M14 10a4 4 0 0 0-5.7 0l-3.1 3.1a4 4 0 0 0 5.7 5.7l1.1-1.1",
    "pin": "M8.5 4h7M9.5 4l-.5 6-3 3.8h12L15 10l-.5-6M12 13.8v6.7",
    "archive": "r 3.5 4.5 17 4.5 1.5;M5 9v8.5A2.5 2.5 0 0 0 7.5 20h9a2.5 2.5 0 0 0 2.5-2.5V9"
    "M10 13h4",
    "flag": "M6 21V4M6 4.5h12l-2.5 4.3 2.5 4.2H6",
    "tag": "M4 5.8A1.8 1.8 0 0 1 5.8 4h5.8a2 2 0 0 1 1.4.6l6.5 6.5a2 2 0 0 1 0 2.8l-5.6 5.6"
    "a2 2 0 0 1-2.8 0L4.6 13A2 2 0 0 1 4 11.6z;!c 8.4 8.4 1.5",
    "logout": "M13.5 4h-6A2.5 2.5 0 0 0 5 6.5v11A2.5 2.5 0 0 0 7.5 20h6M10.5 12h10M17 8.5l3.5 3.5"
    "-3.5 3.5",
}

_COMMUNICATION = {
    "phone": "M6.2 4h2.6a1 1 0 0 1 1 .8l.7 3a1 1 0 0 1-.3 1l-1.7 1.6a12 12 0 0 0 5.1 5.1"
    "l1.6-1.7a1 1 0 0 1 1-.3l3 .7a1 1 0 0 1 .8 1v2.6A2.2 2.2 0 0 1 17.8 20 13.8 13.8 0 0 1 4 6.2"
    " 2.2 2.2 0 0 1 6.2 4z",
    "message": f"{_BUBBLE}M8.5 9h7M8.5 12.5h4.5",
    "chat": "M5.5 4h8A2.5 2.5 0 0 1 16 6.5v4a2.5 2.5 0 0 1-2.5 2.5H9l-3 2.6V13h-.5"
    "A2.5 2.5 0 0 1 3 10.5v-4A2.5 2.5 0 0 1 5.5 4zM19 9.4a2.5 2.5 0 0 1 2 2.4v3.7"
    "a2.5 2.5 0 0 1-2.5 2.5H18v2.6L15 18h-3.5",
    "mail": "r 3 5 18 14 2.5;M3.8 7.2 12 13l8.2-5.8",
    "send": "M20.5 3.5 3.5 10l7 3.5 3.5 7zM20.5 3.5l-10 10",
    "reply": "M9 6l-5 5 5 5M4 11h9a7 7 0 0 1 7 7",
    "user": "c 12 8 4;M4.5 20.5a7.5 7.5 0 0 1 15 0",
    "users": "c 9 8.5 3.5;M2.5 20a6.5 6.5 0 0 1 13 0M15.5 5.2a3.5 3.5 0 0 1 0 6.6"
    "M18 14.2a6.5 6.5 0 0 1 3.5 5.8",
    "user_plus": "c 10 8 4;M3 20.5a7 7 0 0 1 14 0M19.5 8.5v6M16.5 11.5h6",
    "contacts": "r 5.5 3.5 14 17 2.5;c 12.5 10 2.4;M8.7 16.7a3.9 3.9 0 0 1 7.6 0"
    "M3.5 8h2M3.5 12h2M3.5 16h2",
}

_MEDIA = {
    "image": "r 3.5 4.5 17 15 2.5;c 8.7 9.5 1.7;M4 17.2l4.5-4.2 3.5 3 4-4.5 4.5 5",
    "camera": "M5.5 7.5h2.3l1.3-2.2a1.5 1.5 0 0 1 1.3-.8h3.2a1.5 1.5 0 0 1 1.3.8l1.3 2.2h2.3"
    "A2.5 2.5 0 0 1 21 10v7.5a2.5 2.5 0 0 1-2.5 2.5h-13A2.5 2.5 0 0 1 3 17.5V10"
    "a2.5 2.5 0 0 1 2.5-2.5z;c 12 13.3 3.5",
    "video": "r 3 6 12.5 12 2.5;M15.5 10.8 21 7.5v9l-5.5-3.3",
    "music": "M9.5 17.5V5.5l10-2v12;c 7 17.5 2.5;c 17 15.5 2.5",
    "folder": "M3.5 7A2.5 2.5 0 0 1 6 4.5h3.4a2 2 0 0 1 1.5.7L12.5 7H18a2.5 2.5 0 0 1 2.5 2.5V17"
    "a2.5 2.5 0 0 1-2.5 2.5H6A2.5 2.5 0 0 1 3.5 17z",
    "file": "M13.5 3.5h-6A2.5 2.5 0 0 0 5 6v12a2.5 2.5 0 0 0 2.5 2.5h9A2.5 2.5 0 0 0 19 18V9z"
    "M13.5 3.5V9H19",
    "play": "M7.5 5v14a.7.7 0 0 0 1.1.6l10.6-7a.7.7 0 0 0 0-1.2l-10.6-7A.7.7 0 0 0 7.5 5z",
    "pause": "r 6 5 4 14 1;r 14 5 4 14 1",
    "skip_next": "M5.5 5.5v13l9.5-6.5zM18.5 5.5v13",
    "skip_previous": "M18.5 5.5v13L9 12zM5.5 5.5v13",
    "mic": "r 9 3 6 11 3;M5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3",
}

_TIME = {
    "clock": "c 12 12 8.5;M12 7v5.2l3.3 2",
    "alarm": "c 12 13 7.5;M12 9v4.2l2.6 1.6M3.8 6.7 7 4M20.2 6.7 17 4",
    "timer": "M6.5 3.5h11M6.5 20.5h11M8 3.5v3.2a4 4 0 0 0 1.5 3.1L12 12l2.5-2.2A4 4 0 0 0 16 6.7"
    "V3.5M8 20.5v-3.2a4 4 0 0 1 1.5-3.1L12 12l2.5 2.2a4 4 0 0 1 1.5 3.1v3.2",
    "stopwatch": "c 12 13.5 7;M12 13.5V9.7M9.5 3h5M12 3v3.5M17.7 7.3l1.5-1.5",
    "calendar": _CALENDAR,
    "calendar_plus": f"{_CALENDAR}M12 12.5v5M9.5 15h5",
    "globe": "c 12 12 8.5;M3.5 12h17M12 3.5c2.4 2.4 3.6 5.2 3.6 8.5s-1.2 6.1-3.6 8.5"
    "c-2.4-2.4-3.6-5.2-3.6-8.5s1.2-6.1 3.6-8.5z",
    "moon": "M20 14.2A8.5 8.5 0 1 1 9.8 4 6.8 6.8 0 0 0 20 14.2z",
    "sun": "c 12 12 4;M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4"
    "M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
    "cloud": _CLOUD.format("18.5"),
    "rain": f"{_CLOUD.format('15.5')}M8 18.5l-1 2.5M12.5 18.5l-1 2.5M17 18.5l-1 2.5",
}

_COMMERCE = {
    "bag": "M6 8h12l1.2 10.3a2 2 0 0 1-2 2.2H6.8a2 2 0 0 1-2-2.2zM8.5 10.5V7a3.5 3.5 0 0 1 7 0v3.5",
    "cart": "M2.5 4h2a1 1 0 0 1 1 .8L7.8 15.2h9.7L19.8 7H6;c 9 19.2 1.3;c 16.3 19.2 1.3",
    "card": "r 3 5.5 18 13 2.5;M3 10h18M6.5 14.8h3.5",
    "wallet": "M17 7V5.7a1.7 1.7 0 0 0-2.1-1.6L5.2 6.4A2.2 2.2 0 0 0 3.5 8.5v9"
    "A2.5 2.5 0 0 0 6 20h12a2.5 2.5 0 0 0 2.5-2.5v-8A2.5 2.5 0 0 0 18 7H5;!c 16.5 13.5 1.5",
    "receipt": "M5.5 3.5h13v17l-2.2-1.6-2.1 1.6-2.2-1.6-2.2 1.6-2.1-1.6-2.2 1.6zM9 8.5h6M9 12.5h6",
    "truck": "M4.7 16.8H3V6h10.7v10.8H9.2M13.7 10h3.8l3.5 3.5v3.3h-1.8M14.8 16.8h-1.1;"
    "c 7 17.2 2.1;c 17 17.2 2.1",
    "gift": "r 3.5 8 17 4.3 1;M5 12.3v6.2A1.5 1.5 0 0 0 6.5 20h11a1.5 1.5 0 0 0 1.5-1.5v-6.2"
    "M12 8v12M12 8C9.2 8 7 7.2 7 5.5 7 3 10.8 3.2 12 8c1.2-4.8 5-5 5-2.5C17 7.2 14.8 8 12 8z",
    "store": "M4.8 11.5v7A1.5 1.5 0 0 0 6.3 20h11.4a1.5 1.5 0 0 0 1.5-1.5v-7M5 4h14l2 5"
    "a2.3 2.3 0 0 1-4.5.6 2.3 2.3 0 0 1-4.5 0 2.3 2.3 0 0 1-4.5 0A2.3 2.3 0 0 1 3 9z"
    "M9.5 20v-4.5h5V20",
    "percent": "M6 18 18 6;c 7.2 7.2 2.5;c 16.8 16.8 2.5",
    "coins": "c 9 9 5.5;M16.3 9.8a5.5 5.5 0 1 1-6.5 6.5M9 7v4",
}

_SYSTEM = {
    "settings": f"{_GEAR};c 12 12 2.8",
    "sliders": "M4 7h8.5M17.5 7H20M4 17h2.5M11.5 17H20;c 15 7 2.5;c 9 17 2.5",
    "wifi": _WIFI,
    "wifi_off": "M2.5 9.5a13.5 13.5 0 0 1 3.8-2.7M10 5.7a13.5 13.5 0 0 1 11.5 3.8"
    "M5.7 12.9A9 9 0 0 1 9.6 10.6M14.5 10.7a9 9 0 0 1 3.8 2.2M8.9 16.2a4.5 4.5 0 0 1 6.2 0"
    f"{_SLASH};!c 12 19.3 1.3",
    "bluetooth": "M6.5 7.5l11 9L12 21V3l5.5 4.5-11 9",
    "airplane": "M21 15.3v-1.8L13.5 9V4.5a1.5 1.5 0 0 0-3 0V9L3 13.5v1.8l7.5-2.2v4.7l-2.3 1.6V21"
    "l3.8-1 3.8 1v-1.6l-2.3-1.6v-4.7z",
    "battery": "r 2.5 7 16.5 10 2.5;M21.7 10.8v2.4;!r 5 9.5 8.5 5 1",
    "signal": "M4.5 19.5v-3M9.5 19.5V13M14.5 19.5V9M19.5 19.5V4.5",
    "data": "M8 20V5M4.5 8.5 8 5l3.5 3.5M16 4v15M12.5 15.5 16 19l3.5-3.5",
    "brightness": "c 12 12 5;!M12 7a5 5 0 0 1 0 10z;M12 2.5v1M12 20.5v1M2.5 12h1M20.5 12h1"
    "M5.3 5.3l.7.7M18 18l.7.7M5.3 18.7l.7-.7M18 6l.7-.7",
    "volume": f"{_SPEAKER}M15.5 9a4.2 4.2 0 0 1 0 6M18.3 6.3a8 8 0 0 1 0 11.4",
    "volume_off": f"{_SPEAKER}M16 9.5l5 5M21 9.5l-5 5",
    "vibrate": "r 8 4 8 16 2;M5 8.5v7M2.2 10.5v3M19 8.5v7M21.8 10.5v3",
    "rotate": "M9.1 4.7 4.7 9.1a1.7 1.7 0 0 0 0 2.4l7.8 7.8a1.7 1.7 0 0 0 2.4 0l4.4-4.4"
    "a1.7 1.7 0 0 0 0-2.4l-7.8-7.8a1.7 1.7 0 0 0-2.4 0zM15.5 2.8a7.5 7.5 0 0 1 5.7 5.7"
    "M8.5 21.2a7.5 7.5 0 0 1-5.7-5.7",
    "flashlight": "M7 3.5h10v3.3L14.5 11v9.5h-5V11L7 6.8zM7 7h10M12 13.5v2.5",
    "hotspot": "!c 12 12 2.2;M8 16a5.7 5.7 0 0 1 0-8M16 8a5.7 5.7 0 0 1 0 8"
    "M5.2 18.8a9.6 9.6 0 0 1 0-13.6M18.8 5.2a9.6 9.6 0 0 1 0 13.6",
    "location": "M12 21s-7-6-7-11.2a7 7 0 0 1 14 0C19 15 12 21 12 21z;c 12 9.8 2.6",
    "map": "M3.5 6.5 9 4l6 2.5L20.5 4v13.5L15 20l-6-2.5L3.5 20zM9 4v13.5M15 6.5V20",
    "compass": "c 12 12 8.5;M15.5 8.5l-1.9 5.1-5.1 1.9 1.9-5.1z",
    "storage": "r 4 4 16 6.7 2;r 4 13.3 16 6.7 2;!c 7.8 7.35 1.2;!c 7.8 16.65 1.2",
    "keyboard": "r 2.5 6 19 12 2.5;!c 6.6 10 1.1;!c 10.2 10 1.1;!c 13.8 10 1.1;!c 17.4 10 1.1;"
    "M8.5 14.2h7",
    "backspace": "M8.5 5h10A2.5 2.5 0 0 1 21 7.5v9a2.5 2.5 0 0 1-2.5 2.5h-10l-6-7z"
    "M11.5 9.5l5 5M16.5 9.5l-5 5",
    "shift": _SHIFT,
    "shift_filled": f"*{_SHIFT}",
    "enter": "M19.5 5v6.5A2.5 2.5 0 0 1 17 14H5M9 9.5 4.5 14 9 18.5",
    "language": "M3 6.5h10M8 4v2.5M11 6.5c-.7 4-3.5 7.2-7.7 9M5 9.5c1.1 2.3 3.1 4.3 5.7 5.4"
    "M12.5 20.5l4.2-10 4.2 10M13.9 17.2h5.6",
    "accessibility": "!c 12 4.6 2;M4.5 9l7.5 1.5L19.5 9M12 10.5v4M8.5 20.5l3.5-6 3.5 6",
    "shield": "M12 3l7.5 2.8v5.7c0 4.6-3 8-7.5 9.5-4.5-1.5-7.5-4.9-7.5-9.5V5.8z"
    "M8.8 12l2.3 2.3 4.2-4.4",
    "power": "M12 3.5v8M7 6.7a7.5 7.5 0 1 0 10 0",
    "mobile": "r 6.5 2.5 11 19 2.5;M11 18h2",
    "calculator": "r 5 3 14 18 2.5;M8.7 7.2h6.6;!c 9 12 1.2;!c 12 12 1.2;!c 15 12 1.2;"
    "!c 9 16.3 1.2;!c 12 16.3 1.2;!c 15 16.3 1.2",
}

_NOTES = {
    "note": "M6.5 4h11A2.5 2.5 0 0 1 20 6.5V14l-6 6H6.5A2.5 2.5 0 0 1 4 17.5v-11"
    "A2.5 2.5 0 0 1 6.5 4zM14 20v-3.5a2.5 2.5 0 0 1 2.5-2.5H20M8 8.5h8M8 12.5h3.5",
    "list": "M9 6h11M9 12h11M9 18h11;!c 4.7 6 1.5;!c 4.7 12 1.5;!c 4.7 18 1.5",
    "checkbox": "r 4 4 16 16 3",
    "checkbox_checked": "r 4 4 16 16 3;M8 12.3l2.8 2.8L16 9.5",
    "radio": "c 12 12 8.5",
    "radio_checked": "c 12 12 8.5;!c 12 12 4.5",
    "bold": "M7.5 4.5h5.3a3.6 3.6 0 0 1 0 7.2H7.5zM7.5 11.7h6.2a3.9 3.9 0 0 1 0 7.8H7.5z",
    "italic": "M10 4.5h7M7 19.5h7M14 4.5l-4 15",
    "pencil": "M4 20l1-4.5L16.2 4.3a2.1 2.1 0 0 1 3 0l.5.5a2.1 2.1 0 0 1 0 3L8.5 19z"
    "M13.8 6.7l3.5 3.5",
    "bookmark": _BOOKMARK,
    "bookmark_filled": f"*{_BOOKMARK}",
}

_SHAPES = {**_NAVIGATION, **_COMMUNICATION, **_MEDIA, **_TIME, **_COMMERCE, **_SYSTEM, **_NOTES}

ICON_NAMES: tuple[str, ...] = tuple(sorted(_SHAPES))
"""Every icon's name."""


@functools.lru_cache(maxsize=4096)
def icon_svg(name: str, size_px: int, color: str, stroke: float = 2.0) -> str:
    """Return an icon as a complete SVG element.

    Args:
        name: One of ``ICON_NAMES``.
        size_px: Width and height of the square it fills.
        color: A CSS colour.
        stroke: Line width in grid units; the grid is 24 wide whatever the size.

    Raises:
        ConfigError: No icon has that name.
    """
    shapes = _SHAPES.get(name)
    if shapes is None:
        close = difflib.get_close_matches(name, ICON_NAMES, n=4, cutoff=0.4)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise ConfigError(f"no icon is named {name!r}{hint}")
    body = "".join(_element(shape, color) for shape in shapes.split(";"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size_px}" height="{size_px}" '
        f'viewBox="0 0 24 24" fill="none" stroke="{color}" stroke-width="{stroke:g}" '
        f'stroke-linecap="round" stroke-linejoin="round">{body}</svg>'
    )


@functools.lru_cache(maxsize=4096)
def icon_image(name: str, size_px: int, color: str, stroke: float = 2.0) -> bytes:
    """Return ``icon_svg`` as the bytes of an image, for ``<img>`` by key or data URL.

    Raises:
        ConfigError: No icon has that name.
    """
    return icon_svg(name, size_px, color, stroke).encode()


def _element(shape: str, color: str) -> str:
    paint = ""
    if shape[0] == "!":
        shape, paint = shape[1:], f' fill="{color}" stroke="none"'
    elif shape[0] == "*":
        shape, paint = shape[1:], f' fill="{color}"'
    if shape[0] == "M":
        return f'<path d="{shape}"{paint}/>'
    kind, *numbers = shape.split(" ")
    if kind == "c":
        x, y, radius = numbers
        return f'<circle cx="{x}" cy="{y}" r="{radius}"{paint}/>'
    x, y, width, height, radius = numbers
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"{paint}/>'
