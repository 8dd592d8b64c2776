"""The objects of a fake Kubernetes cluster: Pods and Secrets, their versions and their history."""

from __future__ import annotations

import asyncio
import base64
import copy
import datetime
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from screenloop.manager.clock import Clock
from screenloop.manager.hosts.kubernetes.manifests import Manifest
from screenloop.types import Struct

DEFAULT_GRACE_S = 30

Stage = Literal["pending", "pulling", "running", "over"]
Wanted = Callable[[Mapping[str, str]], bool]
"""Picks objects by their labels."""


class Refusal(Exception):
    """Raised to answer a request with a Status."""

    def __init__(
        self, code: int, reason: str, message: str, *, retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.retry_after_s = retry_after_s


class Change(Struct, frozen=True, kw_only=True):
    """One event, as watches show it."""

    version: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    namespace: str
    labels: Mapping[str, str]
    object: bytes
    """The Pod as JSON."""


class PodPage(Struct, frozen=True, kw_only=True):
    """Part of a list of Pods."""

    version: int
    pods: tuple[bytes, ...]
    left: int
    """How many more there are."""


@dataclass(kw_only=True)
class Life:
    """A Pod and what the cluster's loops remember of it."""

    pod: Manifest
    since_s: float
    """When it came to its present stage."""
    stage: Stage = "pending"
    end_by_s: float | None = None
    """When it is killed, once it was asked to end."""
    asked_s: float = 0.0
    """When it was asked to."""
    told: bool = False
    """Whether its container was told."""

    @property
    def uid(self) -> str:
        uid: str = self.pod["metadata"]["uid"]
        return uid

    @property
    def key(self) -> str:
        return f"{self.pod['metadata']['namespace']}/{self.pod['metadata']['name']}"

    @property
    def node(self) -> str:
        """Name of its node; empty while it has none."""
        node: str = self.pod["spec"].get("nodeName", "")
        return node


class FakeObjects:
    """Keeps what the API server of a cluster keeps."""

    def __init__(self, clock: Clock, gone: Callable[[str], None]) -> None:
        """Start empty.

        Args:
            clock: of stamps and time-outs.
            gone: told the uid of each Pod that is struck off.
        """
        self.max_pods: int | None = None
        """Quota on Pods of a namespace."""
        self.version = 1
        self.changed = asyncio.Event()
        """Set at the next change, and replaced by a new one."""
        self.lives: dict[str, Life] = {}
        self._clock = clock
        self._gone = gone
        self._secrets: dict[str, Manifest] = {}
        self._changes: list[Change] = []
        self._compacted = 0
        self._snapshots: dict[int, tuple[bytes, ...]] = {}
        self._numbers = itertools.count(1)

    # ---- requests ----------------------------------------------------------------------------

    def create_pod(self, namespace: str, manifest: Manifest) -> Manifest:
        """Take a Pod in.

        Raises:
            Refusal: the name is taken, the quota used up, or it is no Pod.
        """
        pod = copy.deepcopy(manifest)
        name = pod.get("metadata", {}).get("name")
        if not name or not pod.get("spec", {}).get("containers"):
            raise Refusal(422, "Invalid", f'Pod "{name}" is invalid: spec.containers: Required')
        key = f"{namespace}/{name}"
        if key in self.lives:
            raise Refusal(409, "AlreadyExists", f'pods "{name}" already exists')
        used = sum(life.stage != "over" for life in self._in(namespace))
        if self.max_pods is not None and used >= self.max_pods:
            raise Refusal(
                403,
                "Forbidden",
                f'pods "{name}" is forbidden: exceeded quota: hosts, requested: pods=1, '
                f"used: pods={used}, limited: pods={self.max_pods}",
            )
        pod["metadata"] |= {
            "namespace": namespace,
            "uid": f"uid-{next(self._numbers):08d}",
            "creationTimestamp": self.stamp(),
        }
        pod["spec"].setdefault("terminationGracePeriodSeconds", DEFAULT_GRACE_S)
        pod["status"] = {"phase": "Pending", "conditions": []}
        self.lives[key] = Life(pod=pod, since_s=self._clock.now_s())
        self._record("ADDED", pod)
        return pod

    def create_secret(self, namespace: str, manifest: Manifest) -> Manifest:
        """Take a Secret in.

        Raises:
            Refusal: the name is taken.
        """
        secret = copy.deepcopy(manifest)
        name = secret["metadata"]["name"]
        key = f"{namespace}/{name}"
        if key in self._secrets:
            raise Refusal(409, "AlreadyExists", f'secrets "{name}" already exists')
        secret["metadata"]["namespace"] = namespace
        self._secrets[key] = secret
        return secret

    def life(self, namespace: str, name: str) -> Life:
        """Return a Pod and what is remembered of it.

        Raises:
            Refusal: there is none.
        """
        life = self.lives.get(f"{namespace}/{name}")
        if life is None:
            raise Refusal(404, "NotFound", f'pods "{name}" not found')
        return life

    def secrets(self, namespace: str) -> tuple[str, ...]:
        parts = [key.partition("/") for key in self._secrets]
        return tuple(name for of, _, name in parts if of == namespace)

    def page(
        self,
        namespace: str,
        wanted: Wanted,
        *,
        limit: int,
        version: int | None = None,
        start: int = 0,
    ) -> PodPage:
        """Return part of a list; later parts are of the same moment as the first.

        Args:
            namespace: whose Pods.
            wanted: picks by labels.
            limit: Pods at most; 0 for all.
            version: of the first part, for a later one.
            start: of the part.

        Raises:
            Refusal: that moment is no longer kept.
        """
        if version is None:
            version = self.version
            self._snapshots[version] = tuple(
                msgspec.json.encode(life.pod)
                for life in self._in(namespace)
                if wanted(life.pod["metadata"].get("labels", {}))
            )
        elif version not in self._snapshots:
            raise Refusal(410, "Expired", "the provided continue parameter is too old")
        everything = self._snapshots[version]
        end = start + limit if limit else len(everything)
        left = max(0, len(everything) - end)
        if not left:
            del self._snapshots[version]
        return PodPage(version=version, pods=everything[start:end], left=left)

    def changes_since(self, namespace: str, version: int) -> tuple[Change, ...]:
        """Return what happened after a version.

        Raises:
            Refusal: that is no longer kept.
        """
        if version < self._compacted:
            raise Refusal(
                410, "Expired", f"too old resource version: {version} ({self._compacted})"
            )
        return tuple(
            one for one in self._changes if one.version > version and one.namespace == namespace
        )

    def delete_pod(
        self, namespace: str, name: str, *, grace_s: int | None = None, uid: str = ""
    ) -> Manifest:
        """Have a Pod ended, or struck off at once with 0 seconds of grace.

        Raises:
            Refusal: there is none of that name, or it is another.
        """
        life = self.life(namespace, name)
        meta = life.pod["metadata"]
        if uid and uid != life.uid:
            raise Refusal(409, "Conflict", f"the UID in the precondition ({uid}) does not match")
        if grace_s is None:
            grace_s = life.pod["spec"]["terminationGracePeriodSeconds"]
        if grace_s == 0 or life.stage == "pending":
            self.strike_off(life)
            return life.pod
        now_s = self._clock.now_s()
        if life.end_by_s is None or now_s + grace_s < life.end_by_s:
            life.asked_s = now_s if life.end_by_s is None else life.asked_s
            life.end_by_s = now_s + grace_s
            meta["deletionTimestamp"] = self.stamp(ahead_s=grace_s)
            meta["deletionGracePeriodSeconds"] = grace_s
            self.modified(life)
        return life.pod

    def compact(self) -> None:
        """Forget what happened so far: who watches from before must list again."""
        self._compacted = self.version
        self._changes.clear()
        self._snapshots.clear()

    # ---- for the cluster's loops -------------------------------------------------------------

    def files_of(self, life: Life) -> dict[str, bytes] | None:
        """Return the files of a Pod's Secrets by path; `None` while one is not there."""
        files: dict[str, bytes] = {}
        mounts = life.pod["spec"]["containers"][0].get("volumeMounts", [])
        folders = {one["name"]: one["mountPath"] for one in mounts}
        for volume in life.pod["spec"].get("volumes", []):
            if "secret" not in volume:
                continue
            key = f"{life.pod['metadata']['namespace']}/{volume['secret']['secretName']}"
            if key not in self._secrets:
                return None
            for name, data in self._secrets[key].get("data", {}).items():
                files[f"{folders[volume['name']]}/{name}"] = base64.b64decode(data)
        return files

    def set_condition(
        self, life: Life, kind: str, status: str, reason: str = "", message: str = ""
    ) -> bool:
        """Set a condition; return whether it changed."""
        told = {"reason": reason, "message": message}
        new = {"type": kind, "status": status} | {key: word for key, word in told.items() if word}
        conditions: list[Manifest] = life.pod["status"]["conditions"]
        if new in conditions:
            return False
        conditions[:] = [*(one for one in conditions if one["type"] != kind), new]
        return True

    def set_container(self, life: Life, state: Manifest) -> bool:
        """Set the state of a Pod's container; return whether it changed."""
        name = life.pod["spec"]["containers"][0]["name"]
        new = [{"name": name, "state": state}]
        changed: bool = life.pod["status"].get("containerStatuses") != new
        life.pod["status"]["containerStatuses"] = new
        return changed

    def enter(self, life: Life, stage: Stage) -> None:
        life.stage, life.since_s = stage, self._clock.now_s()
        self.modified(life)

    def modified(self, life: Life) -> None:
        """Give a changed Pod a new version."""
        self._record("MODIFIED", life.pod)

    def strike_off(self, life: Life) -> None:
        """Remove a Pod, and the Secrets that it owns."""
        del self.lives[life.key]
        self._gone(life.uid)
        for key, secret in list(self._secrets.items()):
            owners = secret["metadata"].get("ownerReferences", [])
            if any(owner["uid"] == life.uid for owner in owners):
                del self._secrets[key]
        self._record("DELETED", life.pod)

    def stamp(self, *, ahead_s: float = 0.0) -> str:
        """Return a time as the API writes it."""
        moment = datetime.datetime.fromtimestamp(self._clock.wall_s() + ahead_s, datetime.UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    # ---- parts -------------------------------------------------------------------------------

    def _in(self, namespace: str) -> list[Life]:
        start = f"{namespace}/"
        return [life for key, life in self.lives.items() if key.startswith(start)]

    def _record(self, kind: Literal["ADDED", "MODIFIED", "DELETED"], pod: Manifest) -> None:
        self.version += 1
        pod["metadata"]["resourceVersion"] = str(self.version)
        self._changes.append(
            Change(
                version=self.version,
                type=kind,
                namespace=pod["metadata"]["namespace"],
                labels=dict(pod["metadata"].get("labels", {})),
                object=msgspec.json.encode(pod),
            )
        )
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()
