"""TokenError: a source has no token."""

from __future__ import annotations


class TokenError(Exception):
    """There is no token. The message is one line without the token."""
