"""Requests about topics and their records.

None changes what a later one returns, whatever is allowed: partitions that do not exist, requests that only validate,
offsets of the log's start. DeleteTopics is the exception; the recorder creates its topics again.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..failover.requests import in_transaction, records
from .request import Field, Request, requests_of

# Two topics that exist and one that does not; OPEN is the one that the enumerated ACLs name.
OPEN, CLOSED, MISSING = "open", "closed", "missing"
NAMES = (OPEN, CLOSED, MISSING)
# Topics that are created again after their deletion, and groups that do not exist.
DOOMED = ("doomed", "sealed")
MISSING_PARTITION = 9
TIMEOUT_MS = 10_000
BROKER_ID, BROKER = 1, "1"
# A producer that no coordinator has.
PRODUCER_ID, PRODUCER_EPOCH = 4711, 3
TOPIC_TYPE, BROKER_TYPE, LOGGER_TYPE, METRICS_TYPE, GROUP_TYPE = 2, 4, 8, 16, 32


def _each(names: Sequence[str], field: str = "name", **others: Field) -> list[Field]:
    return [{field: name, **others} for name in names]


def _identified(names: Sequence[str], field: str = "name", **others: Field) -> list[Field]:
    """Return entries with name and topic id, of which a version has one."""
    return [{field: name, "topic_id": name, **others} for name in names]


def _produced(batch: bytes, names: Sequence[str] = NAMES) -> list[Field]:
    return _identified(names, partition_data=[{"index": MISSING_PARTITION, "records": batch}])


def _transactional(transactional_id: str) -> dict[str, Field]:
    batch = in_transaction(1, (PRODUCER_ID, PRODUCER_EPOCH, 0))
    return {"acks": -1, "timeout_ms": TIMEOUT_MS, "transactional_id": transactional_id, "topic_data": _produced(batch)}


def _fetched(partition_index: int = 0, **others: Field) -> dict[str, Field]:
    partition: Field = {"partition": partition_index, "partition_max_bytes": 1000}
    topics = _identified(NAMES, "topic", partitions=[partition])
    return {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1000, "session_epoch": -1, "topics": topics, **others}


def _configs(*, has_values: bool = True, **others: Field) -> list[Field]:
    """Return an entry for each config resource, with a value or the key alone. others: of each config."""
    keys = {
        TOPIC_TYPE: (NAMES, "retention.ms", "1000"),
        GROUP_TYPE: (NAMES[:2], "consumer.session.timeout.ms", "45000"),
        BROKER_TYPE: ((BROKER,), "log.cleaner.threads", "2"),
        METRICS_TYPE: ((OPEN,), "interval.ms", "1000"),
    }
    return [
        {
            "resource_type": resource_type,
            "resource_name": name,
            **({"configs": [{"name": key, "value": value, **others}]} if has_values else {"configuration_keys": [key]}),
        }
        for resource_type, (names, key, value) in keys.items()
        for name in names
    ]


_PARTITION: list[Field] = [0]
REQUESTS: list[Request] = [
    *requests_of(
        "Produce",
        (3, 9, 12, 13),
        only={"acks": -1, "timeout_ms": TIMEOUT_MS, "topic_data": _produced(records())},
        with_one_ack={"acks": 1, "timeout_ms": TIMEOUT_MS, "topic_data": _produced(records(), NAMES[:1])},
    ),
    *requests_of("Produce", (9, 11, 13), in_a_transaction=_transactional(OPEN), in_another=_transactional(CLOSED)),
    *requests_of("Fetch", (4, 11, 12, 13, 18), only=_fetched()),
    *requests_of("Fetch", (4, 12, 14), as_a_follower=_fetched(MISSING_PARTITION, replica_id=BROKER_ID)),
    *requests_of(
        "Fetch",
        (15, 18),
        as_a_follower=_fetched(MISSING_PARTITION, replica_state={"replica_id": BROKER_ID, "replica_epoch": -1}),
    ),
    *requests_of(
        "ListOffsets",
        (1, 7, 11),
        only={"replica_id": -1, "topics": _each(NAMES, partitions=[{"partition_index": 0, "timestamp": -2}])},
    ),
    *requests_of(
        "OffsetForLeaderEpoch",
        (2, 3, 4),
        only={"replica_id": -2, "topics": _each(NAMES, "topic", partitions=[{"partition": 0, "leader_epoch": 0}])},
        as_a_follower={
            "replica_id": BROKER_ID,
            "topics": _each(NAMES, "topic", partitions=[{"partition": 0, "leader_epoch": 0}]),
        },
    ),
    *requests_of(
        "DeleteRecords",
        (0, 2),
        only={"topics": _each(NAMES, partitions=[{"partition_index": 0, "offset": 0}]), "timeout_ms": TIMEOUT_MS},
    ),
    *requests_of("DescribeProducers", (0,), only={"topics": _each(NAMES, partition_indexes=_PARTITION)}),
    *requests_of(
        "Metadata",
        (0, 1, 4, 8, 9, 12, 13),
        only={
            "topics": _each(NAMES, topic_id=""),
            "allow_auto_topic_creation": False,
            "include_cluster_authorized_operations": True,
            "include_topic_authorized_operations": True,
        },
    ),
    *requests_of(
        "Metadata",
        (1, 7, 9, 13),
        of_all_topics={"topics": None, "allow_auto_topic_creation": False, "include_topic_authorized_operations": True},
    ),
    *requests_of("Metadata", (12, 13), by_id={"topics": [{"topic_id": name, "name": None} for name in NAMES]}),
    *requests_of(
        "DescribeTopicPartitions",
        (0,),
        only={"topics": _each(NAMES), "response_partition_limit": 100},
        of_all_topics={"topics": [], "response_partition_limit": 100},
    ),
    *requests_of(
        "CreateTopics",
        (2, 4, 5, 7),
        only={
            "topics": _each(NAMES, num_partitions=1, replication_factor=1),
            "timeout_ms": TIMEOUT_MS,
            "validate_only": True,
        },
    ),
    *requests_of(
        "CreatePartitions",
        (0, 3),
        only={"topics": _each(NAMES, count=2, assignments=None), "timeout_ms": TIMEOUT_MS, "validate_only": True},
    ),
    *requests_of(
        "DeleteTopics",
        (1, 5, 6),
        only={
            "topics": _each((*DOOMED, MISSING), topic_id=""),
            "topic_names": [*DOOMED, MISSING],
            "timeout_ms": TIMEOUT_MS,
        },
    ),
    *requests_of(
        "DeleteTopics",
        (6,),
        by_id={"topics": [{"name": None, "topic_id": name} for name in (*DOOMED, MISSING)], "timeout_ms": TIMEOUT_MS},
    ),
    *requests_of("DescribeConfigs", (1, 4), only={"resources": _configs(has_values=False)}),
    *requests_of(
        "DescribeConfigs",
        (4,),
        of_a_logger={
            "resources": [
                {"resource_type": LOGGER_TYPE, "resource_name": BROKER, "configuration_keys": ["no.such.logger"]}
            ]
        },
    ),
    *requests_of("AlterConfigs", (0, 2), only={"resources": _configs(), "validate_only": True}),
    *requests_of(
        "IncrementalAlterConfigs",
        (0, 1),
        only={"resources": _configs(config_operation=0), "validate_only": True},
        of_an_invalid_value={
            "resources": [
                {
                    "resource_type": resource_type,
                    "resource_name": name,
                    "configs": [{"name": key, "value": "x", "config_operation": 0}],
                }
                for resource_type, name, key in (
                    (BROKER_TYPE, BROKER, "log.cleaner.threads"),
                    (TOPIC_TYPE, OPEN, "retention.ms"),
                    (GROUP_TYPE, OPEN, "consumer.session.timeout.ms"),
                    (METRICS_TYPE, OPEN, "interval.ms"),
                )
            ],
            "validate_only": True,
        },
    ),
    *requests_of(
        "AlterReplicaLogDirs",
        (1, 2),
        only={"dirs": [{"path": "/no/log/dir", "topics": _each(NAMES, partitions=_PARTITION)}]},
    ),
    *requests_of("DescribeLogDirs", (1, 2, 4), only={"topics": _each(NAMES, "topic", partitions=_PARTITION)}),
    *requests_of(
        "ElectLeaders",
        (0, 1, 2),
        only={"topic_partitions": _each(NAMES, "topic", partitions=_PARTITION), "timeout_ms": TIMEOUT_MS},
    ),
    *requests_of(
        "AlterPartitionReassignments",
        (0, 1),
        only={
            "topics": _each(NAMES, partitions=[{"partition_index": 0, "replicas": None}]),
            "timeout_ms": TIMEOUT_MS,
        },
    ),
    *requests_of(
        "ListPartitionReassignments",
        (0,),
        only={"topics": _each(NAMES, partition_indexes=_PARTITION), "timeout_ms": TIMEOUT_MS},
        of_all_topics={"topics": None, "timeout_ms": TIMEOUT_MS},
    ),
]
