"""DeleteTopics (20), versions 0-6.

v4 flexible; v5 error_message; v6 topic ids.
Source: ControllerApis.deleteTopics, Kafka 4.3.0; tests/golden/topics-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.error_messages import ERROR_MESSAGES
from ....protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ....protocol.primitives import ZERO_UUID
from ...requests.mutation_quota import RecordMutations, allow_mutations, record_mutations
from ...requests.permissions import may_describe_topic, permits, permits_on_cluster
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import for_each, step

BY_ID_SINCE = 6
DELETION_DISABLED_SINCE = 3
# Earlier versions are served also above the client's quota of mutations.
STRICT_SINCE = 5


async def handle(context: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    """Delete each topic that appears once, by name or by id."""
    if context.api_version >= BY_ID_SINCE:
        states = request.topics
    else:
        states = await for_each(lambda name: DeleteTopicState(name=name), request.topic_names)
    if not context.node.config.delete_topic_enable and context.api_version < DELETION_DISABLED_SINCE:
        return await _refuse_all(states, KafkaError(ErrorCode.INVALID_REQUEST))
    record = partial(record_mutations, context, strict_since=STRICT_SINCE)
    if context.node.authorizer is None or permits_on_cluster(context, AclOperation.DELETE):
        return await delete_topics(context.node, states, record, timeout_ms=request.timeout_ms)
    errors = await for_each(partial(_find_denial, context), states)
    allowed = [state for state, denied in zip(states, errors, strict=True) if denied is None]
    response = await delete_topics(context.node, allowed, record, timeout_ms=request.timeout_ms)
    response.responses += [denied for denied in errors if denied is not None]
    return response


def _find_denial(context: RequestContext, state: DeleteTopicState) -> DeletableTopicResult | None:
    """Return the error of a topic that the client may not delete, or None.

    The error of an id has the name of the topic only if the client may describe it. A name that does not exist is not
    denied to a client that may describe it.
    """
    image = context.node.image
    name = state.name if state.name is not None else image.topic_name_of(state.topic_id)
    if name is None:
        return None
    may_describe = may_describe_topic(context, name)
    if may_describe and image.find_topic(name) is None:
        return None
    may_delete = permits(context, AclOperation.DELETE, ResourceType.TOPIC, name)
    if may_delete and (may_describe or state.name is None):
        return None
    error = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, ERROR_MESSAGES[ErrorCode.TOPIC_AUTHORIZATION_FAILED])
    return _error_result(DeleteTopicState(name=name if may_describe else state.name, topic_id=state.topic_id), error)


async def delete_topics(
    node: NodeServices,
    states: Sequence[DeleteTopicState],
    record: RecordMutations = allow_mutations,
    *,
    timeout_ms: int,
) -> DeleteTopicsResponse:
    """Delete each topic that appears once, by name or by id. The admin API calls it too.

    record: called with the partitions of each; raises KafkaError for a topic that a quota does not allow.
    """
    if not node.config.delete_topic_enable:
        return await _refuse_all(states, KafkaError(ErrorCode.TOPIC_DELETION_DISABLED))
    if timeout_ms <= 0 and states:
        # Kafka's controller checks the timeout before it starts.
        return await _refuse_all(states, KafkaError(ErrorCode.REQUEST_TIMED_OUT))
    results = await Deletion(node, record).delete(states)
    storage_error = await node.controller.saved()
    if storage_error is not None:
        for result in results:
            if not result.error_code:
                result.error_code, result.error_message = storage_error.code, storage_error.message
    return DeleteTopicsResponse(responses=results)


async def _refuse_all(states: Sequence[DeleteTopicState], error: KafkaError) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(responses=await for_each(lambda state: _error_result(state, error), states))


class Deletion:
    """Deletes the topics of one request; refuses invalid and duplicate names and ids."""

    def __init__(self, node: NodeServices, record: RecordMutations = allow_mutations) -> None:
        """Begin without results. record: see delete_topics."""
        self._node = node
        self._record = record
        self._results: list[DeletableTopicResult] = []

    async def delete(self, states: Sequence[DeleteTopicState]) -> list[DeletableTopicResult]:
        """Delete the topics, one a step. Return a result for each name and id."""
        accepted = await self._named_once(states)
        accepted = await self._without_names_of_ids(accepted)
        return self._results + await for_each(self._delete, accepted)

    async def _named_once(self, states: Sequence[DeleteTopicState]) -> list[DeleteTopicState]:
        counts = Counter[tuple[str | None, bytes]]()
        for state in states:
            if state.name is not None and state.topic_id != ZERO_UUID:
                self._refuse(state, "You may not specify both topic name and topic id.")
            elif state.name is None and state.topic_id == ZERO_UUID:
                self._refuse(state, "Neither topic name nor id were specified.")
            else:
                counts[state.name, state.topic_id] += 1
            await step()
        accepted: list[DeleteTopicState] = []
        for (name, topic_id), count in counts.items():
            state = DeleteTopicState(name=name, topic_id=topic_id)
            if count > 1:
                self._refuse(state, f"Duplicate topic {'id' if name is None else 'name'}.")
            else:
                accepted.append(state)
            await step()
        return accepted

    async def _without_names_of_ids(self, states: list[DeleteTopicState]) -> list[DeleteTopicState]:
        """Refuse the topics that are named both by name and by id."""
        ids = {state.topic_id for state in states if state.name is None}
        await step()
        named_twice: dict[str, bytes] = {}
        for state in states:
            topic = None if state.name is None else self._node.image.find_topic(state.name)
            if topic is not None and topic.topic_id in ids:
                both = DeleteTopicState(name=topic.name, topic_id=topic.topic_id)
                self._refuse(both, "The provided topic name maps to an ID that was already supplied.")
                named_twice[topic.name] = topic.topic_id
            await step()
        refused_ids = set(named_twice.values())
        return [each for each in states if each.name not in named_twice and each.topic_id not in refused_ids]

    def _refuse(self, state: DeleteTopicState, message: str) -> None:
        self._results.append(_error_result(state, KafkaError(ErrorCode.INVALID_REQUEST, message)))

    def _delete(self, state: DeleteTopicState) -> DeletableTopicResult:
        if state.name is None:
            topic = self._node.image.find_topic_by_id(state.topic_id)
            unknown = KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
        else:
            topic = self._node.image.find_topic(state.name)
            message = "This server does not host this topic-partition."
            unknown = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        if topic is None:
            return _error_result(state, unknown)
        try:
            self._record(len(topic.partitions))
        except KafkaError as error:
            return _error_result(DeleteTopicState(name=topic.name, topic_id=topic.topic_id), error)
        self._node.controller.delete_topics([topic])
        return DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)


def _error_result(state: DeleteTopicState, error: KafkaError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=state.name, topic_id=state.topic_id, error_code=error.code, error_message=error.message or None
    )
