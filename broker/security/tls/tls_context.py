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


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """client_auth: of CLIENT_AUTH. protocols: of ssl.enabled.protocols. trust_store: None to trust no client."""

    key_store: Store
    trust_store: Store | None = None
    client_auth: str = "none"
    protocols: Sequence[str] = ("TLSv1.2", "TLSv1.3")


def new_context(settings: TlsSettings) -> ssl.SSLContext:
    """Return a context for the server side. Raises ConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslobject_class = AlertingSSLObject
    versions = [_version_of(name) for name in settings.protocols]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    _load_key(context, settings.key_store)
    context.verify_mode = CLIENT_AUTH[settings.client_auth]
    if settings.trust_store is not None:
        try:
            context.load_verify_locations(cadata=settings.trust_store.read_pem().decode("latin-1"))
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(f"{settings.trust_store.name}: it has no certificate that can be read") from error
    elif context.verify_mode is not ssl.CERT_NONE:
        raise ConfigError(f"ssl.client.auth={settings.client_auth} needs ssl.truststore.location")
    return context


def _version_of(name: str) -> ssl.TLSVersion:
    version = _VERSIONS.get(name)
    if version is None:
        raise ConfigError(f"ssl.enabled.protocols: {name} is not supported; allowed: {', '.join(_VERSIONS)}")
    return version


def _load_key(context: ssl.SSLContext, store: Store) -> None:
    pem = store.read_pem()
    # ssl reads a private key from a file only. The file of mkstemp is private.
    descriptor, path = tempfile.mkstemp(prefix="fauxka-", suffix=".pem")
    try:
        with open(descriptor, "wb") as file:
            file.write(pem)
        # Without a password OpenSSL would ask at the terminal.
        context.load_cert_chain(path, password=store.key_password or store.password or "")
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"{store.name}: no certificate with its private key can be read from it, or the password is wrong"
        ) from error
    finally:
        os.unlink(path)
