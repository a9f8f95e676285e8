"""Rules that make findings of rows, and their application in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from .finding_kinds import FINDING_KINDS, Check
from .findings import findings_of


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding. applies: a condition over the rows. count, detail, other_offset, cause: finding columns."""

    check: Check
    kind: str
    applies: Column
    count: Column
    detail: Column
    other_offset: Column | None = None
    cause: Column | None = None

    def __post_init__(self) -> None:
        """Check that the kind is in the table of kinds, which has its advice."""
        assert self.kind in FINDING_KINDS[self.check], f"{self.kind} is no kind of {self.check}"

    def finding(self) -> Column:
        """Return a struct column with the finding; null where the rule does not apply."""
        found = f.struct(
            f.lit(self.check).alias("check"),
            f.lit(self.kind).alias("kind"),
            _or_null(self.cause).cast("string").alias("cause"),
            _or_null(self.other_offset).cast("bigint").alias("other_offset"),
            self.count.cast("bigint").alias("count"),
            self.detail.alias("detail"),
        )
        return f.when(self.applies, found)


def apply_rules(rows: DataFrame, rules: Sequence[Rule], columns: Mapping[str, str | Column]) -> DataFrame:
    """Return a finding for each row and rule that applies to it. columns: finding columns that all rules share."""
    found = f.filter(f.array(*(rule.finding() for rule in rules)), lambda finding: finding.isNotNull())
    # Nearly all rows have no finding; the filter spares them the array.
    matching = rows.where(reduce(Column.__or__, [rule.applies for rule in rules]))
    exploded = matching.withColumn("finding", f.explode(found))
    of_rule = {name: f.col("finding")[name] for name in ("cause", "other_offset", "count", "detail")}
    return findings_of(exploded, f.col("finding")["check"], f.col("finding")["kind"], {**columns, **of_rule})


def _or_null(column: Column | None) -> Column:
    return f.lit(None) if column is None else column
