"""kcat from Debian, on the oldest librdkafka of these tests."""

import dataclasses
import re
from collections.abc import Iterator

import pytest

from .client import UNKNOWN_TOPIC_MS, Client, unique_name
from .client_contract import batches_of, poll_until_shared, read_until
from .confluent_client import ConfluentClient
from .kcat_client import KcatClient, KcatError
from .records import (
    PARTITION_COUNT,
    Record,
    StoredRecord,
    by_partition,
    numbered_record,
    offsets_by_partition,
    offsets_from_zero,
    thousand_records,
)
from .stored_batches import COMPRESSIONS
from .topics import create_topic

pytestmark = pytest.mark.kcat


@pytest.fixture
def client(bootstrap: str) -> Iterator[Client]:
    """Who creates the topics."""
    driver = ConfluentClient(bootstrap)
    yield driver
    driver.close()


@pytest.fixture
def kcat(bootstrap: str) -> KcatClient:
    return KcatClient(bootstrap)


def sendable(record: Record) -> Record:
    """Return the record as kcat can send it: one set of headers a run, and the time at which it is sent."""
    headers = (("source", f"partition {record.partition}".encode()), ("tool", b"kcat"))
    return dataclasses.replace(record, headers=headers, timestamp_ms=0)


def without_timestamps(stored: list[StoredRecord]) -> dict[int, list[Record]]:
    return by_partition(dataclasses.replace(each.record, timestamp_ms=0) for each in stored)


def produce_all(kcat: KcatClient, topic: str, records: list[Record], compression: str = "none") -> None:
    for alike in by_partition(records).values():
        kcat.produce(topic, alike, compression)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_thousand_records_are_read_back_equal_and_in_order(
    kcat: KcatClient, bootstrap: str, topic: str, compression: str
) -> None:
    sent = [sendable(record) for record in thousand_records()]

    produce_all(kcat, topic, sent, compression)
    stored = kcat.consume(topic)

    assert without_timestamps(stored) == by_partition(sent)
    assert offsets_by_partition(stored) == offsets_from_zero(sent)
    batches = batches_of(bootstrap, topic)
    assert {batch.compression for batch in batches} == {compression}
    assert len({batch.producer_id for batch in batches}) == PARTITION_COUNT
    assert [batch.base_sequence for batch in batches] == [batch.base_offset for batch in batches]


def test_two_members_share_the_partitions_and_read_every_record_once(kcat: KcatClient, topic: str) -> None:
    group = unique_name("group")
    sent = [sendable(record) for record in thousand_records()]
    members = [kcat.join(group, topic), kcat.join(group, topic)]
    try:
        poll_until_shared(members)

        produce_all(kcat, topic, sent)
        read = read_until(members, len(sent))

        everything = [stored for own in read for stored in own]
        assert without_timestamps(everything) == by_partition(sent)
        read_partitions = [{stored.record.partition for stored in own} for own in read]
        assert read_partitions == [member.assigned_partitions() for member in members]
    finally:
        for member in members:
            member.close()


def test_a_timestamp_finds_the_first_record_at_it_or_after_it(kcat: KcatClient, topic: str) -> None:
    produce_all(kcat, topic, [sendable(record) for record in thousand_records()])
    timestamps = [stored.record.timestamp_ms for stored in kcat.consume(topic) if stored.record.partition == 1]

    middle = timestamps[len(timestamps) // 2]

    assert kcat.offset_for_timestamp(topic, 1, middle) == timestamps.index(middle)
    assert kcat.offset_for_timestamp(topic, 1, timestamps[0] - 1) == 0
    assert kcat.offset_for_timestamp(topic, 1, max(timestamps) + 1) is None


def test_an_unknown_topic_is_refused_and_not_created(kcat: KcatClient) -> None:
    missing = unique_name("missing")

    with pytest.raises(KcatError, match="Unknown topic or partition"):
        kcat.produce(missing, [sendable(numbered_record(0))], patience_ms=UNKNOWN_TOPIC_MS)

    assert missing not in kcat.listing()


def test_a_record_larger_than_the_topic_allows_is_refused(kcat: KcatClient, client: Client, bootstrap: str) -> None:
    topic = create_topic(client, bootstrap, "small", 1, {"max.message.bytes": "1000"})
    large = Record(partition=0, key=b"k", value=b"x" * 5_000, headers=(), timestamp_ms=0)

    with pytest.raises(KcatError, match="Message size too large"):
        kcat.produce(topic, [large])

    assert kcat.consume(topic) == []


def test_the_topics_are_listed_with_their_partitions(kcat: KcatClient, topic: str) -> None:
    listing = kcat.listing()

    assert f'topic "{topic}" with {PARTITION_COUNT} partitions' in listing
    assert re.search(r"^  broker 1 at 127\.0\.0\.1:\d+", listing, re.MULTILINE)
