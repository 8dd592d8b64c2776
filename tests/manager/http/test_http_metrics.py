"""What a manager counts, writes down and shows, after a session whose every event is known."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from http_place import FilmedGarage, Served, serving, until
from odometer import REF, START, TAP
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console

from screenloop.bench.lease.faults import HandClock
from screenloop.errors import (
    EnvironmentFault,
    InfraFault,
    LeaseLost,
    ScreenloopError,
    StaleFrame,
    TaskError,
)
from screenloop.manager.hosts.inside import InsideLauncher
from screenloop.manager.leases.requests import RequestAges
from screenloop.manager.supply.desired import PoolPlan
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens
from screenloop.manager.watch.logs import set_up_logs
from screenloop.manager.watch.top import status_table
from screenloop.manager.wire.bodies import Status
from screenloop.store.blobs import MemoryBlobs
from screenloop.types import Claim

Samples = dict[str, float]


async def scraped(served: Served) -> Samples:
    """Return each sample by its name and labels."""
    status, body = await served.get("/v1/metrics")
    assert status == 200
    found: Samples = {}
    for family in text_string_to_metric_families(body.decode()):
        for one in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(one.labels.items()))
            found[f"{one.name}{{{labels}}}"] = one.value
    return found


async def test_a_known_session_is_counted_exactly(tmp_path: Path) -> None:
    blobs, clock = MemoryBlobs(), HandClock()
    garage = FilmedGarage(blobs)
    async with serving(tmp_path, open_instance=garage.open, shared=blobs, clock=clock) as served:
        client = served.client()
        first = await client.acquire(REF, "run", ttl_s=10)
        await client.reset(first, START, deadline_s=60)
        for number in range(3):
            await client.step(first, f"e/{number}/0", TAP, deadline_s=60)
        await client.observe(first, deadline_s=60)
        await client.evaluate(first, Claim(answer="42"), deadline_s=60)
        failures: list[tuple[ScreenloopError, type[Exception]]] = [
            (StaleFrame("gone"), StaleFrame),
            (TaskError("broken"), TaskError),
        ]
        for failure, seen in failures:
            garage.made[0].next_failure = failure
            with pytest.raises(seen):
                await client.evaluate(first, Claim(), deadline_s=5)
        await client.release(first)
        second = await client.acquire(REF, "run", ttl_s=10)
        await client.reset(second, START, deadline_s=60)
        garage.made[0].next_failure = EnvironmentFault("black")
        with pytest.raises(EnvironmentFault):
            await client.evaluate(second, Claim(), deadline_s=5)
        await client.acquire(REF, "run", ttl_s=10)
        clock.at_s += 11
        await served.service.sweep()
        found = await scraped(served)
    kind = "kind=odometer"
    expected = {
        f"screenloop_lease_wait_seconds_count{{{kind}}}": 3,
        f"screenloop_reset_seconds_count{{{kind}}}": 2,
        f"screenloop_step_seconds_count{{{kind}}}": 3,
        f"screenloop_observe_seconds_count{{{kind}}}": 1,
        f"screenloop_evaluate_seconds_count{{{kind}}}": 4,
        f"screenloop_faults_total{{blame=agent,{kind},stage=evaluate}}": 1,
        f"screenloop_faults_total{{blame=task,{kind},stage=evaluate}}": 1,
        f"screenloop_faults_total{{blame=environment,{kind},stage=evaluate}}": 1,
        f"screenloop_leases_lost_total{{{kind}}}": 2,
        "screenloop_leases{}": 0,
        # One verdict; unscored are the broken task, the failed instance and the silent holder.
        "screenloop_unscored_ratio{}": 0.75,
    }
    assert {name: found.get(name) for name in expected} == expected


async def test_pools_and_starts_are_shown_and_busy_requests_are_no_faults(tmp_path: Path) -> None:
    garage = FilmedGarage(MemoryBlobs())
    plan = PoolPlan(env=REF, target=2, most=2)
    launchers = {"odometer": InsideLauncher(garage.open)}

    async with serving(
        tmp_path,
        supply=lambda host: PooledSupply(
            [plan],
            launchers,
            tokens=HostTokens(b"s" * 32),
            blobs="",
            started=lambda kind, seconds: served.metrics.started(kind, seconds),
        ),
    ) as served:
        client = served.client()
        leases = [await client.acquire(REF, "run", ttl_s=60) for _ in range(2)]
        body = {
            "env": {"kind": "odometer", "size_px": [100, 200]},
            "run_id": "run",
            "request_id": "late",
            "ttl_s": 60,
            "wait_s": 0.01,
        }
        for _ in range(2):
            assert (await served.post("/v1/leases", body))[0] == 503
        found = await scraped(served)
        assert found["screenloop_instance_start_seconds_count{kind=odometer}"] == 2
        assert found["screenloop_lease_requests_busy_total{kind=odometer}"] == 2
        assert found["screenloop_leases{}"] == 2
        state = "screenloop_pool_instances{{kind=odometer,state={}}}"
        assert found[state.format("leased")] == 2
        assert found[state.format("free")] == 0
        assert found["screenloop_pool_hosts{kind=odometer}"] == 1
        assert not any(name.startswith("screenloop_faults_total") for name in found)
        for lease in leases:
            await client.release(lease)
        assert (await scraped(served))[state.format("free")] == 2


def test_a_wait_counts_from_the_first_of_many_requests() -> None:
    asked = RequestAges(most=2)
    assert [asked.since_s("a", now) for now in (1.0, 5.0, 9.0)] == [1.0, 1.0, 1.0]
    asked.forget("a")
    assert asked.since_s("a", 10.0) == 10.0
    asked.since_s("b", 11.0)
    asked.since_s("c", 12.0)
    assert asked.since_s("a", 13.0) == 13.0


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    set_up_logs("json", stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


async def test_faults_and_lost_leases_are_written_down_with_their_names(
    tmp_path: Path, written: io.StringIO
) -> None:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    async with serving(tmp_path, open_instance=garage.open, shared=blobs) as served:
        client = served.client()
        lease = await client.acquire(REF, "a-run", ttl_s=60)
        garage.made[0].next_failure = StaleFrame("the agent's own doing")
        with pytest.raises(StaleFrame):
            await client.step(lease, "task@1#0-r0/3/0", TAP, deadline_s=5)
        garage.made[0].next_failure = EnvironmentFault("the screen is black")
        with pytest.raises(EnvironmentFault):
            await client.step(lease, "task@1#0-r0/4/0", TAP, deadline_s=5)
        other = await client.acquire(REF, "a-run", ttl_s=60)
        await served.service.instances_lost([other.instance], "host h is gone: killed")
        with pytest.raises(LeaseLost):
            await client.observe(other, deadline_s=5)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    told = [line for line in lines if line["logger"].endswith("fault_log")]
    assert [line["message"] for line in told] == [
        f"a lease is lost: {lease.instance} failed or was closed: step: "
        "EnvironmentFault: the screen is black",
        "step failed: EnvironmentFault: the screen is black",
        "a lease is lost: host h is gone: killed",
    ]
    names = {"lease": lease.id, "instance": lease.instance, "host": "inside", "run": "a-run"}
    assert [{name: line.get(name) for name in names} for line in told[:2]] == [names, names]
    assert told[1]["episode"] == "task@1#0-r0"
    assert told[2]["lease"] == other.id


async def test_a_quarantined_instance_is_written_down_and_shown(
    tmp_path: Path, written: io.StringIO
) -> None:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    plan = PoolPlan(env=REF, target=1, most=2)
    supply = PooledSupply(
        [plan], {"odometer": InsideLauncher(garage.open)}, tokens=HostTokens(b"s" * 32), blobs=""
    )
    async with serving(tmp_path, supply=lambda host: supply, shared=blobs) as served:
        client = served.client()
        lease = await client.acquire(REF, "a-run", ttl_s=60)
        garage.made[0].next_failure = EnvironmentFault("the screen is black")
        with pytest.raises((EnvironmentFault, InfraFault)):
            await client.step(lease, "e/0/0", TAP, deadline_s=5)
        await until(lambda: bool(supply.quarantined()))
        assert supply.quarantined()[0].instance == lease.instance
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    (line,) = [line for line in lines if "is quarantined" in line["message"]]
    assert line["instance"] == lease.instance
    assert line["host"]


async def test_what_top_shows_fits_a_terminal_and_names_what_matters(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    async with serving(tmp_path, open_instance=garage.open, shared=blobs) as served:
        client = served.client()
        lease = await client.acquire(REF, "a-run", ttl_s=60)
        await client.reset(lease, START, deadline_s=60)
        await client.evaluate(lease, Claim(), deadline_s=60)
        _, body = await served.get("/v1/status")
    status = msgspec.json.decode(body, type=Status)
    assert (status.leases, status.leases_by_run, status.evaluated) == (1, {"a-run": 1}, 1)
    stream = io.StringIO()
    Console(file=stream, width=80).print(status_table(status, served.url))
    shown = stream.getvalue()
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("serving", "1 leases", "a-run", "1 verdicts", "faults: none"):
        assert words in shown
