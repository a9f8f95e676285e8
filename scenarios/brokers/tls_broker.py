"""A broker in a thread, with a listener with TLS for the clients and a plain one for the scenario."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ...broker.config.broker_config import BrokerConfig
from ...broker.lifecycle.security_options import ListenerSecurities
from ...broker.network.listeners import ListenerConfig
from ...broker.security.security_protocol import SecurityProtocol
from ...broker.security.tls.listener_tls import CertificateKind
from ...broker.security.tls.throw_away_ca import CA_FILE
from ...testing import Broker
from .in_process_broker import InProcessBroker

_PROTOCOLS = {each.value: each for each in (SecurityProtocol.PLAINTEXT, SecurityProtocol.SSL)}


class TlsBroker(InProcessBroker):
    """A ScenarioBroker with TLS. ca: the file of its authority."""

    def __init__(self, as_version: str) -> None:
        """Start a broker with the producer rules of a Kafka version. Raises ConfigError without trustme."""
        self._folder = Path(tempfile.mkdtemp(prefix="fauxka-tls-"))
        self.ca = str(self._folder / CA_FILE)
        super().__init__(as_version)

    def _make(self, config: Mapping[str, str], as_version: str, nodes: int) -> Broker:
        securities = ListenerSecurities(BrokerConfig.from_entries(config), {}, None, str(self._folder))
        listeners = securities.with_security([ListenerConfig(name, port=0) for name in _PROTOCOLS], _PROTOCOLS)
        return Broker(config, as_version=as_version, nodes=nodes, listeners=listeners)

    @property
    def client_servers(self) -> str:
        """The address of the listener with TLS."""
        return self._broker.ask(lambda control: control.server.servers[0].listeners[1].address)

    def present(self, kind: CertificateKind) -> None:
        """Present another certificate in new handshakes. Clients that refuse it are no warnings in the report."""
        self._hide_crashes()
        self._broker.certificates.present(kind)

    def close(self) -> None:
        """Stop the broker, and delete its certificates."""
        super().close()
        shutil.rmtree(self._folder, ignore_errors=True)
