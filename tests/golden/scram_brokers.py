"""Starts the brokers of capture_scram: a real Kafka without users, and a fauxka with the same keys."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from .sasl_brokers import fauxka_with_listeners, jaas_config, kafka_with_listeners
from .sasl_client import FAILED_DELAY_MS, HASHES, Addresses

# PLAINTEXT: the requests of the cases, by a super user. SASL_PLAINTEXT: their logins.
LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT")
CONFIG = {
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": ",".join(HASHES),
    "connection.failed.authentication.delay.ms": str(FAILED_DELAY_MS),
    **jaas_config({}, HASHES, "sasl_plaintext"),
    # Users that have logged in may do nothing.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@contextmanager
def kafka_without_users(folder: Path) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners."""
    with kafka_with_listeners(folder / "kafka.log", LISTENERS, CONFIG) as addresses:
        yield addresses


@contextmanager
def fauxka_without_users(folder: Path) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    with fauxka_with_listeners(folder, LISTENERS, CONFIG, {}) as addresses:
        yield addresses
