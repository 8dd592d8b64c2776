"""A Run's own blobs in front of a shared store: what was looked at is kept with the Run."""

from __future__ import annotations

from screenloop.errors import InfraFault
from screenloop.store.blobs import BlobStore, FolderBlobs
from screenloop.types import BlobKey


class CopiedBlobs:
    """Reads from the own store first; what comes from the shared one stays in the own one.

    What is put goes to the own store alone.
    """

    def __init__(self, own: BlobStore, shared: BlobStore) -> None:
        self.own = own
        self.shared = shared

    def put(self, data: bytes, suffix: str) -> BlobKey:
        """Keep the bytes in the own store and return their key."""
        return self.own.put(data, suffix)

    def get(self, key: BlobKey) -> bytes:
        """Return the bytes, wherever they are."""
        try:
            return self.own.get(key)
        except InfraFault:
            return self._copied(key)

    def keep(self, key: BlobKey) -> None:
        """Have the blob in the own store; between folders of one disk it is kept once for both.

        Raises:
            InfraFault: no such blob, or a store cannot be used.
        """
        if not (
            isinstance(self.own, FolderBlobs)
            and isinstance(self.shared, FolderBlobs)
            and self.own.link(self.shared, key)
        ):
            self.get(key)

    def _copied(self, key: BlobKey) -> bytes:
        data = self.shared.get(key)
        self.own.put(data, key.rpartition(".")[2])
        return data
