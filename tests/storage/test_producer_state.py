"""Producer state of a partition as in Kafka: duplicates, epochs, transactions, expiry."""

from __future__ import annotations

import pytest

from fauxka.protocol.batches.record_batch import TimestampType
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.sequences import MAX_SEQUENCE
from fauxka.storage.append_refused import AppendRefused, SequenceRefusal, SequenceRule
from fauxka.storage.log_config import LogConfig
from fauxka.storage.partition_log import PartitionLog
from fauxka.storage.producers.producer_snapshot import decode_snapshot, encode_snapshot
from fauxka.storage.producers.producer_state_entry import (
    CachedBatch,
    ProducerStateEntry,
    without_batches,
    without_evicted,
)
from fauxka.storage.producers.producer_state_manager import ProducerStateManager

from ..protocol.batch_bytes import NOW_MS, batch, record, records
from .logs import append, new_log, produce, read_all

DAY_MS = 86_400_000


def refusal(log: PartitionLog, base_sequence: int, count: int = 1, *, producer_epoch: int = 0) -> AppendRefused:
    with pytest.raises(AppendRefused) as raised:
        produce(log, base_sequence, count, producer_epoch=producer_epoch)
    return raised.value


def log_of_five() -> PartitionLog:
    log = new_log()
    for sequence in range(0, 10, 2):
        produce(log, sequence, 2, timestamp=NOW_MS + sequence)
    return log


@pytest.mark.parametrize("sequence", [0, 2, 4, 6, 8])
def test_each_of_the_five_newest_batches_is_recognised_with_its_own_offset_and_timestamp(sequence: int) -> None:
    log = log_of_five()
    before = read_all(log)

    again = produce(log, sequence, 2, value=b"other content")

    assert again.is_duplicate
    assert (again.base_offset, again.last_offset, again.log_append_time_ms) == (
        sequence,
        sequence + 1,
        NOW_MS + sequence,
    )
    assert read_all(log) == before


def test_duplicate_on_a_log_append_time_topic_has_the_first_append_time() -> None:
    log = new_log(LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME))
    sent = batch(producer_id=7, producer_epoch=0, base_sequence=0)
    append(log, sent, now_ms=NOW_MS)

    again = append(log, sent, now_ms=NOW_MS + 50)

    assert (again.is_duplicate, again.log_append_time_ms) == (True, NOW_MS)


def test_duplicate_has_the_timestamp_as_it_was_stored_not_as_it_was_sent() -> None:
    log = new_log()
    sent = batch(records(1), max_timestamp=NOW_MS + 999, producer_id=7, producer_epoch=0, base_sequence=0)
    append(log, sent)

    assert append(log, sent).log_append_time_ms == NOW_MS


def test_duplicate_is_checked_like_any_batch_first() -> None:
    log = log_of_five()

    with pytest.raises(AppendRefused) as raised:
        append(log, batch(records(2), count=2, producer_id=7, producer_epoch=0, base_sequence=8, crc_error=1))

    assert raised.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("base_sequence", "count", "rule"),
    [
        (12, 2, SequenceRule.GAP),
        (8, 3, SequenceRule.NOT_A_CACHED_BATCH),
        (8, 1, SequenceRule.NOT_A_CACHED_BATCH),
        (9, 1, SequenceRule.NOT_A_CACHED_BATCH),
        (6, 4, SequenceRule.NOT_A_CACHED_BATCH),
        (9, 2, SequenceRule.NOT_A_CACHED_BATCH),
    ],
    ids=["gap", "longer", "shorter", "second half", "two joined", "overlap"],
)
def test_batch_that_is_neither_next_nor_cached_is_out_of_order(
    base_sequence: int, count: int, rule: SequenceRule
) -> None:
    log = log_of_five()

    refused = refusal(log, base_sequence, count)

    assert (refused.code, refused.log_start_offset) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)
    assert (refused.message_for_client, refused.record_errors) == (None, ())
    assert refused.refusal is not None
    assert (refused.refusal.rule, refused.refusal.expected_sequence) == (rule, 10)
    assert produce(log, 10).base_offset == 10


def test_refusal_has_batch_and_producer_state() -> None:
    log = new_log()
    produce(log, 0, 2)
    produce(log, 2, 3)

    refused = refusal(log, 10, 4)

    assert refused.refusal == SequenceRefusal(
        rule=SequenceRule.GAP,
        producer_id=7,
        producer_epoch=0,
        base_sequence=10,
        last_sequence=13,
        expected_sequence=5,
        current_epoch=0,
        cached=(CachedBatch(0, 1, 0, 1, NOW_MS), CachedBatch(2, 4, 2, 4, NOW_MS)),
    )


