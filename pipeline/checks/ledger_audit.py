"""Comparison of a ledger of sent events with the log: lost, unknown and reordered events.

- An event on several lines of the ledger was sent several times. One acknowledged line is enough.
- A record of an aborted transaction is no copy, because consumers of committed records do not see it.
- An event acknowledged before the log start offset or in the cleaned part of the log is `expired`, not `lost`.
- An event acknowledged outside of the audited range is neither lost nor reordered, because its first copy is unknown.
- Only events that ledger_screening.py selects are compared in full. The driver receives only bucket numbers.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .findings import findings_of, in_words
from .ledger_screening import entries_in_doubt, has_all, hash_of
from .sent_ledger import SENT_KINDS
from .transaction_spans import aborted_batches

_PLACE = ("topic", "partition", "offset")


def audit_ledger(
    records: DataFrame,
    sent: DataFrame,
    event_id: Column,
    batches: DataFrame | None = None,
    bounds: DataFrame | None = None,
) -> DataFrame:
    """Return the findings lost, expired, ambiguous_success, offset_differs, unknown_event and reordered.

    records: the records view. sent: columns of SENT_KINDS; only event_id is required. A null error is an
    acknowledgement, with or without an offset. Without a column topic the log must be of one topic. event_id: a column
    over records; null leaves a record out. A false is_audited (with_audited) means that the line is outside of the
    audited range. batches: the batches view of the same log; without it records of aborted
    transactions count as stored. bounds: from read_bounds; without it an event that retention or cleaning removed is
    lost.
    """
    place = [name for name in _PLACE if name != "topic" or "topic" in sent.columns]
    ledger = _entries_of_ledger(sent)
    if bounds is not None:
        ledger = _with_removal(ledger, bounds, [name for name in place if name != "offset"])
    entries = _entries_of_log(records, event_id, batches).unionByName(ledger, allowMissingColumns=True)
    return _findings(_with_overtakers(_events(_places(entries_in_doubt(entries, place), place))))


def with_audited(lines: DataFrame, ranges: DataFrame) -> DataFrame:
    """Add is_audited to the lines of a ledger: whether the audited range has the offset of the line.

    ranges: of an AuditedRange that is a part of the log. A line without an offset could be anywhere, so it counts as
    outside.
    """
    is_outside = (f.col("offset") < f.col("range_start")) | (f.col("offset") >= f.col("range_end"))
    is_audited = f.col("offset").isNotNull() & ~f.coalesce(is_outside, f.lit(False))
    joined = lines.join(f.broadcast(ranges), ["topic", "partition"], "left").withColumn("is_audited", is_audited)
    return joined.select(*lines.columns, "is_audited")


def _entries_of_log(records: DataFrame, event_id: Column, batches: DataFrame | None) -> DataFrame:
    rows = records.withColumn("event_id", event_id.cast("string"))
    rows = rows.where(f.col("damage").isNull() & ~f.col("is_control") & f.col("event_id").isNotNull())
    is_aborted = f.lit(False)
    if batches is not None:
        aborted = aborted_batches(batches).withColumn("has_marker", f.lit(True))
        rows = rows.join(aborted, ["topic", "partition", "batch_base_offset"], "left")
        is_aborted = f.coalesce("has_marker", f.lit(False))
    return rows.select(
        "event_id",
        *_PLACE,
        "timestamp",
        (~is_aborted).alias("is_stored"),
        is_aborted.alias("is_aborted"),
        f.lit(False).alias("is_sent"),
    )


def _entries_of_ledger(sent: DataFrame) -> DataFrame:
    given = {name: f.col(name) if name in sent.columns else f.lit(None) for name in SENT_KINDS}
    columns = [given[name].cast(kind).alias(name) for name, kind in SENT_KINDS.items()]
    is_acked = given["error"].isNull()
    is_audited = f.col("is_audited") if "is_audited" in sent.columns else f.lit(True)
    return sent.select(
        *columns,
        f.lit(None).cast("timestamp").alias("timestamp"),
        f.lit(False).alias("is_stored"),
        f.lit(False).alias("is_aborted"),
        f.lit(True).alias("is_sent"),
        is_acked.alias("is_acked"),
        (is_acked & ~is_audited).alias("is_acked_elsewhere"),
        f.lit(None).cast("string").alias("removed_by"),
        f.lit(None).cast("bigint").alias("log_start"),
    )


def _with_removal(ledger: DataFrame, bounds: DataFrame, partition: list[str]) -> DataFrame:
    """Set removed_by of each place to what may have removed it: retention, compaction or null.

    partition: the columns that identify a partition. If several bounds match, the lowest ones apply.
    """
    least = bounds.groupBy(*partition).agg(*(f.min(name).alias(name) for name in ("log_start", "cleaned_before")))
    removed_by = f.when(f.col("offset") < f.col("log_start"), "retention").when(
        f.col("offset") < f.col("cleaned_before"), "compaction"
    )
    # The bounds have one small row a partition.
    joined = ledger.drop("removed_by", "log_start").join(f.broadcast(least), partition, "left")
    return joined.withColumn("removed_by", removed_by).drop("cleaned_before")


def _places(entries: DataFrame, place: list[str]) -> DataFrame:
    """Return one row for each event and place: whether the log has it there, and whether that was acknowledged."""
    # Partitioned by the event alone, so that the grouping by event needs no further shuffle.
    return (
        entries.repartition("event_id")
        .groupBy("event_id", *place)
        .agg(
            *(f.min(name).alias(name) for name in _PLACE if name not in place),
            *(f.min(name).alias(name) for name in ("timestamp", "ordinal", "error", "removed_by", "log_start")),
            _key(),
            *(
                f.max(name).alias(name)
                for name in ("is_stored", "is_aborted", "is_sent", "is_acked", "is_acked_elsewhere")
            ),
            f.min(f.when(f.col("is_sent"), f.col("topic"))).alias("sent_topic"),
        )
        .withColumn("has_place", has_all(*place))
    )


def _events(places: DataFrame) -> DataFrame:
    """Return one row for each event."""
    place = f.struct(*_PLACE)
    is_in_log = f.col("is_stored") | f.col("is_aborted")
    is_acked_at_place = f.col("is_acked") & ~f.col("is_acked_elsewhere") & f.col("has_place")
    is_removed = ~is_in_log & f.col("removed_by").isNotNull()
    is_acked_place = is_acked_at_place & ~is_removed
    return places.groupBy("event_id").agg(
        f.count(f.when(f.col("is_stored"), 1)).alias("copies"),
        f.min(f.when(f.col("is_stored"), f.struct(*_PLACE, "timestamp"))).alias("first"),
        f.min(f.when(f.col("is_aborted"), place)).alias("aborted"),
        f.min(f.when(is_acked_place, place)).alias("acked"),
        f.min(f.when(is_acked_place & ~is_in_log, place)).alias("misplaced"),
        f.min(f.when(is_acked_at_place & is_removed, f.struct(*_PLACE, "removed_by", "log_start"))).alias("expired"),
        f.max("is_sent").alias("is_sent"),
        f.min("sent_topic").alias("sent_topic"),
        *(f.coalesce(f.max(name), f.lit(False)).alias(name) for name in ("is_acked", "is_acked_elsewhere")),
        *(f.min(name).alias(name) for name in ("ordinal", "error")),
        _key(),
    )


def _key() -> Column:
    """Return one key of an event's lines; of several keys the one that the screening uses."""
    return f.min_by("key", hash_of("key")).alias("key")


