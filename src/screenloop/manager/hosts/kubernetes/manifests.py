"""Kubernetes manifests of hosts, as plain data: one Pod a host, and the Secret with its orders.

The orders hold the host's token, so they lie in a Secret of their own that is mounted as a file.
The Secret names the Pod as its owner: the cluster removes it together with the Pod. Hosts are
reached by the Pod's address; there is no Service, since each host is a party of its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Meta

from screenloop.errors import ConfigError
from screenloop.manager.hosts.base import HostOrders, HostPlan
from screenloop.types import Struct

HOST_LABEL = "screenloop/host"
KIND_LABEL = "screenloop/kind"
OWNER_LABEL = "screenloop/owner"
HOST_ANNOTATION = "screenloop/host-id"
"""Holds the host's id as it is; a label's value may be a shortened form."""
CONTAINER = "host"
ORDERS_FOLDER = "/run/screenloop"
ORDERS_FILE = "orders.json"
HOST_MODULE = "screenloop.manager.hosts.server"

Manifest = dict[str, Any]
Amount = Annotated[int, Meta(ge=1)]
Quantity = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(gt=0.0)]

_LABEL_LETTERS = 63
_DIGEST_LETTERS = 10
_NOT_IN_LABELS = re.compile(r"[^a-z0-9-]+")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class KubernetesSettings(Struct, frozen=True, kw_only=True):
    """How hosts run in a cluster."""

    image: str
    """With this package in it; see `docker.containerfile`."""
    namespace: str = "default"
    owner: str = "screenloop"
    """Whose hosts they are: managers with the same name share them, others leave them alone."""
    port: Annotated[int, Meta(ge=1, le=65535)] = 8700
    orphan_s: Seconds = 300.0
    """How long a host lives on without a manager."""
    grace_s: Amount = 30
    """What a host gets to close its Instances before it is killed."""
    pending_s: Seconds = 300.0
    """How long a Pod may take to be ready before it is given up with the reason."""
    node_loss_s: Quantity = 30
    """How long a Pod stays bound to a node that does not answer."""
    cpu_millis: Amount = 500
    """Processor time that the host itself asks for, in thousandths of a core."""
    cpu_millis_per_instance: Quantity = 0
    memory_mib: Amount = 512
    """Memory of the host itself; together with that of its Instances it is the limit too."""
    memory_mib_per_instance: Quantity = 1
    shm_mib: Amount = 256
    """Shared memory, which browsers need; counts as memory."""
    python: str = "python"
    """The interpreter in the image."""
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    pull_secret: str = ""
    """Secret with which the image is fetched; empty for none."""
    store_secret: str = ""
    """Secret whose keys become environment variables: the blob store's credentials."""
    blob_claim: str = ""
    """Volume claim that a `file://` blob store lies in; many Pods must be able to write to it."""
    node_selector: Mapping[str, str] = {}
    tolerated_taints: tuple[str, ...] = ()
    """Keys of taints of the nodes that hosts may run on all the same."""
    priority_class: str = ""
    run_as_user: Amount = 1000


def pod_name(host: str) -> str:
    """Return the name of a host's Pod: its id where that is a DNS label, else a form of it."""
    if _LABEL.fullmatch(host):
        return host
    return _label(host)


def host_pod(plan: HostPlan, settings: KubernetesSettings) -> Manifest:
    """Return the Pod that runs a host.

    Raises:
        ConfigError: the blob store is a folder that no claim brings into the Pod.
    """
    name = pod_name(plan.host)
    spec: Manifest = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": settings.grace_s,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": settings.run_as_user,
            "fsGroup": settings.run_as_user,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(plan, settings)],
        "volumes": _volumes(plan, settings),
        "tolerations": _tolerations(settings),
    }
    if settings.node_selector:
        spec["nodeSelector"] = dict(settings.node_selector)
    if settings.priority_class:
        spec["priorityClassName"] = settings.priority_class
    if settings.pull_secret:
        spec["imagePullSecrets"] = [{"name": settings.pull_secret}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": settings.namespace,
            "labels": _labels(plan, settings),
            "annotations": {HOST_ANNOTATION: plan.host},
        },
        "spec": spec,
    }


