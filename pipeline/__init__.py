"""Spark jobs over what a broker holds: topics and segment files as rows, with producer ids, epochs and sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session(
    master: str | None = None, *, with_kafka: bool = False, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the Spark session of this process, started if there is none, to which `fauxka-log` is a format.

    master: local[*] without it. with_kafka: whether the format kafka is needed too, whose jars are then fetched if
    they are not there. settings: Spark's keys, which win over ours.
    Raises BadOption where there is no Java, or no jars.
    """
    # Spark takes a second to import, which who only decodes need not wait for.
    from .spark.spark_session import start_session

    return start_session(master, with_kafka=with_kafka, settings=settings)
