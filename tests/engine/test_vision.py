import io

import numpy as np
import pytest
import torch
from engine_parts import pixel_policy, png
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from screenloop.engine.vision import VisionRule, place, positions
from screenloop.errors import AgentError, ConfigError
from screenloop.messages import ImageSpan

IMAGE_ID = 99


def rule(patch_px=14, merge=2, frames=2):
    return VisionRule(patch_px=patch_px, merge=merge, frames=frames, image_id=IMAGE_ID)


@pytest.mark.parametrize(
    ("patch_px", "merge", "frames", "size_px"),
    [(14, 2, 2, (56, 112)), (16, 2, 2, (96, 32)), (16, 1, 1, (64, 48))],
)
def test_patches_are_those_of_the_reference_processor(patch_px, merge, frames, size_px):
    picture = Image.fromarray(
        np.random.default_rng(3).integers(0, 256, (size_px[1], size_px[0], 3), dtype=np.uint8)
    )
    reference = Qwen2VLImageProcessorPil(
        patch_size=patch_px,
        merge_size=merge,
        temporal_patch_size=frames,
        do_resize=False,
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    )(picture, return_tensors="pt")
    out = io.BytesIO()
    picture.save(out, "PNG")
    ours = rule(patch_px, merge, frames)
    torch.testing.assert_close(ours.pixels(out.getvalue()), reference["pixel_values"])
    assert list(ours.grid(size_px)) == reference["image_grid_thw"][0].tolist()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4)), max_size=3))
def test_positions_are_those_of_the_reference_network(shapes):
    model = pixel_policy().model.model
    image_id = model.config.image_token_id
    ids, kinds, images = [5], [0], []
    for rows, columns, text in shapes:
        count = rows * columns
        images.append(ImageSpan(key="k", grid_thw=(1, rows, columns), start=len(ids), length=count))
        ids += [image_id] * count + [7] * text
        kinds += [1] * count + [0] * text
    grids = torch.tensor([i.grid_thw for i in images]) if images else None
    reference, delta = model.get_rope_index(
        torch.tensor([ids]), torch.tensor([kinds], dtype=torch.int), image_grid_thw=grids
    )
    ours = positions(len(ids), images, merge=1)
    assert torch.equal(ours, reference[:, 0])
    assert int(ours.max()) + 1 == len(ids) + int(delta)


def _picture(start, grid, merge=2):
    length = grid[0] * grid[1] * grid[2] // merge**2
    return ImageSpan(key="sha256-0.png", start=start, length=length, grid_thw=grid)


def _delta(found):
    """Return what is added to a token's count to get its position, behind the last picture."""
    return int(found.max()) + 1 - found.shape[1]


def test_a_picture_takes_one_place_on_each_axis_of_its_grid():
    found = positions(8, [_picture(2, (1, 4, 4))], merge=2)
    assert found.T.tolist() == [
        [0, 0, 0],
        [1, 1, 1],
        [2, 2, 2],
        [2, 2, 3],
        [2, 3, 2],
        [2, 3, 3],
        [4, 4, 4],
        [5, 5, 5],
    ]
    assert _delta(found) == -2


@st.composite
def _prompts(draw):
    images, at = [], draw(st.integers(0, 4))
    for _ in range(draw(st.integers(0, 3))):
        grid = (1, 2 * draw(st.integers(1, 4)), 2 * draw(st.integers(1, 4)))
        images.append(_picture(at, grid))
        at = images[-1].end + draw(st.integers(1, 4))
    return at, images


@settings(max_examples=40, deadline=None)
@given(_prompts(), st.integers(1, 20))
def test_decode_steps_continue_at_length_plus_k_plus_delta(prompt, new_tokens):
    length, images = prompt
    whole = positions(length + new_tokens, images, merge=2)
    delta = _delta(whole)
    if length:
        before = positions(length, images, merge=2)
        assert torch.equal(whole[:, :length], before)
        assert _delta(before) == delta
    for k in range(new_tokens):
        assert whole[:, length + k].tolist() == [length + k + delta] * 3


def test_a_picture_of_an_impossible_size_is_refused_with_the_right_factor():
    with pytest.raises(ConfigError, match=r"30x28 px.*multiples of 28 px.*factor_px.*28"):
        rule().grid((30, 28))


def test_bytes_that_are_no_picture_are_refused():
    with pytest.raises(AgentError, match="cannot be read"):
        rule().pixels(b"not a picture")


def test_spans_are_found_again_from_the_ids_and_the_pictures():
    pictures = [("sha256-a.png", (56, 56)), ("sha256-b.png", (112, 56))]
    ids = [1, *[IMAGE_ID] * 4, *[IMAGE_ID] * 8, 2]
    placed = place(ids, pictures, rule())
    assert [(i.key, i.start, i.length, i.end) for i in placed] == [
        ("sha256-a.png", 1, 4, 5),
        ("sha256-b.png", 5, 8, 13),
    ]
    assert sum(rule().tokens(i.grid_thw) for i in placed) == ids.count(IMAGE_ID)


@pytest.mark.parametrize("ids", [[1, 99, 99], [99] * 5, [99, 99, 1, 99, 99], []])
def test_placeholders_that_do_not_fit_their_pictures_are_refused(ids):
    with pytest.raises(ConfigError, match="placeholder tokens"):
        place(ids, [("sha256-a.png", (56, 56))], rule())


def test_the_same_bytes_give_the_same_patches():
    assert torch.equal(rule(16, 1, 1).pixels(png(3)), rule(16, 1, 1).pixels(png(3)))
