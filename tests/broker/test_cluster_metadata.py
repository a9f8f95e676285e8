"""The metadata file: round trips, and errors that name the field and its value."""

import json
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.metadata.cluster_metadata import (
    ClusterMetadata,
    ConfigsMetadata,
    NewerMetadataError,
    TopicMetadata,
    decode_metadata,
    encode_metadata,
    with_checksum,
)
from fauxka.storage.corrupt_file import CorruptFileError

TOPIC_ID = bytes(range(16))
METADATA = ClusterMetadata(
    "the-cluster",
    3000,
    (
        TopicMetadata("events", TOPIC_ID, 3, {"retention.ms": "-1"}),
        TopicMetadata("other.events_2", bytes(range(1, 17)), 1),
    ),
    ConfigsMetadata({"a": "1"}, {"min.insync.replicas": "1"}, {"group ü": {"b": ""}}, {"metrics": {"c": "\n"}}),
    17,
    {"transaction.version": 1, "share.version": 0},
)

REMOVED = object()
FIRST = ("topics", 0)

TEXTS = st.dictionaries(st.text(), st.text(), max_size=3)
NAMES = st.from_regex(r"[a-zA-Z0-9_-]{1,20}", fullmatch=True)
TOPICS = st.builds(
    TopicMetadata,
    NAMES,
    st.binary(min_size=16, max_size=16).filter(lambda topic_id: topic_id != bytes(16)),
    st.integers(1, 2**31 - 1),
    TEXTS,
)
CONFIGS = st.builds(
    ConfigsMetadata, TEXTS, TEXTS, st.dictionaries(st.text(), TEXTS, max_size=2), st.dictionaries(st.text(), TEXTS)
)


def changed(path: Sequence[str | int], value: object) -> bytes:
    """Return the file with another value at a path of names and indexes; REMOVED deletes the field.

    It has version 2, which has no checksum.
    """
    content = json.loads(encode_metadata(METADATA))
    content["version"] = 2
    del content["checksum"]
    place = content
    for step in path[:-1]:
        place = place[step]
    if value is REMOVED:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(content).encode()


def test_written_bytes_are_read_again() -> None:
    assert decode_metadata(encode_metadata(METADATA)) == METADATA


def test_empty_cluster_without_configs_is_read_again() -> None:
    metadata = ClusterMetadata("c")

    assert decode_metadata(encode_metadata(metadata)) == metadata


@given(
    st.builds(
        ClusterMetadata,
        cluster_id=st.text(min_size=1),
        next_producer_id=st.integers(0, 2**63 - 1),
        topics=st.lists(TOPICS, max_size=4, unique_by=(lambda topic: topic.name, lambda topic: topic.topic_id)).map(
            tuple
        ),
        configs=st.none() | CONFIGS,
        metadata_offset=st.integers(0, 2**63 - 1),
        features=st.dictionaries(st.sampled_from(["group.version", "transaction.version"]), st.integers(0, 1)),
    )
)
def test_any_cluster_is_read_again(metadata: ClusterMetadata) -> None:
    assert decode_metadata(encode_metadata(metadata)) == metadata


def test_configs_of_several_nodes_are_read_again() -> None:
    configs = ConfigsMetadata(node_configs={2: {"log.retention.ms": "5"}, 10: {}})
    metadata = ClusterMetadata("c", configs=configs)

    content = encode_metadata(metadata)

    assert json.loads(content)["version"] == 4
    assert decode_metadata(content) == metadata


@pytest.mark.parametrize("name", ["", "-1", "01", "node-1", "12345678901", "²"])
def test_configs_of_no_node_id_are_refused(name: str) -> None:
    written = json.loads(encode_metadata(ClusterMetadata("c", configs=ConfigsMetadata(node_configs={2: {}}))))
    written["configs"]["nodes"] = {name: {}}
    del written["checksum"]
    content = json.dumps(written).removesuffix("}").encode() + b",\n"

    with pytest.raises(CorruptFileError, match=r"configs\.nodes"):
        decode_metadata(with_checksum(content))


def test_file_that_is_cut_anywhere_is_refused() -> None:
    # The last byte is the final line break.
    content = encode_metadata(METADATA).rstrip()
    for size in range(len(content)):
        with pytest.raises(CorruptFileError):
            decode_metadata(content[:size])


