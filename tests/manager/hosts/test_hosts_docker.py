"""Hosts in containers: what the command, the compose document and the image's file must say."""

from __future__ import annotations

import itertools
from pathlib import PurePosixPath

import msgspec
import pytest

from screenloop.manager.hosts.base import HostPlan
from screenloop.manager.hosts.docker import (
    ORDERS_PATH,
    DockerSettings,
    compose,
    containerfile,
    docker_orders,
    docker_run_arguments,
)

PLAN = HostPlan(
    host="phone-1080x2400-ab12",
    kind="phone",
    capacity=100,
    blobs="file:///data/blobs",
    token="a-token-of-this-host",
)
SETTINGS = DockerSettings(image="host:1", environment={"AWS_SECRET_ACCESS_KEY": "", "TZ": "UTC"})
ORDERS = PurePosixPath("/etc/hosts.d/ab12.json")


def options(arguments: tuple[str, ...]) -> set[tuple[str, str]]:
    return set(itertools.pairwise(arguments))


def test_the_command_runs_one_host_with_its_orders_as_a_file_and_no_secret_in_sight() -> None:
    arguments = docker_run_arguments(PLAN, SETTINGS, orders_file=ORDERS)
    assert arguments[:2] == ("docker", "run")
    assert arguments[-1] == "host:1"
    assert PLAN.token not in " ".join(arguments)
    assert {
        ("--name", PLAN.host),
        ("--mount", f"type=bind,src={ORDERS},dst={ORDERS_PATH},readonly"),
        ("--mount", "type=bind,src=/data/blobs,dst=/data/blobs"),
        ("--publish", "127.0.0.1::8700"),
        ("--cap-drop", "ALL"),
        ("--restart", "no"),
        ("--env", "AWS_SECRET_ACCESS_KEY"),
        ("--env", "TZ=UTC"),
    } <= options(arguments)
    orders = docker_orders(PLAN, SETTINGS)
    assert orders.plan == PLAN
    assert orders.listen == "0.0.0.0"


def test_an_object_store_needs_no_folder_in_the_container() -> None:
    plan = msgspec.structs.replace(PLAN, blobs="s3://runs/blobs")
    arguments = docker_run_arguments(plan, SETTINGS, orders_file=ORDERS)
    assert arguments.count("--mount") == 1


def test_a_compose_document_has_a_service_and_a_secret_for_each_host() -> None:
    plans = [msgspec.structs.replace(PLAN, host=f"phone-{number}") for number in range(3)]
    document = compose(plans, SETTINGS, orders_folder=PurePosixPath("/etc/hosts.d"))
    assert set(document["services"]) == set(document["secrets"]) == {one.host for one in plans}
    assert document["secrets"]["phone-1"] == {"file": "/etc/hosts.d/phone-1.json"}
    service = document["services"]["phone-1"]
    assert service["secrets"] == [{"source": "phone-1", "target": ORDERS_PATH}]
    assert service["environment"] == {"AWS_SECRET_ACCESS_KEY": None, "TZ": "UTC"}
    assert PLAN.token not in msgspec.json.encode(document).decode()


@pytest.mark.parametrize("browser", [False, True])
def test_the_image_starts_the_host_server_as_a_user_without_rights(browser: bool) -> None:
    lines = containerfile(browser=browser).splitlines()
    assert lines[0].startswith("FROM ")
    assert any(line.startswith("USER ") and line != "USER root" for line in lines)
    (entry,) = [line for line in lines if line.startswith("ENTRYPOINT ")]
    command = msgspec.json.decode(entry.removeprefix("ENTRYPOINT "), type=list[str])
    assert command[-2:] == ["--orders", ORDERS_PATH]
    assert any("chromium" in line for line in lines) == browser
