"""The parts of a PEM text, as Java's client reads them: certificates, and a private key in PKCS8."""

from __future__ import annotations

import re

from .. import ConfigError
from .key_store import Store

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_PKCS8 = re.compile(rb"-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----", re.DOTALL)
_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?-----END [A-Z0-9 ]*PRIVATE KEY-----", re.DOTALL)


def certificates_in(pem: bytes) -> str:
    """Return the certificates, without text between them."""
    return b"\n".join(_CERTIFICATE.findall(pem)).decode("ascii", "backslashreplace")


def pkcs8_key_in(store: Store, pem: bytes) -> str:
    """Return the private key without a password, in PKCS8. store: has the password. Raises ConfigError."""
    found = _PKCS8.search(pem)
    if found is not None:
        return found[0].decode("ascii", "backslashreplace")
    key = _KEY.search(pem)
    if key is None:
        raise ConfigError(f"{store.source}: it has no private key")
    try:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            load_pem_private_key,
        )
    except ImportError as error:
        raise ConfigError(f"{store.source}: its private key needs pip install 'fauxka[security]'") from error
    password = (store.key_password or store.password or "").encode() if b"ENCRYPTED" in key[0] else None
    try:
        loaded = load_pem_private_key(key[0], password)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{store.source}: its private key cannot be read") from error
    return loaded.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
