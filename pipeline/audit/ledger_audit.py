"""A ledger of what was sent beside the log: what is lost, what is there unasked for, and what came in another order.

An event on several lines of the ledger was sent several times; one acknowledgement among them is enough. What stands
in an aborted transaction is no copy, as no reader of committed data sees it. What was acknowledged where the log holds
nothing any more, before its start or where it was cleaned, is not lost but expired. Only the events that their numbers
leave in doubt (ledger_screening.py) are sorted with all that is told of them; to the driver come numbers of buckets.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from ..findings import findings_of, in_words
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
    """Return findings: lost, expired, ambiguous_success, offset_differs, unknown_event and reordered, for each event.

    records: the records view. sent: columns of SENT_KINDS, of which event_id must be there. An error that is null is an
    acknowledgement, with or without a place; a ledger without a topic column is compared by partition and offset alone,
    which is right where the log is of one topic. event_id: of a record; records without one are left out.
    batches: the batches view of the same log; without it, aborted transactions count as what is there.
    bounds: of its partitions, from read_bounds; without it, what retention or cleaning took is lost.
    reordered is an event behind one of the same key and partition that was sent after it, by their first copies.
    """
    place = [name for name in _PLACE if name != "topic" or "topic" in sent.columns]
    ledger = _entries_of_ledger(sent)
    if bounds is not None:
        ledger = _with_what_is_gone(ledger, bounds, [name for name in place if name != "offset"])
    entries = _entries_of_log(records, event_id, batches).unionByName(ledger, allowMissingColumns=True)
    return _findings(_with_overtakers(_events(_places(entries_in_doubt(entries, place), place))))


def _entries_of_log(records: DataFrame, event_id: Column, batches: DataFrame | None) -> DataFrame:
    rows = records.select("*", event_id.cast("string").alias("event_id"))
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
    return sent.select(
        *columns,
        f.lit(None).cast("timestamp").alias("timestamp"),
        f.lit(False).alias("is_stored"),
        f.lit(False).alias("is_aborted"),
        f.lit(True).alias("is_sent"),
        given["error"].isNull().alias("is_acked"),
        f.lit(None).cast("string").alias("gone"),
        f.lit(None).cast("bigint").alias("log_start"),
    )


def _with_what_is_gone(ledger: DataFrame, bounds: DataFrame, partition: list[str]) -> DataFrame:
    """Say of each place in the ledger by what it may be gone.

    partition: the columns that name one; of several partitions the least bounds hold.
    """
    least = bounds.groupBy(*partition).agg(*(f.min(name).alias(name) for name in ("log_start", "cleaned_before")))
    gone = f.when(f.col("offset") < f.col("log_start"), "retention").when(
        f.col("offset") < f.col("cleaned_before"), "compaction"
    )
    # A few numbers for each partition.
    told = ledger.drop("gone", "log_start").join(f.broadcast(least), partition, "left")
    return told.withColumn("gone", gone).drop("cleaned_before")


def _places(entries: DataFrame, place: list[str]) -> DataFrame:
    """Return one row for each event and place: whether it is there, and whether that was acknowledged."""
    # By the event alone: both groupings find their rows together then.
    return (
        entries.repartition("event_id")
        .groupBy("event_id", *place)
        .agg(
            *(f.min(name).alias(name) for name in _PLACE if name not in place),
            *(f.min(name).alias(name) for name in ("timestamp", "ordinal", "error", "gone", "log_start")),
            _key(),
            *(f.max(name).alias(name) for name in ("is_stored", "is_aborted", "is_sent", "is_acked")),
        )
        .withColumn("has_place", has_all(*place))
    )


def _events(places: DataFrame) -> DataFrame:
    """Return one row for each event."""
    place = f.struct(*_PLACE)
    is_here = f.col("is_stored") | f.col("is_aborted")
    is_told = f.col("is_acked") & f.col("has_place")
    is_gone = ~is_here & f.col("gone").isNotNull()
    is_acked_place = is_told & ~is_gone
    return places.groupBy("event_id").agg(
        f.count(f.when(f.col("is_stored"), 1)).alias("copies"),
        f.min(f.when(f.col("is_stored"), f.struct(*_PLACE, "timestamp"))).alias("first"),
        f.min(f.when(f.col("is_aborted"), place)).alias("aborted"),
        f.min(f.when(is_acked_place, place)).alias("acked"),
        f.min(f.when(is_acked_place & ~is_here, place)).alias("misplaced"),
        f.min(f.when(is_told & is_gone, f.struct(*_PLACE, "gone", "log_start"))).alias("expired"),
        f.max("is_sent").alias("is_sent"),
        f.coalesce(f.max("is_acked"), f.lit(False)).alias("is_acked"),
        *(f.min(name).alias(name) for name in ("ordinal", "error")),
        _key(),
    )


def _key() -> Column:
    """Return the one key of an event's lines: the one that the screening takes where they have several."""
    return f.min_by("key", hash_of("key")).alias("key")


