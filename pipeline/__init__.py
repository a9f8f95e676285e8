"""Spark jobs over the segment files or topics of a broker, with producer ids, epochs and sequences as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..rare_parts import part_loader
from . import cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from . import command_line as command_line
    from . import repeated_command as repeated_command
    from . import schemas as schemas
else:
    __getattr__ = part_loader(__name__)


def session(
    master: str | None = None, *, with_kafka: bool = False, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the Spark session of this process with the format `fauxka-log`. Starts a session if there is none.

    master: default local[*]; sc://HOST:PORT is a server of Spark Connect. with_kafka: also provide the format `kafka`;
    missing jars are downloaded, but a Connect server must have them. settings: Spark configuration keys; they override
    the defaults of this package.
    Raises BadOption if Java, a jar or the Connect server is missing.
    """
    return cluster.spark_session.start_session(master, with_kafka=with_kafka, settings=settings)
