"""What the engine takes from its cache, against what its messages say it should."""

from screenloop.bench.prefix.engine import TokenizerCounting, run
from screenloop.bench.prefix.reuse import ByteCounting, prompt_tokens, reuse
from screenloop.config import Window
from screenloop.engine.prompts import PromptWriter
from screenloop.engine.tiny import tiny_text
from screenloop.engine.tokenizer import TinyWords
from screenloop.messages import Message, TextPart


def said(role: str, *texts: str) -> Message:
    return Message(role=role, parts=tuple(TextPart(text=text) for text in texts))


async def test_the_engine_saves_what_the_windows_promise_and_at_least_four_fifths() -> None:
    found = await run(40, episodes=1)
    assert [row.policy for row in found.table] == ["tiny-text", "tiny-pixels"]
    assert [row.calls for row in found.table] == [40, 40]
    assert found.hit_engine == min(row.hit_engine for row in found.table) >= 0.8
    assert found.difference_points <= 2.0
    for row in found.table:
        # The reply that the engine keeps is saved on top of what the messages promise.
        assert row.hit_engine >= row.hit_computed


async def test_one_window_over_the_whole_episode_saves_more_than_windows_of_two() -> None:
    wide = await run(8, Window(steps=8, overlap=0), episodes=1)
    narrow = await run(8, Window(steps=2, overlap=0), episodes=1)
    assert wide.hit_engine > narrow.hit_engine
    assert narrow.difference_points <= 2.0


def test_counted_with_the_tokenizer_a_prompt_has_the_tokens_that_are_written() -> None:
    policy = tiny_text(TinyWords(words=("alarm", "clock")), seed=1)
    counting = TokenizerCounting(policy)
    messages = [said("user", "Goal: alarm", "\n<e0> clock", "\ndo: alarm")]
    writer = PromptWriter(policy.tokenizer, vision=None, stop_ids=policy.stop_ids)
    # The mark in front of the reply to come stands behind the last message.
    assert prompt_tokens(messages, counting) + 1 == len(writer.write(messages).token_ids)


def test_what_two_prompts_share_ends_at_the_first_difference() -> None:
    counting = ByteCounting()
    first = [said("user", "abcdefgh" * 4)]
    grown = [*first, said("assistant", "back"), said("user", "next")]
    other = [said("user", "abcdefgh" * 2 + "x" * 16)]
    total, cached = reuse([first, grown, other], counting)
    assert cached == (4 + 8) + (4 + 4)
    assert total == 12 + (12 + 5 + 5) + 12
