"""Records of classic groups and offsets: the bytes of a real Kafka, all versions, and any bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.frames import FrameError
from fauxka.protocol.primitives import ZERO_UUID
from fauxka.protocol.stored_records.group_log_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    GroupRecordType,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    record_type_of,
)

from ..golden.offsets_log import records_of

GOLDEN_LOG = Path(__file__).parent.parent / "golden" / "consumer_offsets-4.3.0.log"
TOPIC_ID = bytes(range(16))

OFFSET = "0000000000000007"
EPOCH = "00000003"
COMMITTED_AT, EXPIRES_AT = "0000000000000400", "0000000000000500"
OFFSET_VALUES = {
    "version 0": (
        f"0000 {OFFSET} 0001 6d {COMMITTED_AT}",
        OffsetCommitValue(offset=7, metadata="m", commit_timestamp=1024),
    ),
    "version 1": (
        f"0001 {OFFSET} 0001 6d {COMMITTED_AT} {EXPIRES_AT}",
        OffsetCommitValue(offset=7, metadata="m", commit_timestamp=1024, expire_timestamp=1280),
    ),
    "version 2": (
        f"0002 {OFFSET} 0001 6d {COMMITTED_AT}",
        OffsetCommitValue(offset=7, metadata="m", commit_timestamp=1024),
    ),
    "version 3": (
        f"0003 {OFFSET} {EPOCH} 0001 6d {COMMITTED_AT}",
        OffsetCommitValue(offset=7, leader_epoch=3, metadata="m", commit_timestamp=1024),
    ),
    "version 4": (
        f"0004 {OFFSET} {EPOCH} 02 6d {COMMITTED_AT} 01 00 10 {TOPIC_ID.hex()}",
        OffsetCommitValue(offset=7, leader_epoch=3, metadata="m", commit_timestamp=1024, topic_id=TOPIC_ID),
    ),
    "version 4 without a topic id": (
        f"0004 {OFFSET} {EPOCH} 02 6d {COMMITTED_AT} 00",
        OffsetCommitValue(offset=7, leader_epoch=3, metadata="m", commit_timestamp=1024),
    ),
}
# A tag of a later version is skipped.
LATER_TAG = f"0004 {OFFSET} {EPOCH} 02 6d {COMMITTED_AT} 02 00 10 {TOPIC_ID.hex()} 05 02 ffff"

MEMBER = "0001 61 {instance} 0001 63 0002 2f68 {timeout} 00000014 00000001 73 00000001 70"
GROUP = "0001 74 00000005 0001 72 0001 61 {state} 00000001"


def group_of(state_timestamp: int = -1, instance: str | None = None, timeout: int = -1) -> GroupMetadataValue:
    """Return the group that is encoded in all versions."""
    member = MemberMetadata(
        member_id="a",
        group_instance_id=instance,
        client_id="c",
        client_host="/h",
        rebalance_timeout=timeout,
        session_timeout=20,
        subscription=b"s",
        assignment=b"p",
    )
    return GroupMetadataValue(
        protocol_type="t",
        generation=5,
        protocol="r",
        leader="a",
        current_state_timestamp=state_timestamp,
        members=(member,),
    )


def _group(version: str, state: str = "", instance: str = "", timeout: str = "") -> str:
    return f"{version} {GROUP.format(state=state)} {MEMBER.format(instance=instance, timeout=timeout)}"


TIMEOUT, STATE = "0000001e", "0000000000000400"
GROUP_VALUES = {
    "version 0": (_group("0000"), group_of()),
    "version 1": (_group("0001", timeout=TIMEOUT), group_of(timeout=30)),
    "version 2": (_group("0002", STATE, timeout=TIMEOUT), group_of(1024, timeout=30)),
    "version 3": (_group("0003", STATE, "0001 69", TIMEOUT), group_of(1024, "i", 30)),
    "version 3 without an instance": (_group("0003", STATE, "ffff", TIMEOUT), group_of(1024, None, 30)),
    "version 4": (
        f"0004 02 74 00000005 02 72 02 61 {STATE} 02 02 61 02 69 02 63 03 2f68 {TIMEOUT} 00000014 02 73 02 70 00 00",
        group_of(1024, "i", 30),
    ),
}

texts = st.text(max_size=20)
numbers = st.integers(-(2**31), 2**31 - 1)
times = st.integers(-1, 2**62)
members = st.builds(
    MemberMetadata,
    member_id=texts,
    group_instance_id=st.none() | texts,
    client_id=texts,
    client_host=texts,
    rebalance_timeout=numbers,
    session_timeout=numbers,
    subscription=st.binary(max_size=20),
    assignment=st.binary(max_size=20),
)


@pytest.mark.parametrize(("encoded", "expected"), OFFSET_VALUES.values(), ids=OFFSET_VALUES)
def test_offset_of_every_version_is_read(encoded: str, expected: OffsetCommitValue) -> None:
    assert OffsetCommitValue.read(bytes.fromhex(encoded)) == expected


@pytest.mark.parametrize(("encoded", "expected"), GROUP_VALUES.values(), ids=GROUP_VALUES)
def test_group_of_every_version_is_read(encoded: str, expected: GroupMetadataValue) -> None:
    assert GroupMetadataValue.read(bytes.fromhex(encoded)) == expected


@pytest.mark.parametrize("name", ["version 1", "version 4", "version 4 without a topic id"])
def test_offset_is_written_in_version_4_and_with_an_expiry_in_version_1(name: str) -> None:
    encoded, value = OFFSET_VALUES[name]

    assert value.encode() == bytes.fromhex(encoded)


@pytest.mark.parametrize("name", ["version 3", "version 3 without an instance"])
def test_group_is_written_in_version_3(name: str) -> None:
    encoded, value = GROUP_VALUES[name]

    assert value.encode() == bytes.fromhex(encoded)


def test_unknown_tags_are_skipped() -> None:
    assert OffsetCommitValue.read(bytes.fromhex(LATER_TAG)) == OFFSET_VALUES["version 4"][1]


@pytest.mark.parametrize("version", [-1, 5])
@pytest.mark.parametrize("read", [OffsetCommitValue.read, GroupMetadataValue.read])
def test_unknown_versions_are_rejected(read: Callable[[bytes], object], version: int) -> None:
    with pytest.raises(FrameError, match=f"version {version}"):
        read(version.to_bytes(2, signed=True) + bytes(100))


def test_keys_are_those_of_kafka() -> None:
    offset, group = OffsetCommitKey("g", "t", 2), GroupMetadataKey("g")

    assert offset.encode() == bytes.fromhex("0001 0001 67 0001 74 00000002")
    assert group.encode() == bytes.fromhex("0002 0001 67")
    assert OffsetCommitKey.read(bytes.fromhex("0000 0001 67 0001 74 00000002")) == offset


def test_key_of_another_type_is_rejected() -> None:
    with pytest.raises(FrameError, match="type 2"):
        OffsetCommitKey.read(GroupMetadataKey("g").encode())


@given(
    st.builds(
        OffsetCommitValue,
        offset=times,
        leader_epoch=numbers,
        metadata=texts,
        commit_timestamp=times,
        topic_id=st.just(ZERO_UUID) | st.binary(min_size=16, max_size=16),
    )
)
def test_written_offset_is_read(value: OffsetCommitValue) -> None:
    assert OffsetCommitValue.read(value.encode()) == value


@given(
    st.builds(
        GroupMetadataValue,
        protocol_type=texts,
        generation=numbers,
        protocol=st.none() | texts,
        leader=st.none() | texts,
        current_state_timestamp=times,
        members=st.lists(members, max_size=3).map(tuple),
    )
)
def test_written_group_is_read(value: GroupMetadataValue) -> None:
    assert GroupMetadataValue.read(value.encode()) == value


@pytest.mark.parametrize(
    ("read", "encoded"),
    [(OffsetCommitValue.read, encoded) for encoded, _ in OFFSET_VALUES.values()]
    + [(GroupMetadataValue.read, encoded) for encoded, _ in GROUP_VALUES.values()]
    + [(OffsetCommitKey.read, "0001 0001 67 0001 74 00000002"), (GroupMetadataKey.read, "0002 0001 67")],
)
def test_truncated_value_is_rejected(read: Callable[[bytes], object], encoded: str) -> None:
    whole = bytes.fromhex(encoded)

    for size in range(len(whole)):
        with pytest.raises(FrameError):
            read(whole[:size])


@given(st.binary(max_size=80))
def test_any_bytes_give_a_value_or_frame_error(data: bytes) -> None:
    for version in range(5):
        for read in (OffsetCommitValue.read, GroupMetadataValue.read):
            try:
                read(version.to_bytes(2) + data)
            except FrameError:
                continue


def test_records_of_a_real_kafka_are_encoded_byte_for_byte() -> None:
    written = 0
    for record in records_of(GOLDEN_LOG.read_bytes()):
        assert record.key is not None
        is_group = record_type_of(record.key) == GroupRecordType.GROUP_METADATA
        key = GroupMetadataKey.read(record.key) if is_group else OffsetCommitKey.read(record.key)
        assert key.encode() == record.key
        if record.value is not None:
            value = GroupMetadataValue.read(record.value) if is_group else OffsetCommitValue.read(record.value)
            assert value.encode() == record.value
        written += 1
    assert written > 250
