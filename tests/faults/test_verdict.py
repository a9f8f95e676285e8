"""The verdict of each scenario, from a journal that is called as by a broker and real logs in memory."""

from __future__ import annotations

from fauxka.faults.journal.journal_record import NO_RESPONSE, PENDING
from fauxka.faults.verdict.deleted_ranges import RANGES_MAX, DeletedRanges
from fauxka.faults.verdict.topic_verdict import TopicVerdict
from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.deleted_records import DeletedRecords, DeletionCause
from fauxka.storage.log_config import LogConfig

from .journal_scene import NOW_MS, PRODUCER, TOPIC, Batch, JournalScene, events, numbered

DAY_MS = 86_400_000
A, B, C, D, E, F = (
    numbered(*ends) for ends in ((114, 120), (121, 124), (125, 132), (133, 142), (143, 150), (151, 155))
)


def found(verdict: TopicVerdict) -> dict[str, int]:
    """Return the batch counts that are not 0."""
    names = verdict.batches.__struct_fields__
    return {name: getattr(verdict.batches, name) for name in names if getattr(verdict.batches, name)}


def kinds(verdict: TopicVerdict) -> list[tuple[str, list[int]]]:
    return [(finding.kind, finding.offsets) for finding in verdict.findings]


def without_producer(first: int, last: int, partition: int = 0) -> Batch:
    return Batch(
        -1, events(first, last), producer_id=-1, producer_epoch=-1, partition=partition, timestamp=NOW_MS + first
    )


def test_success() -> None:
    scene = JournalScene()

    for batch in (A, B, C, D, E):
        scene.send(batch)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 5}
    assert (verdict.records.in_log, verdict.records.distinct, verdict.records.duplicates) == (37, 37, 0)
    assert verdict.findings == []


def test_lost_ack() -> None:
    scene = JournalScene()
    for batch in (A, B, C):
        scene.send(batch)
    scene.lose_answer(D)
    scene.lose_answer(E)

    scene.send(D, connection=2)
    scene.send(E, connection=2)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 5, "duplicates_recognised": 2}
    assert verdict.records.duplicates == 0
    assert verdict.findings == []


def test_lost_ack_before_the_client_retries() -> None:
    scene = JournalScene()
    scene.send(A)

    scene.lose_answer(B)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 2, "stored_unacknowledged": 1}
    assert kinds(verdict) == [("stored_unacknowledged", [7, 10])]
    assert verdict.findings[0].rule == 1
    assert verdict.findings[0].why == (
        "the batch of producer 4000 epoch 0, sequences 121..124, was appended at offsets 7..10, and its response was"
        " not sent (rule 1: close at applied), and no later response acknowledged it"
    )


def test_hang_with_a_retry_after_the_client_closed() -> None:
    scene = JournalScene()
    hung = [scene.send(A, state=PENDING), scene.send(B, state=PENDING)]
    assert found(scene.verdict()) == {"appended_once": 2, "stored_unacknowledged": 2}

    for request_id in hung:
        scene.journal.unanswered(request_id)
    scene.send(A, connection=2)
    scene.send(B, connection=2)
    scene.send(C, connection=2)

    assert found(scene.verdict()) == {"appended_once": 3, "duplicates_recognised": 2}


def test_hang_that_ends_after_the_retry_was_answered() -> None:
    scene = JournalScene()
    hung = scene.send(A, state=PENDING)
    scene.send(A, connection=2)

    scene.journal.unanswered(hung)

    assert found(scene.verdict()) == {"appended_once": 1, "duplicates_recognised": 1}


def test_pending_response_to_a_retry_does_not_acknowledge() -> None:
    scene = JournalScene()
    scene.lose_answer(A)
    retry = scene.send(A, connection=2, state=PENDING)
    assert scene.verdict().batches.stored_unacknowledged == 1

    scene.journal.answered(retry)

    assert scene.verdict().batches.stored_unacknowledged == 0


def test_lost_response_to_a_retry_does_not_acknowledge() -> None:
    scene = JournalScene()
    scene.lose_answer(A)

    scene.lose_answer(A, connection=2)

    assert found(scene.verdict()) == {"appended_once": 1, "duplicates_recognised": 1, "stored_unacknowledged": 1}


