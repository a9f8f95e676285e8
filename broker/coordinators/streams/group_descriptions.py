"""Descriptions of streams groups with their topology, members and tasks.

Source: StreamsGroup.asDescribedGroup and its neighbours, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ....protocol.messages.streams_group_describe import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    TaskIds,
    TaskOffset,
    TopicInfo,
)
from ....protocol.messages.streams_group_describe import Subtopology as DescribedSubtopology
from ....protocol.messages.streams_group_describe import Topology as DescribedTopology
from ....protocol.stored_records.streams_group_records import CurrentTasks, TargetTasks, Task, by_subtopology
from ..java_strings import java_string_order
from . import sticky_assignor

if TYPE_CHECKING:
    from ....protocol.messages.streams_group_heartbeat import Topology
    from .member import StreamsMember
    from .streams_group import StreamsGroup
    from .topology import ConfiguredTopology, InternalTopic


def describe(group: StreamsGroup, end_offset: int) -> DescribedGroup:
    """Return a group with its topology and its members. end_offset: of the log that the group is kept in."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology=_topology(group, group.described(end_offset)),
        members=[_member(group, each) for each in group.members.values()],
        assignor_name=sticky_assignor.NAME,
    )


def _topology(group: StreamsGroup, configured: ConfiguredTopology | None) -> DescribedTopology | None:
    """Return the topology with the partition counts that were decided, or as it was sent while topics are missing."""
    if configured is not None and configured.is_ready:
        return _configured_topology(configured)
    return None if group.topology is None else _sent_topology(group.topology)


def _sent_topology(topology: Topology) -> DescribedTopology:
    return DescribedTopology(
        epoch=topology.epoch,
        subtopologies=[
            DescribedSubtopology(
                subtopology_id=each.subtopology_id,
                source_topics=_sorted(each.source_topics),
                repartition_sink_topics=_sorted(each.repartition_sink_topics),
                repartition_source_topics=sorted(each.repartition_source_topics, key=_topic_order),
                state_changelog_topics=sorted(each.state_changelog_topics, key=_topic_order),
            )
            for each in sorted(topology.subtopologies, key=lambda each: java_string_order(each.subtopology_id))
        ],
    )


def _configured_topology(configured: ConfiguredTopology) -> DescribedTopology:
    return DescribedTopology(
        epoch=configured.epoch,
        subtopologies=[
            DescribedSubtopology(
                subtopology_id=subtopology_id,
                source_topics=_sorted(each.source_topics),
                repartition_sink_topics=_sorted(each.repartition_sink_topics),
                repartition_source_topics=_topic_infos(each.repartition_source_topics),
                state_changelog_topics=_topic_infos(each.changelog_topics),
            )
            for subtopology_id, each in configured.subtopologies.items()
        ],
    )


def _topic_infos(topics: Mapping[str, InternalTopic]) -> list[TopicInfo]:
    infos = [
        TopicInfo(
            name=topic.name,
            partitions=topic.partition_count,
            replication_factor=topic.replication_factor,
            topic_configs=[KeyValue(key=key, value=value) for key, value in topic.configs.items()],
        )
        for topic in topics.values()
    ]
    return sorted(infos, key=_topic_order)


def _topic_order(topic: TopicInfo) -> bytes:
    return java_string_order(topic.name)


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(names, key=java_string_order)


def _member(group: StreamsGroup, member: StreamsMember) -> Member:
    metadata, offsets = member.metadata, group.offsets_of(member.member_id)
    endpoint = metadata.user_endpoint
    return Member(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        instance_id=metadata.instance_id,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        topology_epoch=metadata.topology_epoch,
        process_id=metadata.process_id,
        user_endpoint=None if endpoint is None else Endpoint(host=endpoint[0], port=endpoint[1]),
        client_tags=[KeyValue(key=key, value=value) for key, value in metadata.client_tags.items()],
        task_offsets=_task_offsets(offsets.positions),
        task_end_offsets=_task_offsets(offsets.ends),
        assignment=_assignment(member.assigned),
        target_assignment=_assignment(group.target_assignments.get(member.member_id, TargetTasks())),
    )


def _assignment(tasks: CurrentTasks | TargetTasks) -> Assignment:
    return Assignment(
        active_tasks=_task_ids(tasks.active),
        standby_tasks=_task_ids(tasks.standby),
        warmup_tasks=_task_ids(tasks.warmup),
    )


def _task_ids(tasks: Iterable[Task]) -> list[TaskIds]:
    return [TaskIds(subtopology_id=each, partitions=partitions) for each, partitions in by_subtopology(tasks).items()]


def _task_offsets(offsets: Mapping[Task, int]) -> list[TaskOffset]:
    return [
        TaskOffset(subtopology_id=task.subtopology_id, partition=task.partition, offset=offset)
        for task, offset in sorted(offsets.items())
    ]
