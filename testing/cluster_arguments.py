"""The arguments of Broker and AsyncBroker, checked and in the types of a ClusterDescription."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from .. import testing
from ..broker.config.broker_config import BrokerConfig
from ..broker.config.config_keys import ReleaseKeys, default_keys, keys_of_release
from ..broker.config.config_sources import take_listener_entries
from ..broker.lifecycle.cluster_builder import ClusterDescription, parse_version
from ..broker.lifecycle.storage_options import StorageOptions
from ..broker.network.listeners import ListenerConfig
from ..faults.files.file_fault_injector import FileFaultInjector
from ..security.security_protocol import SecurityProtocol
from ..storage.producers.emulated_version import EmulatedVersion
from .config_entries import ConfigEntry, config_entries
from .errors import ConfigError

if TYPE_CHECKING:
    from .client_security import ClientSecurity

# Kafka's keys with another default in tests.
CONFIG_DEFAULTS = {
    # Busy polling would take processor time from the clients in the same process.
    "fauxka.busy.poll.us": "0",
    # The first member of a group starts at once. Kafka waits 3 s for more members, in every test that reads by a group.
    "group.initial.rebalance.delay.ms": "0",
}


def describe(
    config: Mapping[str, ConfigEntry] | None,
    security: ClientSecurity | None,
    listeners: Sequence[ListenerConfig],
    as_version: object = None,
) -> ClusterDescription:
    """Return the description of a cluster of one node in memory. Raises ConfigError.

    as_version: the release of Kafka that it follows, as a text; the default one by default.
    security: see security_of. listeners: plain ones. With security it has a listener on a free port instead, unless
    the first of them has the name of the protocol.
    """
    keys = keys_of(as_version)
    protocol = SecurityProtocol.PLAINTEXT if security is None else security.protocol
    if security is not None and protocol.value not in [each.name for each in listeners[:1]]:
        listeners = [ListenerConfig(protocol.value, port=0)]
    of_listener = {} if security is None else security.config_defaults
    entries = {**CONFIG_DEFAULTS, **of_listener, **config_entries(config, keys)}
    listener_entries = take_listener_entries(entries)
    return ClusterDescription(
        config=BrokerConfig.from_entries(entries, keys),
        listeners=listeners,
        protocols={
            each.name: protocol if each.name == protocol.value else SecurityProtocol.PLAINTEXT for each in listeners
        },
        listener_entries=listener_entries,
        users={} if security is None else security.users,
        file_faults=FileFaultInjector,
        emulated_version=version_of(as_version),
    )


def keys_of(as_version: object) -> ReleaseKeys:
    """Return the config keys of a version, or of the default one. Raises ConfigError."""
    version = version_of(as_version)
    return default_keys() if version is None else keys_of_release(version.release)


def version_of(as_version: object) -> EmulatedVersion | None:
    """Return the rules of a version. Raises ConfigError."""
    if as_version is not None and not isinstance(as_version, str):
        raise ConfigError(f"as_version: expected a text such as '2.4', got {as_version!r}")
    return parse_version("as_version", as_version or None)


def storage_of(data_dir: object, import_logs: object) -> StorageOptions:
    """Return where the logs are. import_logs: one path or a sequence. Raises ConfigError for another type."""
    imported: list[object] = []
    if isinstance(import_logs, Sequence) and not isinstance(import_logs, str | bytes):
        imported += cast("Sequence[object]", import_logs)
    elif import_logs is not None:
        imported.append(import_logs)
    paths = [_path_of("import_logs", path) for path in imported]
    return StorageOptions(data_dir=find_path("data_dir", data_dir), import_logs=paths)


def find_path(name: str, path: object) -> str | None:
    """Return the path of the argument of this name; None if it is not given. Raises ConfigError for another type."""
    return None if path is None else _path_of(name, path)


def _path_of(name: str, path: object) -> str:
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"{name}: expected a path, got {path!r:.80} ({type(path).__name__})")
    return os.fspath(cast("str | os.PathLike[str]", path))


def security_of(
    protocol: str, users: Mapping[str, str] | None, tls_dir: object
) -> testing.client_security.ClientSecurity | None:
    """Return the security of the clients; None for a plain listener. Raises ConfigError."""
    if protocol == SecurityProtocol.PLAINTEXT.value and users is None:
        if tls_dir is not None:
            raise ConfigError("tls_dir needs a security_protocol: SSL or SASL_SSL")
        return None
    return testing.client_security.ClientSecurity(protocol, users)
