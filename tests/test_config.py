from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from screenloop.config import (
    HarnessConfig,
    ImageRule,
    RetryPolicy,
    RunConfig,
    Window,
    config_hash,
    harness_hash,
    plain,
)
from screenloop.messages import Sampling
from screenloop.types import Budget

CONFIG = RunConfig(
    harness=HarnessConfig(
        suite="phone-core", suite_version="1", tasks=("phone-core/save_contact@1#0",)
    ),
    model="oracle",
)

OF_THE_HARNESS: dict[str, Any] = {
    "suite": "miniwob",
    "suite_version": "2",
    "tasks": ("phone-core/save_contact@1#1",),
    "repeats": 2,
    "seed": 1,
    "mode": "hybrid",
    "budget": Budget(steps=5),
    "window": Window(steps=8),
    "image": ImageRule(factor_px=28),
    "retry": RetryPolicy(attempts=2),
    "package_version": "99.0",
}
OF_THE_RUN: dict[str, Any] = {
    "model": "random",
    "dialect": "qwen3vl",
    "agent": "mine:Agent",
    "agent_hash": "0123456789abcdef",
    "prompt_hash": "abc",
    "sampling": Sampling(temperature=1.0),
    "outside": ("kitchen.suite:Kitchen=0123456789abcdef",),
}


def test_every_field_is_tried() -> None:
    assert set(OF_THE_HARNESS) == set(HarnessConfig.__struct_fields__)
    assert {"harness", *OF_THE_RUN} == set(RunConfig.__struct_fields__)


@pytest.mark.parametrize("field", OF_THE_HARNESS)
def test_what_the_loop_does_changes_both_hashes(field: str) -> None:
    changed = replace(CONFIG, harness=replace(CONFIG.harness, **{field: OF_THE_HARNESS[field]}))
    assert harness_hash(changed) != harness_hash(CONFIG)
    assert config_hash(changed) != config_hash(CONFIG)


@pytest.mark.parametrize("field", OF_THE_RUN)
def test_what_plays_changes_the_config_hash_only(field: str) -> None:
    changed = replace(CONFIG, **{field: OF_THE_RUN[field]})
    assert harness_hash(changed) == harness_hash(CONFIG)
    assert config_hash(changed) != config_hash(CONFIG)


def test_hashes_are_sixteen_hex_digits_and_stable() -> None:
    again = msgspec.json.decode(msgspec.json.encode(CONFIG), type=RunConfig)
    assert config_hash(again) == config_hash(CONFIG)
    assert harness_hash(again) == harness_hash(CONFIG)
    for found in (config_hash(CONFIG), harness_hash(CONFIG)):
        assert len(found) == 16
        int(found, 16)


def test_a_hash_covers_fields_that_stand_at_their_default() -> None:
    facts = plain(CONFIG)
    assert facts["harness"]["package_version"] == CONFIG.harness.package_version
    assert facts["harness"]["window"] == {"steps": 10, "overlap": 2}
    assert facts["sampling"]["temperature"] == 0.0


@pytest.mark.parametrize(("steps", "overlap"), [(2, 2), (1, 1), (3, 4)])
def test_a_window_needs_a_new_step(steps: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="must be smaller than"):
        Window(steps=steps, overlap=overlap)


@pytest.mark.parametrize(("steps", "overlap"), [(3, -1), (0, -1)])
def test_a_window_of_negative_numbers_is_none(steps: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="at least 1 step"):
        Window(steps=steps, overlap=overlap)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Window, {"steps": 0}),
        (Window, {"overlap": -1}),
        (ImageRule, {"quality": 0}),
        (ImageRule, {"factor_px": 0}),
        (RetryPolicy, {"attempts": 0}),
        (RetryPolicy, {"loop_repeats": 1}),
        (Window, {"stpes": 3}),
    ],
)
def test_a_file_with_a_bad_value_is_refused(kind: type, data: dict[str, int]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(data, kind)
