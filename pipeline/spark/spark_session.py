"""A Spark session that knows the data source, on this machine or on a cluster, set for few surprises.

Settings of the user's win over these, and a session that is there already is taken as it is.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from ..bad_option import BadOption
from .java_options import ARROW_OPTIONS, options_of_one_machine
from .spark_archive import send_archive
from .spark_jars import fetch_jars

SETTINGS = {
    "spark.driver.defaultJavaOptions": ARROW_OPTIONS,
    "spark.executor.defaultJavaOptions": ARROW_OPTIONS,
    "spark.ui.enabled": "false",
    # Kafka's timestamps are of no zone, and days are told apart in one.
    "spark.sql.session.timeZone": "UTC",
    # What Spark logs below an error is for who looks after Spark.
    "spark.log.level": "ERROR",
    # A bar of its own would be written over that of the command.
    "spark.ui.showConsoleProgress": "false",
    # What does not fit into a task's memory goes to its disk in pieces, all of which are read at once: to read ahead in
    # each takes two megabytes of the heap, of which small tasks on large partitions then ran out.
    "spark.unsafe.sorter.spill.read.ahead.enabled": "false",
}
LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Spark counts in the files of a shuffle, of which a laptop needs fewer than the 200 of the default; adaptive
    # execution joins the small ones.
    "spark.sql.shuffle.partitions": "32",
}


def start_session(
    master: str | None = None, *, with_kafka: bool = False, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the session of this process, started if there is none, to which `fauxka-log` is a format.

    master: without it that of spark-submit, which started this process, or else local[*]. Another master than a local
    one gets this package for its workers. with_kafka: whether the format kafka is needed too, whose jars are then
    fetched if they are not there; spark-submit wants them as --jars. settings: Spark's keys.
    Raises BadOption where there is no Java, or no jars.
    """
    given = dict(settings or {})
    master = master or given.get("spark.master") or (None if _is_submitted() else "local[*]")
    _check_java()
    is_new = SparkSession.getActiveSession() is None
    keys = {**(_settings_for(master, given) if is_new else {}), **given}
    if with_kafka:
        jars = [str(jar) for jar in fetch_jars()]
        keys["spark.jars"] = ",".join([*filter(None, [keys.get("spark.jars")]), *jars])
    builder = SparkSession.builder.appName("fauxka")
    if master is not None:
        builder = builder.master(master)
    for key, value in keys.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if is_new:
        _set_what_nobody_has(spark)
    if not is_local(str(spark.sparkContext.master)):
        send_archive(spark.sparkContext)
    register(spark)
    return spark


def _settings_for(master: str | None, given: Mapping[str, str]) -> dict[str, str]:
    """Return our settings for a master; none for a job of spark-submit, which has its own."""
    if master is None:
        return {}
    if not is_local(master):
        return SETTINGS
    # Spark starts its workers by this name, and another Python than the driver's is refused.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return {**SETTINGS, **LOCAL_SETTINGS, "spark.driver.defaultJavaOptions": options_of_one_machine(given)}


def _set_what_nobody_has(spark: SparkSession) -> None:
    """Set what queries go by and spark-submit was not told; without effect where the session began with it."""
    given = spark.sparkContext.getConf()
    for key, value in SETTINGS.items():
        if key.startswith("spark.sql.") and not given.contains(key):
            spark.conf.set(key, value)


def register(spark: SparkSession) -> None:
    """Make `fauxka-log` a format of the session; without effect before Spark 4, where read_log takes its place."""
    if has_data_sources(spark):
        from ..log_source import FauxkaLog

        spark.dataSource.register(FauxkaLog)


def has_data_sources(spark: SparkSession) -> bool:
    """Whether this Spark has data sources in Python."""
    return int(spark.version.split(".")[0]) >= 4


def is_local(master: str) -> bool:
    """Whether Spark's tasks run within the driver's process; those of local-cluster do not."""
    return master == "local" or master.startswith("local[")


def _is_submitted() -> bool:
    """Whether spark-submit started this process, and with it the JVM."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").exists()):
        raise BadOption("Spark needs Java 17, and there is no java in PATH and no JAVA_HOME")
