"""What an assignor is given, and what it gives back.

Source: GroupSpec, MemberSubscription and PartitionAssignor, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ....protocol.stored_records.consumer_group_values import Partitions
from ..java_hash_tables import buckets_of_copy, buckets_of_grown, in_hash_order, int_hash, uuid_hash


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """A member: the ids of the topics that it consumes, in Kafka's order, and the partitions that it last had."""

    subscribed_topic_ids: tuple[bytes, ...]
    assignment: Partitions
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """The members, in the order of Kafka's table of them, and how many partitions the topics have.

    is_homogeneous: whether all members consume the same topics.
    """

    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[bytes, int]
    is_homogeneous: bool


# Returns the partitions of each member, by its id; one that is left out gets none.
Assign = Callable[[GroupSpec], dict[str, Partitions]]


def assigned_in_order(assignment: Partitions) -> list[tuple[bytes, list[int]]]:
    """Return the partitions of an assignment by topic, as Kafka iterates over them."""
    topic_ids = in_hash_order(assignment.keys(), uuid_hash, buckets_of_grown(len(assignment)))
    return [(topic_id, _in_order(assignment[topic_id])) for topic_id in topic_ids]


def _in_order(partitions: frozenset[int]) -> list[int]:
    return in_hash_order(sorted(partitions), int_hash, buckets_of_copy(len(partitions)))
