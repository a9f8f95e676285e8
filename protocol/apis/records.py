"""The APIs of records."""

from __future__ import annotations

from ..acl_types import AclOperation
from .api import Api, ApiKey, Versions
from .authorization import CHECKED_BY_HANDLER, KAFKAS_TEXT, Authorization
from .fields import EVERY_VERSION, ErrorFields, TopicList, partition_errors, partition_list

APIS = (
    Api(
        ApiKey.PRODUCE,
        "Produce",
        Versions(
            0, 13, 9, by_release="2.1 0-7, 2.4 0-8, 2.8 0-9, 3.7 0-10, 3.8 0-11, 4.0 3-12, 4.1 3-13", advertised_since=0
        ),
        authorization=CHECKED_BY_HANDLER,
        requests=(TopicList("topic_data", topic_id="topic_id", partitions="partition_data", partition="index"),),
        responses=(
            TopicList(
                "responses",
                topic_id="topic_id",
                partitions="partition_responses",
                partition="index",
                error="error_code",
            ),
        ),
        errors=ErrorFields(partition_values={"base_offset": -1}, last_version_with_maps=EVERY_VERSION),
    ),
    Api(
        ApiKey.FETCH,
        "Fetch",
        Versions(
            0,
            18,
            12,
            by_release="2.1 0-10, 2.3 0-11, 2.7 0-12, 3.1 0-13, 3.5 0-15, 3.7 0-16, 3.9 0-17, 4.0 4-17, 4.1 4-18",
        ),
        authorization=CHECKED_BY_HANDLER,
        requests=(partition_list("topics", name="topic", topic_id="topic_id", partition="partition"),),
        responses=(partition_errors("responses", name="topic", topic_id="topic_id"),),
        errors=ErrorFields(partition_values={"high_watermark": -1, "records": b""}, last_version_with_topics=12),
    ),
    Api(
        ApiKey.LIST_OFFSETS,
        "ListOffsets",
        Versions(0, 11, 6, by_release="2.1 0-4, 2.2 0-5, 2.8 0-6, 3.0 0-7, 3.5 0-8, 3.9 0-9, 4.0 1-10, 4.2 1-11"),
        authorization=Authorization(topics=AclOperation.DESCRIBE),
        requests=(partition_list("topics"),),
        responses=(partition_errors("topics"),),
        errors=ErrorFields(partition_values={"offset": -1, "timestamp": -1}),
    ),
    Api(
        ApiKey.DELETE_RECORDS,
        "DeleteRecords",
        Versions(0, 2, 2, by_release="2.1 0-1, 2.6 0-2"),
        authorization=Authorization(topics=AclOperation.DELETE),
        requests=(partition_list("topics"),),
        responses=(partition_errors("topics"),),
        errors=ErrorFields(partition_values={"low_watermark": -1}),
    ),
    Api(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        "OffsetForLeaderEpoch",
        Versions(0, 4, 4, by_release="2.1 0-2, 2.3 0-3, 2.8 0-4, 4.0 2-4"),
        authorization=Authorization(topics=AclOperation.DESCRIBE, or_on_cluster=AclOperation.CLUSTER_ACTION),
        requests=(partition_list("topics", name="topic", partition="partition"),),
        responses=(partition_errors("topics", name="topic", partition="partition"),),
    ),
    Api(
        ApiKey.DESCRIBE_PRODUCERS,
        "DescribeProducers",
        Versions(0, 0, 0, by_release="2.8 0-0"),
        authorization=Authorization(topics=AclOperation.READ, part_text=KAFKAS_TEXT),
        requests=(TopicList("topics", partitions="partition_indexes"),),
        responses=(partition_errors("topics"),),
    ),
)
