"""The errors of a compressed payload."""

from __future__ import annotations


class BrokenPayload(Exception):
    """The payload is not valid for its codec."""


class PayloadTooLarge(Exception):
    """The decompressed payload is larger than the limit."""


def too_large(limit: int) -> PayloadTooLarge:
    """Return the error of a payload with more than limit bytes."""
    return PayloadTooLarge(f"the records have more than {limit} bytes when they are decompressed")
