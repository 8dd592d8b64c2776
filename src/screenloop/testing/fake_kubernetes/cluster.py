"""A small Kubernetes cluster in memory: a scheduler, nodes that can be lost, Pods that come and go.

It follows the documented behaviour of the control loops behind the API as far as hosts need it; it
is no measure of what a real cluster does. `fake_kubernetes` serves it over HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from screenloop.manager.clock import Clock, SystemClock
from screenloop.manager.hosts.kubernetes.manifests import Manifest
from screenloop.testing.fake_kubernetes.objects import FakeObjects, Life
from screenloop.types import Struct

DEFAULT_NODE_LOSS_S = 300
"""How long a Pod that says nothing of it stays bound to a lost node."""


class PodRunner(Protocol):
    """Runs Pods for real; without one they only look as if they ran."""

    def start(self, pod: Manifest, files: Mapping[str, bytes]) -> str:
        """Start a Pod's container and return the Pod's address."""
        ...

    async def is_open(self, uid: str, port: int) -> bool:
        """Tell whether something listens."""
        ...

    def end(self, uid: str, *, kill: bool) -> None:
        """Ask a Pod's container to end, or kill it; harmless where none runs."""
        ...

    def exit_code(self, uid: str) -> int | None:
        """Return how a Pod's container ended (negative: a signal); `None` while it runs."""
        ...


class ClusterPace(Struct, frozen=True, kw_only=True):
    """How long things take in the cluster."""

    schedule_s: float = 0.0
    pull_s: float = 0.0
    ready_s: float = 0.0
    """From the start of the container; not used where Pods run for real."""
    end_s: float = 0.0
    """From the request to the end of the container, likewise."""


@dataclass(kw_only=True)
class Node:
    """A machine of the cluster."""

    name: str
    slots: int
    """Pods it has room for."""
    ready: bool = True
    lost_s: float = 0.0


