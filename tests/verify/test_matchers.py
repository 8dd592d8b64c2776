import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.criteria import Date, Duration, Money, Number, Sequence, Set, Text, Time
from screenloop.errors import TaskError
from screenloop.verify.matchers import (
    answer_matches,
    explain,
    explain_answer,
    matches,
    require_wellformed,
    same,
)


def yes_and_no(expected, right, wrong, match=answer_matches):
    for value in right:
        assert match(expected, value), (expected, value)
    for value in wrong:
        assert not match(expected, value), (expected, value)


# ---- answers -------------------------------------------------------------------------------


def test_a_number_is_read_from_a_sentence_that_states_one_number_only():
    yes_and_no(
        Number(value=12),
        [
            "12",
            "There are 12 contacts.",
            "12.0",
            "+12",
            "twelve",
            "12 (12 in all)",
            "有12个联系人",
            "１２",
            "12%",
            "12kg",
            "12,",
        ],
        [
            "",
            "12 or 15",
            "13",
            "-12",
            "1,2",
            "12.5",
            "0.12",
            ".12",
            "A12",
            "v1.2.12",
            "12e3",
            "10-12",
            "12:30",
            "several",
            "2026-03-12",
            "one of twelve and two",
        ],
    )


def test_a_number_may_have_thousands_separators_a_tolerance_and_bounds():
    yes_and_no(Number(value=1200), ["1,200", "1200", "1,200.00"], ["1.200", "12,00", "1 200"])
    yes_and_no(Number(value=1.0, tol=0.1), ["1.1", "0.9", "1"], ["1.11", "0.89"])
    yes_and_no(Number(min=3, max=5), ["3", "4.5", "five"], ["2.9", "5.1", "3 to 5"])
    yes_and_no(Number(value=-3), ["-3", "−3 degrees"], ["3"])


def test_one_is_a_number_only_when_it_is_the_whole_answer():
    yes_and_no(Number(value=1), ["one", "One.", "1"], ["no one knows"])


def test_an_amount_is_read_with_or_without_its_currency():
    yes_and_no(
        Money(cents=1250),
        [
            "12.50",
            "$12.5",
            "12.5 dollars",
            "It costs $12.50.",
            "USD 12.50",
            "USD12.50",
            "¥12.50",
            "2 items for $12.50",
            "1250 cents",
        ],
        ["1250", "$12.51", "-$12.50", "$12.50 or $13", "12.505", "12", "", "12 50"],
    )
    yes_and_no(Money(cents=120_000), ["1,200.00", "1200", "$1,200"], ["1.200"])
    yes_and_no(Money(cents=-500), ["-$5", "-5.00", "$-5"], ["$5"])


def test_a_date_is_read_in_its_usual_forms():
    yes_and_no(
        Date(value="2026-03-03"),
        [
            "2026-03-03",
            "March 3, 2026",
            "3 Mar 2026",
            "2026/3/3",
            "3月3日",
            "2026年3月3日",
            "March 3",
            "the 3rd of March",
            "Tuesday, March 3rd 2026",
            "Mar. 3",
            "03/03/2026",
            "2026.3.3",
            "2026-03-03T10:00:00",
            "It is on 3 March.",
        ],
        [
            "2026-03-04",
            "2025-03-03",
            "March 2026",
            "3",
            "March 3 or March 4",
            "April 3",
            "2026-02-30",
            "March 3, 2025",
            "2025年3月3日",
        ],
    )


def test_a_numeric_date_counts_only_where_day_and_month_cannot_be_confused():
    yes_and_no(Date(value="2026-03-14"), ["14/03/2026", "03/14/2026"], [])
    yes_and_no(Date(value="2026-03-04"), [], ["03/04/2026", "04/03/2026"])


def test_a_time_is_read_in_its_usual_forms():
    yes_and_no(
        Time(value="14:30"),
        [
            "14:30",
            "2:30 pm",
            "2:30PM",
            "2:30 p.m.",
            "14:30:00",
            "at 14:30.",
            "下午2点30分",
            "下午2点半",
            "14时30分",
        ],
        ["2:30", "2:30 am", "14:31", "from 14:30 to 15:30", "25:00", "1430", ""],
    )
    yes_and_no(Time(value="00:00"), ["midnight", "12:00 am", "12am", "0:00"], ["noon", "12pm"])
    yes_and_no(Time(value="12:00"), ["noon", "12 pm", "12:00"], ["midnight"])


def test_a_time_tolerance_wraps_around_midnight():
    yes_and_no(Time(value="23:58", tol_min=5), ["00:03", "23:53", "11:58 pm"], ["00:04"])


