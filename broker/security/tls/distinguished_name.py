"""The distinguished name of a client certificate, as Java's X500Principal writes it (RFC 2253)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

# The attributes that RFC 2253 has a short name for, by OpenSSL's name.
_SHORT_NAMES = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "userId": "UID",
}
_SPECIAL = ',+"\\<>;'


def name_of_certificate(certificate: Mapping[str, object]) -> str:
    """Return the name of the subject. certificate: as ssl.SSLSocket.getpeercert returns it."""
    subject = cast(tuple[tuple[tuple[str, str], ...], ...], certificate["subject"])
    return ",".join(_name_of(attributes) for attributes in reversed(subject))


def _name_of(attributes: Iterable[tuple[str, str]]) -> str:
    return "+".join(f"{_SHORT_NAMES.get(name, name)}={_escaped(value)}" for name, value in attributes)


def _escaped(value: str) -> str:
    text = "".join(f"\\{character}" if character in _SPECIAL else character for character in value)
    if text.startswith(("#", " ")):
        text = f"\\{text}"
    return f"{text[:-1]}\\ " if text.endswith(" ") and len(text) > 1 else text
