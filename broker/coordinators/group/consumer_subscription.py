"""The topics of a consumer's subscription. To the broker the subscription is opaque metadata of the member."""

from __future__ import annotations

from ....protocol.frames import FrameError
from ....protocol.primitives import Reader

# The protocol type of consumers. Other types ("connect") encode their metadata in another way.
CONSUMER_PROTOCOL_TYPE = "consumer"

# The size of an empty topic name. It bounds the count of topics, which is any 32-bit number.
TOPIC_BYTES_MIN = 2


def find_subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """Return the topics of a ConsumerProtocolSubscription; None if the bytes are not one.

    Only the fields of version 0 are read. Every version begins with them.
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
