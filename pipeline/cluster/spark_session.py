"""A Spark session with the data source `fauxka-log`, on this machine, on a cluster or on a Connect server.

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
from ..sessions.classic_session import is_local
from ..sessions.session_kind import is_connect, kind_of
from .connect_server import check_kafka_format, connect_to, find_server, set_all, without_remote_variable
from .java_options import ARROW_OPTIONS, options_of_one_machine
from .spark_archive import archive_of_this_code
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
    row_count: int | None = None,
) -> SparkSession:
    """Return the session of this process with the format `fauxka-log`. Starts a session if there is none.

    master: default is SPARK_REMOTE, or that of spark-submit if it started this process, otherwise local[*]; sc:// is a
    Connect server. Workers of a cluster are sent this package. with_kafka: also provide the format kafka; missing jars
    are downloaded. A job of spark-submit must pass them as --jars, and a Connect server must have them. settings: Spark
    configuration keys. row_count: about the rows that the process reads, if that is all it does.
    Raises BadOption if Java, a jar or the Connect server is missing.
    """
    given = dict(settings or {})
    active = SparkSession.getActiveSession()
    server = find_server(master, given)
    if active is not None and is_connect(active):
        spark = active
    elif server is not None:
        spark = connect_to(server)
    else:
        spark = _classic_session(master, given, with_kafka=with_kafka, row_count=row_count)
    if is_connect(spark):
        set_all(spark, given)
        if with_kafka:
            check_kafka_format(spark)
    if active is None:
        _set_missing_sql_settings(spark)
    kind_of(spark).send_archive(archive_of_this_code)
    register(spark)
    return spark


def _classic_session(
    master: str | None, given: Mapping[str, str], *, with_kafka: bool, row_count: int | None
) -> SparkSession:
    """Return the classic session of this process, or start one. given: the user's Spark keys. Raises BadOption."""
    master = master or given.get("spark.master") or (None if _is_submitted() else "local[*]")
    _check_java()
    is_new = SparkSession.getActiveSession() is None
    keys = {**(_settings_for(master, given, row_count) if is_new else {}), **given}
    if with_kafka:
        jars = [str(jar) for jar in fetch_jars()]
        keys["spark.jars"] = ",".join([*filter(None, [keys.get("spark.jars")]), *jars])
    with without_remote_variable():
        builder = SparkSession.builder.appName("fauxka")
        if master is not None:
            builder = builder.master(master)
        for key, value in keys.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()


def _settings_for(master: str | None, given: Mapping[str, str], row_count: int | None) -> dict[str, str]:
    """Return the settings for a master; none for a job of spark-submit, which sets its own."""
    if master is None:
        return {}
    if not is_local(master):
        return SETTINGS
    # Spark starts its workers with this Python and rejects another version than the driver's.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return {**SETTINGS, **LOCAL_SETTINGS, "spark.driver.defaultJavaOptions": options_of_one_machine(given, row_count)}


def _set_missing_sql_settings(spark: SparkSession) -> None:
    """Set the SQL settings that neither start_session, spark-submit nor the Connect server has set."""
    for key, value in SETTINGS.items():
        if key.startswith("spark.sql.") and spark.conf.get(key, None) is None:
            spark.conf.set(key, value)


def register(spark: SparkSession) -> None:
    """Register the format `fauxka-log`. Does nothing before Spark 4, where read_log replaces it."""
    if has_data_sources(spark):
        spark.dataSource.register(read.log_source.FauxkaLog)


def has_data_sources(spark: SparkSession) -> bool:
    """Whether this Spark has Python data sources (4.0 and later)."""
    return int(spark.version.split(".")[0]) >= 4


def _is_submitted() -> bool:
    """Whether spark-submit started this process and the JVM."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").exists()):
        raise BadOption("Spark needs Java 17: java is not in PATH, and JAVA_HOME has none")
