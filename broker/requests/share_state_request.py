"""Handles the partitions of a request for the states of share groups, for the handlers of the five APIs.

A request without a group id, without topics, or with a topic without partitions is not handled: its response is empty.
Source: ShareCoordinatorService, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.error_messages import ERROR_MESSAGES
from ...protocol.stored_records.share_state_records import ShareKey
from ..runtime.deferred import Deferred
from ..runtime.long_work import all_complete, step
from .request_context import RequestContext


class _Partition(Protocol):
    """A partition of a request."""

    @property
    def partition(self) -> int: ...


P = TypeVar("P", bound=_Partition)
P_co = TypeVar("P_co", bound=_Partition, covariant=True)
Result = TypeVar("Result")
Response = TypeVar("Response")


class _Topic(Protocol[P_co]):
    """A topic of a request."""

    @property
    def topic_id(self) -> bytes: ...

    @property
    def partitions(self) -> Sequence[P_co]: ...


# The results of each topic by partition. The last one of a partition that is named twice counts.
Results = dict[bytes, dict[int, Result]]


class StateRequest(Generic[P, Result, Response]):
    """One request for states.

    name: what the request does, in Kafka's messages. apply: handles a partition, raises KafkaError. fail: returns the
    result of a partition with an error. respond: returns the response.
    """

    __slots__ = ("_apply", "_context", "_fail", "_name", "_respond")

    def __init__(
        self,
        context: RequestContext,
        name: str,
        *,
        apply: Callable[[ShareKey, P], Result],
        fail: Callable[[int, KafkaError], Result],
        respond: Callable[[Results[Result]], Response],
    ) -> None:
        """Keep what differs between the APIs; see the class."""
        self._context = context
        self._name = name
        self._apply = apply
        self._fail = fail
        self._respond = respond

    async def handle(self, group_id: str, topics: Sequence[_Topic[P]]) -> Response:
        """Handle each partition, and return the response when what was written is durable."""
        partitions_of_node = self._context.node.coordinators.share_partitions
        results: Results[Result] = {}
        flushes: list[Deferred[ErrorCode]] = []
        for topic in topics if group_id else ():
            for partition in topic.partitions:
                key = ShareKey(group_id, topic.topic_id, partition.partition)
                results.setdefault(topic.topic_id, {})[partition.partition] = self._result(key, partition)
                flushes.append(partitions_of_node.flushed())
                await step()
        flush_error = max(await all_complete(flushes), default=ErrorCode.NONE)
        if not flush_error:
            return self._respond(results)
        error = self._coordinator_error(KafkaError(flush_error, ERROR_MESSAGES[flush_error]))
        return self._respond(
            {
                topic_id: {index: self._fail(index, error) for index in partitions}
                for topic_id, partitions in results.items()
            }
        )

    def _result(self, key: ShareKey, partition: P) -> Result:
        try:
            return self._apply(key, partition)
        except KafkaError as error:
            return self._fail(key.partition, self._coordinator_error(error))

    def _coordinator_error(self, error: KafkaError) -> KafkaError:
        """Return the error. That of a coordinator that cannot handle the request names the API."""
        if error.code not in _COORDINATOR_ERRORS:
            return error
        return KafkaError(error.code, f"Unable to {self._name}: {ERROR_MESSAGES[error.code]}")


_COORDINATOR_ERRORS = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)


def are_whole(topics: Sequence[_Topic[P_co]]) -> bool:
    """Whether each topic has partitions."""
    return all(topic.partitions for topic in topics)
