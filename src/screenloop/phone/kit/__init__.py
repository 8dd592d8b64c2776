"""What an app is written with, in one import: `from screenloop.phone import kit as k`.

State, actions and pages come from `phone.declare`, what a page shows from `phone.draw`, what a
touch does from `phone.commands`; here is no code, only their names.
"""

from __future__ import annotations

from screenloop.phone.commands import (
    Back,
    Both,
    Call,
    Copy,
    Do,
    Go,
    OpenApp,
    Overlay,
    PickMedia,
    SetLocal,
    Share,
)
from screenloop.phone.declare.app import App
from screenloop.phone.declare.cast import CITIES, Cast, Member
from screenloop.phone.declare.context import Ctx, Refused
from screenloop.phone.declare.flow_steps import enter, hold, open_app, press, tap, wait
from screenloop.phone.declare.state import AppState, Catalog, Record, Refers, Table
from screenloop.phone.declare.system import OS_ID, Notification, Permission, SystemState
from screenloop.phone.declare.view import AppCard, Ui
from screenloop.phone.draw.canvas import Box, Canvas, Node, Words
from screenloop.phone.draw.choosers import DateField, TimeField
from screenloop.phone.draw.fonts import advance_px
from screenloop.phone.draw.inputs import (
    MONTHS,
    WEEKDAYS,
    Check,
    Chip,
    Chips,
    Field,
    Slider,
    Stepper,
    Switch,
    clearing,
)
from screenloop.phone.draw.page import CANCEL, Dialog, DialogButton, Fab, Page, Sheet, Tab
from screenloop.phone.draw.rows import Avatar, Bubble, Glyph, Picture, Row, Thumb, Tile
from screenloop.phone.draw.theme import BAR_PX, MARGIN_PX, NAV_PX, STATUS_PX, Theme, mix
from screenloop.phone.draw.widgets import (
    ActionButton,
    Banner,
    Big,
    Button,
    Card,
    Divider,
    Empty,
    Grid,
    Heading,
    IconButton,
    Line,
    Paragraph,
    Space,
    Widget,
)
from screenloop.phone.kit.flow_text import read_flows
from screenloop.phone.kit.patterns import card, gone, link, one_more, row_has, tabs, value_is
from screenloop.phone.kit.seed_text import Ways, drawn, filled, read_data
from screenloop.types import Struct

__all__ = ["App", "AppCard", "AppState", "Cast", "Catalog", "Ctx", "Member", "Notification"]
__all__ += ["Permission", "Record", "Refers", "Refused", "Struct", "SystemState", "Table", "Ui"]
__all__ += ["CITIES", "OS_ID", "Ways", "drawn", "filled", "read_data"]
__all__ += ["card", "gone", "link", "one_more", "row_has", "value_is"]
__all__ += ["enter", "hold", "open_app", "press", "read_flows", "tap", "wait"]
__all__ += ["Back", "Both", "Call", "Copy", "Do", "Go", "OpenApp", "Overlay", "PickMedia"]
__all__ += ["SetLocal", "Share"]
__all__ += ["CANCEL", "Dialog", "DialogButton", "Fab", "Page", "Sheet", "Tab", "tabs"]
__all__ += ["ActionButton", "Banner", "Big", "Button", "Card", "Divider", "Empty", "Grid"]
__all__ += ["Heading", "IconButton", "Line", "Paragraph", "Space", "Widget"]
__all__ += ["Avatar", "Bubble", "Glyph", "Picture", "Row", "Thumb", "Tile"]
__all__ += ["Check", "Chip", "Chips", "DateField", "Field", "Slider", "Stepper", "Switch"]
__all__ += ["MONTHS", "WEEKDAYS", "TimeField", "clearing"]
__all__ += ["Box", "Canvas", "Node", "Theme", "Words", "advance_px", "mix"]
__all__ += ["BAR_PX", "MARGIN_PX", "NAV_PX", "STATUS_PX"]
