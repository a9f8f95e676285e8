"""A broker with one listener that demands something of its clients, in a thread of the test."""

from collections.abc import Mapping
from pathlib import Path

from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.security.security_protocol import SecurityProtocol
from fauxka.testing import Broker

USERS = {"alice": "secret"}
# Those that are enabled by default.
MECHANISMS = {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"}


def secured_broker(
    protocol: SecurityProtocol,
    folder: Path,
    entries: Mapping[str, str] | None = None,
    clock: AdjustableClock | None = None,
    nodes: int = 1,
) -> Broker:
    """Return a broker that is not started. folder: for the throw-away certificates. entries: further keys."""
    return Broker(
        {**MECHANISMS, **(entries or {})},
        clock=clock,
        security_protocol=protocol.value,
        users=USERS,
        tls_dir=folder,
        nodes=nodes,
    )
