"""Certificates of the login probes: an authority, the broker, and clients with odd subjects."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.name import _ASN1Type as Asn1Type  # pyright: ignore[reportPrivateUsage]
from cryptography.x509.oid import NameOID

VALID_DAYS = 10
TRUSTED, SERVER = "trusted.pem", "server.pem"
# Attributes of one subject, each as type and value; a list in place of one is a set of several.
Attribute: TypeAlias = tuple[x509.ObjectIdentifier, str]
Subject: TypeAlias = Sequence[Attribute | list[Attribute]]

_CN, _OU, _O, _C = (
    NameOID.COMMON_NAME,
    NameOID.ORGANIZATIONAL_UNIT_NAME,
    NameOID.ORGANIZATION_NAME,
    NameOID.COUNTRY_NAME,
)
# In the order of the certificate, which is the reverse of that in its name.
SUBJECTS: dict[str, Subject] = {
    "CN": [(_CN, "alice")],
    "CN, OU, O": [(_O, "fauxka"), (_OU, "people"), (_CN, "alice")],
    "CN, OU, O, C": [(_C, "DE"), (_O, "fauxka"), (_OU, "people"), (_CN, "alice")],
    "upper case": [(_O, "fauxka"), (_OU, "people"), (_CN, "ALICE")],
    "OU of administrators": [(_O, "fauxka"), (_OU, "admins"), (_CN, "mallory")],
    "OU of administrators in the CN": [(_O, "fauxka"), (_CN, "mallory,OU=admins")],
    "OU of administrators in the O": [(_O, "fauxka,OU=admins"), (_CN, "mallory")],
    "plus in the CN": [(_O, "fauxka"), (_CN, "mallory+OU=admins")],
    "two CNs": [(_CN, "bob"), (_CN, "alice")],
    "CN and OU in one set": [(_O, "fauxka"), [(_CN, "alice"), (_OU, "people")]],
    "no CN": [(_O, "fauxka"), (_OU, "people")],
    "comma": [(_CN, "al,ice")],
    "equals sign": [(_CN, "al=ice")],
    "quote and backslash": [(_CN, 'al"i\\ce')],
    "angle brackets and semicolon": [(_CN, "<al;ice>")],
    "hash first": [(_CN, "#alice")],
    "hash inside": [(_CN, "al#ice")],
    "spaces around": [(_CN, " alice ")],
    "two spaces around": [(_CN, "  alice  ")],
    "spaces inside": [(_CN, "al  ice")],
    "space alone": [(_CN, " ")],
    "tab and line feed": [(_CN, "al\tice\n")],
    "carriage return": [(_CN, "alice\r")],
    "NUL": [(_CN, "alice\0")],
    "umlaut": [(_CN, "ü")],
    "emoji": [(_CN, "😀")],
    "no-break space behind": [(_CN, "alice\u00a0")],
    "combining accent": [(_CN, "ali\u0301ce")],
    "e-mail address": [(_O, "fauxka"), (NameOID.EMAIL_ADDRESS, "alice@example.com"), (_CN, "alice")],
    "UID and DC": [(NameOID.DOMAIN_COMPONENT, "example"), (NameOID.USER_ID, "alice")],
    "serial number, title and given name": [
        (NameOID.SERIAL_NUMBER, "1"),
        (NameOID.TITLE, "Dr"),
        (NameOID.GIVEN_NAME, "Alice"),
        (_CN, "alice"),
    ],
    "street, locality and state": [
        (NameOID.STATE_OR_PROVINCE_NAME, "Bavaria"),
        (NameOID.LOCALITY_NAME, "Munich"),
        (NameOID.STREET_ADDRESS, "Main street"),
        (_CN, "alice"),
    ],
}


@cache
def _authority() -> tuple[ec.EllipticCurvePrivateKey, x509.Name]:
    return ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(_CN, "authority")])


def write_stores(folder: Path) -> dict[str, str]:
    """Write the certificates of authority and broker, and return the keys with them."""
    key, name = _authority()
    authority = _issued(name, key.public_key(), x509.BasicConstraints(ca=True, path_length=None))
    (folder / TRUSTED).write_bytes(authority.public_bytes(Encoding.PEM))
    alternative = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))])
    _write(folder / SERVER, x509.Name([x509.NameAttribute(_CN, "broker")]), alternative)
    files = {"keystore": SERVER, "truststore": TRUSTED}
    return {
        key: value
        for store, file in files.items()
        for key, value in {f"ssl.{store}.type": "PEM", f"ssl.{store}.location": str(folder / file)}.items()
    }


def write_client(file: Path, subject: Subject) -> None:
    """Write certificate and key of a client."""
    sets = [each if isinstance(each, list) else [each] for each in subject]
    names = [x509.RelativeDistinguishedName([_attribute(*attribute) for attribute in each]) for each in sets]
    _write(file, x509.Name(names), x509.BasicConstraints(ca=False, path_length=None))


def _attribute(oid: x509.ObjectIdentifier, value: str) -> x509.NameAttribute[str]:
    # Without the checks, which forbid some of these values.
    kind = Asn1Type.IA5String if oid in (NameOID.EMAIL_ADDRESS, NameOID.DOMAIN_COMPONENT) else Asn1Type.UTF8String
    kind = Asn1Type.PrintableString if oid == _C else kind
    return x509.NameAttribute(oid, value, _type=kind, _validate=False)


def _write(file: Path, name: x509.Name, extension: x509.ExtensionType) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    # Java reads the keys of PKCS 8 only.
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + _issued(name, key.public_key(), extension).public_bytes(Encoding.PEM))


def _issued(name: x509.Name, public_key: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> x509.Certificate:
    key, authority = _authority()
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(
        issuer_name=authority,
        subject_name=name,
        public_key=public_key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - datetime.timedelta(days=1),
        not_valid_after=now + datetime.timedelta(days=VALID_DAYS),
    )
    return builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints)).sign(
        key, hashes.SHA256()
    )
