#!/usr/bin/env python3
"""Write docs/measurements.md from docs/measurements/*.json, one file a bench or group of figures.

    python scripts/make_measurements.py            write the page
    python scripts/make_measurements.py --check    exit with 1 while the page is not current

A file says what was measured (`name`, `command`), where and when (`machine`, `load`, `date`), what
the bench printed (`figures`), and what stands on the page (`note`: paragraphs, lists, tables, and
`{"show": "figures"}` where the printed line goes). `earlier` holds older values of the same bench,
the oldest first; the page then shows the trend. `before` and `after` are two sides of one change,
`aim` what was wanted, `peers` what others' programs gave in the same run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from made_page import write_or_check

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "measurements.md"
FOLDER = DOCS / "measurements"
BARS = "▁▂▃▄▅▆▇█"
NEEDED = {"name", "command", "machine", "load", "date", "note"}
KNOWN = NEEDED | {"figures", "earlier", "before", "after", "aim", "peers"}

Record = dict[str, Any]


def records() -> dict[str, Record]:
    """Return every file of figures by its name; raise `SystemExit` where one is not whole."""
    found: dict[str, Record] = {}
    for file in sorted(FOLDER.glob("[!_]*.json")):
        record: Record = json.loads(file.read_text("utf-8"))
        missing, unknown = NEEDED - record.keys(), record.keys() - KNOWN
        if missing or unknown:
            wrong = ", ".join(sorted(missing)) or ", ".join(sorted(unknown))
            raise SystemExit(f"{file.name}: {'lacks' if missing else 'has unknown'} {wrong}")
        found[file.stem] = record
    return found


def page() -> str:
    """Return the whole page; raise `SystemExit` where a file stands in no section, or twice."""
    outline = json.loads((FOLDER / "_page.json").read_text("utf-8"))
    found = records()
    listed = [key for section in outline["sections"] for key in section["files"]]
    if sorted(listed) != sorted(found):
        odd = sorted({*listed} ^ {*found}) or sorted({k for k in listed if listed.count(k) > 1})
        raise SystemExit(f"_page.json must list each file once: {', '.join(odd)}")
    parts = [f"# {outline['title']}", *outline["intro"]]
    for section in outline["sections"]:
        parts.append(f"## {section['heading']}")
        for key in section["files"]:
            if found[key]["name"] != section["heading"]:
                parts.append(f"### {found[key]['name']}")
            parts += blocks(key, found[key])
    return "\n\n".join(parts) + "\n"


def blocks(key: str, record: Record) -> Iterator[str]:
    """Yield the blocks of one file in Markdown."""
    for block in record["note"]:
        match block:
            case str():
                yield block
            case {"list": entries}:
                yield "\n".join(f"- {entry}" for entry in entries)
            case {"columns": columns, "rows": rows}:
                yield table(columns, rows)
            case {"show": "figures"}:
                yield f"```json\n{printed(record['figures'])}\n```"
            case {"show": "before_after"}:
                yield before_after(record)
            case _:
                raise SystemExit(f"{key}.json: no block of a note: {json.dumps(block)[:80]}")
    if record.get("earlier"):
        yield trend(record)
    yield f"[As JSON](measurements/{key}.json), {record['date']}, load: {record['load']}."


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    head, *body = (
        "|" + "".join(f" {cell} |" if cell else " |" for cell in line) for line in (columns, *rows)
    )
    return "\n".join([head, "|" + "---|" * len(columns), *body])


def printed(figures: Record) -> str:
    """Return figures as a bench prints them."""
    return json.dumps(figures, separators=(",", ":"), ensure_ascii=False)


def number(value: object) -> str:
    """Return a figure for a table: four digits are enough to compare by eye."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def before_after(record: Record) -> str:
    """Return the table of a change, with what was aimed at."""
    before, after, aims = record["before"], record.get("after", {}), record.get("aim", {})
    names = [*before, *(name for name in after if name not in before)]
    columns = ["figure", "before", "after", *(["aim"] if aims else [])]
    rows = []
    for name in names:
        row = [f"`{name}`", number(before.get(name)), number(after.get(name))]
        rows.append([*row, str(aims.get(name, ""))] if aims else row)
    return table(columns, rows)


def trend(record: Record) -> str:
    """Return the table of older values beside today's, for the figures that moved."""
    series = [*record["earlier"], record]
    rows = []
    for name, now in record["figures"].items():
        values = [one["figures"].get(name) for one in series]
        numbers = [value for value in values if is_number(value)]
        if is_number(now) and len(numbers) > 1 and len(set(numbers)) > 1:
            rows.append([f"`{name}`", *map(number, values), sparkline(numbers)])
    columns = ["over time", *(f"{one['date']}, load {one['load']}" for one in series), ""]
    return table(columns, rows)


def is_number(value: object) -> bool:
    """Whether a figure is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def sparkline(values: list[float]) -> str:
    """Return bars in text, whose heights begin at zero, so that a small change looks small."""
    top = max(map(abs, values)) or 1
    return "".join(BARS[round(abs(value) / top * (len(BARS) - 1))] for value in values)


if __name__ == "__main__":
    write_or_check(PAGE, page, __doc__)
