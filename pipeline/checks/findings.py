"""Findings of the audits: the columns, the names of the checks, and the conversion of rows to findings.

All audits return these columns in this order, so that their findings can be combined into one frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from .finding_kinds import FINDING_KINDS, Check

KINDS: dict[str, str] = {
    "check": "string",
    "kind": "string",
    # Null where the data does not show a cause.
    "cause": "string",
    "topic": "string",
    "partition": "int",
    # The offset of the finding, and of the record or batch it is compared with: the first copy, the previous batch.
    "offset": "bigint",
    "other_offset": "bigint",
    # Of other_offset, if it is another one.
    "other_partition": "int",
    "producer_id": "bigint",
    "producer_epoch": "int",
    "base_sequence": "int",
    "event_id": "string",
    "group_id": "string",
    # The number of records concerned (missing sequences, copies, lost events, records of a damaged batch).
    "count": "bigint",
    # The timestamp at the offset.
    "timestamp": "timestamp",
    # The finding as a sentence.
    "detail": "string",
}
FINDING_COLUMNS = tuple(KINDS)
FINDING_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())


def all_findings(first: DataFrame, *others: DataFrame) -> DataFrame:
    """Return the union of the findings of several audits."""
    return reduce(DataFrame.unionByName, others, first)


def findings_of(
    rows: DataFrame, check: Check | Column, kind: str | Column, columns: Mapping[str, str | Column]
) -> DataFrame:
    """Return one finding for each row.

    check, kind: constants or columns. columns: value by finding column; a str names a column of rows. All other
    finding columns are null.
    """
    unknown = columns.keys() - KINDS.keys() | columns.keys() & {"check", "kind"}
    assert not unknown, f"columns contains {sorted(unknown)}, which cannot be set"
    if isinstance(check, str) and isinstance(kind, str):
        assert kind in FINDING_KINDS[check], f"{kind} is no kind of {check}"
    values = {name: f.col(value) if isinstance(value, str) else value for name, value in columns.items()}
    values |= {"check": f.lit(check), "kind": f.lit(kind)}
    return rows.select(*(values.get(name, f.lit(None)).cast(sort).alias(name) for name, sort in KINDS.items()))


def in_words(*parts: str | Column) -> Column:
    """Return the concatenation of text (str) and columns as a string column; a null becomes `?`."""
    return f.concat(
        *(f.lit(part) if isinstance(part, str) else f.coalesce(part.cast("string"), f.lit("?")) for part in parts)
    )
