from itertools import pairwise

import pytest
from msgspec.structs import replace
from train_parts import IMAGE, call_records, prompts, synthetic_calls

from screenloop.config import Window
from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.train.data.records import call_tokens, expand_prompts, require_consistent
from screenloop.train.data.samples import window_samples


def test_records_of_the_harness_become_deltas_that_expand_to_the_same_prompts():
    window = Window(steps=4, overlap=1)
    calls = call_tokens(call_records(11, window))
    seen = expand_prompts(calls)
    assert [seen[f"e/c{i}"] for i in range(11)] == [ids for ids, _, _ in prompts(11, window)]
    assert [call.prefix_call_id is None for call in calls] == [
        i in (0, 4, 7, 10) for i in range(11)
    ]
    for before, call in pairwise(calls):
        if call.prefix_call_id is not None:
            assert call.prefix_length == len(seen[before.call_id]) + len(before.reply_ids)
    assert {call.weights_version for call in calls} == {3}


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        ({"token_ids": None}, "no reply ids"),
        ({"prompt_token_ids": None}, "no prompt ids"),
        ({"logprobs": None}, "no log-probabilities"),
        ({"weights_version": None}, "no weights version"),
    ],
)
def test_records_without_token_facts_are_refused_and_the_error_says_what_to_use(missing, says):
    with pytest.raises(ConfigError, match=rf"e/c0 of model 'toy' has {says}.*serve-model"):
        call_tokens(call_records(2, **missing))


def test_a_weights_version_that_is_no_number_is_refused():
    with pytest.raises(ConfigError, match="weights version 'latest'"):
        call_tokens(call_records(1, weights_version="latest"))


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.0),
        Sampling(temperature=1.0, top_p=0.9),
        Sampling(temperature=1.0, top_k=5),
    ],
)
def test_records_whose_distribution_cannot_be_recomputed_are_refused(sampling):
    with pytest.raises(ConfigError, match="without top_p and top_k"):
        call_tokens(call_records(1, sampling=sampling))


def test_a_missing_parent_is_an_incomplete_file():
    with pytest.raises(ConfigError, match="incomplete"):
        expand_prompts(synthetic_calls(3)[1:])


def _checked(call, prompt, **changes):
    require_consistent(replace(call, **changes), prompt, placeholder_id=IMAGE)


def test_what_training_would_get_wrong_is_refused():
    call = synthetic_calls(1)[0]
    prompt = expand_prompts([call])["e/c0"]
    picture = call.images[0]
    _checked(call, prompt)
    with pytest.raises(ConfigError, match="3 reply ids but 1 log-probabilities"):
        _checked(call, prompt, log_probs=(-1.0,))
    with pytest.raises(ConfigError, match="not a number at or below 0"):
        _checked(call, prompt, log_probs=(-1.0, float("nan"), -1.0))
    with pytest.raises(ConfigError, match="sampled the banned id"):
        _checked(call, prompt, banned_ids=(call.reply_ids[0],))
    with pytest.raises(ConfigError, match=r"grid \(1, 4, 4\) makes 4"):
        _checked(call, prompt, images=(replace(picture, grid_thw=(1, 4, 4)),))
    with pytest.raises(ConfigError, match="out of order"):
        _checked(call, prompt, images=(picture, picture))
    with pytest.raises(ConfigError, match="2 placeholder tokens where its pictures account for 0"):
        _checked(call, prompt, images=())
    with pytest.raises(ConfigError, match="an image was cut or its token was sampled"):
        _checked(call, prompt[:-4], images=())
    with pytest.raises(ConfigError, match="ban it"):
        _checked(call, prompt, reply_ids=(IMAGE, 4, 4))


def test_calls_with_one_id_are_refused():
    call = synthetic_calls(1)[0]
    with pytest.raises(ConfigError, match="trained twice"):
        window_samples("e", [call, call])
