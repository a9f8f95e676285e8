"""Kafka's Uuid: 16 bytes, told as 22 characters of base64url (Kafka: common/Uuid)."""

import secrets
from base64 import urlsafe_b64encode


def uuid_text(uuid: bytes) -> str:
    """Return the 16 bytes as Kafka prints them: base64url without padding."""
    return urlsafe_b64encode(uuid).decode().rstrip("=")


def new_uuid() -> bytes:
    """Return 16 random bytes whose text does not begin with "-", so that it can stand on a command line."""
    while True:
        uuid = secrets.token_bytes(16)
        if not uuid_text(uuid).startswith("-"):
            return uuid
