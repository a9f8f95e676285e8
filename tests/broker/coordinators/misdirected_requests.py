"""Requests for a group and a transactional id, and what a node responds that coordinates neither.

The responses are those of three real Kafka 4.3.0 brokers to the same requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    alter_share_group_offsets,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    delete_share_group_offsets,
    describe_groups,
    describe_share_group_offsets,
    describe_transactions,
    end_txn,
    heartbeat,
    init_producer_id,
    join_group,
    leave_group,
    offset_commit,
    offset_delete,
    offset_fetch,
    share_group_describe,
    share_group_heartbeat,
    sync_group,
    txn_offset_commit,
)
from fauxka.protocol.primitives import Reader

NOT_COORDINATOR = ErrorCode.NOT_COORDINATOR
MESSAGE = "This is not the correct coordinator."
GROUP, ID, TOPIC = "readers", "tx", "orders"
# 16 bytes, in Kafka's text form.
MEMBER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


@dataclass(frozen=True, slots=True)
class Misdirected:
    """A request to the wrong node. read: decodes its response."""

    api_key: ApiKey
    version: int
    request: RequestMessage
    read: Callable[[Reader, int], object]
    response: object

    def __str__(self) -> str:
        return f"{self.api_key.name} v{self.version}"


PROTOCOLS = [join_group.JoinGroupRequestProtocol(name="range", metadata=b"")]
FETCHED = offset_fetch.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])

# Requests for the group GROUP.
GROUP_REQUESTS = [
    Misdirected(
        ApiKey.JOIN_GROUP,
        9,
        join_group.JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=PROTOCOLS,
        ),
        join_group.JoinGroupResponse.read,
        join_group.JoinGroupResponse(error_code=NOT_COORDINATOR, protocol_name=None),
    ),
    Misdirected(
        ApiKey.SYNC_GROUP,
        5,
        sync_group.SyncGroupRequest(group_id=GROUP, protocol_type="consumer", protocol_name="range"),
        sync_group.SyncGroupResponse.read,
        sync_group.SyncGroupResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.HEARTBEAT,
        4,
        heartbeat.HeartbeatRequest(group_id=GROUP, member_id="m"),
        heartbeat.HeartbeatResponse.read,
        heartbeat.HeartbeatResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.LEAVE_GROUP,
        5,
        leave_group.LeaveGroupRequest(group_id=GROUP, members=[leave_group.MemberIdentity(member_id="m")]),
        leave_group.LeaveGroupResponse.read,
        leave_group.LeaveGroupResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.OFFSET_COMMIT,
        9,
        offset_commit.OffsetCommitRequest(
            group_id=GROUP,
            topics=[
                offset_commit.OffsetCommitRequestTopic(
                    name=TOPIC,
                    partitions=[offset_commit.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)],
                )
            ],
        ),
        offset_commit.OffsetCommitResponse.read,
        offset_commit.OffsetCommitResponse(
            topics=[
                offset_commit.OffsetCommitResponseTopic(
                    name=TOPIC,
                    partitions=[
                        offset_commit.OffsetCommitResponsePartition(partition_index=0, error_code=NOT_COORDINATOR)
                    ],
                )
            ]
        ),
    ),
    Misdirected(
        ApiKey.OFFSET_FETCH,
        1,
        offset_fetch.OffsetFetchRequest(group_id=GROUP, topics=[FETCHED]),
        offset_fetch.OffsetFetchResponse.read,
        offset_fetch.OffsetFetchResponse(
            topics=[
                offset_fetch.OffsetFetchResponseTopic(
                    name=TOPIC,
                    partitions=[
                        offset_fetch.OffsetFetchResponsePartition(
                            partition_index=0, committed_offset=-1, metadata="", error_code=NOT_COORDINATOR
                        )
                    ],
                )
            ]
        ),
    ),
    Misdirected(
        ApiKey.OFFSET_FETCH,
        5,
        offset_fetch.OffsetFetchRequest(group_id=GROUP, topics=[FETCHED]),
        offset_fetch.OffsetFetchResponse.read,
        offset_fetch.OffsetFetchResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.OFFSET_FETCH,
        9,
        offset_fetch.OffsetFetchRequest(groups=[offset_fetch.OffsetFetchRequestGroup(group_id=GROUP, topics=None)]),
        offset_fetch.OffsetFetchResponse.read,
        offset_fetch.OffsetFetchResponse(
            groups=[offset_fetch.OffsetFetchResponseGroup(group_id=GROUP, error_code=NOT_COORDINATOR)]
        ),
    ),
    Misdirected(
        ApiKey.OFFSET_DELETE,
        0,
        offset_delete.OffsetDeleteRequest(
            group_id=GROUP,
            topics=[
                offset_delete.OffsetDeleteRequestTopic(
                    name=TOPIC, partitions=[offset_delete.OffsetDeleteRequestPartition(partition_index=0)]
                )
            ],
        ),
        offset_delete.OffsetDeleteResponse.read,
        offset_delete.OffsetDeleteResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.DELETE_GROUPS,
        2,
        delete_groups.DeleteGroupsRequest(groups_names=[GROUP]),
        delete_groups.DeleteGroupsResponse.read,
        delete_groups.DeleteGroupsResponse(
            results=[delete_groups.DeletableGroupResult(group_id=GROUP, error_code=NOT_COORDINATOR)]
        ),
    ),
    *(
        Misdirected(
            ApiKey.DESCRIBE_GROUPS,
            version,
            describe_groups.DescribeGroupsRequest(groups=[GROUP], include_authorized_operations=True),
            describe_groups.DescribeGroupsResponse.read,
            describe_groups.DescribeGroupsResponse(
                groups=[describe_groups.DescribedGroup(group_id=GROUP, error_code=NOT_COORDINATOR)]
            ),
        )
        for version in (5, 6)
    ),
    Misdirected(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        1,
        consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=MEMBER_ID,
            rebalance_timeout_ms=10_000,
            subscribed_topic_names=[TOPIC],
            topic_partitions=[],
        ),
        consumer_group_heartbeat.ConsumerGroupHeartbeatResponse.read,
        consumer_group_heartbeat.ConsumerGroupHeartbeatResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        1,
        consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=[GROUP]),
        consumer_group_describe.ConsumerGroupDescribeResponse.read,
        consumer_group_describe.ConsumerGroupDescribeResponse(
            groups=[consumer_group_describe.DescribedGroup(group_id=GROUP, error_code=NOT_COORDINATOR)]
        ),
    ),
]


# Requests for the share group GROUP.
SHARE_REQUESTS = [
    Misdirected(
        ApiKey.SHARE_GROUP_HEARTBEAT,
        1,
        share_group_heartbeat.ShareGroupHeartbeatRequest(
            group_id=GROUP, member_id=MEMBER_ID, subscribed_topic_names=[TOPIC]
        ),
        share_group_heartbeat.ShareGroupHeartbeatResponse.read,
        share_group_heartbeat.ShareGroupHeartbeatResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.SHARE_GROUP_DESCRIBE,
        1,
        share_group_describe.ShareGroupDescribeRequest(group_ids=[GROUP]),
        share_group_describe.ShareGroupDescribeResponse.read,
        share_group_describe.ShareGroupDescribeResponse(
            groups=[
                share_group_describe.DescribedGroup(group_id=GROUP, error_code=NOT_COORDINATOR, error_message=MESSAGE)
            ]
        ),
    ),
    Misdirected(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        1,
        describe_share_group_offsets.DescribeShareGroupOffsetsRequest(
            groups=[describe_share_group_offsets.DescribeShareGroupOffsetsRequestGroup(group_id=GROUP, topics=None)]
        ),
        describe_share_group_offsets.DescribeShareGroupOffsetsResponse.read,
        describe_share_group_offsets.DescribeShareGroupOffsetsResponse(
            groups=[
                describe_share_group_offsets.DescribeShareGroupOffsetsResponseGroup(
                    group_id=GROUP, error_code=NOT_COORDINATOR, error_message=MESSAGE
                )
            ]
        ),
    ),
    Misdirected(
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        0,
        alter_share_group_offsets.AlterShareGroupOffsetsRequest(
            group_id=GROUP,
            topics=[
                alter_share_group_offsets.AlterShareGroupOffsetsRequestTopic(
                    topic_name=TOPIC,
                    partitions=[
                        alter_share_group_offsets.AlterShareGroupOffsetsRequestPartition(
                            partition_index=0, start_offset=0
                        )
                    ],
                )
            ],
        ),
        alter_share_group_offsets.AlterShareGroupOffsetsResponse.read,
        alter_share_group_offsets.AlterShareGroupOffsetsResponse(error_code=NOT_COORDINATOR, error_message=MESSAGE),
    ),
    Misdirected(
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        0,
        delete_share_group_offsets.DeleteShareGroupOffsetsRequest(
            group_id=GROUP, topics=[delete_share_group_offsets.DeleteShareGroupOffsetsRequestTopic(topic_name=TOPIC)]
        ),
        delete_share_group_offsets.DeleteShareGroupOffsetsResponse.read,
        delete_share_group_offsets.DeleteShareGroupOffsetsResponse(error_code=NOT_COORDINATOR, error_message=MESSAGE),
    ),
]


ADDED = add_partitions_to_txn.AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
REFUSED = [
    add_partitions_to_txn.AddPartitionsToTxnTopicResult(
        name=TOPIC,
        results_by_partition=[
            add_partitions_to_txn.AddPartitionsToTxnPartitionResult(
                partition_index=0, partition_error_code=NOT_COORDINATOR
            )
        ],
    )
]

# Requests for the transactional id ID.
TRANSACTION_REQUESTS = [
    Misdirected(
        ApiKey.INIT_PRODUCER_ID,
        5,
        init_producer_id.InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=10_000),
        init_producer_id.InitProducerIdResponse.read,
        init_producer_id.InitProducerIdResponse(error_code=NOT_COORDINATOR, producer_id=-1, producer_epoch=-1),
    ),
    Misdirected(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        3,
        add_partitions_to_txn.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=ID,
            v3_and_below_producer_id=0,
            v3_and_below_producer_epoch=0,
            v3_and_below_topics=[ADDED],
        ),
        add_partitions_to_txn.AddPartitionsToTxnResponse.read,
        add_partitions_to_txn.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=REFUSED),
    ),
    *(
        Misdirected(
            ApiKey.ADD_PARTITIONS_TO_TXN,
            5,
            add_partitions_to_txn.AddPartitionsToTxnRequest(
                transactions=[
                    add_partitions_to_txn.AddPartitionsToTxnTransaction(
                        transactional_id=ID, verify_only=verify_only, topics=[ADDED]
                    )
                ]
            ),
            add_partitions_to_txn.AddPartitionsToTxnResponse.read,
            add_partitions_to_txn.AddPartitionsToTxnResponse(
                results_by_transaction=[
                    add_partitions_to_txn.AddPartitionsToTxnResult(transactional_id=ID, topic_results=REFUSED)
                ]
            ),
        )
        for verify_only in (False, True)
    ),
    Misdirected(
        ApiKey.ADD_OFFSETS_TO_TXN,
        4,
        add_offsets_to_txn.AddOffsetsToTxnRequest(transactional_id=ID, group_id=GROUP),
        add_offsets_to_txn.AddOffsetsToTxnResponse.read,
        add_offsets_to_txn.AddOffsetsToTxnResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.END_TXN,
        5,
        end_txn.EndTxnRequest(transactional_id=ID, committed=True),
        end_txn.EndTxnResponse.read,
        end_txn.EndTxnResponse(error_code=NOT_COORDINATOR),
    ),
    Misdirected(
        ApiKey.DESCRIBE_TRANSACTIONS,
        0,
        describe_transactions.DescribeTransactionsRequest(transactional_ids=[ID]),
        describe_transactions.DescribeTransactionsResponse.read,
        describe_transactions.DescribeTransactionsResponse(
            transaction_states=[describe_transactions.TransactionState(transactional_id=ID, error_code=NOT_COORDINATOR)]
        ),
    ),
    *(
        Misdirected(
            ApiKey.TXN_OFFSET_COMMIT,
            version,
            txn_offset_commit.TxnOffsetCommitRequest(
                transactional_id=ID,
                group_id=GROUP,
                topics=[
                    txn_offset_commit.TxnOffsetCommitRequestTopic(
                        name=TOPIC,
                        partitions=[
                            txn_offset_commit.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)
                        ],
                    )
                ],
            ),
            txn_offset_commit.TxnOffsetCommitResponse.read,
            txn_offset_commit.TxnOffsetCommitResponse(
                topics=[
                    txn_offset_commit.TxnOffsetCommitResponseTopic(
                        name=TOPIC,
                        partitions=[
                            txn_offset_commit.TxnOffsetCommitResponsePartition(
                                partition_index=0, error_code=NOT_COORDINATOR
                            )
                        ],
                    )
                ]
            ),
        )
        for version in (3, 5)
    ),
]


def request_for_named_offsets(topic_id: bytes) -> Misdirected:
    """Return the request for the offsets of a share group that every node answers, with the answer without a state."""
    offsets = describe_share_group_offsets
    described = offsets.DescribeShareGroupOffsetsRequestTopic(topic_name=TOPIC, partitions=[0])
    return Misdirected(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        1,
        offsets.DescribeShareGroupOffsetsRequest(
            groups=[offsets.DescribeShareGroupOffsetsRequestGroup(group_id=GROUP, topics=[described])]
        ),
        offsets.DescribeShareGroupOffsetsResponse.read,
        offsets.DescribeShareGroupOffsetsResponse(
            groups=[
                offsets.DescribeShareGroupOffsetsResponseGroup(
                    group_id=GROUP,
                    topics=[
                        offsets.DescribeShareGroupOffsetsResponseTopic(
                            topic_name=TOPIC,
                            topic_id=topic_id,
                            partitions=[
                                offsets.DescribeShareGroupOffsetsResponsePartition(partition_index=0, start_offset=-1)
                            ],
                        )
                    ],
                )
            ]
        ),
    )
