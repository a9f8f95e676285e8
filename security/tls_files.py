"""Loads key stores and trust stores into a context of Python's ssl, for the broker and for its clients."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterable

from .. import ConfigError
from .key_store import Store

# The values of ssl.enabled.protocols.
VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_PRIVATE_KEY = b"PRIVATE KEY-----"


def limit_versions(context: ssl.SSLContext, names: Iterable[str]) -> None:
    """Allow only these versions of TLS. names: of ssl.enabled.protocols. Raises ConfigError."""
    versions = [_version_of(name) for name in names]
    if not versions:
        raise ConfigError(f"ssl.enabled.protocols: it is empty; allowed: {', '.join(VERSIONS)}")
    context.minimum_version, context.maximum_version = min(versions), max(versions)


def _version_of(name: str) -> ssl.TLSVersion:
    version = VERSIONS.get(name)
    if version is None:
        raise ConfigError(f"ssl.enabled.protocols: {name} is not supported; allowed: {', '.join(VERSIONS)}")
    return version


def load_key(context: ssl.SSLContext, store: Store, pem: bytes) -> None:
    """Load certificate and private key. pem: the content of the store. Raises ConfigError."""
    # ssl reads a private key from a file only. The file of mkstemp is private.
    descriptor, path = tempfile.mkstemp(prefix="fauxka-", suffix=".pem")
    try:
        with open(descriptor, "wb") as file:
            file.write(pem)
        # Without a password OpenSSL would ask at the terminal.
        context.load_cert_chain(path, password=store.key_password or store.password or "")
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{store.source}: {_problem_of_key(store, pem, error)}") from error
    finally:
        os.unlink(path)


def _problem_of_key(store: Store, pem: bytes, error: Exception) -> str:
    if _CERTIFICATE not in pem:
        return "it has no certificate"
    if _PRIVATE_KEY not in pem:
        return "it has no private key"
    reason = _reason_of(error)
    if reason == "KEY_VALUES_MISMATCH":
        return "its private key is not that of its certificate"
    if b"ENCRYPTED" in pem:
        return "ssl.key.password is wrong" if store.key_password else "its private key needs ssl.key.password"
    return f"its certificate and its private key cannot be used: {reason}"


def load_trusted(context: ssl.SSLContext, store: Store) -> None:
    """Trust the certificates in a store. Raises ConfigError."""
    pem = store.read_pem()
    if _CERTIFICATE not in pem:
        raise ConfigError(f"{store.source}: it has no certificate")
    try:
        context.load_verify_locations(cadata=pem.decode("ascii", "backslashreplace"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{store.source}: its certificates cannot be read: {_reason_of(error)}") from error


def _reason_of(error: Exception) -> str:
    """Return OpenSSL's name of the reason."""
    return (error.reason if isinstance(error, ssl.SSLError) else None) or str(error)
