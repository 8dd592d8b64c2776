from __future__ import annotations

from pathlib import Path

import pytest

from screenloop.actions import Action
from screenloop.errors import ConfigError
from screenloop.models.catalog import FORMS, ModelName, make_model, parse_model
from screenloop.models.client import OpenAIModel
from screenloop.models.oracle import OracleModel
from screenloop.models.scripted import RandomModel
from screenloop.store.blobs import MemoryBlobs


def write(action: Action) -> str:
    return str(action)


@pytest.mark.parametrize(
    ("text", "kind", "rest"),
    [
        ("oracle", "oracle", ""),
        ("random", "random", ""),
        ("scripted:replies.json", "scripted", "replies.json"),
        ("replay:runs/x", "replay", "runs/x"),
        ("openai:org/tiny@http://127.0.0.1:8000/v1", "openai", "org/tiny@http://127.0.0.1:8000/v1"),
        (
            "openai+tokens:tiny@http://127.0.0.1:8000/v1",
            "openai+tokens",
            "tiny@http://127.0.0.1:8000/v1",
        ),
    ],
)
def test_a_name_is_read_by_its_form(text: str, kind: str, rest: str) -> None:
    assert parse_model(text) == ModelName(kind=kind, rest=rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpt",
        "oracle:",
        "oracle:x",
        "random:",
        "scripted",
        "scripted:",
        "replay:",
        "openai",
        "openai:",
        "openai+tokens",
        "openai+:x",
        "Oracle",
        ":oracle",
    ],
)
def test_another_form_is_told_the_valid_ones(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_model(text)
    assert all(form in str(caught.value) for form in FORMS)


@pytest.mark.parametrize("rest", ["tiny", "tiny@", "@http://x/v1", "tiny@ftp://x"])
def test_an_endpoint_needs_a_model_and_an_address(rest: str) -> None:
    with pytest.raises(ConfigError, match="MODEL@BASE_URL"):
        parse_model(f"openai:{rest}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("oracle", OracleModel),
        ("random", RandomModel),
        ("openai:tiny@http://127.0.0.1:9/v1", OpenAIModel),
        ("openai+tokens:tiny@http://127.0.0.1:9/v1", OpenAIModel),
    ],
)
async def test_a_model_is_made_of_its_name(text: str, kind: type) -> None:
    name = parse_model(text)
    model = make_model(name, blobs=MemoryBlobs(), render=write, actions={"tap", "type"})
    assert isinstance(model, kind)
    await model.close()


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    name = parse_model(f"scripted:{tmp_path / 'none.json'}")
    with pytest.raises(ConfigError, match=r"none\.json"):
        make_model(name, blobs=MemoryBlobs(), render=write, actions={"tap"})