class FakeCluster:
    """What happens to the objects by itself; `tick` lets all control loops look once."""

    def __init__(
        self,
        *,
        nodes: Mapping[str, int] | None = None,
        pace: ClusterPace | None = None,
        runner: PodRunner | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Build an empty cluster.

        Args:
            nodes: slots for Pods by name of the node.
            pace: how long things take.
            runner: runs Pods for real.
            clock: of everything that takes time.
        """
        self.missing_images: set[str] = set()
        """Images that cannot be fetched."""
        self.nodes = {
            name: Node(name=name, slots=slots)
            for name, slots in (nodes or {"node-1": 1000}).items()
        }
        self._pace = pace or ClusterPace()
        self._runner = runner
        self._clock = clock or SystemClock()
        self.objects = FakeObjects(self._clock, self._kill)

    # ---- what goes wrong ---------------------------------------------------------------------

    def evict(self, namespace: str, name: str, *, why: str) -> None:
        """Let a Pod's node end it for want of something."""
        life = self.objects.life(namespace, name)
        self.objects.set_condition(life, "DisruptionTarget", "True", "TerminationByKubelet", why)
        self._over(life, exit_code=137, reason="Evicted", message=why)

    def drain(self, namespace: str, name: str) -> None:
        """Let somebody empty a Pod's node through the eviction API."""
        life = self.objects.life(namespace, name)
        why = "Eviction API: evicting"
        self.objects.set_condition(life, "DisruptionTarget", "True", "EvictionByEvictionAPI", why)
        self.objects.delete_pod(namespace, name)

    def lose_node(self, name: str) -> None:
        """Let a node stop answering; its Pods are ended once nothing tolerates that any longer."""
        node = self.nodes[name]
        node.ready, node.lost_s = False, self._clock.now_s()
        for life in self._on(name):
            if life.stage == "running":
                self.objects.set_condition(life, "Ready", "False", "NodeNotReady", "node is lost")
                self.objects.modified(life)

    def remove_node(self, name: str) -> None:
        """Take a node out of the cluster; its Pods are struck off."""
        del self.nodes[name]
        for life in self._on(name):
            why = "PodGC: node no longer exists"
            self.objects.set_condition(life, "DisruptionTarget", "True", "DeletionByPodGC", why)
            life.pod["status"]["phase"] = "Failed"
            self.objects.strike_off(life)

    # ---- control loops -----------------------------------------------------------------------

    async def tick(self) -> None:
        """Let scheduler, nodes and controllers look once."""
        for life in list(self.objects.lives.values()):
            node = self.nodes.get(life.node)
            if life.stage == "pending":
                self._schedule(life)
            elif node is not None and not node.ready:
                self._taint(life, node)
            elif life.end_by_s is not None:
                self._terminate(life, life.end_by_s)
            elif life.stage == "pulling":
                self._pull(life)
            elif life.stage == "running":
                await self._run(life)

    def _schedule(self, life: Life) -> None:
        if self._in_stage_s(life) < self._pace.schedule_s:
            return
        for node in self.nodes.values():
            used = sum(one.stage != "over" for one in self._on(node.name))
            if node.ready and used < node.slots:
                life.pod["spec"]["nodeName"] = node.name
                self.objects.set_condition(life, "PodScheduled", "True")
                self.objects.set_container(life, {"waiting": {"reason": "ContainerCreating"}})
                self.objects.enter(life, "pulling")
                return
        count = len(self.nodes)
        words = f"0/{count} nodes are available: {count} Too many pods."
        if self.objects.set_condition(life, "PodScheduled", "False", "Unschedulable", words):
            self.objects.modified(life)

    def _pull(self, life: Life) -> None:
        if self._in_stage_s(life) < self._pace.pull_s:
            return
        image = life.pod["spec"]["containers"][0]["image"]
        if image in self.missing_images:
            words = f'Back-off pulling image "{image}"'
            waiting = {"reason": "ImagePullBackOff", "message": words}
            if self.objects.set_container(life, {"waiting": waiting}):
                self.objects.modified(life)
            return
        files = self.objects.files_of(life)
        if files is None:
            # As a node does, it waits for the Secret.
            return
        number = int(life.uid.rpartition("-")[2])
        address = f"10.0.{number // 250}.{number % 250 + 1}"
        if self._runner is not None:
            address = self._runner.start(life.pod, files)
        life.pod["status"] |= {"phase": "Running", "podIP": address}
        self.objects.set_container(life, {"running": {"startedAt": self.objects.stamp()}})
        self.objects.set_condition(life, "Ready", "False", "ContainersNotReady", "not ready yet")
        self.objects.enter(life, "running")

    async def _run(self, life: Life) -> None:
        if self._runner is not None:
            code = self._runner.exit_code(life.uid)
            if code is not None:
                self._over(life, exit_code=code)
                return
            port = life.pod["spec"]["containers"][0]["readinessProbe"]["tcpSocket"]["port"]
            ready = await self._runner.is_open(life.uid, port)
        else:
            ready = self._in_stage_s(life) >= self._pace.ready_s
        # The Pod may have gone while the probe ran.
        there = self.objects.lives.get(life.key) is life and life.stage == "running"
        if there and ready and self.objects.set_condition(life, "Ready", "True"):
            self.objects.modified(life)

    def _terminate(self, life: Life, end_by_s: float) -> None:
        now_s = self._clock.now_s()
        if life.stage != "running":
            over = True
        elif self._runner is None:
            over = now_s >= life.asked_s + self._pace.end_s
        else:
            if not life.told:
                life.told = True
                self._runner.end(life.uid, kill=False)
            over = self._runner.exit_code(life.uid) is not None
        if over or now_s >= end_by_s:
            self.objects.strike_off(life)

    def _taint(self, life: Life, node: Node) -> None:
        """End the Pods of a lost node; they stay until the node says that they ended."""
        allowed_s = min(
            [
                one.get("tolerationSeconds", DEFAULT_NODE_LOSS_S)
                for one in life.pod["spec"].get("tolerations", [])
                if one.get("key") == "node.kubernetes.io/unreachable"
            ],
            default=DEFAULT_NODE_LOSS_S,
        )
        if life.end_by_s is None and self._clock.now_s() - node.lost_s >= allowed_s:
            why = "Taint manager: deleting due to NoExecute taint"
            self.objects.set_condition(
                life, "DisruptionTarget", "True", "DeletionByTaintManager", why
            )
            self.objects.delete_pod(*life.key.split("/"))

    # ---- parts -------------------------------------------------------------------------------

    def _on(self, node: str) -> list[Life]:
        return [one for one in self.objects.lives.values() if one.node == node]

    def _in_stage_s(self, life: Life) -> float:
        return self._clock.now_s() - life.since_s

    def _over(self, life: Life, *, exit_code: int, reason: str = "", message: str = "") -> None:
        """Let a Pod's container have ended; its object stays."""
        status = life.pod["status"]
        status["phase"] = "Failed" if exit_code or reason else "Succeeded"
        if reason:
            status |= {"reason": reason, "message": message}
        # A signal shows as a shell's exit status.
        code = exit_code if exit_code >= 0 else 128 - exit_code
        ended = {"exitCode": code, "reason": "Error" if code else "Completed"}
        self.objects.set_container(life, {"terminated": ended})
        self.objects.set_condition(life, "Ready", "False", "PodFailed")
        self._kill(life.uid)
        self.objects.enter(life, "over")

    def _kill(self, uid: str) -> None:
        if self._runner is not None:
            self._runner.end(uid, kill=True)
