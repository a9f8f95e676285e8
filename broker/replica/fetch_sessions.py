"""Incremental fetch sessions: a client names its partitions once, and later only the changes (KIP-227).

Source: FetchManager, FetchSession, FullFetchContext and IncrementalFetchContext, Kafka 4.3.0.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.fetch_codec import (
    FETCH_PARTITIONS_MAX,
    FetchedPartition,
    FetchedPartitions,
    FetchPartition,
    FetchPartitions,
    FetchRequest,
    PartitionKey,
)

NO_SESSION = 0
# The epoch of a request for a new session, and of one for no session, which closes an existing one.
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1
# A session that is unused for this time may be replaced by a new one.
# Source: ServerConfigs.MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS_DEFAULT, Kafka 4.3.0.
EVICTION_AGE_MS = 120_000


@dataclass(slots=True)
class _CachedPartition:
    """A partition of a session, and the state in the last response to the client."""

    asked: FetchPartition
    high_watermark: int = -1
    log_start_offset: int = -1

    def has_changed(self, answer: FetchedPartition) -> bool:
        """Return whether the state differs from the last one that was sent to the client."""
        return (
            answer.records_bytes > 0
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
            or answer.error_code != ErrorCode.NONE
            or answer.diverging_epoch is not None
            or answer.preferred_read_replica >= 0
        )

    def update_sent(self, answer: FetchedPartition) -> bool:
        """Store the state that is sent to the client. Returns whether it differs from the last one sent."""
        has_changed = self.has_changed(answer)
        # An error or a diverging epoch is sent each time it occurs.
        is_sent_again = answer.error_code != ErrorCode.NONE or answer.diverging_epoch is not None
        self.high_watermark = -1 if is_sent_again else answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        return has_changed


@dataclass(slots=True)
class FetchSession:
    """The partitions that a client fetches, in the order of reading. A partition moves to the end after a read."""

    session_id: int
    uses_topic_ids: bool
    epoch: int = 1
    last_used_ms: int = 0
    partitions: dict[PartitionKey, _CachedPartition] = field(default_factory=dict[PartitionKey, _CachedPartition])

    # Topics that existed once. Kafka resolves an id once in a session; later the topic is unknown, not the id.
    resolved_topics: set[bytes] = field(default_factory=set[bytes])

    def add(self, partitions: FetchPartitions) -> None:
        """Add or replace partitions."""
        for key, asked in partitions.items():
            cached = self.partitions.get(key)
            if cached is None:
                self.partitions[key] = _CachedPartition(asked)
            else:
                cached.asked = asked

    def update(self, request: FetchRequest) -> None:
        """Add or replace the partitions of an incremental request, and remove its forgotten ones."""
        self.add(request.partitions)
        for key in request.forgotten:
            self.partitions.pop(key, None)

    def asked(self) -> FetchPartitions:
        """Return the partitions to fetch, in the order of reading."""
        return {key: cached.asked for key, cached in self.partitions.items()}

    def store_sent(self, answers: FetchedPartitions) -> None:
        """Store a full response as the state that was sent to the client."""
        for topic_key, answer in answers:
            self._resolve(topic_key, answer)
            self.partitions[topic_key, answer.index].update_sent(answer)

    def changed(self, answers: FetchedPartitions) -> FetchedPartitions:
        """Return the partitions whose state differs from the one that was last sent to the client."""
        return [(topic_key, answer) for topic_key, answer in answers if self._has_changed(topic_key, answer)]

    def find_changed(self, answers: FetchedPartitions) -> FetchedPartitions:
        """Return what `changed` would return, and change nothing."""
        return [each for each in answers if self.partitions[each[0], each[1].index].has_changed(each[1])]

    def find_epoch_error(self, request: FetchRequest) -> ErrorCode:
        """Return the error of a request that another one has overtaken in the session while it waited, else NONE."""
        is_next = self.epoch == next_epoch(request.session_epoch)
        return ErrorCode.NONE if is_next else ErrorCode.INVALID_FETCH_SESSION_EPOCH

    def _has_changed(self, topic_key: bytes, answer: FetchedPartition) -> bool:
        key = (topic_key, answer.index)
        self._resolve(topic_key, answer)
        if not self.partitions[key].update_sent(answer):
            return False
        if answer.records_bytes:
            # Moved to the end, so that partitions with many records do not starve the others.
            self.partitions[key] = self.partitions.pop(key)
        return True

    def _resolve(self, topic_key: bytes, answer: FetchedPartition) -> None:
        if answer.error_code != ErrorCode.UNKNOWN_TOPIC_ID:
            self.resolved_topics.add(topic_key)
        elif topic_key in self.resolved_topics:
            answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def next_epoch(epoch: int) -> int:
    """Return the epoch of the next incremental request (FetchMetadata.nextEpoch)."""
    return 1 if epoch == MAX_EPOCH else epoch + 1


class FetchSessions:
    """The fetch sessions of one node, at most max.incremental.fetch.session.cache.slots."""

    __slots__ = ("_sessions", "_slots")

    def __init__(self, slots: int) -> None:
        """slots: the maximum number of sessions."""
        self._slots = slots
        self._sessions: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self._sessions)

    def partitions_of(self, session_id: int) -> list[PartitionKey]:
        """Return the partitions of a session; none for an unknown session id."""
        session = self._sessions.get(session_id)
        return [] if session is None else list(session.partitions)

    def session_of(self, request: FetchRequest, *, uses_topic_ids: bool, now_ms: int) -> FetchSession | None:
        """Return the session that an incremental request continues, or None for a full request.

        A session without partitions is closed, and one with more than FETCH_PARTITIONS_MAX.
        Raises KafkaError: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR,
        INVALID_REQUEST for too many partitions.
        """
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
            return None
        session = self._sessions.get(request.session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"session {request.session_id}")
        if session.epoch != request.session_epoch:
            raise KafkaError(
                ErrorCode.INVALID_FETCH_SESSION_EPOCH, f"expected {session.epoch}, got {request.session_epoch}"
            )
        if session.uses_topic_ids != uses_topic_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, f"session {request.session_id}")
        session.epoch = next_epoch(session.epoch)
        self._use(session, now_ms)
        session.update(request)
        if len(session.partitions) > FETCH_PARTITIONS_MAX:
            del self._sessions[session.session_id]
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"a session of more than {FETCH_PARTITIONS_MAX} partitions")
        if not session.partitions:
            del self._sessions[session.session_id]
            return None
        return session

    def create(self, request: FetchRequest, answers: FetchedPartitions, *, uses_topic_ids: bool, now_ms: int) -> int:
        """Create a session for a full request and return its id; NO_SESSION if none is wanted or no slot is free."""
        if request.session_epoch != INITIAL_EPOCH or not self._has_slot(now_ms):
            return NO_SESSION
        session = FetchSession(self._new_id(), uses_topic_ids)
        # A full request has nothing to forget (FullFetchContext).
        session.add(request.partitions)
        session.store_sent(answers)
        self._use(session, now_ms)
        return session.session_id

    def _use(self, session: FetchSession, now_ms: int) -> None:
        session.last_used_ms = now_ms
        self._sessions.pop(session.session_id, None)
        self._sessions[session.session_id] = session

    def _has_slot(self, now_ms: int) -> bool:
        if len(self._sessions) < self._slots:
            return True
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now_ms - oldest.last_used_ms < EVICTION_AGE_MS:
            return False
        del self._sessions[oldest.session_id]
        return True

    def _new_id(self) -> int:
        while True:
            session_id = secrets.randbelow(MAX_EPOCH) + 1
            if session_id not in self._sessions:
                return session_id
