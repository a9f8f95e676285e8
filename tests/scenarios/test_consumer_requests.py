"""The requests of consumers in timelines."""

from __future__ import annotations

from fauxka.faults.journal.details.models import (
    FetchDetails,
    FetchedRange,
    GroupOffset,
    OffsetsDetails,
    ResponseError,
)
from fauxka.scenarios.report.batch_names import BatchNames
from fauxka.scenarios.report.consumer_requests import in_order_of_delivery, is_shown
from fauxka.scenarios.report.journal_requests import JournalFault, JournalRequest
from fauxka.scenarios.report.timeline import build_timeline

from .literal_requests import batch, produce

READER = "reader"


def request(number: int, api: str, *, connection: int = 9, client_id: str = READER) -> JournalRequest:
    return JournalRequest(id=number, at_ms=0, connection=connection, client_id=client_id, api=api)


def fetch(number: int, asked: int, last: int | None, *, connection: int = 9) -> JournalRequest:
    """Return a Fetch of events-0; last: the last offset of the response, None without records."""
    read = FetchedRange(
        topic="events", partition=0, fetch_offset=asked, first_offset=None if last is None else asked, last_offset=last
    )
    made = request(number, "Fetch", connection=connection)
    made.fetch = FetchDetails(isolation="read_committed", session_id=0, session_epoch=0, partitions=[read])
    return made


def offsets(number: int, api: str, offset: int, error: ResponseError | None = None) -> JournalRequest:
    made = request(number, api)
    place = GroupOffset(topic="events", partition=0, offset=offset)
    made.offsets = OffsetsDetails(group_id="billing", member_id="m", epoch=1, offsets=[place])
    made.first_error = error
    return made


def texts(*requests: JournalRequest) -> list[str]:
    return [moment.text for moment in build_timeline(requests, [], BatchNames(), {}, 5)]


def ids(*requests: JournalRequest) -> list[int]:
    return [each.id for each in in_order_of_delivery(requests)]


def test_a_fetch_is_drawn_with_the_offset_asked_for_and_the_offsets_returned() -> None:
    assert texts(fetch(1, 5, 9)) == ["Fetch events-0 from 5", "events-0 5..9"]


def test_a_commit_is_drawn_with_its_offset() -> None:
    assert texts(offsets(1, "OffsetCommit", 10)) == ["OffsetCommit events-0 at 10", "committed"]


def test_a_refused_commit_is_drawn_with_its_error() -> None:
    refused = offsets(1, "OffsetCommit", 10, ResponseError(error="ILLEGAL_GENERATION", topic="events", partition=0))

    assert texts(refused) == ["OffsetCommit events-0 at 10", "ILLEGAL_GENERATION for events-0"]


def test_a_committed_offset_is_drawn_in_the_response() -> None:
    assert texts(offsets(1, "OffsetFetch", 5)) == ["OffsetFetch of group billing", "events-0 at 5"]
    assert texts(offsets(1, "OffsetFetch", -1)) == ["OffsetFetch of group billing", "no committed offset"]


def test_a_fetch_without_records_and_requests_of_other_processes_are_not_shown() -> None:
    shown = [fetch(1, 5, 9), offsets(2, "OffsetCommit", 10)]
    hidden = [fetch(3, 5, None), request(4, "Heartbeat"), request(5, "OffsetCommit", client_id="other")]

    assert [is_shown(each, {READER}) for each in (*shown, *hidden)] == [True, True, False, False, False]


def test_a_fetch_with_an_error_is_shown() -> None:
    failed = fetch(1, 5, None)
    failed.error = "OFFSET_OUT_OF_RANGE"

    assert is_shown(failed, {READER})


def test_a_fetch_that_waited_comes_behind_the_batch_that_it_returns() -> None:
    appended = [produce(number, batch(0, 4, base_offset=offset)) for number, offset in ((2, 0), (3, 5))]

    assert ids(fetch(1, 0, 9), *appended) == [2, 3, 1]


def test_a_fetch_that_waited_comes_before_later_requests_of_its_connection() -> None:
    assert ids(fetch(1, 0, 9), fetch(2, 10, 12)) == [1, 2]
    assert ids(fetch(1, 0, 9), produce(2, batch(0, 4, base_offset=0)), fetch(3, 10, 12)) == [2, 1, 3]


def test_a_fetch_of_a_transaction_comes_behind_its_end() -> None:
    end = request(3, "EndTxn", connection=1, client_id="client")

    assert ids(fetch(1, 0, 5), produce(2, batch(0, 4, base_offset=0)), end) == [2, 3, 1]


def test_a_held_batch_is_appended_later() -> None:
    held = produce(2, batch(0, 4, base_offset=5), fault=JournalFault(rule=1, point="received", kind="hold"))
    earlier = produce(3, batch(0, 4, base_offset=0))

    assert ids(fetch(1, 0, 4), held, earlier) == [2, 3, 1]
