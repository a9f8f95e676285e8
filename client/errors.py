"""The errors of a connection to a broker. Each message is one line that names the broker."""

from __future__ import annotations

from ..protocol.error_codes import ErrorCode


class BrokerError(Exception):
    """A broker cannot be reached, or its response is invalid or an error."""


class ConnectionFailed(BrokerError):
    """The broker cannot be reached, or its response is not that of a broker."""


class AuthenticationFailed(BrokerError):
    """One side refused the other: by SASL, or in the TLS handshake. A retry with the same configuration fails too."""


def error_name(code: int) -> str:
    """Return Kafka's name of an error code."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"
