from __future__ import annotations

import itertools

import pytest
import torch

from screenloop.bench.train.update import Lengths, UpdateBench, run
from screenloop.config import Window


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


SHORT = Lengths(head=40, screen=30, words=3, reply=6)


async def test_both_layouts_have_the_same_gradient_and_windows_read_far_less() -> None:
    found = await run(24, Window(steps=6, overlap=2), lengths=SHORT)
    assert found.grad_max_diff <= 1e-4
    assert found.tokens_ratio < 0.5
    assert found.trained_tokens == 24 * 6
    assert (found.window_samples, found.per_step_samples) == (6, 24)


async def test_the_promised_setting_reads_at_most_a_quarter_of_the_tokens() -> None:
    found = await run(lengths=SHORT)
    assert (found.steps, found.window_steps, found.window_overlap) == (40, 10, 2)
    assert found.tokens_ratio <= 0.25
    assert found.grad_max_diff <= 1e-4


async def test_with_windows_of_one_step_the_layouts_are_one() -> None:
    found = await run(5, Window(steps=1, overlap=0), lengths=SHORT)
    assert found.tokens_ratio == 1
    assert found.window_samples == found.per_step_samples == 5


async def test_the_ratio_is_that_of_the_seconds() -> None:
    ticks = itertools.chain([0.0, 1.0, 5.0], itertools.repeat(5.0))
    found = await run(3, lengths=SHORT, clock=lambda: next(ticks))
    assert (found.window_s, found.per_step_s, found.ratio) == (1.0, 4.0, 0.25)


def test_the_figures_have_the_promised_names() -> None:
    promised = {"window_s", "per_step_s", "ratio", "tokens_ratio", "grad_max_diff"}
    assert promised <= set(UpdateBench.__struct_fields__)
