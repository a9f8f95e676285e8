"""A kind of finding as a rule over rows, and all rules applied in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from ..findings import Check, findings_of


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows show a kind of finding, and what is told of each; the columns are of the rows.

    count, cause, other_offset, detail: as in a finding.
    """

    check: Check
    kind: str
    applies: Column
    count: Column
    detail: Column
    other_offset: Column | None = None
    cause: Column | None = None

    def finding(self) -> Column:
        """Return what is told as a struct; null where the rule does not apply."""
        told = f.struct(
            f.lit(self.check).alias("check"),
            f.lit(self.kind).alias("kind"),
            _or_null(self.cause).cast("string").alias("cause"),
            _or_null(self.other_offset).cast("bigint").alias("other_offset"),
            self.count.cast("bigint").alias("count"),
            self.detail.alias("detail"),
        )
        return f.when(self.applies, told)


def findings_by(rows: DataFrame, rules: Sequence[Rule], columns: Mapping[str, str | Column]) -> DataFrame:
    """Return a finding for each row and rule that applies to it.

    columns: what is told of a row whatever the rule, by the names of a finding's columns.
    """
    found = f.filter(f.array(*(rule.finding() for rule in rules)), lambda finding: finding.isNotNull())
    # Nearly all rows show nothing, and no array needs to be made for them.
    told = rows.where(reduce(Column.__or__, [rule.applies for rule in rules])).withColumn("finding", f.explode(found))
    of_rule = {name: f.col("finding")[name] for name in ("cause", "other_offset", "count", "detail")}
    return findings_of(told, f.col("finding")["check"], f.col("finding")["kind"], {**columns, **of_rule})


def _or_null(column: Column | None) -> Column:
    return f.lit(None) if column is None else column
