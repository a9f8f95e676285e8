"""Model of the consumers of one group, and the rules about their partitions.

A consumer takes new partitions at once. It revokes partitions at once or a few heartbeats later, and reports the
revocation afterwards. Two members never have the same partition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Partition = tuple[str, int]


@dataclass
class ConsumerModel:
    """One consumer. epoch: None if it is not a member. to_revoke: the partitions of owned that it must revoke."""

    topics: frozenset[str]
    epoch: int | None = None
    owned: set[Partition] = field(default_factory=set[Partition])
    to_revoke: set[Partition] = field(default_factory=set[Partition])
    # Whether its next heartbeat has all fields, as after a lost response.
    sends_all_fields: bool = False

    def leave(self) -> None:
        """Drop the epoch and all partitions."""
        self.epoch = None
        self.owned.clear()
        self.to_revoke.clear()

    def apply_response(self, epoch: int, assigned: set[Partition] | None) -> None:
        """Apply a response: its epoch, and its assignment if it has one."""
        self.epoch = epoch
        self.sends_all_fields = False
        if assigned is not None:
            self.to_revoke = self.owned - assigned
            self.owned = assigned | self.to_revoke

    def revoke(self) -> None:
        """Revoke the partitions of to_revoke."""
        self.owned -= self.to_revoke
        self.to_revoke.clear()


def check_no_partition_has_two_owners(consumers: dict[str, ConsumerModel]) -> None:
    """Raise AssertionError if two consumers have the same partition."""
    owners: dict[Partition, str] = {}
    for name, consumer in consumers.items():
        for partition in consumer.owned:
            assert partition not in owners, f"{partition} is {owners[partition]}'s and {name}'s"
            owners[partition] = name


def check_every_partition_has_an_owner(consumers: dict[str, ConsumerModel], counts: dict[str, int]) -> None:
    """Raise AssertionError unless the subscribed partitions, and only those, have an owner that subscribes to them."""
    wanted = {
        (topic, index)
        for consumer in consumers.values()
        if consumer.epoch is not None
        for topic in consumer.topics
        for index in range(counts.get(topic, 0))
    }
    owned = {partition for consumer in consumers.values() for partition in consumer.owned}
    assert owned == wanted, f"missing: {wanted - owned}, beyond: {owned - wanted}"
    for name, consumer in consumers.items():
        assert {topic for topic, _ in consumer.owned} <= consumer.topics, f"{name} has what it did not ask for"
