"""Names of phone-core's templates: earlier ones are refused with the new one named."""

import pytest

from screenloop.errors import ConfigError
from screenloop.suites.catalog import select
from screenloop.suites.phone_core.suite import PhoneCore

SUITE = PhoneCore()


def test_an_earlier_name_is_no_name_of_today_and_stands_for_one() -> None:
    assert SUITE.version == "2"
    assert SUITE.renamed["passport_expiry"] == "date_in_note"
    assert SUITE.renamed.keys().isdisjoint(SUITE.names())
    assert set(SUITE.renamed.values()) <= set(SUITE.names())


@pytest.mark.parametrize(("old", "new"), SUITE.renamed.items())
def test_a_task_is_refused_by_its_earlier_name_with_the_new_one(old: str, new: str) -> None:
    sentence = f"^phone-core task '{old}' is called '{new}' since version 2.$"
    with pytest.raises(ConfigError, match=sentence):
        SUITE.task(old, 0)
    with pytest.raises(ConfigError, match=sentence):
        select(SUITE, glob=old)


def test_a_renamed_template_keeps_its_draws() -> None:
    # The goal that seed 0 had under the name `alarms_at_full_volume`.
    assert SUITE.task("loudest_volume", 0).goal.text.startswith("I keep missing calls.")
