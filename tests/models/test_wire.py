import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.models.wire import WireFault, read_models, read_reply


def body(choice: dict[str, object], **more: object) -> bytes:
    return json.dumps({"choices": [choice], **more}).encode()


def test_vllm_style_token_facts_are_read():
    reply = read_reply(
        body(
            {
                "message": {"content": "hi", "reasoning_content": "hm"},
                "finish_reason": "length",
                "token_ids": [5, 6],
                "logprobs": {"content": [{"token": "h", "logprob": -0.5}, {"logprob": -1}]},
            },
            prompt_token_ids=[1, 2, 3],
            usage={
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 2},
            },
            weights_version=7,
        )
    )
    assert reply.text == "hi"
    assert reply.finish_reason == "length"
    assert reply.token_ids == (5, 6)
    assert reply.logprobs == (-0.5, -1.0)
    assert reply.prompt_token_ids == (1, 2, 3)
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.completion) == (3, 2, 2)
    assert reply.weights_version == "7"


def test_llama_cpp_style_token_facts_are_read():
    reply = read_reply(
        body(
            {
                "message": {"content": "hi"},
                "logprobs": {"content": [{"id": 9, "token": "hi", "logprob": -0.1}]},
            },
            timings={"cache_n": 516, "prompt_n": 1},
            usage={"prompt_tokens": 517, "completion_tokens": 1},
        )
    )
    assert reply.token_ids == (9,)
    assert reply.usage.cached == 516


def test_facts_that_the_server_does_not_give_stay_unknown():
    reply = read_reply(body({"message": {"content": "hi"}}, usage=None))
    assert reply.token_ids is None
    assert reply.logprobs is None
    assert reply.usage.prompt is None
    assert reply.usage.cached is None


def test_thinking_without_content_is_an_empty_reply():
    reply = read_reply(body({"message": {"content": None, "reasoning_content": "tap it"}}))
    assert reply.text == ""


def test_bytes_inside_the_content_that_are_not_utf8_come_through_replaced():
    reply = read_reply(b'{"choices": [{"message": {"content": "a\xff\xfeb"}}]}')
    assert reply.text == "a\ufffd\ufffdb"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"cut in an emoji \ud83d", "cut in an emoji \ufffd"),
        (r"\ude00\uD83D!", "\ufffd\ufffd!"),
        (r"whole \ud83d\ude00", "whole \U0001f600"),
        (r"a path \\ud83d", r"a path \ud83d"),
    ],
)
def test_escapes_of_half_a_character_come_through_replaced(written: str, read: str):
    data = b'{"choices": [{"message": {"content": "%s"}}]}' % written.encode()
    assert read_reply(data).text == read


def test_a_body_nested_beyond_reason_is_a_fault():
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(WireFault, match="no chat completion"):
        read_reply(b'{"choices": [{"message": {"content": ' + deep + b"}}]}")
    with pytest.raises(WireFault, match="no model list"):
        read_models(b'{"data": [{"id": "m", "more": ' + deep + b"}]}")


def test_tool_arguments_nested_beyond_reason_stay_as_the_model_wrote_them():
    call = {"function": {"name": "tap", "arguments": "[" * 100_000}}
    assert "[" * 100_000 in read_reply(body({"message": {"tool_calls": [call]}})).text


@pytest.mark.parametrize("count", [-1, 10**30])
def test_counts_and_ids_that_cannot_be_are_a_fault(count: int):
    with pytest.raises(WireFault, match="prompt_tokens"):
        read_reply(body({"message": {}}, usage={"prompt_tokens": count}))
    with pytest.raises(WireFault, match="token_ids"):
        read_reply(body({"message": {}, "token_ids": [count]}))


def test_token_ids_and_logprobs_of_unequal_length_are_a_fault():
    choice = {"message": {}, "token_ids": [1, 2], "logprobs": {"content": [{"logprob": -1}]}}
    with pytest.raises(WireFault, match="2 token ids came with 1 log-probs"):
        read_reply(body(choice))


@given(st.binary())
def test_any_body_is_a_reply_or_a_fault(data: bytes):
    for read in (read_reply, read_models):
        try:
            read(data)
        except WireFault:
            continue


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {
            "message": st.fixed_dictionaries(
                {}, optional={"content": json_values, "tool_calls": json_values}
            )
        },
        optional={"finish_reason": json_values, "logprobs": json_values, "token_ids": json_values},
    ),
    json_values,
)
def test_any_choice_is_a_reply_or_a_fault(choice: dict[str, object], usage: object):
    try:
        reply = read_reply(body(choice, usage=usage))
    except WireFault:
        return
    assert isinstance(reply.text, str)
