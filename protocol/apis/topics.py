"""The APIs of topics and partitions."""

from __future__ import annotations

from ..acl_types import AclOperation
from .api import CHECKED_BY_HANDLER, NAMED_REQUEST, Api, ApiKey, Authorization, TopicList, on_cluster

APIS = (
    Api(
        ApiKey.METADATA,
        "Metadata",
        0,
        13,
        9,
        authorization=CHECKED_BY_HANDLER,
        requests=(TopicList("topics", topic_id="topic_id"),),
        responses=(
            TopicList(
                "topics",
                topic_id="topic_id",
                partitions="partitions",
                index="partition_index",
                error="error_code",
                topic_error="error_code",
            ),
        ),
    ),
    Api(
        ApiKey.CREATE_TOPICS,
        "CreateTopics",
        2,
        7,
        5,
        authorization=Authorization(
            topics=AclOperation.CREATE, or_on_cluster=AclOperation.CREATE, part_text="Authorization failed."
        ),
        requests=(TopicList("topics"),),
        responses=(TopicList("topics", topic_error="error_code"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.DELETE_TOPICS,
        "DeleteTopics",
        1,
        6,
        4,
        authorization=CHECKED_BY_HANDLER,
        requests=(TopicList("topic_names", name=""), TopicList("topics", topic_id="topic_id")),
        responses=(
            TopicList("responses", topic_id="topic_id", topic_error="error_code"),
            TopicList("responses", topic_id="topic_id", topic_error="error_code"),
        ),
        is_forwarded=True,
    ),
    Api(
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        "AlterReplicaLogDirs",
        1,
        2,
        2,
        authorization=Authorization(whole=(on_cluster(AclOperation.ALTER),)),
        requests=(TopicList("topics", partitions="partitions", owners="dirs", owner_key="path"),),
        responses=(
            TopicList(
                "results", name="topic_name", partitions="partitions", index="partition_index", error="error_code"
            ),
        ),
    ),
    Api(
        ApiKey.DESCRIBE_LOG_DIRS,
        "DescribeLogDirs",
        1,
        5,
        2,
        authorization=Authorization(whole=(on_cluster(AclOperation.DESCRIBE),)),
        requests=(TopicList("topics", name="topic", partitions="partitions"),),
    ),
    Api(
        ApiKey.CREATE_PARTITIONS,
        "CreatePartitions",
        0,
        3,
        2,
        authorization=Authorization(topics=AclOperation.ALTER),
        requests=(TopicList("topics"),),
        responses=(TopicList("results", topic_error="error_code"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.ELECT_LEADERS,
        "ElectLeaders",
        0,
        2,
        2,
        authorization=Authorization(whole=(on_cluster(AclOperation.ALTER),), whole_text=NAMED_REQUEST),
        requests=(TopicList("topic_partitions", name="topic", partitions="partitions"),),
        responses=(
            TopicList(
                "replica_election_results",
                name="topic",
                partitions="partition_result",
                index="partition_id",
                error="error_code",
            ),
        ),
        is_forwarded=True,
    ),
    Api(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        "AlterPartitionReassignments",
        0,
        1,
        0,
        authorization=Authorization(whole=(on_cluster(AclOperation.ALTER),), whole_text=NAMED_REQUEST),
        requests=(TopicList("topics", partitions="partitions", index="partition_index"),),
        responses=(TopicList("responses", partitions="partitions", index="partition_index", error="error_code"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        "ListPartitionReassignments",
        0,
        0,
        0,
        authorization=Authorization(whole=(on_cluster(AclOperation.DESCRIBE),), whole_text=NAMED_REQUEST),
        requests=(TopicList("topics", partitions="partition_indexes"),),
        responses=(TopicList("topics", partitions="partitions", index="partition_index"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        "DescribeTopicPartitions",
        0,
        0,
        0,
        authorization=CHECKED_BY_HANDLER,
        requests=(TopicList("topics"),),
        responses=(
            TopicList(
                "topics", partitions="partitions", index="partition_index", error="error_code", topic_error="error_code"
            ),
        ),
    ),
)
