"""Order of the records of a key by a version in them, without a ledger: a key's versions must not go back.

Numbers are compared as numbers, other texts as texts, and a number is newer than a text. Equal versions are in order:
event ids find copies. Each partition is checked separately.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from .event_id import text_of
from .finding_rule import Rule, apply_rules
from .findings import all_findings, findings_of, in_words

VERSION_REGRESSION = "version_regression"
NO_VERSION = "no_version"

# The numbers that fit the type.
_NUMBER = r"^-?[0-9]{1,28}(\.[0-9]{1,9})?$"
_NUMBER_TYPE = "decimal(38,9)"


def audit_versions(records: DataFrame) -> DataFrame:
    """Return a finding for each record of an older version than one in front of it. records: from with_field."""
    keyed = records.where(f.col("key").isNotNull())
    in_order = Window.partitionBy("topic", "partition", "key").orderBy("offset")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    number = f.when(f.col("field").rlike(_NUMBER), f.col("field").cast(_NUMBER_TYPE))
    text = f.when(number.isNull(), f.col("field"))
    version = f.struct(number.alias("number"), text.alias("text"))
    # Of the records with the newest version the first one, so the offset is negative.
    place = f.struct(version.alias("version"), (-f.col("offset")).alias("place"), f.col("field").alias("words"))
    rows = keyed.where(f.col("field").isNotNull()).withColumn("version", version)
    rows = rows.withColumn("newest", f.max(place).over(before))
    newest_offset = -f.col("newest.place")
    detail = in_words(
        *("version ", f.col("field"), " comes behind version ", f.col("newest.words"), " at offset ", newest_offset)
    )
    is_back = f.coalesce(f.col("version") < f.col("newest.version"), f.lit(False))
    rule = Rule("event", VERSION_REGRESSION, is_back, f.lit(1), detail, newest_offset)
    of_record = ("topic", "partition", "offset", "producer_id", "producer_epoch", "base_sequence", "timestamp")
    columns: dict[str, str | Column] = {name: name for name in of_record}
    found = apply_rules(rows, [rule], {**columns, "event_id": text_of(f.col("key"))})
    return all_findings(found, without_field(keyed, NO_VERSION, "have a key and no version"))


def without_field(records: DataFrame, kind: str, words: str) -> DataFrame:
    """Return a finding for each partition with records without the field. words: the rest of the detail."""
    counted = (
        records.where(f.col("field").isNull())
        .groupBy("topic", "partition")
        .agg(
            f.count("*").alias("count"),
            f.min("offset").alias("offset"),
            f.min_by("timestamp", "offset").alias("timestamp"),
        )
    )
    detail = in_words(f.col("count"), f" records {words}, the first of them at offset ", f.col("offset"))
    columns: dict[str, str | Column] = {name: name for name in ("topic", "partition", "offset", "count", "timestamp")}
    return findings_of(counted, "event", kind, {**columns, "detail": detail})
