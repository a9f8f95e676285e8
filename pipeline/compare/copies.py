"""Further records of the right side for a record of the left side, and the cause of each.

Copies in a topic have the causes of an audit of events (event_audit.py). In a table the offset columns tell the cause:

    written_twice    equal offset columns: the sink wrote the record again
    sent_twice       other offset columns: the record was sent again in front of the sink
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ..checks.event_audit import copy_cause
from ..checks.findings import findings_of, in_words
from .entries import PRODUCER_COLUMNS
from .matching import Matching
from .verdicts import CHECK, label_of

DUPLICATED = "duplicated"

_PLACE = ("partition", "position", "offset", "timestamp")


def audit_copies(matched: DataFrame, right: DataFrame, matching: Matching, *, is_right_log: bool) -> DataFrame:
    """Return a finding for each further copy. matched: from match_entries. right: the entries of the right side."""
    wanted = matched.where(f.col("copies") > 0).select("topic", "id", "left", "lefts")
    content = ("content",) if matching.is_one_to_many else ()
    of_id = Window.partitionBy("topic", "id", *content)
    in_order = of_id.orderBy(*(f.col(name).asc_nulls_last() for name in (*_PLACE, "origin")))
    compared = f.struct("partition", "offset", "timestamp", "origin", *PRODUCER_COLUMNS)
    expected = f.lit(1) if matching.is_one_to_many else f.greatest("lefts", f.lit(1))
    columns = ["topic", "id", "content", "label", *_PLACE, "origin", *PRODUCER_COLUMNS]
    copies = (
        right.select(*columns)
        .join(wanted, ["topic", "id"])
        .withColumns({"number": f.row_number().over(in_order), "first": f.first(compared).over(in_order)})
        .where(f.col("number") > expected)
        .withColumn("right", f.struct("label"))
    )
    found: dict[str, str | Column] = {
        "topic": "topic",
        "partition": "left.partition",
        "offset": "left.offset",
        "other_offset": f.col("offset") if is_right_log else f.lit(None),
        "event_id": label_of(matching),
        "count": f.lit(1),
        "timestamp": f.coalesce("timestamp", "left.timestamp"),
        "cause": _cause(matching, is_right_log),
        "detail": _detail(is_right_log),
        **({name: name for name in ("producer_id", "producer_epoch", "base_sequence")} if is_right_log else {}),
    }
    return findings_of(copies, CHECK, DUPLICATED, found)


def _cause(matching: Matching, is_right_log: bool) -> Column:
    if is_right_log:
        return copy_cause()
    if matching.by == "offsets":
        return f.lit("written_twice")
    is_same = f.col("origin") == f.col("first.origin")
    return f.when(is_same, "written_twice").when(~is_same, "sent_twice")


def _detail(is_right_log: bool) -> Column:
    if not is_right_log:
        return in_words("record ", f.col("number"), " of it on the right side")
    return in_words(
        *("record ", f.col("number"), " of it, at partition ", f.col("partition"), " offset ", f.col("offset")),
        *(" of the right side, from producer ", f.col("producer_id"), " epoch ", f.col("producer_epoch")),
        *(" sequence ", f.col("sequence"), "; the first at partition ", f.col("first.partition")),
        *(" offset ", f.col("first.offset"), " from producer ", f.col("first.producer_id")),
        *(" epoch ", f.col("first.producer_epoch"), " sequence ", f.col("first.sequence")),
    )
