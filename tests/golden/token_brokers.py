"""Starts the brokers of capture_tokens: real Kafkas with delegation tokens, and fauxkas with the same keys."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from fauxka.broker.security.tls import throw_away_ca

from .sasl_brokers import fauxka_with_listeners, jaas_config, kafka_with_listeners
from .sasl_client import FAILED_DELAY_MS, HASHES, Addresses

SECRET_KEY = "secret-key-of-the-brokers"
# The users of PLAIN. No case uses the marker.
ADMIN, ALICE, BOB, CAROL, MARKER = "admin", "alice", "bob", "carol", "marker"
PASSWORDS = {name: f"secret-of-{name}" for name in (ADMIN, ALICE, BOB, CAROL, MARKER)}
# PLAINTEXT: the ACLs of the cases, by a super user. SESSIONS: sessions of at most SESSION_MS.
LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT", "SESSIONS", "SSL", "SASL_SSL")
SESSION_MS = 60_000
SERVER_FILE = "server-pkcs8.pem"
SHORT_EXPIRY_MS, SHORT_LIFETIME_MS, SHORT_CHECK_MS = 2000, 3000, 200

_COMMON = {
    "listener.security.protocol.map": (
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SESSIONS:SASL_PLAINTEXT,SSL:SSL,"
        "SASL_SSL:SASL_SSL"
    ),
    "sasl.enabled.mechanisms": ",".join(("PLAIN", *HASHES)),
    "connection.failed.authentication.delay.ms": str(FAILED_DELAY_MS),
    "listener.name.sessions.connections.max.reauth.ms": str(SESSION_MS),
    "listener.name.ssl.ssl.client.auth": "requested",
    **jaas_config(PASSWORDS, ("PLAIN", *HASHES), "sasl_plaintext", "sessions", "sasl_ssl"),
}
_KEY = {"delegation.token.secret.key": SECRET_KEY}
_AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    # Without SASL a client and a broker are User:ANONYMOUS.
    "super.users": f"User:{ADMIN};User:ANONYMOUS",
}
# The keys of each broker by the name in the cases.
STRICT, OPEN, SHORT, DISABLED, EMPTY_KEY = "strict", "open", "short", "disabled", "empty key"
CONFIG_OF = {
    STRICT: {**_COMMON, **_KEY, **_AUTHORIZER},
    OPEN: {**_COMMON, **_KEY},
    SHORT: {
        **_COMMON,
        **_KEY,
        "delegation.token.expiry.time.ms": str(SHORT_EXPIRY_MS),
        "delegation.token.max.lifetime.ms": str(SHORT_LIFETIME_MS),
        "delegation.token.expiry.check.interval.ms": str(SHORT_CHECK_MS),
    },
    DISABLED: {**_COMMON, **_AUTHORIZER},
    EMPTY_KEY: {**_COMMON, "delegation.token.secret.key": ""},
}


def client_certificate(folder: Path) -> Path:
    """Return the file with certificate and key of a client. folder: that of the broker."""
    return folder / throw_away_ca.CLIENT_FILE


@contextmanager
def kafka_with_tokens(folder: Path, broker: str) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners. broker: of CONFIG_OF."""
    with kafka_with_listeners(folder / "kafka.log", LISTENERS, {**CONFIG_OF[broker], **_stores(folder)}) as addresses:
        yield addresses


@contextmanager
def fauxka_with_tokens(folder: Path, broker: str) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    with fauxka_with_listeners(folder, LISTENERS, {**CONFIG_OF[broker], **_stores(folder)}, {}) as addresses:
        yield addresses


def _stores(folder: Path) -> dict[str, str]:
    """Make the certificates of the broker and of a client, and return the keys with them."""
    throw_away_ca.ensure_files(folder, ["127.0.0.1"])
    pem = (folder / throw_away_ca.SERVER_FILE).read_bytes()
    # Java reads private keys in PKCS8 alone.
    key = load_pem_private_key(pem, None).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / SERVER_FILE).write_bytes(key + pem[pem.index(b"-----BEGIN CERTIFICATE-----") :])
    files = {"keystore": SERVER_FILE, "truststore": throw_away_ca.CA_FILE}
    return {
        key: value
        for store, name in files.items()
        for key, value in {f"ssl.{store}.type": "PEM", f"ssl.{store}.location": str(folder / name)}.items()
    }
