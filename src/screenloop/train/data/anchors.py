"""What counts as "the same state" for step credit, taken from what the policy saw."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, UnidentifiedImageError

from screenloop.errors import ConfigError, EnvironmentFault
from screenloop.store.blobs import BlobStore
from screenloop.train.settings import AnchorKind
from screenloop.types import Observation

_GRID = 16


def anchor_of(seen: Observation, kind: AnchorKind, blobs: BlobStore) -> str:
    """Return the anchor of a step from the Observation before it.

    Raises:
        ConfigError: the Observation does not have what this kind needs.
        EnvironmentFault: the frame is no picture.
        InfraFault: from the store.
    """
    if kind == "state":
        if seen.scene_hash is None:
            raise ConfigError(
                "this Environment gives no scene hash; take `perceptual` anchors instead"
            )
        return f"state-{seen.scene_hash}"
    if seen.frame is None:
        raise ConfigError(
            f"{kind} anchors need a frame, but the Observation has none; take `state` anchors"
        )
    if kind == "frame":
        return f"frame-{seen.frame}"
    return f"look-{perceptual_hash(blobs.get(seen.frame))}"


def perceptual_hash(picture: bytes) -> str:
    """Return 64 hex digits that say where a 17 x 16 grey thumbnail gets brighter to the right.

    The difference hash of image search: a little noise or another codec leaves most bits as they
    are; frames count as the same when all are equal.

    Raises:
        EnvironmentFault: the bytes are no picture.
    """
    try:
        with Image.open(BytesIO(picture)) as image:
            grey = image.convert("L").resize((_GRID + 1, _GRID), Image.Resampling.BOX)
    except (UnidentifiedImageError, OSError) as error:
        raise EnvironmentFault(f"the frame is no picture: {error}") from error
    pixels = grey.tobytes()
    bits = 0
    for row in range(_GRID):
        for column in range(_GRID):
            at = row * (_GRID + 1) + column
            bits = bits << 1 | (pixels[at + 1] > pixels[at])
    return f"{bits:0{_GRID * _GRID // 4}x}"
