"""A broker in this process with a listener with TLS or SASL for the clients, and a plain one for the scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ...broker.network.listeners import ListenerConfig
from ...broker.security.principal import Principal
from ...broker.security.tls.listener_tls import CertificateKind
from ...broker.security.tls.throw_away_ca import CA_FILE
from ...security.security_protocol import SecurityProtocol
from ...testing import Broker
from ..clients.login import OAUTHBEARER, Login
from ..steps import Mechanism
from .in_process_broker import InProcessBroker

if TYPE_CHECKING:
    from ...testing import AclValues

USER, PASSWORD = "alice", "secret"
PLAINTEXT = SecurityProtocol.PLAINTEXT.value


class SecuredBroker(InProcessBroker):
    """A ScenarioBroker whose clients connect by TLS, or authenticate by SASL as its user."""

    def __init__(
        self,
        as_version: str,
        mechanism: Mechanism | None = None,
        config: Mapping[str, str] | None = None,
        token_ms: int | None = None,
    ) -> None:
        """Start the broker. Raises ConfigError without the extra for TLS.

        mechanism: of the clients; None for TLS without SASL. config: Kafka's keys. token_ms: the lifetime of tokens.
        """
        self._protocol = SecurityProtocol.SSL if mechanism is None else SecurityProtocol.SASL_PLAINTEXT
        enabled = {} if mechanism is None else {"sasl.enabled.mechanisms": mechanism}
        super().__init__(as_version, config={**(config or {}), **enabled})
        self._login = None if mechanism is None else self._login_by(mechanism, token_ms)

    def _make(self, config: Mapping[str, str], as_version: str, nodes: int) -> Broker:
        return Broker(
            config,
            as_version=as_version,
            nodes=nodes,
            listeners=[ListenerConfig(name, port=0) for name in (self._protocol.value, PLAINTEXT)],
            security_protocol=self._protocol.value,
            users={USER: PASSWORD} if self._protocol.has_sasl else None,
        )

    def _login_by(self, mechanism: Mechanism, token_ms: int | None) -> Login:
        endpoint = self._broker.token_endpoint if mechanism == OAUTHBEARER else ""
        lifetime = "" if token_ms is None else f"?lifetime_ms={token_ms}"
        return Login(mechanism, USER, PASSWORD, f"{endpoint}{lifetime}")

    @property
    def bootstrap_servers(self) -> str:
        """The address of the plain listener."""
        listeners = self._broker.ask(lambda control: control.server.servers[0].listeners)
        return next(each.address for each in listeners if each.name == PLAINTEXT)

    @property
    def client_servers(self) -> str:
        """The address of the listener with TLS or SASL."""
        return self._broker.bootstrap_servers

    @property
    def login(self) -> Login | None:
        """How the clients of the scenario authenticate; None for no authentication."""
        return self._login

    @property
    def ca(self) -> str | None:
        """The file of the authority that the clients trust; None without TLS."""
        return None if self._broker.tls_dir is None else str(self._broker.tls_dir / CA_FILE)

    def grant(self, operation: str, topic: str) -> None:
        """Allow the user an operation on a topic, by an ACL."""
        self._broker.acls.create(**_acl_of(operation, topic))

    def revoke(self, operation: str, topic: str) -> None:
        """Delete the ACL."""
        self._broker.acls.delete(**_acl_of(operation, topic))

    def present(self, kind: CertificateKind) -> None:
        """Present another certificate in new handshakes. Clients that refuse it are no warnings in the report."""
        self._hide_crashes()
        self._broker.certificates.present(kind)


def _acl_of(operation: str, topic: str) -> AclValues:
    values = {"principal": str(Principal(USER)), "operation": operation, "resource_type": "TOPIC", "name": topic}
    return cast("AclValues", values)
