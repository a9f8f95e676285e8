"""Consumers of one group as they are from the outside: what each has, and what it must never have.

A consumer gives up what it is told to before it says so, be it at once or a few heartbeats later; it takes what it is
told to have at once. At no time do two consumers that are members have the same partition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Partition = tuple[str, int]


@dataclass
class ConsumerModel:
    """One consumer: its epoch, what it has, and what it still has to give up. None: it is no member."""

    topics: frozenset[str]
    epoch: int | None = None
    owned: set[Partition] = field(default_factory=set[Partition])
    to_give_up: set[Partition] = field(default_factory=set[Partition])
    # Whether it tells all of itself with its next heartbeat, as clients do that have missed an answer.
    tells_all: bool = False

    def leave(self) -> None:
        """Have nothing any more."""
        self.epoch = None
        self.owned.clear()
        self.to_give_up.clear()

    def be_told(self, epoch: int, assigned: set[Partition] | None) -> None:
        """Take an answer: its epoch, and its assignment if it has one."""
        self.epoch = epoch
        self.tells_all = False
        if assigned is not None:
            self.to_give_up = self.owned - assigned
            self.owned = assigned | self.to_give_up

    def give_up(self) -> None:
        """Give up what is to be given up."""
        self.owned -= self.to_give_up
        self.to_give_up.clear()


def check_nothing_is_owned_twice(consumers: dict[str, ConsumerModel]) -> None:
    """Raise AssertionError where two consumers have one partition."""
    owners: dict[Partition, str] = {}
    for name, consumer in consumers.items():
        for partition in consumer.owned:
            assert partition not in owners, f"{partition} is {owners[partition]}'s and {name}'s"
            owners[partition] = name


def check_everything_is_owned(consumers: dict[str, ConsumerModel], counts: dict[str, int]) -> None:
    """Raise AssertionError where a partition that somebody consumes is nobody's, or one is somebody's who does not."""
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
