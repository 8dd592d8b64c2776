"""The few calls of the Kubernetes API that we make, with their refusals in our own terms.

Requests go through kubernetes-asyncio, which knows kubeconfigs, service accounts and TLS. Bodies
are read by ourselves, as far as needed: building its objects for each event would cost more than
all the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeVar

import aiohttp
import msgspec

from screenloop.errors import ConfigError, InfraFault
from screenloop.manager.hosts.kubernetes.manifests import Manifest
from screenloop.manager.hosts.kubernetes.pods import ApiStatus, Pod, PodList, WatchEvent

CALL_S = 10.0
"""How long a call may take, besides watches."""
PAGE = 500
"""Pods in one page of a list."""

R = TypeVar("R")


class ApiRefused(InfraFault):
    """Raised when the API says no; what it says is in the fields."""

    def __init__(self, where: str, answer: ApiStatus, *, retry_after_s: float | None) -> None:
        """Take what was asked, the answer, and the seconds it wants us to wait."""
        said = f"{answer.reason}: {answer.message}" if answer.message else answer.reason
        super().__init__(f"the Kubernetes API refused to {where} ({answer.code}): {said}")
        self.status = answer.code
        self.reason = answer.reason
        self.message = answer.message
        self.retry_after_s = retry_after_s


class ApiUnreachable(InfraFault):
    """Raised when no whole answer came; what was asked may yet have been done."""


class KubernetesApi:
    """Calls on the Pods and Secrets of one namespace."""

    def __init__(self, namespace: str, *, url: str = "", token: str = "", page: int = PAGE) -> None:
        """Prepare; connects on first use.

        Args:
            namespace: of the Pods.
            url: of the API server; empty takes the kubeconfig of this user, or the service account
                of the Pod that we run in.
            token: bearer token for `url`.
            page: Pods in one page of a list.
        """
        self.namespace = namespace
        self._url = url
        self._token = token
        self._page = page
        self._client: Any = None
        self._core: Any = None
        self._connecting = asyncio.Lock()

    async def list_pods(self, selector: str, *, page: str = "") -> PodList:
        """Return one page of a list; the first where none is named."""
        core = await self._connected()
        options: dict[str, Any] = {"label_selector": selector, "limit": self._page}
        if page:
            options["_continue"] = page
        where = "list pods"
        data = await self._call(where, core.list_namespaced_pod, self.namespace, **options)
        return _read(data, PodList, where)

    async def watch_pods(
        self, selector: str, version: str, *, watch_s: int
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yield what happens from a version on, until the server ends the watch.

        Raises:
            ApiRefused: the version is too old (410), or another refusal.
            ApiUnreachable: the connection broke.
        """
        core = await self._connected()
        where = "watch pods"
        try:
            response = await core.list_namespaced_pod(
                self.namespace,
                label_selector=selector,
                watch=True,
                resource_version=version,
                allow_watch_bookmarks=True,
                timeout_seconds=watch_s,
                _preload_content=False,
                # A connection that broke without a word is noticed at its end.
                _request_timeout=watch_s + CALL_S,
            )
            async with response:
                _check(response.status, response.headers, await _body_of_refusal(response), where)
                async for line in response.content:
                    if line.endswith(b"\n"):
                        yield _event(line, where)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ApiUnreachable(f"cannot {where}: {type(error).__name__}: {error}") from error

    async def create_pod(self, manifest: Manifest) -> Pod:
        core = await self._connected()
        where = f"create pod {manifest['metadata']['name']}"
        data = await self._call(where, core.create_namespaced_pod, self.namespace, manifest)
        return _read(data, Pod, where)

    async def read_pod(self, name: str) -> Pod:
        core = await self._connected()
        where = f"read pod {name}"
        data = await self._call(where, core.read_namespaced_pod, name, self.namespace)
        return _read(data, Pod, where)

    async def delete_pod(self, name: str, *, grace_s: int, uid: str = "") -> None:
        """Have a Pod ended; 0 seconds of grace strike it off without its node's consent.

        Args:
            name: of the Pod.
            grace_s: what it gets to end by itself.
            uid: where given, another Pod of that name is left alone.
        """
        core = await self._connected()
        options: Manifest = {"gracePeriodSeconds": grace_s, "propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        where = f"delete pod {name}"
        await self._call(where, core.delete_namespaced_pod, name, self.namespace, body=options)

    async def create_secret(self, manifest: Manifest) -> None:
        core = await self._connected()
        where = f"create secret {manifest['metadata']['name']}"
        await self._call(where, core.create_namespaced_secret, self.namespace, manifest)

    async def close(self) -> None:
        client, self._client, self._core = self._client, None, None
        if client is not None:
            await client.close()

    async def _call(
        self, where: str, verb: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any
    ) -> bytes:
        """Return the body of an answer as it came."""
        request = verb(*arguments, **options, _preload_content=False, _request_timeout=CALL_S)
        try:
            async with await request as response:
                data: bytes = await response.read()
                _check(response.status, response.headers, data, where)
                return data
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ApiUnreachable(f"cannot {where}: {type(error).__name__}: {error}") from error

    async def _connected(self) -> Any:
        async with self._connecting:
            if self._core is None:
                try:
                    from kubernetes_asyncio.client import ApiClient, CoreV1Api
                except ImportError as error:
                    raise ConfigError(
                        "hosts in Kubernetes need kubernetes-asyncio: pip install screenloop[k8s]"
                    ) from error
                self._client = ApiClient(configuration=await self._configuration())
                self._core = CoreV1Api(self._client)
            return self._core

    async def _configuration(self) -> Any:
        """Return where the cluster is and how we show who we are.

        Raises:
            ConfigError: neither a kubeconfig nor a service account is there.
        """
        from kubernetes_asyncio import config
        from kubernetes_asyncio.client import Configuration

        made = Configuration(host=self._url or None)
        if self._url:
            if self._token:
                made.api_key = {"BearerToken": f"Bearer {self._token}"}
            return made
        try:
            await config.load_kube_config(client_configuration=made)
        except config.ConfigException as without:
            try:
                config.load_incluster_config(client_configuration=made)
            except config.ConfigException as error:
                raise ConfigError(
                    f"no way to a Kubernetes cluster: no kubeconfig ({without}) and no service "
                    f"account ({error})"
                ) from error
        return made


async def _body_of_refusal(response: Any) -> bytes:
    """Return the body of a refusal; that of a watch that was let in comes line by line."""
    if 200 <= response.status < 300:
        return b""
    data: bytes = await response.read()
    return data


def _check(status: int, headers: Any, data: bytes, where: str) -> None:
    """Make sure that an answer is a good one.

    Raises:
        ApiRefused: it is not.
    """
    if 200 <= status < 300:
        return
    try:
        answer = msgspec.json.decode(data, type=ApiStatus)
    except msgspec.DecodeError:
        # A proxy before the API server, or the server itself in need.
        answer = ApiStatus(reason="", message=data[:200].decode("utf-8", "replace"))
    told = headers.get("Retry-After", "")
    wait_s = float(told) if told.isdecimal() else None
    if wait_s is None and answer.details is not None:
        wait_s = answer.details.retry_after_seconds
    raise ApiRefused(where, msgspec.structs.replace(answer, code=status), retry_after_s=wait_s)


def _event(line: bytes, where: str) -> WatchEvent:
    """Return one line of a watch.

    Raises:
        ApiRefused: it is an error, as for a version that is too old.
    """
    event = _read(line, WatchEvent, where)
    if event.type == "ERROR":
        answer = _read(bytes(event.object), ApiStatus, where)
        raise ApiRefused(where, answer, retry_after_s=None)
    return event


def _read(data: bytes, kind: type[R], where: str) -> R:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise ApiUnreachable(f"cannot {where}: the answer is not what it should be: {error}") from (
            error
        )
