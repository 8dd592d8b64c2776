"""What only the calendar draws: a month of days, a line of an agenda, the hours of a day."""

from __future__ import annotations

import calendar
from datetime import date

from screenloop.phone import kit as k

HEAD_PX = 52
WEEK_PX = 28
CELL_PX = 46
HOUR_PX = 54


def shade_of(color: str, theme: k.Theme) -> str:
    """Return a calendar's colour as it is drawn on a page."""
    return k.mix(color, "#ffffff", 0.35) if theme.dark else color


def soft_of(color: str, theme: k.Theme) -> str:
    """Return the ground of a block in a calendar's colour."""
    return k.mix(color, theme.surface, 0.72 if theme.dark else 0.86)


def month_at(month: str, steps: int) -> str:
    """Return the month (`YYYY-MM`) some months away."""
    year, number = map(int, month.split("-"))
    index = year * 12 + number - 1 + steps
    return f"{index // 12}-{index % 12 + 1:02d}"


class MonthGrid(k.Struct, frozen=True, kw_only=True):
    """A month of days with dots; a touch chooses a day, a swipe turns the month."""

    month: str
    """`YYYY-MM`."""
    today: str
    chosen: str
    """ISO dates."""
    dots: dict[str, tuple[str, ...]]
    """Colours of the events of each day that has any."""
    sunday_first: bool = False

    def _cells(self) -> list[date]:
        first = 6 if self.sunday_first else 0
        year, month = map(int, self.month.split("-"))
        return list(calendar.Calendar(first).itermonthdates(year, month))

    def height(self, d: k.Canvas, w: int) -> int:
        return HEAD_PX + WEEK_PX + CELL_PX * (len(self._cells()) // 7) + 8

    def _turn(self, steps: int) -> k.Do:
        return k.SetLocal(values={"month": month_at(self.month, steps)})

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw it on a raised surface."""
        left, width = x + k.MARGIN_PX, w - 2 * k.MARGIN_PX
        d.box(left, y, width, self.height(d, w) - 4, d.theme.surface, radius=20)
        self._draw_head(d, left, y, width)
        cell = width // 7
        days = self._cells()
        for column in range(7):
            label = d.words(k.WEEKDAYS[days[column].weekday()])
            short = label[-1] if d.lang == "zh" else label[:2]
            d.centered(
                short, left + column * cell, y + HEAD_PX, cell, 12, d.theme.muted, line_px=WEEK_PX
            )
        for number, day in enumerate(days):
            top = y + HEAD_PX + WEEK_PX + number // 7 * CELL_PX
            self._draw_day(d, day, left + number % 7 * cell, top, cell)

    def _draw_head(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        year, month = map(int, self.month.split("-"))
        name = d.words(k.MONTHS[month - 1])
        title = f"{year}年 {name}" if d.lang == "zh" else f"{name} {year}"
        d.text(title, x + 16, y + 4, w - 120, 18, line_px=44, bold=True, role="heading")
        sides: tuple[tuple[str, int, k.Words, int], ...] = (
            ("chevron_left", w - 96, ("Previous month", "上个月"), -1),
            ("chevron_right", w - 50, ("Next month", "下个月"), 1),
        )
        for icon, left, label, steps in sides:
            d.icon(icon, x + left + 10, y + 14, 24, d.theme.ink)
            d.node(
                k.Node(
                    "button", d.words(label), k.Box(x + left, y + 4, 44, 44), do=self._turn(steps)
                )
            )

    def _draw_day(self, d: k.Canvas, day: date, x: int, y: int, cell: int) -> None:
        t = d.theme
        iso = day.isoformat()
        dots = self.dots.get(iso, ())
        inside = iso.startswith(self.month)
        is_chosen, is_today = iso == self.chosen, iso == self.today
        if is_chosen or is_today:
            fill = t.tint if is_chosen else t.tint_soft
            d.box(x + (cell - 36) // 2, y + 1, 36, 36, fill, radius=18)
        color = t.on_tint if is_chosen else t.tint if is_today else t.ink if inside else t.line
        d.centered(str(day.day), x, y + 1, cell, 15, color, line_px=36, bold=is_today or is_chosen)
        shown = dots[:3]
        left = x + (cell - 8 * len(shown) + 2) // 2
        for color in shown:
            dot = shade_of(color, t) if inside else t.line
            d.box(left, y + 38, 6, 6, dot, radius=3)
            left += 8
        month = d.words(k.MONTHS[day.month - 1])
        label = f"{month}{day.day}日" if d.lang == "zh" else f"{day.day} {month}"
        count = len(dots)
        if count:
            label += d.words((f" · {count} event{'s' * (count > 1)}", f" · {count} 个日程"))
        d.node(
            k.Node(
                "button",
                label,
                k.Box(x, y, cell, CELL_PX),
                selected=is_chosen,
                do=k.SetLocal(values={"day": iso, "month": iso[:7]}),
                swipe_left=self._turn(1),
                swipe_right=self._turn(-1),
            )
        )


class EventRow(k.Struct, frozen=True, kw_only=True):
    """An event in a list: when, a stripe in its calendar's colour, what and where."""

    start: k.Words
    end: str
    title: str
    subtitle: k.Words
    color: str
    do: k.Do
    icon: str = ""
    """Small, on the right: repeats, or a reminder."""

    def height(self, d: k.Canvas, w: int) -> int:
        return 68

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw it as a small card."""
        t = d.theme
        left, width = x + k.MARGIN_PX, w - 2 * k.MARGIN_PX
        d.box(left, y + 3, width, 62, t.surface, radius=14)
        start = d.words(self.start)
        if self.end:
            d.text(start, left + 14, y + 14, 48, 14, bold=True, role=None)
            d.text(self.end, left + 14, y + 35, 48, 13, t.muted, role=None)
        else:
            d.text(start, left + 14, y + 3, 52, 13, t.muted, line_px=62, role=None)
        d.box(left + 68, y + 15, 4, 38, shade_of(self.color, t), radius=2)
        room = width - 84 - 16 - (26 if self.icon else 0)
        subtitle = d.words(self.subtitle)
        top = 13 if subtitle else 23
        d.text(self.title, left + 84, y + top, room, 16, role=None)
        d.text(subtitle, left + 84, y + 37, room, 13, t.muted, role=None)
        if self.icon:
            d.icon(self.icon, left + width - 32, y + 25, 18, t.muted)
        when = f"{start} - {self.end}" if self.end else start
        label = " · ".join(part for part in (self.title, when, subtitle) if part)
        d.node(k.Node("row", label, k.Box(left, y + 3, width, 62), do=self.do))


class Block(k.Struct, frozen=True, kw_only=True):
    """An event on the hours of a day; overlapping ones lie side by side in lanes."""

    title: str
    note: str
    start_min: int
    end_min: int
    """Minutes since midnight."""
    color: str
    do: k.Do
    lane: int = 0
    lanes: int = 1


class Hours(k.Struct, frozen=True, kw_only=True):
    """The hours of a day with its events where they lie."""

    blocks: tuple[Block, ...]
    first_hour: int
    last_hour: int
    now_min: int = -1
    """Minute of the line for now; -1 where the day is not today."""

    def height(self, d: k.Canvas, w: int) -> int:
        return (self.last_hour - self.first_hour) * HOUR_PX + 28

    def _top(self, y: int, minute: int) -> int:
        return y + 12 + (minute - self.first_hour * 60) * HOUR_PX // 60

    def draw(self, d: k.Canvas, x: int, y: int, w: int) -> None:
        """Draw lines, blocks, and the line for now."""
        t = d.theme
        for hour in range(self.first_hour, self.last_hour + 1):
            top = self._top(y, hour * 60)
            d.text(
                f"{hour:02d}:00",
                x + 12,
                top - 9,
                44,
                12,
                t.muted,
                line_px=18,
                align="right",
                role=None,
            )
            d.box(x + 66, top, w - 66 - k.MARGIN_PX, 1, t.line)
        for block in self.blocks:
            self._draw_block(d, block, x, y, w)
        if self.first_hour * 60 <= self.now_min <= self.last_hour * 60:
            top = self._top(y, self.now_min)
            d.box(x + 66, top - 1, w - 66 - k.MARGIN_PX, 2, t.danger)
            d.box(x + 61, top - 5, 10, 10, t.danger, radius=5)

    def _draw_block(self, d: k.Canvas, block: Block, x: int, y: int, w: int) -> None:
        t = d.theme
        room = (w - 72 - k.MARGIN_PX) // block.lanes
        left, width = x + 72 + block.lane * room, room - 4
        top = self._top(y, block.start_min) + 1
        h = max(24, self._top(y, block.end_min) - top - 1)
        ink = shade_of(block.color, t)
        d.box(left, top, width, h, soft_of(block.color, t), radius=8)
        d.box(left, top + 3, 4, h - 6, ink, radius=2)
        line = min(20, h)
        d.text(
            block.title,
            left + 12,
            top + (3 if h > 26 else 0),
            width - 16,
            13,
            ink,
            line_px=line,
            bold=True,
            role=None,
        )
        if h >= 44:
            d.text(block.note, left + 12, top + 23, width - 16, 12, t.muted, role=None)
        label = " · ".join(part for part in (block.title, block.note) if part)
        d.node(k.Node("row", label, k.Box(left, top, width, h), do=block.do))
