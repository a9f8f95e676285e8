"""The topology of an application compared with the topics of the cluster: its tasks, and the topics that are missing.

Source: InternalTopicManager, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....protocol.stored_records.streams_group_records import input_topics
from ....protocol.streams_status import StreamsStatus
from ..java_hash_tables import buckets_of_grown, in_hash_order, java_hash_order
from ..java_strings import java_string_hash, java_string_order
from .partition_counts import PartitionCounts, TopicsProblem, invalid_topology, unexpected

if TYPE_CHECKING:
    from ....protocol.messages.streams_group_heartbeat import Subtopology, TopicInfo, Topology
    from ..consumer.topics import GroupTopics

# Limits of a group (docs/limits.md).
SUBTOPOLOGIES_MAX = 300
TOPICS_MAX = 10_000
TASKS_MAX = 5000
# How many topics a message names.
_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """A topic that the broker creates for the application. replication_factor: 0 or -1 for the broker's default."""

    name: str
    partition_count: int
    replication_factor: int
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ConfiguredSubtopology:
    """A subtopology with the partition counts of its internal topics."""

    task_count: int
    source_topics: frozenset[str]
    repartition_sink_topics: frozenset[str]
    repartition_source_topics: Mapping[str, InternalTopic]
    changelog_topics: Mapping[str, InternalTopic]

    @property
    def input_topics(self) -> frozenset[str]:
        """The topics whose partitions are the tasks' input."""
        return self.source_topics | frozenset(self.repartition_source_topics)

    @property
    def internal_topics(self) -> Iterator[InternalTopic]:
        """The topics that the broker creates."""
        yield from self.repartition_source_topics.values()
        yield from self.changelog_topics.values()


