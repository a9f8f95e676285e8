"""The range assignor: for each topic, ranges of consecutive partitions to the members in order.

Topics with the same partition count are assigned alike (co-partitioning). Previous assignments have no effect.
Source: RangeAssignor, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.stored_records.consumer_group_values import Partitions
from .group_spec import GroupSpec


def assign_range(spec: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions by member id."""
    member_ids = _sorted_member_ids(spec)
    assignments: dict[str, dict[bytes, frozenset[int]]] = {member_id: {} for member_id in member_ids}
    subscribers: dict[bytes, list[str]] = {}
    for member_id in member_ids:
        for topic_id in spec.members[member_id].subscribed_topic_ids:
            subscribers.setdefault(topic_id, []).append(member_id)
    for topic_id, subscribed in subscribers.items():
        ranges = _ranges(spec.partition_counts[topic_id], len(subscribed))
        for member_id, partitions in zip(subscribed, ranges, strict=True):
            if partitions:
                assignments[member_id][topic_id] = frozenset(partitions)
    return dict(assignments)


def _sorted_member_ids(spec: GroupSpec) -> list[str]:
    """Return the static members sorted by instance id, then the others sorted by member id."""

    def sort_key(member_id: str) -> tuple[bool, bytes]:
        instance_id = spec.members[member_id].instance_id
        # Java compares UTF-16 units.
        return instance_id is None, (instance_id or member_id).encode("utf-16-be", "surrogatepass")

    return sorted(spec.members, key=sort_key)


def _ranges(partition_count: int, member_count: int) -> list[range]:
    """Return a range for each member. The first members get the remainder, one partition each."""
    quota, extra = divmod(partition_count, member_count)
    ranges: list[range] = []
    start = 0
    for index in range(member_count):
        end = start + quota + (index < extra)
        ranges.append(range(start, end))
        start = end
    return ranges
