"""Where the health command finds the broker of its container: the listeners of the environment.

A listener without TLS comes first. Where a client must have a certificate, it is the throw-away one of FAUXKA_TLS_DIR.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...security.security_protocol import SecurityProtocol
from .. import security
from ..config.config_sources import GatheredConfig, gather_config
from ..config.config_types import ConfigError
from ..network.listeners import DEFAULT_HOST, DEFAULT_PORT, WILDCARD_HOSTS, ListenerConfig
from ..security import tls
from .health import HealthAddress
from .listener_options import protocols_of, select_listeners
from .node_options import check_nodes

# The environment variables of --nodes, --listener and --tls-dir.
NODES_VARIABLE, LISTENER_VARIABLE, TLS_DIR_VARIABLE = "FAUXKA_NODES", "FAUXKA_LISTENER", "FAUXKA_TLS_DIR"


def addresses_from_environment(environment: Mapping[str, str], port: int | None = None) -> list[HealthAddress]:
    """Return the address of a listener on each node of a broker with this environment.

    port: of a listener on one of the nodes; None for any listener. Without a listener in the environment it is the
    default one.
    """
    try:
        listeners = _listeners_of(environment)
        node_count = check_nodes(int(environment.get(NODES_VARIABLE, "1")), None).node_count
    except (ConfigError, ValueError):
        # A broker with this environment does not start, so the options of the running one are unknown.
        listeners, node_count = [HealthAddress(DEFAULT_HOST, DEFAULT_PORT)], 1
    if port is None:
        first = next((each for each in listeners if not each.has_tls), listeners[0])
        return [first._replace(port=first.port + index) for index in range(node_count)]
    unknown = HealthAddress(listeners[0].host, port)
    bound = next((each for each in listeners if each.port <= port < each.port + node_count), unknown)
    return [bound._replace(port=port)]


def _listeners_of(environment: Mapping[str, str]) -> list[HealthAddress]:
    """Return the listeners of the first node. Raises ConfigError."""
    gathered = gather_config({}, environment, ())
    of_option = environment.get(LISTENER_VARIABLE, "").split()
    listeners = select_listeners(gathered.config, of_option, DEFAULT_HOST, port=None)
    protocols = protocols_of(listeners, gathered.config)
    tls_dir = environment.get(TLS_DIR_VARIABLE)
    return [_address_of(each, protocols[each.name], gathered, tls_dir) for each in listeners]


def _address_of(
    listener: ListenerConfig, protocol: SecurityProtocol, gathered: GatheredConfig, tls_dir: str | None
) -> HealthAddress:
    host = DEFAULT_HOST if listener.host in WILDCARD_HOSTS else listener.host
    if not protocol.has_tls:
        return HealthAddress(host, listener.port)
    keys = security.listener_keys.ListenerKeys(listener.name, protocol, gathered.config, gathered.of_listeners)
    certificate = os.path.join(tls_dir or "", tls.throw_away_ca.CLIENT_FILE)
    if keys.client_auth != "required":
        return HealthAddress(host, listener.port, has_tls=True)
    if tls_dir and os.path.isfile(certificate):
        return HealthAddress(host, listener.port, has_tls=True, client_certificate=certificate)
    return HealthAddress(host, listener.port, has_tls=True, is_handshake_enough=True)
