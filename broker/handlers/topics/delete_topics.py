"""DeleteTopics (20), versions 1-6.

v4 flexible; v5 error_message; v6 topic ids.
Source: ControllerApis.deleteTopics, Kafka 4.3.0; tests/golden/topics-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ....protocol.primitives import ZERO_UUID
from ...requests.request_context import ApiHandler, NodeServices, RequestContext
from ...runtime.deferred import Deferred

BY_ID_SINCE = 6
DELETION_DISABLED_SINCE = 3


def handle(
    context: RequestContext, request: DeleteTopicsRequest
) -> DeleteTopicsResponse | Deferred[DeleteTopicsResponse]:
    """Delete each topic that appears once, by name or by id."""
    if context.api_version >= BY_ID_SINCE:
        states = request.topics
    else:
        states = [DeleteTopicState(name=name) for name in request.topic_names]
    if not context.node.config.delete_topic_enable:
        has_code = context.api_version >= DELETION_DISABLED_SINCE
        code = ErrorCode.TOPIC_DELETION_DISABLED if has_code else ErrorCode.INVALID_REQUEST
        return DeleteTopicsResponse(responses=[_error_result(state, KafkaError(code)) for state in states])
    if request.timeout_ms <= 0 and states:
        # Kafka's controller checks the timeout before it starts.
        return DeleteTopicsResponse(
            responses=[_error_result(state, KafkaError(ErrorCode.REQUEST_TIMED_OUT)) for state in states]
        )
    results = Deletion(context.node, states).results()
    return context.node.controller.when_saved(lambda error: _response(results, error))


def _response(results: list[DeletableTopicResult], error: KafkaError | None) -> DeleteTopicsResponse:
    """Return the response. error: why the metadata could not be saved; it replaces every success."""
    for result in results:
        if error is not None and not result.error_code:
            result.error_code, result.error_message = error.code, error.message
    return DeleteTopicsResponse(responses=results)


class Deletion:
    """Deletes the topics of one request; refuses invalid and duplicate names and ids."""

    def __init__(self, node: NodeServices, states: Sequence[DeleteTopicState]) -> None:
        """Refuse invalid and duplicate states. Nothing is deleted yet."""
        self._node = node
        self._results: list[DeletableTopicResult] = []
        self._accepted: list[DeleteTopicState] = []
        for name, topic_id in self._named_once(states):
            self._accepted.append(DeleteTopicState(name=name, topic_id=topic_id))

    def results(self) -> list[DeletableTopicResult]:
        """Delete the accepted topics. Return a result for each name and id."""
        self._refuse_names_of_ids()
        return self._results + [self._delete(state) for state in self._accepted]

    def _named_once(self, states: Sequence[DeleteTopicState]) -> Iterable[tuple[str | None, bytes]]:
        counts = Counter[tuple[str | None, bytes]]()
        for state in states:
            if state.name is not None and state.topic_id != ZERO_UUID:
                self._refuse(state, "You may not specify both topic name and topic id.")
            elif state.name is None and state.topic_id == ZERO_UUID:
                self._refuse(state, "Neither topic name nor id were specified.")
            else:
                counts[state.name, state.topic_id] += 1
        for (name, topic_id), count in counts.items():
            if count > 1:
                what = "id" if name is None else "name"
                self._refuse(DeleteTopicState(name=name, topic_id=topic_id), f"Duplicate topic {what}.")
            else:
                yield name, topic_id

    def _refuse_names_of_ids(self) -> None:
        ids = {state.topic_id for state in self._accepted if state.name is None}
        for state in [state for state in self._accepted if state.name is not None]:
            topic = self._node.image.find_topic(state.name or "")
            if topic is not None and topic.topic_id in ids:
                both = DeleteTopicState(name=topic.name, topic_id=topic.topic_id)
                self._refuse(both, "The provided topic name maps to an ID that was already supplied.")
                self._accepted.remove(state)
                self._accepted.remove(DeleteTopicState(topic_id=topic.topic_id))

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
        self._node.controller.delete_topics([topic])
        return DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)


def _error_result(state: DeleteTopicState, error: KafkaError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=state.name, topic_id=state.topic_id, error_code=error.code, error_message=error.message or None
    )


HANDLER = ApiHandler(DeleteTopicsRequest.read, handle)
