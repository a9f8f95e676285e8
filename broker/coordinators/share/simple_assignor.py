"""The assignor `simple` of share groups: assigns each partition to one member, or to several if there are more members.

Members keep their partitions as far as the assignment stays even.
Source: SimpleAssignor, Kafka 4.3.0. Of several even assignments, ours may be another one than Kafka's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from ....protocol.stored_records.consumer_group_values import Partitions

NAME = "simple"

TopicPartition = tuple[bytes, int]


def assign(
    subscriptions: Mapping[str, Set[bytes]],
    partitions: Mapping[bytes, Iterable[int]],
    current: Mapping[str, Partitions],
) -> dict[str, Partitions]:
    """Return the target assignment of each member.

    subscriptions: the topic ids of each member. partitions: the assignable partitions of each topic.
    current: the present target assignment of each member.
    """
    assigned: dict[str, set[TopicPartition]] = {member_id: set() for member_id in subscriptions}
    for topic_id in sorted(partitions):
        members = sorted(member_id for member_id, topics in subscriptions.items() if topic_id in topics)
        topic_partitions = [(topic_id, index) for index in sorted(partitions[topic_id])]
        if members and topic_partitions:
            _assign_topic(topic_partitions, members, assigned, current)
    return {member_id: _by_topic(member_partitions) for member_id, member_partitions in assigned.items()}


def _assign_topic(
    partitions: list[TopicPartition],
    members: list[str],
    assigned: dict[str, set[TopicPartition]],
    current: Mapping[str, Partitions],
) -> None:
    """Give each member an even share of the partitions, and each partition an even share of the members."""
    places = max(len(partitions), len(members))
    per_member, per_partition = -(-places // len(members)), -(-places // len(partitions))
    readers = dict.fromkeys(partitions, 0)
    held: dict[str, int] = dict.fromkeys(members, 0)
    for member_id in members:
        for partition in partitions:
            topic_id, index = partition
            is_held = index in current.get(member_id, {}).get(topic_id, frozenset())
            if is_held and held[member_id] < per_member and readers[partition] < per_partition:
                assigned[member_id].add(partition)
                held[member_id] += 1
                readers[partition] += 1
    for partition in partitions:
        if not readers[partition]:
            _give(partition, min(members, key=lambda each: held[each]), assigned, held, readers)
    for member_id in members:
        if not held[member_id]:
            _give(min(partitions, key=lambda each: readers[each]), member_id, assigned, held, readers)


def _give(
    partition: TopicPartition,
    member_id: str,
    assigned: dict[str, set[TopicPartition]],
    held: dict[str, int],
    readers: dict[TopicPartition, int],
) -> None:
    assigned[member_id].add(partition)
    held[member_id] += 1
    readers[partition] += 1


def _by_topic(partitions: Iterable[TopicPartition]) -> Partitions:
    topics: dict[bytes, frozenset[int]] = {}
    for topic_id, index in sorted(partitions):
        topics[topic_id] = topics.get(topic_id, frozenset()) | {index}
    return topics
