"""Agents from outside: classes by dotted path; a wrong one is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from screenloop.config import config_hash, harness_hash
from screenloop.errors import ConfigError
from screenloop.rollout.play import RunRequest, play
from screenloop.store.runs import RunFolder

GOOD = '''
from screenloop.actions import Finish, Open
from screenloop.agent.base import Assignment, Decision, Turn


class Opens:
    """Opens an app, then says it is done; `model` and `blobs` are there to be asked."""

    wants = ("frame", "tree")

    def __init__(self, blobs, model=None):
        self.blobs = blobs

    def begin(self, assignment: Assignment) -> None:
        self.goal = assignment.goal.text

    async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
        assert self.blobs.get(turn.observation.frame) and self.blobs.get(turn.observation.tree)
        return Decision(actions=(Open(app="notes"),) if turn.step_index == 0 else (Finish(),))


class Asks(Opens):
    def __init__(self, model):
        self.model = model


class Silent(Opens):
    def __init__(self):
        pass


class Fails(Opens):
    def __init__(self, blobs):
        raise ValueError("no weights\\nat this path")


class Wrong(Opens):
    def __init__(self, folder):
        pass


class Undecided:
    def begin(self, assignment):
        pass


class Blocking(Opens):
    def decide(self, turn, *, deadline_s):
        pass


NOT_A_CLASS = 3
'''
REQUEST = RunRequest(suite="fake", limit=2)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A module of agents under a name of its own, so that no test sees another's."""
    name = "agents_of_" + str(abs(hash(request.node.nodeid)))
    (tmp_path / f"{name}.py").write_text(GOOD)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


async def test_a_class_plays_and_its_path_and_source_are_recorded(
    tmp_path: Path, module: str
) -> None:
    out = tmp_path / "run"
    result = await play(replace(REQUEST, agent=f"{module}:Opens", out=str(out)))
    assert [(row.unscored, row.steps) for row in result.rows] == [(None, 2)] * 2
    config = RunFolder(out).manifest().config
    assert (config.agent, config.model, config.dialect) == (
        f"{module}:Opens",
        f"{module}:Opens",
        "",
    )
    assert len(config.agent_hash) == 16
    by_harness = await play(replace(REQUEST, model="random", out=str(tmp_path / "random")))
    assert harness_hash(by_harness.manifest.config) == harness_hash(config)


async def test_another_source_is_another_configuration(tmp_path: Path, module: str) -> None:
    request = replace(REQUEST, agent=f"{module}:Opens", out=str(tmp_path / "a"))
    first = (await play(request)).manifest
    (tmp_path / f"{module}.py").write_text(GOOD + "# a change\n")
    with pytest.raises(ConfigError, match=r"another configuration.*agent_hash"):
        await play(request)
    assert config_hash(first.config) == first.config_hash


async def test_an_agent_is_given_the_model_it_asks(tmp_path: Path, module: str) -> None:
    request = replace(REQUEST, model="random", limit=1)
    given = await play(replace(request, agent=f"{module}:Opens", out=str(tmp_path / "run")))
    assert given.manifest.config.model == "random"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "--agent package.module:Class"),
        ({"agent": "no_such_module:Agent"}, "no_such_module"),
        ({"agent": "MODULE:Nobody"}, "Nobody"),
        ({"agent": "MODULE:NOT_A_CLASS"}, "an agent is a class"),
        ({"agent": "MODULE:Undecided"}, "no method decide"),
        ({"agent": "MODULE:Blocking"}, "async def"),
        ({"agent": "MODULE:Wrong"}, "needs 'folder'"),
        ({"agent": "MODULE:Fails"}, r"fails in __init__: .*at this path"),
        ({"agent": "MODULE:Asks"}, "--model"),
        ({"agent": "MODULE:Silent", "model": "random"}, "asks no model"),
        ({"agent": "MODULE:Silent", "dialect": "uitars"}, "leave out --prompt and --dialect"),
    ],
)
async def test_a_wrong_agent_is_refused_before_anything_runs(
    tmp_path: Path, module: str, changes: dict[str, str], words: str
) -> None:
    named = {name: value.replace("MODULE", module) for name, value in changes.items()}
    out = tmp_path / "run"
    with pytest.raises(ConfigError, match=words):
        await play(replace(REQUEST, out=str(out), **named))
    assert not out.exists()


async def test_a_module_that_fails_is_named_with_its_last_line(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text("raise RuntimeError('the GPU is gone')")
    with pytest.raises(ConfigError, match=r"RuntimeError: the GPU is gone"):
        await play(replace(REQUEST, agent=f"{module}:Agent", out=str(tmp_path / "run")))
