import msgspec

from screenloop.bench.prefix.run import REPLY_TOKENS, measure, run
from screenloop.config import Window


async def test_windows_keep_the_prefix_and_reach_the_figures():
    bench = await run(table=False)
    assert 700 <= bench.head_tokens <= 1500
    assert bench.table[0].image_tokens == 13 * 29
    assert bench.hit_windowed >= 0.86
    assert bench.hit_windowed >= 1.8 * bench.hit_last_k
    assert bench.recompute_ratio <= 0.25
    assert bench.train_tokens_ratio <= 0.25
    assert bench.total_prompt_tokens_ratio < 1


async def test_the_json_has_the_promised_keys():
    keys = msgspec.to_builtins(await run(steps=12, table=False))
    for key in ("hit_windowed", "hit_last_k", "recompute_ratio", "train_tokens_ratio"):
        assert 0 < keys[key] <= 1


async def test_the_figures_are_the_same_each_time():
    assert await run(steps=15, table=False) == await run(steps=15, table=False)


async def test_a_window_without_overlap_over_the_whole_episode_reuses_all_but_the_new_turns():
    row = await measure(10, Window(steps=10, overlap=0))
    assert row.recompute_ratio == 1
    assert row.hit_windowed == row.hit_last_k


async def test_a_single_prompt_has_nothing_to_reuse():
    row = await measure(1, Window())
    assert row.hit_windowed == 0
    assert row.train_tokens_ratio == 1


async def test_a_longer_head_is_counted():
    short = await measure(3, Window(), head_tokens=300)
    long = await measure(3, Window(), head_tokens=3000)
    assert long.head_tokens - short.head_tokens == 2700
    assert REPLY_TOKENS == 100
