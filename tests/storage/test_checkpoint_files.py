"""The text files beside the logs: a real Kafka's files, invalid files, and damage at every bit and length."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.storage.checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCH_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    MetaProperties,
    decode_leader_epochs,
    decode_meta_properties,
    decode_offsets,
    decode_partition_metadata,
    encode_clean_shutdown,
    encode_leader_epochs,
    encode_meta_properties,
    encode_offsets,
    encode_partition_metadata,
)
from fauxka.storage.corrupt_file import CorruptFileError

from .kafka_folder import damaged_bit, kafka_bytes, kafka_files

OFFSET_CHECKPOINTS = kafka_files("*-offset-checkpoint")
LEADER_EPOCHS = kafka_files(LEADER_EPOCH_CHECKPOINT)
PARTITION_METADATAS = kafka_files(PARTITION_METADATA)

DIRECTORY_ID = bytes.fromhex("ffcfa1811a0041596faf963fd3d33259")
DEMO_ID = bytes.fromhex("01dbff04a4ee4302a6750388dc97ba97")

DECODERS: list[tuple[str, Callable[[bytes], object]]] = [
    *((path, decode_offsets) for path in OFFSET_CHECKPOINTS),
    *((path, decode_leader_epochs) for path in LEADER_EPOCHS),
    *((path, decode_partition_metadata) for path in PARTITION_METADATAS),
    (META_PROPERTIES, decode_meta_properties),
]
ALL_FILES = pytest.mark.parametrize(("path", "decode"), DECODERS, ids=[path for path, _ in DECODERS])


@pytest.mark.parametrize("path", OFFSET_CHECKPOINTS)
def test_offset_checkpoint_of_a_real_kafka_is_encoded_byte_for_byte(path: str) -> None:
    data = kafka_bytes(path)

    assert encode_offsets(decode_offsets(data)) == data


@pytest.mark.parametrize("path", LEADER_EPOCHS)
def test_leader_epochs_of_a_real_kafka_are_encoded_byte_for_byte(path: str) -> None:
    data = kafka_bytes(path)

    assert encode_leader_epochs(decode_leader_epochs(data)) == data


@pytest.mark.parametrize("path", PARTITION_METADATAS)
def test_partition_metadata_of_a_real_kafka_is_encoded_byte_for_byte(path: str) -> None:
    data = kafka_bytes(path)

    assert encode_partition_metadata(decode_partition_metadata(data)) == data


def test_clean_shutdown_mark_of_a_real_kafka_is_encoded_byte_for_byte() -> None:
    data = kafka_bytes(CLEAN_SHUTDOWN)

    assert encode_clean_shutdown(12) == data


def test_meta_properties_of_a_real_kafka_are_encoded_line_for_line() -> None:
    data = kafka_bytes(META_PROPERTIES)

    properties = decode_meta_properties(data)

    assert properties == MetaProperties("A" * 22, 1, DIRECTORY_ID)
    entries = [line for line in data.splitlines() if not line.startswith(b"#")]
    assert encode_meta_properties(properties).splitlines() == entries


def test_files_of_a_real_kafka_are_decoded() -> None:
    assert decode_offsets(kafka_bytes("recovery-point-offset-checkpoint")) == {
        ("demo", 0): 15,
        ("compacted", 0): 6,
        ("__transaction_state", 0): 7,
        ("__transaction_state", 1): 2,
    }
    assert decode_leader_epochs(kafka_bytes("demo-0/leader-epoch-checkpoint")) == [(0, 2)]
    assert decode_partition_metadata(kafka_bytes("demo-0/partition.metadata")) == DEMO_ID


def test_empty_file_has_no_entries() -> None:
    assert decode_offsets(b"") == {}
    assert decode_leader_epochs(b"") == []


def test_checkpoint_without_entries_has_version_and_count() -> None:
    assert encode_offsets({}) == encode_leader_epochs([]) == b"0\n0\n"
    assert decode_offsets(b"0\n0\n") == {}


def test_greatest_numbers_are_decoded() -> None:
    assert decode_offsets(b"0\n1\nt 2147483647 9223372036854775807\n") == {("t", 2**31 - 1): 2**63 - 1}
    assert decode_leader_epochs(b"0\n1\n2147483647 9223372036854775807\n") == [(2**31 - 1, 2**63 - 1)]


def test_any_white_space_separates_the_fields_of_an_entry() -> None:
    assert decode_offsets(b"0\n1\nt  0\t7\n") == {("t", 0): 7}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"1\n0\n", "line 1: expected version 0, found b'1'"),
        (b"x\n0\n", "line 1: expected version 0, found b'x'"),
        (b"\n", "line 1: expected version 0, found b''"),
        (b"0", "line 1: the file ends inside the line"),
        (b"0\n", "line 2: expected the number of entries, found b''"),
        (b"0\nx\n", "line 2: expected the number of entries, found b'x'"),
        (b"0\n-1\n", "line 2: expected the number of entries"),
        (b"0\n" + b"9" * 5000 + b"\n", "line 2: expected the number of entries"),
        (b"0\n2\nt 0 7\n", "line 2: expected 2 entries, found 1"),
        (b"0\n0\nt 0 7\n", "line 2: expected 0 entries, found 1"),
        (b"0\n1\nt 0 7\n\n", "line 2: expected 1 entries, found 2"),
        (b"0\n1\nt 0 7", "line 3: the file ends inside the line"),
        (b"0\n1\nt 0\n", "line 3: expected a topic, a partition and an offset, found b't 0'"),
        (b"0\n2\nt 0 1\nt 1 7 8\n", "line 4: expected a topic, a partition and an offset"),
        (b"0\n1\nt -1 7\n", "line 3: expected"),
        (b"0\n1\nt 0 -7\n", "line 3: expected"),
        (b"0\n1\nt 2147483648 7\n", "line 3: expected"),
        (b"0\n1\nt 0 9223372036854775808\n", "line 3: expected"),
        (b"0\n1\nt\xff 0 7\n", "line 3: expected"),
        (b"0\n1\nt/u 0 7\n", "line 3: expected"),
        (bytes(20), "line 1: the file ends inside the line"),
    ],
)
def test_offset_checkpoint_is_refused_with_the_line_and_the_fault(data: bytes, words: str) -> None:
    with pytest.raises(CorruptFileError, match=words):
        decode_offsets(data)


@pytest.mark.parametrize(
    "line", [b"0", b"0 1 2", b"x 1", b"-1 0", b"0 -1", b"2147483648 0", b"0 9223372036854775808", b" 0 1"]
)
def test_invalid_leader_epoch_is_refused(line: bytes) -> None:
    with pytest.raises(CorruptFileError, match="line 3: expected a leader epoch and an offset"):
        decode_leader_epochs(b"0\n1\n" + line + b"\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"version: 0",
        b"version: -1\ntopic_id: Adv_BKTuQwKmdQOI3Je6lw",
        b"version: 0\ntopic_id: Adv_BKTuQwKmdQOI3Je6l",
        b"version: 0\ntopic_id: Adv_BKTuQwKmdQOI3Je6lx",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        b"version: 0\ntopic_id: Adv_BKTuQwKmdQOI3Je6lw\nmore",
        b"version: 0\ntopic_id: " + b"\xff" * 22,
    ],
)
def test_partition_metadata_without_a_topic_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptFileError):
        decode_partition_metadata(data)


def test_partition_metadata_of_a_later_version_is_accepted() -> None:
    assert decode_partition_metadata(b"version: 1\ntopic_id: Adv_BKTuQwKmdQOI3Je6lw\n") == DEMO_ID


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "version: expected 1, found None"),
        (b"version=0\nbroker.id=1\n", "version: expected 1, found '0'"),
        (b"version=1\nnode.id=1\n", "cluster.id: missing"),
        (b"version=1\ncluster.id=c\n", "node.id: expected a number, found ''"),
        (b"version=1\ncluster.id=c\nnode.id=-1\n", "node.id: expected a number, found '-1'"),
        (b"version=1\ncluster.id=c\nnode.id=2147483648\n", "node.id: expected a number"),
        (b"version=1\ncluster.id=c\nnode.id=1\ndirectory.id=x\n", "directory.id: not a Uuid"),
        (b"version=1\ncluster.id=\\u00\nnode.id=1\n", "Malformed"),
    ],
)
def test_meta_properties_are_refused_with_the_key_and_the_fault(data: bytes, words: str) -> None:
    with pytest.raises(CorruptFileError, match=words):
        decode_meta_properties(data)


def test_meta_properties_of_an_older_kafka_have_no_directory_id() -> None:
    properties = decode_meta_properties(b"#\n#Sat Nov 21\ncluster.id=c\nversion=1\nnode.id=7\n")

    assert properties == MetaProperties("c", 7, None)
    assert decode_meta_properties(encode_meta_properties(properties)) == properties


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_cluster_id_of_any_characters_is_decoded_as_encoded(cluster_id: str) -> None:
    properties = MetaProperties(cluster_id, 1, DIRECTORY_ID)

    assert decode_meta_properties(encode_meta_properties(properties)) == properties


TOPIC_NAMES = st.text("abcXYZ019._-", min_size=1, max_size=20)


@given(st.dictionaries(st.tuples(TOPIC_NAMES, st.integers(0, 2**31 - 1)), st.integers(0, 2**63 - 1)))
def test_offsets_are_decoded_in_order(offsets: dict[tuple[str, int], int]) -> None:
    assert list(decode_offsets(encode_offsets(offsets)).items()) == list(offsets.items())


@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1))))
def test_leader_epochs_are_decoded_in_order(epochs: list[tuple[int, int]]) -> None:
    assert decode_leader_epochs(encode_leader_epochs(epochs)) == epochs


@pytest.mark.parametrize(
    ("path", "decode"), [each for each in DECODERS if each[0] != META_PROPERTIES and "metadata" not in each[0]]
)
def test_truncated_checkpoint_is_refused_unless_it_is_empty(path: str, decode: Callable[[bytes], object]) -> None:
    data = kafka_bytes(path)

    assert [size for size in range(1, len(data)) if is_taken(decode, data[:size])] == []


@ALL_FILES
def test_truncated_file_is_decoded_or_refused(path: str, decode: Callable[[bytes], object]) -> None:
    data = kafka_bytes(path)

    taken = [size for size in range(len(data) + 1) if is_taken(decode, data[:size])]

    assert taken[-1] == len(data)


@ALL_FILES
def test_file_with_a_flipped_bit_is_decoded_or_refused(path: str, decode: Callable[[bytes], object]) -> None:
    data = kafka_bytes(path)

    refused = [bit for bit in range(8 * len(data)) if not is_taken(decode, damaged_bit(data, bit))]

    assert refused, "the first line of each file has bits that matter"


@ALL_FILES
@given(data=st.binary(max_size=80))
def test_any_bytes_are_decoded_or_refused(path: str, decode: Callable[[bytes], object], data: bytes) -> None:
    is_taken(decode, data)


def is_taken(decode: Callable[[bytes], object], data: bytes) -> bool:
    """Return whether data is decoded; any exception except CorruptFileError fails the test."""
    try:
        decode(data)
    except CorruptFileError:
        return False
    return True
