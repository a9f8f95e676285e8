"""What OffsetCommit and TxnOffsetCommit have in common: which partitions there are, and what is to be committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ....protocol.error_codes import ErrorCode
from .group_offsets import OffsetToCommit

if TYPE_CHECKING:
    from ...metadata.metadata_image import TopicImage


class PartitionToCommit(Protocol):
    """A partition of such a request."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


class PartitionAnswer(Protocol):
    """A partition of the answer."""

    error_code: int


P = TypeVar("P", bound=PartitionToCommit)


def existing_partitions(
    found: TopicImage | None,
    partitions: Iterable[P],
    answer: Callable[[int, ErrorCode], None],
    unknown_topic: ErrorCode,
) -> list[tuple[TopicImage, P]]:
    """Return the partitions of the topic that exist; the others are answered, with unknown_topic if it does not."""
    existing: list[tuple[TopicImage, P]] = []
    for partition in partitions:
        if found is None:
            answer(partition.partition_index, unknown_topic)
        elif not found.has_partition(partition.partition_index):
            answer(partition.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        else:
            existing.append((found, partition))
    return existing


def offset_of(topic: TopicImage, partition: PartitionToCommit) -> OffsetToCommit:
    """Return what is to be committed for the partition."""
    return OffsetToCommit(
        topic_name=topic.name,
        topic_id=topic.topic_id,
        partition=partition.partition_index,
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata,
    )


def refuse_accepted(partitions: Iterable[Sequence[PartitionAnswer]], error_code: ErrorCode) -> None:
    """Turn the answers of what was accepted into refusals: it could not be made safe. partitions: of each topic."""
    for of_topic in partitions:
        for partition in of_topic:
            if partition.error_code == ErrorCode.NONE:
                partition.error_code = error_code
