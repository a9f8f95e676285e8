"""The listener of a broker with TLS or SASL."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..broker.cluster import Cluster
from ..broker.config.broker_config import BrokerConfig
from ..broker.config.config_types import ConfigError
from ..broker.lifecycle.security_options import ListenerSecurities, keep_tokens, new_token_issuer, new_users
from ..broker.network.listeners import ListenerConfig
from ..security.security_protocol import SecurityProtocol
from .client_security import ClientSecurity


class SecuredListener:
    """Makes the listener. Certificates without a folder of their own are deleted with this object."""

    def __init__(self, protocol: str, users: Mapping[str, str] | None, tls_dir: str | os.PathLike[str] | None) -> None:
        """Check the arguments. They are those of Broker. Raises ConfigError."""
        self.security = ClientSecurity(protocol, users)
        self.protocol = self.security.protocol
        self._users = new_users(self.security.users)
        self._token_issuer = new_token_issuer(self._users)
        self._folder: str | None = None
        if tls_dir is not None:
            self._folder = os.fspath(tls_dir)
        elif self.protocol.has_tls:
            # Lazy: most listeners have no TLS.
            from ..broker.security.tls.throw_away_ca import temporary_folder

            self._folder = os.fspath(temporary_folder(self))
        self.tls_dir: Path | None = None

    def make(
        self, config: BrokerConfig, of_listeners: Mapping[str, str], others: Sequence[SecurityProtocol] = ()
    ) -> list[ListenerConfig]:
        """Return the listener behind others with these protocols. Each has a free port.

        of_listeners: the keys that begin with listener.name. Raises ConfigError.
        """
        securities = ListenerSecurities(config, of_listeners, self._users, self._token_issuer, self._folder)
        protocols = {each.value: each for each in (*others, self.protocol)}
        secured = securities.with_security([ListenerConfig(name, port=0) for name in protocols], protocols)
        self.tls_dir = securities.tls_dir
        return secured

    def serve_users(self, cluster: Cluster, folder: str | None) -> None:
        """Have the admin API change the users, and issue tokens to them. Raises ConfigError.

        folder: where the key of the tokens is kept; None for a key that ends with the broker.
        """
        cluster.users, cluster.token_issuer = self._users, self._token_issuer
        try:
            keep_tokens(self._token_issuer, folder)
        except ConfigError:
            cluster.close()
            raise

    def client_config(self, bootstrap_servers: str, user: str | None, mechanism: str) -> dict[str, str]:
        """Return the configuration of a client; see Broker.client_config. Raises ConfigError, BrokerStateError."""
        return self.security.client_config(bootstrap_servers, self.tls_dir, user, mechanism, self._passwords())

    def _passwords(self) -> dict[str, str]:
        """Return the passwords as they are now, those of the start first."""
        users = self._users
        if users is None:
            return {}
        found = {name: users.find_password(name) for name in (*self.security.users, *users.names)}
        return {name: password for name, password in found.items() if password is not None}
