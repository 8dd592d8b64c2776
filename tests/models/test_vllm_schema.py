"""The client against vLLM's chat completions.

The bodies are written by hand from vLLM's documented request and response models (protocol of the
OpenAI-compatible server, `return_token_ids`, `--enable-prompt-tokens-details`), not recorded from
a running server. Field names and their places are vLLM's; the values are made up.
"""

import pytest
from documented_server import REQUEST, answering

from screenloop.errors import AgentError, ModelUnavailable


def completion(**choice):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "policy",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "tap",
                    "refusal": None,
                    "annotations": None,
                    "audio": None,
                    "function_call": None,
                    "reasoning": None,
                },
                "logprobs": {
                    "content": [
                        {
                            "token": "tap",
                            "logprob": -0.25,
                            "bytes": [116, 97, 112],
                            "top_logprobs": [],
                        },
                        {
                            "token": "<|im_end|>",
                            "logprob": -9999.0,
                            "bytes": None,
                            "top_logprobs": [],
                        },
                    ]
                },
                "finish_reason": "stop",
                "stop_reason": None,
                "token_ids": [11, 12],
                "routed_experts": None,
                **choice,
            }
        ],
        "service_tier": None,
        "system_fingerprint": None,
        "usage": {
            "prompt_tokens": 5,
            "total_tokens": 7,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 3},
        },
        "prompt_logprobs": None,
        "prompt_token_ids": [1, 2, 3, 4, 5],
        "prompt_text": None,
        "kv_transfer_params": None,
        "metrics": None,
    }


async def test_every_token_fact_is_read():
    async with answering(completion()) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert (reply.text, reply.finish_reason) == ("tap", "stop")
    assert reply.prompt_token_ids == (1, 2, 3, 4, 5)
    assert reply.token_ids == (11, 12)
    assert reply.logprobs == (-0.25, -9999.0)
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.completion) == (5, 3, 2)
    assert reply.weights_version is None


async def test_without_prompt_token_details_the_cache_stays_unknown():
    body = completion()
    body["usage"]["prompt_tokens_details"] = None
    async with answering(body) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert reply.usage.cached is None
    assert reply.usage.prompt == 5


async def test_token_facts_are_asked_for_in_vllms_words():
    async with answering(completion()) as (model, asked):
        await model.complete(REQUEST, deadline_s=60)
    ((body, _),) = asked
    assert body["return_token_ids"] is True
    assert body["logprobs"] is True
    known = {
        "model",
        "messages",
        "temperature",
        "top_p",
        "top_k",
        "max_tokens",
        "seed",
        "stop",
        "logprobs",
        "return_token_ids",
    }
    assert set(body) <= known
    assert (body["top_k"], body["seed"], body["stop"]) == (20, 3, ["END"])


async def test_calls_of_the_servers_tool_parser_become_text():
    call = {
        "id": "chatcmpl-tool-1",
        "type": "function",
        "function": {"name": "notes.add", "arguments": '{"text": "x"}'},
    }
    said = {"role": "assistant", "content": None, "tool_calls": [call], "reasoning": None}
    async with answering(completion(message=said, finish_reason="tool_calls")) as (model, _):
        reply = await model.complete(REQUEST, deadline_s=60)
    assert reply.text == (
        '<tool_call>\n{"name":"notes.add","arguments":{"text":"x"}}\n</tool_call>'
    )
    assert reply.token_ids == (11, 12)


async def test_ids_that_do_not_belong_to_the_log_probs_are_refused():
    async with answering(completion(token_ids=[11])) as (model, _):
        with pytest.raises(ModelUnavailable, match="1 token ids came with 2 log-probs"):
            await model.complete(REQUEST, deadline_s=10)


def error(message):
    return {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}


async def test_a_prompt_beyond_the_context_is_the_agents_failure():
    said = error(
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."
    )
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
        "owned_by": "vllm",
        "root": "p",
        "parent": None,
        "max_model_len": 4096,
        "permission": [],
    }
    listing = {"object": "list", "data": [entry]}
    async with answering(completion(), models=listing) as (model, asked):
        await model.preflight()
    assert asked == []
