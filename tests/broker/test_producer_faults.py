"""Producers are changed behind their backs, and their next batch meets that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.replica.producer_faults import (
    PRODUCER_EPOCH_MAX,
    ProducerChange,
    ProducerChangeError,
    UnknownProducerError,
    change_producer,
    known_producers,
)
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.append_result import AppendResult
from fauxka.storage.producers.producer_state_entry import ProducerStateEntry

NOW_MS = 1_700_000_000_000


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Producers 1 and 2 have written two batches each to orders-0, producer 1 one to orders-1."""
    cluster = Cluster(BrokerConfig.from_entries({}))
    cluster.controller.create_topic("orders", 2)
    cluster.controller.create_topic("other", 1)
    for producer_id in (1, 2):
        produce(cluster, producer_id, 0)
        produce(cluster, producer_id, 1)
    produce(cluster, 1, 0, partition=1)
    yield cluster
    cluster.close()


def produce(cluster: Cluster, producer_id: int, sequence: int, *, epoch: int = 0, partition: int = 0) -> AppendResult:
    options = BatchOptions(producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    batch = build_batch([Record(b"value", timestamp=NOW_MS)], options)
    return cluster.node.replicas.partition_of("orders", partition).append(memoryview(batch), NOW_MS)


def change(cluster: Cluster, how: ProducerChange, *, partition: int | None = 0) -> None:
    change_producer(cluster.node.replicas.partitions(), how, producer_id=1, topic="orders", partition=partition)


def test_producers_are_listed_by_partition_with_their_cached_batches(cluster: Cluster) -> None:
    told = [
        (known.topic_name, known.partition, known.entry.producer_id)
        for known in known_producers(cluster.node.replicas.partitions())
    ]
    (known,) = known_producers(cluster.node.replicas.partitions(), topic="orders", partition=0, producer_id=2)

    assert told == [("orders", 0, 1), ("orders", 0, 2), ("orders", 1, 1)]
    assert (known.entry.next_sequence, [batch.base_offset for batch in known.entry.batches]) == (2, [2, 3])


@pytest.mark.parametrize("how", [ProducerChange.FORGET, ProducerChange.EXPIRE])
def test_producer_that_is_not_known_any_more_appends_its_last_batch_twice(
    cluster: Cluster, how: ProducerChange
) -> None:
    change(cluster, how)

    again = produce(cluster, 1, 1)

    assert (again.is_duplicate, again.base_offset) == (False, 4)


def test_producer_whose_epoch_was_bumped_is_fenced_and_the_next_epoch_begins_at_zero(cluster: Cluster) -> None:
    change(cluster, ProducerChange.BUMP_EPOCH)

    with pytest.raises(AppendRefused) as raised:
        produce(cluster, 1, 2)

    assert raised.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    assert not produce(cluster, 1, 0, epoch=1).is_duplicate


def test_retry_of_an_evicted_batch_is_out_of_order_and_the_next_one_is_appended(cluster: Cluster) -> None:
    change(cluster, ProducerChange.EVICT_CACHE)

    with pytest.raises(AppendRefused) as raised:
        produce(cluster, 1, 1)

    assert raised.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not produce(cluster, 1, 2).is_duplicate


@pytest.mark.parametrize("how", ProducerChange)
def test_only_the_requested_keys_are_changed(cluster: Cluster, how: ProducerChange) -> None:
    change(cluster, how)

    assert produce(cluster, 2, 1).is_duplicate
    assert produce(cluster, 1, 0, partition=1).is_duplicate


def test_producer_is_changed_everywhere_where_no_partition_is_named(cluster: Cluster) -> None:
    before = change_producer(cluster.node.replicas.partitions(), ProducerChange.FORGET, producer_id=1)

    assert [(known.topic_name, known.partition) for known in before] == [("orders", 0), ("orders", 1)]
    assert [known.entry.producer_id for known in known_producers(cluster.node.replicas.partitions())] == [2]


@pytest.mark.parametrize(("topic", "partition"), [("orders", 2), ("other", 0), ("none", None)])
def test_unknown_producer_is_refused_with_the_partition(cluster: Cluster, topic: str, partition: int | None) -> None:
    with pytest.raises(UnknownProducerError, match=topic):
        change_producer(
            cluster.node.replicas.partitions(), ProducerChange.FORGET, producer_id=1, topic=topic, partition=partition
        )


def test_producer_with_an_open_transaction_does_not_expire_and_nothing_is_changed(cluster: Cluster) -> None:
    producers = cluster.node.replicas.partition_of("orders", 1).log.producers
    entry = producers.find(1)
    assert entry is not None
    producers.commit(ProducerStateEntry(1, entry.producer_epoch, entry.batches, entry.last_timestamp, (-1, 0)))

    with pytest.raises(ProducerChangeError, match="transaction"):
        change(cluster, ProducerChange.EXPIRE, partition=None)

    assert len(known_producers(cluster.node.replicas.partitions(), producer_id=1)) == 2


def test_last_epoch_cannot_be_bumped(cluster: Cluster) -> None:
    produce(cluster, 1, 0, epoch=PRODUCER_EPOCH_MAX)

    with pytest.raises(ProducerChangeError, match=str(PRODUCER_EPOCH_MAX)):
        change(cluster, ProducerChange.BUMP_EPOCH)
