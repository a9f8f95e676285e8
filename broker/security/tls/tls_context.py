"""The certificate of a listener and what it demands of its clients, as a context of Python's ssl."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from ...config.config_types import ConfigError
from .alerting_handshake import AlertingSSLObject
from .key_store import Store

# Kafka's values of ssl.client.auth.
CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_PRIVATE_KEY = b"PRIVATE KEY-----"


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """client_auth: of CLIENT_AUTH. protocols: of ssl.enabled.protocols. trust_store: None to trust no client."""

    key_store: Store
    trust_store: Store | None = None
    client_auth: str = "none"
    protocols: Sequence[str] = ("TLSv1.2", "TLSv1.3")


def new_context(settings: TlsSettings, key_pem: bytes | None = None) -> ssl.SSLContext:
    """Return a context for the server side. Raises ConfigError.

    key_pem: the content of the key store as PEM; None to read it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslobject_class = AlertingSSLObject
    versions = [_version_of(name) for name in settings.protocols]
    if not versions:
        raise ConfigError(f"ssl.enabled.protocols: it is empty; allowed: {', '.join(_VERSIONS)}")
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    _load_key(context, settings.key_store, settings.key_store.read_pem() if key_pem is None else key_pem)
    context.verify_mode = CLIENT_AUTH[settings.client_auth]
    if settings.trust_store is not None:
        _load_trusted(context, settings.trust_store)
    elif context.verify_mode is not ssl.CERT_NONE:
        raise ConfigError(f"ssl.client.auth={settings.client_auth} needs ssl.truststore.location")
    return context


def _version_of(name: str) -> ssl.TLSVersion:
    version = _VERSIONS.get(name)
    if version is None:
        raise ConfigError(f"ssl.enabled.protocols: {name} is not supported; allowed: {', '.join(_VERSIONS)}")
    return version


def _load_key(context: ssl.SSLContext, store: Store, pem: bytes) -> None:
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


def _load_trusted(context: ssl.SSLContext, store: Store) -> None:
    pem = store.read_pem()
    if _CERTIFICATE not in pem:
        raise ConfigError(f"{store.source}: it has no certificate")
    try:
        context.load_verify_locations(cadata=pem.decode("ascii", "replace"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{store.source}: its certificates cannot be read: {_reason_of(error)}") from error


def _reason_of(error: Exception) -> str:
    """Return OpenSSL's name of the reason."""
    return (error.reason if isinstance(error, ssl.SSLError) else None) or str(error)
