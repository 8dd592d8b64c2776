from __future__ import annotations

import pytest

from screenloop.errors import ConfigError
from screenloop.suites.catalog import SUITES, find_suite, select
from screenloop.suites.fake import FakeSuite


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_can_be_found_and_has_its_name(name: str) -> None:
    suite = find_suite(name)
    assert suite.name == name
    assert list(suite.names()) == sorted(suite.names())


def test_a_suite_of_a_third_party_is_found_by_its_path() -> None:
    assert find_suite("screenloop.suites.fake:FakeSuite").name == "fake"


@pytest.mark.parametrize("path", ["os:getcwd", "json:JSONDecoder", "screenloop:__version__"])
def test_what_is_no_suite_is_refused(path: str) -> None:
    with pytest.raises(ConfigError, match="is no suite"):
        find_suite(path)


def test_tasks_are_chosen_by_pattern_and_limit_in_the_order_of_names() -> None:
    suite = FakeSuite()
    names = [task.id.partition("/")[2].partition("@")[0] for task in select(suite)]
    assert names == list(suite.names())
    chosen = select(suite, glob="*note*", limit=2, seed=4)
    assert len(chosen) == 2
    assert all("note" in task.id and task.seed == 4 for task in chosen)


def test_a_pattern_that_fits_nothing_says_where_the_names_are() -> None:
    with pytest.raises(ConfigError, match="screenloop tasks fake"):
        select(FakeSuite(), glob="nothing*")


def test_the_same_seed_gives_the_same_task() -> None:
    assert select(FakeSuite(), seed=3) == select(FakeSuite(), seed=3)
    assert select(FakeSuite(), seed=3) != select(FakeSuite(), seed=4)
