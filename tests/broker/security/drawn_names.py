"""Draws the subjects of certificates by a seed, right and wrong, and builds certificates with them.

python -m tests.broker.security.drawn_names writes tests/broker/certificate_names_17.jsonl, with the names that
programs/CertificateNames.java prints. A line: the subject's DER in base64, and its name, or null where Java refuses it.
"""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import cast

FOLDER = Path(__file__).parent.parent
CAPTURED = FOLDER / "certificate_names_17.jsonl"
SEED = 2253
COUNT = 2500
JAVA_SECONDS_MAX = 120

SEQUENCE, SET, OBJECT_IDENTIFIER = 0x30, 0x31, 0x06
# Types with a keyword in RFC 2253: CN, C, L, ST, STREET, O, OU, DC and UID.
_WITH_KEYWORD = [
    *(bytes([0x55, 4, number]) for number in (3, 6, 7, 8, 9, 10, 11)),
    bytes.fromhex("0992268993f22c640119"),
    bytes.fromhex("0992268993f22c640101"),
]
# serialNumber, title, name, emailAddress, 2.999, 0.0, 1.39, 2.47, a number of 70 bits, and wrong ones.
_OTHER_TYPES = [
    *(bytes([0x55, 4, number]) for number in (5, 12, 41)),
    bytes.fromhex("2a864886f70d010901"),
    bytes.fromhex("8837"),
    b"\x00",
    b"\x4f",
    b"\x7f",
    b"\x2a" + b"\xff" * 9 + b"\x7f",
    b"\x2a\x80\x01",
    b"\x2a\x81",
    b"",
]
# Tags, by how often they are drawn.
_STRING_TAGS = [0x0C] * 8 + [0x13] * 6 + [0x14, 0x16, 0x1B, 0x1E] * 2 + [0x12, 0x1A, 0x1C]
_OTHER_TAGS = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0A, 0x17, 0x2C, 0x33, 0x30, 0x31, 0x80, 0xA0, 0x1F, 0x3F]
_TEXTS = [
    *',=+<>#;"\\',
    *" \r\n\t\0/:'()?.@*-_",
    *"aBzZ09",
    *"é€😀\xa0\x85\u2003\ufeff\u0301ßİ\u017f\u212a",
    "CN=",
    "OU=admins",
    "\\,",
]
_ENCODINGS = ["utf-8"] * 8 + ["latin-1", "utf-16-be", "utf-32-be"]
_DAMAGED_OF = 12


def tlv(tag: int, content: bytes, size: bytes | None = None) -> bytes:
    """Return a value of DER. size: the bytes of the length, None for the right ones."""
    if size is None:
        length = len(content)
        digits = length.to_bytes((length.bit_length() + 7) // 8)
        size = bytes([length]) if length < 0x80 else bytes([0x80 | len(digits)]) + digits
    return bytes([tag]) + size + content


def attribute(identifier: bytes, tag: int, value: bytes) -> bytes:
    """Return an attribute of a relative name."""
    return tlv(SEQUENCE, tlv(OBJECT_IDENTIFIER, identifier) + tlv(tag, value))


def subject_of(*relative_names: bytes) -> bytes:
    """Return a name. relative_names: the attributes of each."""
    return tlv(SEQUENCE, b"".join(tlv(SET, each) for each in relative_names))


def drawn_subjects(seed: int, count: int) -> list[bytes]:
    """Return subjects, the same ones for a seed."""
    random = Random(seed)
    return [_subject(random) for _ in range(count)]


def _subject(random: Random) -> bytes:
    relative_names = [_relative_name(random) for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3, 5)))]
    if random.randrange(_DAMAGED_OF):
        return subject_of(*relative_names)
    return _damaged(random, relative_names)


def _relative_name(random: Random) -> bytes:
    return b"".join(_attribute(random) for _ in range(random.choice((0, *[1] * 12, 2, 2, 3))))


def _attribute(random: Random) -> bytes:
    identifier = random.choice(_OTHER_TYPES if random.randrange(6) == 0 else _WITH_KEYWORD)
    tag = random.choice(_OTHER_TAGS if random.randrange(12) == 0 else _STRING_TAGS)
    value = _value(random)
    if random.randrange(40) == 0:
        long_size = random.choice((b"\x81", b"\x82\0", b"\x83\0\0")) + bytes([len(value) & 0xFF])
        return tlv(SEQUENCE, tlv(OBJECT_IDENTIFIER, identifier) + tlv(tag, value, long_size))
    return attribute(identifier, tag, value)