@given(st.binary(max_size=200))
def test_any_bytes_are_metadata_or_refused(content: bytes) -> None:
    with suppress(CorruptFileError):
        decode_metadata(content)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("version",), 0, "version is 0"),
        (("version",), True, "version is true"),
        (("version",), REMOVED, "version is null"),
        (("topics",), REMOVED, "has no field topics"),
        (("surplus",), 1, "has the unknown field surplus"),
        (("cluster_id",), "", 'cluster_id is ""'),
        (("next_producer_id",), -1, "next_producer_id is -1"),
        (("next_producer_id",), 1.5, "next_producer_id is 1.5"),
        (("next_producer_id",), 2**63, "next_producer_id is 9223372036854775808"),
        (("topics",), {}, "topics is {}; expected a list"),
        (FIRST, 7, "topics[0] is 7; expected an object"),
        (("configs",), [], "configs is []; expected an object"),
        ((*FIRST, "name"), "a/b", 'topics[0].name is "a/b"'),
        ((*FIRST, "name"), "..", 'topics[0].name is ".."'),
        ((*FIRST, "name"), "other.events_2", 'topics[1].name is "other.events_2"'),
        ((*FIRST, "topic_id"), "short", 'topics[0].topic_id is "short"'),
        ((*FIRST, "topic_id"), "A" * 22, f'topics[0].topic_id is "{"A" * 22}"'),
        (
            (*FIRST, "topic_id"),
            "AQIDBAUGBwgJCgsMDQ4PEA",
            'topics[1].topic_id is "AQIDBAUGBwgJCgsMDQ4PEA"; expected a unique topic id',
        ),
        ((*FIRST, "partition_count"), 0, "topics[0].partition_count is 0"),
        ((*FIRST, "partition_count"), True, "topics[0].partition_count is true"),
        ((*FIRST, "configs"), {"a": 1}, "topics[0].configs.a is 1; expected a string"),
        (("configs", "broker"), None, "configs.broker is null"),
        (("configs", "groups"), {"g": {"k": []}}, "configs.groups.g.k is []"),
        (("metadata_offset",), -1, "metadata_offset is -1"),
        (("metadata_offset",), REMOVED, "has no field metadata_offset"),
        (("features",), [], "features is []; expected an object"),
        (("features", "a.version"), 1, 'features is "a.version"; expected the name of a feature: group.version, '),
        (("features", "group.version"), 2, "features.group.version is 2; expected an integer from 0 to 1"),
        (("features", "metadata.version"), 6, "features.metadata.version is 6; expected an integer from 7 to 33"),
    ],
)
def test_wrong_value_is_named_with_its_field(path: Sequence[str | int], value: object, message: str) -> None:
    with pytest.raises(CorruptFileError) as raised:
        decode_metadata(changed(path, value))

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [b'{"version": 7, "anything": []}', with_checksum(b'{"version": 7, "anything": [],\n')],
    ids=["without a checksum", "with a checksum"],
)
def test_file_of_a_later_release_is_recognised(content: bytes) -> None:
    with pytest.raises(NewerMetadataError, match="has version 7; this release supports versions up to 6"):
        decode_metadata(content)


def test_file_without_a_checksum_is_read() -> None:
    assert decode_metadata(changed(("version",), 2)) == METADATA


def test_file_of_version_3_needs_its_checksum() -> None:
    with pytest.raises(CorruptFileError, match="has version 3 and no checksum in its last line"):
        decode_metadata(changed(("version",), 3))


def test_any_changed_bit_is_found() -> None:
    content = encode_metadata(METADATA)
    for bit in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptFileError) as raised:
            decode_metadata(bytes(flipped))
        assert not isinstance(raised.value, NewerMetadataError), f"bit {bit}"


def test_version_1_has_no_features() -> None:
    content = (
        b'{"version": 1, "cluster_id": "c", "next_producer_id": 7, '
        b'"topics": [{"name": "t", "topic_id": "AQIDBAUGBwgJCgsMDQ4PEA", "partition_count": 1, "configs": {}}], '
        b'"configs": null}'
    )

    assert decode_metadata(content) == ClusterMetadata("c", 7, (TopicMetadata("t", bytes(range(1, 17)), 1),))


def test_version_1_with_features_is_refused() -> None:
    content = b'{"version": 1, "cluster_id": "c", "next_producer_id": 7, "topics": [], "configs": null, "features": {}}'

    with pytest.raises(CorruptFileError, match="unknown field features"):
        decode_metadata(content)
