"""A broker in this process with a listener with SASL for the clients, and a plain one for the tools of the scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ...broker.config.broker_config import BrokerConfig
from ...broker.lifecycle.security_options import ListenerSecurities, new_token_issuer, new_users
from ...broker.network.listeners import ListenerConfig
from ...broker.security.principal import Principal
from ...broker.security.security_protocol import SecurityProtocol
from ...testing import Broker
from ..clients.login import OAUTHBEARER, Login
from ..scenario import Mechanism
from .in_process_broker import InProcessBroker

if TYPE_CHECKING:
    from ...testing.acls import AclValues

USER, PASSWORD = "alice", "secret"
TOOLS = SecurityProtocol.PLAINTEXT
CLIENTS = SecurityProtocol.SASL_PLAINTEXT


class SecuredBroker(InProcessBroker):
    """A ScenarioBroker with a user."""

    def __init__(self, as_version: str, mechanism: Mechanism, config: Mapping[str, str], token_ms: int | None) -> None:
        """Start the broker. mechanism: of the clients. config: Kafka's keys. token_ms: the lifetime of tokens."""
        self._mechanism = mechanism
        super().__init__(as_version, config={**config, "sasl.enabled.mechanisms": mechanism})
        endpoint = self._broker.token_endpoint if mechanism == OAUTHBEARER else ""
        lifetime = "" if token_ms is None else f"?lifetime_ms={token_ms}"
        self._login = Login(mechanism, USER, PASSWORD, f"{endpoint}{lifetime}")

    def _make(self, config: Mapping[str, str], as_version: str, nodes: int) -> Broker:
        users = new_users({USER: PASSWORD})
        issuer = new_token_issuer(users)
        securities = ListenerSecurities(BrokerConfig.from_entries(config), {}, users, None)
        securities.token_issuer = issuer
        listeners = [ListenerConfig(each.value, port=0) for each in (TOOLS, CLIENTS)]
        secured = securities.with_security(listeners, {each.value: each for each in (TOOLS, CLIENTS)})
        broker = Broker(config, as_version=as_version, listeners=secured)
        broker.cluster.users, broker.cluster.token_issuer = users, issuer
        return broker

    @property
    def client_servers(self) -> str:
        """The address of the listener with SASL."""
        (server,) = self._broker.control.server.servers
        return next(each.address for each in server.listeners if each.name == CLIENTS.value)

    @property
    def login(self) -> Login:
        """How the clients of the scenario authenticate."""
        return self._login

    def grant(self, operation: str, topic: str) -> None:
        """Allow the user an operation on a topic, by an ACL."""
        self._broker.acls.create(**_acl_of(operation, topic))

    def revoke(self, operation: str, topic: str) -> None:
        """Delete the ACL."""
        self._broker.acls.delete(**_acl_of(operation, topic))


def _acl_of(operation: str, topic: str) -> AclValues:
    values = {"principal": str(Principal(USER)), "operation": operation, "resource_type": "TOPIC", "name": topic}
    return cast("AclValues", values)
