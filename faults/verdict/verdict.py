"""The verdict on a topic: counts of its batches, and findings for those that are not stored exactly once.

Lost batches of the same cause are one finding. Hanging transactions, records that retention or DeleteRecords
deleted, and batches of producers from before the last reset, are findings too.

The counts are those of the journal; copies and reordered batches are found by reading the log for each verdict.
A batch that was sent twice and appended once counts once. A copy is found by the content of its records if the first
batch was not acknowledged, or by an event id that the test names. The terms follow Jepsen's checkers.

Reading a long log takes many steps, and requests are handled between them. The counts of the journal are those of the
first step. What was unacknowledged then and is acknowledged in the last step is no finding.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..event_ids import EventIdOf, record_key
from ..journal.batch_counts import ProducerCounts
from ..journal.journal import Journal
from ..work_steps import Steps
from .deleted_ranges import DeletedRange
from .earlier_producers import EarlierProducer, find_earlier_producers
from .hanging_transactions import HangingTransaction, TransactionLogs, find_hanging
from .lost_batches import LostBatch
from .lost_events import LostEvents
from .lost_ranges import join_by_cause
from .reordered_batches import find_reordered
from .stored_again import find_stored_again
from .stored_batches import StoredBatch, headers_in
from .stored_copies import CopiedRecords, FoundCopies, find_copies_of_events, find_copies_of_unacknowledged
from .topic_verdict import BatchVerdict, ProducerVerdict, RecordVerdict, TopicVerdict
from .unacknowledged_batches import UnacknowledgedBatch
from .verdict_findings import Finding, FindingMaker
from .withheld_batches import WithheldBatch

# Findings in a verdict; the rest is a number.
FINDINGS_MAX = 1000


@dataclass(slots=True)
class _Analysis:
    """The data and findings of one topic."""

    found: FoundCopies
    unacknowledged: list[UnacknowledgedBatch]
    lost: list[LostBatch]
    reordered: list[tuple[WithheldBatch, int]]
    earlier_producers: list[EarlierProducer]
    deleted: list[DeletedRange]
    hanging: list[HangingTransaction]
    # The offsets of copied records, by their batch.
    copied: dict[StoredBatch, set[int]] = field(default_factory=dict[StoredBatch, set[int]])
    twice: set[StoredBatch] = field(default_factory=set[StoredBatch])


def judge(
    journal: Journal, logs: TransactionLogs, topic: str, *, event_id_of: EventIdOf | None = None
) -> Steps[TopicVerdict]:
    """Return the verdict of a topic.

    event_id_of: reads the event id of a record; records with the same one are one event. Lost records are named by it,
    by default by their key.
    """
    deliveries = journal.deliveries
    unacknowledged = deliveries.unacknowledged_in(topic, journal.pending())
    searched = deliveries.searched_in(topic, unacknowledged)
    withheld, lost = list(deliveries.withheld.of_topic(topic)), deliveries.lost_in(topic)
    counts = list(deliveries.counts.of_topic(topic))
    deleted, deleted_count = deliveries.deleted.of_topic(topic), deliveries.deleted.count_of_topic(topic)
    hanging = find_hanging(logs, topic)
    in_log = yield from _count_records(logs, topic)
    found = yield from find_copies_of_unacknowledged(logs, searched)
    reordered = yield from find_reordered(logs, topic, withheld)
    stored_again = yield from find_stored_again(logs, topic, lost)
    lost = [each for each in lost if each not in stored_again]
    found.acknowledged.update((each.partition, offset) for each, offset in stored_again.items())
    earlier_producers = yield from find_earlier_producers(journal, logs, topic, counts)
    # The responses to some of them may have been written meanwhile.
    pending = {each.place: each for each in deliveries.unacknowledged_in(topic, journal.pending())}
    unacknowledged = [pending[each.place] for each in unacknowledged if each.place in pending]
    analysis = _Analysis(found, unacknowledged, lost, reordered, earlier_producers, deleted, hanging)
    _add_copies(analysis, found.copies)
    if event_id_of is not None:
        yield from _find_events(analysis, logs, topic, event_id_of)
    duplicates = sum(map(len, analysis.copied.values()))
    producers = _count_by_producer(analysis, counts)
    batches = _summed(producers)
    batches.acknowledged_lost += deliveries.count_lost_beyond_max(topic)
    events = LostEvents(deliveries.removed, logs, lost, event_id_of or record_key)
    findings = yield from _findings(analysis, FindingMaker(journal, topic), events)
    return TopicVerdict(
        topic=topic,
        batches=batches,
        records=RecordVerdict(
            in_log=in_log, distinct=in_log - duplicates, duplicates=duplicates, deleted=deleted_count
        ),
        findings=findings[:FINDINGS_MAX],
        producers=[ProducerVerdict(producer_id=each, batches=producers[each]) for each in sorted(producers)],
        findings_left_out=max(0, len(findings) - FINDINGS_MAX),
        forgotten=deliveries.unacknowledged.forgotten,
        refused_elsewhere=deliveries.counts.refused_elsewhere,
    )


def _count_records(logs: TransactionLogs, topic: str) -> Steps[int]:
    count = 0
    for partition in logs.partitions(topic):
        for header in headers_in(logs, topic, partition):
            count += header.records_count
            yield
    return count


def _find_events(analysis: _Analysis, logs: TransactionLogs, topic: str, event_id_of: EventIdOf) -> Steps[None]:
    """Add the copies by event id to those that were found by content."""
    known = {(batch.partition, offset) for batch, offsets in analysis.copied.items() for offset in offsets}
    of_events = yield from find_copies_of_events(logs, topic, event_id_of, known)
    _add_copies(analysis, of_events)
    analysis.found.copies += of_events


def _add_copies(analysis: _Analysis, copies: list[CopiedRecords]) -> None:
    for each in copies:
        analysis.twice.add(each.original)
        analysis.copied.setdefault(each.copy, set()).update(offset for _, offset in each.offsets)


def _unacknowledged(analysis: _Analysis) -> list[UnacknowledgedBatch]:
    return [
        batch
        for batch in analysis.unacknowledged
        if (batch.partition, batch.base_offset) not in analysis.found.acknowledged
    ]


def _count_by_producer(analysis: _Analysis, counts: list[ProducerCounts]) -> dict[int, BatchVerdict]:
    verdicts: dict[int, BatchVerdict] = {}

    def of(producer_id: int) -> BatchVerdict:
        return verdicts.setdefault(producer_id, BatchVerdict())

    for count in counts:
        verdict = of(count.producer_id)
        verdict.appended_once += count.appended
        verdict.refused += count.refused
        verdict.duplicates_recognised += count.duplicates_recognised
    only_copies = {batch for batch, offsets in analysis.copied.items() if len(offsets) == batch.records_count}
    for batch in analysis.twice - only_copies:
        of(batch.producer_id).appended_twice += 1
    for batch in analysis.twice | only_copies:
        verdict = of(batch.producer_id)
        # The counts do not have batches from before the journal started, or from another node.
        verdict.appended_once = max(0, verdict.appended_once - 1)
    for lost in analysis.lost:
        of(lost.producer_id).acknowledged_lost += 1
    for each in _unacknowledged(analysis):
        of(each.producer_id).stored_unacknowledged += 1
    for withheld, _ in analysis.reordered:
        of(withheld.decision.producer_id).reordered += 1
    return verdicts


def _summed(verdicts: dict[int, BatchVerdict]) -> BatchVerdict:
    total = BatchVerdict()
    for verdict in verdicts.values():
        for name in BatchVerdict.__struct_fields__:
            setattr(total, name, getattr(total, name) + getattr(verdict, name))
    return total


def _findings(analysis: _Analysis, make: FindingMaker, events: LostEvents) -> Steps[list[Finding]]:
    findings: list[Finding] = []
    for copies in analysis.found.copies:
        findings.append(make.twice(copies))
        yield
    for lost in join_by_cause(analysis.lost):
        findings.append(make.lost(lost, (yield from events.of_range(lost))))
    findings += (make.reordered(withheld, offset) for withheld, offset in analysis.reordered)
    for batch in _unacknowledged(analysis):
        findings.append(make.unacknowledged(batch))
        yield
    findings += map(make.hanging, analysis.hanging)
    findings += map(make.earlier_producer, analysis.earlier_producers)
    # Pages and commands count the others by this order.
    return findings + list(map(make.deleted, analysis.deleted))
