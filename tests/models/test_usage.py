import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.errors import ConfigError
from screenloop.models.usage import Price, add_usage, cost_usd, parse_price, sum_usage
from screenloop.types import Usage

counts = st.none() | st.integers(0, 10**6)
usages = st.builds(Usage, prompt=counts, cached=counts, completion=counts)


def test_cached_tokens_are_charged_at_their_own_price():
    price = Price(prompt_usd=2.0, completion_usd=8.0, cached_usd=0.5)
    usage = Usage(prompt=1_000_000, cached=400_000, completion=100_000)
    assert cost_usd(usage, price) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 8.0)


def test_a_call_without_counts_has_no_cost():
    assert cost_usd(Usage(prompt=5), Price(prompt_usd=1, completion_usd=1, cached_usd=1)) is None


def test_prices_are_read_with_and_without_the_cached_figure():
    assert parse_price("0.5,2").cached_usd == 0.5
    assert parse_price("0.5,2,0.1").cached_usd == 0.1


@pytest.mark.parametrize("text", ["", "1", "1,2,3,4", "a,b", "-1,2", "1,nan", "1,inf"])
def test_other_prices_are_refused(text: str):
    with pytest.raises(ConfigError, match="is no price"):
        parse_price(text)


@given(usages, usages)
def test_adding_is_commutative_and_nothing_is_its_zero(left: Usage, right: Usage):
    assert add_usage(left, right) == add_usage(right, left)
    assert add_usage(left, Usage()) == left


def test_a_sum_is_unknown_only_when_no_call_told():
    total = sum_usage([Usage(prompt=1), Usage(prompt=2, completion=3), Usage()])
    assert total == Usage(prompt=3, completion=3)
