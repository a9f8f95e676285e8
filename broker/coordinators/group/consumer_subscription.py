"""The topics in a consumer's subscription, which is metadata of the group's members to everyone but consumers."""

from __future__ import annotations

from ....protocol.frames import FrameError
from ....protocol.primitives import Reader

# The protocol type of consumers; others ("connect") give their metadata another form.
CONSUMER_PROTOCOL_TYPE = "consumer"

# A count of topics is a 32-bit number; a topic takes its length of two bytes at least.
TOPIC_BYTES_MIN = 2


def find_subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """Return the topics of a ConsumerProtocolSubscription; None if the bytes are not one.

    Read as version 0, with which all versions begin.
    Source: ClassicGroup.computeSubscribedTopics, Kafka 4.3.0.
    """
    reader = Reader(metadata)
    try:
        if reader.int16() < 0:
            return None
        count = reader.int32()
        if count < 0 or count * TOPIC_BYTES_MIN > len(metadata):
            return None
        topics = frozenset(reader.string() for _ in range(count))
        reader.nullable_data()
    except FrameError:
        return None
    return topics