def _with_overtakers(events: DataFrame) -> DataFrame:
    """Add the event with the greatest ordinal in front of each event, if that was sent later."""
    has_order = has_all("key", "ordinal", "first") & ~f.col("is_acked_elsewhere")
    # Events without an order form one group each, so that no task gets all of them.
    group = f.when(~has_order, f.col("event_id"))
    window = Window.partitionBy("first.topic", "first.partition", "key", group).orderBy("first.offset")
    in_front = window.rowsBetween(Window.unboundedPreceding, -1)
    latest = f.max(f.struct("ordinal", f.col("first.offset").alias("offset"), "event_id")).over(in_front)
    return events.withColumn("latest", latest).withColumn(
        "overtaker", f.when(f.col("latest.ordinal") > f.col("ordinal"), f.col("latest"))
    )


def _findings(events: DataFrame) -> DataFrame:
    is_stored, is_acked = f.col("copies") > 0, f.col("is_acked")
    is_acked_here = is_acked & ~f.col("is_acked_elsewhere")
    is_expired = f.col("expired").isNotNull() & f.col("acked").isNull()
    of_event = (
        f.when(~f.col("is_sent") & is_stored, "unknown_event")
        .when(is_acked_here & ~is_stored & is_expired, "expired")
        .when(is_acked_here & ~is_stored, "lost")
        .when(f.col("is_sent") & ~is_acked & is_stored, "ambiguous_success")
        .when(is_stored & f.col("misplaced").isNotNull(), "offset_differs")
    )
    kinds = f.array(of_event, f.when(f.col("overtaker").isNotNull(), "reordered"))
    found = events.where(of_event.isNotNull() | f.col("overtaker").isNotNull()).select(
        "*", f.explode(f.array_compact(kinds)).alias("kind")
    )
    is_lost, is_reordered = f.col("kind") == "lost", f.col("kind") == "reordered"
    columns: dict[str, str | Column] = {
        "cause": f.when(is_lost & f.col("aborted").isNotNull(), "aborted_transaction").when(
            f.col("kind") == "expired", f.col("expired.removed_by")
        ),
        **{name: f.coalesce(f"first.{name}", f"acked.{name}", f"expired.{name}") for name in _PLACE},
        # An acknowledgement without an offset has no place, but its line in the ledger may have a topic.
        "topic": f.coalesce("first.topic", "acked.topic", "expired.topic", "sent_topic"),
        "other_offset": f.when(is_lost, f.col("aborted.offset"))
        .when(is_reordered, f.col("overtaker.offset"))
        .when(f.col("kind") == "offset_differs", f.col("misplaced.offset")),
        "event_id": "event_id",
        "count": f.when(f.col("kind").isin("unknown_event", "ambiguous_success"), f.col("copies")).otherwise(1),
        "timestamp": "first.timestamp",
        "detail": _detail(),
    }
    return findings_of(found, "ledger", f.col("kind"), columns)


