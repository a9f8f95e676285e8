"""Finds the batches that a failover has lost and that an idempotent producer has sent to another leader too."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.batches.record_batch import NO_PRODUCER_ID
from ..work_steps import Steps
from .lost_batches import LostBatch
from .stored_batches import TopicLogs, headers_in

# Partition, producer id, producer epoch and first sequence.
_Identity = tuple[int, int, int, int]


def find_stored_again(logs: TopicLogs, topic: str, lost: Sequence[LostBatch]) -> Steps[dict[LostBatch, int]]:
    """Return the batches that are in the log of the leader after all, with their offset there.

    A client that gets no response from one leader sends the batch to the next, with the same sequences. The broker
    acknowledges it wherever it is, and one of the two is enough.
    """
    identities = {each: _identity_of(each) for each in lost if _is_comparable(each)}
    wanted = set(identities.values())
    stored: dict[_Identity, int] = {}
    for partition in {each.partition for each in identities}:
        for header in headers_in(logs, topic, partition):
            yield
            identity = (partition, header.producer_id, header.producer_epoch, header.base_sequence)
            if identity in wanted:
                stored[identity] = header.base_offset
    return {each: stored[identity] for each, identity in identities.items() if identity in stored}


def _is_comparable(lost: LostBatch) -> bool:
    return lost.failover is not None and lost.producer_id != NO_PRODUCER_ID and lost.base_sequence >= 0


def _identity_of(lost: LostBatch) -> _Identity:
    return lost.partition, lost.producer_id, lost.producer_epoch, lost.base_sequence
