"""bootstrap.checkpoint: encoded as by Kafka, decoded, damaged."""

from pathlib import Path

import pytest

from fauxka.protocol.stored_records.metadata_records import (
    ConfigRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    TopicRecord,
    encode_metadata_record,
)
from fauxka.storage.checkpoints.bootstrap_checkpoint import (
    FEATURES_OF_4_3,
    BootstrapCheckpoint,
    encode_bootstrap_checkpoint,
)

from .metadata_files import decode_bootstrap_checkpoint, decode_metadata_record

GOLDEN = Path(__file__).parent.parent / "golden" / "kafka-4.3.0-data-dir" / "bootstrap.checkpoint"

TOPIC_ID = bytes(range(1, 17))
DIRECTORY_ID = bytes(range(17, 33))

# Each record and its bytes: frame version, type, version, fields, no tagged fields.
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
def test_record_has_kafkas_bytes(record: MetadataRecord, encoded: str) -> None:
    assert encode_metadata_record(record) == bytes.fromhex(encoded)


@pytest.mark.parametrize(("record", "encoded"), RECORDS)
def test_record_is_decoded_as_encoded(record: MetadataRecord, encoded: str) -> None:
    assert decode_metadata_record(bytes.fromhex(encoded)) == record


def test_file_of_a_new_kafka_has_the_same_features() -> None:
    assert tuple(decode_bootstrap_checkpoint(GOLDEN.read_bytes()).records) == FEATURES_OF_4_3


def test_file_of_a_new_kafka_is_encoded_byte_for_byte() -> None:
    content = GOLDEN.read_bytes()

    assert encode_bootstrap_checkpoint(decode_bootstrap_checkpoint(content)) == content


def test_file_with_topics_is_decoded_as_encoded() -> None:
    records = [*FEATURES_OF_4_3, *(record for record, _ in RECORDS)]

    assert decode_bootstrap_checkpoint(checkpoint_of(records)).records == records
