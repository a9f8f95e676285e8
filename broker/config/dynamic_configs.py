"""Dynamic configs: those of this broker, of all brokers, of groups and of client metrics subscriptions.

Order of precedence: the configs of this broker, the defaults for all brokers, the static configs.
Source: DynamicBrokerConfig and ConfigurationControlManager, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from .broker_config import BrokerConfig
from .config_keys import BROKER_KEYS, OWN_DEFAULTS
from .config_types import text_of

# Kafka sets this key for all brokers when it formats a cluster
# (ConfigurationControlManager.maybeGenerateElrSafetyRecords).
MIN_INSYNC_REPLICAS = "min.insync.replicas"

# Broker keys for the same setting in several units, the finest first. Each overrides the others.
UNITS = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
UNITS_BY_KEY = {name: names for names in UNITS for name in names}


class DynamicConfigs:
    """Static and dynamic configs, as text by key, and `current`: the configs in effect."""

    __slots__ = (
        "broker_configs",
        "client_metrics_configs",
        "current",
        "default_broker_configs",
        "group_configs",
        "static",
    )

    def __init__(self, static: BrokerConfig) -> None:
        """static: the configs that the broker was started with."""
        self.static = static
        self.current = static
        self.broker_configs: dict[str, str] = {}
        self.default_broker_configs: dict[str, str] = {}
        self.unify_min_insync_replicas()
        self.group_configs: dict[str, dict[str, str]] = {}
        self.client_metrics_configs: dict[str, dict[str, str]] = {}

    def apply(self) -> None:
        """Recompute `current`. A key that Kafka does not have is stored without an effect, as in Kafka."""
        changes: dict[str, str | None] = {}
        for texts in (self.default_broker_configs, self.broker_configs):
            for name in texts.keys() & BROKER_KEYS.keys():
                # It overrides the same setting in other units (DynamicBrokerConfig.overrideProps).
                changes.update(dict.fromkeys(UNITS_BY_KEY.get(name, ())))
                changes[name] = texts[name]
        self.current = self.static.with_entries(changes)

    def unify_min_insync_replicas(self) -> None:
        """Have one min.insync.replicas for all brokers, by default the static one. The caller applies it.

        Kafka does so when it formats a cluster or enables eligible leader replicas.
        """
        self.default_broker_configs.setdefault(
            MIN_INSYNC_REPLICAS, text_of(self.static.value_of(MIN_INSYNC_REPLICAS)) or ""
        )
        self.broker_configs.pop(MIN_INSYNC_REPLICAS, None)

    def reset(self) -> None:
        """Remove all dynamic configs."""
        DynamicConfigs.__init__(self, self.static)

    def static_texts(self) -> dict[str, str]:
        """Return the static configs, with the keys that Kafka requires and node.id also as broker.id."""
        texts = {**OWN_DEFAULTS, **self.static.entries}
        texts.setdefault("broker.id", texts["node.id"])
        return texts
