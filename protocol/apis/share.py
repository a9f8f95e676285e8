"""The APIs of share groups."""

from __future__ import annotations

from ..acl_types import AclOperation, ResourceType
from .api import Api, ApiKey, Versions
from .authorization import DELETE_GROUP, KAFKAS_TEXT, READ_GROUP, Authorization, needs_cluster
from .fields import EntryList, ErrorFields, TopicFields, TopicList, partition_errors, partition_list

_BY_ID: TopicFields = {"name": "", "topic_id": "topic_id"}
_STATES = (partition_list("topics", "partition", **_BY_ID),)
_STATE_RESULTS = (partition_errors("results", "partition", **_BY_ID),)

APIS = (
    Api(
        ApiKey.SHARE_GROUP_HEARTBEAT,
        "ShareGroupHeartbeat",
        Versions(1, 1, 1, by_release="4.1 1-1"),
        authorization=Authorization(whole=(READ_GROUP,), has_own_rule=True),
        requests=(TopicList("subscribed_topic_names", name=""),),
    ),
    Api(
        ApiKey.SHARE_GROUP_DESCRIBE,
        "ShareGroupDescribe",
        Versions(1, 1, 1, by_release="4.1 1-1"),
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.GROUP)),
        entries=EntryList("group_ids", "groups", key="group_id"),
    ),
    Api(
        ApiKey.SHARE_FETCH,
        "ShareFetch",
        Versions(1, 2, 1, by_release="4.1 1-1, 4.2 1-2"),
        authorization=Authorization(whole=(READ_GROUP,), topics=AclOperation.READ, is_handled_without_topics=True),
        requests=(partition_list("topics", **_BY_ID),),
        responses=(partition_errors("responses", **_BY_ID),),
        errors=ErrorFields(last_version_with_topics=-1),
    ),
    Api(
        ApiKey.SHARE_ACKNOWLEDGE,
        "ShareAcknowledge",
        Versions(1, 2, 1, by_release="4.1 1-1, 4.2 1-2"),
        authorization=Authorization(whole=(READ_GROUP,), topics=AclOperation.READ, is_handled_without_topics=True),
        requests=(partition_list("topics", **_BY_ID),),
        responses=(partition_errors("responses", **_BY_ID),),
        errors=ErrorFields(last_version_with_topics=-1),
    ),
    Api(
        ApiKey.INITIALIZE_SHARE_GROUP_STATE,
        "InitializeShareGroupState",
        Versions(0, 0, 0, by_release="4.1 0-0"),
        authorization=needs_cluster(AclOperation.CLUSTER_ACTION, text=KAFKAS_TEXT),
        requests=_STATES,
        responses=_STATE_RESULTS,
    ),
    Api(
        ApiKey.READ_SHARE_GROUP_STATE,
        "ReadShareGroupState",
        Versions(0, 0, 0, by_release="4.1 0-0"),
        authorization=needs_cluster(AclOperation.CLUSTER_ACTION),
        requests=_STATES,
        responses=_STATE_RESULTS,
        errors=ErrorFields(has_text=True),
    ),
    Api(
        ApiKey.WRITE_SHARE_GROUP_STATE,
        "WriteShareGroupState",
        Versions(0, 1, 0, by_release="4.1 0-0, 4.2 0-1"),
        authorization=needs_cluster(AclOperation.CLUSTER_ACTION),
        requests=_STATES,
        responses=_STATE_RESULTS,
        errors=ErrorFields(has_text=True),
    ),
    Api(
        ApiKey.DELETE_SHARE_GROUP_STATE,
        "DeleteShareGroupState",
        Versions(0, 0, 0, by_release="4.1 0-0"),
        authorization=needs_cluster(AclOperation.CLUSTER_ACTION, text=KAFKAS_TEXT),
        requests=_STATES,
        responses=_STATE_RESULTS,
    ),
    Api(
        ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        "ReadShareGroupStateSummary",
        Versions(0, 1, 0, by_release="4.1 0-0, 4.2 0-1"),
        authorization=needs_cluster(AclOperation.CLUSTER_ACTION),
        requests=_STATES,
        responses=_STATE_RESULTS,
        errors=ErrorFields(has_text=True),
    ),
    Api(
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        "DescribeShareGroupOffsets",
        Versions(0, 1, 0, by_release="4.1 0-0, 4.2 0-1"),
        authorization=Authorization(
            entries=(AclOperation.DESCRIBE, ResourceType.GROUP), topics=AclOperation.DESCRIBE, entries_have_text=False
        ),
        requests=(
            TopicList("topics", name="topic_name", partitions="partitions", owners="groups", owner_key="group_id"),
        ),
        responses=(partition_errors("topics", name="topic_name", owners="groups", owner_key="group_id"),),
        entries=EntryList("groups", "groups", copied=("group_id",)),
        errors=ErrorFields(has_text=True, last_version_with_topics=-1),
    ),
    Api(
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        "AlterShareGroupOffsets",
        Versions(0, 0, 0, by_release="4.1 0-0"),
        authorization=Authorization(whole=(READ_GROUP,), topics=AclOperation.READ, is_handled_without_topics=True),
        requests=(partition_list("topics", name="topic_name"),),
        responses=(partition_errors("responses", name="topic_name"),),
        errors=ErrorFields(has_text=True, last_version_with_topics=-1),
    ),
    Api(
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        "DeleteShareGroupOffsets",
        Versions(0, 0, 0, by_release="4.1 0-0"),
        authorization=Authorization(whole=(DELETE_GROUP,), topics=AclOperation.READ, is_handled_without_topics=True),
        requests=(TopicList("topics", name="topic_name"),),
        responses=(TopicList("responses", name="topic_name", topic_error="error_code"),),
        errors=ErrorFields(has_text=True, last_version_with_topics=-1),
    ),
)