def host_secret(plan: HostPlan, settings: KubernetesSettings, *, pod_uid: str) -> Manifest:
    """Return the Secret that holds a host's orders and goes with its Pod.

    Args:
        plan: the host.
        settings: of the cluster.
        pod_uid: of the Pod, once it was created.
    """
    orders = HostOrders(plan=plan, listen="0.0.0.0", port=settings.port, orphan_s=settings.orphan_s)
    name = pod_name(plan.host)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {
            "name": name,
            "namespace": settings.namespace,
            "labels": _labels(plan, settings),
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod_uid}],
        },
        "data": {ORDERS_FILE: base64.b64encode(msgspec.json.encode(orders)).decode()},
    }


def selector(settings: KubernetesSettings) -> str:
    """Return the label selector that finds the Pods of this owner."""
    return f"{OWNER_LABEL}={_label_value(settings.owner)},{HOST_LABEL}"


def _labels(plan: HostPlan, settings: KubernetesSettings) -> Manifest:
    return {
        "app.kubernetes.io/name": "screenloop-host",
        "app.kubernetes.io/managed-by": "screenloop",
        OWNER_LABEL: _label_value(settings.owner),
        HOST_LABEL: pod_name(plan.host),
        KIND_LABEL: _label_value(plan.kind),
    }


def _label_value(text: str) -> str:
    return text if _LABEL.fullmatch(text) else _label(text)


def _label(text: str) -> str:
    """Return a DNS label for any text; other texts have other labels."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LETTERS]
    words = _NOT_IN_LABELS.sub("-", text.lower()).strip("-")
    words = words[: _LABEL_LETTERS - _DIGEST_LETTERS - 1].strip("-")
    return f"{words}-{digest}" if words else digest


def _container(plan: HostPlan, settings: KubernetesSettings) -> Manifest:
    cpu = settings.cpu_millis + settings.cpu_millis_per_instance * plan.capacity
    memory = (
        settings.memory_mib + settings.shm_mib + settings.memory_mib_per_instance * plan.capacity
    )
    container: Manifest = {
        "name": CONTAINER,
        "image": settings.image,
        "imagePullPolicy": settings.pull_policy,
        "command": [
            settings.python,
            "-m",
            HOST_MODULE,
            "--orders",
            f"{ORDERS_FOLDER}/{ORDERS_FILE}",
        ],
        "env": [{"name": "HOME", "value": "/tmp"}],
        "ports": [{"name": "http", "containerPort": settings.port, "protocol": "TCP"}],
        # The routes want a token; that the port is open says as much, since it is opened last.
        "readinessProbe": {
            "tcpSocket": {"port": settings.port},
            "periodSeconds": 2,
            "timeoutSeconds": 2,
            "failureThreshold": 3,
        },
        # Time of the processor may be had beyond what was asked for; memory may not.
        "resources": {
            "requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
            "limits": {"memory": f"{memory}Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "orders", "mountPath": ORDERS_FOLDER, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "shm", "mountPath": "/dev/shm"},
        ],
    }
    if settings.store_secret:
        container["envFrom"] = [{"secretRef": {"name": settings.store_secret}}]
    if settings.blob_claim:
        container["volumeMounts"].append({"name": "blobs", "mountPath": _blob_folder(plan)})
    return container


def _volumes(plan: HostPlan, settings: KubernetesSettings) -> list[Manifest]:
    volumes: list[Manifest] = [
        {"name": "orders", "secret": {"secretName": pod_name(plan.host), "defaultMode": 0o440}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{settings.shm_mib}Mi"}},
    ]
    if settings.blob_claim:
        claim = {"claimName": settings.blob_claim}
        volumes.append({"name": "blobs", "persistentVolumeClaim": claim})
    elif plan.blobs.startswith("file:"):
        raise ConfigError(
            f"hosts in a cluster cannot reach {plan.blobs}; name an s3:// store, or the volume "
            "claim (blob_claim) that this folder lies in"
        )
    return volumes


def _blob_folder(plan: HostPlan) -> str:
    parts = urlsplit(plan.blobs)
    if parts.scheme != "file":
        raise ConfigError(
            f"a volume claim (blob_claim) is for a file:// store, and the store is {plan.blobs}"
        )
    return unquote(parts.path)


def _tolerations(settings: KubernetesSettings) -> list[Manifest]:
    ours: list[Manifest] = [
        {
            "key": f"node.kubernetes.io/{state}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": settings.node_loss_s,
        }
        for state in ("not-ready", "unreachable")
    ]
    theirs: list[Manifest] = [
        {"key": taint, "operator": "Exists"} for taint in settings.tolerated_taints
    ]
    return ours + theirs
