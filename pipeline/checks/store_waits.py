"""The requests to an object store that were sent again while a view was read, observed by the query that reads it.

Tasks count them in columns of their rows, because an accumulator needs a Spark context and a session need not have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as f

from ..decode.views import REPEATED_REQUESTS, WAITED_MS
from ..read.options import parse_options
from ..read.store_address import local_path_of
from ..read.store_attempts import Waits


def wait_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns to read beside those that a query needs; none unless the log is in an object store."""
    parsed = parse_options(options)
    paths = (path for path in (parsed.path, parsed.tier) if path is not None)
    return (REPEATED_REQUESTS, WAITED_MS) if any(local_path_of(path) is None for path in paths) else ()


def wait_sums(options: Mapping[str, str]) -> tuple[Column, ...]:
    """Return aggregates to observe, for waits_in."""
    return tuple(f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in wait_columns(options))


def waits_in(observed: Mapping[str, Any]) -> Waits:
    """Return the waits of an observation; none if it has no wait_sums."""
    return Waits(observed.get(REPEATED_REQUESTS, 0), observed.get(WAITED_MS, 0) / 1000)
