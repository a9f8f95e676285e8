"""The journal: records, entries and outcomes, and no references to buffers."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.faults.actions import Drop, Error
from fauxka.faults.fault import Fault
from fauxka.faults.journal import batch_counts, journal_entries
from fauxka.faults.journal.batch_counts import BatchCounts
from fauxka.faults.journal.journal import Journal
from fauxka.faults.journal.journal_entries import JournalEntry, Selection, read_entries, search_entries, search_matches
from fauxka.faults.journal.journal_record import NO_RESPONSE, PENDING, RESPONDED
from fauxka.faults.journal.large_requests import BATCH_BYTES, SMALL_BYTES
from fauxka.faults.rules.match import IntegerRange, Match
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.append_refused import AppendRefused

from .journal_scene import NOW_MS, PRODUCER, TOPIC, FakeConnection, FakeRequest, JournalScene, numbered


def only(journal: Journal) -> JournalEntry:
    (entry,) = read_entries(journal)
    return entry


def test_appended_batch_has_its_numbers_and_reason() -> None:
    scene = JournalScene()

    request_id = scene.send(numbered(5, 9), connection=3)

    entry = only(scene.journal)
    (batch,) = entry.batches
    assert (entry.id, entry.at_ms, entry.node, entry.connection) == (request_id, NOW_MS, 1, 3)
    assert (entry.client_id, entry.software, entry.api, entry.api_version) == ("shop", "librdkafka 2.14", "Produce", 9)
    assert (entry.answered, entry.answer, entry.error, entry.rule) == (True, "written", None, None)
    assert (batch.topic, batch.partition, batch.producer_id, batch.producer_epoch) == (TOPIC, 0, PRODUCER, 0)
    assert (batch.base_sequence, batch.last_sequence, batch.records, batch.base_offset) == (5, 9, 5, 0)
    assert (batch.decision, batch.error) == ("appended", None)
    assert batch.why == "producer 4000 epoch 0: sequences 5..9 appended at offsets 0..4"


def test_duplicate_and_refused_batches_have_a_reason() -> None:
    scene = JournalScene()
    scene.send(numbered(0, 4))
    scene.send(numbered(0, 4))
    scene.send(numbered(10, 12))

    _, duplicate, refused = read_entries(scene.journal)

    assert (duplicate.batches[0].decision, duplicate.batches[0].base_offset, duplicate.error) == ("duplicate", 0, None)
    (batch,) = refused.batches
    assert (batch.decision, batch.error, batch.base_offset) == ("refused", "OUT_OF_ORDER_SEQUENCE_NUMBER", -1)
    assert (batch.base_sequence, batch.last_sequence, batch.records) == (10, 12, 3)
    assert batch.why == "producer 4000 epoch 0: expected sequence 5, got 10 (cached 0..4): a gap is refused as a whole"
    assert (batch.expected_sequence, duplicate.batches[0].expected_sequence) == (5, None)
    assert refused.error == "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_refusal_without_a_log_has_its_error_code() -> None:
    journal = Journal(10)
    error = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    journal.handled(FakeRequest(batches=[("nowhere", 7, error)]), 100, RESPONDED)

    batch = only(journal).batches[0]
    assert (batch.topic, batch.partition, batch.decision) == ("nowhere", 7, "refused")
    assert (batch.error, batch.why, batch.producer_id) == (
        "UNKNOWN_TOPIC_OR_PARTITION",
        "UNKNOWN_TOPIC_OR_PARTITION",
        -1,
    )


def test_top_level_error_has_its_name() -> None:
    journal = Journal(10)

    journal.handled(
        FakeRequest(api_key=int(ApiKey.JOIN_GROUP), error_code=int(ErrorCode.MEMBER_ID_REQUIRED)), 100, RESPONDED
    )

    assert (only(journal).api, only(journal).error) == ("JoinGroup", "MEMBER_ID_REQUIRED")


def test_dropped_request_is_not_applied_and_not_answered() -> None:
    scene = JournalScene()

    scene.withhold(scene.new_request(numbered(5, 9)), "drop")

    entry = only(scene.journal)
    (batch,) = entry.batches
    assert (entry.answered, entry.error, entry.rule, entry.software) == (False, None, 1, "librdkafka 2.14")
    assert [(fault.rule, fault.point, fault.kind) for fault in entry.faults] == [(1, "received", "drop")]
    assert (batch.decision, batch.base_sequence, batch.records, batch.base_offset) == ("not_applied", 5, 5, -1)
    assert batch.why == "rule 1 (drop at received) withheld it from the log"


def test_error_at_received_counts_as_answered() -> None:
    scene = JournalScene()

    scene.withhold(scene.new_request(numbered(5, 9)), "error", ErrorCode.NOT_LEADER_OR_FOLLOWER)

    entry = only(scene.journal)
    assert (entry.answered, entry.error) == (True, "NOT_LEADER_OR_FOLLOWER")
    assert entry.batches[0].error == "NOT_LEADER_OR_FOLLOWER"
    assert entry.batches[0].why == "rule 1 (error NOT_LEADER_OR_FOLLOWER at received) withheld it from the log"


def test_error_for_one_partition_leaves_one_request_with_both_batches() -> None:
    scene = JournalScene()
    request = scene.new_request(numbered(0, 4), numbered(0, 4, partition=1))
    fault = Fault(rule_id=2, action=Error(error=6), scope="partition", partitions=frozenset({(TOPIC, 1)}))
    request_id = scene.journal.not_applied(request, fault)

    rest = scene.apply(scene.new_request(numbered(0, 4)))
    assert scene.journal.applied_later(request_id, rest, 200, RESPONDED) == request_id

    entry = only(scene.journal)
    decisions = [(batch.partition, batch.decision, batch.error) for batch in entry.batches]
    assert decisions == [(0, "appended", None), (1, "not_applied", "NOT_LEADER_OR_FOLLOWER")]
    assert (entry.answered, entry.rule) == (True, 2)


def test_held_request_is_one_request_before_and_after_its_release() -> None:
    scene = JournalScene()
    request = scene.new_request(numbered(0, 4))
    request_id = scene.withhold(request, "hold")
    assert only(scene.journal).batches[0].decision == "not_applied"

    scene.journal.applied_later(request_id, scene.apply(request), 200, PENDING)
    assert (only(scene.journal).batches[0].decision, only(scene.journal).answer) == ("appended", "waiting")
    scene.journal.answered(request_id)

    assert (only(scene.journal).id, only(scene.journal).answered) == (request_id, True)
    assert scene.journal.last_id == 1


def test_pending_response_is_written_or_not() -> None:
    journal = Journal(10)
    ids = [journal.handled(FakeRequest(), 100, PENDING) for _ in range(3)]

    journal.answered(ids[0])
    journal.unanswered(ids[1])

    assert [entry.answer for entry in read_entries(journal)] == ["written", "not_written", "waiting"]
    assert [entry.answered for entry in read_entries(journal)] == [True, False, False]


def test_request_without_response_is_not_answered() -> None:
    scene = JournalScene()

    scene.send(numbered(0, 4), state=NO_RESPONSE)

    assert (only(scene.journal).answered, only(scene.journal).answer) == (False, "not_owed")


def test_replaced_response_has_the_replacing_error() -> None:
    scene = JournalScene()
    request_id = scene.send(numbered(0, 4))

    scene.journal.response_replaced(request_id, frozenset(), int(ErrorCode.REQUEST_TIMED_OUT))

    entry = only(scene.journal)
    assert (entry.answered, entry.error, entry.batches[0].decision) == (True, "REQUEST_TIMED_OUT", "appended")


def test_ring_keeps_the_newest_and_counts_the_dropped_ones() -> None:
    journal = Journal(3)
    for correlation_id in range(5):
        journal.handled(FakeRequest(correlation_id=correlation_id), 100, RESPONDED)

    assert [(entry.id, entry.correlation_id) for entry in read_entries(journal)] == [(3, 2), (4, 3), (5, 4)]
    assert (journal.dropped, journal.capacity, journal.kept) == (2, 3, 3)


def test_ids_continue_after_clear() -> None:
    journal = Journal(3)
    waiting = [journal.handled(FakeRequest(), 100, PENDING) for _ in range(5)]

    journal.clear()
    journal.answered(waiting[0])

    assert (read_entries(journal), journal.dropped) == ([], 0)
    assert journal.handled(FakeRequest(), 100, RESPONDED) == 6
    assert [entry.id for entry in read_entries(journal)] == [6]


def test_pending_request_is_found_after_it_left_the_ring() -> None:
    scene = JournalScene(capacity=1)
    waiting = scene.send(numbered(0, 4), state=PENDING)
    scene.send(numbered(5, 9))

    scene.journal.unanswered(waiting)

    assert scene.verdict().batches.stored_unacknowledged == 1
    assert scene.journal.find(waiting) is None


def test_entries_start_after_an_id_and_stop_at_a_limit() -> None:
    journal = Journal(10)
    for _ in range(6):
        journal.handled(FakeRequest(), 100, RESPONDED)

    assert [entry.id for entry in read_entries(journal, since=2, limit=3)] == [3, 4, 5]
    assert list(search_matches(journal, Selection(since=4))) == [True, True]


def test_entries_before_an_id_are_newest_first() -> None:
    journal = Journal(4)
    for _ in range(6):
        journal.handled(FakeRequest(), 100, RESPONDED)

    def ids(selection: Selection) -> list[int]:
        return [entry.id for entry in search_entries(journal, selection) if entry is not None]

    assert ids(Selection(before=6)) == [5, 4, 3]
    assert ids(Selection(before=100, since=4)) == [6, 5]
    assert ids(Selection(before=3)) == []


def test_notable_requests_have_a_fault_an_error_a_repeated_batch_or_no_response() -> None:
    scene = JournalScene()
    plain = scene.send(numbered(0, 4))
    repeated = scene.send(numbered(0, 4))
    refused = scene.send(numbered(20, 24))
    waiting = scene.send(numbered(5, 9), state=PENDING)
    unanswered = scene.send(numbered(10, 14), state=PENDING)
    scene.journal.unanswered(unanswered)
    observed = scene.send(numbered(15, 19))
    scene.journal.fault_acted(observed, 1, "received", "observe")
    delayed = scene.send(numbered(20, 24))
    scene.journal.fault_acted(delayed, 2, "answering", "delay")

    found = [entry.id for entry in search_entries(scene.journal, Selection(notable=True)) if entry is not None]

    assert found == [repeated, refused, waiting, unanswered, delayed]
    assert plain not in found


@pytest.mark.parametrize(
    ("api", "is_found"), [(ApiKey.FETCH, False), (ApiKey.LEAVE_GROUP, False), (ApiKey.OFFSET_COMMIT, True)]
)
def test_response_that_a_closing_client_does_not_wait_for_is_not_notable(api: ApiKey, is_found: bool) -> None:
    journal = Journal(10)
    connection = FakeConnection(is_closed_by_client=True)
    request_id = journal.handled(FakeRequest(connection, api_key=int(api)), 80, PENDING)
    journal.unanswered(request_id)

    found = [entry for entry in search_entries(journal, Selection(notable=True)) if entry is not None]

    assert bool(found) is is_found
    assert only(journal).client_closed


@pytest.mark.parametrize(
    ("match", "ids"),
    [
        (Match(api="Produce"), [1, 2, 4]),
        (Match(api="Fetch"), [3]),
        (Match(topic=TOPIC, partition=1), [2]),
        (Match(connection=2), [2]),
        (Match(base_sequence=IntegerRange(first=5)), [4]),
        (Match(topic=TOPIC, partition=0, base_sequence=0), [1]),
        (Match(record_count=5, partition=0), [1, 4]),
        (Match(producer_id=7), []),
        (Match(node=2), []),
        (Match(client_id="shop"), [1, 2, 3, 4]),
    ],
)
def test_requests_are_selected_by_the_match_of_rules(match: Match, ids: list[int]) -> None:
    scene = JournalScene()
    scene.send(numbered(0, 4))
    scene.send(numbered(0, 2, partition=1), connection=2)
    scene.journal.handled(FakeRequest(api_key=int(ApiKey.FETCH)), 80, RESPONDED)
    scene.withhold(scene.new_request(numbered(5, 9)))

    assert [entry.id for entry in read_entries(scene.journal, match)] == ids
    assert sum(search_matches(scene.journal, Selection(match))) == len(ids)


def test_request_whose_body_does_not_decode_is_kept_without_batches() -> None:
    journal = Journal(10)

    journal.not_applied(FakeRequest(named=None), Fault(rule_id=1, action=Drop()))

    assert only(journal).batches == []


def test_refusals_do_not_refer_to_the_receive_buffer() -> None:
    class Received:
        pass

    received = Received()
    gone = weakref.ref(received)
    journal = Journal(10)

    def refuse(_: Received) -> KafkaError:
        try:
            try:
                raise ValueError
            except ValueError as error:
                raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, "CRC") from error
        except AppendRefused as refused:
            return refused

    journal.handled(FakeRequest(batches=[(TOPIC, 0, refuse(received))]), 100, RESPONDED)
    del received

    assert gone() is None
    assert only(journal).batches[0].error == "CORRUPT_MESSAGE"


def test_journal_does_not_refer_to_the_receive_buffer() -> None:
    scene = JournalScene()
    scene.send(numbered(0, 4))
    scene.lose_answer(numbered(5, 9))
    scene.send(numbered(20, 24))
    waiting = scene.new_request(numbered(10, 14))
    scene.journal.applied_later(scene.withhold(waiting, "hold"), scene.apply(waiting), 200, PENDING)

    assert views_reached_from(waiting)
    assert not views_reached_from(scene.journal)


def views_reached_from(start: object) -> list[memoryview]:
    """Return the memoryviews reachable from an object, except through classes and functions."""
    seen: dict[int, object] = {}
    left = [start]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type) or callable(each):
            continue
        seen[id(each)] = each
        left += gc.get_referents(each)
    return [each for each in seen.values() if isinstance(each, memoryview)]


def test_connection_is_read_when_the_journal_is_read() -> None:
    journal = Journal(10)
    connection = FakeConnection(client_software="")
    journal.handled(FakeRequest(connection), 100, RESPONDED)

    connection.client_software = "librdkafka 2.14"

    assert only(journal).software == "librdkafka 2.14"


def test_same_calls_give_the_same_journal() -> None:
    def journal() -> list[JournalEntry]:
        scene = JournalScene()
        scene.send(numbered(0, 4))
        scene.lose_answer(numbered(5, 9))
        scene.send(numbered(5, 9), connection=2)
        return read_entries(scene.journal)

    assert journal() == journal()


def test_only_later_batches_of_a_producer_from_before_the_reset_are_marked() -> None:
    scene = JournalScene()
    scene.send(numbered(0, 4))
    scene.journal.data_reset(first_producer_id=PRODUCER + 1)

    scene.send(numbered(5, 9))
    scene.send(numbered(0, 4, producer_id=PRODUCER + 1))
    scene.send(numbered(0, 4, producer_id=-1, base_sequence=-1))

    marked = [entry.batches[0].producer_before_reset for entry in read_entries(scene.journal)]
    assert marked == [False, True, False, False]


def metadata_request(body_bytes: int) -> FakeRequest:
    return FakeRequest(api_key=int(ApiKey.METADATA), kept_body=bytes(body_bytes))


@given(st.lists(st.integers(0, 5000), max_size=40), st.integers(1, 20), st.integers(0, 20_000))
def test_ring_keeps_the_newest_that_fit_its_number_and_the_bytes_of_large_requests(
    sizes: list[int], capacity: int, bytes_max: int
) -> None:
    journal = Journal(capacity, bytes_max=bytes_max)
    for size in sizes:
        journal.handled(metadata_request(size), size, RESPONDED)

    kept = [request.size for _, request in journal.records()]
    # One by one from the newest on, as long as those after it have room for it.
    expected: list[int] = []
    for size in reversed(sizes[-capacity:]):
        counted = size if size > SMALL_BYTES else 0
        if counted and sum(each for each in expected if each > SMALL_BYTES) + counted > bytes_max:
            break
        expected.insert(0, size)
    assert kept == expected
    assert journal.dropped == len(sizes) - len(kept)
    assert [journal.find(each) is not None for each in range(1, len(sizes) + 1)] == [
        *[False] * journal.dropped,
        *[True] * len(kept),
    ]


def test_batches_and_long_names_of_a_produce_request_are_bytes_of_the_ring() -> None:
    refused = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    many: list[tuple[str, int, KafkaError]] = [("orders", partition, refused) for partition in range(101)]
    for batches in (many, [("a" * 100 * BATCH_BYTES, 0, refused)]):
        journal = Journal(10, bytes_max=199 * BATCH_BYTES)
        journal.handled(FakeRequest(batches=[*batches]), 100, RESPONDED)
        journal.handled(FakeRequest(batches=[*batches]), 100, RESPONDED)

        assert [entry.id for entry in read_entries(journal)] == [2]


def test_token_of_an_authentication_is_bytes_of_the_ring() -> None:
    journal = Journal(10, bytes_max=100_000)
    for _ in range(2):
        journal.handled(FakeRequest(api_key=int(ApiKey.SASL_AUTHENTICATE)), 60_000, RESPONDED)

    assert [entry.id for entry in read_entries(journal)] == [2]


def test_large_request_that_left_the_ring_is_found_while_its_response_is_pending() -> None:
    journal = Journal(10, bytes_max=1000)
    waiting = journal.handled(metadata_request(600), 600, PENDING)
    journal.handled(metadata_request(600), 600, RESPONDED)

    assert journal.dropped == 1
    assert journal.find(waiting) is not None
    journal.answered(waiting)
    assert journal.find(waiting) is None


def test_cleared_journal_has_room_for_as_many_bytes_as_a_new_one() -> None:
    journal = Journal(10, bytes_max=1000)
    journal.handled(metadata_request(900), 900, RESPONDED)

    journal.clear()
    for _ in range(2):
        journal.handled(metadata_request(500), 500, RESPONDED)

    assert (len(read_entries(journal)), journal.dropped) == (2, 0)


def test_long_texts_of_an_entry_are_shortened_and_have_their_length() -> None:
    journal = Journal(10)
    name = "a" * 30_000
    connection = FakeConnection(principal=f"User:{name}")
    refused = KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, name)
    journal.handled(FakeRequest(connection=connection, batches=[(name, 0, refused)]), 100, RESPONDED)

    entry = only(journal)

    shown = "a" * 249 + "… (30000 characters)"
    assert (entry.topics, entry.batches[0].topic) == ([shown], shown)
    assert entry.principal == "User:" + "a" * 244 + "… (30005 characters)"
    assert entry.batches[0].why == "a" * 1000 + "… (30000 characters)"


def test_batches_that_an_entry_leaves_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_entries, "BATCHES_MAX", 3)
    journal = Journal(10)
    refused = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    batches: list[tuple[str, int, KafkaError]] = [(f"topic-{index}", 0, refused) for index in range(5)]
    journal.handled(FakeRequest(batches=[*batches]), 100, RESPONDED)

    entry = only(journal)

    assert (len(entry.batches), entry.batches_left_out) == (3, 2)
    assert entry.topics == ["topic-0", "topic-1", "topic-2"]


def test_refused_batches_of_very_many_topics_and_partitions_have_a_bounded_number_of_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch_counts, "TOPICS_MAX", 4)
    monkeypatch.setattr(batch_counts, "PRODUCERS_MAX", 10)
    counts = BatchCounts()
    for index in range(100):
        counts.refused("orders", index, -1)
        counts.refused(f"topic-{index}", 0, -1)
    counts.refused("a" * 250, 0, -1)

    assert counts.topics == {"orders", "topic-0", "topic-1", "topic-2"}
    of_orders = list(counts.of_topic("orders"))
    assert sum(each.refused for each in of_orders) == 100
    assert len(of_orders) <= 11
    assert counts.refused_elsewhere == 98


def test_verdict_says_how_many_refused_batches_are_in_no_topic() -> None:
    scene = JournalScene()
    scene.send(numbered(0, 4))
    refused = KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    scene.journal.handled(FakeRequest(batches=[("a" * 250, 0, refused)]), 100, RESPONDED)

    assert scene.verdict().refused_elsewhere == 1
