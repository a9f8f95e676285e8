"""What a rule does to one request or connection, in plain numbers for the broker that carries it out."""

from __future__ import annotations

from dataclasses import dataclass

PARTITION = "partition"
TOPIC = "topic"
REQUEST = "request"
SCOPES = (PARTITION, TOPIC, REQUEST)

Partitions = frozenset[tuple[str, int]]


@dataclass(slots=True, kw_only=True)
class Fault:
    """One hit of a rule; numbers that its kind has no use for are 0.

    kind: the action's, such as "close". partitions, topics: what of the request the rule matched; empty where the rule
    asks for nothing of the kind.
    scope: how much of the request gets error_code: "partition", "topic" or "request".
    ms: of a delay or a throttle. release_order: an answer that waits lets later ones of its connection pass.
    byte_count, at, every_ms: of truncate, corrupt and drip. restart_after_ms: of a crash; None is never.
    """

    rule_id: int
    kind: str
    partitions: Partitions = frozenset()
    topics: frozenset[str] = frozenset()
    scope: str = REQUEST
    error_code: int = 0
    ms: int = 0
    release_order: bool = False
    byte_count: int = 0
    at: int = 0
    every_ms: int = 0
    restart_after_ms: int | None = None

    def chooses(self, topic: str, partition: int | None) -> bool:
        """Whether the error is for this partition of the request; None is an entry of the topic as a whole."""
        if self.scope == TOPIC and self.topics:
            return topic in self.topics
        if self.scope == PARTITION and self.topics:
            if partition is None:
                return topic in self.topics
            return not self.partitions or (topic, partition) in self.partitions
        return True
