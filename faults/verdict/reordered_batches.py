"""Finds withheld batches that were appended after later batches of their connection."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.batches.record_batch import parse_header
from ..work_steps import Steps
from .batch_content import contents_of
from .stored_batches import TopicLogs, batches_in, read_records, stored_batch
from .withheld_batches import WithheldBatch


def find_reordered(
    logs: TopicLogs, topic: str, withheld: Sequence[WithheldBatch]
) -> Steps[list[tuple[WithheldBatch, int]]]:
    """Return the batches that are behind their follower in the log, with their offsets.

    A follower in an aborted transaction is none: it is sent again.
    """
    found: list[tuple[WithheldBatch, int]] = []
    searched: dict[int, list[WithheldBatch]] = {}
    for batch in withheld:
        if batch.contents and _has_follower(logs, batch):
            searched.setdefault(batch.partition, []).append(batch)
    for partition, batches in searched.items():
        found += yield from _find_in(logs, topic, partition, batches)
    return found


def _has_follower(logs: TopicLogs, batch: WithheldBatch) -> bool:
    if batch.follower_offset is None:
        return False
    place = (batch.topic, batch.partition)
    first = next(logs.batches(*place, batch.follower_offset), None)
    header = None if first is None else parse_header(first)
    # One that retention has deleted is still a follower.
    return header is None or header.base_offset != batch.follower_offset or not logs.is_aborted(*place, header)


def _find_in(
    logs: TopicLogs, topic: str, partition: int, withheld: list[WithheldBatch]
) -> Steps[list[tuple[WithheldBatch, int]]]:
    """Return the batches of one partition whose first copy is behind their follower, with its offset."""
    wanted: dict[int, list[WithheldBatch]] = {}
    for batch in withheld:
        for content in batch.contents:
            wanted.setdefault(content, []).append(batch)
    found: dict[int, tuple[WithheldBatch, int]] = {}
    from_offset = min(batch.search_offset for batch in withheld)
    for each in batches_in(logs, topic, partition, from_offset):
        stored = stored_batch(partition, each[0])
        records = yield from read_records(logs, topic, partition, each)
        for content, record in zip(contents_of(records), records, strict=True):
            yield
            for batch in wanted.get(content, ()):
                decision = batch.decision
                numbers = (decision.producer_id, decision.producer_epoch, decision.base_sequence)
                is_new = stored.base_offset >= batch.search_offset and stored.may_repeat(*numbers)
                if is_new and id(batch) not in found:
                    found[id(batch)] = (batch, record.offset)
    return [(batch, offset) for batch, offset in found.values() if offset > (batch.follower_offset or 0)]
