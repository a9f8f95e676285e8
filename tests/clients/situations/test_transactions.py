"""Situations with transactions: offsets outside of them, transactions that stay open, aborted records."""

from __future__ import annotations

from typing import Any

import confluent_kafka
import pytest

from fauxka.testing import Broker

from ..group_readers import TOPIC, ConfluentReader, MakeReader, Reader
from .situation import GROUP, Found, append, assert_clean, assert_finds, verdict_of

pytestmark = pytest.mark.clients

INVOICES = "invoices"
TRANSACTIONAL_ID = "invoicing"


def producer_of(broker: Broker, transactional_id: str = TRANSACTIONAL_ID) -> Any:
    """Return a transactional producer, which may begin."""
    config = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": transactional_id, "linger.ms": 0}
    producer = confluent_kafka.Producer(config)
    producer.init_transactions()
    return producer


class Invoicing:
    """An application that makes an invoice of each order in a transaction, and reports what it has invoiced."""

    def __init__(self, broker: Broker, reader: Reader) -> None:
        self._broker = broker
        self.reader = reader
        self.producer = producer_of(broker)

    def begin(self, count: int) -> list[int]:
        """Begin a transaction with the invoices of so many orders, and return their offsets."""
        offsets = self.reader.read(count)
        self.producer.begin_transaction()
        for offset in offsets:
            self.producer.produce(INVOICES, key=str(offset), value="invoice")
        return offsets

    def commit(self, offsets: list[int]) -> None:
        """Commit the transaction."""
        self.producer.commit_transaction()
        for offset in offsets:
            self._broker.processed(TOPIC, 0, offset, group=GROUP)

    def close(self) -> None:
        self.reader.close()


@pytest.fixture
def with_invoices(broker: Broker) -> Broker:
    broker.topics.create(INVOICES, partitions=1)
    return broker


# Reported: a transaction with the output, and a commit of the input after it that is lost with the application.
def test_offsets_outside_the_transaction_are_lost_and_the_output_is_doubled(
    with_invoices: Broker, make_reader: MakeReader
) -> None:
    for _ in range(2):
        application = Invoicing(with_invoices, make_reader(with_invoices.bootstrap_servers, GROUP))
        application.commit(application.begin(10))
        application.close()

    verdict = verdict_of(with_invoices)

    why = "the application processed them 2 times"
    assert_finds(
        verdict,
        Found("processed_twice", "restart_before_commit", 0, 9, why),
        Found("processed_uncommitted", "not_committed", 0, 9, "and nothing is committed"),
    )
    with pytest.raises(AssertionError, match="nothing was committed"):
        verdict.assert_processed_once()


# Reported: the input is committed first, and then its transaction is aborted: the output never comes.
def test_offsets_outside_a_transaction_that_is_aborted_skip_the_output(
    with_invoices: Broker, make_reader: MakeReader
) -> None:
    application = Invoicing(with_invoices, make_reader(with_invoices.bootstrap_servers, GROUP))
    application.commit(application.begin(4))
    application.begin(6)
    application.reader.commit(10)
    application.producer.abort_transaction()
    application.close()

    why = "got them and 10 is committed, and the application never processed them"
    assert_finds(verdict_of(with_invoices), Found("committed_unprocessed", "committed_before_processing", 4, 9, why))


def test_offsets_inside_the_transaction_are_clean(with_invoices: Broker) -> None:
    invoice_in_transaction(with_invoices, 10)
    append(with_invoices, 2)
    invoice_in_transaction(with_invoices, 2)

    verdict = verdict_of(with_invoices)

    assert_clean(verdict)
    verdict.assert_processed_once()


def invoice_in_transaction(broker: Broker, count: int) -> None:
    """Make the invoices of so many orders, with the offsets in the transaction."""
    reader = ConfluentReader(broker.bootstrap_servers, GROUP)
    application = Invoicing(broker, reader)
    offsets = application.begin(count)
    place = confluent_kafka.TopicPartition(TOPIC, 0, offsets[-1] + 1)
    application.producer.send_offsets_to_transaction([place], reader.consumer.consumer_group_metadata())
    application.commit(offsets)
    application.close()


def write_in_transaction(broker: Broker) -> Any:
    """Return a producer with an open transaction of one record in the partition, which is flushed."""
    producer = producer_of(broker)
    producer.begin_transaction()
    producer.produce(TOPIC, value="open")
    producer.flush()
    return producer


# Reported: consumers with read_committed stand still, because a transaction was never ended.
def test_open_transaction_blocks_read_committed(broker: Broker, make_reader: MakeReader) -> None:
    producer = write_in_transaction(broker)
    append(broker, 3)
    reader = make_reader(broker.bootstrap_servers, GROUP, isolation_level="read_committed")
    reader.read(10)
    reader.commit(10)

    verdict = verdict_of(broker)

    reader.close()
    why = "a consumer with read_committed cannot read on: the transaction of producer"
    assert_finds(verdict, Found("blocked", "open_transaction", 10, 13, why))
    assert verdict.lag == 4
    producer.abort_transaction()


def assert_committed_are_read_cleanly(broker: Broker, make_reader: MakeReader, offsets: list[int]) -> None:
    """Read these offsets of committed records, up to the end of the log, and commit them."""
    reader = make_reader(broker.bootstrap_servers, GROUP, isolation_level="read_committed")
    assert reader.read(len(offsets)) == offsets
    reader.commit(offsets[-1] + 1)
    reader.close()

    assert_clean(verdict_of(broker))


def test_transaction_that_is_ended_blocks_nothing(broker: Broker, make_reader: MakeReader) -> None:
    write_in_transaction(broker).commit_transaction()
    append(broker, 3)
    assert_committed_are_read_cleanly(broker, make_reader, [*range(11), 12, 13, 14])


# Reported: aborted records look like lost ones to whoever counts offsets.
def test_aborted_records_are_not_skipped_ones(broker: Broker, make_reader: MakeReader) -> None:
    write_in_transaction(broker).abort_transaction()
    append(broker, 3)
    assert_committed_are_read_cleanly(broker, make_reader, [*range(10), 12, 13, 14])
