"""The partition counts of a topology's topics: of those that exist, and those decided for internal topics.

A repartition topic that the application leaves without a count gets that of the topics that are written into it, a
changelog that of its subtopology, and topics that are joined the same one.
Source: RepartitionTopics, CopartitionedTopicsEnforcer and ChangelogTopics, Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.streams_group_records import input_topics
from ....protocol.streams_status import StreamsStatus
from ..java_strings import java_string_order

if TYPE_CHECKING:
    from ....protocol.messages.streams_group_heartbeat import Subtopology
    from ..consumer.topics import GroupTopics


class TopicsProblem(Exception):
    """The topics do not fit the topology."""

    def __init__(self, status: StreamsStatus, detail: str) -> None:
        """status, detail: for the response to the heartbeat."""
        super().__init__(detail)
        self.status = status
        self.detail = detail


class PartitionCounts:
    """The partition counts of the topics: of those that exist, and those decided for internal topics."""

    def __init__(self, subtopologies: Sequence[Subtopology], topics: GroupTopics) -> None:
        """Decide the counts. Raises TopicsProblem and KafkaError, see configure."""
        self._topics = topics
        self._subtopologies = subtopologies
        self._decided = self._repartition_counts()
        repartition = [topic for each in subtopologies for topic in each.repartition_source_topics]
        self._repartition = frozenset(topic.name for topic in repartition)
        # The repartition topics whose count the application gives, and these counts.
        self._fixed = frozenset(topic.name for topic in repartition if topic.partitions)
        self._fixed_counts = frozenset(map(self._count_of, self._fixed))
        for each in subtopologies:
            for group in _copartition_groups(each):
                if group:
                    self._decided |= self._copartitioned(group)
        for each in subtopologies:
            count = self.task_count(each)
            self._decided |= dict.fromkeys((topic.name for topic in each.state_changelog_topics), count)

    def decided(self, name: str) -> int:
        """Return the count that was decided for an internal topic; 0 if none was."""
        return self._decided.get(name, 0)

    def task_count(self, subtopology: Subtopology) -> int:
        """Return the number of tasks of a subtopology: the highest partition count of its input topics."""
        inputs = input_topics(subtopology)
        if not inputs:
            raise invalid_topology(f"No source topics found for subtopology {subtopology.subtopology_id}")
        return max(self._count_of(name) for name in inputs)

    def _find(self, name: str) -> int | None:
        topic = self._topics.find(name)
        return self._decided.get(name) if topic is None else topic.partition_count

    def _count_of(self, name: str) -> int:
        count = self._find(name)
        if count is None:
            raise unexpected(f"the partition count of {name} is not known")
        return count

    def _repartition_counts(self) -> dict[str, int]:
        """Return the counts of repartition topics: as given, or the highest of the topics that flow into them."""
        counts = {
            topic.name: topic.partitions
            for each in self._subtopologies
            for topic in each.repartition_source_topics
            if topic.partitions
        }
        is_done = False
        while not is_done:
            is_done, has_progress = True, False
            for each in self._subtopologies:
                sinks = [sink for sink in each.repartition_sink_topics if sink not in counts]
                count = self._written_count(each, counts) if sinks else None
                if count is not None:
                    counts |= dict.fromkeys(sinks, count)
                    has_progress = True
                elif sinks:
                    is_done = False
            if not is_done and not has_progress:
                raise invalid_topology(
                    "Failed to compute number of partitions for all repartition topics. There may be loops in the "
                    "topology that cannot be resolved."
                )
        if any(topic.name not in counts for each in self._subtopologies for topic in each.repartition_source_topics):
            raise invalid_topology(
                "Failed to compute number of partitions for all repartition topics, because a repartition source topic "
                "is never used as a sink topic."
            )
        return counts

    def _written_count(self, subtopology: Subtopology, counts: Mapping[str, int]) -> int | None:
        """Return the partition count of what the subtopology writes; None if it is not known yet."""
        known = [counts[each.name] for each in subtopology.repartition_source_topics if each.name in counts]
        found = (self._topics.find(name) for name in subtopology.source_topics)
        return max([*known, *(topic.partition_count for topic in found if topic is not None)], default=None)

    def _copartitioned(self, group: frozenset[str]) -> dict[str, int]:
        """Return the counts of the repartition topics of a group of topics that are joined."""
        counts = {name: self._count_of(name) for name in group}
        internal = {name: count for name, count in counts.items() if name in self._repartition}
        external = {name: count for name, count in counts.items() if name not in self._repartition}
        if external:
            wanted = _same_count(external, external.values())
        elif self._fixed:
            wanted = _same_count(internal, self._fixed_counts)
        else:
            wanted = max(internal.values())
            if not wanted:
                raise invalid_topology(
                    f"All topics in the copartition group had undefined partition number: {_listed(internal)}"
                )
        for name, count in internal.items():
            if name in self._fixed and count != wanted:
                raise TopicsProblem(
                    StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS,
                    f"Number of partitions [{count}] of repartition topic [{name}] doesn't match number of partitions "
                    f"[{wanted}] of the source topic.",
                )
        return dict.fromkeys(internal, wanted)


def _same_count(named: Mapping[str, int], counts: Collection[int]) -> int:
    """Return the count that all have. named: the topics that the error names, with their counts."""
    if len(set(counts)) > 1:
        listed = ", ".join(f"{name}={named[name]}" for name in sorted(named, key=java_string_order))
        raise TopicsProblem(
            StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS,
            f"Following topics do not have the same number of partitions: [{{{listed}}}]",
        )
    return next(iter(counts))


def _copartition_groups(subtopology: Subtopology) -> Iterator[frozenset[str]]:
    try:
        for group in subtopology.copartition_groups:
            sources = {subtopology.source_topics[_index(index)] for index in group.source_topics}
            internal = subtopology.repartition_source_topics
            yield frozenset(sources | {internal[_index(each)].name for each in group.repartition_source_topics})
    except IndexError as error:
        raise unexpected("a copartition group names a topic that is not there") from error


def _index(number: int) -> int:
    if number < 0:
        raise IndexError(number)
    return number


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def invalid_topology(message: str) -> KafkaError:
    """Return the error for a topology that cannot be."""
    return KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, message)


def unexpected(reason: str) -> KafkaError:
    """Return the error for what Kafka's coordinator does not expect. Its response has no message."""
    return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, reason)