def test_a_duration_needs_a_unit():
    yes_and_no(
        Duration(seconds=5400),
        [
            "1 h 30 min",
            "90 minutes",
            "1:30:00",
            "1.5 hours",
            "1 hour and 30 minutes",
            "1h30m",
            "1小时30分钟",
            "It takes 90 min.",
            "90 minutes (1 h 30 min)",
        ],
        ["90", "1:30", "1 h", "30 min 1 h", "89 minutes", "90 minutes or 2 hours", ""],
    )
    yes_and_no(Duration(seconds=60, tol_s=5), ["65 s", "1 minute"], ["66 seconds"])
    yes_and_no(Duration(seconds=90_000), ["1 day, 1 hour", "25 hours"], ["1 day"])


def test_text_modes_differ_in_what_they_forgive():
    yes_and_no(Text(value="Ada Park", mode="exact"), ["Ada Park"], ["ada park", "Ada Park."])
    yes_and_no(Text(value="Ada Park"), ["ada  park", '"Ada Park."'], ["Ada", "It is Ada Park"])
    yes_and_no(
        Text(value="Ada Park", mode="contains"),
        ["It is Ada Park.", "ADA PARK"],
        ["Nada Park", "Ada Parker", "Ada"],
    )
    yes_and_no(Text(value="北京", mode="contains"), ["他在北京市"], ["北平"])
    yes_and_no(
        Text(value="555-0134", mode="digits"), ["(555) 0134", "5550134"], ["555 0135", "1 5550134"]
    )


def test_lists_are_read_in_any_or_in_this_order():
    names = ("Ann", "Bob", "Cid")
    yes_and_no(
        Set(values=names),
        [
            "Bob, Ann, Cid",
            "Ann, Bob, and Cid",
            "- Cid\n- Bob\n- Ann",
            "1. ann\n2. bob\n3. cid",
            "The names are: Ann, Bob and Cid.",
            "Ann、Bob、Cid",
        ],
        ["Ann, Bob", "Ann, Bob, Cid, Dan", "Ann, Ann, Bob", "Ann Bob Cid", ""],
    )
    yes_and_no(Sequence(values=names), ["Ann, Bob, Cid"], ["Bob, Ann, Cid"])
    yes_and_no(Sequence(values=(1, 2.5)), ["1, 2.5", "1 and 2.5"], ["2.5, 1", "1, 2"])
    yes_and_no(Set(values=("salt and pepper", "oil")), ["Oil and salt and pepper"], ["salt, oil"])


def test_a_bare_scalar_is_exact():
    yes_and_no("Yes", ["Yes"], ["yes", "Yes."])
    yes_and_no(3, ["3", "There are 3."], ["4"])
    yes_and_no(True, ["yes", "True."], ["no", "yes and no", ""])
    yes_and_no(False, ["No", "false"], ["yes"])


def test_an_overlong_answer_matches_nothing():
    assert "longer" in explain_answer(Number(value=1), "1" + " " * 10_000)


# ---- stored values -------------------------------------------------------------------------


def test_stored_values_match_in_the_forms_that_apps_store():
    yes_and_no(Number(value=3), [3, 3.0, "3"], [True, None, "x", [3], float("nan")], matches)
    yes_and_no(Money(cents=1250), [1250, "$12.50"], [12.5, 1250.0, True, None], matches)
    yes_and_no(
        Date(value="2026-03-03"),
        ["2026-03-03", "2026-03-03T23:59:00+08:00", 1_772_495_999 + 86_400],
        ["2026-03-04", 1_772_409_600, None, True, 1e300],
        matches,
    )
    yes_and_no(
        Time(value="07:30"),
        ["07:30", "2026-03-03T07:30:00+00:00", 27_000, 1_772_496_000 + 27_000],
        ["19:30", 27_060, None],
        matches,
    )
    yes_and_no(Duration(seconds=90), [90, 90.0, "90 s"], ["90", 91, None], matches)
    yes_and_no(Text(value="555", mode="digits"), ["5-55", 555], [None, True, ["555"]], matches)
    yes_and_no(Set(values=("a", 1)), [["A", 1], [1, "a"], "a, 1"], [["a"], {"a": 1}, 1], matches)


def test_bare_scalars_match_stored_values_exactly():
    yes_and_no("Ada", ["Ada"], ["ada", None], matches)
    yes_and_no(1, [1, 1.0], [True, "1"], matches)
    yes_and_no(True, [True], [1, "true"], matches)
    yes_and_no(None, [None], [0, "", False], matches)


def test_a_text_that_lists_the_wrong_values_as_well_is_a_guess():
    yes_and_no(
        Text(value="Birch Parka", mode="contains", others=("Fern Jacket", "Birch", "Parka XL")),
        ["The Birch Parka costs least.", "birch parka"],
        ["Birch Parka or Fern Jacket", "fern jacket, birch parka", "Parka XL and Birch Parka"],
    )


