"""Pools as they are written on the command line."""

from __future__ import annotations

import pytest

from screenloop.errors import ConfigError
from screenloop.manager.supply.desired import read_pool
from screenloop.suites.catalog import find_suite
from screenloop.types import EnvRef


def test_a_pool_is_named_by_a_suite_or_by_a_kind_and_its_size() -> None:
    by_suite = read_pool("fake=3")
    assert by_suite.env == find_suite("fake").task("add_to_counter", 0).env
    assert (by_suite.target, by_suite.most) == (3, 3)
    by_kind = read_pool("web:320x420=8")
    assert by_kind.env == EnvRef(kind="web", size_px=(320, 420))
    assert by_kind.per_host < 100 < read_pool("phone:1x1=2").per_host


@pytest.mark.parametrize(
    "words",
    [
        "",
        "fake",
        "fake=",
        "fake=0",
        "fake=-1",
        "fake=x",
        "=3",
        "web:320=3",
        "web:320x=3",
        "web:320x420",
        "nothing=3",
        "fake=9999999",
        "fake=3=4",
    ],
)
def test_other_words_are_refused_with_the_form_that_is_expected(words: str) -> None:
    with pytest.raises(ConfigError):
        read_pool(words)
