"""Checks of a batch against the producer's entry, and the entry after the append.

Order, as in Kafka: duplicates are recognised first and never refused; then epoch, sequence and transaction are checked.
The checks change nothing. The caller commits the result of entry_after once the bytes are in the log.
Source: UnifiedLog.analyzeAndValidateProducerState and ProducerAppendInfo, Kafka 4.3.0; older rules: EmulatedVersion.
"""

from __future__ import annotations

from ...protocol.batches.record_batch import (
    NO_PRODUCER_EPOCH,
    TRANSACTIONAL_BIT,
    BatchHeader,
)
from ...protocol.error_codes import ErrorCode
from ...protocol.sequences import MAX_SEQUENCE, increment_sequence
from ..append_decision import describe_refusal
from ..append_refused import AppendRefused, SequenceRefusal, SequenceRule
from ..append_result import AppendResult
from .emulated_version import EmulatedVersion, UnknownProducerRule
from .producer_state_entry import (
    NO_COORDINATOR_EPOCH,
    CachedBatch,
    ProducerStateEntry,
    without_evicted,
)
from .unverified_producers import UnverifiedProducer


def is_next_in_order(entry: ProducerStateEntry, header: BatchHeader) -> bool:
    """Whether the batch directly follows the newest cached one, so that all other checks would pass.

    With epoch -1, whose order is never checked, such a batch may be a duplicate; then it is False.
    """
    epoch, batches = entry.producer_epoch, entry.batches
    if header.producer_epoch != epoch or epoch < 0 or not batches:
        return False
    if entry.current_txn_first_offset is not None and not header.attributes & TRANSACTIONAL_BIT:
        return False
    return header.base_sequence == (batches[-1].last_sequence + 1) & MAX_SEQUENCE


def check_producer(
    entry: ProducerStateEntry | None,
    header: BatchHeader,
    last_sequence: int,
    rules: EmulatedVersion,
    unverified: UnverifiedProducer | None,
    *,
    is_log_empty: bool,
) -> CachedBatch | None:
    """Return the cached batch that this one repeats, or None if it may be appended; raises AppendRefused.

    unverified: the start of the producer's transaction, if no batch of it is in the log yet.
    """
    if entry is None:
        _check_unverified(unverified, entry, header)
        check_unknown_producer(header, rules, is_log_empty=is_log_empty)
        return None
    duplicate = find_duplicate(entry, header, last_sequence)
    if duplicate is None:
        if header.producer_epoch >= entry.producer_epoch:
            _check_unverified(unverified, entry, header)
        check_known_producer(entry, header, rules)
    return duplicate


def _check_unverified(
    unverified: UnverifiedProducer | None, entry: ProducerStateEntry | None, header: BatchHeader
) -> None:
    if unverified is not None and unverified.refuses(entry, header):
        lowest = 0 if entry is None and unverified.starts_at_zero else unverified.lowest_sequence
        raise _refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, SequenceRule.OVERTAKES, header, entry, lowest)


def find_duplicate(entry: ProducerStateEntry, header: BatchHeader, last_sequence: int) -> CachedBatch | None:
    """Return the cached batch of the same epoch with the same first and last sequence."""
    if entry.producer_epoch != header.producer_epoch:
        return None
    base_sequence = header.base_sequence
    for batch in entry.batches:
        if batch.base_sequence == base_sequence and batch.last_sequence == last_sequence:
            return batch
    return None


def check_unknown_producer(header: BatchHeader, rules: EmulatedVersion, *, is_log_empty: bool) -> None:
    """Check the first batch of a producer without an entry.

    is_log_empty: whether the partition was never written to.
    Raises AppendRefused: INVALID_PRODUCER_EPOCH; by version OUT_OF_ORDER_SEQUENCE_NUMBER or UNKNOWN_PRODUCER_ID.
    """
    if header.producer_epoch < NO_PRODUCER_EPOCH:
        raise _refusal(ErrorCode.INVALID_PRODUCER_EPOCH, SequenceRule.OLD_EPOCH, header, None, None)
    rule = rules.unknown_producer
    if header.base_sequence == 0 or rule is UnknownProducerRule.ANY_SEQUENCE:
        return
    if rule is UnknownProducerRule.UNKNOWN_UNLESS_ZERO:
        raise _refusal(ErrorCode.UNKNOWN_PRODUCER_ID, SequenceRule.UNKNOWN_PRODUCER, header, None, 0)
    if rule is UnknownProducerRule.OUT_OF_ORDER_UNLESS_ZERO or is_log_empty:
        raise _refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, SequenceRule.UNKNOWN_STARTS_AT_ZERO, header, None, 0)


def check_known_producer(entry: ProducerStateEntry, header: BatchHeader, rules: EmulatedVersion) -> None:
    """Check a batch that is not a duplicate against the producer's entry.

    Raises AppendRefused: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE; by version
    DUPLICATE_SEQUENCE_NUMBER or UNKNOWN_PRODUCER_ID.
    """
    epoch = entry.producer_epoch
    if header.producer_epoch != epoch:
        _check_other_epoch(entry, header)
    elif epoch != NO_PRODUCER_EPOCH or rules.orders_without_epoch:
        # From Kafka 2.5 on, the order is never checked in epoch -1.
        batches = entry.batches
        expected = (batches[-1].last_sequence + 1) & MAX_SEQUENCE if batches else 0
        if header.base_sequence != expected:
            _refuse_sequence(entry, header, expected, rules)
    if entry.current_txn_first_offset is not None and not header.attributes & TRANSACTIONAL_BIT:
        raise _refusal(ErrorCode.INVALID_TXN_STATE, SequenceRule.OPEN_TRANSACTION, header, entry, None)


