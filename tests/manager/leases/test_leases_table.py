"""The table of Leases: pure, the time given."""

from __future__ import annotations

import pytest

from screenloop.errors import LeaseLost
from screenloop.manager.base import LeaseToken
from screenloop.manager.journal.base import LeaseRecord
from screenloop.manager.leases.table import HeldLease, LeaseTable
from screenloop.types import EnvRef

REF = EnvRef(kind="odometer", size_px=(8, 8))
TTL_S = 10.0


def a_record(
    lease_id: str = "run/a", *, instance: str = "one", fence: int = 1, request_id: str = ""
) -> LeaseRecord:
    return LeaseRecord(
        instance=instance,
        fence=fence,
        lease_id=lease_id,
        run_id="run",
        request_id=request_id or lease_id,
        ttl_s=TTL_S,
        env=REF,
        host="h",
        boot="b",
    )


def shown(lease_id: str, fence: int, instance: str) -> LeaseToken:
    return LeaseToken(instance=instance, lease_id=lease_id, fence=fence)


def granted(table: LeaseTable, record: LeaseRecord, now_s: float = 0.0) -> HeldLease:
    table.note_fence(record.instance, record.fence)
    return table.grant(record, now_s)


def use(table: LeaseTable, record: LeaseRecord, now_s: float) -> None:
    table.finish(table.admit(shown(record.lease_id, record.fence, record.instance), now_s))


def test_an_instance_has_one_holder() -> None:
    table = LeaseTable()
    granted(table, a_record())
    with pytest.raises(LeaseLost, match="one is held by lease run/a"):
        table.grant(a_record("run/b", fence=table.next_fence("one")), 0.0)


def test_even_an_expired_lease_must_be_ended_before_the_next_grant() -> None:
    table = LeaseTable()
    granted(table, a_record())
    with pytest.raises(LeaseLost, match="is held"):
        table.grant(a_record("run/b", fence=2), TTL_S + 1)
    table.expire(TTL_S + 1)
    table.grant(a_record("run/b", fence=2), TTL_S + 1)


def test_fences_only_grow() -> None:
    table = LeaseTable()
    assert [table.next_fence("one") for _ in range(3)] == [1, 2, 3]
    assert table.next_fence("one", at_least=7) == 8
    table.note_fence("one", 5)
    with pytest.raises(LeaseLost, match="at fence 8: fence 4 cannot be granted"):
        table.grant(a_record(fence=4), 0.0)


def test_a_lease_expires_after_silence_and_use_renews_it() -> None:
    table = LeaseTable()
    record = a_record()
    granted(table, record)
    for now_s in (9.0, 18.0, 27.0):
        use(table, record, now_s)
    with pytest.raises(LeaseLost, match="expired"):
        use(table, record, 37.0)


@pytest.mark.parametrize(
    ("lease_id", "fence", "instance"),
    [("run/other", 1, "one"), ("run/a", 0, "one"), ("run/a", 2, "one"), ("run/a", 1, "two")],
)
def test_only_the_very_lease_is_admitted(lease_id: str, fence: int, instance: str) -> None:
    table = LeaseTable()
    granted(table, a_record())
    with pytest.raises(LeaseLost, match=f"lease {lease_id} shows fence {fence} of {instance}"):
        table.admit(shown(lease_id, fence, instance), 0.0)


def test_a_stale_fence_is_refused_and_told_the_newer_one() -> None:
    table = LeaseTable()
    old = a_record()
    granted(table, old)
    table.release(shown(old.lease_id, old.fence, old.instance))
    new = a_record("run/b", fence=table.next_fence("one"))
    table.grant(new, 0.0)
    with pytest.raises(LeaseLost, match="it was released; one is at fence 2"):
        use(table, old, 0.0)
    use(table, new, 0.0)


