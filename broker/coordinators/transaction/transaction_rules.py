"""What a producer may ask for in each state of its transactional id; a check returns what is next, or raises.

Where Kafka writes while others ask, they are told CONCURRENT_TRANSACTIONS; here nobody can ask meanwhile.
Source: TransactionCoordinator (prepareInitProducerIdTransit, handleAddPartitionsToTransaction, endTransaction), Kafka
4.3.0.
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
    TopicPartition,
    TransactionMetadata,
    begun,
    joined,
    prepared,
)

NewProducerId = Callable[[], int]


def check_expected(known: TransactionMetadata, expected: TransactionalProducer | None) -> None:
    """Check the producer that an InitProducerId request says it was; its epoch is looked at by begun_anew.

    Raises KafkaError PRODUCER_FENCED. A new id takes any; the id before the newest step only with its last epoch.
    """
    if expected is None or known.producer_epoch == NO_PRODUCER_EPOCH or expected.producer_id == known.producer_id:
        return
    is_retry = expected.producer_id == known.previous_producer_id and expected.producer_epoch >= LAST_PRODUCER_EPOCH
    if not is_retry:
        _refuse_fenced(known, expected)


def begun_anew(
    known: TransactionMetadata,
    expected: TransactionalProducer | None,
    timeout_ms: int,
    now_ms: int,
    new_producer_id: NewProducerId,
) -> TransactionMetadata:
    """Return the id with the epoch that the producer gets which begins; expected has passed check_expected.

    Raises KafkaError: PRODUCER_FENCED, UNKNOWN_SERVER_ERROR for another epoch than the last one, and what
    new_producer_id raises.
    """
    epoch = known.producer_epoch
    if known.is_epoch_exhausted:
        if expected is not None and expected.producer_epoch != epoch:
            # Kafka counts on further than epochs go, and fails.
            raise KafkaError(
                ErrorCode.UNKNOWN_SERVER_ERROR, f"Cannot allocate any more producer epochs for {known.producer_id}"
            )
        return begun(
            known,
            producer_id=new_producer_id(),
            producer_epoch=0,
            last_producer_epoch=NO_PRODUCER_EPOCH if expected is None else epoch,
            timeout_ms=timeout_ms,
            now_ms=now_ms,
        )
    if expected is None:
        given, last = epoch + 1, NO_PRODUCER_EPOCH
    elif epoch in (NO_PRODUCER_EPOCH, expected.producer_epoch):
        given, last = epoch + 1, epoch
    elif expected.producer_epoch == known.last_producer_epoch:
        # The answer before was lost.
        given, last = epoch, known.last_producer_epoch
    else:
        _refuse_fenced(known, expected)
    return begun(
        known,
        producer_id=known.producer_id,
        producer_epoch=given,
        last_producer_epoch=last,
        timeout_ms=timeout_ms,
        now_ms=now_ms,
    )


def check_producer(known: TransactionMetadata, producer: TransactionalProducer) -> None:
    """Check that the request is of the newest producer, and that its transaction is not being ended.

    Raises KafkaError: INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS.
    """
    if producer.producer_id != known.producer_id:
        _refuse_id(known, producer)
    if producer.producer_epoch != known.producer_epoch:
        _refuse_fenced(known, producer)
    if known.is_prepared:
        _refuse_concurrent(known)


def with_partitions(
    known: TransactionMetadata,
    producer: TransactionalProducer,
    partitions: Collection[TopicPartition],
    client_version: int,
    now_ms: int,
) -> TransactionMetadata:
    """Return the id with the partitions in its open transaction; the same one where they are in it. See check_producer.

    Raises KafkaError as check_producer.
    """
    check_producer(known, producer)
    if known.is_ongoing and all(each in known.partitions for each in partitions):
        return known
    return joined(known, partitions, client_version, now_ms)


def ended_by_old_client(
    known: TransactionMetadata, producer: TransactionalProducer, client_version: int, now_ms: int, *, is_commit: bool
) -> TransactionMetadata | None:
    """Return the id with its transaction's end decided, None where it has ended so; EndTxn before version 5.

    Raises KafkaError: INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE.
    """
    if producer.producer_id != known.producer_id:
        _refuse_id(known, producer)
    if producer.producer_epoch != known.producer_epoch:
        _refuse_fenced(known, producer)
    if known.is_ongoing:
        return prepared(
            known, is_commit=is_commit, client_version=client_version, next_producer_id=NO_PRODUCER_ID, now_ms=now_ms
        )
    if known.status is _complete(is_commit=is_commit):
        return None
    if known.status is _prepare(is_commit=is_commit):
        _refuse_concurrent(known)
    return _refuse_state(known, is_commit=is_commit)


def ended_in_new_epoch(
    known: TransactionMetadata,
    producer: TransactionalProducer,
    client_version: int,
    now_ms: int,
    new_producer_id: NewProducerId,
    *,
    is_commit: bool,
) -> TransactionMetadata | None:
    """Return the id with its transaction's end decided in the next epoch, None where it has ended so.

    It is EndTxn from version 5 on. A transaction that no partition has joined may be aborted, and raises the epoch too.
    Raises KafkaError: INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE, and
    what new_producer_id raises.
    """
    is_retry_after_overflow = _is_retry_after_overflow(known, producer)
    if producer.producer_id != known.producer_id and not is_retry_after_overflow:
        _refuse_id(known, producer)
    is_retry = is_retry_after_overflow or known.producer_epoch == producer.producer_epoch + 1
    _check_epoch(known, producer, is_retry=is_retry)
    if known.is_ongoing or (not is_commit and not is_retry and not known.is_prepared):
        next_producer_id = new_producer_id() if known.is_epoch_exhausted else NO_PRODUCER_ID
        return prepared(
            known, is_commit=is_commit, client_version=client_version, next_producer_id=next_producer_id, now_ms=now_ms
        )
    if known.status is _prepare(is_commit=is_commit):
        _refuse_concurrent(known)
    if is_retry and known.status is _complete(is_commit=is_commit):
        return None
    return _refuse_state(known, is_commit=is_commit)


def raises_epoch(client_version: int) -> bool:
    """Return whether the end of a transaction raises the epoch."""
    return client_version >= EPOCH_BUMP_SINCE


def _is_retry_after_overflow(known: TransactionMetadata, producer: TransactionalProducer) -> bool:
    """Whether the request ended the last epoch of a producer id, and comes again after another id took its place."""
    return (
        producer.producer_id == known.previous_producer_id
        and producer.producer_epoch == LAST_PRODUCER_EPOCH
        and known.producer_epoch == 0
    )


def _check_epoch(known: TransactionMetadata, producer: TransactionalProducer, *, is_retry: bool) -> None:
    """With an epoch for each transaction, it tells a retry from the end of the next transaction."""
    is_current = producer.producer_epoch == known.producer_epoch
    if known.is_prepared:
        is_valid = known.producer_epoch == producer.producer_epoch + 1
    elif known.status in (TransactionStatus.COMPLETE_COMMIT, TransactionStatus.COMPLETE_ABORT):
        is_valid = is_current or is_retry
    else:
        is_valid = is_current
    if not is_valid:
        _refuse_fenced(known, producer)


def _prepare(*, is_commit: bool) -> TransactionStatus:
    return TransactionStatus.PREPARE_COMMIT if is_commit else TransactionStatus.PREPARE_ABORT


def _complete(*, is_commit: bool) -> TransactionStatus:
    return TransactionStatus.COMPLETE_COMMIT if is_commit else TransactionStatus.COMPLETE_ABORT


def _refuse_id(known: TransactionMetadata, producer: TransactionalProducer) -> Never:
    raise KafkaError(
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        f"{known.transactional_id} is of producer {known.producer_id}, not of {producer.producer_id}",
    )


def _refuse_fenced(known: TransactionMetadata, producer: TransactionalProducer) -> Never:
    raise KafkaError(
        ErrorCode.PRODUCER_FENCED,
        f"{known.transactional_id} is of producer {known.producer_id} in epoch {known.producer_epoch}, and the request "
        f"is of producer {producer.producer_id} in epoch {producer.producer_epoch}",
    )


def _refuse_concurrent(known: TransactionMetadata) -> Never:
    raise KafkaError(
        ErrorCode.CONCURRENT_TRANSACTIONS,
        f"the transaction of {known.transactional_id} is being ended: {known.state_name}",
    )


def _refuse_state(known: TransactionMetadata, *, is_commit: bool) -> Never:
    raise KafkaError(
        ErrorCode.INVALID_TXN_STATE,
        f"{known.transactional_id} is in state {known.state_name}, which no {'commit' if is_commit else 'abort'} ends",
    )
