"""The errors of a connection to a broker. Each message is one line that names the broker."""

from __future__ import annotations


class BrokerError(Exception):
    """A broker cannot be reached, or its response is invalid or an error."""


class ConnectionFailed(BrokerError):
    """The broker cannot be reached, or its response is not that of a broker."""


class AuthenticationFailed(BrokerError):
    """One side refused the other: by SASL, or in the TLS handshake. A retry with the same configuration fails too."""
