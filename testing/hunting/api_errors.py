"""Errors that Kafka may return for the APIs that a hunt looks at: those after which clients do different things.

- RETRIABLE, AFTER_APPEND, FATAL: the broker may be in a state in which it returns the error, whatever it has returned
  before and returns after it.
- DEFECTIVE: the error contradicts what the broker returns for the next requests.
- In no table: errors of a state that a change makes, after which the broker returns the error by itself (changes.py).
  INVALID_PRODUCER_EPOCH and PRODUCER_FENCED are those of "producers fenced", UNKNOWN_MEMBER_ID of "members expired".

Sources: "Possible error codes" of the response classes in org.apache.kafka.common.requests, Kafka 4.3.0; whether a
client repeats the request: RetriableException in org.apache.kafka.common.errors.
"""

from __future__ import annotations

from ...protocol.error_codes import ErrorCode

_OF_COORDINATORS = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)
_OF_PARTITIONS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

# Errors after which a client sends the request again. Nothing of the request is applied.
RETRIABLE: dict[str, tuple[ErrorCode, ...]] = {
    "Produce": (*_OF_PARTITIONS, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.CORRUPT_MESSAGE),
    "EndTxn": (*_OF_COORDINATORS, ErrorCode.CONCURRENT_TRANSACTIONS),
    "TxnOffsetCommit": _OF_COORDINATORS,
    "OffsetCommit": _OF_COORDINATORS,
    "InitProducerId": (*_OF_COORDINATORS, ErrorCode.CONCURRENT_TRANSACTIONS),
    "AddPartitionsToTxn": (*_OF_COORDINATORS, ErrorCode.CONCURRENT_TRANSACTIONS),
    "AddOffsetsToTxn": (*_OF_COORDINATORS, ErrorCode.CONCURRENT_TRANSACTIONS),
    "CreateTopics": (ErrorCode.NOT_CONTROLLER,),
    "Fetch": _OF_PARTITIONS,
    "ListOffsets": _OF_PARTITIONS,
    "Metadata": (ErrorCode.LEADER_NOT_AVAILABLE,),
    "FindCoordinator": (ErrorCode.COORDINATOR_NOT_AVAILABLE,),
    "OffsetFetch": _OF_COORDINATORS,
    "JoinGroup": _OF_COORDINATORS,
    "SyncGroup": (*_OF_COORDINATORS, ErrorCode.REBALANCE_IN_PROGRESS),
    "Heartbeat": (ErrorCode.REBALANCE_IN_PROGRESS, *_OF_COORDINATORS),
    "ConsumerGroupHeartbeat": _OF_COORDINATORS,
}
# Errors of a request that was applied all the same.
AFTER_APPEND: dict[str, tuple[ErrorCode, ...]] = {
    "Produce": (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
    "OffsetCommit": (ErrorCode.REQUEST_TIMED_OUT,),
    "TxnOffsetCommit": (ErrorCode.REQUEST_TIMED_OUT,),
    "EndTxn": (ErrorCode.REQUEST_TIMED_OUT,),
    "CreateTopics": (ErrorCode.REQUEST_TIMED_OUT,),
}
# Errors after which a client does not send the request again.
FATAL: dict[str, tuple[ErrorCode, ...]] = {
    "Produce": (ErrorCode.TOPIC_AUTHORIZATION_FAILED,),
    "TxnOffsetCommit": (ErrorCode.GROUP_AUTHORIZATION_FAILED,),
    "OffsetCommit": (ErrorCode.REBALANCE_IN_PROGRESS,),
    "InitProducerId": (ErrorCode.CLUSTER_AUTHORIZATION_FAILED,),
}
# Errors of a defective broker: it appends the producer's next batch, or goes on with the member that it has refused.
DEFECTIVE: dict[str, tuple[ErrorCode, ...]] = {
    "Produce": (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.INVALID_PRODUCER_EPOCH),
    "TxnOffsetCommit": (ErrorCode.ILLEGAL_GENERATION,),
    "OffsetCommit": (ErrorCode.ILLEGAL_GENERATION,),
    "JoinGroup": (ErrorCode.UNKNOWN_MEMBER_ID,),
    "ConsumerGroupHeartbeat": (ErrorCode.FENCED_MEMBER_EPOCH,),
}
