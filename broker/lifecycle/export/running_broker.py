"""Exports a running broker with ordinary client requests.

Batches are fetched from the earliest offset of a partition up to its end at the time of the export of its topic.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ....client.broker_connection import BrokerConnection
from ....protocol.api_keys import ApiKey
from ....protocol.batches.whole_batches import whole_batches
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ....protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from ....protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from ....protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ....protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ....protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ...config.config_resources import ResourceType
from ...metadata.config_entries import ConfigSource
from .kafka_folder import ExportedCluster, ExportedPartition, ExportedTopic, ExportError, KafkaFolder
from .segments_writer import SegmentsWriter

TIMEOUT_SECONDS = 30.0
# The size of a fetch. One batch may be larger, up to socket.request.max.bytes.
FETCH_BYTES = 16 * 1024 * 1024

# The last versions with topic names that all brokers since Kafka 2.8 support.
METADATA_VERSION = 10
DESCRIBE_CONFIGS_VERSION = 4
LIST_TRANSACTIONS_VERSION = 0
# The first version with features whose lowest level is 0.
FEATURES_VERSION = 4
FETCH_VERSION = 12
LIST_OFFSETS_VERSION = 6

# Timestamps of ListOffsets: the log start offset and the log end offset.
EARLIEST = -2
LATEST = -1

SET_FOR_BROKER = frozenset({ConfigSource.BROKER, ConfigSource.DEFAULT_BROKER, ConfigSource.STATIC_BROKER})


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """The offsets of a log, from start up to but not including end."""

    start: int
    end: int


class InternalConnection(BrokerConnection):
    """A connection to a node of this process, by a socket that is connected to it."""

    def __init__(self, node_id: int, connected: socket.socket) -> None:
        """connected: owned by the connection from now on."""
        self._connected = connected
        super().__init__(f"node {node_id}", 0, timeout_seconds=TIMEOUT_SECONDS)

    def _connect(self, host: str, port: int, timeout_seconds: float) -> socket.socket:
        self._connected.settimeout(timeout_seconds)
        return self._connected


# Returns a connection to a broker. Raises BrokerError.
Connect = Callable[[MetadataResponseBroker], BrokerConnection]


class RunningBroker:
    """A running broker, and the other brokers of its cluster that lead partitions."""

    def __init__(self, bootstrap: BrokerConnection, connect: Connect) -> None:
        """Fetch the metadata of all topics. Raises BrokerError. connect: to another broker of the cluster."""
        self._connect = connect
        self._bootstrap = bootstrap
        self._connections: dict[int, BrokerConnection] = {}
        self._metadata = self._bootstrap.send_request(
            ApiKey.METADATA,
            METADATA_VERSION,
            MetadataRequest(topics=None, allow_auto_topic_creation=False),
            MetadataResponse.read,
        )
        if len(self._metadata.brokers) == 1:
            # Its advertised address may not be reachable from here.
            self._connections[self._metadata.brokers[0].node_id] = self._bootstrap

    def close(self) -> None:
        """Close the connections."""
        for connection in {self._bootstrap, *self._connections.values()}:
            connection.close()

    def export(self, folder: KafkaFolder, report: Callable[[str], None]) -> ExportedCluster:
        """Write all logs. Return the metadata for KafkaFolder.finish.

        report: called with a line for each topic. Raises ExportError, BrokerError and OSError.
        """
        topics: list[ExportedTopic] = []
        highest_producer_id = self._highest_of_transactional_ids()
        for topic in sorted(self._metadata.topics, key=lambda topic: topic.name or ""):
            ranges = [
                OffsetRange(self._offset(topic, partition, EARLIEST), self._offset(topic, partition, LATEST))
                for partition in _partitions_of(topic)
            ]
            if topic.is_internal and all(each.start == each.end for each in ranges):
                # Kafka creates it at its first use.
                continue
            exported, producer_id = self._export_topic(folder, topic, ranges, report)
            topics.append(exported)
            highest_producer_id = max(highest_producer_id, producer_id)
        cluster_id = self._metadata.cluster_id
        if not cluster_id:
            raise ExportError("the broker has no cluster id")
        return ExportedCluster(
            cluster_id, topics, highest_producer_id + 1, self._broker_settings(), self._feature_levels()
        )

    def _export_topic(
        self,
        folder: KafkaFolder,
        topic: MetadataResponseTopic,
        ranges: list[OffsetRange],
        report: Callable[[str], None],
    ) -> tuple[ExportedTopic, int]:
        """Write the topic's logs. Return the topic and the highest producer id in its logs."""
        name = topic.name or ""
        entries = self._configs_of(ResourceType.TOPIC, name)
        exported = ExportedTopic(name, topic.topic_id, _values_of(entries, frozenset({ConfigSource.TOPIC})))
        segment_bytes = int(next(entry.value or 0 for entry in entries if entry.name == "segment.bytes"))
        highest_producer_id, offsets, total_bytes = -1, 0, 0
        for partition, offset_range in zip(_partitions_of(topic), ranges, strict=True):
            target = folder.create_partition(name, topic.topic_id, partition.partition_index)
            writer = SegmentsWriter(target, segment_bytes, offset_range.start)
            self._copy(topic, partition, offset_range, writer)
            exported.partitions.append(
                ExportedPartition(
                    partition.partition_index,
                    max(partition.leader_epoch, writer.highest_leader_epoch, 0),
                    offset_range.start,
                    writer.first_base_offset,
                )
            )
            highest_producer_id = max(highest_producer_id, writer.highest_producer_id)
            offsets += offset_range.end - offset_range.start
            total_bytes += writer.total_bytes
        report(f"{name}: partitions {len(ranges)}, offsets {offsets}, bytes {total_bytes}")
        return exported, highest_producer_id

    def _copy(
        self,
        topic: MetadataResponseTopic,
        partition: MetadataResponsePartition,
        offset_range: OffsetRange,
        writer: SegmentsWriter,
    ) -> None:
        try:
            while writer.next_offset < offset_range.end:
                response = self._fetch(topic, partition, writer.next_offset)
                batches = list(whole_batches(response.records or b""))
                if not batches:
                    raise ExportError(
                        f"{topic.name}-{partition.partition_index}: no whole batch at offset {writer.next_offset}, "
                        f"though the log ends at {offset_range.end}"
                    )
                for batch in batches:
                    writer.append(batch)
        finally:
            writer.close()

    def _fetch(self, topic: MetadataResponseTopic, partition: MetadataResponsePartition, offset: int) -> PartitionData:
        partition_request = FetchPartition(
            partition=partition.partition_index, fetch_offset=offset, partition_max_bytes=FETCH_BYTES
        )
        request = FetchRequest(
            max_bytes=FETCH_BYTES, topics=[FetchTopic(topic=topic.name or "", partitions=[partition_request])]
        )
        response = self._leader_of(partition).send_request(ApiKey.FETCH, FETCH_VERSION, request, FetchResponse.read)
        _check(response.error_code, f"Fetch of {topic.name}-{partition.partition_index}")
        found = response.responses[0].partitions[0]
        _check(found.error_code, f"Fetch of {topic.name}-{partition.partition_index} at offset {offset}")
        return found

    def _offset(self, topic: MetadataResponseTopic, partition: MetadataResponsePartition, timestamp: int) -> int:
        partition_request = ListOffsetsPartition(partition_index=partition.partition_index, timestamp=timestamp)
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=topic.name or "", partitions=[partition_request])]
        )
        leader = self._leader_of(partition)
        response = leader.send_request(ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION, request, ListOffsetsResponse.read)
        found = response.topics[0].partitions[0]
        _check(found.error_code, f"ListOffsets of {topic.name}-{partition.partition_index}")
        return found.offset

    def _leader_of(self, partition: MetadataResponsePartition) -> BrokerConnection:
        broker = next((each for each in self._metadata.brokers if each.node_id == partition.leader_id), None)
        if broker is None:
            raise ExportError(f"the leader of a partition, node {partition.leader_id}, is not among the brokers")
        return self._connection_to(broker)

    def _connection_to(self, broker: MetadataResponseBroker) -> BrokerConnection:
        connection = self._connections.get(broker.node_id)
        if connection is None:
            connection = self._connections[broker.node_id] = self._connect(broker)
        return connection

    def _highest_of_transactional_ids(self) -> int:
        """Return the highest producer id of a transactional id, which may be in no batch; or -1.

        Brokers before Kafka 3.0 do not support ListTransactions; it is -1 then.
        """
        if ApiKey.LIST_TRANSACTIONS not in self._served:
            return -1
        # Each broker lists the transactional ids that it coordinates.
        responses = [
            self._connection_to(broker).send_request(
                ApiKey.LIST_TRANSACTIONS,
                LIST_TRANSACTIONS_VERSION,
                ListTransactionsRequest(),
                ListTransactionsResponse.read,
            )
            for broker in self._metadata.brokers
        ]
        return max((each.producer_id for response in responses for each in response.transaction_states), default=-1)

    @cached_property
    def _served(self) -> dict[int, int]:
        """The last version of each API that the broker serves."""
        response = self._bootstrap.send_request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest(), ApiVersionsResponse.read)
        return {each.api_key: each.max_version for each in response.api_keys}

    def _feature_levels(self) -> dict[str, int]:
        """Return the levels of the features that can be at level 0 and above; none of a broker before Kafka 4.0.

        metadata.version, which has no level 0, is that of the exported records.
        """
        if self._served.get(ApiKey.API_VERSIONS, 0) < FEATURES_VERSION:
            return {}
        request = ApiVersionsRequest(client_software_name="fauxka-export", client_software_version="1")
        response = self._bootstrap.send_request(
            ApiKey.API_VERSIONS, FEATURES_VERSION, request, ApiVersionsResponse.read
        )
        finalized = {each.name: each.max_version_level for each in response.finalized_features}
        return {
            each.name: finalized.get(each.name, 0)
            for each in response.supported_features
            if each.min_version == 0 and each.max_version > 0
        }

    def _broker_settings(self) -> dict[str, str]:
        broker = self._metadata.brokers[0]
        # A broker describes only itself.
        entries = self._configs_of(ResourceType.BROKER, str(broker.node_id), self._connection_to(broker))
        return _values_of(entries, SET_FOR_BROKER)

    def _configs_of(
        self, resource_type: ResourceType, name: str, connection: BrokerConnection | None = None
    ) -> list[DescribeConfigsResourceResult]:
        resource = DescribeConfigsResource(resource_type=resource_type, resource_name=name, configuration_keys=None)
        response = (connection or self._bootstrap).send_request(
            ApiKey.DESCRIBE_CONFIGS,
            DESCRIBE_CONFIGS_VERSION,
            DescribeConfigsRequest(resources=[resource]),
            DescribeConfigsResponse.read,
        )
        result = response.results[0]
        _check(result.error_code, f"DescribeConfigs of {resource_type.name} {name}")
        return result.configs


def _partitions_of(topic: MetadataResponseTopic) -> list[MetadataResponsePartition]:
    _check(topic.error_code, f"Metadata of {topic.name}")
    return sorted(topic.partitions, key=lambda partition: partition.partition_index)


def _values_of(entries: list[DescribeConfigsResourceResult], sources: frozenset[ConfigSource]) -> dict[str, str]:
    return {entry.name: entry.value for entry in entries if entry.config_source in sources and entry.value is not None}


def _check(error_code: int, request: str) -> None:
    if error_code != 0:
        raise ExportError(f"{request} failed with {ErrorCode(error_code).name}")
