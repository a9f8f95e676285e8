"""The distinguished name of a client certificate, as Java's X500Principal.getName prints it (RFC 2253).

- The name is read from the certificate's DER, because OpenSSL's text of it does not show the types of its values.
- The last relative name comes first, and the attributes of one relative name are joined by "+" in their order.
- A value is printed as "#" and its DER in hex if it is no string, or if RFC 2253 has no keyword for its type.
- The bytes of a string are read as UTF-8, whatever its type: a value in ISO 8859-1 has U+FFFD, one in UTF-16 has NUL.
Source: sun.security.x509.X500Name, RDN and AVA.toRFC2253String, Java 17; tests/broker/certificate_names_17.jsonl.
"""

from __future__ import annotations

from typing import NamedTuple

from ....security.java_text import decode_utf8
from .der import SEQUENCE, SET, DerError, DerValue, read_object_identifier, read_value, values_in

# The keywords of RFC 2253.
_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
# PrintableString, T61String, IA5String, GeneralString, BMPString and UTF8String, without the bit of constructed values.
_STRINGS = frozenset({0x13, 0x14, 0x16, 0x1B, 0x1E, 0x0C})
_ESCAPES = str.maketrans({**{character: f"\\{character}" for character in ',=+<>#;"\\'}, "\0": "\\00"})
# Java escapes these at both ends.
_OUTER_SPACE = " \r"
# The first field of a certificate without its signature, if that has a version: its subject is then one field later.
_VERSION = 0xA0
_SUBJECT_FIELD = 4


class _Attribute(NamedTuple):
    """One attribute of a relative name. identifier: of its type."""

    identifier: str
    value: DerValue

    def __str__(self) -> str:
        keyword = _KEYWORDS.get(self.identifier)
        if keyword is None or self.value.tag not in _STRINGS:
            return f"{keyword or self.identifier}=#{self.value.encoded.hex()}"
        return f"{keyword}={_escaped(decode_utf8(self.value.content))}"


def name_of_certificate(certificate: bytes) -> str:
    """Return the name of the subject. certificate: in DER. Raises DerError."""
    relative_names = values_in(_subject_of(certificate), SEQUENCE)
    return ",".join("+".join(map(str, _attributes_of(each))) for each in reversed(relative_names))


def _subject_of(certificate: bytes) -> DerValue:
    signed = values_in(read_value(certificate), SEQUENCE)
    fields = values_in(signed[0], SEQUENCE) if signed else []
    number = _SUBJECT_FIELD + (bool(fields) and fields[0].tag == _VERSION)
    if len(fields) <= number:
        raise DerError(f"a certificate with {len(fields)} fields has no subject")
    return fields[number]


def _attributes_of(relative_name: DerValue) -> list[_Attribute]:
    return [_attribute_of(each) for each in values_in(relative_name, SET)]


def _attribute_of(pair: DerValue) -> _Attribute:
    parts = values_in(pair, SEQUENCE)
    if len(parts) != len(_Attribute._fields):
        raise DerError(f"an attribute of a name has {len(parts)} parts; expected its type and its value")
    return _Attribute(read_object_identifier(parts[0]), parts[1])


def _escaped(value: str) -> str:
    text = value.translate(_ESCAPES)
    # Nothing is left of a value of spaces: all of them count as those at its start.
    begin = len(text) - len(text.lstrip(_OUTER_SPACE))
    end = max(begin, len(text.rstrip(_OUTER_SPACE)))
    outer = (f"\\{character}" for character in text[:begin]), (f"\\{character}" for character in text[end:])
    return f"{''.join(outer[0])}{text[begin:end]}{''.join(outer[1])}"
