"""The leader of a partition in the tagged fields of Produce and Fetch responses (KIP-951).

A client that asked the wrong node finds the leader there, without a request for metadata. A response has the leader's
id and epoch at the partition, and the addresses of all those leaders at its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from .buffer_codec import encode_unsigned_varint

_INT32 = Struct(">i")
_ID_AND_EPOCH = Struct(">iib")
# Of the addresses, in both responses.
_ENDPOINTS_TAG = b"\0"
NO_TAGGED_FIELDS = b"\0"
# A compact string that is null.
NULL = b"\0"
ONE_TAGGED_FIELD = b"\1"


class NodeEndpoint(NamedTuple):
    """The address of a broker."""

    node_id: int
    host: str
    port: int
    rack: str | None


class CurrentLeader(NamedTuple):
    """The leader of a partition; leader_id -1 and no endpoint if there is none."""

    leader_id: int
    leader_epoch: int
    endpoint: NodeEndpoint | None = None


def encode_leader(tag: int, leader: CurrentLeader | None) -> bytes:
    """Return the tagged fields of a partition: its leader as the only one, or none."""
    if leader is None:
        return NO_TAGGED_FIELDS
    return ONE_TAGGED_FIELD + _tagged(bytes([tag]), _ID_AND_EPOCH.pack(leader.leader_id, leader.leader_epoch, 0))


def encode_endpoints(leaders: Iterable[CurrentLeader | None]) -> bytes:
    """Return the tagged fields of a response: the address of each leader once, in the order of the partitions."""
    endpoints = dict.fromkeys(leader.endpoint for leader in leaders if leader is not None and leader.endpoint)
    if not endpoints:
        return NO_TAGGED_FIELDS
    content = encode_unsigned_varint(len(endpoints) + 1) + b"".join(map(_encode_endpoint, endpoints))
    return ONE_TAGGED_FIELD + _tagged(_ENDPOINTS_TAG, content)


def _encode_endpoint(endpoint: NodeEndpoint) -> bytes:
    rack = NULL if endpoint.rack is None else _encode_string(endpoint.rack)
    id_and_host = _INT32.pack(endpoint.node_id) + _encode_string(endpoint.host)
    return id_and_host + _INT32.pack(endpoint.port) + rack + NO_TAGGED_FIELDS


def _encode_string(text: str) -> bytes:
    raw = text.encode()
    return encode_unsigned_varint(len(raw) + 1) + raw


def _tagged(tag: bytes, content: bytes) -> bytes:
    return tag + encode_unsigned_varint(len(content)) + content