def test_releasing_twice_is_harmless_and_a_late_release_spares_the_new_holder() -> None:
    table = LeaseTable()
    old = a_record()
    granted(table, old)
    assert table.expire(TTL_S)
    new = a_record("run/b", fence=table.next_fence("one"))
    table.grant(new, TTL_S)
    assert table.release(shown(old.lease_id, old.fence, old.instance)) is None
    use(table, new, TTL_S)
    assert table.release(shown(new.lease_id, new.fence, new.instance)) is not None
    assert table.release(shown(new.lease_id, new.fence, new.instance)) is None


def test_a_revoked_lease_says_why() -> None:
    table = LeaseTable()
    record = a_record()
    granted(table, record)
    table.revoke("one", "host h is gone: killed")
    with pytest.raises(LeaseLost, match="is over: host h is gone: killed"):
        use(table, record, 0.0)
    assert table.revoke("one", "again") is None


def test_a_request_is_answered_with_its_lease_as_long_as_that_lasts() -> None:
    table = LeaseTable()
    record = a_record(request_id="r1")
    held = granted(table, record)
    assert table.of_request("r1", 0.0) is held
    assert table.of_request("r2", 0.0) is None
    with pytest.raises(LeaseLost, match="expired"):
        table.of_request("r1", TTL_S)
    table.revoke("one", "host gone")
    with pytest.raises(LeaseLost, match="request was answered with lease run/a, which is over"):
        table.of_request("r1", 0.0)


def test_a_lease_with_work_in_hand_is_not_ended_until_the_work_is() -> None:
    table = LeaseTable()
    record = a_record()
    granted(table, record)
    held = table.admit(shown(record.lease_id, 1, "one"), 0.0)
    assert table.expire(TTL_S + 5) == []
    table.finish(held)
    assert table.expire(TTL_S + 5) == [held]
    assert table.expire(TTL_S + 5) == []


def test_expiring_finds_each_lease_at_its_own_renewed_end() -> None:
    table = LeaseTable()
    records = [a_record(f"run/{n}", instance=f"i{n}") for n in range(20)]
    for n, record in enumerate(records):
        granted(table, record, float(n))
    use(table, records[0], 9.5)
    over = [held.record.lease_id for held in table.expire(14.5)]
    assert over == ["run/1", "run/2", "run/3", "run/4"]
    assert len(table) == 16
    assert [held.record.lease_id for held in table.expire(19.5)][:2] == ["run/5", "run/6"]


def test_the_work_of_expiring_stays_bounded_however_many_leases_came_and_went() -> None:
    table = LeaseTable(keep_ended=10)
    for n in range(5000):
        record = a_record(f"run/{n}", fence=table.next_fence("one"))
        table.grant(record, 0.0)
        table.release(shown(record.lease_id, record.fence, "one"))
    assert table.expire(TTL_S) == []
    with pytest.raises(LeaseLost, match="it was released"):
        table.admit(shown("run/4999", 5000, "one"), 0.0)
    with pytest.raises(LeaseLost, match="this lease is not known"):
        table.admit(shown("run/4000", 4001, "one"), 0.0)


def test_a_use_that_went_straight_to_the_host_renews_under_the_right_fence_only() -> None:
    table = LeaseTable()
    record = a_record()
    granted(table, record)
    table.renew("one", 99, 8.0)
    table.renew("two", 1, 8.0)
    assert table.of_request("run/a", 9.0) is not None
    table.renew("one", 1, 8.0)
    use(table, record, 17.0)


def test_an_operation_that_was_admitted_is_told_when_its_lease_ended_meanwhile() -> None:
    table = LeaseTable()
    held = granted(table, a_record())
    table.require(held)
    table.revoke("one", "host gone")
    with pytest.raises(LeaseLost, match="host gone"):
        table.require(held)


def test_without_fencing_a_late_worker_gets_in() -> None:
    table = LeaseTable(fencing=False)
    old = a_record()
    granted(table, old)
    table.release(shown(old.lease_id, 1, "one"))
    new = a_record("run/b", fence=table.next_fence("one"))
    table.grant(new, 0.0)
    assert table.admit(shown(old.lease_id, 1, "one"), 0.0).record is new
