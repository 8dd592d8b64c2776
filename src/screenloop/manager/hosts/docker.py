"""Hosts as containers of a Docker engine, as plain data: the image, a command, a compose document.

Nothing here talks to an engine, and none was at hand to try it with. Hosts that run this way are
known to a manager by address, as attached ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from msgspec import Meta

from screenloop.manager.hosts.base import HostOrders, HostPlan
from screenloop.manager.hosts.kubernetes.manifests import HOST_MODULE, ORDERS_FILE, ORDERS_FOLDER
from screenloop.types import Struct

ORDERS_PATH = f"{ORDERS_FOLDER}/{ORDERS_FILE}"
_USER_ID = 1000

Amount = Annotated[int, Meta(ge=1)]


class DockerSettings(Struct, frozen=True, kw_only=True):
    """How a host's container runs."""

    image: str
    port: Annotated[int, Meta(ge=1, le=65535)] = 8700
    """Inside the container."""
    publish: str = "127.0.0.1"
    """Address of this machine under which the port is reached; the number is drawn by Docker."""
    orphan_s: float = 0.0
    """How long a host lives on without a manager; for ever, since it is not a manager's to end."""
    grace_s: Amount = 30
    cpus: Annotated[float, Meta(gt=0.0)] = 1.0
    memory_mib: Amount = 1024
    shm_mib: Amount = 256
    """Shared memory, which browsers need."""
    environment: Mapping[str, str] = {}
    """Variables that are passed on by name from whoever runs Docker, and their values where they
    are no secret; an empty value passes the name alone."""


def containerfile(*, extras: Sequence[str] = ("s3",), browser: bool = False) -> str:
    """Return the file that builds the image of hosts, for Docker and Kubernetes alike.

    Args:
        extras: of the package.
        browser: whether web pages are to be run; adds Chromium and fonts.
    """
    package = f"screenloop[{','.join(extras)}]" if extras else "screenloop"
    lines = ["FROM docker.io/library/python:3.11-slim"]
    if browser:
        lines += [
            "RUN apt-get update \\",
            "    && apt-get install -y --no-install-recommends \\",
            "       chromium-headless-shell fonts-dejavu-core fonts-noto-cjk \\",
            "    && rm -rf /var/lib/apt/lists/*",
        ]
    lines += [
        f'RUN pip install --no-cache-dir "{package}" \\',
        f"    && useradd --uid {_USER_ID} --create-home host",
        f"USER {_USER_ID}",
        "ENV PYTHONUNBUFFERED=1",
        f'ENTRYPOINT ["python", "-m", "{HOST_MODULE}", "--orders", "{ORDERS_PATH}"]',
    ]
    return "\n".join(lines) + "\n"


def docker_orders(plan: HostPlan, settings: DockerSettings) -> HostOrders:
    """Return the orders to write into the file that the container is given."""
    return HostOrders(plan=plan, listen="0.0.0.0", port=settings.port, orphan_s=settings.orphan_s)


def docker_run_arguments(
    plan: HostPlan, settings: DockerSettings, *, orders_file: PurePosixPath
) -> tuple[str, ...]:
    """Return the command that runs a host in a container.

    Args:
        plan: the host.
        settings: how it runs.
        orders_file: with `docker_orders` in it; the token is in that file and in no argument.
    """
    memory = f"{settings.memory_mib}m"
    options = (
        ("--detach",),
        ("--name", plan.host),
        ("--label", f"screenloop.host={plan.host}"),
        ("--label", f"screenloop.kind={plan.kind}"),
        ("--restart", "no"),
        ("--stop-timeout", str(settings.grace_s)),
        ("--init",),
        ("--read-only",),
        ("--tmpfs", "/tmp"),
        ("--cap-drop", "ALL"),
        ("--security-opt", "no-new-privileges"),
        ("--user", str(_USER_ID)),
        ("--cpus", f"{settings.cpus:g}"),
        ("--memory", memory),
        ("--memory-swap", memory),
        ("--shm-size", f"{settings.shm_mib}m"),
        ("--publish", f"{settings.publish}::{settings.port}"),
        ("--mount", f"type=bind,src={orders_file},dst={ORDERS_PATH},readonly"),
    )
    arguments = ["docker", "run", *itertools.chain.from_iterable(options)]
    folder = _blob_folder(plan)
    if folder:
        arguments += ["--mount", f"type=bind,src={folder},dst={folder}"]
    for name, value in settings.environment.items():
        arguments += ["--env", f"{name}={value}" if value else name]
    return (*arguments, settings.image)


def compose(
    plans: Sequence[HostPlan], settings: DockerSettings, *, orders_folder: PurePosixPath
) -> dict[str, Any]:
    """Return a compose document of several hosts.

    Args:
        plans: the hosts.
        settings: how each runs.
        orders_folder: with a file `<host>.json` of `docker_orders` for each.
    """
    return {
        "name": "screenloop",
        "services": {plan.host: _service(plan, settings) for plan in plans},
        "secrets": {
            plan.host: {"file": str(orders_folder / f"{plan.host}.json")} for plan in plans
        },
    }


def _service(plan: HostPlan, settings: DockerSettings) -> dict[str, Any]:
    folder = _blob_folder(plan)
    return {
        "image": settings.image,
        "labels": {"screenloop.host": plan.host, "screenloop.kind": plan.kind},
        "restart": "no",
        "init": True,
        "stop_grace_period": f"{settings.grace_s}s",
        "read_only": True,
        "tmpfs": ["/tmp"],
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "user": str(_USER_ID),
        "cpus": settings.cpus,
        "mem_limit": f"{settings.memory_mib}m",
        "shm_size": f"{settings.shm_mib}m",
        "ports": [f"{settings.publish}::{settings.port}"],
        "secrets": [{"source": plan.host, "target": ORDERS_PATH}],
        "volumes": [{"type": "bind", "source": folder, "target": folder}] if folder else [],
        "environment": {name: value or None for name, value in settings.environment.items()},
    }


def _blob_folder(plan: HostPlan) -> str:
    """Return the folder of the blob store, which container and machine share; empty for S3."""
    parts = urlsplit(plan.blobs)
    return unquote(parts.path) if parts.scheme == "file" else ""
