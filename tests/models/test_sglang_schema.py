"""The client against SGLang's OpenAI-compatible chat completions.

The bodies are written by hand from SGLang's documented protocol (`return_token_ids` gives
`prompt_token_ids` and `token_ids` in each choice; `--enable-cache-report` gives cached tokens),
not recorded from a running server. Field names and their places are SGLang's; the values are made
up.
"""

import pytest
from documented_server import REQUEST, answering

from screenloop.errors import AgentError, ModelUnavailable


def completion(**choice):
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "policy",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "tap",
                    "reasoning_content": None,
                    "tool_calls": None,
                },
                "logprobs": {
                    "content": [
                        {
                            "token": "tap",
                            "bytes": [116, 97, 112],
                            "logprob": -0.25,
                            "top_logprobs": [],
                        },
                        {"token": "<|im_end|>", "bytes": [60], "logprob": -0.5, "top_logprobs": []},
                    ]
                },
                "finish_reason": "stop",
                "matched_stop": 12,
                "prompt_token_ids": [1, 2, 3, 4, 5],
                "token_ids": [11, 12],
                **choice,
            }
        ],
        "usage": {
            "prompt_tokens": 5,
            "total_tokens": 7,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 3},
            "reasoning_tokens": 0,
        },
        "metadata": {"weight_version": "step-4"},
    }


async def test_reply_ids_log_probs_and_cached_tokens_are_read():
    async with answering(completion()) as (model, asked):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert (reply.text, reply.finish_reason) == ("tap", "stop")
    assert reply.token_ids == (11, 12)
    assert reply.logprobs == (-0.25, -0.5)
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.completion) == (5, 3, 2)
    ((body, _),) = asked
    assert body["return_token_ids"] is True
    assert "stream" not in body


async def test_prompt_ids_are_read_from_the_choice():
    async with answering(completion()) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert reply.prompt_token_ids == (1, 2, 3, 4, 5)


async def test_the_weights_version_is_read_from_the_metadata():
    async with answering(completion()) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert reply.weights_version == "step-4"


async def test_without_a_cache_report_the_cache_stays_unknown():
    body = completion()
    body["usage"]["prompt_tokens_details"] = None
    async with answering(body) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert reply.usage.cached is None


async def test_a_server_of_an_older_version_gives_no_ids_and_none_are_made_up():
    body = completion()
    for name in ("prompt_token_ids", "token_ids"):
        del body["choices"][0][name]
    async with answering(body) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert (reply.prompt_token_ids, reply.token_ids) == (None, None)
    assert reply.logprobs == (-0.25, -0.5)


async def test_an_aborted_call_says_so():
    async with answering(completion(finish_reason="abort")) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert reply.finish_reason == "abort"


def error(message, code=400):
    return {
        "object": "error",
        "message": message,
        "type": "BadRequestError",
        "param": None,
        "code": code,
    }


async def test_a_prompt_beyond_the_context_is_the_agents_failure():
    said = error("Requested token count exceeds the model's maximum context length of 4096 tokens.")
    async with answering(said, status=400) as (model, _):
        with pytest.raises(AgentError, match="does not fit the model's context"):
            await model.complete(REQUEST, deadline_s=10)


async def test_another_refusal_is_the_servers():
    async with answering(error("top_p must be in (0, 1]"), status=400) as (model, _):
        with pytest.raises(ModelUnavailable, match="top_p must be"):
            await model.complete(REQUEST, deadline_s=10)


async def test_its_model_list_is_enough_for_preflight():
    entry = {
        "id": "policy",
        "object": "model",
        "created": 1,
        "owned_by": "sglang",
        "root": "p",
        "parent": None,
        "max_model_len": 4096,
    }
    listing = {"object": "list", "data": [entry]}
    async with answering(completion(), models=listing) as (model, asked):
        await model.preflight()
    assert asked == []