def _detail() -> Column:
    kind = f.col("kind")
    where_acked = f.when(f.col("acked").isNull(), f.lit(" without an offset")).otherwise(
        in_words(" at ", *_place_parts("acked"))
    )
    why_absent = f.when(f.col("aborted").isNull(), f.lit(", not in the log")).otherwise(
        in_words(", its transaction was aborted (", *_place_parts("aborted"), ")")
    )
    is_compacted = f.col("expired.removed_by") == "compaction"
    why_expired = f.when(is_compacted, f.lit(", which compaction may have removed")).otherwise(
        in_words(", and the log begins at ", f.col("expired.log_start"))
    )
    return (
        f.when(kind == "expired", f.concat(in_words("acknowledged at ", *_place_parts("expired")), why_expired))
        .when(kind == "lost", f.concat(f.lit("acknowledged"), where_acked, why_absent))
        .when(kind == "ambiguous_success", in_words("failed: ", f.col("error"), ", stored at ", *_place_parts("first")))
        .when(
            kind == "offset_differs",
            in_words("acknowledged at ", *_place_parts("misplaced"), ", stored at ", *_place_parts("first")),
        )
        .when(kind == "unknown_event", in_words("stored at ", *_place_parts("first"), ", not in the ledger"))
        .otherwise(
            in_words(
                *("sent as ", f.col("ordinal"), " of key ", f.col("key"), ", stored at ", *_place_parts("first")),
                *(" behind ", f.col("overtaker.event_id"), ", sent as ", f.col("overtaker.ordinal"), " and stored at "),
                f.col("overtaker.offset"),
            )
        )
    )


def _place_parts(place: str) -> tuple[str | Column, ...]:
    topic = f.coalesce(f.concat(f.col(f"{place}.topic"), f.lit("-")), f.lit("partition "))
    return (topic, f.col(f"{place}.partition"), " offset ", f.col(f"{place}.offset"))
