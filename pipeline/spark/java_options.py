"""What Spark's JVM is started with, as defaultJavaOptions: the extraJavaOptions of a user stand behind them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyspark

# Of each value of an Arrow batch Spark asks itself whether it is null, and none beyond the batch: Arrow need not check
# that once more for every one of them.
ARROW_OPTIONS = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"

# The tasks of a job on one machine want to be through, and nobody waits for one of their steps: G1, which is Java's
# choice, makes every step a little longer so that no pause is long.
_COLLECTOR = "-XX:+UseParallelGC"
_ANY_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")


def options_of_one_machine(given: Mapping[str, str]) -> str:
    """Return the options of a JVM in which both the driver and the tasks run.

    given: the keys that a user gives. Java does not start with two collectors: if they, the environment or
    spark-defaults.conf name one, there is none here.
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
