"""Operations that list the verdicts on all topics, and on all groups, in short."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from ...faults.consumption.group_verdict import GroupVerdict
from ...faults.verdict.topic_verdict import BatchVerdict, RecordVerdict, TopicVerdict
from ...faults.verdict.verdict_findings import DELETED
from ..control import Control
from ..current_coordinators import coordinated_groups
from ..errors import CallError
from ..long_calls import run_long_call
from ..operation import Operation
from ..paging import NamePage
from .group_verdicts import judge_group
from .verdict_operations import TAG, judge_topic


class VerdictSummary(Struct, kw_only=True):
    """The verdict on a topic in short.

    findings: how many there are, without deletions by retention or DeleteRecords. kinds: the same by the kind of
    finding, as far as the verdict lists them. error: why there is no verdict; null if there is one.
    """

    topic: str
    findings: int = 0
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    batches: BatchVerdict = field(default_factory=BatchVerdict)
    records: RecordVerdict = field(default_factory=RecordVerdict)
    error: str | None = None


class VerdictSummaryPage(Struct, kw_only=True):
    """Verdicts sorted by topic."""

    items: list[VerdictSummary]
    next: str | None


class GroupVerdictSummary(Struct, kw_only=True):
    """The verdict on a group in short.

    findings: how many there are. kinds: the same by the kind of finding, as far as the verdict lists them. delivered:
    the offsets that were sent to the group. error: why there is no verdict; null if there is one.
    """

    group: str
    findings: int = 0
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    delivered: int = 0
    error: str | None = None


class GroupVerdictSummaryPage(Struct, kw_only=True):
    """Verdicts sorted by group."""

    items: list[GroupVerdictSummary]
    next: str | None


async def list_verdicts(control: Control, query: NamePage) -> VerdictSummaryPage:
    """List the verdicts on all topics in short: how many findings of which kinds, and the counts.

    Deleted topics whose batches are counted are listed too, and internal ones are not. Reads the logs as the verdict on
    a single topic does. While the node is down, each has an error.
    """
    names = [name for name in _judged_names(control) if name > query.since]
    page = names[: query.limit]
    try:
        items = await run_long_call(control, _summarise(control, page))
    except CallError as error:
        # The node has crashed or was reset meanwhile: a list that is read again and again has no reason to fail.
        items = [VerdictSummary(topic=name, error=str(error)) for name in page]
    return VerdictSummaryPage(items=items, next=page[-1] if len(names) > query.limit else None)


def _judged_names(control: Control) -> list[str]:
    topics = control.cluster.image.topics
    counted = control.journal.deliveries.counts.topics
    return sorted(name for name in {*topics, *counted} if name not in topics or not topics[name].is_internal)


async def _summarise(control: Control, names: list[str]) -> list[VerdictSummary]:
    return [await _summary_of(control, name) for name in names]


async def _summary_of(control: Control, name: str) -> VerdictSummary:
    try:
        return summarise(await judge_topic(control, name, None))
    except CallError as error:
        return VerdictSummary(topic=name, error=str(error))


def summarise(verdict: TopicVerdict) -> VerdictSummary:
    """Return a verdict in short."""
    kinds = Counter(finding.kind for finding in verdict.findings)
    deletions = kinds.pop(DELETED, 0)
    # Deletions are listed last: if one is, all other findings are.
    left_out = 0 if deletions else verdict.findings_left_out
    return VerdictSummary(
        topic=verdict.topic,
        findings=sum(kinds.values()) + left_out,
        kinds=dict(kinds),
        batches=verdict.batches,
        records=verdict.records,
    )


async def list_group_verdicts(control: Control, query: NamePage) -> GroupVerdictSummaryPage:
    """List the verdicts on all groups in short: how many findings of which kinds.

    Deleted groups of which the journal has deliveries or commits are listed too. While the node is down, each has an
    error.
    """
    recorded = control.journal.consumption.histories.groups
    existing = (group.group_id for _, group in coordinated_groups(control.cluster))
    names = sorted(name for name in {*recorded, *existing} if name > query.since)
    page = names[: query.limit]
    items = [await _group_summary_of(control, name) for name in page]
    return GroupVerdictSummaryPage(items=items, next=page[-1] if len(names) > query.limit else None)


async def _group_summary_of(control: Control, group_id: str) -> GroupVerdictSummary:
    try:
        return summarise_group(await judge_group(control, group_id))
    except CallError as error:
        return GroupVerdictSummary(group=group_id, error=str(error))


def summarise_group(verdict: GroupVerdict) -> GroupVerdictSummary:
    """Return a verdict in short."""
    kinds = Counter(finding.kind for finding in verdict.findings)
    return GroupVerdictSummary(
        group=verdict.group,
        findings=len(verdict.findings) + verdict.findings_left_out,
        kinds=dict(kinds),
        delivered=sum(each.delivered for each in verdict.partitions),
    )


OPERATIONS = (
    Operation(method="GET", path="/v1/verdicts", perform=list_verdicts, tag=TAG),
    Operation(method="GET", path="/v1/group-verdicts", perform=list_group_verdicts, tag=TAG),
)
