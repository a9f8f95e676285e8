"""TLS of a client's connection: the context, the handshake, and its failures as one line."""

from __future__ import annotations

import socket
import ssl

from ..security.tls_files import limit_versions, load_key, load_trusted
from .client_security import ClientTls
from .errors import AuthenticationFailed, BrokerError, ConnectionFailed


def new_context(tls: ClientTls) -> ssl.SSLContext:
    """Return a context for the client side. Raises ConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = tls.checks_host_name and tls.is_verified
    context.verify_mode = ssl.CERT_REQUIRED if tls.is_verified else ssl.CERT_NONE
    limit_versions(context, tls.versions)
    if tls.trust_store is not None:
        load_trusted(context, tls.trust_store)
    elif tls.is_verified:
        context.load_default_certs()
    if tls.key_store is not None:
        load_key(context, tls.key_store, tls.key_store.read_pem())
    return context


def start_tls(plain: socket.socket, host: str, tls: ClientTls, address: str) -> ssl.SSLSocket:
    """Return the connection with TLS. A failure closes it.

    host: the name for which the certificate must be. Raises BrokerError and ConfigError.
    """
    try:
        return new_context(tls).wrap_socket(plain, server_hostname=host)
    except OSError as error:
        plain.close()
        raise failure_of(error, f"broker {address}: TLS") from None
    except BaseException:
        plain.close()
        raise


def failure_of(error: OSError, prefix: str) -> BrokerError:
    """Return the error for a failed operation on a connection with TLS. prefix: of the message."""
    match error:
        case ssl.SSLCertVerificationError():
            text = error.verify_message.rstrip(".")
            return AuthenticationFailed(f"{prefix}: the certificate of the broker is not trusted: {text}")
        case ssl.SSLEOFError() | ConnectionResetError() | BrokenPipeError():
            return ConnectionFailed(f"{prefix}: the broker closed the connection; does the listener have TLS?")
        case ssl.SSLError():
            reason = (error.reason or str(error)).lower().replace("_", " ")
            is_plain = reason in ("wrong version number", "record layer failure")
            text = "the broker does not respond with TLS; does the listener have it?" if is_plain else reason
            return AuthenticationFailed(f"{prefix}: {text}")
        case TimeoutError():
            return ConnectionFailed(f"{prefix}: no response in time")
        case _:
            return ConnectionFailed(f"{prefix}: {error.strerror or error}")
