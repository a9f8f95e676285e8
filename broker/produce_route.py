"""Where the batches of requests that all begin alike go, found by that beginning as a whole.

A producer sends, with each batch for a partition, the same acks, timeout, topic and partition in front of it. They are
decoded and looked up once; a topic that is deleted takes all routes with it (Cluster.delete_topic).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.produce_codec import SingleAnswer
from .partition import Partition

# Heads that are remembered. A cluster of more partitions than this with producers for all of them starts over when it
# is full, which costs what a request costs without a route.
PRODUCE_ROUTES_MAX = 10_000


@dataclass(frozen=True, slots=True)
class ProduceRoute:
    """The partition that a head names, and the answer to who sends there."""

    partition: Partition
    answer: SingleAnswer
