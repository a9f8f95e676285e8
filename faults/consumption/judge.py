"""Makes the verdict on a group from its history and the logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, Protocol

from ...protocol.error_codes import ErrorCode
from ..work_steps import Steps
from .explanations import explain
from .facts import Cause, Fact, Kind
from .group_history import GroupHistory, TopicPartition
from .group_verdict import GroupFinding, GroupPartition, GroupVerdict, ShareCounts
from .partition_history import PartitionHistory
from .processing import Processing, processing_facts
from .share_history import ShareHistory

# Findings in a verdict; the rest is a number.
FINDINGS_MAX = 1000
# Keys of records that a finding names.
KEYS_MAX = 5
# Facts about records. What they say of a transaction marker or an aborted record concerns no consumer.
_OF_RECORDS = frozenset({Kind.DELIVERED_TWICE, Kind.NEVER_DELIVERED, Kind.OUT_OF_ORDER, Kind.PROCESSED_TWICE})
NOTHING_REPORTED: Mapping[TopicPartition, Processing] = MappingProxyType({})


class LogEnds(NamedTuple):
    """Where the records of a partition begin and end. open_producer: the producer of the first open transaction."""

    log_start: int
    high_watermark: int
    last_stable_offset: int
    open_producer: int | None = None


class ConsumedLogs(Protocol):
    """The logs of the partitions of a group."""

    def find_ends(self, topic: str, partition: int) -> LogEnds | None:
        """Return the ends of a partition; None for a deleted one."""
        ...

    def has_partition(self, topic: str, partition: int) -> bool:
        """Whether the topic exists and has the partition."""
        ...

    def keys(self, topic: str, partition: int, first: int, end: int) -> Steps[list[str]]:
        """Return the keys of the first records from first to before end, without those that the log does not have."""
        ...

    def may_have_records(
        self, topic: str, partition: int, offsets: tuple[int, int], *, committed_only: bool
    ) -> Steps[bool]:
        """Return whether one of the offsets from the first to before the second is or was a record, and not a marker.

        committed_only: records of aborted transactions do not count. Offsets that the log does not have are records.
        """
        ...


@dataclass(frozen=True, slots=True)
class _RecordedFact:
    """What happened in a partition.

    needs_records: whether the fact is none if it is about transaction markers only. committed_only: and about records
    of aborted transactions.
    """

    topic: str
    partition: int
    fact: Fact
    needs_records: bool = False
    committed_only: bool = False

    def is_of_records(self, logs: ConsumedLogs) -> Steps[bool]:
        """Return whether the fact concerns a consumer."""
        if not self.needs_records:
            return True
        offsets = (self.fact.first, self.fact.end)
        return (
            yield from logs.may_have_records(self.topic, self.partition, offsets, committed_only=self.committed_only)
        )

    def finding(self, logs: ConsumedLogs) -> Steps[GroupFinding]:
        """Return the fact with the keys of the first records."""
        fact, is_range = self.fact, self.fact.kind is not Kind.STALE_MEMBER_COMMITTED
        keys = (yield from logs.keys(self.topic, self.partition, fact.first, fact.end)) if is_range else []
        return GroupFinding(
            kind=fact.kind.value,
            cause=fact.cause.value,
            topic=self.topic,
            partition=self.partition,
            offsets=[fact.first, fact.end - 1 if is_range else fact.end],
            why=explain(fact),
            member=fact.receiver,
            earlier_member=fact.earlier,
            committed=fact.offset,
            count=fact.count,
            error=ErrorCode(fact.error_code).name if fact.error_code else None,
            keys=keys,
            request_ids=fact.request_ids,
        )


def _is_untouched(partition: PartitionHistory) -> bool:
    """Whether nothing was delivered or committed, and nothing went wrong."""
    return partition.delivered.end is None and partition.committed is None and not partition.facts


def judge_group(
    group_id: str,
    history: GroupHistory,
    logs: ConsumedLogs,
    processed: Mapping[TopicPartition, Processing] = NOTHING_REPORTED,
) -> Steps[GroupVerdict]:
    """Return the verdict on a group, as it was before the first step.

    processed: what the application has reported, by partition.
    """
    partitions: list[GroupPartition] = []
    recorded: list[_RecordedFact] = []
    left_out = 0
    histories: list[tuple[TopicPartition, PartitionHistory | ShareHistory]] = [
        # A task of a streams group is about one partition of all its topics, of those with fewer partitions too.
        *(each for each in history.partitions.items() if logs.has_partition(*each[0]) or not _is_untouched(each[1])),
        *history.shares.items(),
    ]
    for (topic, index), partition in sorted(histories, key=itemgetter(0)):
        ends, processing = logs.find_ends(topic, index), processed.get((topic, index))
        left_out += partition.facts_left_out
        if isinstance(partition, ShareHistory):
            partitions.append(_count_shared(topic, index, partition, ends))
            recorded += [_RecordedFact(topic, index, fact.copy()) for fact in partition.facts()]
        else:
            partitions.append(_counted(topic, index, partition, ends, processing))
            committed_only = history.reads_committed((topic, index))
            for fact in _facts_of(partition, ends, processing, committed_only=committed_only):
                needs_records = fact.kind in _OF_RECORDS
                recorded.append(_RecordedFact(topic, index, fact.copy(), needs_records, committed_only))
    notes = list(_notes(group_id, history))
    findings: list[GroupFinding] = []
    for each in recorded:
        yield
        if not (yield from each.is_of_records(logs)):
            continue
        if len(findings) < FINDINGS_MAX:
            findings.append((yield from each.finding(logs)))
        else:
            left_out += 1
    return GroupVerdict(
        group=group_id,
        partitions=partitions,
        findings=findings,
        notes=notes,
        findings_left_out=left_out,
    )


def _notes(group_id: str, history: GroupHistory) -> Iterator[str]:
    for other, client in sorted(history.same_client.items()):
        yield f"cannot tell {group_id!r} from {other!r}: the client id {client.client_id!r} at {client.host} is in both"
    for topic in sorted(history.recreated_topics):
        unjudged = f"nothing is judged that group {group_id!r} got of the earlier topic"
        yield f"{topic} was deleted and created again: {unjudged}"


def _facts_of(
    partition: PartitionHistory, ends: LogEnds | None, processing: Processing | None, *, committed_only: bool
) -> Iterator[Fact]:
    missing = partition.missing(None if ends is None else max(ends.high_watermark, partition.log_start))
    yield from partition.facts if processing is None else processing_facts(partition, processing, missing)
    yield from missing
    if ends is None or ends.open_producer is None or not committed_only:
        return
    stable, end = ends.last_stable_offset, ends.high_watermark
    if partition.position == stable < end:
        yield Fact(Kind.BLOCKED, Cause.OPEN_TRANSACTION, stable, end, receiver=f"producer {ends.open_producer}")


def _counted(
    topic: str, index: int, partition: PartitionHistory, ends: LogEnds | None, processing: Processing | None
) -> GroupPartition:
    delivered = sum(span.end - span.first for span in partition.delivered)
    committed = partition.committed
    processed = 0 if processing is None else processing.offsets.count
    if processing is None and committed is not None:
        processed = sum(span.end - span.first for span in partition.delivered.within(0, committed))
    lag = None
    if ends is not None:
        lag = max(0, ends.high_watermark - (ends.log_start if committed is None else committed))
    return GroupPartition(
        topic=topic,
        partition=index,
        delivered=delivered,
        processed=processed,
        processed_from="commits" if processing is None else "reports",
        committed=committed,
        high_watermark=None if ends is None else ends.high_watermark,
        lag=lag,
    )


def _count_shared(topic: str, index: int, partition: ShareHistory, ends: LogEnds | None) -> GroupPartition:
    totals, lag = partition.totals, None
    if ends is not None and partition.end is not None:
        lag = partition.open_count + max(0, ends.high_watermark - partition.end)
    return GroupPartition(
        topic=topic,
        partition=index,
        delivered=partition.delivered_count,
        processed=totals.accepted,
        committed=partition.start,
        high_watermark=None if ends is None else ends.high_watermark,
        lag=lag,
        share=ShareCounts(
            acquired=partition.acquired_count,
            acquisitions=totals.acquisitions,
            accepted=totals.accepted,
            released=totals.released,
            rejected=totals.rejected,
            archived=totals.archived,
            locks_ended=totals.locks_ended,
            members_left=totals.members_left,
            delivery_counts=partition.delivery_counts,
        ),
    )
