import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.engine.cache import PrefixCache, common_prefix

KEYS = st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple)


def layers(keys, start=0):
    """Stand-ins that show in each place which prefix they belong to."""
    marks = [float(hash(keys[: i + 1]) % 10_000) for i in range(start, len(keys))]
    k = torch.tensor(marks).view(1, -1, 1).repeat(2, 1, 3)
    return ((k, -k), (k + 1, -k - 1))


def same(one, two):
    return all(
        torch.equal(a, b) for x, y in zip(one, two, strict=True) for a, b in zip(x, y, strict=True)
    )


@settings(deadline=None, max_examples=200)
@given(st.lists(KEYS, max_size=12), KEYS)
def test_a_match_is_the_longest_prefix_of_all_that_was_kept_with_its_very_numbers(kept, asked):
    cache = PrefixCache(10_000)
    for keys in kept:
        cache.insert(keys, 0, layers(keys))
    longest = max((common_prefix(keys, asked) for keys in kept), default=0)
    assert cache.length(asked) == longest
    match = cache.match(asked)
    assert match.length == longest
    if longest:
        assert same(match.layers, layers(asked[:longest]))
    prefixes = {keys[: i + 1] for keys in kept for i in range(len(keys))}
    assert cache.tokens == len(prefixes)


@settings(deadline=None, max_examples=200)
@given(st.lists(KEYS, min_size=1, max_size=20), st.integers(0, 15))
def test_the_bound_holds_and_what_is_left_is_still_right(kept, bound):
    cache = PrefixCache(bound)
    for keys in kept:
        cache.insert(keys, 0, layers(keys))
        assert cache.tokens <= bound
        match = cache.match(keys)
        assert match.length == min(match.length, len(keys))
        if match.length:
            assert same(match.layers, layers(keys[: match.length]))


def test_what_was_used_longest_ago_goes_first():
    cache = PrefixCache(8)
    for keys in ((1, 1, 1), (2, 2, 2)):
        cache.insert(keys, 0, layers(keys))
    cache.match((1, 1, 1))
    cache.insert((3, 3, 3), 0, layers((3, 3, 3)))
    assert [cache.length((n, n, n)) for n in (1, 2, 3)] == [3, 0, 3]
    assert (cache.tokens, cache.evicted) == (6, 3)


def test_a_continuation_builds_on_what_is_there_and_on_nothing_else():
    cache = PrefixCache(100)
    whole = (1, 2, 3, 4, 5)
    cache.insert(whole, 2, layers(whole, 2))
    assert cache.tokens == 0
    cache.insert(whole[:2], 0, layers(whole[:2]))
    cache.insert(whole, 2, layers(whole, 2))
    assert same(cache.match(whole).layers, layers(whole))


def test_clearing_forgets_everything():
    cache = PrefixCache(100)
    cache.insert((1, 2), 0, layers((1, 2)))
    cache.clear()
    assert (cache.tokens, cache.match((1, 2)).length) == (0, 0)
