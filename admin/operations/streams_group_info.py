"""What the operations that read groups say about streams groups: their topology, and the tasks of their members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ...broker.metadata.metadata_image import MetadataImage
    from ...protocol.messages.streams_group_describe import Assignment, TaskIds, Topology


class TaskInfo(Struct, kw_only=True):
    """The tasks of a member: the partitions of each subtopology by its id."""

    active: dict[str, list[int]]
    standby: dict[str, list[int]]
    warmup: dict[str, list[int]]


class SubtopologyInfo(Struct, kw_only=True):
    """A subtopology. changelog_topics: the topics of its state."""

    subtopology_id: str
    source_topics: list[str]
    repartition_source_topics: list[str]
    repartition_sink_topics: list[str]
    changelog_topics: list[str]


class TopologyInfo(Struct, kw_only=True):
    """The topology of a Kafka Streams application."""

    epoch: int
    subtopologies: list[SubtopologyInfo]


def topology_info(topology: Topology | None) -> TopologyInfo | None:
    """Return the topology of a described group."""
    if topology is None:
        return None
    return TopologyInfo(
        epoch=topology.epoch,
        subtopologies=[
            SubtopologyInfo(
                subtopology_id=each.subtopology_id,
                source_topics=each.source_topics,
                repartition_source_topics=[topic.name for topic in each.repartition_source_topics],
                repartition_sink_topics=each.repartition_sink_topics,
                changelog_topics=[topic.name for topic in each.state_changelog_topics],
            )
            for each in topology.subtopologies or ()
        ],
    )


def task_info(assignment: Assignment) -> TaskInfo:
    """Return the tasks of a described member."""
    return TaskInfo(
        active=_by_subtopology(assignment.active_tasks),
        standby=_by_subtopology(assignment.standby_tasks),
        warmup=_by_subtopology(assignment.warmup_tasks),
    )


def _by_subtopology(tasks: list[TaskIds]) -> dict[str, list[int]]:
    return {each.subtopology_id: each.partitions for each in tasks}


def input_partitions(
    tasks: dict[str, list[int]], topology: TopologyInfo | None, image: MetadataImage
) -> dict[str, list[int]]:
    """Return the partitions by topic that are the input of tasks."""
    subtopologies = {} if topology is None else {each.subtopology_id: each for each in topology.subtopologies}
    partitions: dict[str, list[int]] = {}
    for subtopology_id, indexes in tasks.items():
        subtopology = subtopologies.get(subtopology_id)
        for name in () if subtopology is None else subtopology.source_topics + subtopology.repartition_source_topics:
            topic = image.find_topic(name)
            if topic is not None:
                partitions.setdefault(name, []).extend(index for index in indexes if topic.has_partition(index))
    return partitions
