"""What was set while the broker ran, beyond topics: for this broker, for all brokers, for groups, for client metrics.

A value set for this broker goes before one for all brokers, and both go before what the broker was started with.
Source: DynamicBrokerConfig and ConfigurationControlManager, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from .broker_config import BrokerConfig
from .config_keys import BROKER_KEYS, DEFAULTS_OF_OURS
from .config_types import text_of

# Kafka formats a cluster with this key set for all brokers, so that it cannot drop below what the first one had
# (ConfigurationControlManager.maybeGenerateElrSafetyRecords).
MIN_INSYNC_REPLICAS = "min.insync.replicas"

# Broker keys that say one thing in several units, the finest first; each answers for the others.
UNITS = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
UNITS_OF = {name: names for names in UNITS for name in names}


class DynamicConfigs:
    """Static and dynamic configs: the texts by key, and `current`, the configs that result from them."""

    __slots__ = ("current", "of_all_brokers", "of_broker", "of_client_metrics", "of_groups", "started_with")

    def __init__(self, started_with: BrokerConfig) -> None:
        """started_with: the static configs. Kafka's own default of min.insync.replicas is set for all brokers."""
        self.started_with = started_with
        # What is in force now.
        self.current = started_with
        self.of_broker: dict[str, str] = {}
        self.of_all_brokers = {MIN_INSYNC_REPLICAS: text_of(started_with.value_of(MIN_INSYNC_REPLICAS)) or ""}
        self.of_groups: dict[str, dict[str, str]] = {}
        self.of_client_metrics: dict[str, dict[str, str]] = {}

    def apply(self) -> None:
        """Put what was set into force. A key that Kafka does not have may be set and has no effect, as in Kafka."""
        changes: dict[str, str | None] = {}
        for texts in (self.of_all_brokers, self.of_broker):
            for name in texts.keys() & BROKER_KEYS.keys():
                # Whatever says the same in another unit is out of force (DynamicBrokerConfig.overrideProps).
                changes.update(dict.fromkeys(UNITS_OF.get(name, ())))
                changes[name] = texts[name]
        self.current = self.started_with.with_entries(changes)

    def reset(self) -> None:
        """Return to the static configs, as if nothing had been set."""
        DynamicConfigs.__init__(self, self.started_with)

    def static_texts(self) -> dict[str, str]:
        """Return what the broker was started with, or Kafka would have to be; node.id goes by its older name, too."""
        texts = {**DEFAULTS_OF_OURS, **self.started_with.entries}
        texts.setdefault("broker.id", texts["node.id"])
        return texts
