import contextlib
import mmap
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("gguf", reason="gguf is not installed: reading GGUF files is not tested")

import gguf
from gguf_parts import END_ID, IMAGE_ID, PARTIAL_IDS, SPECIAL, byte_policy, write_gguf

from screenloop.engine.gguf.file import read_card, read_head
from screenloop.errors import ConfigError


def written(path, **facts):
    """Write a head alone; lists of strings and of numbers become arrays."""
    writer = gguf.GGUFWriter(path, "qwen3")
    for name, value in facts.items():
        if isinstance(value, list):
            writer.add_array(name, value)
        elif isinstance(value, bool):
            writer.add_bool(name, value)
        elif isinstance(value, int):
            writer.add_int64(name, value)
        elif isinstance(value, float):
            writer.add_float64(name, value)
        else:
            writer.add_string(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_a_card_tells_what_prompts_and_records_need(tmp_path):
    path = write_gguf(byte_policy(), tmp_path / "tiny.gguf")
    card = read_card(path)
    assert (card.name, card.architecture, card.context_tokens) == ("tiny", "qwen3", 1024)
    assert (card.bos, card.eos, card.adds_bos) == ("", "<|im_end|>", False)
    assert card.markers == SPECIAL
    assert card.banned_ids == (*PARTIAL_IDS, IMAGE_ID)
    assert END_ID not in card.banned_ids
    assert card.weights_version.startswith("sha256-")
    assert not card.weights_version.isdecimal()


def test_other_weights_have_another_version(tmp_path):
    one = read_card(write_gguf(byte_policy(), tmp_path / "one.gguf"))
    same = read_card(write_gguf(byte_policy(), tmp_path / "same.gguf"))
    other = read_card(write_gguf(byte_policy(seed=1), tmp_path / "other.gguf"))
    assert one.weights_version == same.weights_version != other.weights_version
    assert one.tokenizer_hash == other.tokenizer_hash


@settings(deadline=None, max_examples=50)
@given(
    st.dictionaries(
        st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1),
        st.one_of(
            st.text(min_size=1),
            st.booleans(),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_nan=False),
            st.lists(st.text(), min_size=1),
            st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1),
        ),
        max_size=6,
    )
)
def test_what_the_format_package_writes_is_read_back(tmp_path_factory, facts):
    path = written(tmp_path_factory.mktemp("head") / "head.gguf", **facts)
    assert read_head(path) == {"general.architecture": "qwen3", **facts}


@pytest.fixture(scope="module")
def head(tmp_path_factory):
    path = written(tmp_path_factory.mktemp("whole") / "whole.gguf", a=["x", "y"], b=7, c="text")
    return path.read_bytes()


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged") / "damaged.gguf"


@settings(deadline=None, max_examples=50)
@given(share=st.floats(0, 0.9))
def test_a_head_that_is_cut_off_is_refused(head, damaged, share):
    damaged.write_bytes(head[: int(len(head) * share)])
    with pytest.raises(ConfigError, match=r"damaged\.gguf is no GGUF model that can be read"):
        read_head(damaged)


@settings(deadline=None, max_examples=50)
@given(at=st.integers(0, 200), noise=st.binary(min_size=1, max_size=40))
def test_noise_in_a_head_is_refused_or_read_but_never_crashes(head, damaged, at, noise):
    damaged.write_bytes(head[:at] + noise + head[at + len(noise) :])
    with contextlib.suppress(ConfigError):
        assert isinstance(read_head(damaged), dict)


def test_a_number_of_items_beyond_the_file_is_refused_at_once(tmp_path):
    path = tmp_path / "huge.gguf"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"a"
    path.write_bytes(head + struct.pack("<IIQ", 9, 4, 2**60) + b"\0" * mmap.PAGESIZE)
    with pytest.raises(ConfigError, match="longer than the file"):
        read_head(path)


@pytest.mark.parametrize("version", [1, 4])
def test_another_version_of_the_format_is_named(tmp_path, version):
    path = tmp_path / "old.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, 0, 0))
    with pytest.raises(ConfigError, match=f"version {version} of the format"):
        read_head(path)


def test_one_of_several_parts_is_refused(tmp_path):
    path = written(tmp_path / "part.gguf", **{"split.count": 3})
    with pytest.raises(ConfigError, match="one of 3 parts; merge them"):
        read_card(path)


def test_a_file_without_a_vocabulary_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no vocabulary"):
        read_card(written(tmp_path / "bare.gguf"))
