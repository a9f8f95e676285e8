"""Starts the brokers of capture_sasl: a real Kafka, and a fauxka with the same keys."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..reference.kafka_process import free_ports, kafka_process
from ..serving_process import serving
from .captures import KAFKA_VERSION
from .raw_apis_security import ALTER_USER_SCRAM_CREDENTIALS
from .raw_client import RawConnection
from .raw_schema import Value
from .sasl_client import FAILED_DELAY_MS, HASHES, Addresses, SaslClient, ScramClient

# The users of PLAIN and of SCRAM, and two of SCRAM only.
USERS = {"alice": "secret", "bob": "bobs-secret"}
SCRAM_USERS = {**USERS, "a,b=c": "commas", "ü": "umlaut"}
SESSION_MS = 2000
# SASL_PLAINTEXT: sessions without an end. SESSIONS: sessions of SESSION_MS, but for those by SCRAM-SHA-512.
LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT", "SESSIONS")
# The default of `fauxka serve --user`, and of kafka-configs.sh.
ITERATIONS = 4096
SALT = b"salt-of-the-users"
CREDENTIALS_SECONDS_MAX = 30
POLL_SECONDS = 0.1


def jaas_config(users: Mapping[str, str], mechanisms: Iterable[str], *listeners: str) -> dict[str, str]:
    """Return sasl.jaas.config for each mechanism of each listener. users: of PLAIN, with their passwords."""
    entries = " ".join(f'user_{user}="{password}"' for user, password in users.items())
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    modules = {
        "PLAIN": f"org.apache.kafka.common.security.plain.PlainLoginModule required {entries};",
        **dict.fromkeys(HASHES, scram),
    }
    return {
        f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config": modules[mechanism]
        for listener in listeners
        for mechanism in mechanisms
    }


CONFIG = {
    "listener.security.protocol.map": (
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SESSIONS:SASL_PLAINTEXT"
    ),
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "connection.failed.authentication.delay.ms": str(FAILED_DELAY_MS),
    "listener.name.sessions.connections.max.reauth.ms": str(SESSION_MS),
    "listener.name.sessions.scram-sha-512.connections.max.reauth.ms": "0",
    **jaas_config(USERS, ("PLAIN", *HASHES), "sasl_plaintext", "sessions"),
}


@contextmanager
def kafka_with_sasl(folder: Path, config: Mapping[str, str] = CONFIG) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners."""
    with kafka_with_listeners(folder / "kafka.log", LISTENERS, config) as addresses:
        create_scram_users(addresses)
        yield addresses


@contextmanager
def kafka_with_listeners(
    log_file: Path, listeners: Sequence[str], config: Mapping[str, str], variables: Mapping[str, str] | None = None
) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners.

    The first listener must be without SASL. variables: environment variables of its process.
    """
    port = free_ports(len(listeners) + 1)
    # The controller has the port behind that of the first listener.
    ports = [port, *range(port + 2, port + 1 + len(listeners))]
    addresses = {name: f"127.0.0.1:{number}" for name, number in zip(listeners, ports, strict=True)}
    advertised = ",".join(f"{name}://{address}" for name, address in addresses.items())
    whole = {
        **config,
        "listeners": f"{advertised},CONTROLLER://127.0.0.1:{port + 1}",
        "advertised.listeners": advertised,
    }
    with kafka_process(log_file, whole, port=port, variables=variables):
        yield addresses


@contextmanager
def fauxka_with_sasl(folder: Path, config: Mapping[str, str] = CONFIG) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    with fauxka_with_listeners(folder, LISTENERS, config, SCRAM_USERS) as addresses:
        yield addresses


@contextmanager
def fauxka_with_listeners(
    folder: Path, listeners: Sequence[str], config: Mapping[str, str], users: Mapping[str, str]
) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    arguments = [
        *("--as-version", KAFKA_VERSION),
        *(text for name in listeners for text in ("--listener", f"{name}://127.0.0.1:0")),
        *(text for key, value in config.items() for text in ("-c", f"{key}={value}")),
        *(text for user, password in users.items() for text in ("--user", f"{user}:{password}")),
    ]
    with serving(folder, "--log-level", "error", *arguments) as started:
        output = started.process.stdout
        assert output is not None, "its output is a pipe"
        lines = [output.readline().strip().partition("://") for _ in listeners]
        yield {name: address for name, _, address in lines}


def create_scram_users(addresses: Addresses, users: Mapping[str, str] = SCRAM_USERS) -> None:
    """Create users by the listener PLAINTEXT, and wait until they can log in on SASL_PLAINTEXT.

    users: their passwords by name.
    """
    connection = RawConnection(addresses["PLAINTEXT"])
    # Kafka alters a user once in a request.
    for number, hash_ in enumerate(HASHES.values(), 1):
        upsertions: list[Value] = [
            {
                "name": user,
                "mechanism": number,
                "iterations": ITERATIONS,
                "salt": SALT,
                "salted_password": hashlib.pbkdf2_hmac(hash_, password.encode(), SALT, ITERATIONS),
            }
            for user, password in users.items()
        ]
        response = connection.call(ALTER_USER_SCRAM_CREDENTIALS, 0, {"upsertions": upsertions})
        assert not any(result.integer("error_code") for result in response.structs("results")), response
    connection.close()
    deadline = time.monotonic() + CREDENTIALS_SECONDS_MAX
    # The records of the last request are applied last. Kafka does not find a user whose name is not ASCII.
    while not all(_has_user(addresses, user) for user in users if user.isascii()):
        assert time.monotonic() < deadline, f"no SCRAM users after {CREDENTIALS_SECONDS_MAX} s"
        time.sleep(POLL_SECONDS)


def _has_user(addresses: Addresses, user: str) -> bool:
    client = SaslClient(addresses, "SASL_PLAINTEXT")
    scram = ScramClient("SCRAM-SHA-512", user)
    client.handshake(scram.mechanism)
    client.authenticate(scram.first)
    client.connection.close()
    return client.token != b""
