"""The assignor `simple` of share groups: assigns each partition to one member, or to several if there are more members.

Members keep their partitions as far as the assignment stays even. If all members subscribe to the same topics, the
partitions of all topics are assigned together. Otherwise each topic is assigned by itself, and a topic to which no
member subscribes stays in the assignments.
Source: SimpleAssignor, SimpleHomogeneousAssignmentBuilder and SimpleHeterogeneousAssignmentBuilder, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....protocol.stored_records.consumer_group_values import Partitions
from ..assignors.group_spec import MemberSpec, assigned_in_order
from ..java_hash_tables import buckets_of_copy, in_hash_order, uuid_hash
from .even_assignment import Assignment, EvenAssignment, TopicPartition

NAME = "simple"


@dataclass(frozen=True, slots=True)
class ShareGroupSpec:
    """The group to assign.

    members: in the iteration order of Kafka's map. partitions: the assignable partitions by topic id.
    is_homogeneous: whether all members subscribe to the same topics.
    """

    members: Mapping[str, MemberSpec]
    partitions: Mapping[bytes, Iterable[int]]
    is_homogeneous: bool

    def partitions_of(self, topic_ids: Iterable[bytes]) -> list[TopicPartition]:
        """Return the assignable partitions of topics, in order."""
        return [(topic_id, index) for topic_id in topic_ids for index in sorted(self.partitions.get(topic_id, ()))]


def assign(spec: ShareGroupSpec) -> dict[str, Partitions]:
    """Return the partitions by member id. A topic from which a member lost all partitions stays without partitions."""
    members = list(spec.members.values())
    assignments = [_copied(member.assignment) for member in members]
    subscribed = {topic_id for member in members for topic_id in member.subscribed_topic_ids}
    if not subscribed:
        return {}
    if spec.is_homogeneous:
        _assign_together(spec, members, assignments)
    else:
        for topic_id in subscribed:
            _assign_topic(spec, topic_id, members, assignments)
    return {
        member_id: {topic_id: frozenset(indexes) for topic_id, indexes in assignment.items()}
        for member_id, assignment in zip(spec.members, assignments, strict=True)
    }


def _copied(assignment: Partitions) -> Assignment:
    return {topic_id: set(indexes) for topic_id, indexes in assignment.items()}


def _assign_together(spec: ShareGroupSpec, members: Sequence[MemberSpec], assignments: Sequence[Assignment]) -> None:
    """Assign the partitions of all topics together."""
    topic_ids = members[0].subscribed_topic_ids
    for assignment in assignments:
        for topic_id in assignment.keys() - set(topic_ids):
            del assignment[topic_id]
    together = EvenAssignment(
        spec.partitions_of(topic_ids), range(len(members)), assignments, lambda each: 31 * uuid_hash(each[0]) + each[1]
    )
    for number, member in enumerate(members):
        in_order = assigned_in_order(member.assignment)
        kept = [(topic_id, index) for topic_id, indexes in in_order if topic_id in topic_ids for index in indexes]
        together.keep(number, kept)
    together.complete()


def _assign_topic(
    spec: ShareGroupSpec, topic_id: bytes, members: Sequence[MemberSpec], assignments: Sequence[Assignment]
) -> None:
    """Assign the partitions of one topic. Members that do not subscribe to it lose them."""
    subscribers = [number for number, member in enumerate(members) if topic_id in member.subscribed_topic_ids]
    of_topic = EvenAssignment(spec.partitions_of([topic_id]), subscribers, assignments, lambda each: each[1])
    for number, member in enumerate(members):
        indexes = member.assignment.get(topic_id, frozenset())
        in_order = in_hash_order(sorted(indexes), lambda index: index, buckets_of_copy(len(indexes)))
        of_topic.keep(number, [(topic_id, index) for index in in_order])
    of_topic.complete()
