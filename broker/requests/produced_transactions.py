"""Verifies that the transactional batches of a Produce request belong to an ongoing transaction.

- A partition that already has the producer's open transaction is not verified again.
- A batch in an older epoch than the producer's last one in the partition is refused before it is verified, even if the
  producer id is no longer the one of the transactional id (tests/golden/exhausted_epochs-4.3.0.jsonl).
- Releases before 3.6 append every transactional batch; Produce asks for the rule verifies_transactions.
- The first batch of a transaction in a partition is verified with the coordinator before version 12 of Produce, unless
  transaction.partition.verification.enable is false: then a batch behind the end of its transaction is appended. From
  version 12 on, the first batch adds the partition to the transaction.

Source: ReplicaManager.handleProduceAppend and AddPartitionsToTxnManager, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...protocol.batches.record_batch import HEADER_SIZE, parse_header
from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.error_messages import error_message
from ...protocol.produced_records import TransactionalProducer, base_sequence_of, transactional_producer_of
from ...protocol.request_refused import RequestRefused
from ...storage.append_refused import AppendRefused
from ...storage.producers.unverified_producers import UnverifiedProducer
from ..coordinators.transaction.transaction_check import TransactionCheck, is_checked

if TYPE_CHECKING:
    from ...protocol.produce_codec import PartitionResponse
    from ..replica.partition import Partition
    from .request_context import RequestContext

# The versions of Produce from which clients handle TRANSACTION_ABORTABLE, and batches add their partition.
ABORTABLE_SINCE = 11
JOINS_SINCE = 12

# Clients retry after these errors.
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
    """Return the batches that may be appended, and fill in the responses of the others.

    accepted: the response to fill in, the partition, and its one batch.
    Raises RequestRefused if the batches have more than one producer id and epoch.
    """
    found = [(each, transactional_producer_of(each[2])) for each in accepted]
    producers = {producer for _, producer in found if producer is not None}
    if len(producers) > 1:
        words = "Transactional records contained more than one producer ID"
        raise RequestRefused(ErrorCode.INVALID_PRODUCER_ID_MAPPING, words, words)
    if (
        not producers
        or transactional_id is None
        or not is_checked(context.node.replicas.config, adds_partitions=context.api_version >= JOINS_SINCE)
    ):
        return list(accepted)
    (producer,) = producers
    first: dict[tuple[str, int], tuple[PartitionResponse, Partition, memoryview]] = {}
    for each, owner in found:
        if owner is None:
            continue
        try:
            if _is_first(context, each[1], producer, each[2]):
                first[each[1].topic_name, each[1].index] = each
        except KafkaError as error:
            _refuse(context, each[0], error, is_retried_by_client=False)
            _log_refusal(context, each, error.message)
    if first:
        _check_with_coordinator(context, transactional_id, producer, first)
    return [each for each in accepted if not each[0].error_code]


def _is_first(
    context: RequestContext, partition: Partition, producer: TransactionalProducer, batch: memoryview
) -> bool:
    """Whether the batch is the first of a transaction in the partition, which then records it as unverified.

    Raises KafkaError INVALID_PRODUCER_EPOCH for an older epoch.
    """
    try:
        known = partition.log.producers
    except KafkaError:
        # Its files cannot be created; the append reports that.
        return False
    entry = known.find(producer.producer_id)
    if entry is not None and entry.has_open_transaction(producer.producer_epoch):
        return False
    if entry is not None and producer.producer_epoch < entry.producer_epoch:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {producer.producer_id} has epoch {entry.producer_epoch} here, got {producer.producer_epoch}",
        )
    seen = UnverifiedProducer(
        producer_epoch=producer.producer_epoch,
        lowest_sequence=base_sequence_of(batch),
        supports_epoch_bump=context.api_version >= JOINS_SINCE,
        starts_at_zero=context.api_version >= JOINS_SINCE and context.rules.starts_transactions_at_zero,
        created_ms=context.now_ms,
    )
    known.unverified.add(producer.producer_id, seen)
    return True


def _check_with_coordinator(
    context: RequestContext,
    transactional_id: str,
    producer: TransactionalProducer,
    first: dict[tuple[str, int], tuple[PartitionResponse, Partition, memoryview]],
) -> None:
    """Add or verify the partitions with the coordinator, and fill in the responses for the partitions it refuses."""
    check = TransactionCheck(
        transactional_id=transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        adds_partitions=context.api_version >= JOINS_SINCE,
        supports_abortable=context.api_version >= ABORTABLE_SINCE,
    )
    for key, error in check.find_errors(context.node.coordinators, first).items():
        _refuse(context, first[key][0], error, is_retried_by_client=check.adds_partitions)
        _log_refusal(context, first[key], error.message)


def _log_refusal(
    context: RequestContext, refused: tuple[PartitionResponse, Partition, memoryview], message: str
) -> None:
    """Record the decision on a batch that is not appended, with the error code of its response."""
    response, partition, batch = refused
    decision = AppendRefused(ErrorCode(response.error_code), message)
    decision.header = parse_header(batch) if len(batch) >= HEADER_SIZE else None
    context.decide(partition.topic_name, partition.index, decision)
    context.node.replicas.log_decision(partition, decision)


def _refuse(
    context: RequestContext, response: PartitionResponse, error: KafkaError, *, is_retried_by_client: bool
) -> None:
    """Fill in the error, with Kafka's message if it has one.

    is_retried_by_client: whether clients of the version retry after CONCURRENT_TRANSACTIONS.
    """
    code = ErrorCode(error.code)
    if code in _UNAVAILABLE or (code is ErrorCode.CONCURRENT_TRANSACTIONS and not is_retried_by_client):
        response.error_message = f"{_NOT_VERIFIED} Underlying error: {code.name}"
        code = ErrorCode.NOT_ENOUGH_REPLICAS
    elif code is ErrorCode.INVALID_TXN_STATE:
        response.error_message = "Partition was not added to the transaction"
    elif not context.rules.hides_verification_errors:
        response.error_message = error_message(code, context.release)
    response.error_code = code
