"""A broker with one listener that demands something of its clients, in a thread of the test."""

from collections.abc import Mapping
from pathlib import Path

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.lifecycle.security_options import ListenerSecurities, new_users
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker

USERS = {"alice": "secret"}


def secured_broker(
    protocol: SecurityProtocol,
    folder: Path,
    entries: Mapping[str, str] | None = None,
    clock: AdjustableClock | None = None,
    nodes: int = 1,
) -> Broker:
    """Return a broker that is not started. folder: for the throw-away certificates. entries: further keys."""
    config = dict(entries or {})
    securities = ListenerSecurities(BrokerConfig.from_entries(config), {}, new_users(USERS), None, str(folder))
    listeners = [ListenerConfig(protocol.value, port=0)]
    secured = securities.with_security(listeners, {protocol.value: protocol})
    return Broker(config, clock=clock, listeners=secured, nodes=nodes)
