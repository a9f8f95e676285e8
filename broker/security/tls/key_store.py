"""Reads key stores and trust stores, which ssl.keystore.* and ssl.truststore.* name: PEM, and PKCS12 by cryptography.

JKS, Java's own format, has no library that is kept; keytool turns such a store into PKCS12.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...config.config_types import ConfigError

PEM = "PEM"
PKCS12 = "PKCS12"
_JKS_MAGIC = bytes.fromhex("feedfeed")
STORE_BYTES_MAX = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Store:
    """A store as configured: a file, or PEM text in a key of its own.

    name: of the keys in messages, "ssl.keystore". type: Kafka's, in upper case. password: of the store.
    key_password: of the private key in it.
    """

    name: str
    type: str
    location: str | None = None
    pem: str | None = None
    password: str | None = None
    key_password: str | None = None

    def read_pem(self) -> bytes:
        """Return certificates, and of a key store the private key, as PEM. Raises ConfigError."""
        if self.pem is not None:
            return self.pem.encode()
        content = self._read()
        if self.type == PEM:
            return content
        if content.startswith(_JKS_MAGIC):
            raise ConfigError(
                f"{self.name}.location: {self.location} is a JKS store, which cannot be read; "
                "keytool -importkeystore -deststoretype PKCS12 turns it into one that can"
            )
        return _pem_of_pkcs12(self, content)

    def _read(self) -> bytes:
        location = self.location or ""
        try:
            with Path(location).open("rb") as file:
                content = file.read(STORE_BYTES_MAX + 1)
        except OSError as error:
            raise ConfigError(f"{self.name}.location: cannot read {location}: {error.strerror}") from error
        if len(content) > STORE_BYTES_MAX:
            raise ConfigError(f"{self.name}.location: {location} has more than {STORE_BYTES_MAX} bytes")
        return content


def _pem_of_pkcs12(store: Store, content: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
    except ImportError as error:
        raise ConfigError(f"{store.name}.location: a PKCS12 store needs pip install 'fauxka[security]'") from error
    password = None if store.password is None else store.password.encode()
    try:
        loaded = pkcs12.load_pkcs12(content, password)
    except ValueError as error:
        raise ConfigError(
            f"{store.name}.location: {store.location} is no PKCS12 store, or {store.name}.password is wrong"
        ) from error
    chain = [*([loaded.cert] if loaded.cert is not None else []), *loaded.additional_certs]
    pem = b"".join(each.certificate.public_bytes(Encoding.PEM) for each in chain)
    if loaded.key is None:
        return pem
    return pem + loaded.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
