"""CreatePartitions (37), versions 0-3.

v2 flexible.
Source: ControllerApis.createPartitions and ReplicationControlManager.createPartitions, Kafka 4.3.0;
tests/golden/topics-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ...metadata.controller import new_partition
from ...metadata.metadata_image import TopicImage
from ...metadata.topic_validation import PARTITIONS_PER_REQUEST_MAX, assignment_error, check_assignment
from ...requests.mutation_quota import record_mutations
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, step

# Earlier versions are served also above the client's quota of mutations.
STRICT_SINCE = 3


@dataclass(frozen=True, slots=True)
class AddedPartitions:
    """The partitions that a request has added to a topic: those from first_index to before total."""

    topic: TopicImage
    first_index: int
    total: int


async def handle(context: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    """Add partitions to each topic."""
    if request.timeout_ms <= 0:
        # Kafka's controller checks the timeout before it starts.
        timed_out = KafkaError(ErrorCode.REQUEST_TIMED_OUT)
        refused = await for_each(lambda topic: _result(topic.name, timed_out), request.topics)
        return CreatePartitionsResponse(results=refused)
    counts = Counter(topic.name for topic in request.topics)
    duplicate = KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    results = [_result(name, duplicate) for name, count in counts.items() if count > 1]
    added: list[AddedPartitions] = []
    for requested in request.topics:
        if counts[requested.name] == 1:
            error = _add_partitions(context, requested, added, validate_only=request.validate_only)
            results.append(_result(requested.name, error))
        await step()
    return _response(context.node, results, added, await context.node.controller.saved())


def _response(
    node: NodeServices,
    results: list[CreatePartitionsTopicResult],
    added: Iterable[AddedPartitions],
    error: KafkaError | None,
) -> CreatePartitionsResponse:
    """Return the response. error: why the metadata could not be saved; no partition of the request exists then."""
    if error is not None:
        for each in added:
            # A later request may have deleted the topic, or added further partitions, which are saved or taken back.
            if len(each.topic.partitions) == each.total and node.controller.image.find_topic_by_id(each.topic.topic_id):
                node.controller.take_back_partitions(each.topic, each.first_index)
        results = [each if each.error_code else _result(each.name, error) for each in results]
    return CreatePartitionsResponse(results=results)


def _add_partitions(
    context: RequestContext, requested: CreatePartitionsTopic, added: list[AddedPartitions], *, validate_only: bool
) -> KafkaError | None:
    """Add the partitions, and note them in added. Return the error, if there is one."""
    node = context.node
    try:
        topic = _checked_topic(node, requested)
        first_index = len(topic.partitions)
        record_mutations(context, requested.count - len(topic.partitions), strict_since=STRICT_SINCE)
        if not validate_only:
            given = requested.assignments
            assignments = None if given is None else [assignment.broker_ids for assignment in given]
            node.controller.create_partitions(topic, requested.count, assignments=assignments)
            added.append(AddedPartitions(topic, first_index, requested.count))
    except KafkaError as error:
        return error
    return None


def _checked_topic(node: NodeServices, requested: CreatePartitionsTopic) -> TopicImage:
    topic = node.image.find_topic(requested.name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    present = len(topic.partitions)
    if requested.count == present:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if requested.count < present:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {requested.name} currently has {present} partition(s); "
            f"{requested.count} would not be an increase.",
        )
    additional = requested.count - present
    if requested.assignments is not None:
        _check_assignments(node, requested, topic)
    if additional > PARTITIONS_PER_REQUEST_MAX:
        # Kafka's controller fails, because the records exceed its limit for one batch.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return topic


def _check_assignments(node: NodeServices, requested: CreatePartitionsTopic, topic: TopicImage) -> None:
    assignments, present = requested.assignments or [], len(topic.partitions)
    additional = requested.count - present
    if len(assignments) != additional:
        raise assignment_error(
            f"Attempted to add {additional} additional partition(s), but only {len(assignments)} assignment(s) "
            "were specified."
        )
    brokers = {broker.node_id for broker in node.image.brokers}
    for index, assignment in enumerate(assignments, start=present):
        check_assignment(assignment.broker_ids, brokers, len(topic.partitions[0].replicas))
        new_partition(index, assignment.broker_ids, brokers - node.image.online_brokers())


def _result(name: str, error: KafkaError | None) -> CreatePartitionsTopicResult:
    if error is None:
        return CreatePartitionsTopicResult(name=name)
    return CreatePartitionsTopicResult(name=name, error_code=error.code, error_message=error.message or None)
