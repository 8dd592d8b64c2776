"""Frames to pictures: the resize rule, the encoding, and what a picture costs in tokens."""

from __future__ import annotations

import io
import math

from PIL import Image, UnidentifiedImageError

from screenloop.config import ImageRule
from screenloop.errors import EnvironmentFault
from screenloop.messages import ImagePart
from screenloop.store.blobs import BlobStore
from screenloop.types import BlobKey, SizePx

MAX_ASPECT = 200
"""Longest side over shortest side that the Qwen-VL processors accept."""
_SUFFIX = {"jpeg": "jpg", "png": "png"}


def smart_resize(size_px: SizePx, rule: ImageRule) -> SizePx:
    """Return the size at which a model sees a frame.

    The rule of the Qwen-VL image processors: round each side to a multiple of the factor (at least
    one); if the area is then above the maximum, shrink both sides by the same share and round
    down; if it is below the minimum, grow both and round up. A side never falls under one factor,
    so a very long and thin frame may stay above the maximum.

    Raises:
        EnvironmentFault: the frame is empty, or longer than 200 times its width.
    """
    width, height = size_px
    if min(width, height) < 1 or max(width, height) > MAX_ASPECT * min(width, height):
        raise EnvironmentFault(
            f"a frame of {width}x{height} px cannot be shown to a model: its sides must be at "
            f"least 1 px and their ratio at most {MAX_ASPECT}"
        )
    factor = rule.factor_px
    # Python rounds halves to even, as the reference processors do.
    wide, high = (max(factor, round(side / factor) * factor) for side in size_px)
    if wide * high > rule.max_pixels:
        shrink = math.sqrt(width * height / rule.max_pixels)
        wide, high = (max(factor, int(side / shrink / factor) * factor) for side in size_px)
    elif wide * high < rule.min_pixels:
        grow = math.sqrt(rule.min_pixels / (width * height))
        wide, high = (math.ceil(side * grow / factor) * factor for side in size_px)
    return wide, high


def image_tokens(size_px: SizePx, factor_px: int = 32) -> int:
    """Return how many tokens a resized picture takes: one for each merged patch.

    The factor is patch x merge: 16 x 2 for Qwen3-VL, 14 x 2 for Qwen2.5-VL.
    """
    return (size_px[0] // factor_px) * (size_px[1] // factor_px)


def prepare(frame: BlobKey, blobs: BlobStore, rule: ImageRule) -> ImagePart:
    """Turn a frame into the picture for the model; the picture goes to the blob store.

    A frame that already has the right size and codec is used as it is, byte for byte.

    Raises:
        EnvironmentFault: the frame is no picture, or has an impossible shape.
        InfraFault: the blob store cannot be read or written.
    """
    data = blobs.get(frame)
    try:
        with Image.open(io.BytesIO(data)) as image:
            size_px = smart_resize(image.size, rule)
            mime = f"image/{rule.codec}"
            if size_px == image.size and image.format == rule.codec.upper():
                return ImagePart(key=frame, mime=mime, size_px=size_px)
            picture = image.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise EnvironmentFault(f"frame {frame} is no readable picture: {error}") from error
    if picture.size != size_px:
        picture = picture.resize(size_px, Image.Resampling.BICUBIC)
    key = blobs.put(_encode(picture, rule), _SUFFIX[rule.codec])
    return ImagePart(key=key, mime=mime, size_px=size_px)


def _encode(picture: Image.Image, rule: ImageRule) -> bytes:
    out = io.BytesIO()
    if rule.codec == "jpeg":
        picture.save(out, "JPEG", quality=rule.quality)
    else:
        picture.save(out, "PNG")
    return out.getvalue()


class Pictures:
    """Prepared pictures of one Episode, so that a screen seen twice is worked on once."""

    def __init__(self, blobs: BlobStore, rule: ImageRule) -> None:
        self._blobs = blobs
        self._rule = rule
        self._done: dict[BlobKey, ImagePart] = {}

    def of(self, frame: BlobKey) -> ImagePart:
        """Return the picture of a frame; same errors as `prepare`."""
        if frame not in self._done:
            self._done[frame] = prepare(frame, self._blobs, self._rule)
        return self._done[frame]
