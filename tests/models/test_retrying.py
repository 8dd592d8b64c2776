import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.models.retrying import (
    RequestBackOff,
    delay_s,
    is_overflow,
    is_retried,
    retry_after_s,
)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_passing_statuses_are_retried(status: int):
    assert is_retried(status)


@pytest.mark.parametrize("status", [300, 400, 401, 402, 403, 404, 413, 422])
def test_lasting_refusals_are_not_retried(status: int):
    assert not is_retried(status)


@given(st.integers(1, 60), st.text())
def test_delays_stay_within_half_and_the_cap(attempt: int, key: str):
    back_off = RequestBackOff(first_s=0.5, cap_s=20.0)
    full = min(20.0, 0.5 * 2 ** (attempt - 1))
    assert full / 2 <= delay_s(back_off, attempt, key, None) <= full


def test_different_calls_wait_differently():
    waits = {delay_s(RequestBackOff(), 1, f"call {i}", None) for i in range(20)}
    assert len(waits) > 10


def test_retry_after_is_read_as_seconds_or_as_a_date_against_the_servers_clock():
    assert retry_after_s({"Retry-After": "7"}) == 7.0
    dates = {
        "Retry-After": "Wed, 21 Oct 2026 07:28:10 GMT",
        "Date": "Wed, 21 Oct 2026 07:28:00 GMT",
    }
    assert retry_after_s(dates) == 10.0


@pytest.mark.parametrize("value", ["", "soon", "-1", "Wed, 21 Oct 2026 07:28:10 GMT", "1e9", "²"])
def test_an_unreadable_retry_after_is_none(value: str):
    assert retry_after_s({"Retry-After": value}) is None


def test_overflow_is_told_from_other_refusals():
    assert is_overflow(400, "This model's maximum context length is 4096 tokens")
    assert is_overflow(400, '{"error": {"type": "exceed_context_size_error"}}')
    assert not is_overflow(400, "unknown field return_token_ids")
    assert not is_overflow(500, "context length")
