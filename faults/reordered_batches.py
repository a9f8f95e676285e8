"""Finds in the log the batches that a fault kept from it when they came, and that got there behind later ones."""

from __future__ import annotations

from collections.abc import Sequence

from .batch_content import contents_of
from .missing_batches import MissingBatch
from .stored_batches import TopicLogs, records_in


def find_reordered(logs: TopicLogs, topic: str, missing: Sequence[MissingBatch]) -> list[tuple[MissingBatch, int]]:
    """Return the batches that are behind one that came after them over their connection, and the offset of each."""
    found: list[tuple[MissingBatch, int]] = []
    searched: dict[int, list[MissingBatch]] = {}
    for batch in missing:
        if batch.follower_offset is None:
            continue
        if batch.applied_offset is not None:
            if batch.applied_offset > batch.follower_offset:
                found.append((batch, batch.applied_offset))
        elif batch.contents:
            searched.setdefault(batch.partition, []).append(batch)
    for partition, batches in searched.items():
        found += _find_in(logs, topic, partition, batches)
    return found


def _find_in(
    logs: TopicLogs, topic: str, partition: int, missing: list[MissingBatch]
) -> list[tuple[MissingBatch, int]]:
    wanted: dict[int, list[MissingBatch]] = {}
    for batch in missing:
        for content in batch.contents:
            wanted.setdefault(content, []).append(batch)
    found: dict[int, tuple[MissingBatch, int]] = {}
    first_follower = min(batch.follower_offset or 0 for batch in missing)
    for stored, records in records_in(logs, topic, partition, first_follower):
        for content, record in zip(contents_of(records), records, strict=True):
            for batch in wanted.get(content, ()):
                decision = batch.decision
                numbers = (decision.producer_id, decision.producer_epoch, decision.base_sequence)
                is_behind = batch.follower_offset is not None and stored.base_offset > batch.follower_offset
                if is_behind and id(batch) not in found and stored.may_repeat(*numbers):
                    found[id(batch)] = (batch, record.offset)
    return list(found.values())
