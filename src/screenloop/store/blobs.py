"""Content-addressed bytes: frames, trees and long texts live here, only their keys travel."""

from __future__ import annotations

import contextlib
import hashlib
import re
import uuid
from pathlib import Path
from typing import Protocol

from screenloop.errors import InfraFault
from screenloop.types import BlobKey


class BlobStore(Protocol):
    """Keeps bytes under a key made from their content."""

    def put(self, data: bytes, suffix: str) -> BlobKey:
        """Keep the bytes and return their key; the same bytes give the same key."""
        ...

    def get(self, key: BlobKey) -> bytes:
        """Return the bytes.

        Raises:
            InfraFault: no such blob, or the store cannot be read.
        """
        ...


KEY = re.compile(r"sha256-[0-9a-f]{64}\.[a-z0-9]+")


def blob_key(data: bytes, suffix: str) -> BlobKey:
    """Return the key that these bytes have in every store: `sha256-<hex>.<suffix>`."""
    return f"sha256-{hashlib.sha256(data).hexdigest()}.{suffix}"


class MemoryBlobs:
    """Blobs in memory, for tests and benches."""

    def __init__(self) -> None:
        self._data: dict[BlobKey, bytes] = {}

    def put(self, data: bytes, suffix: str) -> BlobKey:
        key = blob_key(data, suffix)
        self._data[key] = data
        return key

    def get(self, key: BlobKey) -> bytes:
        try:
            return self._data[key]
        except KeyError:
            raise InfraFault(f"no blob {key} in memory") from None


class FolderBlobs:
    """Blobs as files, spread over 256 folders; a file appears whole or not at all."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: BlobKey) -> Path:
        """Return where the blob lies.

        Raises:
            InfraFault: the text is no blob key, so it names no file here.
        """
        if KEY.fullmatch(key) is None:
            raise InfraFault(f"{key!r} is no blob key; it has the form sha256-<hex>.<suffix>")
        return self.root / key.removeprefix("sha256-")[:2] / key

    def put(self, data: bytes, suffix: str) -> BlobKey:
        key = blob_key(data, suffix)
        path = self.path(key)
        if path.is_file():
            return key
        partial = path.with_name(f".{uuid.uuid4().hex}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(data)
            partial.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise InfraFault(f"cannot write blob {key} under {self.root}: {error}") from error
        return key

    def link(self, other: FolderBlobs, key: BlobKey) -> bool:
        """Share another folder's file of a blob; tells whether that could be done.

        Files of blobs are never changed, so one may have two names.
        """
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.hardlink_to(other.path(key))
        except FileExistsError:
            return True
        except OSError:
            # Another disk, a file system without links, or no such blob: the copy will tell.
            return False
        return True

    def get(self, key: BlobKey) -> bytes:
        try:
            return self.path(key).read_bytes()
        except OSError as error:
            raise InfraFault(f"cannot read blob {key} under {self.root}: {error}") from error


class CopiedBlobs:
    """A Run's own blobs in front of a shared store: what was looked at is kept with the Run.

    Reads from the own store first; what comes from the shared one stays in the own one. What is put
    goes to the own store alone.
    """

    def __init__(self, own: BlobStore, shared: BlobStore) -> None:
        self.own = own
        self.shared = shared

    def put(self, data: bytes, suffix: str) -> BlobKey:
        return self.own.put(data, suffix)

    def get(self, key: BlobKey) -> bytes:
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
