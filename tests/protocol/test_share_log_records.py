"""Records of share groups: the bytes of a real Kafka, and any bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.frames import FrameError
from fauxka.protocol.stored_records.share_group_records import ShareRecordType, read_share_record
from fauxka.protocol.stored_records.share_state_records import ShareStateType, ShareStateValue, read_share_key

from ..golden.offsets_log import records_of

GOLDEN = Path(__file__).parent.parent / "golden"
# The records that Kafka 4.3.0 wrote during capture_share_groups.
GROUPS = GOLDEN / "share_groups-consumer_offsets-4.3.0.log"
STATES = GOLDEN / "share_groups-share_group_state-4.3.0.log"


def test_records_of_a_group_have_the_bytes_of_kafka() -> None:
    types: set[int] = set()
    for record in records_of(GROUPS.read_bytes()):
        assert record.key is not None
        read = read_share_record(record.key, record.value)
        types.add(read.record_type)

        assert (read.encode_key(), read.encode_value()) == (record.key, record.value)
    assert types == set(ShareRecordType)


def test_records_of_a_state_have_the_bytes_of_kafka() -> None:
    types: set[ShareStateType] = set()
    for record in records_of(STATES.read_bytes()):
        assert record.key is not None
        record_type, key = read_share_key(record.key)

        assert key.encode(record_type) == record.key
        if record.value is not None:
            types.add(record_type)
            assert ShareStateValue.read(record_type, record.value).encode(record_type) == record.value
    assert types == set(ShareStateType)


@given(st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_any_bytes_are_read_or_rejected(key: bytes, value: bytes | None) -> None:
    try:
        read_share_record(b"\x00\x0b" + key, value)
    except FrameError:
        return


@given(st.sampled_from(ShareStateType), st.binary(max_size=80))
def test_any_bytes_of_a_state_are_read_or_rejected(record_type: ShareStateType, value: bytes) -> None:
    try:
        ShareStateValue.read(record_type, b"\x00\x00" + value)
    except FrameError:
        return


def test_a_later_version_is_refused() -> None:
    with pytest.raises(FrameError, match="version 1"):
        ShareStateValue.read(ShareStateType.UPDATE, b"\x00\x01")
    with pytest.raises(FrameError, match="version 1"):
        read_share_record(b"\x00\x0b\x00\x01g", b"\x00\x01")