def test_lost_request() -> None:
    scene = JournalScene()
    scene.send(A)
    scene.send(B)
    scene.withhold(scene.new_request(C))
    scene.send(D)
    scene.send(E)

    for batch in (C, D, E):
        scene.send(batch)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 5, "refused": 2}
    assert verdict.findings == []


def test_lost_request_of_a_producer_without_id_is_reordered() -> None:
    scene = JournalScene()
    scene.send(without_producer(0, 4))
    scene.withhold(scene.new_request(without_producer(5, 9)))
    scene.send(without_producer(10, 14))

    scene.send(without_producer(5, 9))

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 3, "reordered": 1}
    assert kinds(verdict) == [("reordered", [10, 5])]
    assert verdict.findings[0].why == (
        "a batch without a producer id was received first and was not appended then (rule 1: drop at received); the"
        " next one of its connection was appended at offset 5, and this one later, at offset 10"
    )


def test_lost_request_of_another_connection_is_not_reordered() -> None:
    scene = JournalScene()
    scene.withhold(scene.new_request(without_producer(5, 9), connection=2))
    scene.send(without_producer(10, 14))

    scene.send(without_producer(5, 9), connection=3)

    assert found(scene.verdict()) == {"appended_once": 2}


def test_overtaken() -> None:
    scene = JournalScene()
    scene.send(A)
    overtaken = scene.new_request(B)
    held = scene.withhold(overtaken, "hold")
    scene.send(C)

    scene.journal.applied_later(held, scene.apply(overtaken), 200, PENDING)
    scene.journal.answered(held)
    scene.send(C)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 3, "refused": 1}
    assert verdict.findings == []


def test_overtaken_without_a_producer_id_is_reordered() -> None:
    scene = JournalScene()
    overtaken = scene.new_request(without_producer(0, 4))
    held = scene.withhold(overtaken, "hold")
    scene.send(without_producer(5, 9))

    scene.journal.applied_later(held, scene.apply(overtaken), 200, PENDING)
    scene.journal.answered(held)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 2, "reordered": 1}
    assert kinds(verdict) == [("reordered", [5, 0])]


def test_held_request_after_its_retry_is_appended_twice() -> None:
    scene = JournalScene()
    delayed = scene.new_request(without_producer(0, 4))
    held = scene.withhold(delayed, "delay")
    scene.journal.unanswered(held)
    scene.send(without_producer(0, 4), connection=2)

    scene.journal.applied_later(held, scene.apply(delayed), 200, PENDING)
    scene.journal.unanswered(held)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_twice": 1}
    assert kinds(verdict) == [("appended_twice", [0, 5])]


def test_cache_missed() -> None:
    scene = JournalScene()
    scene.lose_answer(A)
    for batch in (B, C, D, E, F):
        scene.send(batch)
    scene.send(A, connection=2)

    bumped = Batch(0, A.values, producer_epoch=1, timestamp=A.timestamp)
    scene.send(bumped, connection=2)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 5, "appended_twice": 1, "refused": 1}
    assert (verdict.records.in_log, verdict.records.distinct, verdict.records.duplicates) == (49, 42, 7)
    assert kinds(verdict) == [("appended_twice", [0, 42])]
    assert verdict.findings[0].why == (
        "the batch of producer 4000 epoch 0, sequences 114..120, was appended at offsets 0..6, and its response was"
        " not sent (rule 1: close at applied); the batch is also at offsets 42..48: it was sent with sequences 0..6 of"
        " epoch 1, in which sequences start at 0 again"
    )
    assert [copy.base_offset for copy in verdict.findings[0].copies] == [0, 42]


def test_producer_restart_by_event_id() -> None:
    scene = JournalScene()
    scene.lose_answer(numbered(0, 4))

    again = numbered(0, 4, producer_id=PRODUCER + 1, timestamp=NOW_MS + 60_000)
    scene.send(again, connection=2)

    assert found(scene.verdict()) == {"appended_once": 2, "stored_unacknowledged": 1}
    for event_id in ("key", "header:event"):
        verdict = scene.verdict(event_id)
        assert found(verdict) == {"appended_twice": 1, "stored_unacknowledged": 1}
        assert verdict.records.duplicates == 5
        assert kinds(verdict)[0] == ("appended_twice", [0, 5])
        assert verdict.findings[0].records == 5
        assert "of another producer id, 4001" in verdict.findings[0].why


