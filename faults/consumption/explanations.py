"""The reason of a finding as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ...protocol.error_codes import ErrorCode
from .facts import Cause, Fact, Kind

# What the broker cannot see is said with each second delivery that a commit could have prevented.
UNSEEN = "; the broker cannot see which of them were processed before"
NOT_TWICE = "; the application processed none of them twice"


def explain(fact: Fact) -> str:
    """Return why it happened."""
    return _EXPLANATIONS[fact.kind](fact)


def _explain_moved_back(fact: Fact) -> str:
    by = _name(fact.receiver) if fact.cause is Cause.MEMBER else f"{_name(fact.receiver)}, which is no member,"
    return f"{by} committed {fact.first} after {fact.end} was committed"


def _explain_beyond(fact: Fact) -> str:
    return f"{_name(fact.receiver)} committed {fact.offset}, and the group had not got these offsets yet"


def _explain_hanging(fact: Fact) -> str:
    return f"{_name(fact.receiver)} got the same offsets {fact.count} times in a row and did not go on"


def _explain_order(fact: Fact) -> str:
    return f"{_name(fact.receiver)} got later offsets first, and then went back by a seek"


def _explain_truncated(fact: Fact) -> str:
    return (
        f"{_name(fact.receiver)} got them, and after a crash or an election the log ended at or before offset "
        f"{fact.first}: other records may have these offsets now"
    )


def _explain_blocked(fact: Fact) -> str:
    return (
        f"a consumer with read_committed cannot read on: the transaction of {fact.receiver} is open since offset "
        f"{fact.first}"
    )


def _explain_lock_ended(fact: Fact) -> str:
    times = f", {fact.count} times" if fact.count > 1 else ""
    ended = "before their lock ended (share.record.lock.duration.ms)"
    return f"{_name(fact.receiver)} did not acknowledge them {ended}{times}"


def _explain_rejected(fact: Fact) -> str:
    return f"{_name(fact.receiver)} rejected them, so they are not delivered again"


def _explain_archived(fact: Fact) -> str:
    if fact.cause is Cause.DELETED:
        return "retention or DeleteRecords deleted them before they were accepted"
    how = _ENDS[fact.cause].format(earlier=_name(fact.receiver))
    return f"they were delivered {fact.count} times, which is the limit (share.delivery.count.limit); then {how}"


def _explain_refused(fact: Fact) -> str:
    holder = f"; {_name(fact.earlier)} has their locks" if fact.earlier else ""
    error = ErrorCode(fact.error_code).name
    return f"{_name(fact.receiver)} does not have the locks that it acknowledged: refused with {error}{holder}"


def _explain_twice(fact: Fact) -> str:
    if fact.is_reported:
        return f"{explain_second_delivery(fact)}{NOT_TWICE}"
    is_unseen = fact.cause in (Cause.REBALANCE, Cause.RESTART, Cause.REJOIN)
    return f"{explain_second_delivery(fact)}{UNSEEN if is_unseen else ''}"


def _explain_processed_twice(fact: Fact) -> str:
    match fact.cause:
        case Cause.DELIVERED_ONCE:
            why = "the group got them at most once"
        case Cause.SAME_OFFSET:
            why = f"{_name(fact.receiver)} got the same offsets again and again"
        case _:
            why = explain_second_delivery(fact)
    return f"the application processed them {fact.count} times: {why}"


def _explain_committed_unprocessed(fact: Fact) -> str:
    got = f"{fact.receiver} got them" if fact.receiver else "no delivery to the group is known"
    return f"{got} and {fact.offset} is committed, and the application never processed them"


def _explain_never_processed(fact: Fact) -> str:
    got = f"{fact.receiver} got them" if fact.receiver else "no delivery to the group is known"
    return f"{got}, and the application went on with later records without them; {_committed(fact)} is committed"


def _explain_uncommitted(fact: Fact) -> str:
    return f"the application processed them, and {_committed(fact)} is committed: the next receiver gets them again"


def _committed(fact: Fact) -> str:
    return "nothing" if fact.offset is None else str(fact.offset)


def explain_second_delivery(fact: Fact) -> str:
    """Return why offsets were delivered again."""
    receiver, earlier = _name(fact.receiver), _name(fact.earlier)
    committed = _committed(fact)
    match fact.cause:
        case Cause.REBALANCE if fact.receiver == fact.earlier:
            return f"{receiver} got the partition again in a rebalance, and had committed {committed}"
        case Cause.REBALANCE:
            return f"the partition went from {earlier} to {receiver} when {committed} was committed"
        case Cause.RESTART | Cause.REJOIN:
            return f"{_came_back(fact)}, and {committed} was committed"
        case Cause.MOVED_BACK:
            return f"they were committed, and a later commit set the group back to {committed}"
        case Cause.LOCK_ENDED | Cause.RELEASED | Cause.MEMBER_LEFT | Cause.BROKER_RESTART | Cause.START_RESET:
            return _ENDS[fact.cause].format(earlier=earlier, offset=fact.offset)
        case Cause.RESET if fact.offset is None:
            return f"{receiver} began without a committed offset: it was deleted, has expired or was out of range"
        case Cause.RESET:
            return f"the position of {receiver} was reset; {committed} is committed"
        case _:
            again = "asked for them again by itself: a seek, a pause, or a response that it dropped"
            return f"{receiver} {again}"


def _came_back(fact: Fact) -> str:
    """Return how a client that is a member again was gone."""
    if fact.cause is Cause.RESTART:
        return f"{fact.receiver} is {fact.earlier} after a restart"
    # A member of the consumer protocol keeps its id.
    member = fact.receiver if fact.receiver == fact.earlier else f"{fact.receiver} is {fact.earlier}, which"
    if fact.leave_reason is None:
        why = "session.timeout.ms, or max.poll.interval.ms in a rebalance"
        return f"{member} was removed by the coordinator ({why}) and joined again"
    return f"{member} left the group ({fact.leave_reason or 'max.poll.interval.ms or unsubscribe'}) and joined again"


def _explain_never(fact: Fact) -> str:
    if fact.cause in _UNNOTICED and fact.receiver:
        return f"{_name(fact.receiver)} did not notice that {_UNNOTICED[fact.cause]}, and went on where it was before"
    return _NEVER.get(fact.cause, _NEVER[Cause.SEEK]).format(receiver=_name(fact.receiver), offset=fact.offset)


def _explain_stale(fact: Fact) -> str:
    receiver = _name(fact.receiver)
    owner = f"; {_name(fact.earlier)} has the partition" if fact.earlier else ""
    if fact.cause is Cause.REFUSED:
        error = ErrorCode(fact.error_code).name
        return f"{receiver} is no member of the present generation: refused with {error}{owner}"
    return f"{receiver} does not have the partition, and its commit was accepted{owner}"


def _name(receiver: str) -> str:
    return receiver or "an administrator"


# What a client does not notice that goes on at its old position.
_UNNOTICED: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.TRUNCATED: "the log was truncated and new records have these offsets",
        Cause.RECREATED: "the topic was deleted and created again",
    }
)
# Why records of a share group are available again.
_ENDS: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.LOCK_ENDED: "the lock of {earlier} ended before it acknowledged them",
        Cause.RELEASED: "{earlier} released them",
        Cause.MEMBER_LEFT: "{earlier} was gone before it acknowledged them: it left, its session ended, or its "
        "connection was closed",
        Cause.BROKER_RESTART: "the leader of the partition restarted or changed, and {earlier} lost its locks",
        Cause.START_RESET: "an administrator has set the start offset of the group to {offset}",
    }
)
_NEVER: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.COMMITTED: "{receiver} committed {offset}, and the group never got them",
        Cause.RESET_TO_LATEST: "{receiver} had no valid offset and went on at the end of the log "
        "(auto.offset.reset=latest)",
        Cause.DELETED: "retention or DeleteRecords deleted them before the group had got them",
        Cause.TRUNCATED: "the log was truncated below the committed offset {offset}; new records have these offsets",
        Cause.SEEN_LATE: "the partition was added while the group consumed the topic, and the group began after them",
        Cause.START_RESET: _ENDS[Cause.START_RESET],
        Cause.RESET: "{receiver}, which is no member, set the committed offset forward to {offset}",
        Cause.SEEK: "{receiver} asked for a later offset by itself (seek)",
    }
)
_EXPLANATIONS: Mapping[Kind, Callable[[Fact], str]] = MappingProxyType(
    {
        Kind.DELIVERED_TWICE: _explain_twice,
        Kind.NEVER_DELIVERED: _explain_never,
        Kind.COMMIT_MOVED_BACK: _explain_moved_back,
        Kind.COMMIT_BEYOND_DELIVERY: _explain_beyond,
        Kind.STALE_MEMBER_COMMITTED: _explain_stale,
        Kind.HANGING: _explain_hanging,
        Kind.OUT_OF_ORDER: _explain_order,
        Kind.DELIVERED_AND_TRUNCATED: _explain_truncated,
        Kind.BLOCKED: _explain_blocked,
        Kind.PROCESSED_TWICE: _explain_processed_twice,
        Kind.COMMITTED_UNPROCESSED: _explain_committed_unprocessed,
        Kind.NEVER_PROCESSED: _explain_never_processed,
        Kind.PROCESSED_UNCOMMITTED: _explain_uncommitted,
        Kind.LOCK_ENDED: _explain_lock_ended,
        Kind.REJECTED: _explain_rejected,
        Kind.ARCHIVED: _explain_archived,
        Kind.ACKNOWLEDGEMENT_REFUSED: _explain_refused,
    }
)
