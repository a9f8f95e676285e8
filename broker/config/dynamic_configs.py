"""Dynamic configs: those of single brokers, of all brokers, of groups and of client metrics subscriptions.

Order of precedence on a broker: its own configs, the defaults for all brokers, the static configs.
Source: DynamicBrokerConfig and ConfigurationControlManager, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...protocol.apis.api import Release
from .broker_config import BrokerConfig
from .config_keys import OWN_DEFAULTS, ReleaseKeys
from .config_types import text_of

# Kafka sets this key for all brokers when it formats a cluster
# (ConfigurationControlManager.maybeGenerateElrSafetyRecords).
MIN_INSYNC_REPLICAS = "min.insync.replicas"
# The first release whose new clusters have eligible leader replicas (KIP-966).
_FIRST_WITH_ELR = (4, 1)

# Broker keys for the same setting in several units, the finest first. Each overrides the others.
UNITS = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
UNITS_BY_KEY = {name: names for names in UNITS for name in names}


def invalid_dynamic_config(reason: str) -> str:
    """Return Kafka's message for configs that the broker cannot take over (DynamicBrokerConfig.processReconfiguration).

    reason: the message of Java's ConfigException.
    """
    exception = "org.apache.kafka.common.config.ConfigException"
    return f"Invalid value {exception}: {reason} for configuration Invalid dynamic configuration"


class NodeConfigs:
    """The configs of one broker. static: those it was started with. current: those in effect.

    listener_entries: the static ones that begin with listener.name.
    broker_configs: its own dynamic configs, as text by key. default_broker_configs: those of all brokers.
    """

    __slots__ = ("broker_configs", "current", "default_broker_configs", "listener_entries", "static")

    def __init__(self, static: BrokerConfig, default_broker_configs: dict[str, str]) -> None:
        """default_broker_configs: the dictionary that all brokers share."""
        self.static = static
        self.current = static
        self.listener_entries: Mapping[str, str] = {}
        self.broker_configs: dict[str, str] = {}
        self.default_broker_configs = default_broker_configs

    @property
    def keys(self) -> ReleaseKeys:
        """The keys of the broker's release."""
        return self.static.keys

    def apply(self) -> None:
        """Recompute `current`."""
        self.current = self.config_of(self.default_broker_configs, self.broker_configs)

    def config_of(self, default_texts: Mapping[str, str], own_texts: Mapping[str, str]) -> BrokerConfig:
        """Return the configs in effect with these dynamic ones: of all brokers, and of this one. Raises ConfigError.

        A key that Kafka does not have is stored without an effect, as in Kafka.
        """
        changes: dict[str, str | None] = {}
        for name, text in (*default_texts.items(), *own_texts.items()):
            if name in self.keys.broker:
                # It overrides the same setting in other units (DynamicBrokerConfig.overrideProps).
                changes.update(dict.fromkeys(UNITS_BY_KEY.get(name, ())))
                changes[name] = text
        return self.static.with_entries(changes)

    def change_static(self, changes: Mapping[str, str | None]) -> None:
        """Change what the broker was started with; None resets a key to its default."""
        self.static = self.static.with_entries(changes)
        self.apply()

    def follow_release(self, release: Release) -> None:
        """Have the keys of another release. Raises ConfigError if that does not have one that is set."""
        self.static = self.static.in_release(release)
        self.apply()

    def static_texts(self) -> dict[str, str]:
        """Return the static configs, with the keys that Kafka requires and node.id also as broker.id."""
        texts = {**OWN_DEFAULTS, **self.static.entries, **self.listener_entries}
        texts.setdefault("broker.id", texts["node.id"])
        return texts


class DynamicConfigs:
    """The configs of a cluster: of the controller, of each node by its id, of groups and of client metrics.

    One node is its own controller. The controller of several nodes is no broker: it has the static configs of the first
    node and the dynamic configs of all brokers, and none of a single broker.
    """

    __slots__ = ("client_metrics_configs", "controller", "default_broker_configs", "group_configs", "nodes")

    def __init__(self, static: BrokerConfig) -> None:
        """static: the configs that the first node was started with."""
        self.default_broker_configs: dict[str, str] = {}
        self.controller = NodeConfigs(static, self.default_broker_configs)
        self.nodes = {static.node_id: self.controller}
        self.group_configs: dict[str, dict[str, str]] = {}
        self.client_metrics_configs: dict[str, dict[str, str]] = {}
        self._format()

    def add_node(self, node_id: int, rack: str | None) -> None:
        """Add the configs of another node: the static ones are those of the first node but for its id and rack."""
        first = self.static
        if len(self.nodes) == 1:
            self.controller = NodeConfigs(first, self.default_broker_configs)
        own = {"node.id": str(node_id), "broker.id": None, "broker.rack": rack}
        self.nodes[node_id] = NodeConfigs(first.with_entries(own), self.default_broker_configs)

    @property
    def controller_id(self) -> int:
        """The node id of the controller: that of the only node, or the one after those of several nodes."""
        return self.static.node_id if len(self.nodes) == 1 else max(self.nodes) + 1

    @property
    def static(self) -> BrokerConfig:
        """The static configs of the controller."""
        return self.controller.static

    @property
    def keys(self) -> ReleaseKeys:
        """The keys of the release of the controller."""
        return self.static.keys

    @property
    def current(self) -> BrokerConfig:
        """The configs in effect at the controller."""
        return self.controller.current

    def _all(self) -> list[NodeConfigs]:
        return list(self.nodes.values()) if len(self.nodes) == 1 else [self.controller, *self.nodes.values()]

    def follow_release(self, node_id: int, release: Release) -> None:
        """Have a broker the keys of another release, and the controller those of the oldest. Raises ConfigError."""
        self.nodes[node_id].follow_release(release)
        self.controller.follow_release(min(configs.keys.release for configs in self.nodes.values()))

    def apply(self) -> None:
        """Recompute the configs in effect."""
        for configs in self._all():
            configs.apply()

    def set_listener_entries(self, entries: Mapping[str, str]) -> None:
        """Set the static configs of single listeners, which all nodes share."""
        for configs in self._all():
            configs.listener_entries = entries

    def replace_default_broker_configs(self, texts: Mapping[str, str]) -> None:
        """Replace the dynamic configs of all brokers. The caller applies them."""
        texts = dict(texts)
        self.default_broker_configs.clear()
        self.default_broker_configs.update(texts)

    def _format(self) -> None:
        """Set the dynamic configs of a new cluster."""
        if self.keys.release >= _FIRST_WITH_ELR:
            self.unify_min_insync_replicas()

    def unify_min_insync_replicas(self) -> None:
        """Have one min.insync.replicas for all brokers, by default the static one. The caller applies it.

        Kafka does so when it formats a cluster with eligible leader replicas, or enables them.
        """
        self.default_broker_configs.setdefault(
            MIN_INSYNC_REPLICAS, text_of(self.static.value_of(MIN_INSYNC_REPLICAS)) or ""
        )
        for configs in self.nodes.values():
            configs.broker_configs.pop(MIN_INSYNC_REPLICAS, None)

    def reset(self) -> None:
        """Remove all dynamic configs."""
        self.default_broker_configs.clear()
        self.group_configs.clear()
        self.client_metrics_configs.clear()
        for configs in self._all():
            configs.broker_configs.clear()
            configs.current = configs.static
        self._format()
