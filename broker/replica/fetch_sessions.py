"""Fetch sessions: a client names its partitions once, and later only what has changed (KIP-227).

Source: FetchManager, FetchSession, FullFetchContext and IncrementalFetchContext, Kafka 4.3.0.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.fetch_codec import (
    FetchedPartition,
    FetchedPartitions,
    FetchPartition,
    FetchPartitions,
    FetchRequest,
    PartitionKey,
)

NO_SESSION = 0
# The epoch of a request that wants a new session, and of one that wants none, or its session closed.
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1
# A session that was not used for so long may be replaced by a new one.
# Source: ServerConfigs.MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS_DEFAULT, Kafka 4.3.0.
EVICTION_AGE_MS = 120_000


@dataclass(slots=True)
class _CachedPartition:
    """A partition of a session, and what its client was last told of it."""

    asked: FetchPartition
    high_watermark: int = -1
    log_start_offset: int = -1

    def takes_news(self, answer: FetchedPartition) -> bool:
        """Remember what answer tells, and return whether the client does not know it yet."""
        is_news = (
            answer.records_bytes > 0
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
            or answer.error_code != ErrorCode.NONE
        )
        # An error is told again each time it is met.
        self.high_watermark = -1 if answer.error_code != ErrorCode.NONE else answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        return is_news


@dataclass(slots=True)
class FetchSession:
    """The partitions that a client fetches, in the order they are read; those just read go to the end."""

    session_id: int
    uses_topic_ids: bool
    epoch: int = 1
    last_used_ms: int = 0
    partitions: dict[PartitionKey, _CachedPartition] = field(default_factory=dict[PartitionKey, _CachedPartition])

    # Topics that were there once: Kafka resolves an id once a session, and misses the topic, not the id, from then on.
    resolved_topics: set[bytes] = field(default_factory=set[bytes])

    def update(self, request: FetchRequest) -> None:
        """Take in the partitions that are new or asked for otherwise, and let go of those forgotten."""
        for key, asked in request.partitions.items():
            cached = self.partitions.get(key)
            if cached is None:
                self.partitions[key] = _CachedPartition(asked)
            else:
                cached.asked = asked
        for key in request.forgotten:
            self.partitions.pop(key, None)

    def asked(self) -> FetchPartitions:
        """Return what is fetched, in the order it is read."""
        return {key: cached.asked for key, cached in self.partitions.items()}

    def remember(self, answers: FetchedPartitions) -> None:
        """Remember that the client is told all of answers."""
        for topic_key, answer in answers:
            self._resolve(topic_key, answer)
            self.partitions[topic_key, answer.index].takes_news(answer)

    def news(self, answers: FetchedPartitions) -> FetchedPartitions:
        """Return the answers that tell the client what it does not know."""
        return [(topic_key, answer) for topic_key, answer in answers if self._takes_news(topic_key, answer)]

    def _takes_news(self, topic_key: bytes, answer: FetchedPartition) -> bool:
        key = (topic_key, answer.index)
        self._resolve(topic_key, answer)
        if not self.partitions[key].takes_news(answer):
            return False
        if answer.records_bytes:
            # To the end, so that partitions with much to read do not starve the others.
            self.partitions[key] = self.partitions.pop(key)
        return True

    def _resolve(self, topic_key: bytes, answer: FetchedPartition) -> None:
        if answer.error_code != ErrorCode.UNKNOWN_TOPIC_ID:
            self.resolved_topics.add(topic_key)
        elif topic_key in self.resolved_topics:
            answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class FetchSessions:
    """The sessions of one node; at most max.incremental.fetch.session.cache.slots of them."""

    __slots__ = ("_sessions", "_slots")

    def __init__(self, slots: int) -> None:
        """Have room for so many sessions."""
        self._slots = slots
        self._sessions: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        """Return how many sessions there are."""
        return len(self._sessions)

    def partitions_of(self, session_id: int) -> list[PartitionKey]:
        """Return what a session fetches; nothing where there is no such session."""
        session = self._sessions.get(session_id)
        return [] if session is None else list(session.partitions)

    def session_of(self, request: FetchRequest, *, uses_topic_ids: bool, now_ms: int) -> FetchSession | None:
        """Return the session that an incremental request continues, or None where it is a full one.

        A session that is left without partitions is closed.

        Raises KafkaError: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR.
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
        session.epoch = 1 if session.epoch == MAX_EPOCH else session.epoch + 1
        self._use(session, now_ms)
        session.update(request)
        if not session.partitions:
            del self._sessions[session.session_id]
            return None
        return session

    def create(self, request: FetchRequest, answers: FetchedPartitions, *, uses_topic_ids: bool, now_ms: int) -> int:
        """Return the id of a new session for a full request, NO_SESSION where it wants none or there is no slot."""
        if request.session_epoch != INITIAL_EPOCH or not self._has_slot(now_ms):
            return NO_SESSION
        session = FetchSession(self._new_id(), uses_topic_ids)
        session.update(request)
        session.remember(answers)
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
