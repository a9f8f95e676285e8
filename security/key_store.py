"""Reads key stores and trust stores, which ssl.keystore.* and ssl.truststore.* name: PEM, and PKCS12 by cryptography.

JKS, Java's own format, has no library that is kept; keytool turns such a store into PKCS12.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .. import ConfigError

PEM = "PEM"
PKCS12 = "PKCS12"
# Types of Kafka that can be read. A file of PKCS12 may have the type JKS, the default: Java reads it too.
TYPES = (PEM, PKCS12, "JKS")
_JAVA_FORMATS = {bytes.fromhex("feedfeed"): "JKS", bytes.fromhex("cececece"): "JCEKS"}
_PEM_START = b"-----BEGIN "
# DefaultSslEngineFactory.PemParser, without the headers of an old encryption of keys: those are in lines anyway.
_PEM_BLOCK = re.compile(rb"(-----BEGIN [A-Z0-9 ]+-----)([A-Za-z0-9+/=\s]+)(-----END [A-Z0-9 ]+-----)")
_PEM_LINE_BYTES = 64
_SPACE = b" \t\n\r\v\f"
# The tag of a SEQUENCE, with which each store of PKCS12 begins.
_DER_SEQUENCE = b"\x30"
# The keys that have PEM as their values, by the name of the store.
PEM_KEYS = {
    "ssl.keystore": ("ssl.keystore.key", "ssl.keystore.certificate.chain"),
    "ssl.truststore": ("ssl.truststore.certificates",),
}
STORE_BYTES_MAX = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Store:
    """A store as configured: a file, or PEM text in a key of its own.

    name: of the keys in messages, "ssl.keystore"; or the option of the command line that has the file.
    type: Kafka's, in upper case. password: of the store. key_password: of the private key in it.
    """

    name: str
    type: str
    location: str | None = None
    pem: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)

    @property
    def source(self) -> str:
        """The key and the file of the store, for messages."""
        if self.pem is None:
            return f"{self._location_key}: {self.location}"
        return " and ".join(PEM_KEYS[self.name])

    @property
    def _location_key(self) -> str:
        return f"{self.name}.location" if self.name in PEM_KEYS else self.name

    def read_pem(self) -> bytes:
        """Return certificates, and of a key store the private key, as PEM. Raises ConfigError."""
        if self.type not in TYPES:
            raise ConfigError(f"{self.name}.type: got {self.type}; allowed: {', '.join(TYPES)}")
        if self.pem is not None:
            return _with_lines(self.pem.encode())
        content = self._read()
        if self.type == PEM:
            return _with_lines(content)
        java_format = _JAVA_FORMATS.get(content[:4])
        if java_format is not None:
            raise ConfigError(
                f"{self.source}: it is a {java_format} store, which cannot be read; "
                "keytool -importkeystore -deststoretype PKCS12 turns it into one that can"
            )
        if content.lstrip(_SPACE).startswith(_PEM_START):
            raise ConfigError(f"{self.source}: it is PEM; {self.name}.type=PEM reads it, and it is {self.type}")
        if not content.startswith(_DER_SEQUENCE):
            raise ConfigError(f"{self.source}: it is no PKCS12 store")
        return _pem_of_pkcs12(self, content)

    def _read(self) -> bytes:
        location = self.location or ""
        try:
            with Path(location).open("rb") as file:
                content = file.read(STORE_BYTES_MAX + 1)
        except OSError as error:
            raise ConfigError(f"{self._location_key}: cannot read {location}: {error.strerror}") from error
        if len(content) > STORE_BYTES_MAX:
            raise ConfigError(f"{self._location_key}: {location} has more than {STORE_BYTES_MAX} bytes")
        return content


def _with_lines(pem: bytes) -> bytes:
    """Return PEM with its base64 in lines, as OpenSSL needs it. Kafka accepts any space, such as a property has."""
    return _PEM_BLOCK.sub(lambda found: b"\n".join((b"", found[1], *_lines(found[2]), found[3], b"")), pem)


def _lines(base64: bytes) -> list[bytes]:
    digits = base64.translate(None, _SPACE)
    return [digits[start : start + _PEM_LINE_BYTES] for start in range(0, len(digits), _PEM_LINE_BYTES)]


def find_store(text: Callable[[str], str | None], kind: str) -> Store | None:
    """Return the configured key store or trust store, or None. kind: "ssl.keystore" or "ssl.truststore".

    text: returns the value of a key, None if it is not set.
    """
    type_ = (text(f"{kind}.type") or "").upper()
    pem = "\n".join(value for key in PEM_KEYS[kind] if (value := text(key)) is not None)
    location = text(f"{kind}.location")
    if not pem and location is None:
        return None
    return Store(kind, PEM if pem else type_, location, pem or None, text(f"{kind}.password"), text("ssl.key.password"))


def _pem_of_pkcs12(store: Store, content: bytes) -> bytes:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
    except ImportError as error:
        raise ConfigError(f"{store.name}.location: a PKCS12 store needs pip install 'fauxka[security]'") from error
    password = None if store.password is None else store.password.encode()
    try:
        loaded = pkcs12.load_pkcs12(content, password)
    except (ValueError, UnsupportedAlgorithm) as error:
        key = f"{store.name}.password"
        reason = f"it needs {key}" if password is None else f"it is no PKCS12 store, or {key} is wrong"
        raise ConfigError(f"{store.source}: {reason}") from error
    chain = [*([loaded.cert] if loaded.cert is not None else []), *loaded.additional_certs]
    pem = b"".join(each.certificate.public_bytes(Encoding.PEM) for each in chain)
    if loaded.key is None:
        return pem
    return pem + loaded.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
