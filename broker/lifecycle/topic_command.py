"""The kafka-topics command: lists, creates, describes, alters and deletes topics, with the output of Kafka's command.

Compose files call it in health checks, and in containers that create topics and end. It waits for the broker, because
such a container may start first. Source: org.apache.kafka.tools.TopicCommand, Kafka 4.3.0.
"""

from __future__ import annotations

import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ... import ConfigError
from ...client.bootstrap import connect_to_first
from ...client.broker_connection import BrokerConnection
from ...client.client_security import ClientSecurity
from ...client.errors import BrokerError, ConnectionFailed
from ...client.security_properties import parse_client_security
from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from ...protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ...protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ...protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from ...protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from ...protocol.messages.metadata import MetadataRequest, MetadataResponse

DEFAULT_PORT = 9092
# default.api.timeout.ms of Kafka's admin client: how long the command waits for a broker.
WAIT_SECONDS_MAX = 60.0
RETRY_SECONDS = 0.2
REQUEST_TIMEOUT_SECONDS = 30.0
# Far beyond the largest description: a topic with 100,000 partitions has 4 MB.
RESPONSE_BYTES_MAX = 100 * 1024 * 1024
TOPIC_RESOURCE = 2
# An int16 of CreateTopics.
REPLICATION_FACTOR_MAX = 32767
# ConfigSource.DEFAULT_CONFIG.
DEFAULT_SOURCE = 5
# The versions of Kafka 3.5 and newer; the last version of DeleteTopics with a plain list of names.
METADATA, CREATE_TOPICS, DELETE_TOPICS, CREATE_PARTITIONS, DESCRIBE_CONFIGS, DESCRIBE_PARTITIONS = 12, 7, 5, 3, 4, 0
# How Kafka's messages begin.
FAILED = "Error while executing topic command :"
COLLIDING_NAME = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)


class TopicCommandError(Exception):
    """The command failed. The message is Kafka's, one line."""


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """The options of kafka-topics.

    topic: a name for create, else a regular expression that matches whole names; None for all.
    partitions, replication_factor: None for the broker's defaults.
    """

    topic: str | None = None
    partitions: int | None = None
    replication_factor: int | None = None
    configs: Sequence[tuple[str, str]] = field(default_factory=tuple)
    if_exists: bool = False
    if_not_exists: bool = False
    exclude_internal: bool = False


def run(
    action: str, bootstrap: str, options: TopicOptions, report: Callable[[str], object], properties: Mapping[str, str]
) -> None:
    """Perform list, create, describe, alter or delete. report takes each line of the output.

    bootstrap: "host:port,host:port". properties: of the client, with its security. Raises TopicCommandError.
    """
    try:
        security = parse_client_security(properties)
    except ConfigError as error:
        raise TopicCommandError(str(error)) from error
    try:
        with connect(bootstrap, security) as connection:
            for line in ACTIONS[action](connection, options):
                report(line)
    except BrokerError as error:
        raise TopicCommandError(f"{FAILED} {error}") from error


