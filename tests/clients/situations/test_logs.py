"""Situations in which the log changes under its consumers: elections, new partitions, new topics, damaged records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fauxka.testing import Broker

from ..client import eventually
from ..confluent_client import admin
from ..group_readers import READERS, TOPIC, ConsumerProtocolReader, MakeReader, Reader
from .situation import CONFIG, GROUP, Found, append, assert_clean, assert_finds, kinds_of, read_until, verdict_of

pytestmark = pytest.mark.clients

REPLICAS = {"default.replication.factor": 3, "offsets.topic.replication.factor": 3}
# Longer than replica.lag.time.max.ms, after which followers that fetch nothing leave the ISR.
LAG_PASSED_MS = 46_000
METADATA_MS = 300
BY_NAME = {name: each for name, each in READERS.items() if each is not ConsumerProtocolReader}
by_name = pytest.mark.parametrize("make_reader", BY_NAME.values(), ids=list(BY_NAME), indirect=True)
CHECKING = {name: each for name, each in READERS.items() if name in ("confluent-kafka", "aiokafka")}
checking = pytest.mark.parametrize("make_reader", CHECKING.values(), ids=list(CHECKING), indirect=True)


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Broker]:
    with Broker({**CONFIG, **REPLICAS}, nodes=3) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Broker) -> Broker:
    """Three nodes with a partition of six records."""
    shared_cluster.reset()
    shared_cluster.topics.create(TOPIC, partitions=1)
    append(shared_cluster, 6)
    return shared_cluster


def followers(cluster: Broker) -> list[int]:
    """Return the nodes that follow the leader of the partition."""
    (partition,) = cluster.partitions(TOPIC)
    return [node for node in (1, 2, 3) if node != partition.leader]


def lose_four_records(cluster: Broker, make_reader: MakeReader, *, appended: int) -> None:
    """Have a reader read ten records, of which an unclean election loses four.

    appended: records that take their offsets before the reader has noticed it; it reads up to the end.
    """
    reader = make_reader(cluster.bootstrap_servers, GROUP, metadata_max_age_ms=METADATA_MS)
    reader.read(6)
    nodes = followers(cluster)
    for node in nodes:
        cluster.pause_replication(node, TOPIC, 0)
    append(cluster, 4)
    cluster.clock.advance(LAG_PASSED_MS)
    reader.read(4)
    cluster.move_leader(TOPIC, 0, nodes[0], unclean=True)
    append(cluster, appended)
    read_until([reader], lambda read: (0, 5 + appended) in read[0])
    reader.commit(6 + appended)
    reader.close()


# Reported: an unclean election under running consumers. What they have processed is not in the log any more.
def test_unclean_election_takes_back_what_was_delivered(cluster: Broker, make_reader: MakeReader) -> None:
    lose_four_records(cluster, make_reader, appended=9)

    lost, *_ = verdict_of(cluster).findings

    assert (lost.kind, lost.cause, lost.offsets) == ("delivered_and_truncated", "truncated", [6, 9])
    assert "got them, and after a crash or an election the log ended at or before offset 6" in lost.why


# Reported: aiokafka has no leader epochs in its fetches, and does not see that its position was truncated.
@pytest.mark.parametrize("make_reader", [READERS["aiokafka"]], indirect=True)
def test_client_without_leader_epochs_passes_over_new_records(cluster: Broker, make_reader: MakeReader) -> None:
    lose_four_records(cluster, make_reader, appended=9)

    verdict = verdict_of(cluster)

    why = "did not notice that the log was truncated and new records have these offsets, and went on where it was"
    assert_finds(
        verdict,
        Found("delivered_and_truncated", "truncated", 6, 9, "the log ended at or before offset 6"),
        Found("never_delivered", "truncated", 6, 9, why),
    )
    with pytest.raises(AssertionError, match="did not notice that the log was truncated"):
        verdict.assert_nothing_skipped()


# Reported: a group that has committed more than the new leader has skips what is written next.
def test_committed_offset_beyond_the_end_of_a_truncated_log_skips_records(
    cluster: Broker, make_reader: MakeReader
) -> None:
    reader = make_reader(cluster.bootstrap_servers, GROUP)
    nodes = followers(cluster)
    for node in nodes:
        cluster.pause_replication(node, TOPIC, 0)
    append(cluster, 4)
    cluster.clock.advance(LAG_PASSED_MS)
    reader.read(10)
    reader.commit(10)
    reader.close()
    cluster.move_leader(TOPIC, 0, nodes[0], unclean=True)
    append(cluster, 6)
    successor = make_reader(cluster.bootstrap_servers, GROUP)
    assert successor.read(2) == [10, 11]
    successor.commit(12)
    successor.close()

    why = "the log was truncated below the committed offset 10; new records have these offsets"
    assert_finds(
        verdict_of(cluster),
        Found("delivered_and_truncated", "truncated", 6, 9, "the log ended at or before offset 6"),
        Found("never_delivered", "truncated", 6, 9, why),
    )


def test_clean_election_is_clean(cluster: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(cluster.bootstrap_servers, GROUP, metadata_max_age_ms=METADATA_MS)
    reader.read(6)
    cluster.move_leader(TOPIC, 0, followers(cluster)[0])
    append(cluster, 4)
    reader.read(4)
    reader.commit(10)
    reader.close()

    assert_clean(verdict_of(cluster))


def create_again(broker: Broker, count: int) -> None:
    broker.topics.delete(TOPIC)
    broker.topics.create(TOPIC, partitions=1)
    append(broker, count)


# Reported: after a topic was deleted and created again, its consumers miss the first records of the new one.
@by_name
def test_topic_that_is_created_again_under_a_client_that_does_not_notice(
    broker: Broker, make_reader: MakeReader
) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    create_again(broker, 15)
    assert reader.read(5) == [10, 11, 12, 13, 14]
    reader.close()

    verdict = verdict_of(broker)

    why = "did not notice that the topic was deleted and created again, and went on where it was before"
    assert_finds(verdict, Found("never_delivered", "topic_recreated", 0, 9, why))
    assert verdict.notes == [
        "orders was deleted and created again: nothing is judged that group 'billing' got of the earlier topic"
    ]


def test_topic_that_is_created_again_before_its_consumer_starts_is_clean(
    broker: Broker, make_reader: MakeReader
) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    reader.commit(10)
    reader.close()
    create_again(broker, 15)
    successor = make_reader(broker.bootstrap_servers, GROUP)
    assert successor.read(15) == list(range(15))
    successor.commit(15)
    successor.close()

    assert_clean(verdict_of(broker))


def add_partition(broker: Broker) -> None:
    client: Any = admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in client.create_partitions([admin.NewPartitions(TOPIC, 2)]).values():
        future.result()


def read_up_to_end(broker: Broker, reader: Reader) -> int:
    """Append a record, have a reader read up to it, and return the offset after it."""
    append(broker, 1)
    end = len(broker.records(TOPIC))
    read_until([reader], lambda read: (0, end - 1) in read[0])
    return end


def append_another(broker: Broker, partition: int) -> bool:
    """Append a record for a reader that may begin at the end. Return that the reader has not got it yet."""
    append(broker, 1, partition)
    return False


def read_added_partition(broker: Broker, make_reader: MakeReader, reset: str) -> None:
    """Have a reader read the partition; another one is added with three records, and read until its last record."""
    reader = make_reader(broker.bootstrap_servers, GROUP, auto_offset_reset=reset, metadata_max_age_ms=METADATA_MS)
    read_until([reader], lambda read: bool(read[0]) or append_another(broker, 0))
    reader.commit(read_up_to_end(broker, reader))
    add_partition(broker)
    append(broker, 3, 1)
    read_until([reader], lambda read: any(part == 1 for part, _ in read[0]) or append_another(broker, 1))
    reader.close()


# Reported: messages to a partition that was added are lost with auto.offset.reset=latest.
def test_records_of_an_added_partition_are_skipped_with_a_reset_to_latest(
    broker: Broker, make_reader: MakeReader
) -> None:
    read_added_partition(broker, make_reader, "latest")

    skipped = [each for each in verdict_of(broker).findings if each.partition == 1]

    assert [(each.kind, each.cause, each.offsets[0]) for each in skipped] == [
        ("never_delivered", "partition_seen_late", 0)
    ]
    assert (
        "the partition was added while the group consumed the topic, and the group began after them" in skipped[0].why
    )


def test_records_of_an_added_partition_come_with_a_reset_to_earliest(broker: Broker, make_reader: MakeReader) -> None:
    read_added_partition(broker, make_reader, "earliest")

    assert_finds(verdict_of(broker))


# Reported: a client that cannot decode a batch asks for it again without end, and its lag grows.
@checking
def test_damaged_batch_that_a_client_fetches_without_end(broker: Broker, make_reader: MakeReader) -> None:
    checks = {} if make_reader is READERS["aiokafka"] else {"check_crcs": True}
    broker.faults.corrupt_record(offset=5, topic=TOPIC, times=None)
    reader = make_reader(broker.bootstrap_servers, GROUP, **checks)

    def hangs() -> list[str]:
        reader.poll()
        return kinds_of(broker)

    assert eventually(hangs, expected=["hanging"]) == ["hanging"]
    hanging = verdict_of(broker).findings[0]
    assert (hanging.cause, hanging.offsets) == ("same_offset", [0, 9])
    assert "got the same offsets" in hanging.why
    assert "times in a row and did not go on" in hanging.why


@checking
def test_batch_without_damage_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP, check_crcs=True)
    reader.read(10)
    reader.commit(10)
    reader.close()

    assert_clean(verdict_of(broker))
