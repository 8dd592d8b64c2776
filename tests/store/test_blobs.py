from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screenloop.errors import InfraFault
from screenloop.store.blobs import BlobStore, FolderBlobs, MemoryBlobs, blob_key


@pytest.fixture(params=["memory", "folder"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    return MemoryBlobs() if request.param == "memory" else FolderBlobs(tmp_path / "blobs")


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_bytes_come_back_under_a_key_of_their_content(blobs: BlobStore) -> None:
    key = blobs.put(b"a frame", "jpg")
    assert key == blob_key(b"a frame", "jpg")
    assert blobs.get(key) == b"a frame"
    assert blobs.put(b"a frame", "jpg") == key
    assert blobs.put(b"a frame", "png") != key


def test_a_key_that_is_not_kept_is_named(blobs: BlobStore) -> None:
    key = blob_key(b"never put", "jpg")
    with pytest.raises(InfraFault, match=key):
        blobs.get(key)


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_keys_are_equal_exactly_when_the_bytes_are(a: bytes, b: bytes) -> None:
    assert (blob_key(a, "txt") == blob_key(b, "txt")) == (a == b)


def test_an_equal_blob_is_written_once_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    store = FolderBlobs(tmp_path)
    key = store.put(b"x" * 1000, "bin")
    (path,) = files(tmp_path)
    written = path.stat().st_mtime_ns
    assert (path, path.stat().st_size) == (store.path(key), 1000)
    store.put(b"x" * 1000, "bin")
    assert [(p, p.stat().st_mtime_ns) for p in files(tmp_path)] == [(path, written)]


def test_a_blob_may_be_read_by_whoever_may_read_the_folder(tmp_path: Path) -> None:
    store = FolderBlobs(tmp_path)
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert store.path(store.put(b"x", "bin")).stat().st_mode == plain.stat().st_mode


def test_many_writers_of_one_blob_never_show_a_part_of_it(tmp_path: Path) -> None:
    data = b"0123456789" * 200_000
    key = blob_key(data, "bin")
    start = threading.Barrier(4)
    wrong: list[str] = []

    def write() -> None:
        store = FolderBlobs(tmp_path)
        start.wait()
        for _ in range(5):
            store.path(key).unlink(missing_ok=True)
            store.put(data, "bin")

    def read() -> None:
        start.wait()
        for _ in range(200):
            try:
                found = FolderBlobs(tmp_path).get(key)
            except InfraFault:
                continue
            if found != data:
                wrong.append(f"{len(found)} bytes")

    threads = [threading.Thread(target=work) for work in (write, write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert files(tmp_path) == [FolderBlobs(tmp_path).path(key)]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    root = tmp_path / "taken"
    root.write_text("a file where the folder should be")
    with pytest.raises(InfraFault, match=f"cannot write blob .*{root}"):
        FolderBlobs(root).put(b"x", "bin")


def test_a_blob_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    store = FolderBlobs(tmp_path)
    key = store.put(b"x", "bin")
    store.path(key).unlink()
    store.path(key).mkdir()
    with pytest.raises(InfraFault, match=f"cannot read blob {key}"):
        store.get(key)


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    store = FolderBlobs(tmp_path)
    path = store.path(blob_key(b"x", "bin"))
    (path / "in the way").mkdir(parents=True)
    path.with_name("other").touch()
    with pytest.raises(InfraFault, match="cannot write blob"):
        store.put(b"x", "bin")
    assert [p.name for p in files(tmp_path)] == ["other"]


@pytest.mark.parametrize(
    "key",
    [
        "",
        "../../etc/passwd",
        "sha256-../../x",
        "sha256-abc.jpg",
        f"sha256-{'0' * 64}./../x",
        f"md5-{'0' * 64}.jpg",
        f"/sha256-{'0' * 64}.jpg",
    ],
)
def test_a_key_from_a_strange_file_leads_nowhere(tmp_path: Path, key: str) -> None:
    with pytest.raises(InfraFault, match="is no blob key"):
        FolderBlobs(tmp_path).get(key)