def test_an_explanation_says_what_was_expected_and_found():
    assert explain(Number(value=3), 4) == "expected '3', not 4"
    assert "states 2 values" in explain_answer(Money(cents=1), "$1 or $2")
    assert explain("a", "a") == ""


@pytest.mark.parametrize(
    "expected",
    [
        Number(),
        Number(value=float("inf")),
        Number(value=1, tol=-1),
        Date(value="3 March"),
        Date(value="2026-02-30"),
        Time(value="7:30"),
        Time(value="24:00"),
        Text(value="...", mode="contains"),
        Text(value="abc", mode="digits"),
        Text(value="a", mode="contains", others=("b", "-")),
        Text(value="a", others=("b",)),
        Duration(seconds=float("nan")),
    ],
)
def test_expectations_that_nothing_or_everything_matches_are_refused(expected):
    with pytest.raises(TaskError):
        require_wellformed(expected)
    with pytest.raises(TaskError):
        answer_matches(expected, "1")


# ---- properties ----------------------------------------------------------------------------

days = st.dates(dt.date(1900, 1, 1), dt.date(2100, 12, 31))
DATE_FORMS = ["%Y-%m-%d", "%B %d, %Y", "%d %b %Y", "%Y/%m/%d", "%Y年%m月%d日", "%b %d", "%m月%d日"]


@given(days, st.sampled_from(DATE_FORMS), st.sampled_from(["{}", "It is {}.", "on {}, I think"]))
def test_every_written_date_matches_its_day(day: dt.date, form: str, frame: str):
    assert answer_matches(Date(value=day.isoformat()), frame.format(day.strftime(form)))


@given(days, days)
def test_a_date_matches_no_other_day(day: dt.date, other: dt.date):
    assert answer_matches(Date(value=day.isoformat()), other.isoformat()) == (day == other)


@given(
    st.integers(0, 10**9), st.sampled_from(["{:,.2f}", "${:.2f}", "{:.2f} USD", "It is €{:,.2f}!"])
)
def test_every_written_amount_matches_its_cents_and_no_others(cents: int, form: str):
    text = form.format(cents / 100)
    assert answer_matches(Money(cents=cents), text)
    assert not answer_matches(Money(cents=cents + 1), text)


@given(st.integers(0, 1439))
def test_every_written_time_matches_its_minute(minute: int):
    clock = dt.time(minute // 60, minute % 60)
    expected = Time(value=clock.strftime("%H:%M"))
    for form in ("%H:%M", "%I:%M %p", "%I:%M:00 %p"):
        assert answer_matches(expected, f"at {clock.strftime(form)}")


@given(st.integers(1, 10**6))
def test_every_written_duration_matches_its_seconds(seconds: int):
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    expected = Duration(seconds=seconds)
    assert answer_matches(expected, f"{seconds} seconds")
    assert answer_matches(expected, f"{hours}:{minutes:02}:{left:02}")
    assert answer_matches(expected, f"{hours} h {minutes} min and {left} s")


@given(st.integers(-(10**12), 10**12))
def test_every_written_number_matches_itself(number: int):
    assert answer_matches(Number(value=number), f"There are {number:,} of them")
    assert matches(Number(value=number), str(number))


words = st.text("abcdefg", min_size=2, max_size=6).filter(lambda word: word != "and")


@given(st.lists(words, min_size=1, max_size=6), st.randoms())
def test_a_set_matches_every_order_of_its_items(values: list[str], rng):
    shuffled = values[:]
    rng.shuffle(shuffled)
    assert answer_matches(Set(values=tuple(values)), ", ".join(shuffled))
    assert answer_matches(Sequence(values=tuple(values)), "\n".join(f"- {v}" for v in values))
    assert answer_matches(Sequence(values=tuple(values)), ", ".join(shuffled)) == (
        shuffled == values
    )


matchers = st.sampled_from(
    [
        Number(value=3),
        Money(cents=100),
        Date(value="2026-03-03"),
        Time(value="07:30"),
        Duration(seconds=60),
        Text(value="a", mode="contains"),
        Set(values=("a", 1)),
        Sequence(values=("a,b",)),
        "x",
        1,
        True,
    ]
)


@given(matchers, st.text() | st.text("0123456789.,:-/年月日点 hmsap$\n"))
def test_no_text_breaks_a_matcher(expected, text: str):
    assert answer_matches(expected, text) in (True, False)
    assert matches(expected, text) in (True, False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@given(json_values, json_values)
def test_sameness_is_reflexive_and_symmetric(left, right):
    assert same(left, left)
    assert same(left, right) == same(right, left)


@given(matchers, json_values)
def test_no_stored_value_breaks_a_matcher(expected, stored):
    assert matches(expected, stored) in (True, False)
