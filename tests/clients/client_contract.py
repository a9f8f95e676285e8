"""What must be true whichever client is used; a client's own module inherits it and hands over its driver."""

import time
from collections.abc import Mapping, Sequence

import pytest

from .client import (
    INVALID_CONFIG,
    INVALID_PARTITIONS,
    MESSAGE_TOO_LARGE,
    STEP_SECONDS_MAX,
    TOPIC_ALREADY_EXISTS,
    UNKNOWN_TOPIC_MS,
    UNKNOWN_TOPIC_OR_PARTITION,
    Client,
    GroupMember,
    eventually,
    raises_code,
    unique_name,
)
from .group_churn import CHURN_PARTITIONS, GroupChurn, churn_seconds
from .records import (
    FIRST_TIMESTAMP_MS,
    PARTITION_COUNT,
    TIMESTAMP_STEP_MS,
    Record,
    StoredRecord,
    numbered_record,
    offsets_by_partition,
    offsets_from_zero,
    stored_by_partition,
    thousand_records,
)
from .records import by_partition as records_by_partition
from .stored_batches import COMPRESSIONS, StoredBatch, stored_batches
from .topics import create_topic


def batches_of(bootstrap: str, topic: str) -> list[StoredBatch]:
    """Return the batches of all partitions."""
    return [batch for partition in range(PARTITION_COUNT) for batch in stored_batches(bootstrap, topic, partition)]


def read_until(members: Sequence[GroupMember], count: int) -> list[list[StoredRecord]]:
    """Poll the members in turn until they have read that many records together; return what each one read."""
    read: list[list[StoredRecord]] = [[] for _ in members]
    deadline = time.monotonic() + STEP_SECONDS_MAX
    while sum(map(len, read)) < count:
        assert time.monotonic() < deadline, f"{sum(map(len, read))} of {count} records after {STEP_SECONDS_MAX} s"
        for member, own in zip(members, read, strict=True):
            own.extend(member.poll())
    return read


def poll_until_shared(members: Sequence[GroupMember]) -> None:
    """Poll the members in turn until every partition has one owner and every member a partition."""
    deadline = time.monotonic() + STEP_SECONDS_MAX
    while not _is_shared([member.assigned_partitions() for member in members]):
        assigned = [member.assigned_partitions() for member in members]
        assert time.monotonic() < deadline, f"after {STEP_SECONDS_MAX} s the members have {assigned}"
        for member in members:
            assert member.poll() == [], "the topic is empty"


def _is_shared(assigned: list[set[int]]) -> bool:
    return all(assigned) and sorted(partition for own in assigned for partition in own) == list(range(PARTITION_COUNT))


