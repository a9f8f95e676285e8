"""The findings of a comparison. docs/findings.md explains each kind and cause.

A finding has the place of its record on the left side. An extra record has none, except by offset columns, which say
where it came from. other_offset is the place on the right side, if that is a log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from ..checks.event_audit import undecodable_words
from ..checks.finding_kinds import Check
from ..checks.finding_rule import Rule, apply_rules
from ..checks.findings import findings_of, in_words
from .coverage import has_earlier
from .matched import has_arrived
from .matching import Matching

CHECK: Final[Check] = "compare"
LOST, EXTRA, CHANGED, REORDERED, LATE = "lost", "extra", "changed", "reordered", "late"
PENDING, EXPIRED = "pending", "expired"
RETENTION, COMPACTION, ABORTED = "retention", "compaction", "aborted_transaction"
BEYOND_END, OPEN, PARTITION_ABSENT, TOMBSTONE = "beyond_end", "open_transaction", "partition_absent", "tombstone"


def audit_matched(covered: DataFrame, matching: Matching, *, is_right_log: bool, has_content: bool) -> DataFrame:
    """Return all findings except those about copies and about records without an id.

    covered: with the columns of with_coverage, with_overtaker and with_aborted.
    """
    place = _right_place(is_right_log)
    rules = [
        *_rules_of_absent(matching),
        *_rules_of_extra(matching, is_right_log, place),
        *_rules_of_both(matching, place, has_content=has_content),
    ]
    is_placed = f.col("left").isNotNull() | f.lit(matching.by == "offsets")
    columns: dict[str, str | Column] = {
        "topic": "topic",
        **{name: f.when(is_placed, f.coalesce(f"left.{name}", f"right.{name}")) for name in ("partition", "offset")},
        "event_id": label_of(matching),
        "timestamp": f.coalesce("left.timestamp", "right.timestamp"),
    }
    other_offset = f.col("right.offset") if is_right_log else f.lit(None)
    placed = [replace(rule, other_offset=other_offset) for rule in rules]
    return apply_rules(covered, placed, columns)


def _rules_of_absent(matching: Matching) -> list[Rule]:
    """Return the rules of records that only the left side has."""
    left = f.col("left")
    is_absent = (f.col("rights") == 0) & ~left["is_optional"]
    is_behind = f.col("left.offset") > f.col("last_arrived")
    is_newer = f.col("last_arrived").isNull() & (f.col("left.timestamp") > f.col("newest_arrived"))
    is_pending = f.lit(not matching.is_caught_up) & f.coalesce(is_behind | is_newer, f.lit(False))
    is_superseded = f.col("is_right_compacted") & (left["is_superseded"] | left["is_tombstone"])
    is_older = f.col("first_arrived").isNull() & (f.col("left.timestamp") < f.col("oldest_arrived"))
    is_cut = f.col("is_right_cut") & ((f.col("left.offset") < f.col("first_arrived")) | is_older)
    is_removed = f.coalesce(is_superseded | is_cut, f.lit(False))
    came_to = (
        f.when(f.col("left.offset").isNull(), f.lit(""))
        .when(f.col("last_arrived").isNull(), f.lit("; none of its partition has arrived"))
        .otherwise(in_words("; the last of its partition that arrived is at offset ", f.col("last_arrived")))
    )
    why_lost = f.when(f.col("is_aborted"), f.lit(", except in an aborted transaction")).otherwise(
        f.concat(f.when(left["is_tombstone"], f.lit(", its value is null")).otherwise(f.lit("")), came_to)
    )
    why_removed = f.when(is_superseded, f.lit(", which has only the last record of a key")).otherwise(
        f.lit(", whose log begins later")
    )
    cause = (
        f.when(f.col("is_aborted"), ABORTED)
        .when(f.col("last_arrived").isNull() & f.col("left.offset").isNotNull(), PARTITION_ABSENT)
        .when(left["is_tombstone"], TOMBSTONE)
    )
    removed_by = f.when(is_superseded, COMPACTION).otherwise(RETENTION)
    absent = f.lit("not on the right side")
    return [
        _rule(LOST, is_absent & ~is_removed & ~is_pending, f.col("lefts"), f.concat(absent, why_lost), cause),
        _rule(PENDING, is_absent & ~is_removed & is_pending, f.col("lefts"), f.concat(absent, f.lit(" yet"), came_to)),
        _rule(EXPIRED, is_absent & is_removed, f.col("lefts"), f.concat(absent, why_removed), removed_by),
    ]


def _rules_of_extra(matching: Matching, is_right_log: bool, place: Column) -> list[Rule]:
    """Return the rules of records that only the right side has."""
    is_extra = f.col("lefts") == 0
    is_by_offsets = matching.by == "offsets"
    removed_by = _removed_by_offset() if is_by_offsets else _removed_by_id(is_right_log)
    is_removed = removed_by.isNotNull() & ~f.col("is_aborted")
    offset = f.col("right.offset") if is_by_offsets else f.lit(None)
    cause = (
        f.when(f.col("is_aborted"), ABORTED)
        .when(offset >= f.col("left_end"), BEYOND_END)
        .when(offset >= f.col("left_open"), OPEN)
    )
    reason = (
        f.when(cause == ABORTED, f.lit(", and on the left side in an aborted transaction only"))
        .when(
            cause == BEYOND_END,
            in_words(", and the left log ends at offset ", f.col("left_end"), ": it was truncated or created again"),
        )
        .when(cause == OPEN, f.lit(", and on the left side behind the begin of an open transaction"))
        .otherwise(f.lit(", and not on the left side"))
    )
    there = f.concat(f.lit("on the right side"), place)
    why_removed = in_words("; ", removed_by, " may have removed its record on the left side")
    return [
        _rule(EXTRA, is_extra & ~is_removed, f.col("rights"), f.concat(there, reason), cause),
        _rule(EXPIRED, is_extra & is_removed, f.col("rights"), f.concat(there, why_removed), removed_by),
    ]


def _removed_by_offset() -> Column:
    """Return what may have removed the record from the left log, by its offset columns; null if nothing has."""
    offset = f.col("right.offset")
    return f.when(offset < f.col("left_start"), RETENTION).when(
        f.col("is_left_compacted") & (offset < f.col("left_end")), COMPACTION
    )


def _removed_by_id(is_right_log: bool) -> Column:
    """Return the same for a record whose place on the left side is unknown."""
    is_superseded = f.col("right.is_superseded") | f.col("right.is_tombstone")
    return f.when(f.col("is_left_cut") & has_earlier(is_right_log), RETENTION).when(
        f.col("is_left_compacted") & is_superseded, COMPACTION
    )


def _rules_of_both(matching: Matching, place: Column, *, has_content: bool) -> list[Rule]:
    """Return the rules of records that both sides have."""
    delay_ms = f.unix_millis("right.timestamp") - f.unix_millis("left.timestamp")
    there = f.concat(f.lit("on the right side"), place)
    behind = in_words(" behind the later record of its key at offset ", f.col("overtaker.offset"))
    one = f.lit(1)
    rules = [_rule(REORDERED, f.col("overtaker").isNotNull(), one, f.concat(there, behind))]
    if has_content and not matching.is_one_to_many:
        changed = f.concat(f.lit("another content "), there)
        rules.append(_rule(CHANGED, has_arrived() & ~f.col("is_equal"), one, changed))
    if matching.late_after_ms is not None:
        is_late = has_arrived() & f.coalesce(delay_ms > matching.late_after_ms, f.lit(False))
        rules.append(_rule(LATE, is_late, one, in_words("arrived ", delay_ms, " ms after it was sent")))
    return rules


def _rule(kind: str, applies: Column, count: Column, detail: Column, cause: Column | None = None) -> Rule:
    return Rule(CHECK, kind, applies, count, detail, cause=cause)


def _right_place(is_right_log: bool) -> Column:
    """Return the words for the place of the first record of the right side, with a space in front; none in a table."""
    if not is_right_log:
        return f.lit("")
    return in_words(" at partition ", f.col("right.partition"), " offset ", f.col("right.offset"))


def label_of(matching: Matching) -> Column:
    """Return what identifies a record for a reader: its event id, or its key."""
    return f.col("id") if matching.by == "event-id" else f.coalesce("left.label", "right.label")


def without_id(entries: DataFrame) -> DataFrame:
    """Return a finding for each partition and side with records without an id."""
    found = (
        entries.where(f.col("id").isNull())
        .groupBy("is_left", "topic", "partition")
        .agg(
            f.count("*").alias("count"),
            f.count("problem").alias("undecodable"),
            *(f.min(name).alias(name) for name in ("problem", "offset", "timestamp")),
        )
    )
    side = f.when(f.col("is_left"), f.lit("left")).otherwise(f.lit("right"))
    columns: dict[str, str | Column] = {
        **{name: name for name in ("topic", "partition", "count", "timestamp")},
        "offset": f.when(f.col("is_left"), f.col("offset")),
        "other_offset": f.when(~f.col("is_left"), f.col("offset")),
        "detail": in_words(
            f.col("count"), " records of the ", side, " side have nothing to match them by", undecodable_words()
        ),
    }
    return findings_of(found, CHECK, "no_event_id", columns)
