"""The certificate of a listener and what it demands of its clients, as a context of Python's ssl."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass

from ....security.key_store import Store
from ....security.tls_files import limit_versions, load_key, load_trusted
from ...config.config_types import ConfigError
from .alerting_handshake import AlertingSSLObject

# Kafka's values of ssl.client.auth.
CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


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
    limit_versions(context, settings.protocols)
    load_key(context, settings.key_store, settings.key_store.read_pem() if key_pem is None else key_pem)
    context.verify_mode = CLIENT_AUTH[settings.client_auth]
    if settings.trust_store is not None:
        load_trusted(context, settings.trust_store)
    elif context.verify_mode is not ssl.CERT_NONE:
        raise ConfigError(f"ssl.client.auth={settings.client_auth} needs ssl.truststore.location")
    return context
