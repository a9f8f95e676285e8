"""The APIs of records."""

from __future__ import annotations

from ..acl_types import AclOperation
from .api import CHECKED_BY_HANDLER, KAFKAS_TEXT, Api, ApiKey, Authorization, ErrorFields, TopicList

APIS = (
    Api(
        ApiKey.PRODUCE,
        "Produce",
        3,
        13,
        9,
        authorization=CHECKED_BY_HANDLER,
        advertised_since=0,
        requests=(TopicList("topic_data", topic_id="topic_id", partitions="partition_data", index="index"),),
        responses=(
            TopicList(
                "responses", topic_id="topic_id", partitions="partition_responses", index="index", error="error_code"
            ),
        ),
        errors=ErrorFields(partition_values={"base_offset": -1}, merges_topics=True),
    ),
    Api(
        ApiKey.FETCH,
        "Fetch",
        4,
        18,
        12,
        authorization=CHECKED_BY_HANDLER,
        requests=(TopicList("topics", name="topic", topic_id="topic_id", partitions="partitions", index="partition"),),
        responses=(
            TopicList(
                "responses",
                name="topic",
                topic_id="topic_id",
                partitions="partitions",
                index="partition_index",
                error="error_code",
            ),
        ),
        errors=ErrorFields(partition_values={"high_watermark": -1, "records": b""}, last_version_with_topics=12),
    ),
    Api(
        ApiKey.LIST_OFFSETS,
        "ListOffsets",
        1,
        11,
        6,
        authorization=Authorization(topics=AclOperation.DESCRIBE),
        requests=(TopicList("topics", partitions="partitions", index="partition_index"),),
        responses=(TopicList("topics", partitions="partitions", index="partition_index", error="error_code"),),
        errors=ErrorFields(partition_values={"offset": -1, "timestamp": -1}),
    ),
    Api(
        ApiKey.DELETE_RECORDS,
        "DeleteRecords",
        0,
        2,
        2,
        authorization=Authorization(topics=AclOperation.DELETE),
        requests=(TopicList("topics", partitions="partitions", index="partition_index"),),
        responses=(TopicList("topics", partitions="partitions", index="partition_index", error="error_code"),),
        errors=ErrorFields(partition_values={"low_watermark": -1}),
    ),
    Api(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        "OffsetForLeaderEpoch",
        2,
        4,
        4,
        authorization=Authorization(topics=AclOperation.DESCRIBE, or_on_cluster=AclOperation.CLUSTER_ACTION),
        requests=(TopicList("topics", name="topic", partitions="partitions", index="partition"),),
        responses=(TopicList("topics", name="topic", partitions="partitions", index="partition", error="error_code"),),
    ),
    Api(
        ApiKey.DESCRIBE_PRODUCERS,
        "DescribeProducers",
        0,
        0,
        0,
        authorization=Authorization(topics=AclOperation.READ, part_text=KAFKAS_TEXT),
        requests=(TopicList("topics", partitions="partition_indexes"),),
        responses=(TopicList("topics", partitions="partitions", index="partition_index", error="error_code"),),
    ),
)
