"""The offsets that consumer groups have committed, by OffsetFetch at the broker that coordinates each group."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import NamedTuple

from ...client.broker_connection import BrokerConnection
from ...protocol.api_keys import ApiKey
from ...protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from ...protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from .broker_topics import check_error, connect, connect_to, read_metadata, retry
from .options import LogOptions

# The newest version with one group and all its topics by name, which brokers from Kafka 2.1 on serve.
_OFFSET_FETCH_VERSION = 5
_SHARE = "share"


class GroupOffset(NamedTuple):
    """An offset that a group has committed for a partition."""

    group_id: str
    topic: str
    partition: int
    offset: int


def group_offsets(options: LogOptions, names: Collection[str] | None = None) -> list[GroupOffset]:
    """Return the committed offsets of the named groups for the wanted topics. Raises BrokerError.

    names: default is all groups.
    """
    return retry(partial(_group_offsets, options, names))


def _group_offsets(options: LogOptions, names: Collection[str] | None) -> list[GroupOffset]:
    with connect(options) as connection:
        brokers = read_metadata(connection, []).brokers
    found: list[GroupOffset] = []
    for broker in brokers:
        with connect_to((broker.host, broker.port), options) as connection:
            # A broker lists the groups that it coordinates.
            response = connection.send(ApiKey.LIST_GROUPS, ListGroupsRequest(), ListGroupsResponse.read)
            check_error(response.error_code, f"groups of node {broker.node_id}")
            for group in response.groups:
                is_named = names is None or group.group_id in names
                # A share group commits no offsets.
                if is_named and group.group_type.lower() != _SHARE:
                    found += _offsets_of(connection, group.group_id, options)
    return found


def _offsets_of(connection: BrokerConnection, group_id: str, options: LogOptions) -> Iterator[GroupOffset]:
    request = OffsetFetchRequest(group_id=group_id, topics=None)
    response = connection.send_request(ApiKey.OFFSET_FETCH, _OFFSET_FETCH_VERSION, request, OffsetFetchResponse.read)
    check_error(response.error_code, f"group {group_id}")
    for topic in response.topics:
        for partition in topic.partitions:
            check_error(partition.error_code, f"group {group_id}, {topic.name}-{partition.partition_index}")
            if options.is_wanted(topic.name) and partition.committed_offset >= 0:
                yield GroupOffset(group_id, topic.name, partition.partition_index, partition.committed_offset)