def connect(bootstrap: str, security: ClientSecurity) -> BrokerConnection:
    """Return a connection to the first broker that accepts one. Waits for a broker that cannot be reached yet.

    Raises ConnectionFailed, AuthenticationFailed, TopicCommandError.
    """
    addresses = [parse_address(each) for each in bootstrap.split(",") if each.strip()]
    if not addresses:
        raise TopicCommandError("--bootstrap-server: expected HOST:PORT, got nothing")
    open_connection = partial(
        BrokerConnection,
        timeout_seconds=REQUEST_TIMEOUT_SECONDS,
        response_bytes_max=RESPONSE_BYTES_MAX,
        security=security,
    )
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        try:
            return connect_to_first(addresses, open_connection)
        except ConnectionFailed:
            if time.monotonic() > deadline:
                raise
        time.sleep(RETRY_SECONDS)


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port. Raises TopicCommandError."""
    host, separator, port = text.strip().rpartition(":")
    if not separator:
        host, port = port, str(DEFAULT_PORT)
    if not host or not port.isdecimal() or int(port) > 65535:
        raise TopicCommandError(f"--bootstrap-server: expected HOST:PORT, got {text.strip()!r}")
    return host.strip("[]"), int(port)


def list_topics(connection: BrokerConnection, options: TopicOptions) -> Iterator[str]:
    """Return the matching names, sorted."""
    yield from find_names(connection, options)


def create_topic(connection: BrokerConnection, options: TopicOptions) -> Iterator[str]:
    """Create a topic. With if_not_exists, a topic that exists is no error."""
    name = topic_of(options)
    if options.replication_factor is not None and not 1 <= options.replication_factor <= REPLICATION_FACTOR_MAX:
        raise TopicCommandError(
            f"{FAILED} The replication factor must be between 1 and {REPLICATION_FACTOR_MAX} inclusive"
        )
    if options.partitions is not None and options.partitions < 1:
        raise TopicCommandError(f"{FAILED} The partitions must be greater than 0")
    if "." in name or "_" in name:
        yield COLLIDING_NAME
    topic = CreatableTopic(
        name=name,
        num_partitions=-1 if options.partitions is None else options.partitions,
        replication_factor=-1 if options.replication_factor is None else options.replication_factor,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in options.configs],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1000))
    response = connection.send_request(ApiKey.CREATE_TOPICS, CREATE_TOPICS, request, CreateTopicsResponse.read)
    (created,) = response.topics
    if created.error_code == ErrorCode.TOPIC_ALREADY_EXISTS and options.if_not_exists:
        return
    check(created.error_code, created.error_message)
    yield f"Created topic {name}."


def describe_topics(connection: BrokerConnection, options: TopicOptions) -> Iterator[str]:
    """Return a line for each matching topic, and one for each of its partitions."""
    for name in find_existing(connection, options):
        topic = describe_partitions(connection, name)
        check(topic.error_code, None)
        configs = ",".join(f"{key}={value}" for key, value in changed_configs(connection, name))
        topic_id = urlsafe_b64encode(topic.topic_id).decode().rstrip("=")
        replicas = len(topic.partitions[0].replica_nodes) if topic.partitions else 0
        yield (
            f"Topic: {name}\tTopicId: {topic_id}\tPartitionCount: {len(topic.partitions)}\t"
            f"ReplicationFactor: {replicas}\tConfigs: {configs}"
        )
        for each in topic.partitions:
            yield (
                f"\tTopic: {name}\tPartition: {each.partition_index}\tLeader: {leader_text(each.leader_id)}\t"
                f"Replicas: {ids_text(each.replica_nodes)}\tIsr: {ids_text(each.isr_nodes)}\t"
                f"Elr: {ids_text(each.eligible_leader_replicas)}\tLastKnownElr: {ids_text(each.last_known_elr)}"
            )


def alter_topics(connection: BrokerConnection, options: TopicOptions) -> Iterator[str]:
    """Add partitions to the matching topics."""
    if options.partitions is None:
        raise TopicCommandError('Missing required argument "[partitions]"')
    topics = [
        CreatePartitionsTopic(name=name, count=options.partitions, assignments=None)
        for name in find_existing(connection, options)
    ]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1000))
    response = connection.send_request(
        ApiKey.CREATE_PARTITIONS, CREATE_PARTITIONS, request, CreatePartitionsResponse.read
    )
    for result in response.results:
        check(result.error_code, result.error_message)
    yield from ()


def delete_topics(connection: BrokerConnection, options: TopicOptions) -> Iterator[str]:
    """Delete the matching topics."""
    topic_of(options)
    names = find_existing(connection, options)
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1000))
    response = connection.send_request(ApiKey.DELETE_TOPICS, DELETE_TOPICS, request, DeleteTopicsResponse.read)
    for result in response.responses:
        check(result.error_code, result.error_message)
    yield from ()


ACTIONS: dict[str, Callable[[BrokerConnection, TopicOptions], Iterator[str]]] = {
    "list": list_topics,
    "describe": describe_topics,
    "create": create_topic,
    "alter": alter_topics,
    "delete": delete_topics,
}


def topic_of(options: TopicOptions) -> str:
    """Return the topic that the action requires. Raises TopicCommandError."""
    if options.topic is None:
        raise TopicCommandError('Missing required argument "[topic]"')
    return options.topic


def find_names(connection: BrokerConnection, options: TopicOptions) -> list[str]:
    """Return the names that match, sorted. A comma separates alternatives. Raises TopicCommandError."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    response = connection.send_request(ApiKey.METADATA, METADATA, request, MetadataResponse.read)
    names = (topic.name or "" for topic in response.topics if not (options.exclude_internal and topic.is_internal))
    if options.topic is None:
        return sorted(names)
    try:
        expression = re.compile(options.topic.strip().replace(",", "|").replace(" ", ""))
    except re.error as error:
        raise TopicCommandError(f"{options.topic} is an invalid regex: {error}") from error
    return sorted(name for name in names if expression.fullmatch(name))


def find_existing(connection: BrokerConnection, options: TopicOptions) -> list[str]:
    """Return the names that match; none is an error if a topic was named, unless if_exists is set."""
    names = find_names(connection, options)
    if not names and options.topic is not None and not options.if_exists:
        raise TopicCommandError(f"{FAILED} Topic '{options.topic}' does not exist as expected")
    return names


def describe_partitions(connection: BrokerConnection, name: str) -> DescribeTopicPartitionsResponseTopic:
    """Return a topic with all its partitions, which the broker sends 2,000 at a time."""
    described: DescribeTopicPartitionsResponseTopic | None = None
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name)])
    while True:
        response = connection.send_request(
            ApiKey.DESCRIBE_TOPIC_PARTITIONS, DESCRIBE_PARTITIONS, request, DescribeTopicPartitionsResponse.read
        )
        (topic,) = response.topics
        if described is None:
            described = topic
        else:
            described.partitions += topic.partitions
        if response.next_cursor is None:
            return described
        request.cursor = response.next_cursor


def changed_configs(connection: BrokerConnection, name: str) -> list[tuple[str, str | None]]:
    """Return the configs of a topic that are not Kafka's defaults."""
    resource = DescribeConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=None)
    request = DescribeConfigsRequest(resources=[resource])
    response = connection.send_request(ApiKey.DESCRIBE_CONFIGS, DESCRIBE_CONFIGS, request, DescribeConfigsResponse.read)
    (result,) = response.results
    check(result.error_code, result.error_message)
    return [(entry.name, entry.value) for entry in result.configs if entry.config_source != DEFAULT_SOURCE]


def leader_text(leader_id: int) -> str:
    """Return the leader, or Kafka's word for none."""
    return str(leader_id) if leader_id >= 0 else "none"


def ids_text(ids: Sequence[int] | None) -> str:
    """Return broker ids as Kafka's command lists them; null, from an older broker, is "N/A"."""
    return "N/A" if ids is None else ",".join(map(str, ids))


def check(error_code: int, message: str | None) -> None:
    """Raise TopicCommandError for an error."""
    if error_code != ErrorCode.NONE:
        name = ErrorCode(error_code).name
        raise TopicCommandError(f"{FAILED} {message or name}")
