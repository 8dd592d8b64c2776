"""Manifests of hosts: what they must say, and that the published schema knows every word of it."""

from __future__ import annotations

import base64
import re
from typing import Any

import kubernetes_asyncio.client.models as models
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.errors import ConfigError
from screenloop.manager.hosts.base import HostOrders, HostPlan
from screenloop.manager.hosts.kubernetes.manifests import (
    HOST_ANNOTATION,
    HOST_LABEL,
    KIND_LABEL,
    OWNER_LABEL,
    KubernetesSettings,
    host_pod,
    host_secret,
    pod_name,
    selector,
)

PLAN = HostPlan(
    host="phone-1080x2400-ab12cd34",
    kind="phone",
    capacity=1000,
    blobs="s3://runs/blobs?endpoint=https://store.example",
    token="a-token-of-this-host",
)
FULL = KubernetesSettings(
    image="registry.example/screenloop-host:1",
    namespace="agents",
    owner="team-a",
    store_secret="store-keys",
    pull_secret="pull",
    node_selector={"pool": "hosts"},
    tolerated_taints=("dedicated",),
    priority_class="low",
    memory_mib=512,
    shm_mib=256,
    memory_mib_per_instance=2,
)
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def unknown_to_the_schema(value: Any, kind: str, where: str = "") -> list[str]:
    """Return the parts that the API's published schema does not have, or has as another type."""
    item = re.fullmatch(r"list\[(.+)\]", kind)
    table = re.fullmatch(r"dict\(str, (.+)\)", kind)
    if item:
        return [
            found
            for number, one in enumerate(value)
            for found in unknown_to_the_schema(one, item[1], f"{where}[{number}]")
        ]
    if table:
        return [
            found
            for key, one in value.items()
            for found in unknown_to_the_schema(one, table[1], f"{where}.{key}")
        ]
    plain = {"str": str, "int": int, "bool": bool, "object": object, "float": float}
    if kind in plain:
        return [] if isinstance(value, plain[kind]) else [f"{where}: not a {kind}"]
    model = getattr(models, kind)
    names = {wire: own for own, wire in model.attribute_map.items()}
    found: list[str] = []
    for key, one in value.items():
        if key not in names:
            found.append(f"{where}.{key}: unknown")
        else:
            found += unknown_to_the_schema(one, model.openapi_types[names[key]], f"{where}.{key}")
    return found


@pytest.mark.parametrize("settings", [KubernetesSettings(image="host:1"), FULL])
def test_pod_and_secret_hold_nothing_that_the_published_schema_does_not_know(
    settings: KubernetesSettings,
) -> None:
    assert unknown_to_the_schema(host_pod(PLAN, settings), "V1Pod") == []
    secret = host_secret(PLAN, settings, pod_uid="u1")
    assert unknown_to_the_schema(secret, "V1Secret") == []
    wrong = host_pod(PLAN, settings) | {"spec": {"restart": "Never", "hostNetwork": "yes"}}
    assert len(unknown_to_the_schema(wrong, "V1Pod")) == 2


def test_a_pod_runs_one_host_which_nobody_restarts_and_which_gets_time_to_end() -> None:
    spec = host_pod(PLAN, FULL)["spec"]
    (container,) = spec["containers"]
    assert spec["restartPolicy"] == "Never"
    assert spec["terminationGracePeriodSeconds"] == FULL.grace_s
    assert container["command"][1:3] == ["-m", "screenloop.manager.hosts.server"]
    assert container["readinessProbe"]["tcpSocket"]["port"] == FULL.port
    assert container["resources"]["limits"] == {"memory": "2768Mi"}
    assert container["envFrom"] == [{"secretRef": {"name": "store-keys"}}]
    assert spec["nodeSelector"] == {"pool": "hosts"}
    assert {one["key"] for one in spec["tolerations"]} >= {"dedicated"}


def test_a_pod_has_no_rights_that_a_host_does_not_need() -> None:
    spec = host_pod(PLAN, FULL)["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    own = spec["containers"][0]["securityContext"]
    assert own["allowPrivilegeEscalation"] is False
    assert own["capabilities"] == {"drop": ["ALL"]}


def test_the_token_is_in_the_secret_alone_which_goes_with_its_pod() -> None:
    pod = host_pod(PLAN, FULL)
    assert PLAN.token not in msgspec.json.encode(pod).decode()
    secret = host_secret(PLAN, FULL, pod_uid="u1")
    (owner,) = secret["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Pod", pod["metadata"]["name"], "u1")
    volume = next(one for one in pod["spec"]["volumes"] if "secret" in one)
    assert volume["secret"]["secretName"] == secret["metadata"]["name"]
    (data,) = secret["data"].values()
    orders = msgspec.json.decode(base64.b64decode(data), type=HostOrders)
    assert orders.plan == PLAN
    assert (orders.listen, orders.port) == ("0.0.0.0", FULL.port)


def test_labels_find_the_pods_of_one_owner() -> None:
    labels = host_pod(PLAN, FULL)["metadata"]["labels"]
    assert (labels[HOST_LABEL], labels[KIND_LABEL], labels[OWNER_LABEL]) == (
        PLAN.host,
        "phone",
        "team-a",
    )
    assert selector(FULL) == f"{OWNER_LABEL}=team-a,{HOST_LABEL}"


def test_a_folder_of_blobs_needs_a_volume_that_it_lies_in() -> None:
    plan = msgspec.structs.replace(PLAN, blobs="file:///data/blobs")
    with pytest.raises(ConfigError, match="blob_claim"):
        host_pod(plan, FULL)
    claimed = msgspec.structs.replace(FULL, blob_claim="runs")
    (container,) = host_pod(plan, claimed)["spec"]["containers"]
    assert {"name": "blobs", "mountPath": "/data/blobs"} in container["volumeMounts"]
    with pytest.raises(ConfigError, match="file://"):
        host_pod(PLAN, claimed)


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_any_host_and_kind_has_names_that_the_api_takes(host: str, kind: str) -> None:
    plan = msgspec.structs.replace(PLAN, host=host, kind=kind)
    meta = host_pod(plan, FULL)["metadata"]
    assert DNS_LABEL.fullmatch(meta["name"])
    assert all(LABEL_VALUE.fullmatch(one) for one in meta["labels"].values())
    assert meta["annotations"][HOST_ANNOTATION] == host


@given(st.sets(st.text(alphabet="aA-_.1", min_size=1, max_size=8), max_size=8))
def test_different_hosts_have_different_names(hosts: set[str]) -> None:
    assert len({pod_name(host) for host in hosts}) == len(hosts)
