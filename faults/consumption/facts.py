"""What went wrong with the deliveries and commits of a group, as ranges of offsets with their cause."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

# Ids of requests that a fact names: the first ones show how it began.
REQUESTS_MAX = 8
# Facts of one kind of one partition that are kept.
FACTS_MAX = 1000


class Kind(Enum):
    """What happened to offsets. The values are those of the admin API."""

    DELIVERED_TWICE = "delivered_twice"
    NEVER_DELIVERED = "never_delivered"
    COMMIT_MOVED_BACK = "commit_moved_back"
    COMMIT_BEYOND_DELIVERY = "commit_beyond_delivery"
    STALE_MEMBER_COMMITTED = "stale_member_committed"
    HANGING = "hanging"
    OUT_OF_ORDER = "delivered_out_of_order"
    DELIVERED_AND_TRUNCATED = "delivered_and_truncated"
    BLOCKED = "blocked"
    PROCESSED_TWICE = "processed_twice"
    COMMITTED_UNPROCESSED = "committed_unprocessed"
    NEVER_PROCESSED = "never_processed"
    PROCESSED_UNCOMMITTED = "processed_uncommitted"
    # Of share groups.
    LOCK_ENDED = "lock_ended"
    REJECTED = "rejected"
    ARCHIVED = "archived"
    ACKNOWLEDGEMENT_REFUSED = "acknowledgement_refused"


class Cause(Enum):
    """Why it happened. The values are those of the admin API."""

    # Delivered twice.
    REBALANCE = "rebalance_before_commit"
    RESTART = "restart_before_commit"
    REJOIN = "rejoin_before_commit"
    MOVED_BACK = "commit_moved_back"
    RESET = "reset"
    SEEK = "seek"
    # Delivered twice to a share group. The first three are causes of archived records, too.
    LOCK_ENDED = "lock_ended"
    RELEASED = "released"
    MEMBER_LEFT = "member_left"
    BROKER_RESTART = "broker_restart"
    START_RESET = "start_offset_reset"
    # Never delivered.
    COMMITTED = "committed_beyond_delivery"
    RESET_TO_LATEST = "reset_to_latest"
    DELETED = "deleted_before_read"
    SEEN_LATE = "partition_seen_late"
    RECREATED = "topic_recreated"
    # Commits.
    MEMBER = "member"
    OTHER_CLIENT = "other_client"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    # Processed: the others are those of a second delivery.
    DELIVERED_ONCE = "delivered_once"
    COMMITTED_FIRST = "committed_before_processing"
    PASSED_OVER = "passed_over"
    NOT_COMMITTED = "not_committed"
    # Others.
    SAME_OFFSET = "same_offset"
    TRUNCATED = "truncated"
    OPEN_TRANSACTION = "open_transaction"


@dataclass(slots=True)
class Fact:
    """What happened to the offsets from first to before end.

    receiver: the member or client that got or committed the offsets. earlier: the one that got them before.
    offset: the committed offset that played a part. count: how often it happened. error_code: of a refused commit.
    is_reported: whether the application reports what it processes, so that a second delivery is known to be only that.
    leave_reason: of a member that joined again; see Member.
    """

    kind: Kind
    cause: Cause
    first: int
    end: int
    receiver: str = ""
    earlier: str = ""
    offset: int | None = None
    count: int = 1
    error_code: int = 0
    is_reported: bool = False
    leave_reason: str | None = None
    request_ids: list[int] = field(default_factory=list[int])

    def add_requests(self, *request_ids: int) -> None:
        """Add the ids of requests that played a part."""
        for each in request_ids:
            if each and each not in self.request_ids and len(self.request_ids) < REQUESTS_MAX:
                self.request_ids.append(each)

    def copy(self) -> Fact:
        """Return the fact as it is now: what happens next may be added to it."""
        return replace(self, request_ids=list(self.request_ids))

    def is_same(self, other: Fact) -> bool:
        """Whether the same happened to the same offsets."""
        return (self.first, self.end) == (other.first, other.end) and self._what == other._what

    def continues(self, other: Fact) -> bool:
        """Whether this is the next part of what the other one began."""
        return self.first == other.end and self._what == other._what

    @property
    def _what(self) -> tuple[Kind, Cause, str, str, int]:
        return self.kind, self.cause, self.receiver, self.earlier, self.error_code


def keep_fact(facts: list[Fact], fact: Fact, *request_ids: int) -> bool:
    """Add a fact, or its offsets to the one that it continues. Return False if there are too many."""
    begun = next((each for each in reversed(facts) if fact.continues(each)), None)
    if begun is not None:
        begun.end = fact.end
        begun.add_requests(*request_ids)
        return True
    if len(facts) >= FACTS_MAX:
        return False
    fact.add_requests(*request_ids)
    facts.append(fact)
    return True
