"""The uniform assignor for a group whose members subscribe to different topics.

1. Members keep their previous partitions of subscribed topics.
2. Each partition without an owner goes to the least loaded subscriber.
3. Topic by topic, partitions move from the most to the least loaded subscribers, until the loads differ by at most one.
   Topics with the most partitions per subscriber are first.
Source: UniformHeterogeneousAssignmentBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ....protocol.stored_records.consumer_group_values import Partitions
from ..java_hash_tables import uuid_sort_key
from .group_spec import GroupSpec
from .member_loads import MemberLoads

NO_OWNER = -1

# Balancing one topic may unbalance another. Kafka stops after this many rounds.
ROUNDS_MAX = 16


class MixedAssignment:
    """One assignment. A member is represented by its index among the member ids."""

    def __init__(self, spec: GroupSpec) -> None:
        """Prepare an assignment for spec."""
        self._spec = spec
        self._member_ids = list(spec.members)
        self._subscribers: dict[bytes, list[int]] = {}
        for index, member in enumerate(spec.members.values()):
            for topic_id in member.subscribed_topic_ids:
                self._subscribers.setdefault(topic_id, []).append(index)
        self._owners = {topic_id: [NO_OWNER] * spec.partition_counts[topic_id] for topic_id in self._subscribers}
        # The partition count of each member.
        self._sizes = [0] * len(self._member_ids)

    def build(self) -> dict[str, Partitions]:
        """Return the partitions by member id."""
        if not self._subscribers:
            return {}
        self._keep_previous()
        self._assign_unowned()
        self._balance([topic_id for topic_id, subscribers in self._subscribers.items() if len(subscribers) > 1])
        return self._assignments()

    def _assignments(self) -> dict[str, Partitions]:
        assignments: dict[str, dict[bytes, set[int]]] = {member_id: {} for member_id in self._member_ids}
        for topic_id, owners in self._owners.items():
            for partition, owner in enumerate(owners):
                assignments[self._member_ids[owner]].setdefault(topic_id, set()).add(partition)
        return {
            member_id: {topic_id: frozenset(partitions) for topic_id, partitions in topics.items()}
            for member_id, topics in assignments.items()
        }

    def _keep_previous(self) -> None:
        for index, member in enumerate(self._spec.members.values()):
            subscribed = frozenset(member.subscribed_topic_ids)
            for topic_id, partitions in member.assignment.items():
                if topic_id in subscribed:
                    self._sizes[index] += len(partitions)
                    for partition in partitions:
                        self._owners[topic_id][partition] = index

    def _assign_unowned(self) -> None:
        unowned = {
            topic_id: [partition for partition, owner in enumerate(owners) if owner == NO_OWNER]
            for topic_id, owners in self._owners.items()
        }
        for topic_id in self._sorted(topic_id for topic_id, partitions in unowned.items() if partitions):
            loads = MemberLoads(self._sizes, self._subscribers[topic_id])
            for partition in unowned[topic_id]:
                self._assign(topic_id, partition, loads.next_least_loaded())

    def _balance(self, topic_ids: list[bytes]) -> None:
        topic_ids = self._sorted(topic_ids)
        last_changed: bytes | None = None
        for _ in range(ROUNDS_MAX):
            for topic_id in topic_ids:
                if topic_id == last_changed:
                    return
                if self._balance_topic(topic_id) or last_changed is None:
                    last_changed = topic_id

    def _balance_topic(self, topic_id: bytes) -> bool:
        """Move partitions of a topic from the most to the least loaded members. Returns whether any was moved."""
        loads = MemberLoads(self._sizes, self._subscribers[topic_id])
        if loads.imbalance <= 1:
            return False
        partitions_of: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic_id]):
            partitions_of.setdefault(owner, []).append(partition)
        has_moved = False
        while not loads.is_balanced:
            most_loaded = loads.next_most_loaded()
            if most_loaded is None:
                break
            if not partitions_of.get(most_loaded):
                loads.exclude_most_loaded()
                continue
            partition = partitions_of[most_loaded].pop()
            least_loaded = loads.next_least_loaded()
            if loads.is_balanced:
                break
            self._assign(topic_id, partition, least_loaded)
            has_moved = True
        return has_moved

    def _assign(self, topic_id: bytes, partition: int, member: int) -> None:
        owners = self._owners[topic_id]
        if owners[partition] != NO_OWNER:
            self._sizes[owners[partition]] -= 1
        owners[partition] = member
        self._sizes[member] += 1

    def _sorted(self, topic_ids: Iterable[bytes]) -> list[bytes]:
        """Return the topics sorted by partitions per subscriber, the most first."""

        def sort_key(topic_id: bytes) -> tuple[Fraction, int, tuple[int, int]]:
            subscriber_count = len(self._subscribers[topic_id])
            load = Fraction(self._spec.partition_counts[topic_id], subscriber_count)
            return -load, subscriber_count, uuid_sort_key(topic_id)

        return sorted(topic_ids, key=sort_key)
