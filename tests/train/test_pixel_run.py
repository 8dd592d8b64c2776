"""The trainer on pictures whose patches are not merged, end to end."""

from learner_parts import bench, rewarded
from pixel_parts import pixel_recipe

from screenloop.report.training.metrics import UpdateLine, WarmUpLine, read_metrics
from screenloop.train.run import train


async def test_a_policy_that_sees_warms_up_and_learns_with_the_gate_closed(tmp_path):
    result = await train(pixel_recipe(), 1, tmp_path / "run")
    lines = read_metrics(tmp_path / "run")
    updates = [line for line in lines if isinstance(line, UpdateLine)]
    assert any(isinstance(line, WarmUpLine) for line in lines)
    assert len(updates) == 3
    assert sum(line.samples for line in updates) > 0
    assert 0 < result.parity_max <= 1e-4


async def test_every_picture_has_one_placeholder_a_patch_and_trainer_and_engine_agree(tmp_path):
    async with bench(pixel_recipe(), tmp_path) as parts:
        vision = parts.learner.policy.vision
        assert vision.merge == 1
        attempts = await parts.attempts(1, each=2)
        samples = [s for a in attempts for s in a.samples]
        for sample in samples:
            placeholders = sample.token_ids.count(vision.image_id)
            patches = sum(g[0] * g[1] * g[2] for g in (i.grid_thw for i in sample.images))
            assert placeholders == patches > 0
        pixels = {
            image.key: vision.pixels(parts.blobs.get(image.key))
            for sample in samples
            for image in sample.images
        }
        figures = parts.learner.update(rewarded(samples), pixels)
        assert figures.parity.tokens == sum(s.sampled for s in samples)
        assert figures.parity.max_abs <= 1e-4
        assert figures.grad_norm > 0