def _value(random: Random) -> bytes:
    if random.randrange(10) == 0:
        return random.randbytes(random.randrange(9))
    if random.randrange(60) == 0:
        return b"x" * random.choice((127, 128, 255, 256))
    text = "".join(random.choices(_TEXTS, k=random.choice((0, 1, 2, 3, 5, 8))))
    return text.encode(random.choice(_ENCODINGS), "replace")


def _damaged(random: Random, relative_names: Sequence[bytes]) -> bytes:
    content = b"".join(tlv(SET, each) for each in relative_names)
    value = tlv(0x0C, b"x")
    wrong = [
        tlv(SEQUENCE, content + tlv(SEQUENCE, attribute(b"\x55\x04\x03", 0x0C, b"x"))),
        tlv(SEQUENCE, content + tlv(SET, value)),
        tlv(SEQUENCE, content + tlv(SET, tlv(SEQUENCE, tlv(OBJECT_IDENTIFIER, b"\x55\x04\x03")))),
        tlv(SEQUENCE, content + tlv(SET, tlv(SEQUENCE, tlv(OBJECT_IDENTIFIER, b"\x55\x04\x03") + value + value))),
        tlv(SEQUENCE, content + tlv(SET, tlv(SEQUENCE, value + value))),
        tlv(SEQUENCE, content, b"\x81" + bytes([len(content) & 0x7F])),
        tlv(SEQUENCE, content, b"\x83\x00" + len(content).to_bytes(2)),
        tlv(SEQUENCE, content, b"\x85\x00\x00\x00" + len(content).to_bytes(2)),
        tlv(SEQUENCE, tlv(SET, tlv(SEQUENCE, b"")) + content),
        tlv(SEQUENCE, content + tlv(SET, attribute(b"\x55\x04\x03", 0x0C, b"x"), b"\x82\0\x0a")),
        tlv(SEQUENCE, content + b"\x31"),
        tlv(SEQUENCE, content + b"\x31\x05ab"),
        tlv(SEQUENCE, content + b"\x31\x84\xff\xff\xff\xffab"),
    ]
    return random.choice(wrong)


def certificate_with(subject: bytes) -> bytes:
    """Return a certificate without a valid signature. Java refuses an empty subject without any name."""
    algorithm = tlv(SEQUENCE, tlv(OBJECT_IDENTIFIER, bytes.fromhex("2b6570")))
    moment = tlv(0x17, b"250101000000Z")
    alternative = tlv(
        SEQUENCE,
        tlv(OBJECT_IDENTIFIER, bytes.fromhex("551d11")) + tlv(1, b"\xff") + tlv(4, tlv(SEQUENCE, tlv(0x82, b"x"))),
    )
    signed = tlv(
        SEQUENCE,
        tlv(0xA0, tlv(2, b"\2"))
        + tlv(2, b"\1")
        + algorithm
        + subject_of(attribute(b"\x55\x04\x03", 0x0C, b"issuer"))
        + tlv(SEQUENCE, moment + moment)
        + subject
        + tlv(SEQUENCE, algorithm + tlv(3, bytes(33)))
        + tlv(0xA3, tlv(SEQUENCE, alternative)),
    )
    return tlv(SEQUENCE, signed + algorithm + tlv(3, bytes(65)))


def names_by_java(subjects: Iterable[bytes]) -> list[str | None]:
    """Return the names that Java prints, None where it refuses a certificate."""
    lines = "".join(f"{b64encode(certificate_with(each)).decode()}\n" for each in subjects)
    command = ["java", str(FOLDER / "programs" / "CertificateNames.java")]
    printed = subprocess.run(
        command, input=lines, check=True, capture_output=True, text=True, timeout=JAVA_SECONDS_MAX
    ).stdout
    return [cast("str | None", json.loads(line)) for line in printed.splitlines()]


def main() -> None:
    """Write the captured file."""
    subjects = list(dict.fromkeys(drawn_subjects(SEED, COUNT)))
    with CAPTURED.open("w") as file:
        for subject, name in zip(subjects, names_by_java(subjects), strict=True):
            file.write(f"{json.dumps([b64encode(subject).decode(), name])}\n")


if __name__ == "__main__":
    main()
