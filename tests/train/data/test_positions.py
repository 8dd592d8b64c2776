from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.messages import ImageSpan
from screenloop.train.data.positions import mrope_positions


def _picture(start, grid, merge=2):
    length = grid[0] * grid[1] * grid[2] // merge**2
    return ImageSpan(key="sha256-0.png", start=start, length=length, grid_thw=grid)


def test_a_picture_takes_one_place_on_each_axis_of_its_grid():
    found = mrope_positions(8, [_picture(2, (1, 4, 4))])
    assert found.positions_t == (
        (0, 0, 0),
        (1, 1, 1),
        (2, 2, 2),
        (2, 2, 3),
        (2, 3, 2),
        (2, 3, 3),
        (4, 4, 4),
        (5, 5, 5),
    )
    assert found.delta == -2


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
    before = mrope_positions(length, images)
    whole = mrope_positions(length + new_tokens, images)
    assert whole.positions_t[:length] == before.positions_t
    assert whole.delta == before.delta
    for k in range(new_tokens):
        assert whole.positions_t[length + k] == (length + k + before.delta,) * 3
