"""Comparison of the findings of an audit with those of an earlier one: known, new and gone findings.

- A finding is known if the baseline has one of the same identity: kind, place, producer and event id. Text and totals
  do not count, because they change while a log grows.
- Several findings can have one identity, such as bytes that are not a batch, which have no offset. As many of them are
  known as the baseline has.
- A finding that stands for several faults is known only while it has no more of them than in the baseline.
- A finding is gone if the baseline has it, the audit could have found it, and did not.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import msgspec
from msgspec import Struct
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from ..bad_option import BadOption
from ..cluster.stored_files import content_files, find_store
from ..cluster.stored_frames import read_parquet
from ..read.file_store import LOCAL_FILES
from ..read.store_address import local_path_of
from ..read.stores import store_of
from .audited_range import AuditedRange
from .finding_kinds import HARMLESS_KINDS
from .findings import KINDS

IDENTITY = (
    *("check", "kind", "topic", "partition", "offset", "producer_id", "producer_epoch", "base_sequence", "event_id"),
    "group_id",
)
_BASELINE_COLUMNS = (*IDENTITY, "count")
_BASELINE_SCHEMA = ", ".join(f"{name} {KINDS[name]}" for name in _BASELINE_COLUMNS)

# Kinds of which one finding stands for all faults of a partition or a topic.
_TOTAL_KINDS = ("no_event_id", "no_version", "no_event_time", "repeated_event_id", "missing_offsets")

# A verdict has at most as many findings as summary.FINDINGS_MAX, so a larger file is not a verdict.
_VERDICT_BYTES_MAX = 64 * 1024 * 1024


class KnownFinding(Struct):
    """A finding in the JSON of a verdict."""

    check: str
    kind: str
    topic: str | None
    partition: int | None
    offset: int | None
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    event_id: str | None
    count: int | None
    # Null in a verdict of before this column.
    group_id: str | None = None


class _Verdict(Struct):
    findings: list[KnownFinding]
    findings_left_off: int
    log_topics: list[str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The findings of an earlier audit. findings: of its verdict; None: they are in the parquet folder at place.

    log_topics: the ids of the topics of its log; empty if unknown.
    """

    place: str
    findings: tuple[KnownFinding, ...] | None = None
    log_topics: frozenset[str] = frozenset()

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the identities and counts of the findings. Raises BadOption."""
        if self.findings is not None:
            rows = [tuple(getattr(one, name) for name in _BASELINE_COLUMNS) for one in self.findings]
            return spark.createDataFrame(rows, _BASELINE_SCHEMA)
        try:
            table = self._table(spark)
            # Spark Connect looks for the folder only now.
            names = table.columns
        except (PySparkException, OSError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error).splitlines()[0]
            raise BadOption(f"baseline: {self.place} cannot be read: {reason}") from error
        if "group_id" not in names:
            # A folder of before this column.
            table = table.withColumn("group_id", f.lit(None))
        missing = [name for name in _BASELINE_COLUMNS if name not in table.columns]
        if missing:
            raise BadOption(f"baseline: {self.place} has no column {missing[0]}, as the folder of --parquet has")
        columns = [f.col(name).cast(KINDS[name]).alias(name) for name in _BASELINE_COLUMNS]
        return table.select(*columns)

    def _table(self, spark: SparkSession) -> DataFrame:
        stored = find_store("baseline", self.place)
        if stored is None:
            return spark.read.parquet(self.place)
        store, place = stored
        files = list(content_files(store, place))
        if not files:
            raise BadOption(f"baseline: there is no {self.place}")
        return read_parquet(spark, store, files, _BASELINE_COLUMNS)

    def notes(self, log_topics: Collection[str]) -> Iterator[str]:
        """Yield a line if the baseline is of another log. log_topics: the ids of the audited topics."""
        if self.log_topics and log_topics and self.log_topics.isdisjoint(log_topics):
            yield f"the baseline {self.place} is of another log: it has none of the audited topics"


def read_baseline(text: str) -> Baseline:
    """Return a baseline. text: a verdict (--json), or a folder of findings (--parquet), which is read later.

    Raises BadOption for a file that is no verdict, or one that does not have all findings.
    """
    if find_store("baseline", text) is None and local_path_of(text) is None:
        # Spark reads it by itself.
        return Baseline(text)
    verdict = _read_verdict(text)
    if verdict is None:
        return Baseline(text)
    if verdict.findings_left_off:
        count = len(verdict.findings)
        raise BadOption(
            f"baseline: {text} has {count:,} of {count + verdict.findings_left_off:,} findings;"
            " use the folder of --parquet, which has all"
        )
    return Baseline(text, tuple(verdict.findings), frozenset(verdict.log_topics))


def _read_verdict(text: str) -> _Verdict | None:
    """Return the verdict in a file; None for a folder. Raises BadOption."""
    store, place = store_of("baseline", text)
    if store is LOCAL_FILES and os.path.isdir(place):
        return None
    try:
        found = store.list_files(place).find_file(place)
        if found is None and store is not LOCAL_FILES:
            return None
        if found is not None and found.size > _VERDICT_BYTES_MAX:
            raise BadOption(f"baseline: {text} has more than {_VERDICT_BYTES_MAX} bytes; use the folder of --parquet")
        return msgspec.json.decode(store.read(place), type=_Verdict)
    except FileNotFoundError as error:
        raise BadOption(f"baseline: there is no {text}") from error
    except OSError as error:
        raise BadOption(f"baseline: {text} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadOption(f"baseline: {text} is not a verdict of fauxka audit --json: {error}") from error


def with_known(findings: DataFrame, baseline: DataFrame) -> DataFrame:
    """Add is_known to findings: whether the baseline has the finding. baseline: from Baseline.frame."""
    known = _by_identity(baseline).withColumnsRenamed({name: f"known_{name}" for name in IDENTITY})
    of_identity = Window.partitionBy(*IDENTITY).orderBy("other_offset", "detail")
    numbered = findings.withColumn("number", f.row_number().over(of_identity))
    is_grown = f.col("kind").isin(*_TOTAL_KINDS) & (f.coalesce("count", f.lit(1)) > f.col("known_count"))
    is_known = (f.col("number") <= f.col("known_findings")) & ~is_grown
    joined = numbered.join(known, _same(numbered, known), "left")
    return joined.select(*findings.columns, f.coalesce(is_known, f.lit(False)).alias("is_known"))


def count_gone(findings: DataFrame, baseline: DataFrame, audited: AuditedRange, checks: frozenset[str]) -> int:
    """Return the number of faults of the baseline that the audit could have found and did not.

    audited: the range of the audit. checks: the performed ones.
    """
    now = findings.groupBy(*IDENTITY).agg(f.count("*").alias("found"))
    now = now.withColumnsRenamed({name: f"known_{name}" for name in IDENTITY})
    could_be_found = f.col("check").isin(*checks) & ~f.col("kind").isin(*HARMLESS_KINDS)
    expected = _by_identity(_within(baseline.where(could_be_found), audited))
    gone = f.greatest(f.col("known_findings") - f.coalesce("found", f.lit(0)), f.lit(0))
    row = expected.join(now, _same(expected, now), "left").agg(f.sum(gone).alias("gone")).first()
    return 0 if row is None or row["gone"] is None else row["gone"]


def _by_identity(baseline: DataFrame) -> DataFrame:
    return baseline.groupBy(*IDENTITY).agg(
        f.count("*").alias("known_findings"), f.max(f.coalesce("count", f.lit(1))).alias("known_count")
    )


def _same(findings: DataFrame, known: DataFrame) -> list[Column]:
    """Return the conditions that two rows have the same identity; a null is equal to a null."""
    return [findings[name].eqNullSafe(known[f"known_{name}"]) for name in IDENTITY]


def _within(baseline: DataFrame, audited: AuditedRange) -> DataFrame:
    """Return the findings of audited topics, and of a part of the log only those at audited offsets."""
    ranges = f.broadcast(audited.frame(baseline.sparkSession).withColumn("is_audited", f.lit(True)))
    joined = baseline.join(ranges, ["topic", "partition"], "left")
    if audited.is_cut:
        is_behind_start = f.col("offset") >= f.coalesce("range_start", f.lit(0))
        return joined.where(f.col("is_audited") & is_behind_start & (f.col("offset") < f.col("range_end")))
    topics = sorted({name.topic_name for name in audited.starts})
    is_of_topic = f.col("topic").isNull() | f.col("topic").isin(topics)
    return joined.where(f.col("is_audited") | (f.col("partition").isNull() & is_of_topic))
