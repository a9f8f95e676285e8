"""What a run of `audit` and one of `compare` share: the session, the baseline, the listed findings, and the outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from ..checks.audited_range import AuditedRange
from ..checks.baseline import Baseline, count_gone, with_known
from ..checks.finding_kinds import FAULTS
from ..cluster.spark_log import logged_session
from ..cluster.spark_session import start_session
from .audit_outputs import AuditOutputs
from .audit_summary import finding_groups, identities
from .summary import Comparison, FindingGroup, Summary, TopicKind

EXIT_CLEAN = 0
EXIT_FINDINGS = 1


@dataclass(frozen=True, slots=True)
class ListedFindings:
    """The groups of the findings, and with --json the first ones and the number of those that are left off."""

    groups: tuple[FindingGroup, ...]
    findings: Sequence[Mapping[str, object]] = ()
    left_off: int = 0


@dataclass(frozen=True, slots=True)
class VerdictRun:
    """The options of both commands. settings: Spark configuration keys. again: from repeated_words."""

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    outputs: AuditOutputs = field(default_factory=AuditOutputs)
    fail_on: tuple[str, ...] | None = None
    baseline: Baseline | None = None
    again: tuple[str, ...] = ()

    @property
    def needs_log_topics(self) -> bool:
        """Whether the verdict needs the ids of the log's topics."""
        return self.baseline is not None or self.outputs.json is not None

    def session(self, command: str, row_count: int | None = None) -> AbstractContextManager[SparkSession]:
        """Return the session of a command, whose failures are BadOptions. row_count: see start_session."""
        return logged_session(command, partial(start_session, self.master, settings=self.settings, row_count=row_count))

    def with_baseline(
        self, findings: DataFrame, audited: AuditedRange, checks: Iterable[str]
    ) -> tuple[DataFrame, Comparison | None]:
        """Return the findings with is_known if there is a baseline, otherwise unchanged, and what became of it.

        checks: the names of the checks that ran.
        """
        if self.baseline is None:
            return findings, None
        known = self.baseline.frame(findings.sparkSession)
        gone = count_gone(findings, known, audited, frozenset(checks))
        judged = with_known(findings, known).persist(StorageLevel.DISK_ONLY)
        return judged, Comparison(self.baseline.place, gone)

    def listed(self, judged: DataFrame) -> ListedFindings:
        """Return the groups of the findings, and those that the JSON lists. judged: from with_baseline."""
        groups = finding_groups(judged)
        if self.outputs.json is None:
            return ListedFindings(groups)
        kinds = FAULTS | frozenset(self.fail_on or ())
        found = identities(judged, kinds)
        left_off = sum(group.findings for group in groups if group.kind in kinds) - len(found)
        return ListedFindings(groups, found, max(left_off, 0))

    def end(self, summary: Summary, kinds: Sequence[TopicKind]) -> int:
        """Print the verdict, write the output files, and return the exit code."""
        self.outputs.write(summary, kinds)
        return EXIT_FINDINGS if summary.is_failed else EXIT_CLEAN
