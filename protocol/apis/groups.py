"""The APIs of groups."""

from __future__ import annotations

from ..acl_types import AclOperation, ResourceType
from .api import NEVER_FLEXIBLE, Api, ApiKey, Versions
from .authorization import CHECKED_BY_HANDLER, DELETE_GROUP, READ_GROUP, Authorization
from .fields import EntryList, ErrorFields, TopicList, partition_errors, partition_list

APIS = (
    Api(
        ApiKey.OFFSET_COMMIT,
        "OffsetCommit",
        Versions(0, 10, 8, by_release="2.1 0-6, 2.3 0-7, 2.4 0-8, 3.7 0-9, 4.0 2-9, 4.2 2-10"),
        authorization=Authorization(whole=(READ_GROUP,), topics=AclOperation.READ),
        requests=(partition_list("topics", topic_id="topic_id"),),
        responses=(partition_errors("topics", topic_id="topic_id"),),
    ),
    Api(
        ApiKey.OFFSET_FETCH,
        "OffsetFetch",
        Versions(0, 10, 6, by_release="2.1 0-5, 2.4 0-6, 2.5 0-7, 3.0 0-8, 3.7 0-9, 4.0 1-9, 4.2 1-10"),
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
        errors=ErrorFields(
            partition_values={"committed_offset": -1, "metadata": ""},
            last_version_with_topics=1,
            last_version_with_maps=0,
        ),
    ),
    Api(
        ApiKey.JOIN_GROUP,
        "JoinGroup",
        Versions(0, 9, 6, by_release="2.1 0-3, 2.2 0-4, 2.3 0-5, 2.4 0-6, 2.5 0-7, 3.2 0-9, 4.0 2-9, 4.1 0-9"),
        authorization=Authorization(whole=(READ_GROUP,)),
        errors=ErrorFields(response_values={"generation_id": -1}),
    ),
    Api(
        ApiKey.HEARTBEAT,
        "Heartbeat",
        Versions(0, 4, 4, by_release="2.1 0-2, 2.3 0-3, 2.4 0-4"),
        authorization=Authorization(whole=(READ_GROUP,)),
    ),
    Api(
        ApiKey.LEAVE_GROUP,
        "LeaveGroup",
        Versions(0, 5, 4, by_release="2.1 0-2, 2.4 0-4, 3.2 0-5"),
        authorization=Authorization(whole=(READ_GROUP,)),
    ),
    Api(
        ApiKey.SYNC_GROUP,
        "SyncGroup",
        Versions(0, 5, 4, by_release="2.1 0-2, 2.3 0-3, 2.4 0-4, 2.5 0-5"),
        authorization=Authorization(whole=(READ_GROUP,)),
    ),
    Api(
        ApiKey.DESCRIBE_GROUPS,
        "DescribeGroups",
        Versions(0, 6, 5, by_release="2.1 0-2, 2.3 0-3, 2.4 0-5, 4.0 0-6"),
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("groups", "groups", key="group_id"),
    ),
    Api(
        ApiKey.LIST_GROUPS,
        "ListGroups",
        Versions(0, 5, 3, by_release="2.1 0-2, 2.4 0-3, 2.6 0-4, 3.8 0-5"),
        authorization=CHECKED_BY_HANDLER,
    ),
    Api(
        ApiKey.DELETE_GROUPS,
        "DeleteGroups",
        Versions(0, 3, 2, by_release="2.1 0-1, 2.4 0-2, 4.4 0-3"),
        authorization=Authorization(entries=(AclOperation.DELETE, ResourceType.GROUP)),
        entries=EntryList("groups_names", "results", key="group_id"),
    ),
    Api(
        ApiKey.OFFSET_DELETE,
        "OffsetDelete",
        Versions(0, 0, NEVER_FLEXIBLE, by_release="2.4 0-0"),
        authorization=Authorization(whole=(DELETE_GROUP,), topics=AclOperation.READ),
        requests=(partition_list("topics"),),
        responses=(partition_errors("topics"),),
        errors=ErrorFields(last_version_with_topics=-1),
    ),
    Api(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        "ConsumerGroupHeartbeat",
        Versions(0, 1, 0, by_release="3.7 0-0, 4.0 0-1"),
        authorization=Authorization(whole=(READ_GROUP,), has_own_rule=True),
        requests=(
            TopicList("subscribed_topic_names", name=""),
            TopicList("topic_partitions", name="", topic_id="topic_id", partitions="partitions"),
        ),
    ),
    Api(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        "ConsumerGroupDescribe",
        Versions(0, 1, 0, by_release="3.8 0-0, 4.0 0-1"),
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
    Api(
        ApiKey.STREAMS_GROUP_HEARTBEAT,
        "StreamsGroupHeartbeat",
        Versions(0, 1, 0, by_release="4.2 0-0, 4.4 0-1"),
        authorization=Authorization(whole=(READ_GROUP,)),
    ),
    Api(
        ApiKey.STREAMS_GROUP_DESCRIBE,
        "StreamsGroupDescribe",
        Versions(0, 1, 0, by_release="4.2 0-0, 4.4 0-1"),
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
    Api(
        ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
        "StreamsGroupTopologyDescriptionUpdate",
        Versions(0, 0, 0, by_release="4.4 0-0"),
        authorization=Authorization(whole=(READ_GROUP,)),
    ),
)