@dataclass(frozen=True, slots=True)
class ConfiguredTopology:
    """The result for one topology.

    subtopologies: by id, in ascending order; none if the topics do not fit. missing: the internal topics to create.
    problem: the status and its detail; None if the topology is ready.
    """

    epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] = field(default_factory=dict[str, ConfiguredSubtopology])
    missing: Mapping[str, InternalTopic] = field(default_factory=dict[str, InternalTopic])
    problem: tuple[StreamsStatus, str] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether all topics exist as the topology needs them."""
        return self.problem is None


def required_topics(topology: Topology) -> frozenset[str]:
    """Return the names of the topics that the topology reads, or keeps its state in."""
    return frozenset(
        name
        for subtopology in topology.subtopologies
        for name in (*input_topics(subtopology), *(topic.name for topic in subtopology.state_changelog_topics))
    )


def subtopologies_by_id(topology: Topology) -> dict[str, Subtopology]:
    """Return the subtopologies in the order of Kafka's hash map, which decides where they contradict each other.

    Raises KafkaError UNKNOWN_SERVER_ERROR if two have the same id, as Kafka does.
    """
    by_id = {each.subtopology_id: each for each in topology.subtopologies}
    if len(by_id) < len(topology.subtopologies):
        raise unexpected("two subtopologies have the same id")
    return {each: by_id[each] for each in java_hash_order(by_id)}


def subtopology_of_topic(topology: Topology) -> dict[str, str]:
    """Return the id of the subtopology that reads each topic."""
    by_id = subtopologies_by_id(topology)
    return {name: subtopology_id for subtopology_id, each in by_id.items() for name in input_topics(each)}


def topics_of(topology: Topology) -> Iterator[str]:
    """Yield the names of the topics that a topology reads, writes or keeps its state in, one for each mention."""
    for each in topology.subtopologies:
        yield from each.source_topics
        yield from each.repartition_sink_topics
        yield from (topic.name for topic in each.repartition_source_topics)
        yield from (topic.name for topic in each.state_changelog_topics)


def check_size(topology: Topology) -> None:
    """Raise KafkaError STREAMS_INVALID_TOPOLOGY for a topology that would hold the event loop."""
    if len(topology.subtopologies) > SUBTOPOLOGIES_MAX:
        raise invalid_topology(
            f"The topology has {len(topology.subtopologies)} subtopologies; at most {SUBTOPOLOGIES_MAX}."
        )
    topic_count = sum(1 for _ in topics_of(topology))
    if topic_count > TOPICS_MAX:
        raise invalid_topology(f"The topology names {topic_count} topics; at most {TOPICS_MAX}.")


def configure(topology: Topology, topics: GroupTopics) -> ConfiguredTopology:
    """Compare the topology with the topics of the cluster.

    Raises KafkaError: STREAMS_INVALID_TOPOLOGY, and UNKNOWN_SERVER_ERROR for one that Kafka does not expect.
    """
    subtopologies = list(subtopologies_by_id(topology).values())
    try:
        return _configured(topology.epoch, subtopologies, topics)
    except TopicsProblem as problem:
        return ConfiguredTopology(topology.epoch, problem=(problem.status, problem.detail))


def _configured(epoch: int, subtopologies: Sequence[Subtopology], topics: GroupTopics) -> ConfiguredTopology:
    missing = {name for each in subtopologies for name in each.source_topics if topics.find(name) is None}
    if missing:
        named = _summary(sorted(missing, key=java_string_order))
        raise TopicsProblem(StreamsStatus.MISSING_SOURCE_TOPICS, f"Source topics {named} are missing.")
    counts = PartitionCounts(subtopologies, topics)
    configured = {
        each.subtopology_id: _configured_subtopology(each, counts)
        for each in sorted(subtopologies, key=lambda each: java_string_order(each.subtopology_id))
    }
    task_count = sum(each.task_count for each in configured.values())
    if task_count > TASKS_MAX:
        raise invalid_topology(f"The topology has {task_count} tasks; at most {TASKS_MAX}.")
    to_create = _missing_internal_topics(configured.values(), topics)
    problem = None
    if to_create:
        problem = StreamsStatus.MISSING_INTERNAL_TOPICS, f"Internal topics are missing: {_summary(list(to_create))}"
    return ConfiguredTopology(epoch, configured, to_create, problem)


def _configured_subtopology(subtopology: Subtopology, counts: PartitionCounts) -> ConfiguredSubtopology:
    return ConfiguredSubtopology(
        counts.task_count(subtopology),
        frozenset(subtopology.source_topics),
        frozenset(subtopology.repartition_sink_topics),
        _internal_by_name(subtopology.repartition_source_topics, counts),
        _internal_by_name(subtopology.state_changelog_topics, counts),
    )


def _internal_by_name(topics: Sequence[TopicInfo], counts: PartitionCounts) -> dict[str, InternalTopic]:
    by_name = {topic.name: _internal(topic, counts) for topic in topics}
    if len(by_name) < len(topics):
        raise unexpected("a subtopology has a topic twice")
    return by_name


def _internal(topic: TopicInfo, counts: PartitionCounts) -> InternalTopic:
    count = topic.partitions or counts.decided(topic.name)
    if count < 1:
        raise unexpected(f"{topic.name} has {count} partitions")
    configs = {config.key: config.value for config in topic.topic_configs}
    if len(configs) < len(topic.topic_configs):
        raise unexpected(f"{topic.name} has a config twice")
    return InternalTopic(topic.name, count, topic.replication_factor, configs)


def _missing_internal_topics(
    subtopologies: Iterable[ConfiguredSubtopology], topics: GroupTopics
) -> dict[str, InternalTopic]:
    internal = {topic.name: topic for each in subtopologies for topic in each.internal_topics}
    order = in_hash_order(internal, java_string_hash, buckets_of_grown(len(internal)))
    missing: dict[str, InternalTopic] = {}
    for name in order:
        existing, wanted = topics.find(name), internal[name]
        if existing is None:
            missing[name] = wanted
        elif existing.partition_count != wanted.partition_count:
            raise TopicsProblem(
                StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS,
                f"Existing topic {name} has different number of partitions: expected {wanted.partition_count}, "
                f"found {existing.partition_count}",
            )
    return missing


def _summary(names: list[str]) -> str:
    rest = f" and {len(names) - _NAMED_MAX} additional topics" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + rest