def test_batch_older_than_the_cache_is_refused_as_before_the_cache() -> None:
    log = log_of_five()
    produce(log, 10, 2)

    refused = refusal(log, 0, 2)

    assert refused.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused.refusal is not None
    assert refused.refusal.rule is SequenceRule.BEFORE_CACHE


@pytest.mark.parametrize("epoch", [1, 4, 32767])
def test_higher_epoch_starts_at_zero_and_drops_the_cached_batches(epoch: int) -> None:
    log = log_of_five()

    assert refusal(log, 10, producer_epoch=epoch).code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert produce(log, 10, producer_epoch=0).base_offset == 10
    assert produce(log, 0, producer_epoch=epoch).base_offset == 11

    entry = log.producers.find(7)
    assert entry is not None
    assert (entry.producer_epoch, len(entry.batches)) == (epoch, 1)


@pytest.mark.parametrize("sequence", [8, 10, 0])
def test_lower_epoch_is_fenced_even_with_a_cached_range(sequence: int) -> None:
    log = log_of_five()
    produce(log, 0, 2, producer_epoch=3)

    refused = refusal(log, sequence, 2, producer_epoch=2)

    assert refused.code is ErrorCode.INVALID_PRODUCER_EPOCH
    assert refused.refusal is not None
    assert (refused.refusal.rule, refused.refusal.current_epoch) == (SequenceRule.OLD_EPOCH, 3)


def test_epoch_below_minus_one_is_fenced_for_an_unknown_producer() -> None:
    assert refusal(new_log(), 0, producer_epoch=-2).code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_epoch_minus_one_never_checks_the_order_and_still_recognises_duplicates() -> None:
    log = new_log()

    offsets = [produce(log, sequence, 2, producer_epoch=-1).base_offset for sequence in (0, 50, 2, 50)]

    assert offsets == [0, 2, 4, 2]


def test_sequences_wrap_to_zero() -> None:
    log = new_log()

    offsets = [produce(log, sequence, 2).base_offset for sequence in (2147483645, 2147483647, 1, 2147483647)]

    assert offsets == [0, 2, 4, 2]


def test_producers_and_plain_batches_do_not_touch_one_another() -> None:
    log = new_log()
    produce(log, 0, producer_id=1)
    produce(log, 0, producer_id=2)
    append(log, batch())
    append(log, batch(producer_id=-2, producer_epoch=0, base_sequence=0))

    assert [produce(log, 1, producer_id=each).base_offset for each in (1, 2)] == [4, 5]
    assert sorted(entry.producer_id for entry in log.producers.active_producers()) == [1, 2]


def test_plain_batch_in_an_open_transaction_is_refused_and_the_last_stable_offset_stays() -> None:
    log = new_log()
    append(log, batch())
    append(log, batch(record(), attributes=0x10, producer_id=7, producer_epoch=0, base_sequence=0))

    refused = refusal(log, 1)

    assert refused.code is ErrorCode.INVALID_TXN_STATE
    assert (log.last_stable_offset, log.high_watermark) == (1, 2)
    entry = log.producers.find(7)
    assert entry is not None
    assert entry.current_txn_first_offset == 1


def test_entry_without_batches_expects_sequence_zero() -> None:
    log = new_log()
    log.producers.commit(ProducerStateEntry(7, 3, last_timestamp=NOW_MS, transaction=(0, None)))

    assert refusal(log, 1, producer_epoch=3).code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert produce(log, 0, producer_epoch=3).base_offset == 0
    entry = log.producers.find(7)
    assert entry is not None
    assert entry.coordinator_epoch == 0


@pytest.mark.parametrize(("version", "code"), [("2.0", 45), ("2.1", 59), ("2.4", 59), ("2.5", 45)])
def test_sequence_after_a_lone_marker_is_refused_with_the_versions_error(version: str, code: int) -> None:
    log = new_log(version=version)
    log.producers.commit(ProducerStateEntry(7, 0, last_timestamp=NOW_MS, transaction=(0, None)))

    assert refusal(log, 4).code == code


def test_idle_producer_expires_by_the_timestamp_of_its_newest_batch() -> None:
    log = new_log()
    produce(log, 0, timestamp=NOW_MS)
    produce(log, 0, producer_id=8, timestamp=NOW_MS + 1)

    assert log.producers.remove_expired(NOW_MS + DAY_MS - 1) == 0
    assert log.producers.remove_expired(NOW_MS + DAY_MS) == 1

    assert [entry.producer_id for entry in log.producers.active_producers()] == [8]
    again = produce(log, 0)
    assert (again.is_duplicate, again.base_offset) == (False, 2)


