"""The kinds of things that have configs, and which broker is meant by a resource's name.

Source: ConfigResource.Type, ConfigHelper and ConfigAdminManager, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

import re
from enum import IntEnum

from ...protocol.error_codes import ErrorCode, KafkaError


class ResourceType(IntEnum):
    """The kinds by their number on the wire."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


# What Java's Integer.parseInt takes.
INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


def broker_id_of(name: str, what: str) -> int:
    """Return the broker id that a resource's name says; raises KafkaError INVALID_REQUEST where it says none."""
    if INTEGER.fullmatch(name) is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{what} must be an integer, but it is: {name}")
    return int(name)
