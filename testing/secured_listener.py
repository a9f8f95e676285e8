"""The listener of a broker with TLS or SASL."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path

from ..broker.config.broker_config import BrokerConfig
from ..broker.lifecycle.security_options import ListenerSecurities
from ..broker.network.listeners import ListenerConfig
from .client_security import ClientSecurity


class SecuredListener:
    """Makes the listener. Certificates without a folder of their own are deleted with this object."""

    def __init__(self, protocol: str, users: Mapping[str, str] | None, tls_dir: str | os.PathLike[str] | None) -> None:
        """Check the arguments. They are those of Broker. Raises ConfigError."""
        self.security = ClientSecurity(protocol, users)
        self.protocol = self.security.protocol
        self._folder: str | None = None
        if tls_dir is not None:
            self._folder = os.fspath(tls_dir)
        elif self.protocol.has_tls:
            self._folder = tempfile.mkdtemp(prefix="fauxka-tls-")
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.tls_dir: Path | None = None

    def make(self, config: BrokerConfig, of_listeners: Mapping[str, str]) -> list[ListenerConfig]:
        """Return the listener. of_listeners: the keys that begin with listener.name. Raises ConfigError."""
        securities = ListenerSecurities(config, of_listeners, self.security.users, self._folder)
        plain = [ListenerConfig(self.protocol.value, port=0)]
        secured = securities.with_security(plain, {self.protocol.value: self.protocol})
        self.tls_dir = securities.tls_dir
        return secured

    def client_config(self, bootstrap_servers: str, user: str | None, mechanism: str) -> dict[str, str]:
        """Return the configuration of a client; see Broker.client_config. Raises ConfigError, BrokerStateError."""
        return self.security.client_config(bootstrap_servers, self.tls_dir, user, mechanism)
