"""Finds what producers have sent that got their producer ids before the last reset of the broker's data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..journal.batch_counts import ProducerCounts
from ..journal.journal import Journal
from ..work_steps import Steps
from .stored_batches import TopicLogs, headers_in

_NONE = -1


@dataclass(slots=True)
class EarlierProducer:
    """What one of these producers has sent to a partition since the reset.

    counts: of its batches. records: the number of its records in the log.
    base_offset, producer_epoch, base_sequence: of its first batch in the log. last_offset: of its last one. They are -1
    without a batch in the log.
    """

    counts: ProducerCounts
    records: int = 0
    base_offset: int = _NONE
    last_offset: int = _NONE
    producer_epoch: int = _NONE
    base_sequence: int = _NONE


def find_earlier_producers(
    journal: Journal, logs: TopicLogs, topic: str, counts: Sequence[ProducerCounts]
) -> Steps[list[EarlierProducer]]:
    """Return the producers of the topic that got their ids before the last reset. counts: of the whole topic."""
    found = {
        (each.partition, each.producer_id): EarlierProducer(each)
        for each in counts
        if journal.is_from_before_reset(each.producer_id)
    }
    for partition in sorted({partition for partition, _ in found}):
        for header in headers_in(logs, topic, partition):
            yield
            producer = found.get((partition, header.producer_id))
            # Imported logs may have older batches of the same producer id.
            if producer is None or not 0 <= producer.counts.first_offset <= header.base_offset:
                continue
            if not producer.records:
                producer.base_offset, producer.base_sequence = header.base_offset, header.base_sequence
                producer.producer_epoch = header.producer_epoch
            producer.last_offset = header.last_offset
            producer.records += header.records_count
    return [found[key] for key in sorted(found)]
