"""The transitions of a transactional id that producers may request: each returns the next metadata, or raises.

The functions change no state. Kafka responds CONCURRENT_TRANSACTIONS while it writes a transition. Here a transition is
written before the next request is handled, so that only a transaction whose markers are missing is concurrent.
Source: TransactionCoordinator (prepareInitProducerIdTransit, handleAddPartitionsToTransaction, endTransaction,
endTransactionWithTV1), Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Never

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.produced_records import TransactionalProducer
from ....protocol.stored_records.transaction_log_records import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, TransactionStatus
from .transaction_metadata import (
    EPOCH_BUMP_SINCE,
    LAST_PRODUCER_EPOCH,
    OLD_CLIENT,
    TopicPartition,
    TransactionMetadata,
    prepare_add_partitions,
    prepare_end,
    prepare_new_epoch,
)

NewProducerId = Callable[[], int]


def check_expected_producer(metadata: TransactionMetadata, expected: TransactionalProducer | None) -> None:
    """Check the producer id of an InitProducerId request with one (KIP-360). init_producer checks its epoch.

    A new transactional id accepts any. The previous producer id is accepted only with its last epoch, as a retry.
    Raises KafkaError PRODUCER_FENCED.
    """
    if expected is None or metadata.producer_epoch == NO_PRODUCER_EPOCH or expected.producer_id == metadata.producer_id:
        return
    if expected.producer_id != metadata.previous_producer_id or expected.producer_epoch < LAST_PRODUCER_EPOCH:
        _reject_fenced(metadata, expected)


def init_producer(
    metadata: TransactionMetadata,
    expected: TransactionalProducer | None,
    timeout_ms: int,
    now_ms: int,
    new_producer_id: NewProducerId,
) -> TransactionMetadata:
    """Return the metadata with the next epoch, after check_expected_producer.

    Raises KafkaError: PRODUCER_FENCED, UNKNOWN_SERVER_ERROR for another epoch than an exhausted one, and the errors of
    new_producer_id.
    """
    producer_id, epoch = metadata.producer_id, metadata.producer_epoch
    if metadata.is_epoch_exhausted:
        if expected is not None and expected.producer_epoch != epoch:
            # Kafka increments the epoch beyond its maximum here, and fails.
            message = f"Cannot allocate any more producer epochs for {producer_id}"
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, message)
        producer_id, next_epoch = new_producer_id(), 0
        last_epoch = NO_PRODUCER_EPOCH if expected is None else epoch
    elif expected is None:
        next_epoch, last_epoch = epoch + 1, NO_PRODUCER_EPOCH
    elif epoch in (NO_PRODUCER_EPOCH, expected.producer_epoch):
        next_epoch, last_epoch = epoch + 1, epoch
    elif expected.producer_epoch == metadata.last_producer_epoch:
        # A retry, because the response was lost.
        next_epoch, last_epoch = epoch, metadata.last_producer_epoch
    else:
        _reject_fenced(metadata, expected)
    return prepare_new_epoch(
        metadata,
        TransactionalProducer(producer_id, next_epoch),
        last_producer_epoch=last_epoch,
        timeout_ms=timeout_ms,
        now_ms=now_ms,
    )


def check_producer(metadata: TransactionMetadata, producer: TransactionalProducer) -> None:
    """Check that the producer is the current one, and that its transaction is not ending.

    Raises KafkaError: INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS.
    """
    if producer.producer_id != metadata.producer_id:
        _reject_producer_id(metadata, producer)
    if producer.producer_epoch != metadata.producer_epoch:
        _reject_fenced(metadata, producer)
    if metadata.is_prepared:
        _reject_concurrent(metadata)


def add_partitions(
    metadata: TransactionMetadata,
    producer: TransactionalProducer,
    partitions: Collection[TopicPartition],
    client_version: int,
    now_ms: int,
) -> TransactionMetadata:
    """Return the metadata with the partitions in the transaction; the same object if they already are in it.

    Raises KafkaError, see check_producer.
    """
    check_producer(metadata, producer)
    if metadata.is_ongoing and all(each in metadata.partitions for each in partitions):
        return metadata
    return prepare_add_partitions(metadata, partitions, client_version, now_ms)


def end_transaction_v1(
    metadata: TransactionMetadata, producer: TransactionalProducer, client_version: int, now_ms: int, *, is_commit: bool
) -> TransactionMetadata | None:
    """Return the metadata with the outcome decided, or None if the transaction has ended so. EndTxn before version 5.

    Raises KafkaError: INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE.
    """
    if producer.producer_id != metadata.producer_id:
        _reject_producer_id(metadata, producer)
    if producer.producer_epoch != metadata.producer_epoch:
        _reject_fenced(metadata, producer)
    if metadata.is_ongoing:
        return prepare_end(
            metadata, is_commit=is_commit, client_version=client_version, next_producer_id=NO_PRODUCER_ID, now_ms=now_ms
        )
    if metadata.status is _complete_status(is_commit=is_commit):
        return None
    return _reject_end(metadata, is_commit=is_commit)


def decide_in_higher_epoch(
    metadata: TransactionMetadata, producer: TransactionalProducer, now_ms: int, *, is_commit: bool
) -> TransactionMetadata:
    """Return the metadata with the outcome decided by an EndTxn whose epoch is too high; the same object for others.

    Kafka before 2.5 refuses such a producer only after the outcome is written. It then writes no marker, so that the
    transaction does not end before the coordinator loads it again.
    Source: TransactionCoordinator.endTransaction, Kafka 2.1.1; tests/golden/releases (T20, T29).
    """
    is_decided = (
        metadata.is_ongoing
        and producer.producer_id == metadata.producer_id
        and producer.producer_epoch > metadata.producer_epoch
    )
    if not is_decided:
        return metadata
    return prepare_end(
        metadata, is_commit=is_commit, client_version=OLD_CLIENT, next_producer_id=NO_PRODUCER_ID, now_ms=now_ms
    )


def end_transaction_v2(
    metadata: TransactionMetadata,
    producer: TransactionalProducer,
    client_version: int,
    now_ms: int,
    new_producer_id: NewProducerId,
    *,
    is_commit: bool,
) -> TransactionMetadata | None:
    """Return the metadata with the outcome decided in the next epoch, or None if the request is a retry.

    EndTxn from version 5 on. An abort without an open transaction is allowed, and raises the epoch too.
    Raises KafkaError: INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE, and the
    errors of new_producer_id.
    """
    is_retry_after_overflow = _is_retry_after_overflow(metadata, producer)
    if producer.producer_id != metadata.producer_id and not is_retry_after_overflow:
        _reject_producer_id(metadata, producer)
    is_retry = is_retry_after_overflow or metadata.producer_epoch == producer.producer_epoch + 1
    _check_epoch(metadata, producer, is_retry=is_retry)
    if metadata.is_ongoing or (not is_commit and not is_retry and not metadata.is_prepared):
        next_producer_id = new_producer_id() if metadata.is_epoch_exhausted else NO_PRODUCER_ID
        return prepare_end(
            metadata,
            is_commit=is_commit,
            client_version=client_version,
            next_producer_id=next_producer_id,
            now_ms=now_ms,
        )
    if is_retry and metadata.status is _complete_status(is_commit=is_commit):
        return None
    return _reject_end(metadata, is_commit=is_commit)


def is_epoch_bumped(transaction_version: int) -> bool:
    """Return whether the end of a transaction raises the epoch."""
    return transaction_version >= EPOCH_BUMP_SINCE


def _is_retry_after_overflow(metadata: TransactionMetadata, producer: TransactionalProducer) -> bool:
    """Whether the producer repeats the request that ended its last epoch, and a new producer id has replaced its id."""
    return (
        producer.producer_id == metadata.previous_producer_id
        and producer.producer_epoch == LAST_PRODUCER_EPOCH
        and metadata.producer_epoch == 0
    )


def _check_epoch(metadata: TransactionMetadata, producer: TransactionalProducer, *, is_retry: bool) -> None:
    """Raise KafkaError PRODUCER_FENCED for another epoch. A retry has the epoch before the end of the transaction."""
    is_current = producer.producer_epoch == metadata.producer_epoch
    if metadata.is_prepared:
        is_valid = metadata.producer_epoch == producer.producer_epoch + 1
    elif metadata.status in (TransactionStatus.COMPLETE_COMMIT, TransactionStatus.COMPLETE_ABORT):
        is_valid = is_current or is_retry
    else:
        is_valid = is_current
    if not is_valid:
        _reject_fenced(metadata, producer)


def _complete_status(*, is_commit: bool) -> TransactionStatus:
    return TransactionStatus.COMPLETE_COMMIT if is_commit else TransactionStatus.COMPLETE_ABORT


def _reject_producer_id(metadata: TransactionMetadata, producer: TransactionalProducer) -> Never:
    raise KafkaError(
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        f"{metadata.transactional_id} has producer id {metadata.producer_id}, not {producer.producer_id}",
    )


def _reject_fenced(metadata: TransactionMetadata, producer: TransactionalProducer) -> Never:
    raise KafkaError(
        ErrorCode.PRODUCER_FENCED,
        f"{metadata.transactional_id} has producer id {metadata.producer_id} in epoch {metadata.producer_epoch}, and "
        f"the request has producer id {producer.producer_id} in epoch {producer.producer_epoch}",
    )


def _reject_concurrent(metadata: TransactionMetadata) -> Never:
    raise KafkaError(
        ErrorCode.CONCURRENT_TRANSACTIONS,
        f"the transaction of {metadata.transactional_id} is ending: {metadata.state_name}",
    )


def _reject_end(metadata: TransactionMetadata, *, is_commit: bool) -> Never:
    """Raise KafkaError: CONCURRENT_TRANSACTIONS if the transaction is ending so, else INVALID_TXN_STATE."""
    if metadata.is_prepared and metadata.is_commit is is_commit:
        _reject_concurrent(metadata)
    outcome = "commit" if is_commit else "abort"
    raise KafkaError(
        ErrorCode.INVALID_TXN_STATE,
        f"{metadata.transactional_id} is in state {metadata.state_name}, which does not allow {outcome}",
    )
