"""Launchers by name, with their settings in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from screenloop.errors import ConfigError
from screenloop.manager.clock import Clock
from screenloop.manager.hosts.base import Launcher
from screenloop.manager.hosts.kubernetes.api import KubernetesApi
from screenloop.manager.hosts.kubernetes.launcher import KubernetesLauncher
from screenloop.manager.hosts.kubernetes.manifests import KubernetesSettings
from screenloop.manager.hosts.ray.launcher import RayLauncher, RaySettings
from screenloop.store.blobs import BlobStore

FORMS = "local, kubernetes:FILE or ray:FILE, where FILE holds the settings as JSON"

S = TypeVar("S")


def open_launcher(name: str, *, local: Launcher, blobs: BlobStore, clock: Clock) -> Launcher:
    """Return a launcher; nothing is started and nobody connected to.

    Args:
        name: in one of `FORMS`.
        local: what `local` stands for.
        blobs: the store that is shared with the hosts.
        clock: of all time-outs.

    Raises:
        ConfigError: the name has another form, or the file does not hold such settings.
    """
    kind, _, file = name.partition(":")
    match kind:
        case "local" if not file:
            return local
        case "kubernetes" if file:
            settings = _settings(Path(file), KubernetesSettings)
            api = KubernetesApi(settings.namespace)
            return KubernetesLauncher(settings, api=api, blobs=blobs, clock=clock)
        case "ray" if file:
            return RayLauncher(_settings(Path(file), RaySettings), blobs=blobs, clock=clock)
        case _:
            raise ConfigError(f"{name!r} names no place for hosts; expected {FORMS}")


def _settings(path: Path, kind: type[S]) -> S:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise ConfigError(f"cannot read the settings of hosts in {path}: {error}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path} does not hold settings of hosts: {error}") from error
