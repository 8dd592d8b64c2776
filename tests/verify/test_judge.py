import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.actions import Finish
from screenloop.criteria import (
    Added,
    AnswerIs,
    Changed,
    Check,
    Count,
    FinishIs,
    Number,
    Removed,
    Text,
    Unchanged,
    Value,
)
from screenloop.errors import TaskError
from screenloop.types import Claim, DiffRow, EnvRef, Evidence, Goal, Task, Verdict
from screenloop.verify.judge import MAX_OPERATIONS, is_allowed, judge, require_judgeable

START = {
    "contacts": {
        "people": {
            "p1": {"name": "Ada", "phone": "555-0101", "starred": False},
            "p2": {"name": "Bob", "phone": "555-0102", "starred": False},
            "p3": {"name": "Cid", "phone": "555-0103", "starred": True},
        },
        "sort": "name",
    },
    "settings": {"radio": {"wifi": False, "volume": 3}},
}


def task_of(*checks: Check, allowed: tuple[str, ...] = ()) -> Task:
    return Task(
        id="s/t@1",
        env=EnvRef(kind="fake", size_px=(1, 1)),
        goal=Goal(text="do it"),
        checks=checks,
        allowed=allowed,
    )


def after(change) -> dict:
    state = copy.deepcopy(START)
    change(state)
    return state


def judged(*checks: Check, end: dict | None = None, claim: Claim | None = None, **task) -> Verdict:
    evidence = Evidence(before=START, after=START if end is None else end)
    return judge(task_of(*checks, **task), evidence, claim or Claim())


def people(state: dict) -> dict:
    return state["contacts"]["people"]


ADD_EVE = Added(says="Eve is there", app="contacts", table="people", where={"name": "Eve"})
STAR_BOB = Changed(
    says="Bob is starred", app="contacts", table="people", ids=("p2",), to={"starred": True}
)
REMOVE_ADA = Removed(says="Ada is gone", app="contacts", table="people", where={"name": "Ada"})


def add_eve(state: dict) -> None:
    people(state)["p4"] = {"name": "Eve", "phone": "1", "starred": False}


def star_bob(state: dict) -> None:
    people(state)["p2"]["starred"] = True


# ---- each kind of check --------------------------------------------------------------------


def test_added_counts_the_matching_new_rows_exactly():
    assert judged(ADD_EVE, end=after(add_eve)).success
    assert not judged(ADD_EVE).success

    def twice(state):
        add_eve(state)
        people(state)["p5"] = {"name": "Eve"}

    assert judged(ADD_EVE, end=after(twice)).checks[0].detail == (
        "expected 1 matching rows added, found 2 of 2"
    )


def test_a_row_that_was_there_is_not_added():
    check = Added(says="x", app="contacts", table="people", where={"name": "Ada"})
    assert judged(check).reward == 0.0


def test_removed_looks_at_the_rows_as_they_were():
    assert judged(REMOVE_ADA, end=after(lambda s: people(s).pop("p1"))).success
    assert judged(REMOVE_ADA, end=after(lambda s: people(s).pop("p2"))).reward == 0.0


def test_changed_needs_a_named_field_to_differ_and_match():
    assert judged(STAR_BOB, end=after(star_bob)).success
    already = Changed(says="x", app="contacts", table="people", ids=("p3",), to={"starred": True})
    renamed = after(lambda s: people(s)["p3"].update(name="Zed"))
    assert judged(already, end=renamed).checks[0].detail == "contacts.people[p3] is as it was"
    assert judged(STAR_BOB, end=after(lambda s: people(s).pop("p2"))).reward == 0.0
    gone = after(lambda s: people(s)["p2"].pop("starred"))
    assert "is gone" in judged(STAR_BOB, end=gone).checks[0].detail


def test_changed_names_only_rows_that_exist_at_the_start():
    ghost = Changed(says="x", app="contacts", table="people", ids=("p9",), to={"starred": True})
    with pytest.raises(TaskError, match="not there at the start"):
        judged(ghost)


def test_unchanged_guards_an_app_a_table_or_rows():
    def guard(**scope) -> Unchanged:
        return Unchanged(says="guard", weight=0, **scope)

    end = after(star_bob)
    results = judged(
        STAR_BOB,
        guard(app="contacts"),
        guard(app="contacts", table="sort"),
        guard(app="contacts", table="people", ids=("p1", "p3")),
        guard(app="settings"),
        end=end,
    ).checks
    assert [r.passed for r in results] == [True, False, True, True, True, True]
    assert results[1].detail == "1 changes, first: contacts.people[p2].starred: False became True"


