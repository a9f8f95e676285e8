"""The listener of a broker with TLS or SASL, and the configuration with which a client connects to it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from ..broker.cluster import Cluster
from ..broker.config.broker_config import BrokerConfig
from ..broker.config.config_types import ConfigError
from ..broker.lifecycle.security_options import ListenerSecurities, keep_tokens, new_token_issuer, new_users
from ..broker.network.listeners import ListenerConfig
from ..broker.security.listener_security import MECHANISMS
from ..broker.security.sasl.mechanisms import OAUTHBEARER, SUPPORTED
from ..broker.security.security_protocol import SecurityProtocol
from ..broker.security.tls.throw_away_ca import CA_FILE
from .errors import BrokerStateError


class SecuredListener:
    """Makes the listener. Certificates without a folder of their own are deleted with this object."""

    def __init__(self, protocol: str, users: Mapping[str, str] | None, tls_dir: str | os.PathLike[str] | None) -> None:
        """Check the arguments. They are those of Broker. Raises ConfigError."""
        if protocol not in SecurityProtocol.__members__:
            allowed = ", ".join(SecurityProtocol.__members__)
            raise ConfigError(f"security_protocol: got {protocol!r}; allowed: {allowed}")
        self.protocol = SecurityProtocol[protocol]
        self._users = new_users(_checked_users(users))
        self._token_issuer = new_token_issuer(self._users)
        if self.protocol.has_sasl and self._users is None:
            raise ConfigError(f"security_protocol {protocol} needs users, such as users={{'alice': 'secret'}}")
        self._folder: str | None = None
        if tls_dir is not None:
            self._folder = os.fspath(tls_dir)
        elif self.protocol.has_tls:
            self._folder = tempfile.mkdtemp(prefix="fauxka-tls-")
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.tls_dir: Path | None = None

    @property
    def config_defaults(self) -> dict[str, str]:
        """The keys of Kafka with another default: all mechanisms, of which Kafka leaves out OAUTHBEARER."""
        return {MECHANISMS: ",".join(SUPPORTED)} if self.protocol.has_sasl else {}

    def make(self, config: BrokerConfig, of_listeners: Mapping[str, str]) -> list[ListenerConfig]:
        """Return the listener. of_listeners: the keys that begin with listener.name. Raises ConfigError."""
        securities = ListenerSecurities(config, of_listeners, self._users, self._folder)
        securities.token_issuer = self._token_issuer
        plain = [ListenerConfig(self.protocol.value, port=0)]
        secured = securities.with_security(plain, {self.protocol.value: self.protocol})
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
        config = {"bootstrap.servers": bootstrap_servers, "security.protocol": self.protocol.value}
        if self.protocol.has_tls:
            if self.tls_dir is None:
                raise BrokerStateError(
                    "the broker has a certificate of its own, and fauxka does not know what trusts it"
                )
            config["ssl.ca.location"] = str(self.tls_dir / CA_FILE)
        if not self.protocol.has_sasl:
            return config
        if mechanism not in SUPPORTED:
            raise ConfigError(f"mechanism: got {mechanism!r}; allowed: {', '.join(SUPPORTED)}")
        assert self._users is not None, "a listener with SASL has users"
        names = self._users.names
        name = next(iter(names), "") if user is None else user
        password = self._users.find_password(name)
        if password is None:
            raise ConfigError(f"user: got {user!r}; allowed: {', '.join(names)}")
        config["sasl.mechanism"] = mechanism
        if mechanism != OAUTHBEARER:
            return {**config, "sasl.username": name, "sasl.password": password}
        return {
            **config,
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": name,
            "sasl.oauthbearer.client.secret": password,
        }


def _checked_users(users: Mapping[str, str] | None) -> dict[str, str]:
    """Return the users. Raises ConfigError, without a password."""
    given = cast("object", users)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"users: expected a dict of names and passwords, got a {type(given).__name__}")
    checked: dict[str, str] = {}
    for name, password in cast("Mapping[object, object]", given).items():
        if not isinstance(name, str) or not isinstance(password, str) or not name or not password:
            raise ConfigError(f"users: expected names and passwords as texts that are not empty, at the user {name!r}")
        checked[name] = password
    return checked
