"""The input and the result of an assignor.

Source: GroupSpec, MemberSubscription and PartitionAssignor, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ....protocol.stored_records.consumer_group_values import Partitions
from ..java_hash_tables import buckets_of_copy, buckets_of_grown, in_hash_order, int_hash, uuid_hash


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """A member.

    subscribed_topic_ids: in the iteration order of Kafka's set. assignment: the previous target assignment.
    """

    subscribed_topic_ids: tuple[bytes, ...]
    assignment: Partitions
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """The group to assign.

    members: in the iteration order of Kafka's map. partition_counts: by topic id.
    is_homogeneous: whether all members subscribe to the same topics.
    """

    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[bytes, int]
    is_homogeneous: bool


# Returns the partitions by member id. A member that is missing gets none.
Assign = Callable[[GroupSpec], dict[str, Partitions]]


def assigned_in_order(assignment: Partitions) -> list[tuple[bytes, list[int]]]:
    """Return the partitions of an assignment by topic, in Kafka's iteration order."""
    topic_ids = in_hash_order(assignment.keys(), uuid_hash, buckets_of_grown(len(assignment)))
    return [(topic_id, _in_order(assignment[topic_id])) for topic_id in topic_ids]


def _in_order(partitions: frozenset[int]) -> list[int]:
    return in_hash_order(sorted(partitions), int_hash, buckets_of_copy(len(partitions)))
