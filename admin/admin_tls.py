"""The certificate of the admin API with HTTPS."""

from __future__ import annotations

from pathlib import Path
from ssl import SSLContext

from ..broker.config.config_types import ConfigError
from ..broker.lifecycle.security_options import hosts_of
from ..broker.network.listeners import ListenerConfig
from ..broker.security.tls.throw_away_ca import NoAuthorityKeyError, issue_server
from ..broker.security.tls.tls_context import TlsSettings, new_context
from ..security.key_store import PEM, Store
from .admin_options import AUTO

OPTION = "--admin-tls"


def admin_context(tls: str, host: str, tls_dir: Path | None) -> SSLContext:
    """Return the context of the server. Raises ConfigError.

    tls: of AdminOptions. host: the address of the admin API. tls_dir: the folder of the throw-away authority.
    """
    if tls != AUTO:
        return new_context(TlsSettings(Store(OPTION, PEM, tls)))
    assert tls_dir is not None, "the throw-away authority is created at the start-up"
    try:
        pem = issue_server(tls_dir, hosts_of([ListenerConfig(host=host)]), "new")
    except NoAuthorityKeyError as error:
        raise ConfigError(f"{OPTION} {AUTO}: {error}") from error
    return new_context(TlsSettings(Store(OPTION, PEM, pem=pem.decode())), pem)
