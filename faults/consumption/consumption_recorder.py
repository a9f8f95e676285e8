"""Records what is delivered to consumers and what groups commit, as the parts of the broker report it.

- The events are kept in their order. `histories` reads them into the histories of the groups, which do not grow with
  the number of records; it is called for a verdict, and when there are EVENTS_MAX.
- A Fetch is delivered when its response is written. Fetches that follow each other are one event, as long as no other
  event comes between.
- A Fetch that was asked for before a group has changed is an event of its own: its client may drop what it gets.
- A Fetch costs one tuple and a look-up for each partition with records. Nothing is decoded here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...protocol.error_codes import ErrorCode
from .. import consumption
from .events import (
    Client,
    ClientConnection,
    ClientRequest,
    CommitRequest,
    DeletedOffsets,
    Event,
    FetchedRange,
    GroupRecords,
    Offset,
    OffsetsAsked,
    OutOfRange,
    ShareRequest,
    TruncatedLog,
)

if TYPE_CHECKING:
    from ...protocol.fetch_codec import FetchedPartition, FetchedPartitions
    from ...storage.deleted_records import DeletedRecords
    from .group_histories import GroupHistories

# Events that are kept before they are read. They are read within a few ms.
EVENTS_MAX = 250
# Ranges that may grow by the next Fetch. The oldest one beyond that is only not joined with the next one.
OPEN_RANGES_MAX = 10_000
NOTHING_REMOVED: Mapping[bytes, str] = MappingProxyType({})


class _Fetch:
    """What a Fetch returns, until its response is written."""

    __slots__ = ("answers", "client_id", "connection", "request_id")

    def __init__(
        self, request: ClientRequest, answers: Sequence[tuple[bytes, FetchedPartition]], request_id: int
    ) -> None:
        self.connection = request.connection
        self.client_id = request.kept_client_id or ""
        self.answers = answers
        self.request_id = request_id


class ConsumptionRecorder:
    """The events that are not read yet, and the histories of all groups.

    unnumbered: the Fetch, share request or commit that is being handled and is not in the journal yet.
    """

    def __init__(
        self, topic_name_of: Callable[[bytes], str | None], last_request_id: Callable[[], int] = lambda: 0
    ) -> None:
        """topic_name_of: returns the name of a topic id, None for an unknown one. last_request_id: of the journal."""
        self._existing_name_of = topic_name_of
        self._last_request_id = last_request_id
        # The last request before the last records of a group, or before a member has asked for its offsets.
        self._group_changed_after = 0
        # The topics that are being deleted, by their ids.
        self._removed: Mapping[bytes, str] = NOTHING_REMOVED
        self._events: list[Event] = []
        self._open: dict[tuple[int, bytes, int], FetchedRange] = {}
        self._unwritten: dict[int, _Fetch | ShareRequest] = {}
        self._histories: GroupHistories | None = None
        # The commit that was reported last.
        self._commit: CommitRequest | None = None
        # Called with the records of a group, before they are kept.
        self.on_group_records: Callable[[GroupRecords], None] | None = None
        self.unnumbered: _Fetch | CommitRequest | ShareRequest | None = None

    # -- fetches

    def fetched(self, request: ClientRequest, answers: FetchedPartitions) -> None:
        """Record what a Fetch returns. It is delivered when its response is written."""
        told = [
            each for each in answers if each[1].records_bytes or each[1].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        ]
        if not told:
            return
        self._begin(_Fetch(request, told, request.request_id))

    def sharing(self, request: ShareRequest) -> None:
        """Record a ShareFetch or ShareAcknowledge. What it acquires is delivered when its response is written."""
        self._begin(request)

    def _begin(self, request: _Fetch | ShareRequest) -> None:
        if request.request_id:
            self._unwritten[request.request_id] = request
        else:
            self.unnumbered = request

    def numbered(self, request_id: int, connection: ClientConnection, *, is_written: bool) -> None:
        """Give the request that was reported last its id in the journal. is_written: its response is."""
        reported, self.unnumbered = self.unnumbered, None
        if reported is None or reported.connection is not connection:
            return
        reported.request_id = request_id
        if isinstance(reported, CommitRequest):
            return
        if is_written:
            self._delivered(reported)
        else:
            self._unwritten[request_id] = reported

    def written(self, request_id: int) -> None:
        """Record that a pending response was written."""
        request = self._unwritten.pop(request_id, None)
        if request is not None:
            self._delivered(request)

    def lost(
        self, request_id: int, partitions: Collection[tuple[str, int]] = (), error_code: int = ErrorCode.NONE
    ) -> None:
        """Record that a response is not written, or has no records of these partitions; none means all.

        error_code: what the client gets in place of the records.
        """
        request = self._unwritten.pop(request_id, None)
        if isinstance(request, ShareRequest):
            request.is_written = None if partitions else False
            request.withheld |= frozenset(partitions)
            if partitions:
                self._unwritten[request_id] = request
        elif request is not None:
            kept: list[tuple[bytes, FetchedPartition]] = []
            for each in request.answers:
                if partitions and not self._is_in(partitions, *each):
                    kept.append(each)
                elif error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    self._out_of_range(request, *each)
            if kept:
                request.answers = kept
                self._unwritten[request_id] = request

    def _is_in(self, partitions: Collection[tuple[str, int]], topic_key: bytes, answer: FetchedPartition) -> bool:
        topic = self._topic_name_of(topic_key) or topic_key.decode(errors="replace")
        return (topic, answer.index) in partitions

    def _delivered(self, fetch: _Fetch | ShareRequest) -> None:
        if isinstance(fetch, ShareRequest):
            fetch.is_written = True
            return
        for topic_key, answer in fetch.answers:
            if not answer.records_bytes:
                self._out_of_range(fetch, topic_key, answer)
            elif fetch.request_id <= self._group_changed_after:
                self._keep_range(fetch, topic_key, answer)
            elif not self._joins(fetch, topic_key, answer):
                self._keep_open(fetch, topic_key, answer)

    def _joins(self, fetch: _Fetch, topic_key: bytes, answer: FetchedPartition) -> bool:
        """Add what was delivered to the range before, if it follows that or is the same. Return whether it does."""
        known = self._open.get((fetch.connection.connection_id, topic_key, answer.index))
        if known is None:
            return False
        first, end = answer.fetch_offset, answer.last_offset + 1
        if known.end == first and not known.repeats:
            known.end = end
        elif known.first == first and known.end == end:
            known.repeats += 1
        else:
            return False
        known.last_request_id = fetch.request_id
        return True

    def _keep_open(self, fetch: _Fetch, topic_key: bytes, answer: FetchedPartition) -> None:
        """Keep a range that the next Fetch may join."""
        fetched = self._keep_range(fetch, topic_key, answer)
        if fetched is None:
            return
        if len(self._open) >= OPEN_RANGES_MAX:
            del self._open[next(iter(self._open))]
        self._open[fetch.connection.connection_id, topic_key, answer.index] = fetched

    def _keep_range(self, fetch: _Fetch, topic_key: bytes, answer: FetchedPartition) -> FetchedRange | None:
        """Keep what was delivered as an event, and return it; None if there are no offsets."""
        first, end = answer.fetch_offset, answer.last_offset + 1
        if end <= first:
            return None
        place, request_id = (topic_key, answer.index), fetch.request_id
        reads_committed = answer.aborted_transactions is not None
        fetched = FetchedRange(
            fetch.connection, fetch.client_id, *place, first, end, request_id, request_id, reads_committed
        )
        self._keep(fetched)
        return fetched

    def _out_of_range(self, fetch: _Fetch, topic_key: bytes, answer: FetchedPartition) -> None:
        place = (topic_key, answer.index, answer.fetch_offset, fetch.request_id)
        self.add(OutOfRange(fetch.connection, fetch.client_id, *place))

    # -- other events

    def asked(self, request: ClientRequest, group: str, topic: str, partitions: Sequence[int]) -> None:
        """Record that a client has asked for the committed offsets of partitions."""
        client = Client(request.kept_client_id or "", request.connection.client_host)
        self._group_changed_after = self._last_request_id()
        self.add(OffsetsAsked(client, group, topic, partitions, self._group_changed_after))

    def committing(self, request: ClientRequest, commit: tuple[str, str, int], offsets: Sequence[Offset]) -> None:
        """Record a commit before it is handled. commit: the group, the member and its generation or epoch."""
        reported = CommitRequest(request.connection, request.kept_client_id or "", *commit, offsets, request.request_id)
        if not reported.request_id:
            self.unnumbered = reported
        self._commit = reported
        self.add(reported)

    def refused(self, error_code: int) -> None:
        """Record that the commit that was reported last is refused."""
        assert self._commit is not None, "a refusal follows its commit"
        self._commit.error_code = error_code

    def deleted(self, topic: str, partition: int, deleted: DeletedRecords) -> None:
        """Record that retention or DeleteRecords has deleted records."""
        self.add(DeletedOffsets(topic, partition, deleted))

    def truncated(self, topic: str, partition: int, end_offset: int) -> None:
        """Record that a log ends at end_offset after a crash or an election."""
        self.add(TruncatedLog(topic, partition, end_offset))

    def add(self, event: Event) -> None:
        """Record any other event. Fetches after it are events of their own."""
        self._open.clear()
        if isinstance(event, GroupRecords):
            if self.on_group_records is not None:
                self.on_group_records(event)
            self._group_changed_after = self._last_request_id()
            event = event._replace(request_id=self._group_changed_after)
        self._keep(event)

    def _keep(self, event: Event) -> None:
        if len(self._events) >= EVENTS_MAX and self.unnumbered is None:
            self._read()
        self._events.append(event)

    # -- reading

    @property
    def histories(self) -> GroupHistories:
        """The histories of the groups, with all events so far."""
        return self._read()

    def _read(self) -> GroupHistories:
        if self._histories is None:
            self._histories = consumption.group_histories.GroupHistories(self._topic_name_of)
        events, self._events = self._events, []
        self._open.clear()
        for event in events:
            self._histories.apply(event)
        return self._histories

    def topics_removed(self, names: Mapping[bytes, str]) -> None:
        """Read the events so far, which name topics by ids whose names nothing else has from now on.

        Delete what concerns the topics only while they exist.
        """
        if self._events or self._histories is not None:
            self._removed = names
            self._read().topics_removed(frozenset(names.values()))
            self._removed = NOTHING_REMOVED

    def _topic_name_of(self, topic_id: bytes) -> str | None:
        return self._existing_name_of(topic_id) or self._removed.get(topic_id)

    def recreate_topic(self, topic: str) -> None:
        """Begin anew with the topic of that name, because it is a new one. The positions of receivers are kept."""
        if self._events or self._histories is not None:
            self._read().recreate_topic(topic)

    def clear(self) -> None:
        """Delete all events and histories."""
        self._events.clear()
        self._open.clear()
        self._unwritten.clear()
        self._histories = self._commit = self.unnumbered = None
