"""Commits of an offset that is one too low, commits before processing, lost commits, and commits of other clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import confluent_kafka
import pytest

from fauxka.testing import Broker

from ..confluent_client import admin
from ..group_readers import TOPIC, MakeReader
from ..kafka_python_client import kafka, kafka_admin
from .situation import GROUP, Found, append, assert_clean, assert_finds, crash, verdict_of

pytestmark = pytest.mark.clients
DAY_MS = 24 * 3600 * 1000
# Sets the offset of the group as an administrator does.
SetOffset = Callable[[Broker, int], None]


def read_all(broker: Broker, make_reader: MakeReader, count: int, committed: int | None = None, **options: Any) -> None:
    """Have a reader read so many records, commit, and leave."""
    reader = make_reader(broker.bootstrap_servers, GROUP, **options)
    reader.read(count)
    if committed is not None:
        reader.commit(committed)
    reader.close()


# Reported: the last message comes again after each restart.
def test_commit_of_the_offset_of_the_last_record_delivers_it_again(broker: Broker, make_reader: MakeReader) -> None:
    read_all(broker, make_reader, 10, committed=9)
    read_all(broker, make_reader, 1, committed=9)

    why = "after a restart, and 9 was committed; the broker cannot see which of them were processed before"
    assert_finds(verdict_of(broker), Found("delivered_twice", "restart_before_commit", 9, 9, why))


def test_commit_of_the_next_offset_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    read_all(broker, make_reader, 10, committed=10)
    append(broker, 1)
    read_all(broker, make_reader, 1, committed=11)

    assert_clean(verdict_of(broker))


# Reported: a consumer without commits begins at the first record with each start.
def test_group_that_never_commits_reads_everything_again(broker: Broker, make_reader: MakeReader) -> None:
    read_all(broker, make_reader, 10)
    read_all(broker, make_reader, 10)

    why = "nothing was committed"
    assert_finds(verdict_of(broker), Found("delivered_twice", "restart_before_commit", 0, 9, why))


# Reported: duplicates after a crash, as many as the interval of automatic commits allows.
def test_crash_before_an_automatic_commit_delivers_twice(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP, enable_auto_commit=True, auto_commit_interval_ms=60_000)
    reader.read(10)
    crash(broker, reader)
    read_all(broker, make_reader, 10, committed=10)

    why = "nothing was committed; the broker cannot see which of them were processed before"
    assert_finds(verdict_of(broker), Found("delivered_twice", "restart_before_commit", 0, 9, why))


def test_automatic_commit_at_the_end_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    read_all(broker, make_reader, 10, enable_auto_commit=True, auto_commit_interval_ms=60_000)
    append(broker, 2)
    read_all(broker, make_reader, 2, committed=12)

    assert_clean(verdict_of(broker))


# Reported: lost messages, because they are committed first and processed then. Only the application knows.
def test_commit_before_processing_is_nothing_that_the_broker_sees(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    reader.commit(10)
    crash(broker, reader)
    append(broker, 1)
    read_all(broker, make_reader, 1, committed=11)

    verdict = verdict_of(broker)

    assert_clean(verdict)
    assert [each.processed for each in verdict.partitions] == [11]


# Reported: a group that was away for a week begins at the first record.
def test_expired_offsets_deliver_everything_again(broker: Broker, make_reader: MakeReader) -> None:
    read_all(broker, make_reader, 10, committed=10)
    broker.clock.advance(8 * DAY_MS)
    read_all(broker, make_reader, 10, committed=10)

    why = "began without a committed offset: it was deleted, has expired or was out of range"
    assert_finds(verdict_of(broker), Found("delivered_twice", "reset", 0, 9, why))


def test_expired_offsets_skip_records_with_a_reset_to_latest(broker: Broker, make_reader: MakeReader) -> None:
    read_all(broker, make_reader, 10, committed=10)
    append(broker, 5)
    broker.clock.advance(8 * DAY_MS)
    reader = make_reader(broker.bootstrap_servers, GROUP, auto_offset_reset="latest")
    while not reader.poll():
        # Each of them may come before the reader has asked for the end.
        append(broker, 1)
    reader.close()

    skipped = verdict_of(broker).findings[0]

    assert (skipped.kind, skipped.cause, skipped.offsets[0]) == ("never_delivered", "reset_to_latest", 10)
    assert "had no valid offset and went on at the end of the log (auto.offset.reset=latest)" in skipped.why


def test_offsets_that_have_not_expired_are_clean(broker: Broker, make_reader: MakeReader) -> None:
    read_all(broker, make_reader, 10, committed=10)
    append(broker, 2)
    broker.clock.advance(6 * DAY_MS)
    read_all(broker, make_reader, 2, committed=12)

    assert_clean(verdict_of(broker))


def set_by_confluent(broker: Broker, offset: int) -> None:
    """Set the offset as an administrator, with confluent-kafka."""
    client: Any = admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    place = confluent_kafka.TopicPartition(TOPIC, 0, offset)
    partitions = confluent_kafka.ConsumerGroupTopicPartitions(GROUP, [place])
    for future in client.alter_consumer_group_offsets([partitions]).values():
        future.result()


def set_by_kafka_python(broker: Broker, offset: int) -> None:
    """Set the offset as an administrator, with kafka-python."""
    client: Any = kafka_admin.KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    client.alter_group_offsets(GROUP, {kafka.TopicPartition(TOPIC, 0): kafka.OffsetAndMetadata(offset, "", -1)})
    client.close()


ADMINISTRATORS = pytest.mark.parametrize("set_offset", [set_by_confluent, set_by_kafka_python])


# Reported: everything was processed again after kafka-consumer-groups --reset-offsets --to-earliest.
@ADMINISTRATORS
def test_administrator_who_sets_the_offset_back(broker: Broker, make_reader: MakeReader, set_offset: SetOffset) -> None:
    read_all(broker, make_reader, 10, committed=10)
    set_offset(broker, 4)
    read_all(broker, make_reader, 6, committed=10)

    assert_finds(
        verdict_of(broker),
        Found("commit_moved_back", "other_client", 4, 9, "which is no member, committed 4 after 10 was committed"),
        Found("delivered_twice", "reset", 4, 9, "was reset; 4 is committed"),
    )


@ADMINISTRATORS
def test_administrator_who_sets_the_offset_forward(
    broker: Broker, make_reader: MakeReader, set_offset: SetOffset
) -> None:
    read_all(broker, make_reader, 10, committed=10)
    append(broker, 5)
    set_offset(broker, 13)
    read_all(broker, make_reader, 2, committed=15)

    why = "which is no member, set the committed offset forward to"
    assert_finds(verdict_of(broker), Found("never_delivered", "reset", 10, 12, why))


@ADMINISTRATORS
def test_administrator_who_sets_the_same_offset_is_clean(
    broker: Broker, make_reader: MakeReader, set_offset: SetOffset
) -> None:
    read_all(broker, make_reader, 10, committed=10)
    set_offset(broker, 10)

    assert_clean(verdict_of(broker))
