"""How a hunt gives the errors that Kafka lists for an API (protocol.apis.possible_errors), and which it leaves out.

- An error is given where a broker may be in a state in which it returns it, whatever it has returned before and
  returns after it: instead of the request, or, of those that leave open whether it was applied, after it.
- An error that contradicts what the broker returns for the next requests is one of a defective broker, and tried on
  request. A change makes the state in which the broker returns it by itself (changes.py).
- OFFSET_OUT_OF_RANGE of a Fetch: a consumer goes on at auto.offset.reset, although the log has the offset: the leader
  of an unclean election had a shorter log for a while. With `earliest` a correct consumer reads all again, and only
  that is not skipped.
- Errors of transactions are for programs with transactions.
- An error that stays is one of a state that may stay: too few replicas, no leader, no coordinator, no right.
- A version that does not have an error does not get it.

An error in no set below is given instead of the request, so a new one of Kafka is tried without a change here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from ...faults.hunted_faults import Origin
from ...protocol.apis.possible_errors import POSSIBLE_ERRORS, RETRIABLE
from ...protocol.error_codes import ErrorCode

# After these the client does not know whether the request was applied. Here it was.
_AFTER = (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.TOPIC_ALREADY_EXISTS)
# A transaction coordinator that moves has written the end of a transaction, or has not.
_ALSO_AFTER = {("EndTxn", ErrorCode.COORDINATOR_NOT_AVAILABLE)}
_RESETTING = {("Fetch", ErrorCode.OFFSET_OUT_OF_RANGE)}
# It appends the producer's next batch, goes on with the member that it has refused, and so on.
_CONTRADICTED = (
    *(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.DUPLICATE_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID),
    *(ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    *(ErrorCode.INVALID_TXN_STATE, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID),
    *(ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.FENCED_INSTANCE_ID),
    *(ErrorCode.UNRELEASED_INSTANCE_ID, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.GROUP_MAX_SIZE_REACHED),
    ErrorCode.FENCED_LEADER_EPOCH,
)
# A member gets it only between its JoinGroup and its SyncGroup, after which it reads on at the committed offset. One
# that is in no rebalance would never get the records again.
_CONTRADICTED_AT = {(api, ErrorCode.REBALANCE_IN_PROGRESS) for api in ("OffsetCommit", "TxnOffsetCommit")}
_OF_TRANSACTIONS = (
    *(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ErrorCode.CONCURRENT_TRANSACTIONS),
    *(ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ErrorCode.PRODUCER_FENCED,
)
# A producer without a transactional id asks any broker for its id.
_OF_TRANSACTIONS_AT = {
    ("InitProducerId", ErrorCode.NOT_COORDINATOR),
    ("InitProducerId", ErrorCode.COORDINATOR_NOT_AVAILABLE),
}
_ENDS_TRANSACTION = "EndTxn"
_OF_RIGHTS = "_AUTHORIZATION_FAILED"
_STAYING = (
    *(ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
)
# APIs with errors that stay: without these requests a program does not go on.
_STAYING_AT = ("Produce", "EndTxn", "TxnOffsetCommit", "OffsetCommit", "Fetch")
# A change makes the state that returns it, which Metadata shows, too.
_STAYING_BY_CHANGE = {(api, ErrorCode.NOT_LEADER_OR_FOLLOWER) for api in ("Produce", "Fetch")}

_OF_THE_REQUEST = "the request itself would be wrong"
_OF_FOLLOWERS = "only a follower returns it"
_OF_TOPIC_IDS = "a deleted topic has it"
_WITHOUT_TRANSACTION = "there is no transaction yet"
_OF_OLD_BROKERS = "brokers since Kafka 3.0 do not return it"
_LEFT_OUT: Mapping[ErrorCode, str] = {
    **dict.fromkeys(
        (
            *(ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUIRED_ACKS, ErrorCode.INVALID_TOPIC_EXCEPTION),
            *(ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.INVALID_CONFIG),
            *(ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ErrorCode.OFFSET_METADATA_TOO_LARGE, ErrorCode.INVALID_GROUP_ID),
            *(ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.INVALID_PARTITIONS, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            *(ErrorCode.INVALID_REGULAR_EXPRESSION, ErrorCode.UNSUPPORTED_ASSIGNOR, ErrorCode.OPERATION_NOT_ATTEMPTED),
            *(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, ErrorCode.OFFSET_OUT_OF_RANGE),
        ),
        _OF_THE_REQUEST,
    ),
    ErrorCode.REPLICA_NOT_AVAILABLE: _OF_FOLLOWERS,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR: _OF_TOPIC_IDS,
    ErrorCode.INCONSISTENT_TOPIC_ID: _OF_TOPIC_IDS,
}
_LEFT_OUT_AT: Mapping[tuple[str, ErrorCode], str] = {
    ("Fetch", ErrorCode.OFFSET_NOT_AVAILABLE): _OF_FOLLOWERS,
    ("Produce", ErrorCode.CLUSTER_AUTHORIZATION_FAILED): _OF_OLD_BROKERS,
    ("InitProducerId", ErrorCode.TRANSACTION_ABORTABLE): _WITHOUT_TRANSACTION,
    ("FindCoordinator", ErrorCode.TRANSACTION_ABORTABLE): _WITHOUT_TRANSACTION,
}
_ON_REQUEST = "the next response would contradict it (--include defective)"
_TOO_NEW = "the client's version of the API does not have it"
_NO_TRANSACTIONS = "the program has no transactions"


class GivenError(NamedTuple):
    """An error as a fault.

    since: the first version that has it. is_after: whether the request is applied all the same. doubles: whether a
    correct consumer may read records twice because of it. stays: whether it is returned for all later requests, too.
    """

    error: ErrorCode
    since: int
    is_after: bool = False
    origin: Origin = Origin.KAFKA
    doubles: bool = False
    stays: bool = False

    @property
    def name(self) -> str:
        """The name of the fault."""
        ending = " although it was applied" if self.is_after and not self.doubles else ""
        return f"{self.error.name}{' for ever' if self.stays else ending}"

    @property
    def is_retriable(self) -> bool:
        """Whether a client sends the request again after it."""
        return self.error in RETRIABLE


def errors_at(api: str, used: Set[str]) -> Iterator[GivenError]:
    """Yield the errors that are given at an API, most telling first. used: the APIs of the program.

    What leaves open whether it was applied tells more than a refusal. Rights are missing more often than records are
    bad.
    """
    given = _given(api, used)
    yield from sorted(given, key=lambda each: (not each.is_after, not each.error.name.endswith(_OF_RIGHTS)))


def _given(api: str, used: Set[str]) -> Iterator[GivenError]:
    for error, since in _errors(api).items():
        if _needs_transactions(api, error) and _ENDS_TRANSACTION not in used:
            continue
        if (api, error) in _RESETTING:
            yield GivenError(error, since, is_after=True, doubles=True)
        elif _is_contradicted(api, error):
            yield GivenError(error, since, origin=Origin.DEFECTIVE)
        elif _reason(api, error) is None:
            yield GivenError(error, since, is_after=error in _AFTER)
        if (api, error) in _ALSO_AFTER:
            yield GivenError(error, since, is_after=True)
        if error in _STAYING and api in _STAYING_AT and (api, error) not in _STAYING_BY_CHANGE:
            yield GivenError(error, since, stays=True)


def left_out(api: str, version: int, used: Set[str]) -> Mapping[ErrorCode, str]:
    """Return the errors that Kafka lists for an API and that are not tried by default, with the reasons.

    version: of the requests. used: the APIs of the program.
    """
    reasons = {
        error: _reason_for(api, error, is_too_new=since > version, used=used) for error, since in _errors(api).items()
    }
    return {error: reason for error, reason in reasons.items() if reason is not None}


def _errors(api: str) -> Mapping[ErrorCode, int]:
    return POSSIBLE_ERRORS.get(api, {})


def _needs_transactions(api: str, error: ErrorCode) -> bool:
    return error in _OF_TRANSACTIONS or (api, error) in _OF_TRANSACTIONS_AT


def _reason_for(api: str, error: ErrorCode, *, is_too_new: bool, used: Set[str]) -> str | None:
    if (api, error) in _RESETTING:
        return None
    if _needs_transactions(api, error) and _ENDS_TRANSACTION not in used:
        return _NO_TRANSACTIONS
    if is_too_new:
        return _TOO_NEW
    return _ON_REQUEST if _is_contradicted(api, error) else _reason(api, error)


def _is_contradicted(api: str, error: ErrorCode) -> bool:
    return error in _CONTRADICTED or (api, error) in _CONTRADICTED_AT


def _reason(api: str, error: ErrorCode) -> str | None:
    return _LEFT_OUT_AT.get((api, error), _LEFT_OUT.get(error))
