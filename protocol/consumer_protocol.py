"""What classic members of the protocol type "consumer" embed in JoinGroup and SyncGroup.

A version (int16) is first. A version newer than VERSION_MAX is read as VERSION_MAX, because newer ones only add fields.
Source: ConsumerProtocol, Kafka 4.3.0.
"""

from __future__ import annotations

from .frames import FrameError
from .messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from .messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from .primitives import Reader

# The protocol type of JoinGroup.
CONSUMER = "consumer"
VERSION_MAX = 3


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Decode a member's subscription. Raises FrameError."""
    reader = Reader.of_request(metadata)
    return ConsumerProtocolSubscription.read(reader, read_version(reader))


def read_assignment(assignment: bytes) -> ConsumerProtocolAssignment:
    """Decode the assignment of a member; empty bytes are an empty assignment. Raises FrameError."""
    if not assignment:
        return ConsumerProtocolAssignment()
    reader = Reader.of_request(assignment)
    return ConsumerProtocolAssignment.read(reader, read_version(reader))


def read_version(reader: Reader) -> int:
    """Read the version that is first, at most VERSION_MAX. Raises FrameError."""
    version = reader.int16()
    if version < 0:
        raise FrameError(f"version {version} of the consumers' protocol")
    return min(version, VERSION_MAX)
