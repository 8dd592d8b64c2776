"""Facts drawn from patterns, and the texts that tell them."""

import random
import re

import pytest

from screenloop.phone import kit as k
from screenloop.phone.declare.cast import cast

WORLD = cast("default", 0)


@pytest.mark.parametrize(
    ("pattern", "form"),
    [
        ("{pine|otter}-{100-102}", r"(pine|otter)-10[0-2]"),
        ("{05-09}:{00|30}", r"0[5-9]:(00|30)"),
        ("{400-420/10}", r"4[0-2]0"),
        ("{streets} {2-3}", r"(Mill Lane|Oak Street) [23]"),
        ("{day 1}", re.escape(WORLD.day(1))),
        ("{day 2-3}", f"{WORLD.day(2)}|{WORLD.day(3)}"),
        ("as it is", "as it is"),
    ],
)
def test_a_pattern_draws_what_it_says(pattern: str, form: str) -> None:
    rng = random.Random(0)
    lists = {"streets": ["Mill Lane", "Oak Street"]}
    found = {k.drawn(pattern, WORLD, rng, lists) for _ in range(200)}
    assert all(re.fullmatch(form, text) for text in found)


def test_a_table_is_drawn_in_its_order_and_texts_tell_the_facts() -> None:
    table = {"size": ["{1-9}", "{1-9}"], "code": "{10-99}"}
    facts = k.drawn(table, WORLD, random.Random(3), {})
    rng = random.Random(3)
    assert facts["size"] == [str(rng.randrange(1, 10)), str(rng.randrange(1, 10))]
    assert facts["code"] == str(rng.randrange(10, 100))
    told = k.filled(
        {"lines": ["{code:twice}, {size[0]}"], "days": 2}, facts, {"twice": "{0}{0}".format}
    )
    assert told == {"lines": [f"{facts['code'] * 2}, {facts['size'][0]}"], "days": 2}
