"""The broker of a scenario, as the engine steers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ...protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ..clients.client import EVENT_HEADER
from ..clients.raw_connection import RawConnection
from ..report.cached_windows import Remembered
from ..report.seen_requests import SeenRequest

# How a verdict knows an event again, whoever sends it.
EVENT_ID = f"header:{EVENT_HEADER}"
# The longest that a rule may take to hit.
AWAIT_MS_MAX = 15_000
CREATE_TOPICS_VERSION = 7
# The last version that names topics instead of numbering them.
DELETE_TOPICS_VERSION = 5


class StageFailed(Exception):
    """The broker did not do what it was told; the message is one line."""


class Stage(Protocol):
    """A running broker."""

    @property
    def bootstrap_servers(self) -> str:
        """Its address."""
        ...

    def arm(self, rule: Mapping[str, Any]) -> int:
        """Arm a rule in the words of the admin API; return its id."""
        ...

    def await_hits(self, rule_id: int, hits: int, timeout_ms: int = AWAIT_MS_MAX) -> None:
        """Return when the rule has hit so often. Raises StageFailed."""
        ...

    def lift(self, rule_id: int) -> None:
        """Take a rule back."""
        ...

    def release_held(self) -> None:
        """Let all requests that are held go on, in the order in which they came."""
        ...

    def journal(self) -> list[SeenRequest]:
        """Return what the broker saw, oldest first."""
        ...

    def verdict(self, topic: str) -> dict[str, Any]:
        """Return the verdict, as the admin API has it."""
        ...

    def remembered(self, topic: str) -> Remembered:
        """Return the cached batches of all producers."""
        ...

    def advance(self, ms: int) -> None:
        """Move the broker's clock on."""
        ...

    def evict_cache(self, topic: str, partition: int, producer_id: int) -> None:
        """Forget the cached batches of a producer."""
        ...

    def forget_producer(self, topic: str, partition: int, producer_id: int) -> None:
        """Forget a producer."""
        ...

    def kill(self, topic: str, torn_bytes: int) -> None:
        """Kill the broker, leave so many bytes of a batch at the end of the log of partition 0, and start again."""
        ...

    def close(self) -> None:
        """Stop the broker, and leave nothing behind."""
        ...


def create_topic(address: str, name: str, partitions: int, configs: Mapping[str, str]) -> None:
    """Create a topic. Raises StageFailed."""
    connection = RawConnection(address)
    try:
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=AWAIT_MS_MAX)
        answer = connection.ask(ApiKey.CREATE_TOPICS, CREATE_TOPICS_VERSION, request, CreateTopicsResponse.read)
    finally:
        connection.close()
    code = answer.topics[0].error_code
    if code:
        raise StageFailed(f"the topic {name} cannot be created: {ErrorCode(code).name}")


def delete_topic(address: str, name: str) -> None:
    """Delete a topic. Raises StageFailed."""
    connection = RawConnection(address)
    try:
        request = DeleteTopicsRequest(topic_names=[name], timeout_ms=AWAIT_MS_MAX)
        answer = connection.ask(ApiKey.DELETE_TOPICS, DELETE_TOPICS_VERSION, request, DeleteTopicsResponse.read)
    finally:
        connection.close()
    code = answer.responses[0].error_code
    if code:
        raise StageFailed(f"the topic {name} cannot be deleted: {ErrorCode(code).name}")
