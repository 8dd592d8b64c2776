import math
from dataclasses import replace

import pytest
import torch
from engine_parts import WORDS, pixel_policy, text_policy
from torch import nn
from torch.nn.functional import cross_entropy

from screenloop.engine.policy import POLICY_FILE, load_policy, make_policy
from screenloop.engine.tiny import EMBEDDING_STD, LINEAR_GAIN, tiny_pixels, tiny_text
from screenloop.engine.tokenizer import TinyWords, frequent_words, tiny_tokenizer, tokenizer_hash
from screenloop.errors import ConfigError


@pytest.mark.parametrize("policy", [text_policy, pixel_policy])
def test_weights_begin_wide_enough_to_learn(policy):
    for module in policy().model.modules():
        if isinstance(module, nn.Linear | nn.Conv3d):
            fan_in = math.prod(module.weight.shape[1:])
            assert module.weight.std().item() * math.sqrt(fan_in) == pytest.approx(
                LINEAR_GAIN, rel=0.1
            )
        elif isinstance(module, nn.Embedding):
            assert module.weight.std().item() == pytest.approx(EMBEDDING_STD, rel=0.1)


def test_sizes_are_a_few_hundred_thousand_parameters():
    assert 100_000 < text_policy().card().parameters < 350_000
    assert 500_000 < pixel_policy().card().parameters < 700_000


def test_the_seed_alone_decides_the_weights_and_no_global_state_moves():
    before = torch.get_rng_state()
    one, two, other = tiny_text(WORDS, seed=5), tiny_text(WORDS, seed=5), tiny_text(WORDS, seed=6)
    assert torch.equal(torch.get_rng_state(), before)
    weights = [p.model.lm_head.weight for p in (one, two, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_tiny_model_learns_to_copy_a_mark_within_seconds():
    tokenizer = tiny_tokenizer(WORDS)
    names, marks = [
        tokenizer.encode(t, add_special_tokens=False) for t in ("red green blue", "<e0> <e1> <e2>")
    ]
    policy = tiny_text(WORDS, seed=0)
    policy.model.train()
    source = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(policy.model.parameters(), lr=3e-3)

    def batch(size):
        rows, answers = [], []
        for _ in range(size):
            order = torch.randperm(3, generator=source).tolist()
            asked = int(torch.randint(3, (1,), generator=source))
            row = [t for name, mark in zip(order, marks, strict=True) for t in (names[name], mark)]
            rows.append([*row, names[order[asked]]])
            answers.append(marks[asked])
        return torch.tensor(rows), torch.tensor(answers)

    for _ in range(120):
        ids, answers = batch(32)
        loss = cross_entropy(policy.model(input_ids=ids).logits[:, -1], answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids, answers = batch(200)
    right = policy.model(input_ids=ids).logits[:, -1].argmax(-1) == answers
    assert right.float().mean().item() > 0.9


def test_known_words_and_places_are_one_token_and_the_rest_falls_apart():
    tokenizer = tiny_tokenizer(WORDS)

    def tokens(text):
        return tokenizer.convert_ids_to_tokens(tokenizer.encode(text, add_special_tokens=False))

    assert tokens("Open the Alarm, <e3> <x20><y40> <q1>") == [
        "open",
        "the",
        "alarm",
        ",",
        "<e3>",
        "<x20>",
        "<y40>",
        "<q1>",
    ]
    assert tokens("zoo") == ["z", "##o", "##o"]
    assert tokens("日") == ["<|unk|>"]


def test_equal_words_give_equal_hashes_and_others_do_not():
    assert tokenizer_hash(tiny_tokenizer(WORDS)) == tokenizer_hash(tiny_tokenizer(WORDS))
    more = TinyWords(words=(*WORDS.words, "more"))
    assert tokenizer_hash(tiny_tokenizer(WORDS)) != tokenizer_hash(tiny_tokenizer(more))


def test_frequent_words_are_ranked_and_bounded():
    assert frequent_words(["Save the Alarm", "the alarm!", "the 7:30"], 3) == (
        "the",
        "alarm",
        "30",
    )


@pytest.mark.parametrize("make", [tiny_text, tiny_pixels])
def test_a_saved_policy_comes_back_the_same(make, tmp_path):
    policy = make(WORDS, seed=3)
    policy.save(tmp_path / "p")
    again = load_policy(tmp_path / "p")
    told, expected = again.card(), policy.card()
    assert (told.tokenizer_hash, told.chat_template_hash, told.processor_hash) == (
        expected.tokenizer_hash,
        expected.chat_template_hash,
        expected.processor_hash,
    )
    assert told.banned_token_ids == expected.banned_token_ids
    assert told.stop_token_ids == expected.stop_token_ids
    for name, value in policy.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], value)


def test_a_policy_that_may_not_say_a_word_may_not_say_it_when_it_comes_back(tmp_path):
    made = tiny_text(WORDS, seed=3)
    word = made.tokenizer.get_vocab()["alarm"]
    policy = replace(made, name="quiet", banned_ids=tuple(sorted({*made.banned_ids, word})))
    policy.save(tmp_path / "p")
    again = load_policy(tmp_path / "p")
    assert (again.name, again.banned_ids) == (policy.name, policy.banned_ids)
    facts = tmp_path / "p" / POLICY_FILE
    facts.write_text('{"name": "quiet", "banned_token_ids": [100000]}')
    with pytest.raises(ConfigError, match="two models"):
        load_policy(tmp_path / "p")
    facts.write_text("[]")
    with pytest.raises(ConfigError, match="may not be sampled"):
        load_policy(tmp_path / "p")
    facts.unlink()
    assert load_policy(tmp_path / "p").banned_ids == made.banned_ids


def test_picture_tokens_padding_and_ids_without_text_are_banned():
    policy = pixel_policy()
    names = set(policy.tokenizer.convert_ids_to_tokens(list(policy.banned_ids)))
    assert names == {
        "<|pad|>",
        "<|vision_start|>",
        "<|vision_end|>",
        "<|image_pad|>",
        "<|video_pad|>",
    }
    wide = tiny_text(WORDS, seed=0)
    width = wide.vocab
    wide.model.resize_token_embeddings(width + 3, mean_resizing=False)
    padded = make_policy("wide", wide.model, wide.tokenizer, None)
    assert set(range(width, width + 3)) <= set(padded.banned_ids)


def test_a_model_without_what_is_needed_is_refused(tmp_path):
    policy = tiny_text(WORDS, seed=0)
    policy.tokenizer.chat_template = None
    with pytest.raises(ConfigError, match="no chat template"):
        make_policy("bare", policy.model, policy.tokenizer, None)
    with pytest.raises(ConfigError, match=r"no config\.json"):
        load_policy(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="no model that can be loaded"):
        load_policy(tmp_path)


def test_layers_whose_past_cannot_be_cut_are_refused():
    policy = tiny_text(WORDS, seed=0)
    policy.model.config.layer_types = ["full_attention", "linear_attention"]
    with pytest.raises(ConfigError, match="linear_attention"):
        make_policy("linear", policy.model, policy.tokenizer, None)
