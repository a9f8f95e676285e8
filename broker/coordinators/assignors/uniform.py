"""The uniform assignor: partition counts of members differ by at most one, and members keep partitions if possible.

uniform_mixed assigns groups whose members subscribe to different topics.
Source: UniformAssignor and UniformHomogeneousAssignmentBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

from ....protocol.stored_records.consumer_group_values import Partitions
from ..java_hash_tables import buckets_of_copy, in_hash_order, uuid_hash
from .group_spec import GroupSpec, MemberSpec, assigned_in_order
from .uniform_mixed import MixedAssignment


def assign_uniform(spec: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions by member id."""
    if not spec.members:
        return {}
    return UniformAssignment(spec).build() if spec.is_homogeneous else MixedAssignment(spec).build()


class UniformAssignment:
    """One assignment of a group whose members subscribe to the same topics."""

    def __init__(self, spec: GroupSpec) -> None:
        """Prepare an assignment for spec."""
        self._spec = spec
        subscribed = next(iter(spec.members.values())).subscribed_topic_ids
        self._topic_ids = in_hash_order(subscribed, uuid_hash, buckets_of_copy(len(subscribed)))
        self._subscribed = frozenset(subscribed)
        partition_count = sum(spec.partition_counts[topic_id] for topic_id in self._topic_ids)
        self._quota, self._extra_quotas = divmod(partition_count, len(spec.members))
        self._assignments: dict[str, dict[bytes, set[int]]] = {}
        self._unassigned: list[tuple[bytes, int]] = []
        # The number of partitions that each member still gets.
        self._missing: dict[str, int] = {}

    def build(self) -> dict[str, Partitions]:
        """Return the partitions by member id."""
        if not self._topic_ids:
            return {}
        self._unassigned = self._unowned_partitions()
        for index, (member_id, member) in enumerate(self._spec.members.items()):
            self._keep(member_id, member, len(self._spec.members) - index)
        self._distribute()
        return {
            member_id: {topic_id: frozenset(partitions) for topic_id, partitions in topics.items()}
            for member_id, topics in self._assignments.items()
        }

    def _unowned_partitions(self) -> list[tuple[bytes, int]]:
        """Return the partitions that are in no previous assignment."""
        assigned = {
            (topic_id, partition)
            for member in self._spec.members.values()
            for topic_id, partitions in member.assignment.items()
            for partition in partitions
        }
        return [
            (topic_id, partition)
            for topic_id in self._topic_ids
            for partition in range(self._spec.partition_counts[topic_id])
            if (topic_id, partition) not in assigned
        ]

    def _keep(self, member_id: str, member: MemberSpec, members_left: int) -> None:
        """Keep the member's previous partitions up to its quota, and release the others."""
        quota = self._quota + (self._extra_quotas > 0)
        has_extra = self._extra_quotas > 0
        kept: dict[bytes, set[int]] = {}
        for topic_id, partitions in assigned_in_order(member.assignment):
            if topic_id not in self._subscribed:
                continue
            free = partitions[quota:]
            if len(partitions) > len(free):
                kept[topic_id] = set(partitions[:quota])
            self._unassigned += [(topic_id, partition) for partition in free]
            quota -= len(partitions) - len(free)
        # A member below its quota gets no extra partition while enough later members can take the extra ones.
        if quota > 0 and has_extra and members_left > self._extra_quotas:
            quota -= 1
            has_extra = False
        if quota > 0:
            self._missing[member_id] = quota
        self._extra_quotas -= has_extra
        self._assignments[member_id] = kept

    def _distribute(self) -> None:
        free = iter(self._unassigned)
        for member_id, count in self._missing.items():
            for _, (topic_id, partition) in zip(range(count), free, strict=False):
                self._assignments[member_id].setdefault(topic_id, set()).add(partition)
        assert next(free, None) is None, "partitions were left unassigned"
