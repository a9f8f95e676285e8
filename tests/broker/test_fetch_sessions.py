"""Fetch sessions: what is kept of a client's partitions, and what counts as news to it."""

from __future__ import annotations

import pytest

from fauxka.broker.replica.fetch_sessions import EVICTION_AGE_MS, FINAL_EPOCH, INITIAL_EPOCH, NO_SESSION, FetchSessions
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.fetch_codec import FetchedPartition, FetchedPartitions, FetchPartition, FetchRequest


def request(session_id: int, epoch: int, *partitions: int, forgotten: list[int] | None = None) -> FetchRequest:
    asked = {(b"t", partition): FetchPartition(partition, -1, 0, -1, 1000) for partition in partitions}
    return FetchRequest(0, 1, 1000, 0, session_id, epoch, asked, [(b"t", index) for index in forgotten or []])


def answers(
    *partitions: int, high_watermark: int = 0, records_bytes: int = 0, error_code: int = 0
) -> FetchedPartitions:
    return [
        (b"t", FetchedPartition(index, error_code, high_watermark, high_watermark, 0, records_bytes=records_bytes))
        for index in partitions
    ]


def created(sessions: FetchSessions, *partitions: int, now_ms: int = 0) -> int:
    first = request(0, INITIAL_EPOCH, *partitions)
    assert sessions.session_of(first, uses_topic_ids=False, now_ms=now_ms) is None
    return sessions.create(first, answers(*partitions), uses_topic_ids=False, now_ms=now_ms)


def told(topics: FetchedPartitions) -> list[int]:
    return [partition.index for _, partition in topics]


def test_an_incremental_request_fetches_all_partitions_of_its_session() -> None:
    sessions = FetchSessions(10)
    session_id = created(sessions, 0, 1)

    session = sessions.session_of(request(session_id, 1, 2, forgotten=[0]), uses_topic_ids=False, now_ms=0)

    assert session is not None
    assert [index for _, index in session.asked()] == [1, 2]


def test_only_changed_partitions_are_returned() -> None:
    sessions = FetchSessions(10)
    session = sessions.session_of(request(created(sessions, 0, 1), 1), uses_topic_ids=False, now_ms=0)
    assert session is not None

    unchanged = session.changed(answers(0, 1))
    grown = session.changed(answers(1, high_watermark=5))
    again = session.changed(answers(1, high_watermark=5))

    assert (told(unchanged), told(grown), told(again)) == ([], [1], [])


def test_an_error_is_reported_each_time_and_its_end_once() -> None:
    sessions = FetchSessions(10)
    session = sessions.session_of(request(created(sessions, 0), 1), uses_topic_ids=False, now_ms=0)
    assert session is not None
    error = answers(0, high_watermark=-1, error_code=3)

    seen = [told(session.changed(news)) for news in (error, error, answers(0), answers(0))]

    assert seen == [[0], [0], [0], []]


def test_a_partition_that_had_records_is_read_last_the_next_time() -> None:
    sessions = FetchSessions(10)
    session = sessions.session_of(request(created(sessions, 0, 1, 2), 1), uses_topic_ids=False, now_ms=0)
    assert session is not None

    session.changed(answers(0, records_bytes=100))

    assert [index for _, index in session.asked()] == [1, 2, 0]


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(2, ErrorCode.INVALID_FETCH_SESSION_EPOCH), (5, ErrorCode.INVALID_FETCH_SESSION_EPOCH)],
)
def test_another_epoch_than_the_next_is_refused_and_the_session_stays(epoch: int, error: ErrorCode) -> None:
    sessions = FetchSessions(10)
    session_id = created(sessions, 0)

    with pytest.raises(KafkaError) as refused:
        sessions.session_of(request(session_id, epoch), uses_topic_ids=False, now_ms=0)

    assert refused.value.code is error
    assert sessions.session_of(request(session_id, 1), uses_topic_ids=False, now_ms=0) is not None


def test_a_session_left_without_partitions_is_closed() -> None:
    sessions = FetchSessions(10)
    session_id = created(sessions, 0)

    session = sessions.session_of(request(session_id, 1, forgotten=[0]), uses_topic_ids=False, now_ms=0)

    assert session is None
    assert len(sessions) == 0


def test_an_unknown_session_is_refused() -> None:
    with pytest.raises(KafkaError) as refused:
        FetchSessions(10).session_of(request(7, 1), uses_topic_ids=False, now_ms=0)

    assert refused.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_made_with_names_does_not_go_on_with_topic_ids() -> None:
    sessions = FetchSessions(10)
    session_id = created(sessions, 0)

    with pytest.raises(KafkaError) as refused:
        sessions.session_of(request(session_id, 1), uses_topic_ids=True, now_ms=0)

    assert refused.value.code is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_the_final_epoch_closes_a_session() -> None:
    sessions = FetchSessions(10)
    session_id = created(sessions, 0)

    sessions.session_of(request(session_id, FINAL_EPOCH, 0), uses_topic_ids=False, now_ms=0)

    assert len(sessions) == 0


def test_a_request_without_a_session_gets_none() -> None:
    sessions = FetchSessions(10)
    plain = request(0, FINAL_EPOCH, 0)

    session_id = sessions.create(plain, answers(0), uses_topic_ids=False, now_ms=0)

    assert session_id == NO_SESSION


def test_without_a_slot_a_new_session_is_given_only_for_one_long_unused() -> None:
    sessions = FetchSessions(1)
    first = created(sessions, 0, now_ms=0)

    too_early = created(sessions, 1, now_ms=EVICTION_AGE_MS - 1)
    in_time = created(sessions, 1, now_ms=EVICTION_AGE_MS)

    assert first != NO_SESSION
    assert too_early == NO_SESSION
    assert in_time not in (NO_SESSION, first)
    assert len(sessions) == 1
