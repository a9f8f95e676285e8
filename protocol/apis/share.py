"""The APIs of share groups."""

from __future__ import annotations

from ..acl_types import AclOperation, ResourceType
from .api import KAFKAS_TEXT, Api, ApiKey, Authorization, EntryList, ErrorFields, Need, TopicList, on_cluster

APIS = (
    Api(
        ApiKey.SHARE_GROUP_HEARTBEAT,
        "ShareGroupHeartbeat",
        1,
        1,
        1,
        authorization=Authorization(
            whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),), has_own_rule=True
        ),
        requests=(TopicList("subscribed_topic_names", name=""),),
    ),
    Api(
        ApiKey.SHARE_GROUP_DESCRIBE,
        "ShareGroupDescribe",
        1,
        1,
        1,
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
    Api(
        ApiKey.SHARE_FETCH,
        "ShareFetch",
        1,
        2,
        1,
        authorization=Authorization(
            whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),),
            topics=AclOperation.READ,
            is_handled_without_topics=True,
        ),
        requests=(TopicList("topics", name="", topic_id="topic_id", partitions="partitions", index="partition_index"),),
        responses=(
            TopicList(
                "responses",
                name="",
                topic_id="topic_id",
                partitions="partitions",
                index="partition_index",
                error="error_code",
            ),
        ),
        errors=ErrorFields(last_version_with_topics=-1),
    ),
    Api(
        ApiKey.SHARE_ACKNOWLEDGE,
        "ShareAcknowledge",
        1,
        2,
        1,
        authorization=Authorization(
            whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),),
            topics=AclOperation.READ,
            is_handled_without_topics=True,
        ),
        requests=(TopicList("topics", name="", topic_id="topic_id", partitions="partitions", index="partition_index"),),
        responses=(
            TopicList(
                "responses",
                name="",
                topic_id="topic_id",
                partitions="partitions",
                index="partition_index",
                error="error_code",
            ),
        ),
        errors=ErrorFields(last_version_with_topics=-1),
    ),
    Api(
        ApiKey.INITIALIZE_SHARE_GROUP_STATE,
        "InitializeShareGroupState",
        0,
        0,
        0,
        authorization=Authorization(whole=(on_cluster(AclOperation.CLUSTER_ACTION),), whole_text=KAFKAS_TEXT),
        requests=(TopicList("topics", name="", topic_id="topic_id", partitions="partitions", index="partition"),),
        responses=(
            TopicList(
                "results", name="", topic_id="topic_id", partitions="partitions", index="partition", error="error_code"
            ),
        ),
    ),
    Api(
        ApiKey.READ_SHARE_GROUP_STATE,
        "ReadShareGroupState",
        0,
        0,
        0,
        authorization=Authorization(whole=(on_cluster(AclOperation.CLUSTER_ACTION),)),
        requests=(TopicList("topics", name="", topic_id="topic_id", partitions="partitions", index="partition"),),
        responses=(
            TopicList(
                "results", name="", topic_id="topic_id", partitions="partitions", index="partition", error="error_code"
            ),
        ),
        errors=ErrorFields(has_text=True),
    ),
    Api(
        ApiKey.WRITE_SHARE_GROUP_STATE,
        "WriteShareGroupState",
        0,
        1,
        0,
        authorization=Authorization(whole=(on_cluster(AclOperation.CLUSTER_ACTION),)),
        requests=(TopicList("topics", name="", topic_id="topic_id", partitions="partitions", index="partition"),),
        responses=(
            TopicList(
                "results", name="", topic_id="topic_id", partitions="partitions", index="partition", error="error_code"
            ),
        ),
        errors=ErrorFields(has_text=True),
    ),
    Api(
        ApiKey.DELETE_SHARE_GROUP_STATE,
        "DeleteShareGroupState",
        0,
        0,
        0,
        authorization=Authorization(whole=(on_cluster(AclOperation.CLUSTER_ACTION),), whole_text=KAFKAS_TEXT),
        requests=(TopicList("topics", name="", topic_id="topic_id", partitions="partitions", index="partition"),),
        responses=(
            TopicList(
                "results", name="", topic_id="topic_id", partitions="partitions", index="partition", error="error_code"
            ),
        ),
    ),
    Api(
        ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        "ReadShareGroupStateSummary",
        0,
        1,
        0,
        authorization=Authorization(whole=(on_cluster(AclOperation.CLUSTER_ACTION),)),
        requests=(TopicList("topics", name="", topic_id="topic_id", partitions="partitions", index="partition"),),
        responses=(
            TopicList(
                "results", name="", topic_id="topic_id", partitions="partitions", index="partition", error="error_code"
            ),
        ),
        errors=ErrorFields(has_text=True),
    ),
    Api(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        "DescribeShareGroupOffsets",
        0,
        1,
        0,
        authorization=Authorization(
            entries=(AclOperation.DESCRIBE, ResourceType.GROUP), topics=AclOperation.DESCRIBE, entries_have_text=False
        ),
        requests=(
            TopicList("topics", name="topic_name", partitions="partitions", owners="groups", owner_key="group_id"),
        ),
        responses=(
            TopicList(
                "topics",
                name="topic_name",
                partitions="partitions",
                index="partition_index",
                owners="groups",
                owner_key="group_id",
                error="error_code",
            ),
        ),
        entries=EntryList("groups", "groups", copied=("group_id",)),
        errors=ErrorFields(has_text=True, last_version_with_topics=-1),
    ),
    Api(
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        "AlterShareGroupOffsets",
        0,
        0,
        0,
        authorization=Authorization(
            whole=(Need(AclOperation.READ, ResourceType.GROUP, "group_id"),),
            topics=AclOperation.READ,
            is_handled_without_topics=True,
        ),
        requests=(TopicList("topics", name="topic_name", partitions="partitions", index="partition_index"),),
        responses=(
            TopicList(
                "responses", name="topic_name", partitions="partitions", index="partition_index", error="error_code"
            ),
        ),
        errors=ErrorFields(has_text=True, last_version_with_topics=-1),
    ),
    Api(
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        "DeleteShareGroupOffsets",
        0,
        0,
        0,
        authorization=Authorization(
            whole=(Need(AclOperation.DELETE, ResourceType.GROUP, "group_id"),),
            topics=AclOperation.READ,
            is_handled_without_topics=True,
        ),
        requests=(TopicList("topics", name="topic_name"),),
        responses=(TopicList("responses", name="topic_name", topic_error="error_code"),),
        errors=ErrorFields(has_text=True, last_version_with_topics=-1),
    ),
)
