"""Which partitions the members serve at their endpoints, for interactive queries (KIP-1071), and tasks on the wire.

Source: EndpointToPartitionsManager and StreamsGroup.buildEndpointToPartitions, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.streams_group_heartbeat import Endpoint, EndpointToPartitions, TaskIds, TopicPartition
from ....protocol.stored_records.streams_group_records import Task, by_subtopology
from ..java_hash_tables import java_hash_order

if TYPE_CHECKING:
    from ..consumer.topics import GroupTopics
    from .member import StreamsMember
    from .topology import ConfiguredTopology


def task_ids(tasks: Iterable[Task]) -> list[TaskIds]:
    """Return tasks as a heartbeat's response has them."""
    partitions = by_subtopology(tasks)
    return [TaskIds(subtopology_id=each, partitions=partitions[each]) for each in java_hash_order(partitions)]


def partitions_by_endpoint(
    members: Iterable[StreamsMember], configured: ConfiguredTopology, topics: GroupTopics, *, knows_counts: bool
) -> list[EndpointToPartitions]:
    """Return the partitions that are the input of the tasks of each member with an endpoint.

    knows_counts: leave out the partitions that a topic does not have; Kafka 4.3 leaves out the last ones of too many.
    Raises KafkaError UNKNOWN_SERVER_ERROR if topics are missing, as Kafka does.
    """

    def inputs(tasks: Collection[Task]) -> list[TopicPartition]:
        return list(_inputs(tasks, configured, topics, knows_counts=knows_counts))

    return [
        EndpointToPartitions(
            user_endpoint=Endpoint(host=host, port=port),
            active_partitions=inputs(member.assigned.active),
            standby_partitions=inputs(member.assigned.standby | member.assigned.warmup),
        )
        for member in members
        if member.metadata.user_endpoint is not None
        for host, port in (member.metadata.user_endpoint,)
    ]


def _inputs(
    tasks: Collection[Task], configured: ConfiguredTopology, topics: GroupTopics, *, knows_counts: bool
) -> Iterator[TopicPartition]:
    if not configured.subtopologies:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    partitions = by_subtopology(tasks)
    for subtopology_id in java_hash_order(partitions):
        for name in java_hash_order(configured.subtopologies[subtopology_id].input_topics):
            topic = topics.find(name)
            if topic is None:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            of_task = partitions[subtopology_id]
            if knows_counts:
                of_task = [each for each in of_task if each < topic.partition_count]
            else:
                of_task = of_task[: topic.partition_count]
            if of_task:
                yield TopicPartition(topic=name, partitions=of_task)
