"""The partitions of a cluster: their leaders, start offsets and end offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from ...client.bootstrap import Address, connect_to_first
from ...client.broker_connection import BrokerConnection
from ...client.errors import BrokerError, error_name
from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ...protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from .options import LogOptions

# Retries while leaders or coordinators move or a broker starts.
ATTEMPTS = 10
_RETRY_SECONDS = 0.3

_RETRIABLE_ERRORS = frozenset(
    {
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)

Offsets = dict[PartitionName, int]
Leaders = dict[PartitionName, Address]
Result = TypeVar("Result")


class RetriableError(BrokerError):
    """An error that a retry with current leaders can resolve."""


def retry(attempt: Callable[[], Result]) -> Result:
    """Call attempt until it does not raise RetriableError, ATTEMPTS times at most."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except RetriableError:
            time.sleep(_RETRY_SECONDS)
    return attempt()


def check_error(code: int, what: str) -> None:
    """Raise BrokerError or RetriableError for an error code other than 0. what: named in the message."""
    if code:
        kind = RetriableError if code in _RETRIABLE_ERRORS else BrokerError
        raise kind(f"{what}: {error_name(code)}")


def connect(options: LogOptions) -> BrokerConnection:
    """Return a connection to the first broker of the option bootstrap that responds.

    Raises BrokerError; AuthenticationFailed of the first broker that refuses the login.
    """

    def connect_and_ask(host: str, port: int) -> BrokerConnection:
        connection = connect_to((host, port), options)
        try:
            # Only a broker responds to it.
            connection.fetch_versions()
        except BaseException:
            connection.close()
            raise
        return connection

    return connect_to_first(options.bootstrap, connect_and_ask)


def connect_to(address: Address, options: LogOptions) -> BrokerConnection:
    """Return a connection to a broker of the cluster. Raises BrokerError."""
    return BrokerConnection(*address, timeout_seconds=options.timeout_ms / 1000, security=options.security)


def read_metadata(connection: BrokerConnection, topics: Iterable[str] | None) -> MetadataResponse:
    """Return the metadata of topics; None: of all. Raises BrokerError."""
    request = MetadataRequest(
        topics=None if topics is None else [MetadataRequestTopic(name=name) for name in sorted(topics)],
        allow_auto_topic_creation=False,
    )
    return connection.send(ApiKey.METADATA, request, MetadataResponse.read)


def find_leaders(options: LogOptions, topics: frozenset[str] | None) -> Leaders:
    """Return the leaders of all partitions of topics; None: of all topics that the options select.

    Raises BadOption for an unknown topic, and BrokerError.
    """
    with connect(options) as connection:
        response = read_metadata(connection, topics)
    brokers = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
    leaders: Leaders = {}
    for topic in response.topics:
        name = topic.name or ""
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise BadOption(f"topics: the broker {connection.address} has no topic {name}")
        check_error(topic.error_code, f"topic {name}")
        if topics is None and (not options.is_wanted(name) or topic.is_internal):
            continue
        for partition in topic.partitions:
            if partition.leader_id not in brokers:
                raise RetriableError(f"{name}-{partition.partition_index}: the partition has no leader")
            leaders[PartitionName(name, partition.partition_index)] = brokers[partition.leader_id]
    return leaders


def list_offsets(options: LogOptions, leaders: Leaders, timestamp: int) -> Offsets:
    """Return the start offsets (timestamp EARLIEST) or end offsets (LATEST) of partitions. Raises BrokerError.

    An end offset is the high watermark, or with read_committed the last stable offset. For any other timestamp the
    offset is that of the first record at or behind it, -1 without one in front of the end offset.
    """
    offsets: Offsets = {}
    for leader in sorted(set(leaders.values())):
        partitions: dict[str, list[ListOffsetsPartition]] = {}
        for name, address in leaders.items():
            if address == leader:
                partition = ListOffsetsPartition(partition_index=name.partition, timestamp=timestamp)
                partitions.setdefault(name.topic_name, []).append(partition)
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=options.isolation_level,
            topics=[ListOffsetsTopic(name=name, partitions=partitions[name]) for name in partitions],
        )
        with connect_to(leader, options) as connection:
            response = connection.send(ApiKey.LIST_OFFSETS, request, ListOffsetsResponse.read)
        for topic in response.topics:
            for found in topic.partitions:
                check_error(found.error_code, f"{topic.name}-{found.partition_index}")
                offsets[PartitionName(topic.name, found.partition_index)] = found.offset
    return offsets
