"""The Kubernetes launcher against a fake API server whose faults are switched on one by one."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from screenloop.errors import Busy, ConfigError, InfraFault
from screenloop.manager.clock import SkewedClock, SystemClock
from screenloop.manager.hosts.base import HostPlan, HostSeen
from screenloop.manager.hosts.kubernetes.api import ApiRefused, KubernetesApi
from screenloop.manager.hosts.kubernetes.launcher import KubernetesLauncher, Pace
from screenloop.manager.hosts.kubernetes.manifests import KubernetesSettings, host_pod
from screenloop.manager.supply.desired import BackOff
from screenloop.store.blobs import FolderBlobs
from screenloop.testing.fake_kubernetes.cluster import ClusterPace, FakeCluster
from screenloop.testing.fake_kubernetes.server import FakeKubernetes

SOON_S = 120.0
TOKEN = "the-token-of-the-manager"
SETTINGS = KubernetesSettings(image="host:1", namespace="agents", grace_s=5, pending_s=30.0)
QUICK = Pace(
    back_off=BackOff(first_s=0.01, most_s=0.05), busy_s=0.05, list_s=5.0, blind_s=0.1, tidy_s=0.02
)


def plan(host: str = "fake-160x120-0001") -> HostPlan:
    return HostPlan(host=host, kind="fake", capacity=4, blobs="s3://b/x", token=f"token-of-{host}")


class Site:
    """A fake cluster, its API, and launchers that come and go."""

    def __init__(self, folder: Path, **cluster: Any) -> None:
        self.clock = SkewedClock(SystemClock())
        self.cluster = FakeCluster(clock=self.clock, **cluster)
        self.api = FakeKubernetes(self.cluster, token=TOKEN, tick_s=0.005, bookmark_s=0.05)
        self.blobs = FolderBlobs(folder)
        self.launchers: list[KubernetesLauncher] = []

    def launcher(
        self,
        settings: KubernetesSettings = SETTINGS,
        *,
        pace: Pace = QUICK,
        token: str = TOKEN,
        page: int = 500,
    ) -> KubernetesLauncher:
        made = KubernetesLauncher(
            settings,
            api=KubernetesApi(settings.namespace, url=self.api.url, token=token, page=page),
            blobs=self.blobs,
            clock=self.clock,
            pace=pace,
        )
        self.launchers.append(made)
        return made

    @property
    def pods(self) -> set[str]:
        return {one.pod["metadata"]["name"] for one in self.cluster.objects.lives.values()}


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as made:
        yield made


async def site_of(stack: AsyncExitStack, folder: Path, **cluster: Any) -> Site:
    site = Site(folder, **cluster)
    await stack.enter_async_context(site.api)

    async def close() -> None:
        for launcher in site.launchers:
            await launcher.close()

    stack.push_async_callback(close)
    return site


@pytest.fixture
async def site(stack: AsyncExitStack, tmp_path: Path) -> Site:
    return await site_of(stack, tmp_path)


async def until(
    launcher: KubernetesLauncher, holds: Callable[[dict[str, HostSeen]], bool]
) -> dict[str, HostSeen]:
    async with asyncio.timeout(SOON_S):
        while True:
            seen = {one.host: one for one in await launcher.seen()}
            if holds(seen):
                return seen
            await asyncio.sleep(0.01)


async def running(launcher: KubernetesLauncher, *hosts: str) -> dict[str, HostSeen]:
    return await until(
        launcher,
        lambda seen: all(host in seen and seen[host].state == "running" for host in hosts),
    )


async def gone(launcher: KubernetesLauncher, host: str) -> str:
    seen = await until(launcher, lambda seen: host in seen and seen[host].state == "gone")
    return seen[host].reason


async def test_a_host_starts_becomes_ready_and_ends_with_its_secret(site: Site) -> None:
    launcher = site.launcher()
    one = plan()
    await launcher.start(one)
    assert (await launcher.seen())[0].host == one.host
    seen = await running(launcher, one.host)
    assert seen[one.host].address.startswith("http://10.0.")
    assert site.cluster.objects.secrets("agents") == (one.host,)
    await launcher.stop(one.host)
    await gone(launcher, one.host)
    assert site.pods == set()
    assert site.cluster.objects.secrets("agents") == ()
    await launcher.stop(one.host)
    await launcher.stop("never-there")


async def test_starting_the_same_host_twice_starts_one_whoever_asks(site: Site) -> None:
    one = plan()
    first, second = site.launcher(), site.launcher()
    await first.start(one)
    await first.start(one)
    await second.start(one)
    assert site.pods == {one.host}
    await running(second, one.host)
    other = site.launcher(replace(SETTINGS, owner="somebody-else"))
    assert await other.seen() == ()
    with pytest.raises(InfraFault, match="another pod"):
        await other.start(one)


async def test_hosts_of_an_earlier_manager_are_found_over_many_pages(site: Site) -> None:
    hosts = [f"fake-160x120-{number:04d}" for number in range(25)]
    for host in hosts:
        site.cluster.objects.create_pod("agents", host_pod(plan(host), SETTINGS))
    launcher = site.launcher(page=10)
    assert {one.host for one in await launcher.seen()} == set(hosts)
    assert site.api.requests.count("LIST pods") == 3


async def test_a_list_whose_pages_expire_is_begun_again(site: Site) -> None:
    for number in range(15):
        site.cluster.objects.create_pod("agents", host_pod(plan(f"h{number}"), SETTINGS))
    pages = 0

    class Forgetful(KubernetesApi):
        async def list_pods(self, *parts: Any, **options: Any) -> Any:
            nonlocal pages
            pages += 1
            if pages == 2:
                site.cluster.objects.compact()
            return await super().list_pods(*parts, **options)

    launcher = KubernetesLauncher(
        SETTINGS,
        api=Forgetful("agents", url=site.api.url, token=TOKEN, page=10),
        blobs=site.blobs,
        pace=QUICK,
    )
    site.launchers.append(launcher)
    assert len(await launcher.seen()) == 15
    assert pages == 4


async def test_a_watch_goes_on_after_it_broke_and_lists_again_only_when_it_must(
    site: Site,
) -> None:
    launcher = site.launcher()
    assert await launcher.seen() == ()
    for number in range(5):
        await launcher.start(plan(f"h{number}"))
        await running(launcher, f"h{number}")
        site.api.drop_watches()
    assert site.api.requests.count("LIST pods") == 1
    site.api.faults.silent_watches = True
    await launcher.start(plan("late"))
    site.cluster.objects.delete_pod("agents", "h0", grace_s=0)
    site.cluster.objects.compact()
    site.api.faults.silent_watches = False
    site.api.drop_watches()
    assert "nobody watched" in await gone(launcher, "h0")
    await running(launcher, "late", "h1", "h2", "h3", "h4")
    assert site.api.requests.count("LIST pods") == 2


async def test_an_expiry_in_the_middle_of_a_watch_leads_to_a_new_list(site: Site) -> None:
    launcher = site.launcher()
    await launcher.seen()
    site.api.faults.silent_watches = True
    await launcher.start(plan())
    site.cluster.objects.compact()
    site.api.faults.silent_watches = False
    await running(launcher, plan().host)
    assert site.api.requests.count("LIST pods") == 2


async def test_a_slow_watch_delays_what_is_seen_and_loses_nothing(site: Site) -> None:
    site.api.faults.watch_delay_s = 0.05
    launcher = site.launcher()
    hosts = [f"h{number}" for number in range(4)]
    for host in hosts:
        await launcher.start(plan(host))
    assert {one.host for one in await launcher.seen()} == set(hosts)
    await running(launcher, *hosts)


async def test_what_a_broken_connection_left_done_is_not_done_twice(site: Site) -> None:
    launcher = site.launcher()
    await launcher.seen()
    site.api.faults.lost_answers = 2
    await launcher.start(plan())
    assert site.pods == {plan().host}
    await running(launcher, plan().host)
    site.api.faults.lost_answers = 1
    await launcher.stop(plan().host)
    await gone(launcher, plan().host)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_server_in_trouble_is_asked_again(site: Site, status: int) -> None:
    launcher = site.launcher()
    await launcher.seen()
    site.api.refuse(status, "InternalError", times=3, what="POST pods")
    await launcher.start(plan())
    await running(launcher, plan().host)


async def test_trouble_that_lasts_is_told_and_start_leaves_nothing_behind(site: Site) -> None:
    launcher = site.launcher()
    await launcher.seen()
    site.api.refuse(500, "InternalError", what="POST pods", times=QUICK.tries)
    with pytest.raises(ApiRefused, match="InternalError"):
        await launcher.start(plan())
    # The pod is created, and its secret is not.
    site.api.refuse(403, "Forbidden", what="POST secrets")
    with pytest.raises(InfraFault, match="create on secrets"):
        await launcher.start(plan("second"))
    await gone(launcher, "second")
    assert site.pods == set()


async def test_a_server_that_asks_for_a_wait_is_left_in_peace_for_as_long(site: Site) -> None:
    launcher = site.launcher()
    await launcher.seen()
    site.api.refuse(429, "TooManyRequests", retry_after_s=7, what="POST pods")
    with pytest.raises(Busy) as busy:
        await launcher.start(plan())
    assert busy.value.retry_after_s == 7.0
    asked = site.api.requests.count("POST pods")
    with pytest.raises(Busy):
        await launcher.start(plan())
    assert site.api.requests.count("POST pods") == asked
    site.clock.skew_s += 7.0
    await launcher.start(plan())
    await running(launcher, plan().host)
    site.api.refuse(429, "TooManyRequests", retry_after_s=0, what="DELETE pods")
    await launcher.stop(plan().host)
    await gone(launcher, plan().host)


async def test_a_quota_that_is_used_up_says_when_to_come_again(site: Site) -> None:
    launcher = site.launcher()
    site.cluster.objects.max_pods = 1
    await launcher.start(plan("h0"))
    with pytest.raises(Busy, match="exceeded quota") as busy:
        await launcher.start(plan("h1"))
    assert busy.value.retry_after_s == QUICK.quota_s
    await launcher.stop("h0")
    await gone(launcher, "h0")
    await launcher.start(plan("h1"))


async def test_a_conflict_that_is_no_pod_of_that_name_is_tried_again(site: Site) -> None:
    launcher = site.launcher()
    await launcher.seen()
    site.api.refuse(409, "Conflict", what="POST pods")
    await launcher.start(plan())
    await running(launcher, plan().host)


async def test_refusals_for_good_say_what_to_correct(site: Site) -> None:
    launcher = site.launcher()
    await launcher.seen()
    for status, reason, kind, words in (
        (401, "Unauthorized", InfraFault, "role"),
        (403, "Forbidden", InfraFault, "role"),
        (404, "NotFound", ConfigError, "settings"),
        (422, "Invalid", ConfigError, "settings"),
    ):
        site.api.refuse(status, reason, what="POST pods")
        with pytest.raises(kind, match=words):
            await launcher.start(plan())
    assert site.pods == set()
    blind = site.launcher(pace=replace(QUICK, list_s=3.0), token="wrong")
    with pytest.raises(InfraFault, match="Unauthorized"):
        await blind.seen()


async def test_eviction_is_seen_with_its_reason_and_the_object_is_removed(site: Site) -> None:
    launcher = site.launcher()
    await launcher.start(plan())
    await running(launcher, plan().host)
    site.cluster.evict("agents", plan().host, why="The node was low on resource: memory.")
    assert "Evicted: The node was low on resource: memory." in await gone(launcher, plan().host)
    async with asyncio.timeout(SOON_S):
        while site.pods:
            await asyncio.sleep(0.01)
    assert "Evicted" in await gone(launcher, plan().host)


async def test_a_drained_node_says_who_took_the_pod_away(site: Site) -> None:
    launcher = site.launcher()
    await launcher.start(plan())
    await running(launcher, plan().host)
    site.cluster.drain("agents", plan().host)
    assert "EvictionByEvictionAPI" in await gone(launcher, plan().host)


async def test_pods_of_a_lost_node_are_gone_and_struck_off_without_its_consent(
    stack: AsyncExitStack, tmp_path: Path
) -> None:
    site = await site_of(stack, tmp_path, nodes={"node-1": 1, "node-2": 1})
    launcher = site.launcher()
    for host in ("h0", "h1"):
        await launcher.start(plan(host))
    await running(launcher, "h0", "h1")
    site.cluster.lose_node("node-1")
    seen = await until(launcher, lambda seen: seen["h0"].state == "starting")
    assert seen["h1"].state == "running"
    site.clock.skew_s += SETTINGS.node_loss_s
    await until(launcher, lambda seen: "h0" in site.pods)
    async with asyncio.timeout(SOON_S):
        while site.cluster.objects.life("agents", "h0").end_by_s is None:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    site.clock.skew_s += SETTINGS.grace_s + 15.0
    assert "node-1" in await gone(launcher, "h0")
    async with asyncio.timeout(SOON_S):
        while site.pods != {"h1"}:
            await asyncio.sleep(0.01)
    site.cluster.remove_node("node-2")
    assert "DeletionByPodGC" in await gone(launcher, "h1")


async def test_a_pod_for_which_there_is_no_room_or_no_image_is_given_up_with_the_reason(
    stack: AsyncExitStack, tmp_path: Path
) -> None:
    site = await site_of(stack, tmp_path, nodes={"node-1": 1})
    launcher = site.launcher()
    site.cluster.missing_images.add("host:1")
    await launcher.start(plan("h0"))
    await launcher.start(plan("h1"))
    await until(launcher, lambda seen: "ImagePull" in seen["h0"].reason)
    await until(launcher, lambda seen: "Unschedulable" in seen["h1"].reason)
    site.clock.skew_s += SETTINGS.pending_s
    assert "ImagePullBackOff" in await gone(launcher, "h0")
    assert "Too many pods" in await gone(launcher, "h1")
    async with asyncio.timeout(SOON_S):
        while site.pods:
            await asyncio.sleep(0.01)


async def test_hosts_live_on_when_a_launcher_is_closed_and_the_next_one_finds_them(
    stack: AsyncExitStack, tmp_path: Path
) -> None:
    site = await site_of(stack, tmp_path, pace=ClusterPace(schedule_s=0.02, pull_s=0.02))
    first = site.launcher()
    await first.start(plan())
    await running(first, plan().host)
    await first.close()
    assert (await site.launcher().seen())[0].state == "running"


async def test_what_was_seen_is_not_believed_for_ever_when_the_api_is_gone(site: Site) -> None:
    launcher = site.launcher()
    await launcher.start(plan())
    await running(launcher, plan().host)
    site.api.refuse(503, "ServiceUnavailable", times=1000)
    site.api.drop_watches()
    await asyncio.sleep(0.05)
    assert await launcher.seen()
    site.clock.skew_s += QUICK.watch_s + 1.0
    with pytest.raises(InfraFault, match="not known"):
        await launcher.seen()
    site.api.faults.refusals.clear()
    async with asyncio.timeout(SOON_S):
        while True:
            try:
                assert (await launcher.seen())[0].state == "running"
                break
            except InfraFault:
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("seed", range(3))
async def test_after_any_faults_what_is_seen_is_what_is_there(
    stack: AsyncExitStack, tmp_path: Path, seed: int
) -> None:
    site = await site_of(stack, tmp_path, nodes={"node-1": 30, "node-2": 30})
    launcher = site.launcher(page=3)
    draw = random.Random(seed)
    wanted: set[str] = set()
    for number in range(60):
        pods = sorted(site.pods)
        match draw.randrange(10):
            case 0 | 1 | 2 | 3:
                with contextlib.suppress(InfraFault):
                    await launcher.start(plan(f"h{number}"))
                    wanted.add(f"h{number}")
            case 4 if pods:
                one = draw.choice(pods)
                with contextlib.suppress(InfraFault):
                    await launcher.stop(one)
                wanted.discard(one)
            case 5 if pods:
                one = draw.choice(pods)
                site.cluster.evict("agents", one, why="low on memory")
                wanted.discard(one)
            case 6:
                site.api.drop_watches()
            case 7:
                site.cluster.objects.compact()
            case 8:
                site.api.refuse(draw.choice((429, 500, 503)), "Trouble", times=draw.randrange(4))
            case _:
                site.api.faults.lost_answers += 1
        await asyncio.sleep(draw.random() * 0.01)
    site.api.faults.refusals.clear()
    site.api.faults.lost_answers = 0
    for one in sorted(site.pods - wanted):
        # What was asked for and failed may be there all the same: it is seen, and ended.
        await launcher.stop(one)
    seen = await until(
        launcher,
        lambda seen: {one for one in seen if seen[one].state == "running"} == site.pods == wanted,
    )
    assert {one for one in seen if seen[one].state == "gone"}.isdisjoint(wanted)
    assert set(site.cluster.objects.secrets("agents")) == wanted
