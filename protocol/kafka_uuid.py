"""Kafka's Uuid: 16 bytes, told as 22 characters of base64url (Kafka: common/Uuid)."""

import binascii
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode

UUID_BYTES = 16


def uuid_text(uuid: bytes) -> str:
    """Return the 16 bytes as Kafka prints them: base64url without padding."""
    return urlsafe_b64encode(uuid).decode().rstrip("=")


def parse_uuid(text: str) -> bytes:
    """Return the 16 bytes that text tells; raises ValueError unless it is what uuid_text gives for them.

    Uuid.fromString is laxer: it takes padding, and ignores what the last character has beyond 128 bits.
    """
    try:
        uuid = urlsafe_b64decode(text + "==")
    except (ValueError, binascii.Error):
        uuid = b""
    if len(uuid) != UUID_BYTES or uuid_text(uuid) != text:
        raise ValueError(f"not a Uuid of 22 characters of base64url: {text!r}")
    return uuid


def new_uuid() -> bytes:
    """Return 16 random bytes whose text does not begin with "-", so that it can stand on a command line."""
    while True:
        uuid = os.urandom(UUID_BYTES)
        if not uuid_text(uuid).startswith("-"):
            return uuid