def test_count_looks_at_the_end_only():
    starred = Count(says="x", app="contacts", table="people", where={"starred": True}, equals=2)
    assert judged(starred, end=after(star_bob)).success
    assert not judged(starred).success


def test_value_reads_a_path():
    wifi = Value(says="x", app="settings", path="radio/wifi", to=True)
    assert judged(wifi, end=after(lambda s: s["settings"]["radio"].update(wifi=True))).success
    assert not judged(wifi).success
    nowhere = Value(says="x", app="settings", path="radio/bluetooth", to=True)
    assert judged(nowhere).checks[0].detail == "nothing stands at settings/radio/bluetooth"
    name = Value(says="x", app="contacts", path="people/p1/name", to=Text(value="ada"))
    assert judged(name).success


def test_answer_and_finish_judge_the_claim():
    checks = (
        AnswerIs(says="x", to=Number(value=3)),
        FinishIs(says="y", status="infeasible", weight=1),
    )
    claim = Claim(answer="There are 3.", finish=Finish(status="infeasible"))
    assert judged(*checks, claim=claim).success
    half = judged(*checks, claim=Claim(answer="3"))
    assert (half.reward, half.success) == (0.5, False)
    assert half.checks[1].detail == "expected infeasible, but not finished by the agent"
    assert judged(*checks).checks[0].detail == "no answer was given"


# ---- reward, success, side effects ---------------------------------------------------------


def test_reward_is_the_weighted_share_and_success_needs_the_critical_checks_only():
    light = Added(
        says="x", app="contacts", table="people", where={"name": "Eve"}, weight=1, critical=False
    )
    heavy = Changed(
        says="y", app="contacts", table="people", ids=("p2",), to={"starred": True}, weight=3
    )
    verdict = judged(light, heavy, end=after(star_bob))
    assert (verdict.reward, verdict.success) == (0.75, True)
    verdict = judged(light, heavy, end=after(add_eve))
    assert (verdict.reward, verdict.success) == (0.25, False)


def test_a_change_that_no_check_accounts_for_is_reported_and_denies_success():
    def both(state):
        add_eve(state)
        star_bob(state)

    verdict = judged(ADD_EVE, end=after(both))
    assert (verdict.reward, verdict.success) == (1.0, False)
    assert [(row.id, row.field) for row in verdict.side_effects] == [("p2", "starred")]
    assert verdict.checks[-1].says == "nothing else changed"
    assert verdict.checks[-1].critical


def test_other_fields_of_a_changed_row_are_side_effects():
    verdict = judged(STAR_BOB, end=after(lambda s: people(s)["p2"].update(starred=True, name="B")))
    assert [row.field for row in verdict.side_effects] == ["name"]


def test_allowed_side_effects_do_not_deny_success():
    def both(state):
        add_eve(state)
        state["contacts"]["sort"] = "phone"

    verdict = judged(ADD_EVE, end=after(both), allowed=("contacts.sort",))
    assert verdict.success
    assert verdict.side_effects == ()


def test_a_failed_check_accounts_for_nothing():
    def wrong(state):
        people(state)["p4"] = {"name": "Evil"}

    assert len(judged(ADD_EVE, end=after(wrong)).side_effects) == 1


def test_a_count_does_not_vouch_for_rows_that_were_swapped():
    still_three = Count(says="x", app="contacts", table="people", equals=3)

    def swapped(state):
        people(state).pop("p1")
        add_eve(state)

    verdict = judged(still_three, end=after(swapped))
    assert (verdict.reward, verdict.success) == (1.0, False)
    assert len(verdict.side_effects) == 2


def test_patterns_cover_apps_tables_and_fields():
    field = DiffRow(app="contacts", table="people", id="p1", field="seen_s", op="set")
    whole = DiffRow(app="contacts", table="people", id="p1", op="add")
    for pattern in ("contacts", "contacts.people", "contacts.people.seen_s", "*.*.seen_*", "cont*"):
        assert is_allowed(field, (pattern,)), pattern
    for pattern in ("contact", "contacts.groups", "contacts.people.name", "people"):
        assert not is_allowed(field, (pattern,)), pattern
    assert is_allowed(whole, ("contacts.people.*",))
    assert not is_allowed(whole, ("contacts.people.seen_s",))


