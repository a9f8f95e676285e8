"""What really happened to the batches of a topic, in counts and in findings: the words of Jepsen for a partition's log.

Counted as batches come and go, and found by reading the log when somebody asks. Batches are what clients sent and not
what they meant: one that was sent twice and appended once is one. A copy is found by what its records are, where the
client was not told of the first one; or, if a test names what tells its events apart, by that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from ..journal.batch_counts import ProducerCounts
from ..journal.journal import Journal
from .delivery_counts import LostBatch
from .reordered_batches import find_reordered
from .stored_batches import StoredBatch, TopicLogs, headers_in
from .stored_copies import CopiedRecords, FoundCopies, find_copies_of_doubtful, find_copies_of_events
from .unacknowledged_batches import UnacknowledgedBatch
from .verdict_findings import Finding, lost_finding, reordered_finding, twice_finding, unacknowledged_finding
from .withheld_batches import WithheldBatch

# Findings that are told; how many more there are is told as a number.
FINDINGS_MAX = 1000


class BatchVerdict(Struct, kw_only=True):
    """Batches by what became of them.

    appended_once: in the log, and no record of them came before or comes again. appended_twice: of which the log has
    records again, further on; what consists of such copies only is not counted on its own.
    refused: by the log, each time they came. duplicates_recognised: came again, and were answered with their offset.
    acknowledged_lost: the client was told, and the log does not have them: after a crash, or after a false success.
    stored_unacknowledged: in the log, and the client was never told, or not yet.
    reordered: in the log behind what its connection sent later.
    """

    appended_once: int = 0
    appended_twice: int = 0
    refused: int = 0
    duplicates_recognised: int = 0
    acknowledged_lost: int = 0
    stored_unacknowledged: int = 0
    reordered: int = 0


class RecordVerdict(Struct, kw_only=True):
    """Records in the log; duplicates: those that are copies of others, which distinct leaves out."""

    in_log: int = 0
    distinct: int = 0
    duplicates: int = 0


class ProducerVerdict(Struct, kw_only=True):
    """The batches of one producer; -1 for those without one, -2 for producers too many to be told apart."""

    producer_id: int
    batches: BatchVerdict


class TopicVerdict(Struct, kw_only=True):
    """The verdict of a topic.

    findings_left_out: how many more findings there are. forgotten: unacknowledged batches beyond the limit, in all
    topics; copies of those are not found.
    """

    topic: str
    batches: BatchVerdict
    records: RecordVerdict
    findings: list[Finding]
    producers: list[ProducerVerdict]
    findings_left_out: int = 0
    forgotten: int = 0


@dataclass(slots=True)
class _Case:
    """What is found of one topic."""

    journal: Journal
    found: FoundCopies
    unacknowledged: list[UnacknowledgedBatch]
    lost: list[LostBatch]
    reordered: list[tuple[WithheldBatch, int]]
    # Records that are copies of others, by the place of their batch: their offsets.
    copied: dict[StoredBatch, set[int]] = field(default_factory=dict[StoredBatch, set[int]])
    twice: set[StoredBatch] = field(default_factory=set[StoredBatch])


def judge(journal: Journal, logs: TopicLogs, topic: str, *, event_id: str | None = None) -> TopicVerdict:
    """Return the verdict of a topic.

    event_id: "key" or "header:NAME", where records that are equal in that are one event.
    """
    deliveries = journal.deliveries
    unacknowledged = deliveries.unacknowledged_in(topic, journal.waiting())
    found = find_copies_of_doubtful(logs, deliveries.searched_in(topic, unacknowledged))
    reordered = find_reordered(logs, topic, list(deliveries.withheld.of_topic(topic)))
    lost = [each for each in deliveries.lost if each.topic == topic]
    case = _Case(journal, found, unacknowledged, lost, reordered)
    _take_in(case, found.copies)
    if event_id is not None:
        known = {(batch.partition, offset) for batch, offsets in case.copied.items() for offset in offsets}
        of_events = list(find_copies_of_events(logs, topic, event_id, known))
        _take_in(case, of_events)
        found.copies += of_events
    in_log = sum(header.records_count for index in logs.partitions(topic) for header in headers_in(logs, topic, index))
    duplicates = sum(map(len, case.copied.values()))
    producers = _count_by_producer(case, list(deliveries.counts.of_topic(topic)))
    batches = _summed(producers)
    batches.acknowledged_lost += deliveries.lost_untold.get(topic, 0)
    findings = _findings(case)
    return TopicVerdict(
        topic=topic,
        batches=batches,
        records=RecordVerdict(in_log=in_log, distinct=in_log - duplicates, duplicates=duplicates),
        findings=findings[:FINDINGS_MAX],
        producers=[ProducerVerdict(producer_id=each, batches=producers[each]) for each in sorted(producers)],
        findings_left_out=max(0, len(findings) - FINDINGS_MAX),
        forgotten=deliveries.unacknowledged.forgotten,
    )


def _take_in(case: _Case, copies: list[CopiedRecords]) -> None:
    for each in copies:
        case.twice.add(each.original)
        case.copied.setdefault(each.copy, set()).update(offset for _, offset in each.offsets)


def _unacknowledged(case: _Case) -> list[UnacknowledgedBatch]:
    return [
        doubt for doubt in case.unacknowledged if (doubt.partition, doubt.base_offset) not in case.found.acknowledged
    ]


def _count_by_producer(case: _Case, counts: list[ProducerCounts]) -> dict[int, BatchVerdict]:
    verdicts: dict[int, BatchVerdict] = {}

    def of(producer_id: int) -> BatchVerdict:
        return verdicts.setdefault(producer_id, BatchVerdict())

    for count in counts:
        verdict = of(count.producer_id)
        verdict.appended_once += count.appended
        verdict.refused += count.refused
        verdict.duplicates_recognised += count.duplicates_recognised
    only_copies = {batch for batch, offsets in case.copied.items() if len(offsets) == batch.records_count}
    for batch in case.twice - only_copies:
        of(batch.producer_id).appended_twice += 1
    for batch in case.twice | only_copies:
        verdict = of(batch.producer_id)
        # What was in the log before the journal began, or came over another node, is not counted there.
        verdict.appended_once = max(0, verdict.appended_once - 1)
    for lost in case.lost:
        of(lost.producer_id).acknowledged_lost += 1
    for doubt in _unacknowledged(case):
        of(doubt.producer_id).stored_unacknowledged += 1
    for withheld, _ in case.reordered:
        of(withheld.decision.producer_id).reordered += 1
    return verdicts


def _summed(verdicts: dict[int, BatchVerdict]) -> BatchVerdict:
    total = BatchVerdict()
    for verdict in verdicts.values():
        for name in BatchVerdict.__struct_fields__:
            setattr(total, name, getattr(total, name) + getattr(verdict, name))
    return total


def _findings(case: _Case) -> list[Finding]:
    findings = [twice_finding(case.journal, copies) for copies in case.found.copies]
    findings += [lost_finding(case.journal, lost) for lost in case.lost]
    findings += [reordered_finding(case.journal, withheld, offset) for withheld, offset in case.reordered]
    findings += [unacknowledged_finding(case.journal, doubt) for doubt in _unacknowledged(case)]
    return findings
