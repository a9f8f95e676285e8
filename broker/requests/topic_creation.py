"""Creation of topics by a request: CreateTopics, the admin API, and the internal topics of Kafka Streams.

Source: ControllerApis.createTopics and ReplicationControlManager.createTopics, Kafka 4.3.0;
tests/golden/topics-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.kafka_uuid import new_uuid
from ...protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ..config.config_types import ConfigError
from ..metadata.config_entries import effective_topic_configs
from ..metadata.replica_placement import check_replication_factor
from ..metadata.topic_config import validate_topic_configs
from ..metadata.topic_validation import (
    PARTITIONS_PER_REQUEST_MAX,
    assignment_error,
    check_assignment,
    collision_key_of,
    find_topic_name_error,
)
from ..runtime.long_work import for_each
from .mutation_quota import RecordMutations, allow_mutations
from .request_context import NodeServices

# Means the broker's default. Required with manual replica assignments.
NOT_GIVEN = -1
# The topic of Kafka's controllers.
CLUSTER_METADATA_TOPIC = "__cluster_metadata"


async def create_topics(
    node: NodeServices, request: CreateTopicsRequest, record: RecordMutations = allow_mutations
) -> CreateTopicsResponse:
    """Create each valid topic of the request, which may come from the admin API too.

    record: called with the partitions of each; raises KafkaError for a topic that a quota does not allow.
    """
    counts = Counter(topic.name for topic in request.topics)
    wanted = [topic for topic in request.topics if counts[topic.name] == 1 and topic.name != CLUSTER_METADATA_TOPIC]
    request_error = _find_request_error(node, request, wanted)
    if request_error is not None:
        refused = await for_each(lambda topic: _error_result(topic.name, request_error), request.topics)
        return CreateTopicsResponse(topics=refused)
    results = [_error_result(name, error) for name, error in _name_errors(counts)]
    results += await _create_all(node, wanted, record, validate_only=request.validate_only)
    return _response(node, results, await node.controller.saved())


def _response(
    node: NodeServices, results: list[CreatableTopicResult], error: KafkaError | None
) -> CreateTopicsResponse:
    """Return the response. error: why the metadata could not be saved; no topic of the request exists then."""
    if error is not None:
        image = node.controller.image
        created = [image.find_topic_by_id(each.topic_id) for each in results if not each.error_code]
        node.controller.delete_topics([topic for topic in created if topic is not None])
        results = [each if each.error_code else _error_result(each.name, error) for each in results]
    return CreateTopicsResponse(topics=results)


def _find_request_error(
    node: NodeServices, request: CreateTopicsRequest, wanted: list[CreatableTopic]
) -> KafkaError | None:
    """Return the error of the whole request, or None."""
    if not wanted:
        return None
    if request.timeout_ms <= 0:
        # Kafka's controller checks the timeout before it starts.
        return KafkaError(ErrorCode.REQUEST_TIMED_OUT)
    default = node.image.configs.current.num_partitions
    total = sum(
        len(topic.assignments) or (default if topic.num_partitions == NOT_GIVEN else max(topic.num_partitions, 0))
        for topic in wanted
    )
    if total > PARTITIONS_PER_REQUEST_MAX:
        return KafkaError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")
    return None


def _name_errors(counts: Counter[str]) -> Iterable[tuple[str, KafkaError]]:
    for name, count in counts.items():
        if count > 1:
            yield name, KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        elif name == CLUSTER_METADATA_TOPIC:
            yield name, KafkaError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited.")


async def _create_all(
    node: NodeServices, wanted: Iterable[CreatableTopic], record: RecordMutations, *, validate_only: bool
) -> list[CreatableTopicResult]:
    # Kafka checks collisions with existing topics only, not among the new names of a request.
    existing = {collision_key_of(name): name for name in sorted(node.image.topics, reverse=True)}
    create = partial(_create, node, existing, record, validate_only=validate_only)
    return await for_each(create, wanted)


def _create(
    node: NodeServices,
    existing: dict[str, str],
    record: RecordMutations,
    topic: CreatableTopic,
    *,
    validate_only: bool,
) -> CreatableTopicResult:
    """existing: the topics before the request, by collision key."""
    try:
        _check_name(node, topic.name, existing)
        configs = _checked_configs(node, topic)
        partition_count, factor, assignments = _checked_layout(node, topic)
        record(partition_count)
        if validate_only:
            topic_id = new_uuid()
        else:
            created = node.controller.create_topic(
                topic.name, partition_count, configs=configs, replication_factor=factor, assignments=assignments
            )
            topic_id = created.topic_id
    except KafkaError as error:
        return _error_result(topic.name, error)
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=partition_count,
        replication_factor=factor,
        configs=[
            CreatableTopicConfigs(name=name, value=text, config_source=source)
            for name, text, source in effective_topic_configs(node.image.configs.controller, configs)
        ],
    )


def _check_name(node: NodeServices, name: str, existing: dict[str, str]) -> None:
    reason = find_topic_name_error(name)
    if reason is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
    if node.image.find_topic(name) is not None:
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    other = existing.get(collision_key_of(name))
    if other is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}")


def _checked_configs(node: NodeServices, topic: CreatableTopic) -> dict[str, str]:
    """Return the validated configs of the topic; the last of several values of a key counts."""
    requested = {config.name: config.value for config in topic.configs}
    try:
        validate_topic_configs(node.image.configs.current, requested)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
    return {name: value for name, value in requested.items() if value is not None}


def _checked_layout(node: NodeServices, topic: CreatableTopic) -> tuple[int, int, list[list[int]] | None]:
    """Return the number of partitions, the replication factor, and the manual assignments if there are any."""
    if topic.assignments:
        assignments = _checked_assignments(node, topic)
        return len(assignments), len(assignments[0]), assignments
    if topic.replication_factor < NOT_GIVEN or topic.replication_factor == 0:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.num_partitions < NOT_GIVEN or topic.num_partitions == 0:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    factor = node.controller.replication_factor_of(topic.replication_factor)
    check_replication_factor(node.image.brokers, factor)
    default = node.image.configs.current.num_partitions
    return default if topic.num_partitions == NOT_GIVEN else topic.num_partitions, factor, None


def _checked_assignments(node: NodeServices, topic: CreatableTopic) -> list[list[int]]:
    """Return the replicas of each partition, in the order of the partitions."""
    for given, what in ((topic.replication_factor, "replication factor"), (topic.num_partitions, "numPartitions")):
        if given != NOT_GIVEN:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"A manual partition assignment was specified, but {what} was not set to -1."
            )
    brokers = {broker.node_id for broker in node.image.brokers}
    replicas_by_index: dict[int, list[int]] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in replicas_by_index:
            raise assignment_error(f"Found multiple manual partition assignments for partition {index}")
        check_assignment(assignment.broker_ids, brokers, factor)
        factor = len(assignment.broker_ids)
        replicas_by_index[index] = assignment.broker_ids
    if replicas_by_index.keys() != set(range(len(replicas_by_index))):
        raise assignment_error("partitions should be a consecutive 0-based integer sequence")
    return [replicas_by_index[index] for index in range(len(replicas_by_index))]


def _error_result(name: str, error: KafkaError) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message or None)
