"""A Spark session with the kafka format, and the broker it reads from."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.cluster.spark_jars import fetch_jars

from ..clients.confluent_client import ConfluentClient
from ..clients.records import PARTITION_COUNT
from ..clients.topics import create_topic
from ..reference.broker_under_test import bootstrap

__all__ = ["bootstrap"]

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    # A shuffle of a few thousand rows; the default of 200 tasks takes minutes.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    jars = [str(jar) for jar in fetch_jars()]
    # Spark starts its workers with this Python and rejects another version than the driver's.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("fauxka-tests").config("spark.jars", ",".join(jars))
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def client(bootstrap: str) -> ConfluentClient:
    """Creates topics, and sends records with given timestamps, which Spark cannot."""
    return ConfluentClient(bootstrap)


@pytest.fixture
def topic(client: ConfluentClient, bootstrap: str) -> Iterator[str]:
    name = create_topic(client, bootstrap, "spark", PARTITION_COUNT)
    yield name
    client.delete_topic(name)