def _with_overtakers(events: DataFrame) -> DataFrame:
    """Add the event in front of each that was sent last, if it was sent later."""
    has_order = has_all("key", "ordinal", "first")
    # What has no order is a group each, so that no task gets all of it.
    group = f.when(~has_order, f.col("event_id"))
    window = Window.partitionBy("first.topic", "first.partition", "key", group).orderBy("first.offset")
    in_front = window.rowsBetween(Window.unboundedPreceding, -1)
    latest = f.max(f.struct("ordinal", f.col("first.offset").alias("offset"), "event_id")).over(in_front)
    return events.withColumn("latest", latest).withColumn(
        "overtaker", f.when(f.col("latest.ordinal") > f.col("ordinal"), f.col("latest"))
    )


def _findings(events: DataFrame) -> DataFrame:
    is_stored, is_acked = f.col("copies") > 0, f.col("is_acked")
    is_expired = f.col("expired").isNotNull() & f.col("acked").isNull()
    of_event = (
        f.when(~f.col("is_sent") & is_stored, "unknown_event")
        .when(is_acked & ~is_stored & is_expired, "expired")
        .when(is_acked & ~is_stored, "lost")
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
            f.col("kind") == "expired", f.col("expired.gone")
        ),
        **{name: f.coalesce(f"first.{name}", f"acked.{name}", f"expired.{name}") for name in _PLACE},
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
        in_words(" at ", *_place_in_words("acked"))
    )
    why_absent = f.when(f.col("aborted").isNull(), f.lit(", not in the log")).otherwise(
        in_words(", its transaction was aborted (", *_place_in_words("aborted"), ")")
    )
    why_expired = f.when(f.col("expired.gone") == "compaction", f.lit(", which compaction may have taken")).otherwise(
        in_words(", and the log begins at ", f.col("expired.log_start"))
    )
    return (
        f.when(kind == "expired", f.concat(in_words("acknowledged at ", *_place_in_words("expired")), why_expired))
        .when(kind == "lost", f.concat(f.lit("acknowledged"), where_acked, why_absent))
        .when(kind == "ambiguous_success", in_words("told ", f.col("error"), ", stored at ", *_place_in_words("first")))
        .when(
            kind == "offset_differs",
            in_words("acknowledged at ", *_place_in_words("misplaced"), ", stored at ", *_place_in_words("first")),
        )
        .when(kind == "unknown_event", in_words("stored at ", *_place_in_words("first"), ", not in the ledger"))
        .otherwise(
            in_words(
                *("sent as ", f.col("ordinal"), " of key ", f.col("key"), ", stored at ", *_place_in_words("first")),
                *(" behind ", f.col("overtaker.event_id"), ", sent as ", f.col("overtaker.ordinal"), " and stored at "),
                f.col("overtaker.offset"),
            )
        )
    )


def _place_in_words(place: str) -> tuple[str | Column, ...]:
    topic = f.coalesce(f.concat(f.col(f"{place}.topic"), f.lit("-")), f.lit("partition "))
    return (topic, f.col(f"{place}.partition"), " offset ", f.col(f"{place}.offset"))
