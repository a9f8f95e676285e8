"""The certificate that a listener presents: the configured one, or another one that a test has chosen.

Rules:
- A connection keeps the certificate of its handshake. A change applies to handshakes that begin after it.
- Another certificate has another context, and with it other keys for session tickets. A client that resumes a session
  would see no certificate; so it has to make a whole handshake.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ....security.key_store import find_store
from ..principal import Principal
from .der import DerError
from .distinguished_name import name_of_certificate
from .principal_mapping import KEY, NoPrincipalError, PrincipalMapping
from .throw_away_ca import IssuedKind, key_store_of, trust_store_of
from .tls_context import TlsSettings, new_context

if TYPE_CHECKING:
    from ..listener_keys import ListenerKeys

CONFIGURED: Final = "configured"
KEY_STORE, TRUST_STORE = "ssl.keystore", "ssl.truststore"
CertificateKind = Literal["configured", IssuedKind]


@dataclass(frozen=True, slots=True)
class ThrowAway:
    """The folder of the throw-away authority, and the hosts for which it issues certificates of the broker."""

    folder: Path
    hosts: Sequence[str]


@dataclass(frozen=True, slots=True)
class PresentedCertificate:
    """A certificate, and the context of the handshakes that present it. pem: the certificate without its chain."""

    kind: CertificateKind
    context: ssl.SSLContext
    pem: str


@dataclass(frozen=True, slots=True)
class ListenerTls:
    """What a listener with TLS has at the start; DynamicStores has what it has later.

    keys: those of the listener.
    throw_away: None if ssl.keystore.* configures the certificate.
    principal_mapping: gives the names of client certificates their principals.
    """

    settings: TlsSettings
    configured: PresentedCertificate
    principal_mapping: PrincipalMapping
    keys: ListenerKeys
    throw_away: ThrowAway | None = None

    def principal_of(self, certificate: bytes) -> Principal:
        """Return the principal of a client. certificate: in DER. Raises NoPrincipalError."""
        try:
            name = name_of_certificate(certificate)
        except DerError as error:
            raise NoPrincipalError(f"the name in the certificate cannot be read: {error}") from error
        return Principal(self.principal_mapping.principal_of(name))


def listener_tls(keys: ListenerKeys, make_throw_away: Callable[[], ThrowAway]) -> ListenerTls:
    """Load the configured certificate. Raises ConfigError.

    make_throw_away: makes sure that there are throw-away certificates; called for a listener without its own.
    """
    throw_away = make_throw_away() if find_store(keys.text, KEY_STORE) is None else None
    settings = tls_settings(keys, throw_away)
    mapping = PrincipalMapping(keys.text(KEY) or "")
    pem = settings.key_store.read_pem()
    configured = PresentedCertificate(CONFIGURED, new_context(settings, pem), certificate_in(pem))
    return ListenerTls(settings, configured, mapping, keys, throw_away)


def tls_settings(keys: ListenerKeys, throw_away: ThrowAway | None) -> TlsSettings:
    """Return the stores of a listener, and what it demands of its clients. Raises ConfigError.

    throw_away: where the certificates are that it has without stores in the keys.
    """
    key_store = find_store(keys.text, KEY_STORE)
    trust_store = find_store(keys.text, TRUST_STORE)
    if throw_away is not None:
        key_store = key_store or key_store_of(throw_away.folder)
        trust_store = trust_store or trust_store_of(throw_away.folder)
    assert key_store is not None, "a listener without stores has throw-away certificates"
    return TlsSettings(key_store, trust_store, keys.client_auth, keys.names("ssl.enabled.protocols"))


def certificate_in(pem: bytes) -> str:
    """Return the first certificate. A chain begins with that of the broker."""
    text = pem.decode("latin-1")
    return text[text.index(ssl.PEM_HEADER) : text.index(ssl.PEM_FOOTER) + len(ssl.PEM_FOOTER)]
