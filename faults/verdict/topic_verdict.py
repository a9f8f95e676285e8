"""The verdict on a topic as counts and findings, and assertions whose failures explain themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from .verdict_findings import (
    ACKNOWLEDGED_LOST,
    APPENDED_TWICE,
    DELETED,
    HANGING_TRANSACTION,
    PRODUCER_BEFORE_RESET,
    STORED_UNACKNOWLEDGED,
    Finding,
)

# The findings in the text of a failed assertion: the first ones show the cause, and the verdict has the others.
FINDINGS_SHOWN = 5
# The kinds whose two offsets are the first and the last one.
OFFSET_RANGES = (ACKNOWLEDGED_LOST, STORED_UNACKNOWLEDGED, HANGING_TRANSACTION, DELETED, PRODUCER_BEFORE_RESET)


class BatchVerdict(Struct, kw_only=True):
    """Counts of batches. The log is that of the leader.

    appended_once: in the log, with no copy. appended_twice: in the log, with a copy of some records further on; a batch
    that consists only of copies is not counted.
    refused: rejected by the log, each time. duplicates_recognised: answered with the offset of the original.
    acknowledged_lost: acknowledged and not in the log, after a crash, a failover or a false success.
    stored_unacknowledged: in the log and not acknowledged, or not yet.
    reordered: in the log behind a batch that the connection sent later.
    """

    appended_once: int = 0
    appended_twice: int = 0
    refused: int = 0
    duplicates_recognised: int = 0
    acknowledged_lost: int = 0
    stored_unacknowledged: int = 0
    reordered: int = 0

    def __str__(self) -> str:
        """Return the counts that are not 0, such as "2 appended once, 1 acknowledged lost"."""
        counts = {name: int(getattr(self, name)) for name in self.__struct_fields__}
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count) or "no batches"


class RecordVerdict(Struct, kw_only=True):
    """Records in the log. duplicates: copies of others. distinct: records without copies.

    deleted: the offsets that retention or DeleteRecords deleted, each named by a finding. The counts of batches include
    their batches.
    """

    in_log: int = 0
    distinct: int = 0
    duplicates: int = 0
    deleted: int = 0


class ProducerVerdict(Struct, kw_only=True):
    """The batches of one producer id. -1: without a producer id. -2: producers beyond the limit, added up."""

    producer_id: int
    batches: BatchVerdict


class TopicVerdict(Struct, kw_only=True, tag_field="of", tag="topic"):
    """The verdict of a topic.

    findings_left_out: how many more findings there are. forgotten: unacknowledged batches beyond the limit, in all
    topics; copies of those are not found.
    refused_elsewhere: refused batches of topics that are not counted because there are too many, in all topics.
    """

    topic: str
    batches: BatchVerdict
    records: RecordVerdict
    findings: list[Finding]
    producers: list[ProducerVerdict]
    findings_left_out: int = 0
    forgotten: int = 0
    refused_elsewhere: int = 0

    def __repr__(self) -> str:
        """Return the counts in one line."""
        records = self.records
        deleted = f", deleted: {records.deleted}" if records.deleted else ""
        return (
            f"<verdict on {self.topic!r}: {self.batches}; records in the log: {records.in_log}, "
            f"duplicates: {records.duplicates}{deleted}>"
        )

    def assert_exactly_once(self) -> None:
        """Assert that every acknowledged record is in the log, that none is in it twice, and that no transaction hangs.

        A record that is in the log and was never acknowledged is no failure, nor is one that retention or DeleteRecords
        deleted. Raises AssertionError with the first findings, for a topic to which nothing was produced (test data
        is not), and if copies would not have been found (see forgotten).
        """
        __tracebackhide__ = True
        self._check("exactly once", (ACKNOWLEDGED_LOST, APPENDED_TWICE, HANGING_TRANSACTION))

    def assert_nothing_lost(self) -> None:
        """Assert that every acknowledged record is in the log, or was deleted. Raises as assert_exactly_once."""
        __tracebackhide__ = True
        self._check("nothing lost", (ACKNOWLEDGED_LOST,))

    def assert_no_duplicates(self) -> None:
        """Assert that no record is in the log twice; see event_id for copies that a producer sent as new records.

        Raises as assert_exactly_once.
        """
        __tracebackhide__ = True
        self._check("no duplicates", (APPENDED_TWICE,))

    def _check(self, wanted: str, kinds: Sequence[str]) -> None:
        """Raise AssertionError if something of these kinds was found. wanted: what was expected."""
        __tracebackhide__ = True
        hanging = sum(finding.kind == HANGING_TRANSACTION for finding in self.findings)
        counts = {
            ACKNOWLEDGED_LOST: (self.batches.acknowledged_lost, "acknowledged batch lost", "acknowledged batches lost"),
            APPENDED_TWICE: (self.records.duplicates, "record in the log twice", "records in the log twice"),
            HANGING_TRANSACTION: (hanging, "hanging transaction", "hanging transactions"),
        }
        failed = [counts[kind] for kind in kinds if counts[kind][0]]
        if failed:
            summary = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in failed)
            raise AssertionError("\n".join([f"{self.topic}: expected {wanted}, found {summary}", *self._lines(kinds)]))
        if self.batches == BatchVerdict():
            seeded = f" ({self.records.in_log} in its log: test data, or older than the journal)"
            raise AssertionError(
                f"nothing was produced to {self.topic!r}{seeded if self.records.in_log else ''}, "
                "so there is nothing to judge"
            )
        if self.forgotten and APPENDED_TWICE in kinds:
            raise AssertionError(
                f"{self.topic}: found no duplicates, but copies of {self.forgotten} unacknowledged batches, which were "
                "too many to keep, would not have been found"
            )

    def _lines(self, kinds: Collection[str]) -> list[str]:
        """Return a line for each of the first findings of these kinds, and the number of the others."""
        found = [finding for finding in self.findings if finding.kind in kinds]
        lines = [f"    {describe_finding(finding)}" for finding in found[:FINDINGS_SHOWN]]
        left_out = len(found) - len(lines)
        if left_out:
            lines.append(f"    and {left_out} more")
        if self.findings_left_out:
            lines.append(f"    and {self.findings_left_out} findings of any kind that this verdict left out")
        return lines


def describe_finding(finding: Finding) -> str:
    """Return a finding as one line: the kind, the batch, its offsets, and why."""
    batch = f"partition {finding.partition}"
    if finding.offsets:
        first, last = finding.offsets
        separator = ".." if finding.kind in OFFSET_RANGES else " and "
        batch += f", offsets {first}{separator}{last}"
    if finding.producer_id >= 0:
        batch += f", producer {finding.producer_id} epoch {finding.producer_epoch}"
    if finding.base_sequence >= 0:
        batch += f", sequences from {finding.base_sequence}"
    return f"{finding.kind.replace('_', ' ')}: {batch}: {finding.why}"
