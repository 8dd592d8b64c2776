"""A blob store whose disk can be filled by a switch, for chaos tests."""

from __future__ import annotations

import errno
import os

from screenloop.errors import InfraFault
from screenloop.store.blobs import BlobStore
from screenloop.types import BlobKey


class FailingBlobs:
    """Another store, until it is said to be full or away."""

    def __init__(self, blobs: BlobStore) -> None:
        self.full = False
        """Whether writing fails as it does on a full disk."""
        self.away = False
        """Whether reading and writing fail as they do without a network."""
        self._blobs = blobs

    def put(self, data: bytes, suffix: str) -> BlobKey:
        if self.full:
            raise InfraFault(f"cannot write a blob: {os.strerror(errno.ENOSPC)}") from OSError(
                errno.ENOSPC, os.strerror(errno.ENOSPC)
            )
        self._require_there()
        return self._blobs.put(data, suffix)

    def get(self, key: BlobKey) -> bytes:
        self._require_there()
        return self._blobs.get(key)

    def _require_there(self) -> None:
        if self.away:
            raise InfraFault("the blob store cannot be reached")