def test_producer_restart_with_the_same_timestamps_needs_no_event_id() -> None:
    scene = JournalScene()
    scene.lose_answer(numbered(0, 4))

    scene.send(numbered(0, 4, producer_id=PRODUCER + 1), connection=2)

    assert found(scene.verdict()) == {"appended_twice": 1}


def test_other_partition() -> None:
    scene = JournalScene()
    scene.lose_answer(Batch(0, ("paid",)))

    scene.send(Batch(0, ("paid",), partition=1, timestamp=NOW_MS + 1))

    assert found(scene.verdict()) == {"appended_once": 2, "stored_unacknowledged": 1}
    verdict = scene.verdict("header:event")
    assert verdict.batches.appended_twice == 1
    assert [(copy.partition, copy.base_offset) for copy in verdict.findings[0].copies] == [(0, 0), (1, 0)]
    assert "each partition has its own sequences" in verdict.findings[0].why


def test_gap_whole_batch_and_stale_epoch_are_refused() -> None:
    scene = JournalScene()
    scene.send(numbered(0, 4))

    scene.send(numbered(10, 11))
    scene.send(numbered(3, 8))
    scene.send(numbered(0, 4, producer_epoch=1))
    scene.send(numbered(5, 9))

    assert found(scene.verdict()) == {"appended_once": 2, "refused": 3}


def test_crash_loses_acknowledged_batches() -> None:
    scene = JournalScene()
    scene.send(A)
    scene.send(B)
    lost = scene.send(C)
    scene.lose_answer(D)

    scene.truncate(0, to_offset=11)
    scene.send(C, connection=2)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 3, "acknowledged_lost": 1}
    assert kinds(verdict) == [("acknowledged_lost", [11, 18])]
    finding = verdict.findings[0]
    assert (finding.producer_id, finding.base_sequence) == (PRODUCER, 125)
    assert finding.why == "it was acknowledged at offsets 11..18, and after a crash the log ended at 11"
    assert scene.journal.find(lost) is not None


def test_crash_loses_only_unacknowledged_batches() -> None:
    scene = JournalScene()
    scene.send(A)
    scene.lose_answer(B)
    waiting = scene.send(C, state=PENDING)
    scene.journal.unanswered(waiting)

    scene.truncate(0, to_offset=7)
    for batch in (B, C):
        scene.send(batch, connection=2)

    assert found(scene.verdict()) == {"appended_once": 3}


def test_crash_without_loss() -> None:
    scene = JournalScene()
    scene.send(A)
    scene.lose_answer(B)

    scene.journal.truncated(TOPIC, 0, 11, 11)
    scene.send(B, connection=2)

    assert found(scene.verdict()) == {"appended_once": 2, "duplicates_recognised": 1}


def test_crash_loses_a_batch_acknowledged_by_its_duplicate() -> None:
    scene = JournalScene()
    scene.lose_answer(A)
    scene.send(A, connection=2)

    scene.truncate(0, to_offset=0)

    assert found(scene.verdict()) == {"acknowledged_lost": 1, "duplicates_recognised": 1}


def test_crash_loses_batches_with_acks_0() -> None:
    scene = JournalScene()
    scene.send(A, state=NO_RESPONSE)
    scene.send(B)
    scene.send(C, state=NO_RESPONSE)

    scene.truncate(0, to_offset=0)

    assert found(scene.verdict()) == {"acknowledged_lost": 1}
    assert kinds(scene.verdict()) == [("acknowledged_lost", [7, 10])]


def test_not_idempotent() -> None:
    scene = JournalScene()
    scene.send(without_producer(114, 120))
    scene.lose_answer(without_producer(133, 142))
    scene.lose_answer(without_producer(143, 150))

    scene.send(without_producer(133, 142), connection=2)
    scene.send(without_producer(143, 150), connection=2)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 1, "appended_twice": 2}
    assert verdict.records.duplicates == 18
    assert kinds(verdict) == [("appended_twice", [7, 25]), ("appended_twice", [17, 35])]
    assert verdict.findings[0].why == (
        "a batch without a producer id was appended at offsets 7..16, and its response was not sent (rule 1: close at"
        " applied); the batch is also at offsets 25..34: a batch without a producer id is never recognised as a"
        " duplicate"
    )


