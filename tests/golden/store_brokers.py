"""Starts the brokers of capture_stores: a real Kafka with a listener with TLS, and a fauxka with the same keys."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificates

from .sasl_brokers import fauxka_with_listeners, kafka_with_listeners
from .sasl_client import Addresses

# PLAINTEXT: the requests of the cases. SSL: a PKCS12 store and a trust store. FILES: a PEM file, and no trust store.
# FREE: the same, and another name is allowed.
LISTENERS = ("PLAINTEXT", "SSL", "FILES", "FREE")
PASSWORD = "store-secret"
# The name, distinguished name and hosts of each store. Those of "first" and "second" are equal.
CERTIFICATES = {
    "first": ("broker", ("localhost", "127.0.0.1")),
    "second": ("broker", ("localhost", "127.0.0.1")),
    "third": ("broker", ("localhost", "127.0.0.1")),
    "renamed": ("other", ("localhost", "127.0.0.1")),
    "moved": ("broker", ("localhost", "127.0.0.2")),
    "wider": ("broker", ("localhost", "127.0.0.1", "example.com")),
    "foreign": ("broker", ("localhost", "127.0.0.1")),
}
KEYSTORE = "listener.name.ssl.ssl.keystore"
TRUSTSTORE = "listener.name.ssl.ssl.truststore"


def write_stores(folder: Path) -> None:
    """Write NAME.p12 and NAME.pem of each certificate, trusted.pem, and files that are no stores."""
    authority, other = trustme.CA(organization_name="authority"), trustme.CA(organization_name="other authority")
    for name, (common_name, hosts) in CERTIFICATES.items():
        issued = (other if name == "foreign" else authority).issue_cert(
            *hosts, common_name=common_name, organization_name="fauxka", organization_unit_name="brokers"
        )
        (folder / f"{name}.p12").write_bytes(_pkcs12_of(issued))
        (folder / f"{name}.pem").write_bytes(_pem_of(issued))
    (folder / "trusted.pem").write_bytes(authority.cert_pem.bytes())
    (folder / "others.pem").write_bytes(other.cert_pem.bytes())
    (folder / "text.p12").write_bytes(b"no store\n")
    (folder / "empty.pem").write_bytes(b"")


def _pem_of(issued: trustme.LeafCert) -> bytes:
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey), "trustme makes keys of this kind"
    # Java reads the keys of PKCS 8 only.
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private + b"".join(each.bytes() for each in issued.cert_chain_pems)


def _pkcs12_of(issued: trustme.LeafCert) -> bytes:
    chain = load_pem_x509_certificates(b"".join(each.bytes() for each in issued.cert_chain_pems))
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey), "trustme makes keys of this kind"
    encryption = BestAvailableEncryption(PASSWORD.encode())
    return pkcs12.serialize_key_and_certificates(b"kafka", key, chain[0], chain[1:], encryption)


def config_in(folder: Path) -> dict[str, str]:
    """Return the keys of both brokers."""
    return {
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,FILES:SSL,FREE:SSL",
        f"{KEYSTORE}.type": "PKCS12",
        f"{KEYSTORE}.location": str(folder / "first.p12"),
        f"{KEYSTORE}.password": PASSWORD,
        "listener.name.ssl.ssl.key.password": PASSWORD,
        "listener.name.files.ssl.keystore.type": "PEM",
        "listener.name.files.ssl.keystore.location": str(folder / "first.pem"),
        "listener.name.free.ssl.keystore.type": "PEM",
        "listener.name.free.ssl.keystore.location": str(folder / "foreign.pem"),
        "listener.name.free.ssl.allow.dn.changes": "true",
        "listener.name.free.ssl.allow.san.changes": "true",
        f"{TRUSTSTORE}.type": "PEM",
        f"{TRUSTSTORE}.location": str(folder / "trusted.pem"),
    }


@contextmanager
def kafka_with_stores(folder: Path) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners."""
    write_stores(folder)
    with kafka_with_listeners(folder / "kafka.log", LISTENERS, config_in(folder)) as addresses:
        yield addresses


@contextmanager
def fauxka_with_stores(folder: Path) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    write_stores(folder)
    with fauxka_with_listeners(folder, LISTENERS, config_in(folder), {}) as addresses:
        yield addresses
