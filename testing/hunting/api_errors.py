"""Errors that Kafka may return for the APIs that a hunt looks at: those after which clients do different things.

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
# Errors that end a producer, a transaction or a membership.
FATAL: dict[str, tuple[ErrorCode, ...]] = {
    "Produce": (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
    "EndTxn": (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED),
    "TxnOffsetCommit": (ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.ILLEGAL_GENERATION),
    "OffsetCommit": (ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.REBALANCE_IN_PROGRESS),
    "AddPartitionsToTxn": (ErrorCode.INVALID_PRODUCER_EPOCH,),
    "InitProducerId": (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.PRODUCER_FENCED),
    "JoinGroup": (ErrorCode.UNKNOWN_MEMBER_ID,),
    "SyncGroup": (ErrorCode.UNKNOWN_MEMBER_ID,),
    "Heartbeat": (ErrorCode.UNKNOWN_MEMBER_ID,),
    "ConsumerGroupHeartbeat": (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH),
}
