import pytest
import torch
from engine_parts import full_logits, image, pixel_policy, text_policy, user, words
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.engine.cache import cut, join
from screenloop.engine.network import Chunk, Network, RunningBatch
from screenloop.engine.prompts import PromptWriter
from screenloop.store.blobs import MemoryBlobs

IDS = st.lists(st.integers(10, 200), min_size=2, max_size=25).map(tuple)


def whole(policy, chunk):
    with torch.inference_mode():
        return full_logits(policy, [chunk])[0]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(IDS, st.integers(0, 24)), min_size=1, max_size=5))
def test_logits_with_and_without_a_cached_past_agree(rows):
    policy, network = text_policy(), Network(text_policy())
    chunks, expected = [], []
    for ids, cached in rows:
        start = min(cached, len(ids) - 1)
        past = (
            network.extend([Chunk(token_ids=ids[:start], start=0, past=None)])[0] if start else None
        )
        chunks.append(Chunk(token_ids=ids, start=start, past=past and past.layers))
        expected.append(whole(policy, Chunk(token_ids=ids, start=0, past=None))[-1])
    for got, logits in zip(network.extend(chunks), expected, strict=True):
        torch.testing.assert_close(got.logits_V, logits, atol=1e-5, rtol=1e-5)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(IDS, st.integers(1, 5)), min_size=1, max_size=5), st.data())
def test_decoding_in_a_batch_that_rows_join_and_leave_agrees_with_whole_passes(rows, data):
    policy, network = text_policy(), Network(text_policy())
    batch, live, queue = RunningBatch(layers=[], lengths=[]), [], list(rows)
    while queue or live:
        joins = data.draw(st.integers(0 if live else 1, 2)) if queue else 0
        for ids, steps in queue[:joins]:
            batch.add([network.extend([Chunk(token_ids=ids, start=0, past=None)])[0].layers])
            live.append([list(ids), steps])
        queue = queue[joins:]
        tokens = [(7 * len(ids) + steps) % 190 + 10 for ids, steps in live]
        logits = network.advance(batch, tokens, [len(ids) for ids, _ in live])
        for (ids, _), token, got in zip(live, tokens, logits, strict=True):
            ids.append(token)
            expected = whole(policy, Chunk(token_ids=tuple(ids), start=0, past=None))[-1]
            torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
        kept = [i for i, (_, steps) in enumerate(live) if steps > 1]
        batch.keep(kept)
        live = [[live[i][0], live[i][1] - 1] for i in kept]
    assert (batch.columns, batch.lengths) == (0, [])


@pytest.mark.parametrize("turns_cached", [0, 1, 2])
def test_pictures_behind_a_cached_past_give_the_logits_of_a_whole_pass(turns_cached):
    policy, blobs = pixel_policy(), MemoryBlobs()
    network = Network(policy)
    writer = PromptWriter(policy.tokenizer, vision=policy.vision, stop_ids=policy.stop_ids)
    turns = [user(words("open"), image(blobs, n, (64, 32 * (n + 1)))) for n in range(3)]
    prompts = [writer.write(turns[: n + 1]) for n in range(3)]
    patches = {i.key: policy.vision.pixels(blobs.get(i.key)) for i in prompts[-1].images}

    def chunk(prompt, start=0, past=None):
        return Chunk(
            token_ids=prompt.token_ids,
            start=start,
            past=past,
            images=prompt.images,
            patches=patches,
        )

    start, past = 0, None
    if turns_cached:
        before = prompts[turns_cached - 1]
        start = len(before.token_ids) - 1
        past = cut(network.extend([chunk(before)])[0].layers, 0, start)
    got = network.extend([chunk(prompts[-1], start, past), chunk(prompts[0])])
    torch.testing.assert_close(
        got[0].logits_V, whole(policy, chunk(prompts[-1]))[-1], atol=1e-5, rtol=1e-5
    )
    layers = got[0].layers if past is None else join([past, got[0].layers])
    batch = RunningBatch(layers=[], lengths=[])
    batch.add([layers, got[1].layers])
    tokens = policy.tokenizer.encode("tap clock", add_special_tokens=False)
    logits = network.advance(batch, tokens, [got[0].next_position, got[1].next_position])
    for prompt, token, row in ((prompts[-1], tokens[0], 0), (prompts[0], tokens[1], 1)):
        longer = Chunk(
            token_ids=(*prompt.token_ids, token),
            start=0,
            past=None,
            images=prompt.images,
            patches=patches,
        )
        torch.testing.assert_close(logits[row], whole(policy, longer)[-1], atol=1e-5, rtol=1e-5)


def test_the_trainers_pass_has_gradients_and_ignores_padding():
    policy = text_policy()
    rows = [(10, 11, 12), (10, 11, 12, 13, 14)]
    logits = full_logits(policy, [Chunk(token_ids=ids, start=0, past=None) for ids in rows])
    assert logits.requires_grad
    torch.testing.assert_close(logits[0, :3], logits[1, :3], atol=1e-5, rtol=1e-5)
