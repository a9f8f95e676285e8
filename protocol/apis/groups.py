"""The APIs of groups."""

from __future__ import annotations

from ..acl_types import AclOperation, ResourceType
from .api import NEVER_FLEXIBLE, Api, ApiKey, Versions
from .authorization import CHECKED_BY_HANDLER, DELETE_GROUP, OPEN, READ_GROUP, Authorization
from .fields import EntryList, ErrorFields, TopicList, partition_errors, partition_list

APIS = (
    Api(
        ApiKey.OFFSET_COMMIT,
        "OffsetCommit",
        Versions(2, 10, 8),
        authorization=Authorization(whole=(READ_GROUP,), topics=AclOperation.READ),
        requests=(partition_list("topics", topic_id="topic_id"),),
        responses=(partition_errors("topics", topic_id="topic_id"),),
    ),
    Api(
        ApiKey.OFFSET_FETCH,
        "OffsetFetch",
        Versions(1, 10, 6),
        authorization=Authorization(
            has_own_rule=True, entries=(AclOperation.DESCRIBE, ResourceType.GROUP), topics=AclOperation.DESCRIBE
        ),
        requests=(
            TopicList("topics", partitions="partition_indexes"),
            TopicList(
                "topics", topic_id="topic_id", partitions="partition_indexes", owners="groups", owner_key="group_id"
            ),
        ),
        responses=(
            partition_errors("topics"),
            partition_errors("topics", topic_id="topic_id", owners="groups", owner_key="group_id"),
        ),
        entries=EntryList("groups", "groups", copied=("group_id",)),
        errors=ErrorFields(partition_values={"committed_offset": -1, "metadata": ""}, last_version_with_topics=1),
    ),
    Api(
        ApiKey.JOIN_GROUP,
        "JoinGroup",
        Versions(0, 9, 6),
        authorization=Authorization(whole=(READ_GROUP,)),
        errors=ErrorFields(response_values={"generation_id": -1}),
    ),
    Api(ApiKey.HEARTBEAT, "Heartbeat", Versions(0, 4, 4), authorization=Authorization(whole=(READ_GROUP,))),
    Api(ApiKey.LEAVE_GROUP, "LeaveGroup", Versions(0, 5, 4), authorization=Authorization(whole=(READ_GROUP,))),
    Api(ApiKey.SYNC_GROUP, "SyncGroup", Versions(0, 5, 4), authorization=Authorization(whole=(READ_GROUP,))),
    Api(
        ApiKey.DESCRIBE_GROUPS,
        "DescribeGroups",
        Versions(0, 6, 5),
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("groups", "groups", key="group_id"),
    ),
    Api(ApiKey.LIST_GROUPS, "ListGroups", Versions(0, 5, 3), authorization=CHECKED_BY_HANDLER),
    Api(
        ApiKey.DELETE_GROUPS,
        "DeleteGroups",
        Versions(0, 3, 2, since={3: (4, 4)}),
        authorization=Authorization(entries=(AclOperation.DELETE, ResourceType.GROUP)),
        entries=EntryList("groups_names", "results", key="group_id"),
    ),
    Api(
        ApiKey.OFFSET_DELETE,
        "OffsetDelete",
        Versions(0, 0, NEVER_FLEXIBLE),
        authorization=Authorization(whole=(DELETE_GROUP,), topics=AclOperation.READ),
        requests=(partition_list("topics"),),
        responses=(partition_errors("topics"),),
        errors=ErrorFields(last_version_with_topics=-1),
    ),
    Api(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        "ConsumerGroupHeartbeat",
        Versions(0, 1, 0),
        authorization=Authorization(whole=(READ_GROUP,), has_own_rule=True),
        requests=(
            TopicList("subscribed_topic_names", name=""),
            TopicList("topic_partitions", name="", topic_id="topic_id", partitions="partitions"),
        ),
    ),
    Api(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        "ConsumerGroupDescribe",
        Versions(0, 1, 0),
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
    Api(ApiKey.STREAMS_GROUP_HEARTBEAT, "StreamsGroupHeartbeat", Versions(0, 0, 0), authorization=OPEN),
    Api(
        ApiKey.STREAMS_GROUP_DESCRIBE,
        "StreamsGroupDescribe",
        Versions(0, 0, 0),
        authorization=OPEN,
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
)
