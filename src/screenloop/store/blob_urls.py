"""Blob stores by URL, so that a manager, its hosts and their clients name the same one."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from screenloop.errors import ConfigError
from screenloop.store.blobs import BlobStore, FolderBlobs
from screenloop.store.object_blobs import ObjectBlobs

FORMS = "file:///FOLDER or s3://BUCKET/PREFIX[?endpoint=URL&region=NAME]"


def folder_url(folder: Path) -> str:
    """Return the URL of a folder's store."""
    return folder.absolute().as_uri()


def open_blobs(url: str) -> BlobStore:
    """Return the store under this URL.

    Raises:
        ConfigError: it has another form, or what it needs is not installed.
    """
    parts = urlsplit(url)
    asked = parse_qs(parts.query)
    if parts.scheme == "file" and parts.path.startswith("/") and not parts.netloc and not asked:
        return FolderBlobs(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc and not set(asked) - {"endpoint", "region"}:
        return ObjectBlobs(
            parts.netloc,
            parts.path.strip("/"),
            endpoint=asked.get("endpoint", [""])[0],
            region=asked.get("region", [""])[0],
        )
    raise ConfigError(f"{url!r} names no blob store; expected {FORMS}")