def test_sequence_wrap() -> None:
    scene = JournalScene()
    scene.send(Batch(2**31 - 3, events(0, 4)))
    scene.lose_answer(Batch(2, events(5, 6)))

    scene.send(Batch(2, events(5, 6)))

    assert found(scene.verdict()) == {"appended_once": 2, "duplicates_recognised": 1}


def test_app_dedup() -> None:
    scene = JournalScene()
    scene.send(Batch(0, ("created", "paid")))

    scene.send(Batch(2, ("paid", "sent"), timestamp=NOW_MS + 100))

    assert found(scene.verdict()) == {"appended_once": 2}
    verdict = scene.verdict("key")
    assert found(verdict) == {"appended_once": 1, "appended_twice": 1}
    assert verdict.records.duplicates == 1
    assert kinds(verdict) == [("appended_twice", [1, 2])]
    assert verdict.findings[0].why == (
        "1 of its records is also at offsets 2..3, the first has event id 'paid': it was sent with sequences 2..3,"
        " which are new; a broker does not compare records"
    )


def test_recognised_duplicate_acknowledges_a_batch_with_a_false_error() -> None:
    scene = JournalScene()
    replaced = scene.send(A, Batch(0, ("x",), producer_id=9, partition=1))
    scene.journal.response_replaced(replaced, frozenset({(TOPIC, 0)}), int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 2, "stored_unacknowledged": 1}
    assert "its response was NOT_LEADER_OR_FOLLOWER" in verdict.findings[0].why

    scene.send(A)

    assert found(scene.verdict()) == {"appended_once": 2, "duplicates_recognised": 1}


