"""The common parts of OffsetCommit and TxnOffsetCommit: existing partitions and the offsets to commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar

from ....protocol.error_codes import ErrorCode
from ...runtime.long_work import step
from .group_offsets import OffsetToCommit

if TYPE_CHECKING:
    from ...metadata.metadata_image import TopicImage


class PartitionToCommit(Protocol):
    """A partition of the request."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


P = TypeVar("P", bound=PartitionToCommit)


async def existing_partitions(
    found: TopicImage | None,
    partitions: Iterable[P],
    add_error: Callable[[int, ErrorCode], None],
    unknown_topic: ErrorCode,
) -> list[tuple[TopicImage, P]]:
    """Return the existing partitions of a topic, and call add_error with the index and error code of the others.

    found: the topic, or None if it does not exist. unknown_topic: the error code for a missing topic.
    """
    existing: list[tuple[TopicImage, P]] = []
    for partition in partitions:
        if found is None:
            add_error(partition.partition_index, unknown_topic)
        elif not found.has_partition(partition.partition_index):
            add_error(partition.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        else:
            existing.append((found, partition))
        await step()
    return existing


def offset_to_commit(topic: TopicImage, partition: PartitionToCommit) -> OffsetToCommit:
    """Return the offset of a partition of the request."""
    return OffsetToCommit(
        topic_name=topic.name,
        topic_id=topic.topic_id,
        partition=partition.partition_index,
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata,
    )
