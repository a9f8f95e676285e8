"""Starts the brokers of capture_acls: a real Kafka with an authorizer, and a fauxka with the same keys."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from .captures import REFERENCE_CONFIG
from .sasl_brokers import fauxka_with_listeners, jaas_config, kafka_with_listeners
from .sasl_client import Addresses

ADMIN, ALICE, BOB = "admin", "alice", "bob"
# Users of the matrix alone: two that its super users name, the second as a group, and one whose name differs in case.
CAROL, DAVE, OTHER_ALICE = "carol", "dave", "Alice"
PASSWORDS = {
    ADMIN: "admins-secret",
    ALICE: "secret",
    BOB: "bobs-secret",
    CAROL: "carols-secret",
    DAVE: "daves-secret",
    OTHER_ALICE: "other-secret",
}
# PLAINTEXT: the broker's own requests and the set-up of the cases, as a super user. SASL_PLAINTEXT: what is captured.
LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT")

CONFIG = {
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    **jaas_config(PASSWORDS, ("PLAIN",), "sasl_plaintext"),
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # The first assignment of a group at once.
    "group.share.assignment.interval.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "share.coordinator.state.topic.num.partitions": "1",
    # Without SASL a client and a broker are User:ANONYMOUS.
    "super.users": "User:admin;User:ANONYMOUS",
}
# What the two brokers of the cases have besides, by the name that the cases call them.
STRICT, PERMISSIVE = "strict", "permissive"
_PERMISSIVE = {"allow.everyone.if.no.acl.found": "true"}
CONFIG_OF = {STRICT: CONFIG, PERMISSIVE: {**CONFIG, **_PERMISSIVE}}
# The same for the matrix.
MATRIX_STRICT, MATRIX_PERMISSIVE = "matrix, strict", "matrix, permissive"
_MATRIX = {
    **CONFIG,
    "super.users": "User:admin; User:carol ;Group:dave;;User:ANONYMOUS",
    "delegation.token.secret.key": "secret-key-of-the-brokers",
    # A Metadata of the first versions creates topics, and the next worlds would have them.
    "auto.create.topics.enable": "false",
}
MATRIX_CONFIG_OF = {MATRIX_STRICT: _MATRIX, MATRIX_PERMISSIVE: {**_MATRIX, **_PERMISSIVE}}
_EVERY_CONFIG = {**CONFIG_OF, **MATRIX_CONFIG_OF}


@contextmanager
def kafka_with_acls(log_file: Path, broker: str) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners.

    broker: of CONFIG_OF or MATRIX_CONFIG_OF.
    """
    with kafka_with_listeners(log_file, LISTENERS, _EVERY_CONFIG[broker]) as addresses:
        yield addresses


@contextmanager
def fauxka_with_acls(folder: Path, broker: str) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    with fauxka_with_listeners(folder, LISTENERS, {**REFERENCE_CONFIG, **_EVERY_CONFIG[broker]}, {}) as addresses:
        yield addresses
