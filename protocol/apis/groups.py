"""The APIs of groups."""

from __future__ import annotations

from ..acl_types import AclOperation, ResourceType
from .api import (
    CHECKED_BY_HANDLER,
    NEVER_FLEXIBLE,
    OPEN,
    Api,
    ApiKey,
    Authorization,
    EntryList,
    ErrorFields,
    Need,
    TopicList,
)

APIS = (
    Api(
        ApiKey.OFFSET_COMMIT,
        "OffsetCommit",
        2,
        10,
        8,
        authorization=Authorization(
            whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),), topics=AclOperation.READ
        ),
        requests=(TopicList("topics", topic_id="topic_id", partitions="partitions", index="partition_index"),),
        responses=(
            TopicList(
                "topics", topic_id="topic_id", partitions="partitions", index="partition_index", error="error_code"
            ),
        ),
    ),
    Api(
        ApiKey.OFFSET_FETCH,
        "OffsetFetch",
        1,
        10,
        6,
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
            TopicList("topics", partitions="partitions", index="partition_index", error="error_code"),
            TopicList(
                "topics",
                topic_id="topic_id",
                partitions="partitions",
                index="partition_index",
                owners="groups",
                owner_key="group_id",
                error="error_code",
            ),
        ),
        entries=EntryList("groups", "groups", copied=("group_id",)),
        errors=ErrorFields(partition_values={"committed_offset": -1, "metadata": ""}, last_version_with_topics=1),
    ),
    Api(
        ApiKey.JOIN_GROUP,
        "JoinGroup",
        0,
        9,
        6,
        authorization=Authorization(whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),)),
        errors=ErrorFields(response_values={"generation_id": -1}),
    ),
    Api(
        ApiKey.HEARTBEAT,
        "Heartbeat",
        0,
        4,
        4,
        authorization=Authorization(whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),)),
    ),
    Api(
        ApiKey.LEAVE_GROUP,
        "LeaveGroup",
        0,
        5,
        4,
        authorization=Authorization(whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),)),
    ),
    Api(
        ApiKey.SYNC_GROUP,
        "SyncGroup",
        0,
        5,
        4,
        authorization=Authorization(whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),)),
    ),
    Api(
        ApiKey.DESCRIBE_GROUPS,
        "DescribeGroups",
        0,
        6,
        5,
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("groups", "groups", key="group_id"),
    ),
    Api(ApiKey.LIST_GROUPS, "ListGroups", 0, 5, 3, authorization=CHECKED_BY_HANDLER),
    Api(
        ApiKey.DELETE_GROUPS,
        "DeleteGroups",
        0,
        2,
        2,
        authorization=Authorization(entries=(AclOperation.DELETE, ResourceType.GROUP)),
        entries=EntryList("groups_names", "results", key="group_id"),
    ),
    Api(
        ApiKey.OFFSET_DELETE,
        "OffsetDelete",
        0,
        0,
        NEVER_FLEXIBLE,
        authorization=Authorization(
            whole=(Need(AclOperation.DELETE, ResourceType.GROUP, "group_id"),), topics=AclOperation.READ
        ),
        requests=(TopicList("topics", partitions="partitions", index="partition_index"),),
        responses=(TopicList("topics", partitions="partitions", index="partition_index", error="error_code"),),
        errors=ErrorFields(last_version_with_topics=-1),
    ),
    Api(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        "ConsumerGroupHeartbeat",
        0,
        1,
        0,
        authorization=Authorization(
            whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),), has_own_rule=True
        ),
        requests=(
            TopicList("subscribed_topic_names", name=""),
            TopicList("topic_partitions", name="", topic_id="topic_id", partitions="partitions"),
        ),
    ),
    Api(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        "ConsumerGroupDescribe",
        0,
        1,
        0,
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
    Api(ApiKey.STREAMS_GROUP_HEARTBEAT, "StreamsGroupHeartbeat", 0, 0, 0, authorization=OPEN),
    Api(
        ApiKey.STREAMS_GROUP_DESCRIBE,
        "StreamsGroupDescribe",
        0,
        0,
        0,
        authorization=OPEN,
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
)
