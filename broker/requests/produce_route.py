"""The route of a Produce request: its partition and its packed response, found by the head of the request.

The head is everything before the records: transactional id, acks, timeout, topic and partition. A producer sends the
same head with each batch for a partition, so that it is decoded once. A route exists only for requests without a
transactional id that are answered (acks other than 0) and may write to the topic.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...protocol.produce_codec import SinglePartitionResponse
from ..replica.partition import Partition

# Heads that a node keeps, with about 500 bytes each. A cluster of more partitions than this with producers for all of
# them starts over when the table is full; a request without a route is decoded in full.
PRODUCE_ROUTES_MAX = 50_000

# By API version and head.
ProduceRoutes = dict[tuple[int, bytes], "ProduceRoute"]


@dataclass(frozen=True, slots=True)
class ProduceRoute:
    """topic_key: the topic's name, or its id (16 bytes) from version 13 on. response: packs the response.

    acks, timeout_ms: those of the head; acks is 1 or -1 (all).
    """

    partition: Partition
    topic_key: bytes
    response: SinglePartitionResponse
    acks: int
    timeout_ms: int
