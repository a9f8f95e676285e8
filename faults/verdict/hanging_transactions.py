"""Transactions in a partition that no coordinator will end: `read_committed` consumers stop at their first record.

A late batch makes one if its partition is not verified (transaction.partition.verification.enable is false), or if its
transactional id was deleted. An open transaction that its coordinator will end is no finding.
Source: TransactionsCommand.FindHangingTransactionsCommand, Kafka 4.3.0, without its minimum duration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ...protocol.batches.record_batch import parse_header
from .stored_batches import StoredBatch, TopicLogs, stored_batch


@dataclass(frozen=True, slots=True)
class HangingTransaction:
    """A transaction without an end, and the batch that began it.

    first: None if retention or DeleteRecords deleted it. transactional_id, state: of the producer at its coordinator;
    None if no transactional id has the producer id.
    """

    partition: int
    first_offset: int
    producer_id: int
    producer_epoch: int
    transactional_id: str | None
    state: str | None
    first: StoredBatch | None = None


class TransactionLogs(TopicLogs, Protocol):
    """The logs of a cluster, with what its coordinators know of the open transactions in them."""

    def hanging_transactions(self, topic: str) -> Sequence[HangingTransaction]:
        """Return the transactions of the topic that no coordinator will end, by partition and offset."""
        ...


def find_hanging(logs: TransactionLogs, topic: str) -> list[HangingTransaction]:
    """Return the transactions of the topic that no coordinator will end, with their first batch."""
    return [replace(each, first=_find_first_batch(logs, topic, each)) for each in logs.hanging_transactions(topic)]


def _find_first_batch(logs: TransactionLogs, topic: str, hanging: HangingTransaction) -> StoredBatch | None:
    batch = next(logs.batches(topic, hanging.partition, hanging.first_offset), None)
    header = None if batch is None else parse_header(batch)
    if header is None or header.base_offset != hanging.first_offset:
        return None
    return stored_batch(hanging.partition, header)
