"""Whether the transactional batches of a Produce request belong to a transaction that the coordinator knows of.

A partition that has the producer's open transaction is not asked about again. The first batch of a transaction in a
partition is verified before version 12 of Produce, and from it on makes the partition join the transaction.
Source: ReplicaManager.handleProduceAppend and AddPartitionsToTxnManager, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...protocol.batches.record_batch import HEADER_SIZE, parse_header
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.produced_records import (
    RequestRefused,
    TransactionalProducer,
    base_sequence_of,
    transactional_producer_of,
)
from ...storage.append_refused import AppendRefused
from ...storage.producers.unverified_producers import UnverifiedProducer
from ..coordinators.transaction.transaction_check import TransactionCheck

if TYPE_CHECKING:
    from ...protocol.produce_codec import PartitionResponse
    from ..replica.partition import Partition
    from .request_context import RequestContext

# From these versions of Produce on a client knows TRANSACTION_ABORTABLE, and a batch makes its partition join.
ABORTABLE_SINCE = 11
JOINS_SINCE = 12

# Clients send the batch again.
_UNAVAILABLE = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
_NOT_VERIFIED = "Unable to verify the partition has been added to the transaction."


def join_transaction(
    context: RequestContext,
    transactional_id: str | None,
    accepted: Sequence[tuple[PartitionResponse, Partition, memoryview]],
) -> list[tuple[PartitionResponse, Partition, memoryview]]:
    """Return what may be appended; the answers of the others are filled in.

    accepted: the answer to fill in, the partition, and its one batch.
    Raises RequestRefused where the batches are of more than one producer id and epoch.
    """
    found = [(each, transactional_producer_of(each[2])) for each in accepted]
    producers = {producer for _, producer in found if producer is not None}
    if len(producers) > 1:
        words = "Transactional records contained more than one producer ID"
        raise RequestRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, words, words)
    if not producers or transactional_id is None:
        return list(accepted)
    (producer,) = producers
    first = {
        (each[1].topic_name, each[1].index): each
        for each, owner in found
        if owner is not None and _is_first(context, each[1], producer, each[2])
    }
    if first:
        _ask_coordinator(context, transactional_id, producer, first)
    return [each for each in accepted if not each[0].error_code]


def _is_first(
    context: RequestContext, partition: Partition, producer: TransactionalProducer, batch: memoryview
) -> bool:
    """Whether the partition does not have the producer's transaction; it takes note of the batch then."""
    try:
        known = partition.log.producers
    except KafkaError:
        # Its files cannot be made, which the append tells.
        return False
    entry = known.find(producer.producer_id)
    if entry is not None and entry.has_open_transaction(producer.producer_epoch):
        return False
    seen = UnverifiedProducer(
        producer_epoch=producer.producer_epoch,
        lowest_sequence=base_sequence_of(batch),
        supports_epoch_bump=context.api_version >= JOINS_SINCE,
        created_ms=context.now_ms,
    )
    known.unverified.add(producer.producer_id, seen)
    return True


def _ask_coordinator(
    context: RequestContext,
    transactional_id: str,
    producer: TransactionalProducer,
    first: dict[tuple[str, int], tuple[PartitionResponse, Partition, memoryview]],
) -> None:
    """Have the coordinator add or verify the partitions; the answers of those that it refuses are filled in."""
    check = TransactionCheck(
        transactional_id=transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        adds_partitions=context.api_version >= JOINS_SINCE,
        supports_abortable=context.api_version >= ABORTABLE_SINCE,
    )
    for key, error in check.find_errors(context.node.coordinators.transactions, first).items():
        answer, partition, batch = first[key]
        _refuse(answer, error, is_retried_by_client=check.adds_partitions)
        refused = AppendRefused(ErrorCode(answer.error_code), error.message)
        refused.header = parse_header(batch) if len(batch) >= HEADER_SIZE else None
        context.decide(partition.topic_name, partition.index, refused)
        context.node.replicas.log_decision(partition, refused)


def _refuse(answer: PartitionResponse, error: KafkaError, *, is_retried_by_client: bool) -> None:
    """Fill in the error in Kafka's words, where it has some.

    is_retried_by_client: whether a client of the version knows that CONCURRENT_TRANSACTIONS may come.
    """
    code = ErrorCode(error.code)
    if code in _UNAVAILABLE or (code is ErrorCode.CONCURRENT_TRANSACTIONS and not is_retried_by_client):
        answer.error_message = f"{_NOT_VERIFIED} Underlying error: {code.name}"
        code = ErrorCode.NOT_ENOUGH_REPLICAS
    elif code is ErrorCode.INVALID_TXN_STATE:
        answer.error_message = "Partition was not added to the transaction"
    answer.error_code = code
