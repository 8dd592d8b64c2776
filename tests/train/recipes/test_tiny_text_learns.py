"""Whether the recipe learns, to a lower bound that three seeds kept with room; minutes long."""

from __future__ import annotations

from pathlib import Path

import pytest

from screenloop.train.run import train_recipe


@pytest.mark.slow
async def test_tiny_text_learns_by_reinforcement_what_its_warm_up_left_out(tmp_path: Path):
    result = await train_recipe("tiny_text", 0, str(tmp_path / "run"))
    assert result.success_before < 0.05
    assert result.success_after_sft <= 0.6
    assert result.success_after_rl >= 0.85
    assert result.success_after_rl - result.success_after_sft >= 0.3
    assert result.parity_max <= 1e-4
