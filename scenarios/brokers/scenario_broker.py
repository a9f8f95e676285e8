"""The broker of a scenario, as the engine steers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol

from ...admin.operations.clock_operations import Members
from ...broker.config.config_resources import OpType, ResourceType
from ...broker.security.tls.listener_tls import CertificateKind
from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ...protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ...protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ..clients.client import EVENT_HEADER
from ..clients.login import Login
from ..clients.raw_connection import RawConnection
from ..report.cached_batches import CachedSequences
from ..report.journal_requests import JournalRequest

# The event id for verdicts.
EVENT_ID = f"header:{EVENT_HEADER}"
# The maximum wait for the hits of a rule.
AWAIT_MS_MAX = 15_000
CREATE_TOPICS_VERSION = 7
ALTER_CONFIGS_VERSION = 1
ONLY_NODE = "1"
# The last version with topic names instead of topic ids.
DELETE_TOPICS_VERSION = 5


class BrokerFailed(Exception):
    """The broker failed or refused a request; the message is one line."""


class ScenarioBroker(Protocol):
    """A running broker."""

    @property
    def bootstrap_servers(self) -> str:
        """The address, "host:port"; of several nodes all, joined by commas."""
        ...

    @property
    def client_servers(self) -> str:
        """The address for the clients of the scenario: that of the listener with TLS or SASL if there is one."""
        ...

    @property
    def login(self) -> Login | None:
        """How the clients of the scenario authenticate; None for no authentication."""
        ...

    @property
    def ca(self) -> str | None:
        """The file of the authority that the clients trust; None without TLS."""
        ...

    def arm(self, rule: Mapping[str, Any]) -> int:
        """Arm a rule in the JSON format of the admin API, and return its id."""
        ...

    def await_hits(self, rule_id: int, hits: int, timeout_ms: int = AWAIT_MS_MAX) -> None:
        """Wait until the rule has this number of hits. Raises BrokerFailed."""
        ...

    def remove_rule(self, rule_id: int) -> None:
        """Remove a rule."""
        ...

    def release_held(self) -> None:
        """Release all held requests, in the order of their arrival."""
        ...

    def journal(self) -> list[JournalRequest]:
        """Return the requests in the journal, oldest first."""
        ...

    def verdict(self, topic: str) -> dict[str, Any]:
        """Return the verdict on a topic in the JSON format of the admin API."""
        ...

    def cached_sequences(self, topic: str) -> CachedSequences:
        """Return the cached batches of all producers."""
        ...

    def group_verdict(self, group: str) -> dict[str, Any]:
        """Return the verdict on a group in the JSON format of the admin API."""
        ...

    def report_processed(self, topic: str, group: str, events: Sequence[str]) -> None:
        """Report events as processed by a group."""
        ...

    def advance(self, ms: int, members: Members) -> None:
        """Advance the broker's clock. members: as in POST /v1/clock."""
        ...

    def evict_cache(self, topic: str, partition: int, producer_id: int) -> None:
        """Drop the cached batches of a producer."""
        ...

    def forget_producer(self, topic: str, partition: int, producer_id: int) -> None:
        """Remove the state of a producer."""
        ...

    def set_quota(self, client_id: str, key: str, value: float) -> None:
        """Set a quota of a client id."""
        ...

    def delete_quotas(self) -> None:
        """Delete all client quotas."""
        ...

    def kill(self, topic: str, torn_bytes: int) -> None:
        """Kill the broker, append torn_bytes of a batch to the log of partition 0, and restart."""
        ...

    def grant(self, operation: str, topic: str) -> None:
        """Allow the user of the scenario an operation on a topic, by an ACL."""
        ...

    def revoke(self, operation: str, topic: str) -> None:
        """Delete the ACL."""
        ...

    def present(self, kind: CertificateKind) -> None:
        """Present another certificate in new handshakes. Raises BrokerFailed without TLS."""
        ...

    def close(self) -> None:
        """Stop the broker and delete its files."""
        ...


def create_topic(bootstrap_servers: str, name: str, partitions: int, configs: Mapping[str, str]) -> None:
    """Create a topic; of several nodes each has a replica, and the first one leads. Raises BrokerFailed."""
    addresses = bootstrap_servers.split(",")
    node_ids = list(range(1, len(addresses) + 1))
    connection = RawConnection(addresses[0])
    try:
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=each, broker_ids=node_ids) for each in range(partitions)
            ],
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=AWAIT_MS_MAX)
        answer = connection.send_and_receive(
            ApiKey.CREATE_TOPICS, CREATE_TOPICS_VERSION, request, CreateTopicsResponse.read
        )
    finally:
        connection.close()
    code = answer.topics[0].error_code
    if code:
        raise BrokerFailed(f"the topic {name} cannot be created: {ErrorCode(code).name}")


def alter_config(address: str, key: str, value: str) -> None:
    """Change a config of the node while it runs. Raises BrokerFailed."""
    config = AlterableConfig(name=key, config_operation=OpType.SET, value=value)
    resource = AlterConfigsResource(resource_type=ResourceType.BROKER, resource_name=ONLY_NODE, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    with closing(RawConnection(address)) as connection:
        answer = connection.send_and_receive(
            ApiKey.INCREMENTAL_ALTER_CONFIGS, ALTER_CONFIGS_VERSION, request, IncrementalAlterConfigsResponse.read
        )
    code = answer.responses[0].error_code
    if code:
        raise BrokerFailed(f"the config {key} cannot be changed: {ErrorCode(code).name}")


def delete_topic(address: str, name: str) -> None:
    """Delete a topic. Raises BrokerFailed."""
    connection = RawConnection(address)
    try:
        request = DeleteTopicsRequest(topic_names=[name], timeout_ms=AWAIT_MS_MAX)
        answer = connection.send_and_receive(
            ApiKey.DELETE_TOPICS, DELETE_TOPICS_VERSION, request, DeleteTopicsResponse.read
        )
    finally:
        connection.close()
    code = answer.responses[0].error_code
    if code:
        raise BrokerFailed(f"the topic {name} cannot be deleted: {ErrorCode(code).name}")