def test_false_error_for_a_pending_duplicate_does_not_acknowledge() -> None:
    scene = JournalScene()
    scene.lose_answer(A)
    retry = scene.send(A, state=PENDING)

    scene.journal.response_replaced(retry, frozenset(), int(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    scene.journal.answered(retry)

    assert scene.verdict().batches.stored_unacknowledged == 1


def test_false_success_is_a_loss() -> None:
    scene = JournalScene()
    scene.withhold(scene.new_request(A), "error", ErrorCode.NONE)

    verdict = scene.verdict()

    assert found(verdict) == {"acknowledged_lost": 1}
    assert kinds(verdict) == [("acknowledged_lost", [])]
    assert verdict.findings[0].why == (
        "it was acknowledged and not appended (rule 1: error at received); "
        "lost: 'event-114', 'event-115', 'event-116', 4 more"
    )


def test_retried_error_at_received_has_no_finding() -> None:
    scene = JournalScene()
    scene.withhold(scene.new_request(A), "error", ErrorCode.NOT_LEADER_OR_FOLLOWER)

    scene.send(A)

    assert found(scene.verdict()) == {"appended_once": 1}


def test_delivered_twice() -> None:
    for first, counts in (
        (numbered(0, 4), {"appended_once": 1, "duplicates_recognised": 1}),
        (without_producer(0, 4), {"appended_twice": 1}),
    ):
        scene = JournalScene()
        scene.journal.unanswered(scene.send(first, state=PENDING))

        scene.send(first)

        assert found(scene.verdict()) == counts


def test_response_is_lost_three_times() -> None:
    scene = JournalScene()
    for connection in (1, 2, 3):
        scene.lose_answer(without_producer(0, 4), connection=connection)
    assert found(scene.verdict()) == {"appended_twice": 1, "stored_unacknowledged": 1}

    scene.send(without_producer(0, 4), connection=4)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_twice": 1}
    assert kinds(verdict) == [("appended_twice", [0, offset]) for offset in (5, 10, 15)]
    assert verdict.records.duplicates == 15


def test_retry_in_batches_of_another_size() -> None:
    scene = JournalScene()
    scene.lose_answer(without_producer(0, 4))
    scene.lose_answer(without_producer(5, 9))

    scene.send(without_producer(0, 2), connection=2)
    scene.send(without_producer(3, 11), connection=2)

    verdict = scene.verdict()
    assert verdict.records.duplicates == 10
    assert found(verdict) == {"appended_once": 1, "appended_twice": 2}


def test_equal_records_of_one_producer_are_not_copies() -> None:
    scene = JournalScene()
    scene.lose_answer(Batch(0, ("tick",)))
    scene.send(Batch(1, ("tick",)))

    assert scene.verdict().records.duplicates == 0
    assert found(scene.verdict()) == {"appended_once": 2, "stored_unacknowledged": 1}


def test_equal_batches_that_were_acknowledged_are_not_copies() -> None:
    scene = JournalScene()

    scene.send(without_producer(0, 4))
    scene.send(without_producer(0, 4))

    assert found(scene.verdict()) == {"appended_once": 2}


def test_verdict_of_each_producer() -> None:
    scene = JournalScene()
    scene.send(A)
    scene.lose_answer(numbered(0, 4, producer_id=9))
    scene.send(numbered(0, 4, producer_id=9))
    scene.send(without_producer(0, 4))

    producers = {each.producer_id: each.batches for each in scene.verdict().producers}

    assert sorted(producers) == [-1, 9, PRODUCER]
    assert (producers[9].appended_once, producers[9].duplicates_recognised) == (1, 1)
    assert (producers[PRODUCER].appended_once, producers[-1].appended_once) == (1, 1)


def test_log_append_time_does_not_hide_a_copy() -> None:
    scene = JournalScene(is_append_time=True)
    scene.lose_answer(without_producer(0, 4))

    scene.now_ms += 5000
    scene.send(without_producer(0, 4), connection=2)

    assert found(scene.verdict()) == {"appended_twice": 1}


def test_verdict_does_not_depend_on_the_ring() -> None:
    scene = JournalScene(capacity=2)
    scene.lose_answer(without_producer(0, 4))
    for first in range(5, 50, 5):
        scene.send(without_producer(first, first + 4))

    scene.send(without_producer(0, 4), connection=2)

    assert scene.journal.dropped == 9
    assert found(scene.verdict()) == {"appended_once": 9, "appended_twice": 1}


def test_recreated_topic_starts_with_empty_counts() -> None:
    scene = JournalScene()
    scene.lose_answer(A)
    scene.withhold(scene.new_request(B))
    scene.send(A)
    scene.send(A)

    scene.journal.topic_created("another")
    assert found(scene.verdict()) == {"appended_once": 1, "duplicates_recognised": 2}
    scene.journal.topic_created(TOPIC)

    assert found(scene.verdict()) == {}


def test_batch_with_a_pending_response_is_not_lost_by_a_crash() -> None:
    scene = JournalScene()
    scene.send(A, state=PENDING)

    scene.truncate(0, to_offset=0)

    assert found(scene.verdict()) == {}


def test_records_deleted_by_retention_are_neither_lost_nor_copies() -> None:
    scene = JournalScene()
    scene.lose_answer(without_producer(0, 4))
    scene.send(without_producer(0, 4), connection=2)

    scene.logs[0].delete_records_before(5)

    verdict = scene.verdict()
    assert found(verdict) == {"appended_once": 2, "stored_unacknowledged": 1}
    assert verdict.records.in_log == 5


def test_unknown_topic_has_an_empty_verdict() -> None:
    scene = JournalScene()

    assert found(scene.verdict_of("nowhere")) == {}


def test_deleted_records_are_counted_with_their_offsets_and_the_request() -> None:
    scene = JournalScene()
    for batch in (A, B, C):
        scene.send(batch)

    scene.delete_records(0, 7)
    scene.delete_records(0, 9)

    verdict = scene.verdict()
    assert (verdict.records.deleted, verdict.batches.appended_once) == (9, 3)
    assert [(each.kind, each.partition, each.offsets, each.records, each.why) for each in verdict.findings] == [
        ("deleted", 0, [0, 6], 7, "a client deleted the records before offset 7 (DeleteRecords)"),
        ("deleted", 0, [7, 8], 2, "a client deleted the records before offset 9 (DeleteRecords)"),
    ]


def test_records_past_the_retention_time_are_counted_with_their_offsets_and_the_config() -> None:
    scene = JournalScene()
    for number in range(2):
        scene.send(Batch(number, ("v",), timestamp=NOW_MS + number))
        scene.enforce_retention(0, NOW_MS + 8 * DAY_MS)

    verdict = scene.verdict()
    assert (verdict.records.deleted, verdict.records.in_log) == (2, 0)
    (finding,) = verdict.findings
    assert (finding.kind, finding.offsets, finding.records) == ("deleted", [0, 1], 2)
    assert finding.why == "retention.ms is 604800000, and on the broker's clock every record of the segment was older"


def test_records_past_the_retention_size_are_counted_with_their_offsets_and_the_config() -> None:
    scene = JournalScene()
    scene.logs[1].config = LogConfig(segment_bytes=100, retention_bytes=50)
    for number in range(3):
        scene.send(Batch(number, ("v",), partition=1))

    scene.enforce_retention(1, NOW_MS)

    (finding,) = scene.verdict().findings
    assert (finding.kind, finding.partition, finding.offsets) == ("deleted", 1, [0, 1])
    assert finding.why == "retention.bytes is 50, and the later segments have as many bytes"


def test_deletions_are_forgotten_with_their_topic_and_with_the_journal() -> None:
    scene = JournalScene()
    scene.send(A)
    scene.delete_records(0, 3)

    scene.journal.topic_created(TOPIC)
    after_topic = scene.verdict().records.deleted
    scene.delete_records(0, 5)
    scene.journal.clear()

    assert (after_topic, scene.verdict().records.deleted) == (0, 0)


def test_more_deletions_than_are_kept_are_still_counted() -> None:
    deleted = DeletedRanges()
    for offset in range(RANGES_MAX + 5):
        # No two have the same cause, so none are joined.
        deleted.add(TOPIC, 0, DeletedRecords(offset, offset + 1, DeletionCause.DELETE_RECORDS, offset + 1))

    assert (deleted.count_of_topic(TOPIC), len(deleted.of_topic(TOPIC))) == (RANGES_MAX + 5, RANGES_MAX)


def test_batches_of_a_producer_from_before_the_reset_are_a_finding() -> None:
    scene = JournalScene()
    scene.journal.data_reset(first_producer_id=PRODUCER + 1)

    scene.send(numbered(5, 9))
    scene.send(numbered(10, 10, producer_id=PRODUCER + 1))
    scene.send(numbered(11, 12))
    scene.send(numbered(10, 10))

    (finding,) = scene.verdict().findings
    assert (finding.kind, finding.partition, finding.offsets, finding.records) == (
        "producer_before_reset",
        0,
        [0, 6],
        6,
    )
    assert (finding.producer_id, finding.producer_epoch, finding.base_sequence) == (PRODUCER, 0, 5)
    assert finding.why == (
        "producer 4000 got its id before the last reset, which deleted its state; it has sent batches since: "
        "2 batches appended, 1 batch refused"
    )


def test_batches_that_one_crash_loses_are_one_finding_with_their_requests() -> None:
    scene = JournalScene()
    scene.send(A)
    lost = [scene.send(B), scene.send(C)]
    scene.truncate(0, to_offset=7)
    again = [scene.send(B, connection=2), scene.send(C, connection=2)]
    scene.truncate(0, to_offset=7)

    first, second = scene.verdict().findings

    assert (first.offsets, first.batches, first.records) == ([7, 18], 2, 12)
    assert first.why == (
        "2 batches with 12 records were acknowledged at offsets 7..18, and after a crash the log ended at 7"
    )
    assert first.requests == second.requests == [*lost, *again]


def test_finding_on_a_copy_names_the_requests_of_both_places() -> None:
    scene = JournalScene()
    given_up = scene.lose_answer(without_producer(1, 2))
    scene.truncate(0, to_offset=0)
    sent = [scene.lose_answer(without_producer(1, 2)), scene.send(without_producer(1, 2), connection=2)]

    (finding,) = scene.verdict().findings

    assert finding.kind == "appended_twice"
    assert finding.requests == sent
    assert given_up not in finding.requests
