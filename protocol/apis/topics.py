"""The APIs of topics and partitions."""

from __future__ import annotations

from ..acl_types import AclOperation
from .api import Api, ApiKey, Versions
from .authorization import CHECKED_BY_HANDLER, NAMED_REQUEST, Authorization, needs_cluster
from .fields import TopicList, partition_errors, partition_list

APIS = (
    Api(
        ApiKey.METADATA,
        "Metadata",
        Versions(0, 13, 9, by_release="2.1 0-7, 2.3 0-8, 2.4 0-9, 2.8 0-11, 3.1 0-12, 4.0 0-13"),
        authorization=CHECKED_BY_HANDLER,
        requests=(TopicList("topics", topic_id="topic_id"),),
        responses=(partition_errors("topics", topic_id="topic_id", topic_error="error_code"),),
    ),
    Api(
        ApiKey.CREATE_TOPICS,
        "CreateTopics",
        Versions(0, 7, 5, by_release="2.1 0-3, 2.4 0-5, 2.7 0-6, 2.8 0-7, 4.0 2-7"),
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
        Versions(0, 6, 4, by_release="2.1 0-3, 2.4 0-4, 2.7 0-5, 2.8 0-6, 4.0 1-6"),
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
        Versions(0, 2, 2, by_release="2.1 0-1, 2.8 0-2, 4.0 1-2"),
        authorization=needs_cluster(AclOperation.ALTER),
        requests=(TopicList("topics", partitions="partitions", owners="dirs", owner_key="path"),),
        responses=(partition_errors("results", name="topic_name"),),
    ),
    Api(
        ApiKey.DESCRIBE_LOG_DIRS,
        "DescribeLogDirs",
        Versions(0, 5, 2, by_release="2.1 0-1, 2.6 0-2, 3.2 0-3, 3.3 0-4, 4.0 1-4, 4.3 1-5"),
        authorization=needs_cluster(AclOperation.DESCRIBE),
        requests=(TopicList("topics", name="topic", partitions="partitions"),),
    ),
    Api(
        ApiKey.CREATE_PARTITIONS,
        "CreatePartitions",
        Versions(0, 3, 2, by_release="2.1 0-1, 2.5 0-2, 2.7 0-3"),
        authorization=Authorization(topics=AclOperation.ALTER),
        requests=(TopicList("topics"),),
        responses=(TopicList("results", topic_error="error_code"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.ELECT_LEADERS,
        "ElectLeaders",
        Versions(0, 2, 2, by_release="2.2 0-0, 2.4 0-2"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        requests=(TopicList("topic_partitions", name="topic", partitions="partitions"),),
        responses=(
            TopicList(
                "replica_election_results",
                name="topic",
                partitions="partition_result",
                partition="partition_id",
                error="error_code",
            ),
        ),
        is_forwarded=True,
    ),
    Api(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        "AlterPartitionReassignments",
        Versions(0, 1, 0, by_release="2.4 0-0, 4.1 0-1"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        requests=(partition_list("topics"),),
        responses=(partition_errors("responses"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        "ListPartitionReassignments",
        Versions(0, 0, 0, by_release="2.4 0-0"),
        authorization=needs_cluster(AclOperation.DESCRIBE, text=NAMED_REQUEST),
        requests=(TopicList("topics", partitions="partition_indexes"),),
        responses=(partition_list("topics"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        "DescribeTopicPartitions",
        Versions(0, 0, 0, by_release="3.8 0-0"),
        authorization=CHECKED_BY_HANDLER,
        requests=(TopicList("topics"),),
        responses=(partition_errors("topics", topic_error="error_code"),),
    ),
)
