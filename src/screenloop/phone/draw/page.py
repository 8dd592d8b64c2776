"""A page of an app: bar, body, footer, tabs, floating button, dialog."""

from __future__ import annotations

from collections.abc import Sequence

from screenloop.phone.commands import Back, Do
from screenloop.phone.draw.canvas import Box, Canvas, Node, Words
from screenloop.phone.draw.theme import BAR_PX, MARGIN_PX, NAV_PX, STATUS_PX, TABS_PX
from screenloop.phone.draw.widgets import IconButton, Widget, stack_height
from screenloop.types import Struct

CANCEL = ("Cancel", "取消")


class Tab(Struct, frozen=True, kw_only=True):
    """One of an app's main pages."""

    icon: str
    words: Words
    do: Do
    selected: bool = False
    badge: int = 0


class Fab(Struct, frozen=True, kw_only=False):
    """The floating main action of a page."""

    icon: str
    words: Words
    do: Do


class DialogButton(Struct, frozen=True, kw_only=False):
    """An answer to a dialog."""

    words: Words
    do: Do
    danger: bool = False


class Dialog(Struct, frozen=True, kw_only=True):
    """A question in front of the page; a touch outside does `dismiss`."""

    title: Words
    text: Words = ""
    body: tuple[Widget, ...] = ()
    buttons: tuple[DialogButton, ...]
    dismiss: Do

    @classmethod
    def question(
        cls,
        title: Words,
        yes: Words,
        do: Do,
        dismiss: Do,
        text: Words = "",
        *,
        no: Words = CANCEL,
        body: tuple[Widget, ...] = (),
        danger: bool = True,
    ) -> Dialog:
        """Return a question with two answers: `dismiss` takes it back, `do` goes ahead."""
        buttons = (
            DialogButton(words=no, do=dismiss),
            DialogButton(words=yes, do=do, danger=danger),
        )
        return cls(title=title, text=text, body=body, buttons=buttons, dismiss=dismiss)

    def draw(self, d: Canvas) -> None:
        """Draw it in the middle of the screen."""
        screen_w, screen_h = d.size_px
        t = d.theme
        w = screen_w - 64
        lines = d.lines_of(self.text, w - 48, size_px=15)
        body_px = stack_height(d, self.body, w)
        height = 70 + lines * 21 + (8 if lines else 0) + body_px + 60
        left, top = 32, max(STATUS_PX + 8, (screen_h - height) // 2)
        d.limit(0, screen_h)
        d.box(0, 0, screen_w, screen_h, "#000000", opacity=0.45)
        outside = Box(0, 0, screen_w, screen_h)
        d.node(Node("dialog", "", outside, do=self.dismiss, blocks=True))
        d.box(left, top, w, height, t.surface, radius=26)
        d.node(Node("dialog", d.words(self.title), Box(left, top, w, height), blocks=True))
        d.text(self.title, left + 24, top + 22, w - 48, 19, bold=True, lines=1)
        y = top + 58
        y += d.text(self.text, left + 24, y, w - 48, 15, t.muted, line_px=21, lines=None) + (
            8 if lines else 0
        )
        for widget in self.body:
            widget.draw(d, left, y, w)
            y += widget.height(d, w)
        self._draw_buttons(d, left, top + height - 60, w)

    def _draw_buttons(self, d: Canvas, left: int, y: int, w: int) -> None:
        width = (w - 32) // max(2, len(self.buttons))
        x = left + w - 16 - width * len(self.buttons)
        for button in self.buttons:
            label = d.words(button.words)
            color = d.theme.danger if button.danger else d.theme.tint
            d.centered(label, x, y, width, 15, color, line_px=48, bold=True)
            d.node(Node("button", label, Box(x, y, width, 48), do=button.do))
            x += width


class Page(Struct, frozen=True, kw_only=False):
    """What a page function returns."""

    title: Words
    body: Sequence[Widget]
    actions: tuple[IconButton, ...] = ()
    fab: Fab | None = None
    tabs: tuple[Tab, ...] = ()
    footer: tuple[Widget, ...] = ()
    """Stays at the bottom, above the keyboard."""
    dialog: Dialog | None = None
    subtitle: Words = ""
    large: bool = False
    """A big title that belongs to an app's first page."""
    bare: bool = False
    """No bar and a black ground: a photo, a camera."""
    from_bottom: bool = False
    """A conversation: the newest is at the bottom, scrolling starts there."""


class Region(Struct, frozen=True, kw_only=True):
    """The scrolling part of a screen."""

    box: Box
    content_px: int
    offset_px: int

    @property
    def max_px(self) -> int:
        """The largest offset."""
        return max(0, self.content_px - self.box.h)


def draw_page(d: Canvas, page: Page, *, depth: int, scroll_px: int, keyboard_px: int) -> Region:
    """Draw a page between the status bar and the navigation bar (or the keyboard).

    Args:
        d: the canvas.
        page: the page.
        depth: pages on the app's stack; more than one shows a back arrow.
        scroll_px: how far the body is scrolled; for `from_bottom` counted from the bottom.
        keyboard_px: height of the raised keyboard, 0 when down.
    """
    w, screen_h = d.size_px
    t = d.theme
    bottom = screen_h - (keyboard_px or NAV_PX)
    footer_px = stack_height(d, page.footer, w)
    tabs_px = TABS_PX if page.tabs and not keyboard_px else 0
    top = STATUS_PX + (0 if page.bare else BAR_PX + (16 if page.large else 0))
    view = Box(0, top, w, max(0, bottom - footer_px - tabs_px - top))
    ground = "#0b0c0e" if page.bare else t.bg
    d.box(0, 0, w, screen_h, ground)
    heights = [v.height(d, w) for v in page.body]
    tail = 88 if page.fab else 12
    content = sum(heights) + (0 if page.bare else tail)
    limit = max(0, content - view.h)
    scroll_px = min(max(0, scroll_px), limit)
    offset = limit - scroll_px if page.from_bottom else scroll_px
    _draw_body(d, page.body, heights, view, offset)
    d.limit(0, screen_h)
    if not page.bare:
        _draw_bar(d, page, top, depth, ground)
    _draw_bottom(d, page, view.y + view.h, footer_px, tabs_px, ground)
    if page.fab is not None and not keyboard_px:
        _draw_fab(d, page.fab, view.y + view.h)
    return Region(box=view, content_px=content, offset_px=scroll_px)


def _draw_body(
    d: Canvas, body: Sequence[Widget], heights: list[int], view: Box, offset: int
) -> None:
    d.limit(view.y, view.y + view.h)
    y = view.y - offset
    for widget, height in zip(body, heights, strict=True):
        if y + height > view.y and y < view.y + view.h:
            widget.draw(d, 0, y, view.w)
        y += height


def _draw_bar(d: Canvas, page: Page, height: int, depth: int, ground: str) -> None:
    w = d.size_px[0]
    d.box(0, 0, w, height, ground)
    top = height - BAR_PX
    left = MARGIN_PX
    d.node(Node("dialog", "", Box(0, top, w, BAR_PX), blocks=True))
    if depth > 1:
        back = IconButton(icon="back", label=("Navigate up", "返回上一页"), do=Back())
        back.place(d, 4, top + 6)
        left = 56
    room = w - left - 8 - 46 * len(page.actions)
    size = 26 if page.large else 20
    if page.subtitle:
        d.text(page.title, left, top + 5, room, 18, bold=True, role="heading")
        d.text(page.subtitle, left, top + 31, room, 12, d.theme.muted)
    else:
        d.text(page.title, left, top, room, size, line_px=BAR_PX, bold=True, role="heading")
    x = w - 8 - 46 * len(page.actions)
    for action in page.actions:
        action.place(d, x, top + 6)
        x += 46


def _draw_bottom(d: Canvas, page: Page, y: int, footer_px: int, tabs_px: int, ground: str) -> None:
    w, screen_h = d.size_px
    if footer_px or tabs_px:
        d.box(0, y, w, screen_h - y, ground)
        area = Box(0, y, w, footer_px + tabs_px)
        d.node(Node("dialog", "", area, blocks=True))
    for widget in page.footer:
        widget.draw(d, 0, y, w)
        y += widget.height(d, w)
    if not tabs_px:
        return
    t = d.theme
    d.box(0, y, w, screen_h - y, t.surface)
    d.box(0, y, w, 1, t.line)
    width = w // len(page.tabs)
    for number, tab in enumerate(page.tabs):
        x = number * width
        color = t.tint if tab.selected else t.muted
        if tab.selected:
            d.box(x + width // 2 - 28, y + 6, 56, 28, t.tint_soft, radius=14)
        d.icon(tab.icon, x + width // 2 - 12, y + 8, 24, color)
        label = d.words(tab.words)
        d.centered(label, x, y + 37, width, 12, color)
        if tab.badge:
            d.box(x + width // 2 + 6, y + 4, 20, 16, t.danger, radius=8)
            d.centered(str(tab.badge), x + width // 2 + 6, y + 4, 20, 11, "#ffffff", line_px=16)
        box, badge = Box(x, y, width, TABS_PX), str(tab.badge or "")
        d.node(Node("tab", label, box, do=tab.do, selected=tab.selected, value=badge))


def _draw_fab(d: Canvas, fab: Fab, bottom: int) -> None:
    x, y = d.size_px[0] - 74, bottom - 74
    d.box(x, y, 58, 58, d.theme.tint, radius=18, shadow=6)
    d.icon(fab.icon, x + 16, y + 16, 26, d.theme.on_tint)
    d.node(Node("button", d.words(fab.words), Box(x, y, 58, 58), do=fab.do))


class Sheet(Struct, frozen=True, kw_only=False):
    """A system panel over the page: from the top (shade) or from the bottom (share, picker)."""

    title: Words
    body: Sequence[Widget]
    dismiss: Do
    from_top: bool = False


def draw_sheet(d: Canvas, sheet: Sheet, *, scroll_px: int) -> Region:
    """Dim the page and draw the sheet on it."""
    w, screen_h = d.size_px
    d.limit(0, screen_h)
    d.box(0, 0, w, screen_h, "#000000", opacity=0.5)
    outside = Box(0, 0, w, screen_h)
    d.node(Node("dialog", "", outside, do=sheet.dismiss, blocks=True))
    heights = [v.height(d, w) for v in sheet.body]
    content = sum(heights) + 16
    room = screen_h - NAV_PX - STATUS_PX - 40
    height = min(room, content + 60)
    top = STATUS_PX if sheet.from_top else screen_h - NAV_PX - height
    d.box(0, top, w, height, d.theme.bg, radius=24)
    d.node(Node("dialog", d.words(sheet.title), Box(0, top, w, height), blocks=True))
    view = Box(0, top + 56, w, height - 60)
    offset = min(max(0, scroll_px), max(0, content - view.h))
    _draw_body(d, sheet.body, heights, view, offset)
    d.limit(0, screen_h)
    if offset:
        d.box(0, top, w, 56, d.theme.bg, radius=24)
    d.text(sheet.title, 24, top + 16, w - 48, 18, bold=True, role="heading")
    return Region(box=view, content_px=content, offset_px=offset)
