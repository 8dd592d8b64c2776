from io import BytesIO

import pytest
from PIL import Image, ImageDraw

from screenloop.errors import ConfigError, EnvironmentFault
from screenloop.store.blobs import MemoryBlobs
from screenloop.train.data.anchors import anchor_of, perceptual_hash
from screenloop.types import Observation


def _screen(box=(20, 20, 60, 60), codec="PNG", quality=90):
    image = Image.new("RGB", (128, 256), "white")
    ImageDraw.Draw(image).rectangle(box, fill="navy")
    out = BytesIO()
    image.save(out, codec, **({"quality": quality} if codec == "JPEG" else {}))
    return out.getvalue()


def _seen(blobs, **facts):
    return Observation(size_px=(128, 256), frame=blobs.put(_screen(), "png"), **facts)


def test_anchors_come_from_what_the_policy_saw():
    blobs = MemoryBlobs()
    seen = _seen(blobs, scene_hash="abc")
    assert anchor_of(seen, "state", blobs) == "state-abc"
    assert anchor_of(seen, "frame", blobs) == f"frame-{seen.frame}"
    assert anchor_of(seen, "perceptual", blobs) == f"look-{perceptual_hash(_screen())}"


def test_the_coarse_look_survives_a_codec_and_tells_screens_apart():
    hashes = {perceptual_hash(_screen()), perceptual_hash(_screen(codec="PNG"))}
    assert len(hashes) == 1
    assert len(hashes.pop()) == 64
    assert perceptual_hash(_screen()) != perceptual_hash(_screen(box=(20, 120, 60, 160)))


def test_what_is_not_there_is_refused():
    blobs = MemoryBlobs()
    with pytest.raises(ConfigError, match="take `perceptual` anchors"):
        anchor_of(_seen(blobs), "state", blobs)
    with pytest.raises(ConfigError, match="take `state` anchors"):
        anchor_of(Observation(size_px=(1, 1)), "perceptual", blobs)
    with pytest.raises(EnvironmentFault, match="no picture"):
        perceptual_hash(b"nothing")
