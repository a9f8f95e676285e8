"""The requests to coordinators of groups, transactions and share groups that the scripts send."""

from fauxka.protocol.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_groups,
    describe_transactions,
    end_txn,
    find_coordinator,
    heartbeat,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_transactions,
    offset_commit,
    offset_delete,
    offset_fetch,
    share_acknowledge,
    share_fetch,
    share_group_describe,
    share_group_heartbeat,
    sync_group,
    txn_offset_commit,
)

from .requests import Topic

GROUP_KEY, TRANSACTION_KEY, SHARE_KEY = 0, 1, 2
SESSION_TIMEOUT_MS = 45_000
TRANSACTION_TIMEOUT_MS = 60_000
# A subscription to no topic of version 0, and an empty assignment.
SUBSCRIPTION = bytes(10)
ASSIGNMENT = bytes(10)


def finding(key: str, key_type: int) -> find_coordinator.FindCoordinatorRequest:
    """Return a request for one key, for every version."""
    return find_coordinator.FindCoordinatorRequest(key=key, key_type=key_type, coordinator_keys=[key])


def joining(group: str, member_id: str = "") -> join_group.JoinGroupRequest:
    """Return a request of a classic member."""
    return join_group.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_TIMEOUT_MS,
        rebalance_timeout_ms=SESSION_TIMEOUT_MS,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[join_group.JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)],
    )


def syncing(group: str, member_id: str, generation: int) -> sync_group.SyncGroupRequest:
    """Return the request of the leader of a group."""
    assignment = sync_group.SyncGroupRequestAssignment(member_id=member_id, assignment=ASSIGNMENT)
    return sync_group.SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[assignment],
    )


def beating(group: str, member_id: str, generation: int) -> heartbeat.HeartbeatRequest:
    """Return the heartbeat of a classic member."""
    return heartbeat.HeartbeatRequest(group_id=group, member_id=member_id, generation_id=generation)


def leaving(group: str, member_id: str) -> leave_group.LeaveGroupRequest:
    """Return the request of a classic member to leave."""
    return leave_group.LeaveGroupRequest(group_id=group, members=[leave_group.MemberIdentity(member_id=member_id)])


def committing(
    group: str, topic: Topic, offset: int, member_id: str = "", generation: int = -1
) -> offset_commit.OffsetCommitRequest:
    """Return a commit of partition 0."""
    partition = offset_commit.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    return offset_commit.OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        topics=[
            offset_commit.OffsetCommitRequestTopic(name=topic.name, topic_id=topic.topic_id, partitions=[partition])
        ],
    )


def fetching_offsets(group: str, topic: Topic, *, require_stable: bool = False) -> offset_fetch.OffsetFetchRequest:
    """Return a request for the committed offset of partition 0."""
    asked = offset_fetch.OffsetFetchRequestTopics(name=topic.name, topic_id=topic.topic_id, partition_indexes=[0])
    return offset_fetch.OffsetFetchRequest(
        groups=[offset_fetch.OffsetFetchRequestGroup(group_id=group, topics=[asked])], require_stable=require_stable
    )


def deleting_offsets(group: str, topic: Topic) -> offset_delete.OffsetDeleteRequest:
    """Return a request to delete the committed offset of partition 0."""
    partition = offset_delete.OffsetDeleteRequestPartition(partition_index=0)
    return offset_delete.OffsetDeleteRequest(
        group_id=group, topics=[offset_delete.OffsetDeleteRequestTopic(name=topic.name, partitions=[partition])]
    )


def deleting_groups(group: str) -> delete_groups.DeleteGroupsRequest:
    """Return a request to delete a group."""
    return delete_groups.DeleteGroupsRequest(groups_names=[group])


def describing_groups(group: str) -> describe_groups.DescribeGroupsRequest:
    """Return a request for a classic group."""
    return describe_groups.DescribeGroupsRequest(groups=[group])


def listing_groups() -> list_groups.ListGroupsRequest:
    """Return a request for all groups of a node."""
    return list_groups.ListGroupsRequest()


def consuming(
    group: str, member_id: str, epoch: int, topic: Topic
) -> consumer_group_heartbeat.ConsumerGroupHeartbeatRequest:
    """Return the heartbeat of a member of the consumer protocol; epoch 0 joins, -1 leaves."""
    return consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member_id,
        member_epoch=epoch,
        rebalance_timeout_ms=SESSION_TIMEOUT_MS if epoch == 0 else -1,
        subscribed_topic_names=[topic.name] if epoch == 0 else None,
        topic_partitions=[] if epoch == 0 else None,
    )


