"""Requests for leases over HTTP: asked again, given up, refused for now; answers that get lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from http_place import RIGHT, TOKEN, FilmedGarage, Served, serving, until
from odometer import REF, START, TAP, Garage

from screenloop.actions import Wait
from screenloop.errors import DeadlinePassed, InfraFault, LeaseLost
from screenloop.http.server import Serving, listen, url_of
from screenloop.manager.hosts.app import HostApp
from screenloop.manager.hosts.inside import InsideLauncher
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.sqlite import SqliteJournal
from screenloop.manager.supply.base import Supply
from screenloop.manager.supply.desired import PoolPlan
from screenloop.manager.supply.on_demand import OnDemandSupply
from screenloop.manager.supply.pooled import PooledSupply
from screenloop.manager.supply.tokens import HostTokens
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite
from screenloop.types import Claim, Lease, Start

Scope = dict[str, Any]


def asked(request_id: str, **fields: object) -> dict[str, object]:
    """Return the body of a request for a lease."""
    return {
        "env": {"kind": "odometer", "size_px": [100, 200]},
        "run_id": "run",
        "request_id": request_id,
        "ttl_s": 60,
        **fields,
    }


def one_instance(garage: Garage) -> Supply:
    """Return a pool of a single odometer."""
    plan = PoolPlan(env=REF, target=1, most=1)
    launcher = InsideLauncher(garage.open)
    return PooledSupply([plan], {"odometer": launcher}, tokens=HostTokens(b"s" * 32), blobs="")


class Mischief:
    """Stands before an app; drops or doubles what it is told to."""

    def __init__(self) -> None:
        self.app: Any = None
        self.drop: list[str] = []
        """Paths whose next answer is lost after the request was carried out."""
        self.double: set[str] = set()
        """Paths whose requests arrive twice."""
        self.headers: list[dict[str, str]] = []

    def around(self, app: Any) -> Any:
        self.app = app
        return self

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        path = scope["path"]
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        message = await receive()

        async def again() -> Any:
            nonlocal message
            now, message = message, None
            return now if now is not None else await receive()

        async def nowhere(_: Any) -> None:
            return None

        if path in self.drop:
            self.drop.remove(path)
            await self.app(scope, again, nowhere)
            return
        if path in self.double:
            kept = message
            await self.app(scope, again, nowhere)
            message = kept
        await self.app(scope, again, send)


# ---- asking ----------------------------------------------------------------------------------


async def test_the_same_request_id_is_answered_with_the_same_lease(tmp_path: Path) -> None:
    garage = FilmedGarage(MemoryBlobs())
    async with serving(tmp_path, open_instance=garage.open) as served:
        answers = await asyncio.gather(*(served.post("/v1/leases", asked("one")) for _ in range(4)))
        answers.append(await served.post("/v1/leases", asked("one")))
        assert {status for status, _ in answers} == {200}
        assert len({body["lease"]["lease_id"] for _, body in answers}) == 1
        assert served.service.status().leases == 1
        _, other = await served.post("/v1/leases", asked("two"))
        assert other["lease"] != answers[0][1]["lease"]


async def test_a_withdrawn_request_has_its_lease_released_and_gets_no_other(
    tmp_path: Path,
) -> None:
    garage = FilmedGarage(MemoryBlobs())
    async with serving(tmp_path, open_instance=garage.open) as served:
        await served.post("/v1/leases", asked("one"))
        for _ in range(2):
            status, _ = await served.post("/v1/leases/withdraw", {"request_id": "one"})
            assert (status, served.service.status().leases) == (200, 0)
        status, body = await served.post("/v1/leases", asked("one"))
        assert (status, body["error"]) == (409, "LeaseLost")


async def test_one_who_hangs_up_while_waiting_gets_no_lease(tmp_path: Path) -> None:
    garage = FilmedGarage(MemoryBlobs())
    garage.gate.clear()
    async with serving(tmp_path, open_instance=garage.open) as served:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        body = json.dumps(asked("one")).encode()
        head = (
            f"POST /v1/leases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        await until(lambda: served.service.status().acquiring == 1)
        writer.close()
        await writer.wait_closed()
        await until(lambda: served.service.status().acquiring == 0)
        garage.gate.set()
        assert served.service.status().leases == 0
        status, _ = await served.post("/v1/leases", asked("two"))
        assert (status, served.service.status().leases) == (200, 1)


async def test_nothing_free_is_busy_and_says_when_to_come_again(tmp_path: Path) -> None:
    garage = FilmedGarage(MemoryBlobs())
    async with serving(tmp_path, supply=lambda host: one_instance(garage)) as served:
        lease = await served.client().acquire(REF, "run", ttl_s=60)
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                served.url + "/v1/leases", json=asked("two", wait_s=0.01), headers=RIGHT
            ) as reply,
        ):
            body = await reply.json()
            assert (reply.status, body["error"]) == (503, "Busy")
            assert int(reply.headers["Retry-After"]) >= body["retry_after_s"] > 0
        assert served.metrics.faults == {}
        waiting = asyncio.create_task(served.client().acquire(REF, "other", ttl_s=60))
        await until(lambda: served.service.status().acquiring == 1)
        await served.clients[0].release(lease)
        assert (await waiting).instance == lease.instance


async def test_a_cancelled_wait_leaves_the_instance_to_others(tmp_path: Path) -> None:
    garage = FilmedGarage(MemoryBlobs())
    async with serving(tmp_path, supply=lambda host: one_instance(garage)) as served:
        client = served.client()
        lease = await client.acquire(REF, "run", ttl_s=60)
        waiting = asyncio.create_task(client.acquire(REF, "run", ttl_s=60))
        await until(lambda: served.service.status().acquiring == 1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await until(lambda: served.service.status().acquiring == 0)
        await client.release(lease)
        assert (await client.acquire(REF, "run", ttl_s=60)).instance == lease.instance


async def test_a_draining_manager_says_so_and_lets_its_holders_finish(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    async with serving(tmp_path, open_instance=garage.open, shared=blobs) as served:
        client = served.client()
        lease = await client.acquire(REF, "run", ttl_s=60)
        await client.reset(lease, START, deadline_s=60)
        assert await served.service.drain(deadline_s=0) == 1
        status, body = await served.post("/v1/leases", asked("late"))
        assert (status, body["error"]) == (503, "Busy")
        status, health = await served.get("/v1/health", headers={})
        assert (status, json.loads(health)["draining"]) == (503, True)
        await client.step(lease, "e/0/0", TAP, deadline_s=60)
        assert (await client.evaluate(lease, Claim(answer="42"), deadline_s=60)).success
        await client.release(lease)
        assert served.service.status().leases == 0


# ---- answers that get lost -------------------------------------------------------------------


async def leased(served: Served) -> Lease:
    client = served.clients[0]
    lease = await client.acquire(REF, "run", ttl_s=60)
    await client.reset(lease, START, deadline_s=60)
    return lease


async def test_what_is_sent_again_after_a_lost_answer_was_carried_out_once(
    tmp_path: Path,
) -> None:
    blobs, mischief = MemoryBlobs(), Mischief()
    garage = FilmedGarage(blobs)
    async with serving(
        tmp_path, open_instance=garage.open, shared=blobs, wrap=mischief.around
    ) as served:
        client = served.client()
        mischief.drop = ["/v1/leases", "/v1/leases/reset", "/v1/leases/step", "/v1/leases/step"]
        lease = await leased(served)
        result = await client.step(lease, "e/0/0", TAP, deadline_s=60)
        assert blobs.get(result.observation.frame or "") == b"frame 1"
        mischief.drop += ["/v1/leases/evaluate", "/v1/leases/release"]
        assert (await client.evaluate(lease, Claim(answer="42"), deadline_s=60)).success
        await client.release(lease)
        assert mischief.drop == []
        assert [odometer.steps for odometer in garage.made] == [1]
        assert served.service.status().leases == 0


async def test_what_arrives_twice_is_carried_out_once(tmp_path: Path) -> None:
    blobs, mischief = MemoryBlobs(), Mischief()
    garage = FilmedGarage(blobs)
    mischief.double = {"/v1/leases", "/v1/leases/step", "/v1/leases/release"}
    async with serving(
        tmp_path, open_instance=garage.open, shared=blobs, wrap=mischief.around
    ) as served:
        client = served.client()
        lease = await leased(served)
        for number in range(3):
            await client.step(lease, f"e/{number}/0", TAP, deadline_s=60)
        await client.release(lease)
        assert [odometer.steps for odometer in garage.made] == [3]
        assert served.service.status().leases == 0


async def test_no_answer_in_time_is_a_passed_deadline(tmp_path: Path) -> None:
    blobs, mischief = MemoryBlobs(), Mischief()
    garage = FilmedGarage(blobs)
    async with serving(
        tmp_path, open_instance=garage.open, shared=blobs, wrap=mischief.around
    ) as served:
        client = served.client()
        lease = await leased(served)
        mischief.drop = ["/v1/leases/observe"] * 100
        with pytest.raises(DeadlinePassed, match="no answer within"):
            await client.observe(lease, deadline_s=0.2)
        mischief.drop = []
        await client.observe(lease, deadline_s=60)


# ---- another manager in its place ------------------------------------------------------------


async def test_a_client_rides_over_a_restart_of_the_manager(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    host = InstanceHost("lives-on", garage.open)

    def manager(number: int, port: int = 0) -> Any:
        return serving(
            tmp_path,
            host=host,
            shared=blobs,
            port=port,
            journal=SqliteJournal(tmp_path / "journal.db"),
            supply=lambda host: OnDemandSupply(host, boot=host.boot, prefix=f"m{number}-"),
        )

    async with manager(1) as first:
        client = first.client()
        first.clients.clear()
        lease = await client.acquire(REF, "run", ttl_s=60)
        await client.reset(lease, START, deadline_s=60)
        before = await client.step(lease, "e/0/0", TAP, deadline_s=60)
    stepping = asyncio.create_task(client.step(lease, "e/1/0", TAP, deadline_s=60))
    acquiring = asyncio.create_task(client.acquire(REF, "run", ttl_s=60))
    await asyncio.sleep(0.2)
    assert not stepping.done()
    async with manager(2, first.port) as second:
        await stepping
        assert await client.step(lease, "e/0/0", TAP, deadline_s=60) == before
        assert garage.made[0].steps == 2
        assert (await acquiring).instance != lease.instance
        assert (await client.evaluate(lease, Claim(answer="42"), deadline_s=60)).success
        await client.release(lease)
        assert second.service.status().leases == 1
        await client.close()
    await host.close()


async def test_leases_of_a_host_that_went_meanwhile_are_revoked_and_say_why(
    tmp_path: Path,
) -> None:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    journal = tmp_path / "journal.db"
    async with serving(
        tmp_path, host=InstanceHost("h", garage.open), shared=blobs, journal=SqliteJournal(journal)
    ) as first:
        client = first.client()
        first.clients.clear()
        lease = await client.acquire(REF, "run", ttl_s=60)
    other = InstanceHost("h", garage.open)
    async with serving(
        tmp_path, host=other, shared=blobs, journal=SqliteJournal(journal), port=first.port
    ):
        with pytest.raises(LeaseLost, match="no longer open on host h"):
            await client.observe(lease, deadline_s=5)
        assert (await client.acquire(REF, "run", ttl_s=60)).fence >= 1
        await client.close()


# ---- what a host does not show by itself, and hosts that answer by themselves ------------------


async def test_what_is_wanted_and_not_shown_is_asked_for(tmp_path: Path) -> None:
    task = find_suite("fake").task("add_to_counter", 0)
    async with serving(tmp_path) as served:
        plain, wanting = served.client(), served.client(want=("frame", "tree", "text"))
        for client, parts in ((plain, 1), (wanting, 3)):
            lease = await client.acquire(task.env, "run", ttl_s=60)
            seen = await client.reset(lease, Start(task=task), deadline_s=60)
            shown = [part for part in (seen.frame, seen.tree, seen.text) if part is not None]
            assert len(shown) == parts
            result = await client.step(lease, "e/0/0", Wait(), deadline_s=60)
            assert result.observation.frame is not None
            assert (result.observation.tree is not None) == (parts == 3)
            for key in shown:
                assert client.blobs.own.get(key) == served.shared.get(key)


async def test_a_host_that_answers_by_itself_is_shown_no_token_of_the_manager(
    tmp_path: Path,
) -> None:
    blobs, mischief = MemoryBlobs(), Mischief()
    garage = FilmedGarage(blobs)
    host = InstanceHost("h", garage.open)
    app = HostApp(host, token="the-hosts-own-token", blobs=blobs, heard=lambda: None).asgi()
    listener = listen()
    async with serving(tmp_path, host=host, shared=blobs) as served:
        client = served.client()
        lease = await client.acquire(REF, "run", ttl_s=60)
        direct = Lease(
            id=lease.id,
            fence=lease.fence,
            instance=lease.instance,
            spec=lease.spec,
            expires_s=lease.expires_s,
            host_url=url_of(listener),
        )
        async with Serving(mischief.around(app), listener):
            await client.reset(direct, START, deadline_s=60)
            first = await client.step(direct, "e/0/0", TAP, deadline_s=60)
        assert len(mischief.headers) == 2
        assert not any("authorization" in headers for headers in mischief.headers)
        # The host's own way is shut: the same step goes by the manager, and is not done twice.
        assert await client.step(direct, "e/0/0", TAP, deadline_s=60) == first
        assert garage.made[0].steps == 1
        await client.release(direct)
    await host.close()


async def test_a_failure_of_the_infrastructure_behind_is_waited_for(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    garage = FilmedGarage(blobs)
    launcher = InsideLauncher(garage.open)
    plan = PoolPlan(env=REF, target=1, most=1)

    def supply(host: InstanceHost) -> Supply:
        return PooledSupply([plan], {"odometer": launcher}, tokens=HostTokens(b"s" * 32), blobs="")

    async with serving(tmp_path, supply=supply, shared=blobs) as served:
        client = served.client()
        lease = await client.acquire(REF, "run", ttl_s=60)
        await client.reset(lease, START, deadline_s=60)
        (seen,) = await launcher.seen()
        launcher.stall(seen.host)
        stepping = asyncio.create_task(client.step(lease, "e/0/0", TAP, deadline_s=60))
        await until(lambda: served.service.status().in_flight == 1)
        launcher.resume(seen.host)
        await stepping
        assert garage.made[0].steps == 1
        await launcher.kill(seen.host)
        with pytest.raises(InfraFault):
            await client.observe(lease, deadline_s=3)
