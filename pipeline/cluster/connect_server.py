"""Sessions on a server of Spark Connect: `--master sc://HOST:PORT`, or the variable SPARK_REMOTE.

The server has its own settings and jars. A session sets only what Spark lets a session set.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

import pyspark
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from ..bad_option import BadOption

SCHEME = "sc://"
# Spark's.
_DEFAULT_PORT = 15002
# Spark itself tries to reach a server for ten minutes.
_CONNECT_SECONDS_MAX = 10
# Keys that are the address itself.
_ADDRESS_KEYS = ("spark.master", "spark.remote")
# Spark's: the default address.
_REMOTE_VARIABLE = "SPARK_REMOTE"
_INSTALL = "pip install 'fauxka[connect]'"


def find_server(master: str | None, settings: Mapping[str, str]) -> str | None:
    """Return the address of the Connect server; None if the master is another one. settings: of the user.

    master: of the user, who can also set it as a Spark key or by SPARK_REMOTE.
    """
    given = [master, *(settings.get(key) for key in _ADDRESS_KEYS), os.environ.get(_REMOTE_VARIABLE)]
    address = next(filter(None, given), "")
    return address if address.startswith(SCHEME) else None


@contextmanager
def without_remote_variable() -> Generator[None, None, None]:
    """Unset SPARK_REMOTE within the block, because Spark refuses it beside any other master."""
    remote = os.environ.pop(_REMOTE_VARIABLE, None)
    try:
        yield
    finally:
        if remote is not None:
            os.environ[_REMOTE_VARIABLE] = remote


def connect_to(address: str) -> SparkSession:
    """Start a session on a server. Raises BadOption."""
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise BadOption(f"master: {SCHEME} needs pyspark 4, not {pyspark.__version__}")
    _check_server(address)
    try:
        return SparkSession.builder.remote(address).getOrCreate()
    except ImportError as error:
        raise BadOption(f"master: {SCHEME} needs more packages; install them with {_INSTALL}") from error


def _check_server(address: str) -> None:
    """Raise BadOption unless a server accepts connections. A message has no token of the address."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _DEFAULT_PORT
    except ValueError:
        host, port = None, 0
    if not host:
        raise BadOption(f"master: must be {SCHEME}HOST:PORT for Spark Connect")
    try:
        socket.create_connection((host, port), _CONNECT_SECONDS_MAX).close()
    except OSError as error:
        raise BadOption(f"master: no Connect server at {host}:{port}: {error.strerror or error}") from error


def set_all(spark: SparkSession, settings: Mapping[str, str]) -> None:
    """Set Spark keys of a session. Raises BadOption for a key that only the start of the server can set."""
    for key, value in settings.items():
        if key in _ADDRESS_KEYS:
            continue
        try:
            spark.conf.set(key, value)
        except AnalysisException as error:
            raise BadOption(f"conf: {key} cannot be set by a session; start the Connect server with it") from error


def check_kafka_format(spark: SparkSession) -> None:
    """Raise BadOption unless the server has the format kafka. Sends no request to a broker."""
    options = {"kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "topic"}
    try:
        _ = spark.read.format("kafka").options(**options).load().schema
    except AnalysisException as error:
        raise BadOption(
            "the Connect server has no format kafka: start it with the jars of `fauxka spark-jars`, or with"
            f" --packages org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
        ) from error
