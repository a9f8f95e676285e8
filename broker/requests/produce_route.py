"""The route of a Produce request: its partition and its packed response, found by the head of the request.

The head is everything before the records: transactional id, acks, timeout, topic and partition. A producer sends the
same head with each batch for a partition, so that it is decoded once. A route exists only for requests without a
transactional id that are answered (acks other than 0) and may write to the topic.
"""

from __future__ import annotations

from ...protocol.produce_codec import ACKS_ALL
from ...protocol.single_partition_response import SinglePartitionResponse
from ..replica.partition import Partition


class ProduceRoute:
    """Where the requests of one head go.

    head, api_version, generation: set by ProduceRoutes.keep (produce_routes). The route is valid in its generation.
    """

    __slots__ = (
        "api_version",
        "generation",
        "head",
        "is_acks_all",
        "partition",
        "response",
        "timeout_ms",
        "topic_key",
    )

    def __init__(
        self, partition: Partition, topic_key: bytes, response: SinglePartitionResponse, acks: int, timeout_ms: int
    ) -> None:
        """topic_key: the topic's name, or its id (16 bytes) from version 13 on. response: packs the response.

        acks, timeout_ms: those of the head; acks is 1 or -1 (all).
        """
        self.partition = partition
        self.topic_key = topic_key
        self.response = response
        self.is_acks_all = acks == ACKS_ALL
        self.timeout_ms = timeout_ms
        self.head = b""
        self.api_version = self.generation = -1
