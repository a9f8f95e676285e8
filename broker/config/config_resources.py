"""Config resources and the changes of their keys (Kafka: ConfigResource, AlterConfigOp).

Source: ConfigHelper and ConfigAdminManager, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from ...protocol.error_codes import ErrorCode, KafkaError

# The integers that Java's Integer.parseInt reads.
INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


class ResourceType(IntEnum):
    """The resource types with configs, by their number on the wire (ConfigResource.Type)."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """A resource that a request names. resource_type: the number on the wire, not always a ResourceType."""

    resource_type: int
    name: str


class OpType(IntEnum):
    """The operations on a key (AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class AlterConfigOp(NamedTuple):
    """An operation on one key. op_type: the number on the wire, not always an OpType."""

    key: str
    op_type: int
    value: str | None


def broker_id_of(name: str, label: str) -> int:
    """Return the broker id in a resource name. label: starts the message of the KafkaError INVALID_REQUEST."""
    if INTEGER.fullmatch(name) is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{label} must be an integer, but it is: {name}")
    return int(name)
