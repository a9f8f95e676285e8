"""The values that an observation of a stream has in the progress of a query."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Row


def observed_values(row: Row) -> dict[str, Any]:
    """Return the values by the names of the aggregates.

    A Connect server sends the fields of Spark's row object, which are its values and its schema.
    Source: StreamingQueryProgress.jsonString, Spark 4.2.0.
    """
    content = row.asDict()
    if content.keys() != {"values", "schema"}:
        return content
    names = [field["name"] for field in content["schema"]["fields"]]
    return dict(zip(names, content["values"], strict=True))
