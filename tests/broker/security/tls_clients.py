"""Brokers that demand the certificates of their clients, and clients with a certificate of any subject."""

from __future__ import annotations

import secrets
from pathlib import Path
from ssl import DER_cert_to_PEM_cert

from confluent_kafka import Producer
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509 import load_pem_x509_certificate

from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker

from .drawn_names import OBJECT_IDENTIFIER, SEQUENCE, tlv
from .secured_broker import secured_broker

# What only a hang reaches; and how long a client tries to connect that is disconnected each time.
DELIVERY_MS_MAX = 60_000
REFUSED_MS = 3000
_ECDSA_WITH_SHA_256 = bytes.fromhex("2a8648ce3d040302")
_SERIAL_BYTES = 8
_BIT_STRING, _INTEGER, _UTC_TIME, _VERSION = 0x03, 0x02, 0x17, 0xA0


def mutual_tls(folder: Path, rules: str, super_user: str) -> Broker:
    """Return a broker that is not started, with all rights for the super user. folder: for its certificates."""
    keys = {
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": rules,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{super_user}",
    }
    return secured_broker(SecurityProtocol.SSL, folder, keys)


def error_of_a_write(
    broker: Broker, folder: Path, client: str = "client.pem", timeout_ms: int = DELIVERY_MS_MAX
) -> object:
    """Return the error code of a produced record, None for none. client: a file of folder."""
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "security.protocol": "SSL",
            "ssl.ca.location": str(folder / "ca.pem"),
            "ssl.certificate.location": str(folder / client),
            "ssl.key.location": str(folder / client),
            "message.timeout.ms": timeout_ms,
        }
    )
    errors: list[object] = []
    producer.produce("orders", b"v", on_delivery=lambda error, _: errors.append(error and error.code()))
    assert producer.flush(2 * timeout_ms / 1000) == 0
    return errors[0]


def write_client(folder: Path, name: str, subject: bytes) -> None:
    """Write a client's certificate by the authority of a broker, with its key, as PEM. subject: in DER."""
    authority = load_pem_x509_certificate((folder / "ca.pem").read_bytes())
    authority_key = load_pem_private_key((folder / "ca-key.pem").read_bytes(), None)
    assert isinstance(authority_key, EllipticCurvePrivateKey)
    key = generate_private_key(SECP256R1())
    algorithm = tlv(SEQUENCE, tlv(OBJECT_IDENTIFIER, _ECDSA_WITH_SHA_256))
    signed = tlv(
        SEQUENCE,
        tlv(_VERSION, tlv(_INTEGER, b"\2"))
        + tlv(_INTEGER, b"\1" + secrets.token_bytes(_SERIAL_BYTES))
        + algorithm
        + authority.subject.public_bytes()
        + tlv(SEQUENCE, tlv(_UTC_TIME, b"200101000000Z") + tlv(_UTC_TIME, b"490101000000Z"))
        + subject
        + key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
    )
    signature = tlv(_BIT_STRING, b"\0" + authority_key.sign(signed, ECDSA(SHA256())))
    certificate = tlv(SEQUENCE, signed + algorithm + signature)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / name).write_text(DER_cert_to_PEM_cert(certificate) + pem.decode())