def test_native_evidence_is_kept_in_the_verdict():
    evidence = Evidence(before=START, after=START, native={"raw_reward": 0.3})
    assert judge(task_of(ADD_EVE), evidence, Claim()).native == {"raw_reward": 0.3}


# ---- broken tasks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Added(says="x", app="contacts", table="people", critical=False), "critical"),
        (Added(says="x", app="contacts", table="people", weight=0), "sum to 0"),
        (Added(says="x", app="contacts", table="people", weight=float("nan")), "finite"),
        (Added(says="x", app="contacts", table="people", weight=-1), "at least 0"),
        (AnswerIs(says="x", to=None), "null"),
        (AnswerIs(says="x", to=Number()), "value, min or max"),
        (Value(says="x", app="a", path="p", to=Text(value="?", mode="contains")), "contains"),
    ],
)
def test_a_task_that_cannot_be_judged_is_refused_before_it_runs(check: Check, said: str):
    with pytest.raises(TaskError, match=f"task s/t@1: .*{said}"):
        require_judgeable(task_of(check))


def test_an_allowed_pattern_with_too_many_parts_is_refused():
    with pytest.raises(TaskError, match="no pattern"):
        require_judgeable(task_of(ADD_EVE, allowed=("a.b.c.d",)))


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Added(says="x", app="contact", table="people"), "there are: contacts, settings"),
        (Count(says="x", app="contacts", table="persons", equals=1), "there are: people, sort"),
        (Count(says="x", app="settings", table="radio", equals=1), "no table of rows"),
        (Value(says="x", app="setings", path="radio/wifi", to=True), "no app 'setings'"),
    ],
)
def test_a_check_that_names_what_does_not_exist_breaks_the_task(check: Check, said: str):
    with pytest.raises(TaskError, match=said):
        judged(check)


def test_a_task_that_costs_too_much_to_judge_is_refused():
    rows = {str(number): {"name": "x"} for number in range(1000)}
    evidence = Evidence(before={"contacts": {"people": rows}}, after={"contacts": {"people": rows}})
    where = {f"f{number}": 1 for number in range(200)}
    checks = [Count(says="x", app="contacts", table="people", where=where, equals=0)] * 10
    with pytest.raises(TaskError, match=f"more than {MAX_OPERATIONS}"):
        judge(task_of(*checks), evidence, Claim())


# ---- properties ----------------------------------------------------------------------------

names = st.sampled_from(["Ada", "Bob", "Eve"])
wheres = st.dictionaries(st.sampled_from(["name"]), names, max_size=1)
weights = {
    "weight": st.floats(0.1, 10),
    "says": st.just("x"),
    "app": st.just("contacts"),
    "table": st.just("people"),
}
change_checks = st.one_of(
    st.builds(Added, where=wheres, count=st.integers(1, 2), **weights),
    st.builds(Removed, where=wheres, count=st.integers(1, 2), **weights),
    st.builds(
        Changed,
        ids=st.lists(st.sampled_from(["p1", "p2"]), min_size=1, max_size=2).map(tuple),
        to=st.dictionaries(st.just("name"), names, max_size=1),
        **weights,
    ),
)
check_lists = st.lists(change_checks, min_size=1, max_size=4)
ends = st.dictionaries(
    st.sampled_from(["p1", "p2", "p3", "p4", "p5"]), st.fixed_dictionaries({"name": names})
)


@given(check_lists)
def test_doing_nothing_earns_nothing(checks):
    verdict = judged(*checks)
    assert (verdict.reward, verdict.success, verdict.side_effects) == (0.0, False, ())


@given(check_lists, ends)
def test_rewards_stay_between_nothing_and_all(checks, rows):
    verdict = judged(*checks, end={**START, "contacts": {"people": rows, "sort": "name"}})
    assert 0.0 <= verdict.reward <= 1.0
    assert (verdict.reward == 1.0) == all(c.passed for c in verdict.checks[:-1])


@given(check_lists, ends, st.randoms())
def test_the_order_of_rows_and_checks_does_not_matter(checks, rows, rng):
    shuffled = list(rows.items())
    rng.shuffle(shuffled)
    end = {**START, "contacts": {"people": rows, "sort": "name"}}
    turned = {"contacts": {"sort": "name", "people": dict(shuffled)}, "settings": START["settings"]}
    first, second = judged(*checks, end=end), judged(*reversed(checks), end=turned)
    assert first.reward == pytest.approx(second.reward)
    assert first.success == second.success
    assert first.side_effects == second.side_effects