def _check_other_epoch(entry: ProducerStateEntry, header: BatchHeader) -> None:
    if header.producer_epoch < entry.producer_epoch:
        raise _refusal(ErrorCode.INVALID_PRODUCER_EPOCH, SequenceRule.OLD_EPOCH, header, entry, None)
    if header.base_sequence != 0 and entry.producer_epoch != NO_PRODUCER_EPOCH:
        raise _refusal(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, SequenceRule.NEW_EPOCH_STARTS_AT_ZERO, header, entry, 0)


def _refuse_sequence(entry: ProducerStateEntry, header: BatchHeader, expected: int, rules: EmulatedVersion) -> None:
    """Raise AppendRefused for a batch of the current epoch that is neither next nor a duplicate."""
    if not entry.batches:
        code = rules.sequence_after_marker
        rule = SequenceRule.UNKNOWN_PRODUCER if code is ErrorCode.UNKNOWN_PRODUCER_ID else SequenceRule.GAP
        raise _refusal(code, rule, header, entry, expected)
    last_sequence = increment_sequence(header.base_sequence, header.last_offset_delta)
    oldest = entry.batches[0].base_sequence
    # Kafka 1.0, which has its own error for old batches, compares without wrapping and treats 0 as wrapped.
    code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER if last_sequence >= oldest else rules.older_than_retained
    if last_sequence == 0:
        code = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    if _is_before(last_sequence, oldest):
        rule = SequenceRule.BEFORE_CACHE
    elif _is_before(expected, header.base_sequence):
        rule = SequenceRule.GAP
    else:
        rule = SequenceRule.NOT_A_CACHED_BATCH
    raise _refusal(code, rule, header, entry, expected)


def _is_before(sequence: int, other: int) -> bool:
    """Whether sequence precedes other, with wrapping, by at most half of the sequence range."""
    return 0 < (other - sequence) & MAX_SEQUENCE <= MAX_SEQUENCE // 2


def _refusal(
    code: ErrorCode,
    rule: SequenceRule,
    header: BatchHeader,
    entry: ProducerStateEntry | None,
    expected_sequence: int | None,
) -> AppendRefused:
    refusal = SequenceRefusal(
        rule=rule,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        last_sequence=increment_sequence(header.base_sequence, header.last_offset_delta),
        expected_sequence=expected_sequence,
        current_epoch=entry.producer_epoch if entry else None,
        cached=without_evicted(entry.batches) if entry else (),
    )
    error = AppendRefused(code, describe_refusal(refusal))
    error.refusal = refusal
    return error


def entry_after(
    entry: ProducerStateEntry | None, header: BatchHeader, batch: CachedBatch, batches_retained: int
) -> ProducerStateEntry:
    """Return the producer's entry after the append.

    entry: the one that the batch was checked against. header: as received; batch: as stored.
    """
    producer_epoch = header.producer_epoch
    if entry is None:
        batches: tuple[CachedBatch, ...] = (batch,)
        coordinator_epoch, txn_first_offset = NO_COORDINATOR_EPOCH, None
    else:
        batches = entry.batches
        coordinator_epoch, txn_first_offset = entry.coordinator_epoch, entry.current_txn_first_offset
        if entry.producer_epoch != producer_epoch:
            batches = (batch,)
        elif len(batches) < batches_retained:
            # The placeholder of evicted batches does not count.
            batches = (*without_evicted(batches), batch)
        else:
            batches = batches[1:] + (batch,)  # noqa: RUF005 - unpacking costs twice as much, for every batch
    if txn_first_offset is None and header.attributes & TRANSACTIONAL_BIT:
        txn_first_offset = batch.base_offset
    return ProducerStateEntry(
        header.producer_id, producer_epoch, batches, batch.timestamp, (coordinator_epoch, txn_first_offset)
    )


def entry_after_marker(
    entry: ProducerStateEntry | None, header: BatchHeader, coordinator_epoch: int
) -> ProducerStateEntry:
    """Return the producer's entry after a transaction marker, without an open transaction.

    header: of the marker's batch. A marker of another epoch drops the cached batches.
    Source: ProducerAppendInfo.appendEndTxnMarker, Kafka 4.3.0.
    """
    batches = entry.batches if entry is not None and entry.producer_epoch == header.producer_epoch else ()
    return ProducerStateEntry(
        header.producer_id, header.producer_epoch, batches, header.max_timestamp, (coordinator_epoch, None)
    )


def duplicate_result(
    header: BatchHeader, duplicate: CachedBatch, entry: ProducerStateEntry | None, log_start_offset: int
) -> AppendResult:
    """Return the result of a batch that repeats a cached one; header: as received."""
    cached = without_evicted(entry.batches) if entry is not None else ()
    offsets = (duplicate.base_offset, duplicate.last_offset)
    result = AppendResult(offsets, duplicate.timestamp, log_start_offset, header, cached)
    result.is_duplicate = True
    return result
