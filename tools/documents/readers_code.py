"""What the reader of a document has, and its programs in Python use without a definition.

pyright checks the programs with these types. A fixture, such as `fauxka`, has the type of the pytest plugin.
"""

from __future__ import annotations

import sqlite3
import ssl

import httpx
import pytest
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from testcontainers.kafka import KafkaContainer

from fauxka.testcontainers import FauxkaContainer
from fauxka.testing import Broker, Faults

__all__ = [
    "Broker",
    "DataFrame",
    "Faults",
    "FauxkaContainer",
    "KafkaContainer",
    "Producer",
    "SparkSession",
    "address",
    "batches",
    "broker",
    "event",
    "faults",
    "httpx",
    "number",
    "outbox",
    "producer",
    "pytest",
    "raise_failure",
    "read_orders",
    "records",
    "send_order",
    "spark",
    "ssl",
]

broker: Broker
faults: Faults
spark: SparkSession
batches: DataFrame
records: DataFrame
producer: Producer
outbox: sqlite3.Connection
address: str
event: str
number: int


def send_order(bootstrap: str, idempotence: bool = True) -> None:
    """Send an order: the code under test."""


def read_orders(bootstrap: str) -> list[str]:
    """Return the values of the orders: the code under test."""
    return [bootstrap]


def raise_failure(error: object, message: object) -> None:
    """Raise the error of a record that was not written."""
