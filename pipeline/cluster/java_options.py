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


def options_of_one_machine(given: Mapping[str, str]) -> str:
    """Return the options of a JVM that runs both the driver and the tasks.

    given: the user's Spark keys. If they, the environment or spark-defaults.conf name a garbage collector, the result
    names none, because Java does not start with two.
    """
    words = [*given.values(), *os.environ.values(), _spark_defaults()]
    return ARROW_OPTIONS if any(map(_ANY_COLLECTOR.search, words)) else f"{ARROW_OPTIONS} {_COLLECTOR}"


def _spark_defaults() -> str:
    home = os.environ.get("SPARK_HOME", os.path.dirname(pyspark.__file__))
    folder = os.environ.get("SPARK_CONF_DIR", os.path.join(home, "conf"))
    try:
        return Path(folder, "spark-defaults.conf").read_text(errors="replace")
    except OSError:
        return ""
