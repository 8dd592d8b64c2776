"""What the Kubernetes API says of Pods, read; only the fields that decide something.

These structs are open: the API's objects have many more fields, and new ones with each version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import field

from screenloop.manager.hosts.kubernetes.manifests import HOST_ANNOTATION, HOST_LABEL
from screenloop.types import Struct


class ObjectMeta(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Names and versions of an object."""

    name: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    deletion_timestamp: str | None = None
    """Set once it was asked to end."""
    deletion_grace_period_seconds: int | None = None


class Condition(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that is or is not so of a Pod."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None


class Waiting(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why a container does not run yet."""

    reason: str | None = None
    message: str | None = None


class Terminated(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a container ended."""

    exit_code: int = 0
    signal: int | None = None
    reason: str | None = None
    message: str | None = None


class ContainerState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One of the states, or none."""

    waiting: Waiting | None = None
    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a container is doing."""

    name: str
    state: ContainerState = ContainerState()


class PodStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a Pod is doing."""

    phase: str = "Pending"
    reason: str | None = None
    message: str | None = None
    pod_ip: str = field(name="podIP", default="")
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class PodSpec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a Pod runs."""

    node_name: str = ""


class Pod(msgspec.Struct, frozen=True, kw_only=True):
    """A Pod."""

    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def host(self) -> str:
        """Id of the host that it runs; empty for a Pod that is none of ours."""
        meta = self.metadata
        return meta.annotations.get(HOST_ANNOTATION) or meta.labels.get(HOST_LABEL, "")

    def condition(self, kind: str) -> Condition | None:
        return next((one for one in self.status.conditions if one.type == kind), None)


class ListMeta(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a list stands."""

    resource_version: str = ""
    next_page: str = field(name="continue", default="")


class PodList(msgspec.Struct, frozen=True, kw_only=True):
    """One page of Pods."""

    metadata: ListMeta
    items: tuple[Pod, ...] | None = ()


class WatchEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a watch; the object is a Pod, a bookmark or a Status."""

    type: str
    object: msgspec.Raw


class Bookmark(msgspec.Struct, frozen=True, kw_only=True):
    """An object of which only the version is given."""

    metadata: ListMeta


class ApiDetails(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """More on a refusal."""

    retry_after_seconds: float | None = None


class ApiStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How the API says no."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: ApiDetails | None = None


class PodLook(Struct, frozen=True, kw_only=True):
    """What a Pod comes to for us."""

    state: Literal["starting", "running", "gone"]
    address: str = ""
    reason: str = ""
    """Why it is gone, or what it waits for."""


def look_at(pod: Pod, *, port: int) -> PodLook:
    """Return what a Pod comes to; a host is running once its container is ready."""
    phase = pod.status.phase
    if phase in ("Succeeded", "Failed"):
        return PodLook(state="gone", reason=_why_ended(pod))
    if pod.status.reason == "NodeLost" or phase == "Unknown":
        return PodLook(state="gone", reason=f"its node {pod.spec.node_name} is lost")
    ready = pod.condition("Ready")
    if phase == "Running" and pod.status.pod_ip and ready is not None and ready.status == "True":
        return PodLook(state="running", address=_address(pod.status.pod_ip, port))
    return PodLook(state="starting", reason=_why_waiting(pod))


def why_deleted(pod: Pod) -> str:
    """Return why a Pod's object went, as far as it says."""
    target = pod.condition("DisruptionTarget")
    if target is not None and target.status == "True":
        return f"its pod was removed: {_words(target.reason, target.message)}"
    if pod.status.phase in ("Succeeded", "Failed"):
        return _why_ended(pod)
    return "its pod was deleted"


def _why_ended(pod: Pod) -> str:
    target = pod.condition("DisruptionTarget")
    words = [_words(pod.status.reason, pod.status.message)]
    if target is not None and target.status == "True":
        words.append(_words(target.reason, target.message))
    for one in pod.status.container_statuses:
        end = one.state.terminated
        if end is not None:
            how = f"signal {end.signal}" if end.signal else f"exit status {end.exit_code}"
            words.append(f"ended with {how} {_words(end.reason, end.message)}".strip())
    told = "; ".join(word for word in words if word)
    return told or f"its pod is {pod.status.phase}"


def _why_waiting(pod: Pod) -> str:
    for one in pod.status.container_statuses:
        if one.state.waiting is not None and one.state.waiting.reason:
            return _words(one.state.waiting.reason, one.state.waiting.message)
    for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready"):
        condition = pod.condition(kind)
        if condition is not None and condition.status != "True" and condition.reason:
            return _words(condition.reason, condition.message)
    return f"its pod is {pod.status.phase}"


def _words(reason: str | None, message: str | None) -> str:
    return f"{reason}: {message}" if reason and message else reason or message or ""


def _address(ip: str, port: int) -> str:
    return f"http://[{ip}]:{port}" if ":" in ip else f"http://{ip}:{port}"
