"""The file of metadata records that Kafka starts a folder with."""

from pathlib import Path

import pytest

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.batches.whole_batches import whole_batches
from fauxka.protocol.stored_records.metadata_records import (
    ConfigRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    TopicRecord,
    decode_metadata_record,
    encode_metadata_record,
)
from fauxka.storage.checkpoints.bootstrap_checkpoint import (
    FEATURES_OF_4_3,
    BootstrapCheckpoint,
    decode_bootstrap_checkpoint,
    encode_bootstrap_checkpoint,
)
from fauxka.storage.corrupt_file import CorruptFileError

GOLDEN = Path(__file__).parent.parent / "golden" / "kafka-4.3.0-data-dir" / "bootstrap.checkpoint"

TOPIC_ID = bytes(range(1, 17))
DIRECTORY_ID = bytes(range(17, 33))

# Each record beside its bytes: frame version, type, version, fields, no tagged fields.
RECORDS: list[tuple[MetadataRecord, str]] = [
    (TopicRecord(name="demo", topic_id=TOPIC_ID), "010200 0564656d6f" + TOPIC_ID.hex() + "00"),
    (
        PartitionRecord(
            partition_id=2,
            topic_id=TOPIC_ID,
            replicas=[1],
            isr=[1],
            leader=1,
            leader_epoch=3,
            directories=[DIRECTORY_ID],
        ),
        "010301 00000002" + TOPIC_ID.hex() + "0200000001 0200000001 01 01 00000001 00000003 00000000 02"
        f"{DIRECTORY_ID.hex()}00",
    ),
    (
        ConfigRecord(resource_name="demo", name="retention.ms", value="-1"),
        "010400 02 0564656d6f 0d726574656e74696f6e2e6d73 032d31 00",
    ),
    (ConfigRecord(resource_name="demo", name="x", value=None), "010400 02 0564656d6f 0278 00 00"),
    (ProducerIdsRecord(broker_id=1, next_producer_id=2000), "010f00 00000001 ffffffffffffffff 00000000000007d0 00"),
]


def checkpoint_of(records: list[MetadataRecord]) -> bytes:
    return encode_bootstrap_checkpoint(
        BootstrapCheckpoint(records=records, header_timestamp=1, records_timestamp=2, footer_timestamp=3)
    )


@pytest.mark.parametrize(("record", "encoded"), RECORDS)
def test_record_is_written_as_kafka_lays_it_out(record: MetadataRecord, encoded: str) -> None:
    assert encode_metadata_record(record) == bytes.fromhex(encoded)


@pytest.mark.parametrize(("record", "encoded"), RECORDS)
def test_record_is_read_as_it_was_written(record: MetadataRecord, encoded: str) -> None:
    assert decode_metadata_record(bytes.fromhex(encoded)) == record


def test_file_of_a_fresh_kafka_holds_the_features_that_we_write() -> None:
    assert tuple(decode_bootstrap_checkpoint(GOLDEN.read_bytes()).records) == FEATURES_OF_4_3


def test_file_of_a_fresh_kafka_is_written_again_byte_for_byte() -> None:
    content = GOLDEN.read_bytes()

    assert encode_bootstrap_checkpoint(decode_bootstrap_checkpoint(content)) == content


def test_file_with_topics_is_read_as_it_was_written() -> None:
    records = [*FEATURES_OF_4_3, *(record for record, _ in RECORDS)]

    assert decode_bootstrap_checkpoint(checkpoint_of(records)).records == records


def test_file_that_is_cut_anywhere_is_refused() -> None:
    content = checkpoint_of([record for record, _ in RECORDS])

    for size in range(len(content)):
        with pytest.raises(CorruptFileError):
            decode_bootstrap_checkpoint(content[:size])


def test_file_with_a_wrong_bit_in_a_record_is_refused() -> None:
    content = bytearray(checkpoint_of([record for record, _ in RECORDS]))
    content[len(content) // 2] ^= 1

    with pytest.raises(CorruptFileError, match="CRC"):
        decode_bootstrap_checkpoint(bytes(content))


def test_record_of_a_type_that_is_not_written_is_refused() -> None:
    content = bytearray(encode_metadata_record(RECORDS[0][0]))
    content[1] = 99

    with pytest.raises(CorruptFileError, match="type 99"):
        decode_bootstrap_checkpoint(file_with_value(bytes(content)))


def file_with_value(value: bytes) -> bytes:
    """A file whose one record has that value, which nothing of ours would write."""
    header, _, footer = (bytes(batch.data) for batch in whole_batches(checkpoint_of([RECORDS[0][0]])))
    return header + build_batch([Record(value, timestamp=2)], BatchOptions(base_offset=1)) + footer
