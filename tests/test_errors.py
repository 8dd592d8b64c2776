from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import screenloop.errors as errors
from screenloop.errors import Blame, Busy, ScreenloopError


def tree(kind: type[ScreenloopError]) -> Iterator[type[ScreenloopError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from tree(child)


ALL = tuple(tree(ScreenloopError))


def test_the_drawing_at_the_top_of_the_file_names_every_error_under_its_parent() -> None:
    drawn: dict[str, str] = {}
    above: dict[int, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"( {4,})([A-Z]\w+)( |$)", line)
        if found:
            depth, name = len(found[1]), found[2]
            above[depth] = name
            drawn[name] = above.get(depth - 2, "Exception")
    assert drawn == {kind.__name__: kind.__bases__[0].__name__ for kind in ALL}


@pytest.mark.parametrize("kind", ALL)
def test_every_error_carries_a_blame_and_an_explanation(kind: type[ScreenloopError]) -> None:
    assert isinstance(kind.blame, Blame)
    assert kind.__doc__
    error = Busy("why", retry_after_s=1.0) if kind is Busy else kind("why")
    assert str(error) == "why"


@pytest.mark.parametrize("kind", ALL)
def test_only_faults_of_instances_and_infrastructure_are_retried(
    kind: type[ScreenloopError],
) -> None:
    if kind.retry:
        assert kind.blame in (Blame.ENVIRONMENT, Blame.INFRASTRUCTURE)
    if kind.blame in (Blame.AGENT, Blame.TASK):
        assert not kind.retry


def test_errors_can_be_caught_by_their_builtin_kind() -> None:
    with pytest.raises(ValueError, match="x"):
        raise errors.ConfigError("x")
    with pytest.raises(TimeoutError):
        raise errors.DeadlinePassed("late")
