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


def group_requests() -> list[Misdirected]:
    """Return requests for the group GROUP."""
    describe, fetch = describe_groups, offset_fetch
    protocols = [join_group.JoinGroupRequestProtocol(name="range", metadata=b"")]
    fetched = fetch.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
    return [
        Misdirected(
            ApiKey.JOIN_GROUP,
            9,
            join_group.JoinGroupRequest(
                group_id=GROUP,
                session_timeout_ms=10_000,
                rebalance_timeout_ms=10_000,
                protocol_type="consumer",
                protocols=protocols,
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
            fetch.OffsetFetchRequest(group_id=GROUP, topics=[fetched]),
            fetch.OffsetFetchResponse.read,
            fetch.OffsetFetchResponse(
                topics=[
                    fetch.OffsetFetchResponseTopic(
                        name=TOPIC,
                        partitions=[
                            fetch.OffsetFetchResponsePartition(
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
            fetch.OffsetFetchRequest(group_id=GROUP, topics=[fetched]),
            fetch.OffsetFetchResponse.read,
            fetch.OffsetFetchResponse(error_code=NOT_COORDINATOR),
        ),
        Misdirected(
            ApiKey.OFFSET_FETCH,
            9,
            fetch.OffsetFetchRequest(groups=[fetch.OffsetFetchRequestGroup(group_id=GROUP, topics=None)]),
            fetch.OffsetFetchResponse.read,
            fetch.OffsetFetchResponse(
                groups=[fetch.OffsetFetchResponseGroup(group_id=GROUP, error_code=NOT_COORDINATOR)]
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
                describe.DescribeGroupsRequest(groups=[GROUP], include_authorized_operations=True),
                describe.DescribeGroupsResponse.read,
                describe.DescribeGroupsResponse(
                    groups=[describe.DescribedGroup(group_id=GROUP, error_code=NOT_COORDINATOR)]
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


def share_requests(topic_id: bytes) -> list[Misdirected]:
    """Return requests for the share group GROUP."""
    alter, delete = alter_share_group_offsets, delete_share_group_offsets
    offsets = describe_share_group_offsets
    described = offsets.DescribeShareGroupOffsetsRequestTopic(topic_name=TOPIC, partitions=[0])
    return [
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
                    share_group_describe.DescribedGroup(
                        group_id=GROUP, error_code=NOT_COORDINATOR, error_message=MESSAGE
                    )
                ]
            ),
        ),
        Misdirected(
            ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
            1,
            offsets.DescribeShareGroupOffsetsRequest(
                groups=[offsets.DescribeShareGroupOffsetsRequestGroup(group_id=GROUP, topics=None)]
            ),
            offsets.DescribeShareGroupOffsetsResponse.read,
            offsets.DescribeShareGroupOffsetsResponse(
                groups=[
                    offsets.DescribeShareGroupOffsetsResponseGroup(
                        group_id=GROUP, error_code=NOT_COORDINATOR, error_message=MESSAGE
                    )
                ]
            ),
        ),
        Misdirected(
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
                                    offsets.DescribeShareGroupOffsetsResponsePartition(
                                        partition_index=0, start_offset=-1
                                    )
                                ],
                            )
                        ],
                    )
                ]
            ),
        ),
        Misdirected(
            ApiKey.ALTER_SHARE_GROUP_OFFSETS,
            0,
            alter.AlterShareGroupOffsetsRequest(
                group_id=GROUP,
                topics=[
                    alter.AlterShareGroupOffsetsRequestTopic(
                        topic_name=TOPIC,
                        partitions=[alter.AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=0)],
                    )
                ],
            ),
            alter.AlterShareGroupOffsetsResponse.read,
            alter.AlterShareGroupOffsetsResponse(error_code=NOT_COORDINATOR, error_message=MESSAGE),
        ),
        Misdirected(
            ApiKey.DELETE_SHARE_GROUP_OFFSETS,
            0,
            delete.DeleteShareGroupOffsetsRequest(
                group_id=GROUP, topics=[delete.DeleteShareGroupOffsetsRequestTopic(topic_name=TOPIC)]
            ),
            delete.DeleteShareGroupOffsetsResponse.read,
            delete.DeleteShareGroupOffsetsResponse(error_code=NOT_COORDINATOR, error_message=MESSAGE),
        ),
    ]


def transaction_requests() -> list[Misdirected]:
    """Return requests for the transactional id ID."""
    add = add_partitions_to_txn
    partition = add.AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
    refused = [
        add.AddPartitionsToTxnTopicResult(
            name=TOPIC,
            results_by_partition=[
                add.AddPartitionsToTxnPartitionResult(partition_index=0, partition_error_code=NOT_COORDINATOR)
            ],
        )
    ]
    return [
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
            add.AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=ID,
                v3_and_below_producer_id=0,
                v3_and_below_producer_epoch=0,
                v3_and_below_topics=[partition],
            ),
            add.AddPartitionsToTxnResponse.read,
            add.AddPartitionsToTxnResponse(results_by_topic_v3_and_below=refused),
        ),
        *(
            Misdirected(
                ApiKey.ADD_PARTITIONS_TO_TXN,
                5,
                add.AddPartitionsToTxnRequest(
                    transactions=[
                        add.AddPartitionsToTxnTransaction(
                            transactional_id=ID, verify_only=verify_only, topics=[partition]
                        )
                    ]
                ),
                add.AddPartitionsToTxnResponse.read,
                add.AddPartitionsToTxnResponse(
                    results_by_transaction=[add.AddPartitionsToTxnResult(transactional_id=ID, topic_results=refused)]
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
                transaction_states=[
                    describe_transactions.TransactionState(transactional_id=ID, error_code=NOT_COORDINATOR)
                ]
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
