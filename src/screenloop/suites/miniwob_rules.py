"""What counts as solved on each MiniWoB++ page, read from the pages' own reward code.

A page pays a raw reward in [-1, 1], before its time decay. Most pages pay 1 for a right answer and
a negative number otherwise. Some pay a little for a wrong or partial answer; that is no success.

| pages | what they pay | solved |
|---|---|---|
| all others | 1 right, below 0 wrong | 1 |
| find-greatest | 0.1 for a wrong card | 1 |
| click-checkboxes*, odd-or-even | the share of right marks minus wrong ones | 1 |
| ascending-numbers | the share clicked when a number is clicked out of order | 1 |
| phone-book | 0.4 for the right person's wrong detail | 1 |
| buy-ticket, drag-shapes-2, tic-tac-toe | between -1 and 1 for what is nearly right | 1 |
| hot-cold | 1 within 5 px of the spot, 0.5 within 10, 0.25 within 40 | 1 |
| circle-center, find-midpoint | 1 minus distance over the radius (over 30 px) | 0.8 |
| bisect-angle, right-angle | 1 minus error over half the angle (over 90 degrees) | 0.8 |
| draw-line | 0.8 for the direction plus 0.2 for passing the point | 0.9 |
| draw-circle | 1 below 2 px deviation, 0.9 below 4, times a factor for size | 0.9 |
| use-colorwheel, use-colorwheel-2 | 1 minus the mean error of the channels | 0.95 |

The four pages with 0.8 put their mark about 2.5 px beside the point clicked, so an exact click
pays between 0.87 and 0.96.
"""

from __future__ import annotations

from typing import Literal

from screenloop.types import Struct

Difficulty = Literal["easy", "medium", "hard"]

FULL = 0.999
"""A full reward; sums of shares may miss 1 by rounding."""

PARTIAL: dict[str, float] = {
    "circle-center": 0.8,
    "find-midpoint": 0.8,
    "bisect-angle": 0.8,
    "right-angle": 0.8,
    "draw-line": 0.9,
    "draw-circle": 0.9,
    "use-colorwheel": 0.95,
    "use-colorwheel-2": 0.95,
}
"""Least raw reward of a success, where the page grades how near an answer is."""


class Family(Struct, frozen=True, kw_only=True):
    """Pages that ask for the same kind of work."""

    name: str
    difficulty: Difficulty
    steps: int
    """Budget: about three times what a careful person needs."""
    tasks: tuple[str, ...]


FAMILIES: tuple[Family, ...] = (
    Family(
        name="click",
        difficulty="easy",
        steps=10,
        tasks=(
            "click-button",
            "click-button-sequence",
            "click-color",
            "click-dialog",
            "click-dialog-2",
            "click-link",
            "click-option",
            "click-tab",
            "click-test",
            "click-test-2",
            "click-test-transfer",
            "click-widget",
            "focus-text",
            "focus-text-2",
            "identify-shape",
            "unicode-test",
            "sign-agreement",
        ),
    ),
    Family(
        name="find",
        difficulty="medium",
        steps=15,
        tasks=(
            "click-collapsible",
            "click-collapsible-nodelay",
            "click-collapsible-2",
            "click-collapsible-2-nodelay",
            "click-menu",
            "click-menu-2",
            "click-pie",
            "click-pie-nodelay",
            "click-shape",
            "click-tab-2",
            "click-tab-2-easy",
            "click-tab-2-medium",
            "click-tab-2-hard",
            "count-shape",
            "count-sides",
            "find-greatest",
            "grid-coordinate",
            "navigate-tree",
            "phone-book",
            "search-engine",
        ),
    ),
    Family(
        name="choose",
        difficulty="medium",
        steps=20,
        tasks=(
            "ascending-numbers",
            "buy-ticket",
            "choose-list",
            "click-checkboxes",
            "click-checkboxes-large",
            "click-checkboxes-soft",
            "click-checkboxes-transfer",
            "click-scroll-list",
            "click-shades",
            "form-sequence-3",
            "multi-layouts",
            "multi-orderings",
            "number-checkboxes",
            "odd-or-even",
            "order-food",
            "social-media",
            "social-media-all",
            "social-media-some",
            "use-autocomplete",
            "use-autocomplete-nodelay",
        ),
    ),
    Family(
        name="type",
        difficulty="easy",
        steps=10,
        tasks=(
            "enter-password",
            "enter-text",
            "enter-text-2",
            "enter-text-dynamic",
            "enter-time",
            "enter-date",
            "find-word",
            "login-user",
            "login-user-popup",
            "read-table",
            "read-table-2",
            "simple-algebra",
            "simple-arithmetic",
            "text-transform",
            "visual-addition",
        ),
    ),
    Family(
        name="edit",
        difficulty="medium",
        steps=15,
        tasks=(
            "copy-paste",
            "copy-paste-2",
            "highlight-text",
            "highlight-text-2",
            "resize-textarea",
            "scroll-text",
            "scroll-text-2",
            "text-editor",
        ),
    ),
    Family(
        name="widget",
        difficulty="medium",
        steps=20,
        tasks=(
            "choose-date",
            "choose-date-easy",
            "choose-date-medium",
            "choose-date-nodelay",
            "form-sequence",
            "form-sequence-2",
            "generate-number",
            "guess-number",
            "use-colorwheel",
            "use-colorwheel-2",
            "use-slider",
            "use-slider-2",
            "use-spinner",
        ),
    ),
    Family(
        name="draw",
        difficulty="hard",
        steps=15,
        tasks=(
            "bisect-angle",
            "circle-center",
            "draw-circle",
            "draw-line",
            "find-midpoint",
            "hot-cold",
            "right-angle",
        ),
    ),
    Family(
        name="drag",
        difficulty="medium",
        steps=15,
        tasks=(
            "drag-box",
            "drag-circle",
            "drag-cube",
            "drag-items",
            "drag-items-grid",
            "drag-shapes",
            "drag-shapes-2",
            "drag-single-shape",
            "drag-sort-numbers",
        ),
    ),
    Family(
        name="email",
        difficulty="medium",
        steps=20,
        tasks=(
            "email-inbox",
            "email-inbox-delete",
            "email-inbox-forward",
            "email-inbox-forward-nl",
            "email-inbox-forward-nl-turk",
            "email-inbox-important",
            "email-inbox-nl-turk",
            "email-inbox-noscroll",
            "email-inbox-reply",
            "email-inbox-star-reply",
        ),
    ),
    Family(
        name="long",
        difficulty="hard",
        steps=30,
        tasks=(
            "book-flight",
            "book-flight-nodelay",
            "daily-calendar",
            "stock-market",
            "terminal",
            "tic-tac-toe",
        ),
    ),
)


def family_of(task: str) -> Family:
    """Return the family of a page; pages that a newer package adds count as long ones."""
    for family in FAMILIES:
        if task in family.tasks:
            return family
    return FAMILIES[-1]


def success_min(task: str) -> float:
    """Return the least raw reward that counts as solved."""
    return PARTIAL.get(task, FULL)
