import io
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from PIL import Image

from screenloop.agent.screen import Pictures, image_tokens, prepare, smart_resize
from screenloop.config import ImageRule
from screenloop.errors import EnvironmentFault, InfraFault
from screenloop.store.blobs import MemoryBlobs

SIDES = st.integers(1, 5000)
RULES = st.builds(
    ImageRule,
    factor_px=st.sampled_from([14, 28, 32]),
    min_pixels=st.sampled_from([3136, 65_536, 78_400]),
    max_pixels=st.sampled_from([200_000, 1_000_000, 16_777_216]),
)


def _frame(size_px, fmt="PNG", colour=(20, 90, 160)):
    out = io.BytesIO()
    Image.new("RGB", size_px, colour).save(out, fmt)
    return out.getvalue()


@given(SIDES, SIDES, RULES)
def test_resized_sides_are_multiples_and_the_area_is_in_bounds(wide, high, rule):
    assume(max(wide, high) <= 200 * min(wide, high))
    size = smart_resize((wide, high), rule)
    assert all(side >= rule.factor_px and side % rule.factor_px == 0 for side in size)
    if rule.factor_px not in size:
        assert math.prod(size) <= rule.max_pixels
    assert math.prod(size) >= rule.min_pixels or (wide * high) > rule.max_pixels


@given(st.integers(1, 20), st.integers(1, 5), RULES)
def test_a_frame_longer_than_200_times_its_width_is_refused(wide, more, rule):
    with pytest.raises(EnvironmentFault, match="ratio at most 200"):
        smart_resize((wide, 200 * wide + more), rule)


@given(SIDES, SIDES, RULES)
def test_resizing_twice_changes_nothing(wide, high, rule):
    assume(max(wide, high) <= 50 * min(wide, high))
    size = smart_resize((wide, high), rule)
    assume(rule.factor_px not in size)
    assert smart_resize(size, rule) == size


def test_known_sizes_come_out_as_the_qwen_processors_give_them():
    assert smart_resize((412, 915), ImageRule()) == (416, 928)
    assert smart_resize((1080, 2400), ImageRule(factor_px=28)) == (1092, 2408)
    assert smart_resize((160, 210), ImageRule()) == (224, 320)
    assert image_tokens((416, 928)) == 13 * 29
    assert image_tokens((1092, 2408), 28) == 39 * 86


def test_an_empty_frame_is_refused():
    with pytest.raises(EnvironmentFault, match="0x10"):
        smart_resize((0, 10), ImageRule())


def test_a_frame_of_the_right_size_and_codec_keeps_its_bytes():
    blobs = MemoryBlobs()
    key = blobs.put(_frame((416, 928)), "png")
    part = prepare(key, blobs, ImageRule(codec="png"))
    assert (part.key, part.size_px, part.mime) == (key, (416, 928), "image/png")


@pytest.mark.parametrize("codec", ["jpeg", "png"])
def test_another_frame_is_resized_and_encoded_into_the_store(codec):
    blobs = MemoryBlobs()
    key = blobs.put(_frame((412, 915)), "png")
    part = prepare(key, blobs, ImageRule(codec=codec))
    with Image.open(io.BytesIO(blobs.get(part.key))) as picture:
        assert (picture.size, picture.format) == ((416, 928), codec.upper())
    assert part.key != key
    assert part.key == prepare(key, blobs, ImageRule(codec=codec)).key


def test_a_frame_that_is_no_picture_is_the_environments_fault():
    blobs = MemoryBlobs()
    with pytest.raises(EnvironmentFault, match="no readable picture"):
        prepare(blobs.put(b"not a picture", "png"), blobs, ImageRule())
    cut = _frame((412, 915), "JPEG")[:900]
    with pytest.raises(EnvironmentFault, match="no readable picture"):
        prepare(blobs.put(cut, "jpg"), blobs, ImageRule())


def test_a_frame_that_is_not_in_the_store_is_an_infrastructure_fault():
    with pytest.raises(InfraFault):
        prepare("sha256-00.png", MemoryBlobs(), ImageRule())


def test_a_screen_seen_again_is_read_only_once():
    blobs = MemoryBlobs()
    key = blobs.put(_frame((412, 915)), "png")
    reads = []

    class Counting:
        put = staticmethod(blobs.put)

        def get(self, wanted):
            reads.append(wanted)
            return blobs.get(wanted)

    pictures = Pictures(Counting(), ImageRule())
    assert pictures.of(key) == pictures.of(key)
    assert reads == [key]
