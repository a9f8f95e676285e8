"""JVM options for Spark's defaultJavaOptions, which a user's extraJavaOptions override."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyspark

# Spark checks bounds and nulls of every value itself, so Arrow need not repeat the checks.
ARROW_OPTIONS = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"

# A batch job needs throughput. G1, Java's default, trades throughput for short pauses.
_COLLECTOR = "-XX:+UseParallelGC"
_ANY_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")

# Java compiles the code of a job twice, quickly and then well. The second time costs more than it saves for few rows.
_QUICK_COMPILER = "-XX:TieredStopAtLevel=1"
_FEW_ROWS = 2_000_000


def options_of_one_machine(given: Mapping[str, str], row_count: int | None = None) -> str:
    """Return the options of a JVM that runs both the driver and the tasks.

    row_count: about the rows that its job reads; None for a session that can run more than one job.
    given: the user's Spark keys. If they, the environment or spark-defaults.conf name a garbage collector, the result
    names none, because Java does not start with two.
    """
    words = [*given.values(), *os.environ.values(), _spark_defaults()]
    options = [ARROW_OPTIONS]
    if not any(map(_ANY_COLLECTOR.search, words)):
        options.append(_COLLECTOR)
    if row_count is not None and row_count <= _FEW_ROWS:
        options.append(_QUICK_COMPILER)
    return " ".join(options)


def _spark_defaults() -> str:
    home = os.environ.get("SPARK_HOME", os.path.dirname(pyspark.__file__))
    folder = os.environ.get("SPARK_CONF_DIR", os.path.join(home, "conf"))
    try:
        return Path(folder, "spark-defaults.conf").read_text(errors="replace")
    except OSError:
        return ""
