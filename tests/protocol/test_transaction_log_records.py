"""Records of __transaction_state, compared byte for byte with those of a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.batches.records import decode_batch
from fauxka.protocol.frames import FrameError
from fauxka.protocol.stored_records.transaction_log_records import (
    NO_PRODUCER_ID,
    TransactionLogValue,
    TransactionStatus,
    decode_key,
    encode_key,
)

KAFKA_FOLDER = Path(__file__).parent.parent / "golden" / "kafka-4.3.0-data-dir"


def records_of_kafka() -> list[tuple[bytes, bytes]]:
    """Return the keys and values of the real broker's coordinator, in order."""
    found: list[tuple[bytes, bytes]] = []
    for path in sorted(KAFKA_FOLDER.glob("__transaction_state-*/*.log")):
        content = path.read_bytes()
        position = 0
        while position < len(content):
            size = parse_header(content, position).size
            for record in decode_batch(content[position : position + size]):
                assert record.key is not None and record.value is not None
                found.append((record.key, record.value))
            position += size
    return found


CAPTURED = records_of_kafka()


def test_capture_has_records_of_a_real_broker() -> None:
    assert len(CAPTURED) == 9


@pytest.mark.parametrize(("key", "value"), CAPTURED)
def test_record_of_a_real_broker_is_encoded_byte_for_byte(key: bytes, value: bytes) -> None:
    transactional_id = decode_key(key)

    assert transactional_id in ("tx-1", "tx-2")
    assert encode_key(transactional_id) == key
    assert TransactionLogValue.read(value).encode(1) == value


def test_transaction_of_a_real_broker_has_all_its_states() -> None:
    of_first = [TransactionLogValue.read(value) for key, value in CAPTURED if decode_key(key) == "tx-1"]

    assert [(each.status.name, each.producer_epoch) for each in of_first] == [
        ("EMPTY", 0),
        ("ONGOING", 0),
        ("PREPARE_COMMIT", 1),
        ("COMPLETE_COMMIT", 1),
        ("ONGOING", 1),
        ("PREPARE_ABORT", 2),
        ("COMPLETE_ABORT", 2),
    ]
    assert [each.partitions for each in of_first[:4]] == [None, {"demo": [0]}, {"demo": [0]}, {}]


def test_version_0_omits_the_tagged_fields() -> None:
    value = TransactionLogValue(
        producer_id=4,
        producer_epoch=7,
        timeout_ms=60_000,
        status=TransactionStatus.ONGOING,
        partitions={"t": [1]},
        last_update_ms=5,
        start_ms=3,
        previous_producer_id=4,
        client_transaction_version=2,
    )

    encoded = value.encode(0)

    # version, producer id, epoch, timeout, state; one topic, "t", one partition, 1; last update, start.
    expected = (
        "0000 0000000000000004 0007 0000ea60 01 00000001 0001 74 00000001 00000001 0000000000000005 0000000000000003"
    )
    assert encoded.hex() == expected.replace(" ", "")
    read = TransactionLogValue.read(encoded)
    assert (read.previous_producer_id, read.client_transaction_version) == (NO_PRODUCER_ID, 0)


EPOCHS = st.integers(-1, 32767)
IDS = st.integers(-1, 2**63 - 1)
VALUES = st.builds(
    TransactionLogValue,
    producer_id=IDS,
    producer_epoch=EPOCHS,
    timeout_ms=st.integers(0, 2**31 - 1),
    status=st.sampled_from(TransactionStatus),
    partitions=st.none()
    | st.dictionaries(st.text(max_size=5), st.lists(st.integers(0, 2**31 - 1), max_size=3), max_size=3),
    last_update_ms=st.integers(-1, 2**63 - 1),
    start_ms=st.integers(-1, 2**63 - 1),
    previous_producer_id=IDS,
    next_producer_id=IDS,
    client_transaction_version=st.integers(0, 2),
    next_producer_epoch=EPOCHS,
)


@given(VALUES)
def test_written_value_is_read(value: TransactionLogValue) -> None:
    assert TransactionLogValue.read(value.encode(1)) == value


@given(st.binary(max_size=80))
def test_any_bytes_are_a_value_or_rejected(content: bytes) -> None:
    try:
        TransactionLogValue.read(content)
    except FrameError:
        return


@pytest.mark.parametrize("content", ["", "0002", "ffff", "0001" + "00" * 14 + "08" + "00" * 18])
def test_invalid_value_is_rejected(content: str) -> None:
    with pytest.raises(FrameError):
        TransactionLogValue.read(bytes.fromhex(content))


def test_key_of_another_type_has_no_transactional_id() -> None:
    assert decode_key(b"\x00\x01\x00\x01a") is None
