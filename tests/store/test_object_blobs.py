"""Blobs in S3, against moto's server."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer

from screenloop.errors import ConfigError, InfraFault
from screenloop.store.blob_urls import folder_url, open_blobs
from screenloop.store.blobs import BlobStore, CopiedBlobs, FolderBlobs, MemoryBlobs, blob_key
from screenloop.store.object_blobs import ObjectBlobs
from screenloop.testing.failing_blobs import FailingBlobs


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    import boto3

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    boto3.client("s3", endpoint_url=url, region_name="us-east-1", **keys).create_bucket(
        Bucket="screens"
    )
    yield url
    server.stop()


@pytest.fixture
def blobs(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> BlobStore:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return open_blobs(f"s3://screens/runs/a?endpoint={endpoint}&region=us-east-1")


def test_bytes_in_a_bucket_come_back_under_a_key_of_their_content(blobs: BlobStore) -> None:
    key = blobs.put(b"a frame", "jpg")
    assert key == blob_key(b"a frame", "jpg")
    assert blobs.put(b"a frame", "jpg") == key
    assert blobs.get(key) == b"a frame"


def test_a_key_that_the_bucket_lacks_is_named(blobs: BlobStore) -> None:
    key = blob_key(b"never put", "jpg")
    with pytest.raises(InfraFault, match=key):
        blobs.get(key)
    with pytest.raises(InfraFault, match="no blob key"):
        blobs.get("../secret")


def test_a_bucket_that_is_not_there_is_an_infrastructure_failure(
    endpoint: str, blobs: BlobStore
) -> None:
    other = ObjectBlobs("missing", endpoint=endpoint, region="us-east-1")
    with pytest.raises(InfraFault, match="s3://missing"):
        other.put(b"a frame", "jpg")


def test_a_store_that_cannot_be_reached_is_an_infrastructure_failure(blobs: BlobStore) -> None:
    away = ObjectBlobs("screens", endpoint="http://127.0.0.1:9", region="us-east-1")
    with pytest.raises(InfraFault, match="cannot read blob"):
        away.get(blob_key(b"a frame", "jpg"))


@pytest.mark.parametrize(
    "url", ["", "screens", "file://host/folder", "s3://", "s3://b?key=secret", "ftp://a/b"]
)
def test_what_names_no_store_is_refused_with_the_forms_that_do(url: str) -> None:
    with pytest.raises(ConfigError, match="file:///FOLDER or s3://BUCKET"):
        open_blobs(url)


def test_a_folder_has_a_url(tmp_path) -> None:
    folder = tmp_path / "with a blank"
    key = FolderBlobs(folder).put(b"a frame", "jpg")
    assert open_blobs(folder_url(folder)).get(key) == b"a frame"


def test_what_was_read_from_the_shared_store_stays_with_the_run() -> None:
    own, shared = MemoryBlobs(), FailingBlobs(MemoryBlobs())
    both = CopiedBlobs(own, shared)
    theirs = shared.put(b"a frame", "jpg")
    ours = both.put(b"smaller", "png")
    assert both.get(theirs) == b"a frame"
    shared.away = True
    assert both.get(theirs) == b"a frame"
    assert both.get(ours) == b"smaller"


def test_folders_of_one_disk_share_the_file_and_outlive_one_another(tmp_path) -> None:
    own, shared = FolderBlobs(tmp_path / "own"), FolderBlobs(tmp_path / "shared")
    both = CopiedBlobs(own, shared)
    key = shared.put(b"a frame", "jpg")
    both.keep(key)
    both.keep(key)
    assert own.path(key).samefile(shared.path(key))
    shared.path(key).unlink()
    assert both.get(key) == b"a frame"
    with pytest.raises(InfraFault, match="cannot read blob"):
        both.keep(blob_key(b"never put", "jpg"))


def test_what_cannot_be_linked_is_copied() -> None:
    own, shared = MemoryBlobs(), MemoryBlobs()
    key = shared.put(b"a frame", "jpg")
    CopiedBlobs(own, shared).keep(key)
    assert own.get(key) == b"a frame"


def test_a_full_store_refuses_to_write_and_still_reads() -> None:
    blobs = FailingBlobs(MemoryBlobs())
    key = blobs.put(b"a frame", "jpg")
    blobs.full = True
    with pytest.raises(InfraFault, match="No space left"):
        blobs.put(b"another", "jpg")
    assert blobs.get(key) == b"a frame"
    blobs.full = False
    assert blobs.get(blobs.put(b"another", "jpg")) == b"another"
