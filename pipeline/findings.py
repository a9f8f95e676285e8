"""What an audit finds, a row each: the columns, the names of the checks, and how a frame becomes findings.

Every audit gives these columns in this order, so that findings of several are one table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

# What is looked at: a producer's sequences, events by their ids, what a ledger says was sent, the log itself.
Check = Literal["sequence", "event", "ledger", "log"]

KINDS: dict[str, str] = {
    "check": "string",
    "kind": "string",
    # Why, where it can be told.
    "cause": "string",
    "topic": "string",
    "partition": "int",
    # Where it is seen, and where the other one of the two stands: the first copy, the batch before.
    "offset": "bigint",
    "other_offset": "bigint",
    "producer_id": "bigint",
    "producer_epoch": "int",
    "base_sequence": "int",
    "event_id": "string",
    # How many records are concerned (missing sequences, copies, lost events); 1 for a damaged batch.
    "count": "bigint",
    # The timestamp of what stands at the offset.
    "timestamp": "timestamp",
    # The same in words, with the numbers.
    "detail": "string",
}
FINDING_COLUMNS = tuple(KINDS)
FINDING_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())

# Kinds that are told and are no fault: a transaction that was aborted or is not ended yet, what a compacted partition
# lacks, and what was acknowledged and has been kept for as long as it was to be. A log with no others is clean.
HARMLESS_KINDS = frozenset({"aborted_transaction", "open_transaction", "compacted_offsets", "expired"})


def no_findings(spark: SparkSession) -> DataFrame:
    """Return a frame of findings without any."""
    return spark.createDataFrame([], FINDING_SCHEMA)


def all_findings(first: DataFrame, *others: DataFrame) -> DataFrame:
    """Return the findings of several audits as one frame."""
    return reduce(DataFrame.unionByName, others, first)


def findings_of(
    rows: DataFrame, check: Check | Column, kind: str | Column, columns: Mapping[str, str | Column]
) -> DataFrame:
    """Return a finding for each row.

    check, kind: words, or columns that hold them. columns: the value of each column by its name, a str being the name
    of a column of rows; those left out are null.
    """
    unknown = columns.keys() - KINDS.keys() | columns.keys() & {"check", "kind"}
    assert not unknown, f"findings have no column {sorted(unknown)} to be set here"
    values = {name: f.col(value) if isinstance(value, str) else value for name, value in columns.items()}
    values |= {"check": f.lit(check), "kind": f.lit(kind)}
    return rows.select(*(values.get(name, f.lit(None)).cast(sort).alias(name) for name, sort in KINDS.items()))


def in_words(*parts: str | Column) -> Column:
    """Return a sentence of fixed words (str) and of numbers (columns); a null says so and leaves the rest whole."""
    return f.concat(
        *(f.lit(part) if isinstance(part, str) else f.coalesce(part.cast("string"), f.lit("?")) for part in parts)
    )