def test_duplicate_does_not_keep_its_producer_alive() -> None:
    log = new_log()
    produce(log, 0, timestamp=NOW_MS)

    produce(log, 0, timestamp=NOW_MS + 1000)

    assert log.producers.remove_expired(NOW_MS + DAY_MS) == 1


def test_producer_without_timestamps_expires_at_the_next_check() -> None:
    log = new_log()
    produce(log, 0, timestamp=-1)

    assert log.producers.remove_expired(NOW_MS) == 1


def test_producer_with_an_open_transaction_never_expires() -> None:
    producers = ProducerStateManager(DAY_MS)
    producers.commit(ProducerStateEntry(7, 0, last_timestamp=0, transaction=(-1, 4)))

    assert producers.remove_expired(10 * DAY_MS) == 0
    assert producers.first_unstable_offset == 4


def test_producer_whose_transaction_ended_expires_like_any_other() -> None:
    producers = ProducerStateManager(DAY_MS)
    producers.commit(ProducerStateEntry(7, 0, last_timestamp=0, transaction=(-1, 4)))

    producers.commit(ProducerStateEntry(7, 0, last_timestamp=0))

    assert producers.first_unstable_offset is None
    assert producers.remove_expired(10 * DAY_MS) == 1


def test_new_expiration_applies_at_once() -> None:
    log = new_log()
    produce(log, 0)

    log.config = LogConfig(producer_id_expiration_ms=1000)

    assert log.producers.remove_expired(NOW_MS + 1000) == 1


def evicted_log(*, version: str = "4.3") -> PartitionLog:
    """Return a log with sequences 0..9 in batches of two, all evicted from the cache."""
    log = new_log(version=version)
    for sequence in range(0, 10, 2):
        produce(log, sequence, 2)
    entry = log.producers.find(7)
    assert entry is not None
    log.producers.commit(without_batches(entry))
    return log


@pytest.mark.parametrize("sequence", [0, 6, 8])
def test_evicted_batch_is_not_recognised_and_lies_before_the_cached_ones(sequence: int) -> None:
    log = evicted_log()

    refused = refusal(log, sequence, 2)

    assert refused.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused.refusal is not None
    assert (refused.refusal.rule, refused.refusal.cached) == (SequenceRule.BEFORE_CACHE, ())
    assert (refused.refusal.expected_sequence, log.log_end_offset) == (10, 10)


def test_evicted_batch_gets_the_versions_error_for_old_batches() -> None:
    log = evicted_log(version="1.0")

    assert refusal(log, 8, 2).code is ErrorCode.DUPLICATE_SEQUENCE_NUMBER


def test_five_batches_are_cached_again_after_an_eviction() -> None:
    log = evicted_log()

    for sequence in range(10, 20, 2):
        produce(log, sequence, 2)

    entry = log.producers.find(7)
    assert entry is not None
    assert [batch.base_sequence for batch in entry.batches] == [10, 12, 14, 16, 18]
    assert produce(log, 10, 2).is_duplicate


def test_gap_after_an_eviction_is_refused_as_a_gap() -> None:
    refused = refusal(evicted_log(), 12, 2)

    assert refused.refusal is not None
    assert (refused.refusal.rule, refused.refusal.expected_sequence) == (SequenceRule.GAP, 10)


def test_evicted_entry_survives_a_snapshot() -> None:
    entry = evicted_log().producers.find(7)
    assert entry is not None

    (decoded,) = decode_snapshot(encode_snapshot([entry]))

    assert decoded == entry
    assert (decoded.next_sequence, without_evicted(decoded.batches)) == (10, ())


def test_eviction_at_the_greatest_sequence_expects_zero() -> None:
    batch_at_the_end = CachedBatch(MAX_SEQUENCE, MAX_SEQUENCE, 4, 4, NOW_MS)

    entry = without_batches(ProducerStateEntry(7, 0, (batch_at_the_end,), NOW_MS))

    assert (entry.next_sequence, entry.batches[0].base_sequence, entry.last_sequence) == (0, 0, MAX_SEQUENCE)


def test_forgotten_producer_does_not_hold_back_the_last_stable_offset() -> None:
    producers = ProducerStateManager(DAY_MS)
    producers.commit(ProducerStateEntry(7, 0, (), NOW_MS, (-1, 3)))

    producers.remove(7)

    assert (producers.find(7), producers.first_unstable_offset) == (None, None)
