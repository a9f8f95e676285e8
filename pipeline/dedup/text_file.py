"""One line of text stored beside a checkpoint, on any file system that Spark supports."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

_SCHEMA = "value string"


def find_text(spark: SparkSession, path: str) -> str | None:
    """Return the stored line. None if there is none, or if the writer was killed before it finished."""
    try:
        row = spark.read.schema(_SCHEMA).text(path).first()
    except AnalysisException as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        return None
    return None if row is None else str(row["value"])


def write_text(spark: SparkSession, path: str, line: str) -> None:
    """Replace the stored line."""
    spark.createDataFrame([(line,)], _SCHEMA).coalesce(1).write.mode("overwrite").text(path)