class Records:
    """Producing and consuming."""

    @pytest.mark.parametrize("compression", COMPRESSIONS)
    def test_a_thousand_records_are_read_back_equal_and_in_order(
        self, client: Client, topic: str, compression: str
    ) -> None:
        sent = thousand_records()

        acknowledged = client.produce(topic, sent, compression)
        stored = client.consume(topic)

        assert stored_by_partition(stored) == records_by_partition(sent)
        assert offsets_by_partition(stored) == offsets_from_zero(sent)
        assert acknowledged == [number // PARTITION_COUNT for number in range(len(sent))]

    @pytest.mark.parametrize("compression", COMPRESSIONS)
    def test_the_batches_are_an_idempotent_producers_and_compressed_as_asked(
        self, client: Client, bootstrap: str, topic: str, compression: str
    ) -> None:
        client.produce(topic, thousand_records(), compression)

        batches = batches_of(bootstrap, topic)
        # A client leaves a batch as it is where compression makes it no smaller, such as one of a single small record.
        assert compression in {batch.compression for batch in batches} <= {compression, "none"}
        [producer_id] = {batch.producer_id for batch in batches}
        assert producer_id >= 0
        # The log was empty and the producer new: offsets and sequences both count from 0, and nothing was given up.
        assert {batch.producer_epoch for batch in batches} == {0}
        assert [batch.base_sequence for batch in batches] == [batch.base_offset for batch in batches]

    @pytest.mark.parametrize("compression", ["uncompressed", "gzip", "snappy", "lz4", "zstd"])
    def test_recompressed_records_are_read_back_equal(self, client: Client, bootstrap: str, compression: str) -> None:
        topic = create_topic(client, bootstrap, "recompressed", PARTITION_COUNT, {"compression.type": compression})
        sent = thousand_records()

        acknowledged = client.produce(topic, sent, "none" if compression != "uncompressed" else "gzip")
        stored = client.consume(topic)

        assert stored_by_partition(stored) == records_by_partition(sent)
        assert acknowledged == [number // PARTITION_COUNT for number in range(len(sent))]
        expected = "none" if compression == "uncompressed" else compression
        assert {batch.compression for batch in batches_of(bootstrap, topic)} == {expected}

    def test_a_timestamp_finds_the_first_record_at_it_or_after_it(self, client: Client, topic: str) -> None:
        client.produce(topic, thousand_records())

        def found(timestamp_ms: int) -> int | None:
            return client.offset_for_timestamp(topic, 1, timestamp_ms)

        # Partition 1 holds the records 1, 4, 7 ... 997: number 3 n + 1 at offset n.
        timestamp_of_offset_100 = FIRST_TIMESTAMP_MS + 301 * TIMESTAMP_STEP_MS
        timestamp_of_the_last = FIRST_TIMESTAMP_MS + 997 * TIMESTAMP_STEP_MS
        assert found(timestamp_of_offset_100) == 100
        assert found(timestamp_of_offset_100 + 1) == 101
        assert found(0) == 0
        assert found(timestamp_of_the_last) == 332
        assert found(timestamp_of_the_last + 1) is None

    def test_an_unknown_topic_is_refused_and_not_created(self, client: Client) -> None:
        missing = unique_name("missing")

        with raises_code(client.unknown_topic_code):
            client.produce(missing, [numbered_record(0)], patience_ms=UNKNOWN_TOPIC_MS)

        assert missing not in client.partition_counts()

    def test_a_record_larger_than_the_topic_allows_is_refused_and_the_next_producer_goes_on(
        self, client: Client, bootstrap: str
    ) -> None:
        topic = create_topic(client, bootstrap, "small", 1, {"max.message.bytes": "1000"})
        small = Record(partition=0, key=b"k", value=b"small", headers=(), timestamp_ms=FIRST_TIMESTAMP_MS)
        large = Record(partition=0, key=b"k", value=bytes(5_000), headers=(), timestamp_ms=FIRST_TIMESTAMP_MS)

        with raises_code(MESSAGE_TOO_LARGE):
            client.produce(topic, [large])
        acknowledged = client.produce(topic, [small])

        assert acknowledged == [0]
        assert client.consume(topic) == [StoredRecord(0, small)]


class Groups:
    """Groups of consumers."""

    def test_two_members_share_the_partitions_and_read_every_record_once(self, client: Client, topic: str) -> None:
        group = unique_name("group")
        sent = thousand_records()
        members = [client.join(group, topic), client.join(group, topic)]
        try:
            poll_until_shared(members)

            client.produce(topic, sent)
            read = read_until(members, len(sent))

            everything = [stored for own in read for stored in own]
            assert stored_by_partition(everything) == records_by_partition(sent)
            assert offsets_by_partition(everything) == offsets_from_zero(sent)
            read_partitions = [{stored.record.partition for stored in own} for own in read]
            assert read_partitions == [member.assigned_partitions() for member in members]
        finally:
            for member in members:
                member.close()

    def test_a_group_continues_after_its_committed_offsets(self, client: Client, topic: str) -> None:
        group = unique_name("group")
        sent = thousand_records()
        client.produce(topic, sent[:300])
        first = client.join(group, topic)
        read_until([first], 300)
        first.commit()
        first.close()

        client.produce(topic, sent[300:])
        second = client.join(group, topic)
        [read] = read_until([second], 700)
        second.close()

        assert stored_by_partition(read) == records_by_partition(sent[300:])


class ComingAndGoing:
    """Groups whose members come and go."""

    # A member that a busy machine has kept from its heartbeats still says that it has what another was given.
    # That is no fault of the broker; a real one, which takes its part of the machine, brings it about now and then.
    @pytest.mark.parametrize("bootstrap", ["fauxka"], indirect=True)
    def test_one_to_eight_members_come_and_go(self, client: Client, bootstrap: str) -> None:
        topic = create_topic(client, bootstrap, "churn", CHURN_PARTITIONS)
        churn = GroupChurn(client, bootstrap, topic, unique_name("group"))
        try:
            churn.go_on_for(churn_seconds())
            churn.come_to_rest()
        finally:
            churn.close()
        client.delete_topic(topic)


class Administration:
    """Topics and their configuration."""

    def test_a_created_topic_is_listed_with_its_partitions_until_it_is_deleted(self, client: Client) -> None:
        topic = unique_name("listed")

        client.create_topic(topic, 5, {})
        while_it_exists = eventually(lambda: client.partition_counts().get(topic, 0), 5)
        client.delete_topic(topic)

        assert while_it_exists == 5
        assert not eventually(lambda: topic in client.partition_counts(), False)

    def test_an_existing_topic_is_not_created_again(self, client: Client, topic: str) -> None:
        with raises_code(TOPIC_ALREADY_EXISTS):
            client.create_topic(topic, 1, {})

        assert client.partition_counts()[topic] == PARTITION_COUNT

    def test_an_unknown_topic_cannot_be_deleted(self, client: Client) -> None:
        with raises_code(UNKNOWN_TOPIC_OR_PARTITION):
            client.delete_topic(unique_name("missing"))

    def test_partitions_are_added_and_never_taken_away(self, client: Client, topic: str) -> None:
        client.add_partitions(topic, PARTITION_COUNT + 2)
        with raises_code(INVALID_PARTITIONS):
            client.add_partitions(topic, 1)

        assert eventually(lambda: client.partition_counts()[topic], PARTITION_COUNT + 2) == PARTITION_COUNT + 2

    def test_a_topic_is_described_as_created_and_as_altered(self, client: Client, bootstrap: str) -> None:
        topic = create_topic(client, bootstrap, "configured", 1, {"retention.ms": "123456789"})
        created = client.topic_config(topic, "retention.ms")

        client.alter_topic_config(topic, "retention.ms", "987654321")

        assert created == "123456789"
        assert eventually(lambda: client.topic_config(topic, "retention.ms"), "987654321") == "987654321"
        assert client.topic_config(topic, "cleanup.policy") == "delete"

    @pytest.mark.parametrize("configs", [{"retention.ms": "soon"}, {"no.such.key": "1"}])
    def test_a_topic_with_a_wrong_configuration_is_not_created(
        self, client: Client, configs: Mapping[str, str]
    ) -> None:
        topic = unique_name("wrong")

        with raises_code(INVALID_CONFIG):
            client.create_topic(topic, 1, configs)

        assert topic not in client.partition_counts()


class ClientContract(Records, Groups, ComingAndGoing, Administration):
    """All of it."""
