"""Kafka's Uuid: 16 bytes, written as 22 characters of base64url. Source: common/Uuid, Kafka 4.3.0."""

import binascii
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode

UUID_BYTES = 16


def uuid_text(uuid: bytes) -> str:
    """Return the 16 bytes as Kafka prints them: base64url without padding."""
    return urlsafe_b64encode(uuid).decode().rstrip("=")


def parse_uuid(text: str) -> bytes:
    """Return the 16 bytes of a text that uuid_text returns. Raises ValueError for any other text.

    Kafka's Uuid.fromString also accepts padding, and ignores the bits of the last character beyond 128.
    """
    try:
        uuid = urlsafe_b64decode(text + "==")
    except (ValueError, binascii.Error):
        uuid = b""
    if len(uuid) != UUID_BYTES or uuid_text(uuid) != text:
        raise ValueError(f"not a Uuid of 22 characters of base64url: {text!r}")
    return uuid


def new_uuid() -> bytes:
    """Return 16 random bytes whose text does not begin with "-", so that a command line accepts it as a value."""
    while True:
        uuid = os.urandom(UUID_BYTES)
        if not uuid_text(uuid).startswith("-"):
            return uuid
