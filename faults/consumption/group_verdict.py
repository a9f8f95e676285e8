"""The verdict on a group as findings and counts of its partitions, and assertions whose failures explain themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from msgspec import Struct

from .facts import Kind

# The findings in the text of a failed assertion: the first ones show the cause, and the verdict has the others.
FINDINGS_SHOWN = 5
TWICE = (Kind.DELIVERED_TWICE.value, Kind.HANGING.value)
# Of a share group, records that are given up at the limit of deliveries are skipped.
SKIPPED = (Kind.NEVER_DELIVERED.value, Kind.ARCHIVED.value)
# What is wrong with the processing, whatever was delivered.
MISPROCESSED = (
    Kind.PROCESSED_TWICE.value,
    Kind.COMMITTED_UNPROCESSED.value,
    Kind.NEVER_PROCESSED.value,
    Kind.NEVER_DELIVERED.value,
)


class GroupFinding(Struct, frozen=True, kw_only=True):
    """Offsets of a partition that a group got twice, never or out of order, or a commit that leads to that.

    kind: "delivered_twice", "never_delivered", "commit_moved_back", "commit_beyond_delivery", "stale_member_committed",
    "hanging", "delivered_out_of_order", "delivered_and_truncated" or "blocked". Of share groups also: "lock_ended",
    "rejected", "archived" or "acknowledgement_refused". With reports of the application (POST /v1/processed) also:
    "processed_twice", "committed_unprocessed", "never_processed" (a later record was) or "processed_uncommitted" (the
    next receiver gets them again).
    cause: delivered_twice: "rebalance_before_commit", "restart_before_commit", "rejoin_before_commit" (the same
    client), "commit_moved_back", "reset" or "seek".
    Of share groups: "lock_ended", "released", "member_left", "broker_restart" or "start_offset_reset".
    never_delivered: "committed_beyond_delivery", "reset_to_latest", "deleted_before_read", "partition_seen_late",
    "truncated", "topic_recreated", "reset" or "seek". commit_moved_back: "member" or "other_client".
    stale_member_committed: "refused" or "accepted". archived: "lock_ended", "released", "member_left" or
    "deleted_before_read". processed_twice: as delivered_twice, or "delivered_once".
    offsets: the first and the last one; of a stale commit, the committed ones.
    member: the id of the member, or the client, that got or committed them. earlier_member: the one that got them
    before, or that has the partition. committed: the committed offset that played a part. count: how often it happened.
    error: of a refused commit. keys: of the first records, if the log has them. request_ids: in the journal.
    why: the reason as a sentence.
    """

    kind: str
    cause: str
    topic: str
    partition: int
    offsets: list[int]
    why: str
    member: str = ""
    earlier_member: str = ""
    committed: int | None = None
    count: int = 1
    error: str | None = None
    keys: list[str] = []
    request_ids: list[int] = []


class ShareCounts(Struct, kw_only=True):
    """What became of the records of a partition that a share group acquired. A record counts each time.

    acquired: those that members have now, and must acknowledge. acquisitions: all. released: by members; locks_ended
    and members_left: released by the broker. archived: given up at the limit of deliveries, or deleted before they were
    accepted. delivery_counts: how many records were acquired once, twice and so on.
    """

    acquired: int
    acquisitions: int
    accepted: int
    released: int
    rejected: int
    archived: int
    locks_ended: int
    members_left: int
    delivery_counts: list[int]


class GroupPartition(Struct, kw_only=True):
    """What a group got of a partition.

    delivered: the number of offsets that were sent to the group. processed: the number of offsets that the application
    has processed. processed_from: "reports" if the application has reported them for this topic; else "commits": the
    delivered offsets that the group has committed, which were processed at least once if the application commits after
    processing. committed: null without one.
    high_watermark: where the records for consumers end; lag: from the committed offset to it, or from the log start.
    Both are null for a deleted partition.
    Of a share group, processed are the records that were accepted, committed is the first offset that is not done, and
    the lag is the number of records that are not done. share: null for other groups.
    """

    topic: str
    partition: int
    delivered: int
    processed: int
    committed: int | None
    high_watermark: int | None
    lag: int | None
    processed_from: Literal["commits", "reports"] = "commits"
    share: ShareCounts | None = None


class GroupVerdict(Struct, kw_only=True, tag_field="of", tag="group"):
    """The verdict on a group.

    The broker sees what was sent to a client and what was committed, and not what the client did with a record, unless
    the application reports it.
    notes: what the verdict cannot tell, such as two groups with the same client id, and topics that were created again.
    findings_left_out: how many more findings there are. reports_left_out: reports of the application that were too
    many to keep; what they were about may count as not processed.
    """

    group: str
    partitions: list[GroupPartition]
    findings: list[GroupFinding]
    notes: list[str] = []
    findings_left_out: int = 0
    reports_left_out: int = 0

    def __repr__(self) -> str:
        """Return the counts in one line."""
        delivered = sum(each.delivered for each in self.partitions)
        kinds = list(dict.fromkeys(each.kind.replace("_", " ") for each in self.findings))
        found = ", ".join(kinds) or "no findings"
        return f"<verdict on group {self.group!r}: {delivered} offsets delivered; {found}; lag {self.lag}>"

    @property
    def lag(self) -> int:
        """The sum of the lags of all partitions."""
        return sum(each.lag or 0 for each in self.partitions)

    def assert_delivered_once(self) -> None:
        """Assert that no record was sent to the group twice.

        Raises AssertionError with the first findings, and if nothing was sent to the group.
        """
        __tracebackhide__ = True
        self._check("every record delivered once", TWICE)

    def assert_nothing_skipped(self) -> None:
        """Assert that the group has passed over no record. Raises as assert_delivered_once."""
        __tracebackhide__ = True
        self._check("nothing skipped", SKIPPED)

    def assert_processed_once(self) -> None:
        """Assert that the application has processed every record once, up to where it or the group has come.

        A record that was delivered twice and processed once is no failure. Raises AssertionError with the first
        findings, and if the application has reported nothing.
        """
        __tracebackhide__ = True
        if all(each.processed_from == "commits" for each in self.partitions):
            raise AssertionError(f"no application has reported what group {self.group!r} processed")
        self._check_findings("every record processed once", MISPROCESSED)
        if self.reports_left_out:
            raise AssertionError(f"group {self.group}: {self.reports_left_out} reports were too many to keep")

    def assert_lag(self, most: int) -> None:
        """Assert that at most so many records are not committed yet. Raises AssertionError with the partitions."""
        __tracebackhide__ = True
        if self.lag <= most:
            return
        behind = [each for each in self.partitions if each.lag]
        lines = [
            f"    {each.topic}-{each.partition}: lag {each.lag}, {_committed_text(each)} of {each.high_watermark}"
            for each in behind
        ]
        head = f"group {self.group}: expected a lag of at most {most}, found {self.lag}"
        raise AssertionError("\n".join([head, *lines]))

    def _check(self, wanted: str, kinds: Collection[str]) -> None:
        __tracebackhide__ = True
        self._check_findings(wanted, kinds)
        if not any(each.delivered for each in self.partitions):
            raise AssertionError(f"nothing was delivered to group {self.group!r}, so there is nothing to judge")

    def _check_findings(self, wanted: str, kinds: Collection[str]) -> None:
        __tracebackhide__ = True
        found = [each for each in self.findings if each.kind in kinds]
        if found or self.findings_left_out:
            described = [describe_finding(each) for each in found[:FINDINGS_SHOWN]]
            left_out = len(found) - len(described) + self.findings_left_out
            head = f"group {self.group}: expected {wanted}, found"
            raise AssertionError(failure_text(head, described, left_out, self.notes))


def failure_text(head: str, findings: Iterable[str], left_out: int, notes: Iterable[str]) -> str:
    """Return the text of a failed assertion. left_out: how many more findings there are."""
    more = [f"and {left_out} more findings"] if left_out else []
    return "\n    ".join([head, *findings, *more, *notes])


def describe_finding(finding: GroupFinding) -> str:
    """Return a finding as one line: the kind, its place and why."""
    first, last = finding.offsets
    offsets = f"offset {first}" if first == last else f"offsets {first}..{last}"
    return f"{finding.kind.replace('_', ' ')}: {finding.topic}-{finding.partition}, {offsets}: {finding.why}"


def _committed_text(partition: GroupPartition) -> str:
    return "nothing committed" if partition.committed is None else f"committed {partition.committed}"