def describing_consumers(group: str) -> consumer_group_describe.ConsumerGroupDescribeRequest:
    """Return a request for a group of the consumer protocol."""
    return consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=[group])


def initialising(
    transactional_id: str, producer_id: int = -1, epoch: int = -1
) -> init_producer_id.InitProducerIdRequest:
    """Return a request for a transactional producer."""
    return init_producer_id.InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
        producer_id=producer_id,
        producer_epoch=epoch,
    )


class Producer:
    """A transactional producer and its requests, which follow its producer id and epoch."""

    def __init__(self, transactional_id: str, producer_id: int, epoch: int) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.epoch = epoch

    def adding(self, topic: Topic) -> add_partitions_to_txn.AddPartitionsToTxnRequest:
        """Return a request to add partition 0, for the versions before 4."""
        return add_partitions_to_txn.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[add_partitions_to_txn.AddPartitionsToTxnTopic(name=topic.name, partitions=[0])],
        )

    def adding_offsets(self, group: str) -> add_offsets_to_txn.AddOffsetsToTxnRequest:
        """Return a request to add the offsets of a group."""
        return add_offsets_to_txn.AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group_id=group,
        )

    def committing(self, group: str, topic: Topic, offset: int) -> txn_offset_commit.TxnOffsetCommitRequest:
        """Return a commit of partition 0 in the transaction."""
        partition = txn_offset_commit.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        return txn_offset_commit.TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[txn_offset_commit.TxnOffsetCommitRequestTopic(name=topic.name, partitions=[partition])],
        )

    def ending(self, *, committed: bool) -> end_txn.EndTxnRequest:
        """Return a request to commit or abort."""
        return end_txn.EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=committed,
        )


def describing_transactions(*transactional_ids: str) -> describe_transactions.DescribeTransactionsRequest:
    """Return a request for transactions."""
    return describe_transactions.DescribeTransactionsRequest(transactional_ids=list(transactional_ids))


def listing_transactions() -> list_transactions.ListTransactionsRequest:
    """Return a request for all transactions of a node."""
    return list_transactions.ListTransactionsRequest()


def sharing(group: str, member_id: str, epoch: int, topic: Topic) -> share_group_heartbeat.ShareGroupHeartbeatRequest:
    """Return the heartbeat of a member of a share group; epoch 0 joins, -1 leaves."""
    return share_group_heartbeat.ShareGroupHeartbeatRequest(
        group_id=group,
        member_id=member_id,
        member_epoch=epoch,
        subscribed_topic_names=[topic.name] if epoch == 0 else None,
    )


def describing_sharers(group: str) -> share_group_describe.ShareGroupDescribeRequest:
    """Return a request for a share group."""
    return share_group_describe.ShareGroupDescribeRequest(group_ids=[group])


def share_fetching(group: str, member_id: str, epoch: int, topic: Topic) -> share_fetch.ShareFetchRequest:
    """Return a ShareFetch of partition 0. epoch: of the share session."""
    return share_fetch.ShareFetchRequest(
        group_id=group,
        member_id=member_id,
        share_session_epoch=epoch,
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=10_000,
        max_records=1,
        batch_size=1,
        topics=[
            share_fetch.FetchTopic(topic_id=topic.topic_id, partitions=[share_fetch.FetchPartition(partition_index=0)])
        ],
    )


def acknowledging(
    group: str, member_id: str, epoch: int, topic: Topic, offset: int
) -> share_acknowledge.ShareAcknowledgeRequest:
    """Return a request that accepts the record at an offset of partition 0."""
    batch = share_acknowledge.AcknowledgementBatch(first_offset=offset, last_offset=offset, acknowledge_types=[1])
    partition = share_acknowledge.AcknowledgePartition(partition_index=0, acknowledgement_batches=[batch])
    return share_acknowledge.ShareAcknowledgeRequest(
        group_id=group,
        member_id=member_id,
        share_session_epoch=epoch,
        topics=[share_acknowledge.AcknowledgeTopic(topic_id=topic.topic_id, partitions=[partition])],
    )
