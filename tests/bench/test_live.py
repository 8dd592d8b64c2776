"""Phones alive at once, on a small scale."""

from __future__ import annotations

from xml.etree import ElementTree

from screenloop.bench.fleet.line_plot import Line, line_plot
from screenloop.bench.phone.live import run


async def test_every_live_phone_is_reset_stepped_and_judged() -> None:
    told: list[tuple[str, int, int]] = []
    found = await run(45, lambda stage, done, of: told.append((stage, done, of)))
    assert found.instances == found.resets_ok == found.steps_ok == found.evaluated_ok == 45
    assert found.solved == 3
    assert found.lost == 0
    assert found.frames > 5
    assert told[-1] == ("evaluate", 45, 45)


def test_a_plot_is_well_formed_and_names_its_lines() -> None:
    lines = [
        Line(name="phones & pages", points=((0.0, 0.0), (10.0, 1000.0))),
        Line(name="bound", points=((0.0, 0.0), (5.0, 500.0)), dashed=True),
    ]
    plot = ElementTree.fromstring(line_plot(lines, x="seconds", y="ready"))
    words = [text.text for text in plot.iter() if text.tag.endswith("text")]
    assert {"phones & pages", "bound", "seconds", "ready", "1,000", "10"} <= set(words)
