"""Flows that stand as text beside an app."""

import sys
from pathlib import Path

import pytest

from screenloop.errors import ConfigError
from screenloop.phone import kit as k


class State(k.AppState):
    """One number."""

    count: int = 0


app = k.App("counter", State, title=("Counter", "计数器"), icon="plus", tint="#000000")


@app.action("count.add", writes=["count"])
def add(s: State, ctx: k.Ctx, by: int) -> None:
    """Count on."""
    s.count += by


@app.page("/c/{step}")
def page(s: State, ui: k.Ui, step: str) -> k.Page:
    """The number."""
    return k.Page(title="Counter", body=())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "counter_flows").mkdir()
    (tmp_path / "counter_flows" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "counter_flows", raising=False)
    app.flows.clear()
    return tmp_path / "counter_flows" / "flows.txt"


def test_every_kind_of_step_is_read(package: Path) -> None:
    package.write_text(
        'count on:\n    tap "More; or \\"less\\""; hold count.add by=3; text = "a; b"\n'
        "    press back; wait 60\nsee it:\n    tap /c/{step} step=two; tap shop:orders.place\n"
    )
    k.read_flows(app, "counter_flows")
    first, second = app.flows
    assert (first.name, first.where) == ("count on", "counter_flows/flows.txt:1")
    assert first.steps == (
        k.tap('More; or "less"'),
        k.hold(add, by=3),
        k.enter("text", "a; b"),
        k.press("back"),
        k.wait(60),
    )
    assert second.steps[0] == k.tap(page, step="two")
    assert second.steps[1].target == "shop.orders.place"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "line",
    ["tap nothing.here", "tap /nowhere", "jump", 'tap "open', "wait soon", 'text = "a" text = "b"'],
)
def test_a_line_that_is_no_step_is_refused_with_its_place(package: Path, line: str) -> None:
    package.write_text(f'try:\n    tap "Fine"\n    {line}\n')
    with pytest.raises(ConfigError, match=r"counter_flows/flows\.txt:3: no step, or no action"):
        k.read_flows(app, "counter_flows")
