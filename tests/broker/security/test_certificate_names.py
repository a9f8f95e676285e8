"""The names in the certificates of clients: certificate_names_17.jsonl was written by drawn_names.py."""

import json
import secrets
from base64 import b64decode
from pathlib import Path

import pytest
from confluent_kafka import KafkaError

from fauxka.broker.security.tls.der import DerError
from fauxka.broker.security.tls.distinguished_name import name_of_certificate

from .drawn_names import CAPTURED, SET, attribute, certificate_with, drawn_subjects, names_by_java, subject_of, tlv
from .tls_clients import REFUSED_MS, error_of_a_write, mutual_tls, write_client

COMMON_NAME, ORGANIZATION, UNIT = b"\x55\x04\x03", b"\x55\x04\x0a", b"\x55\x04\x0b"
EMAIL = bytes.fromhex("2a864886f70d010901")
UTF8_STRING, IA5_STRING = 0x0C, 0x16
FRESH_COUNT = 4000
ADMINS_RULE = "RULE:^.*OU=admins.*$/admin/,DEFAULT"


def name_of(subject: bytes) -> str | None:
    try:
        return name_of_certificate(certificate_with(subject))
    except DerError:
        return None


def utf8(identifier: bytes, text: str) -> bytes:
    return attribute(identifier, UTF8_STRING, text.encode())


def test_captured_names_are_those_of_java() -> None:
    captured = [json.loads(line) for line in CAPTURED.read_text().splitlines()]

    different = [(subject, name, ours) for subject, name in captured if (ours := name_of(b64decode(subject))) != name]

    assert len(captured) > 2000
    assert different == []


@pytest.mark.reference
def test_fresh_names_are_those_of_java() -> None:
    seed = secrets.randbits(32)
    subjects = drawn_subjects(seed, FRESH_COUNT)

    different = [
        (subject.hex(), name, ours)
        for subject, name in zip(subjects, names_by_java(subjects), strict=True)
        if (ours := name_of(subject)) != name
    ]

    assert different == [], f"seed {seed}"


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        (subject_of(utf8(ORGANIZATION, "x"), utf8(COMMON_NAME, "mallory,OU=admins")), r"CN=mallory\,OU\=admins,O=x"),
        (subject_of(utf8(COMMON_NAME, "a=b")), r"CN=a\=b"),
        (subject_of(utf8(COMMON_NAME, "a#b")), r"CN=a\#b"),
        (subject_of(utf8(COMMON_NAME, "  a  ")), r"CN=\ \ a\ \ "),
        (subject_of(utf8(COMMON_NAME, " ")), r"CN=\ "),
        (subject_of(utf8(COMMON_NAME, "\ra\r")), "CN=\\\ra\\\r"),
        (subject_of(utf8(COMMON_NAME, "\na\n")), "CN=\na\n"),
        (subject_of(utf8(COMMON_NAME, "a\0b")), r"CN=a\00b"),
        (subject_of(utf8(COMMON_NAME, "")), "CN="),
        (subject_of(attribute(EMAIL, IA5_STRING, b"a@b")), "1.2.840.113549.1.9.1=#1603614062"),
        (subject_of(attribute(COMMON_NAME, 0x1E, "ab".encode("utf-16-be"))), r"CN=\00a\00b"),
        (subject_of(attribute(COMMON_NAME, 0x14, "é".encode("latin-1"))), "CN=\ufffd"),
        (subject_of(attribute(COMMON_NAME, 0x02, b"\1")), "CN=#020101"),
        (subject_of(utf8(UNIT, "u") + utf8(COMMON_NAME, "c"), utf8(ORGANIZATION, "o")), "O=o,OU=u+CN=c"),
        (subject_of(), ""),
        (subject_of(b"", utf8(COMMON_NAME, "a")), "CN=a,"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_name_of_a_certificate_is_escaped_as_by_java(subject: bytes, name: str) -> None:
    assert name_of(subject) == name


@pytest.mark.parametrize(
    ("certificate", "problem"),
    [
        (b"", "expected one value, got 0"),
        (b"\x30", "the value before byte 1 has no length"),
        (b"\x30\x05\x00", "a value ends at byte 7, after the last byte, 3"),
        (b"\x30\x80\x00\x00", "the length at byte 1 has 0 bytes; allowed: 1 to 4"),
        (b"\x30\x84\xff", "the length at byte 1 has 4 bytes; allowed: 1 to 4"),
        (b"\x1f\x00", "the value at byte 0 has a tag of several bytes"),
        (tlv(0x30, tlv(0x30, b"")), "a certificate with 0 fields has no subject"),
        (b"\x31\x00", "expected tag 0x30, got 0x31"),
        (certificate_with(tlv(SET, b"")), "expected tag 0x30, got 0x31"),
        (certificate_with(subject_of(tlv(0x30, b""))), "an attribute of a name has 0 parts; expected its type"),
        (certificate_with(subject_of(utf8(b"", "a"))), "expected an object identifier, got 0600"),
        (certificate_with(subject_of(utf8(b"\x2a\x80\x01", "a"))), "is not in its shortest form"),
        (certificate_with(subject_of(utf8(b"\x2a" * 257, "a"))), "an object identifier has 257 bytes; allowed: 256"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_certificate_that_is_no_der_is_refused_with_its_problem(certificate: bytes, problem: str) -> None:
    with pytest.raises(DerError, match=problem):
        name_of_certificate(certificate)


def test_client_whose_name_looks_like_that_of_an_admin_is_none(tmp_path: Path) -> None:
    with mutual_tls(tmp_path, ADMINS_RULE, "admin") as broker:
        mallory = subject_of(utf8(ORGANIZATION, "x"), utf8(COMMON_NAME, "mallory,OU=admins"))
        write_client(tmp_path, "mallory.pem", mallory)
        write_client(tmp_path, "alice.pem", subject_of(utf8(UNIT, "admins"), utf8(COMMON_NAME, "alice")))

        errors = [error_of_a_write(broker, tmp_path, client) for client in ("mallory.pem", "alice.pem")]

    assert errors == [KafkaError.TOPIC_AUTHORIZATION_FAILED, None]


def test_connection_with_a_name_that_cannot_be_read_is_closed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with mutual_tls(tmp_path, "DEFAULT", "admin") as broker:
        write_client(tmp_path, "odd.pem", subject_of(utf8(b"\x2a" * 257, "a")))

        error = error_of_a_write(broker, tmp_path, "odd.pem", REFUSED_MS)

    assert error == KafkaError._MSG_TIMED_OUT
    assert "the name in the certificate cannot be read: an object identifier has 257 bytes" in caplog.text
    assert not [record for record in caplog.records if record.exc_info]
