"""A Spark session with the data source `fauxka-log`, on this machine or on a cluster.

The user's settings override the ones here. An existing session is used unchanged.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from .. import read
from ..bad_option import BadOption
from .java_options import ARROW_OPTIONS, options_of_one_machine
from .spark_archive import send_archive
from .spark_jars import fetch_jars

SETTINGS = {
    "spark.driver.defaultJavaOptions": ARROW_OPTIONS,
    "spark.executor.defaultJavaOptions": ARROW_OPTIONS,
    "spark.ui.enabled": "false",
    # Logins and private keys in options of the format kafka; Spark's default is (?i)url. It is compared with names and
    # values of options.
    "spark.sql.redaction.options.regex": "(?i)url|[.]jaas[.]|ssl[.]key|private key",
    # Kafka's timestamps have no time zone; UTC shows them alike on every machine.
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
    # Spark's progress bar would overwrite the progress line of the command.
    "spark.ui.showConsoleProgress": "false",
    # A task reads all its spilled pieces at once. Reading ahead takes 2 MB of the heap for each, and the heap of small
    # tasks on large partitions ran out.
    "spark.unsafe.sorter.spill.read.ahead.enabled": "false",
}
LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # One machine needs fewer shuffle files than the default of 200; adaptive execution joins small partitions.
    "spark.sql.shuffle.partitions": "32",
}


def start_session(
    master: str | None = None,
    *,
    with_kafka: bool = False,
    settings: Mapping[str, str] | None = None,
    log_bytes: int | None = None,
) -> SparkSession:
    """Return the session of this process with the format `fauxka-log`. Starts a session if there is none.

    master: default is that of spark-submit if it started this process, otherwise local[*]. Workers of a cluster are
    sent this package. with_kafka: also provide the format kafka; missing jars are downloaded. A job of spark-submit
    must pass them as --jars. settings: Spark configuration keys. log_bytes: about the size of the log that the process
    reads, if that is all it does.
    Raises BadOption if Java or a jar is missing.
    """
    given = dict(settings or {})
    master = master or given.get("spark.master") or (None if _is_submitted() else "local[*]")
    _check_java()
    is_new = SparkSession.getActiveSession() is None
    keys = {**(_settings_for(master, given, log_bytes) if is_new else {}), **given}
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
        _set_missing_sql_settings(spark)
    if not is_local(str(spark.sparkContext.master)):
        send_archive(spark.sparkContext)
    register(spark)
    return spark


def _settings_for(master: str | None, given: Mapping[str, str], log_bytes: int | None) -> dict[str, str]:
    """Return the settings for a master; none for a job of spark-submit, which sets its own."""
    if master is None:
        return {}
    if not is_local(master):
        return SETTINGS
    # Spark starts its workers with this Python and rejects another version than the driver's.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return {**SETTINGS, **LOCAL_SETTINGS, "spark.driver.defaultJavaOptions": options_of_one_machine(given, log_bytes)}


def _set_missing_sql_settings(spark: SparkSession) -> None:
    """Set the SQL settings that neither start_session nor spark-submit has set."""
    given = spark.sparkContext.getConf()
    for key, value in SETTINGS.items():
        if key.startswith("spark.sql.") and not given.contains(key):
            spark.conf.set(key, value)


def register(spark: SparkSession) -> None:
    """Register the format `fauxka-log`. Does nothing before Spark 4, where read_log replaces it."""
    if has_data_sources(spark):
        spark.dataSource.register(read.log_source.FauxkaLog)


def has_data_sources(spark: SparkSession) -> bool:
    """Whether this Spark has Python data sources (4.0 and later)."""
    return int(spark.version.split(".")[0]) >= 4


def is_local(master: str) -> bool:
    """Whether tasks run within the driver's JVM; false for local-cluster."""
    return master == "local" or master.startswith("local[")


def _is_submitted() -> bool:
    """Whether spark-submit started this process and the JVM."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").exists()):
        raise BadOption("Spark needs Java 17: java is not in PATH, and JAVA_HOME has none")
