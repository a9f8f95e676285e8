"""Validation of dynamic configs of brokers, client metrics subscriptions and groups.

Source: DynamicBrokerConfig.validate, ConfigurationControlManager.validateAlterConfig, ClientMetricsConfigs.validate and
GroupConfig.validate, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...protocol.error_codes import ErrorCode, KafkaError
from ..config.broker_config import BrokerConfig
from ..config.config_keys import ConfigKey
from ..config.config_types import ConfigError, parse_integer
from ..config.dynamic_configs import MIN_INSYNC_REPLICAS, NodeConfigs, invalid_dynamic_config
from .config_entries import CLIENT_METRICS_KEYS

# The bounds of a subscription's push interval (ClientMetricsConfigs).
INTERVAL_MS_RANGE = range(100, 3_600_001)

DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"
CLEANER_THREADS, CLEANER_MEMORY = "log.cleaner.threads", "log.cleaner.dedupe.buffer.size"
CLEANER_THREAD_BYTES = 1024 * 1024
# The numbers of threads, in the order in which Kafka checks them.
THREAD_COUNTS = (
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "background.threads",
    "num.io.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
    CLEANER_THREADS,
)


def check_broker_configs(
    configs: NodeConfigs,
    texts: Mapping[str, str],
    check_listeners: Callable[[Mapping[str, str]], None] | None,
    *,
    is_default: bool,
) -> None:
    """Raise KafkaError if texts are not valid as the dynamic configs of the broker with these configs.

    check_listeners: raises ConfigError for what the listeners of the broker cannot have; None to check nothing more.
    is_default: of all brokers instead. An unknown key is valid.
    """
    keys = configs.keys
    modes = {name: keys.broker[name].dynamic_mode for name in texts if name in keys.broker}
    of_listeners = {name: key for name in texts.keys() - modes if (key := keys.find_broker_key(name)) is not None}
    _refuse("Cannot update these configs dynamically", (name for name, mode in modes.items() if mode == "read-only"))
    _refuse(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        (name for name, mode in modes.items() if mode == "per-broker" and name.startswith("ssl.")),
    )
    if is_default:
        _refuse(
            "Cannot update these configs at default cluster level, broker id must be specified",
            [
                *(name for name, mode in modes.items() if mode == "per-broker"),
                *(name for name, key in of_listeners.items() if key.dynamic_mode == "per-broker"),
            ],
        )
    try:
        for name in modes:
            keys.broker[name].parse(texts[name])
        default_texts, own_texts = configs.default_broker_configs, configs.broker_configs
        changed = configs.config_of(texts, own_texts) if is_default else configs.config_of(default_texts, texts)
        _check_cleaner_memory(configs.current, changed)
        _check_values(of_listeners, texts)
        if check_listeners is not None:
            check_listeners(texts)
        _check_thread_counts(configs.current, changed)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error


def _check_values(of_listeners: Mapping[str, ConfigKey], texts: Mapping[str, str]) -> None:
    for name, key in of_listeners.items():
        try:
            key.parse(texts[name])
        except ConfigError as error:
            raise ConfigError(invalid_dynamic_config(str(error))) from error


def _check_cleaner_memory(before: BrokerConfig, after: BrokerConfig) -> None:
    """Raise ConfigError if the change leaves a cleaner thread too little memory (KafkaConfig.validateValues)."""
    threads, memory = (_number_in(after, name) for name in (CLEANER_THREADS, CLEANER_MEMORY))
    if (threads, memory) == tuple(_number_in(before, name) for name in (CLEANER_THREADS, CLEANER_MEMORY)):
        return
    if not threads:
        # Kafka's message is that of the failed division.
        raise ConfigError("/ by zero")
    if memory // threads <= CLEANER_THREAD_BYTES:
        raise ConfigError(f"requirement failed: {CLEANER_MEMORY} must be at least 1MB per cleaner thread.")


def _check_thread_counts(before: BrokerConfig, after: BrokerConfig) -> None:
    """Raise ConfigError if a number of threads becomes less than half, or more than double.

    The number of a single listener is not checked. Source: validateReconfiguration of DataPlaneAcceptor,
    DynamicThreadPool, DynamicRemoteLogConfig and LogCleaner, Kafka 4.3.0; tests/golden/thread_counts-4.3.0.jsonl.
    """
    for name in THREAD_COUNTS:
        old, new = _number_in(before, name), _number_in(after, name)
        if old // 2 <= new <= old * 2:
            continue
        if name == CLEANER_THREADS:
            bound = "reduced to less than half" if new < old else "increased to more than double"
            reason = f"Log cleaner threads cannot be {bound} the current value {old}"
        else:
            bound = "be at least half" if new < old else "not be greater than double"
            failed = f"Dynamic thread count update validation failed for {name}={new}"
            reason = f"{failed}, value should {bound} the current value {old}"
        raise ConfigError(invalid_dynamic_config(reason))


def _number_in(config: BrokerConfig, name: str) -> int:
    number = config.value_of(name)
    assert isinstance(number, int), f"{name} is {number!r}"
    return number


def _refuse(reason: str, names: Iterable[str]) -> None:
    refused = sorted(names)
    if refused:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{reason}: [{', '.join(refused)}]")


def check_min_insync_replicas(before: Mapping[str, str], texts: Mapping[str, str], *, is_default: bool) -> None:
    """Raise KafkaError INVALID_CONFIG if texts change min.insync.replicas as eligible leader replicas do not allow.

    before: the dynamic configs of the broker. is_default: texts are those of all brokers.
    """
    if is_default and MIN_INSYNC_REPLICAS not in texts:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"Cluster-level {MIN_INSYNC_REPLICAS} cannot be removed while ELR is enabled."
        )
    if not is_default and texts.get(MIN_INSYNC_REPLICAS) != before.get(MIN_INSYNC_REPLICAS):
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"Broker-level {MIN_INSYNC_REPLICAS} cannot be altered while ELR is enabled."
        )


def check_client_metrics(subscription: str, texts: Mapping[str, str]) -> None:
    """Check the configs of a client metrics subscription.

    Raises KafkaError: INVALID_CONFIG for an interval that is no number, INVALID_REQUEST for all else.
    """
    if not subscription:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    for name, text in texts.items():
        if name not in CLIENT_METRICS_KEYS:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {name}")
        if name == "interval.ms":
            _check_interval(text)


def _check_interval(text: str) -> None:
    config_type, _ = CLIENT_METRICS_KEYS["interval.ms"]
    try:
        interval_ms = parse_integer("interval.ms", config_type, text.strip())
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
    if interval_ms not in INTERVAL_MS_RANGE:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Invalid value {text} for interval.ms, interval must be between {INTERVAL_MS_RANGE[0]} and "
            f"{INTERVAL_MS_RANGE[-1]} (1 hour)",
        )


def check_group_configs(config: BrokerConfig, group_id: str, texts: Mapping[str, str]) -> None:
    """Raise KafkaError if texts are not valid as the configs of a group."""
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    for name, text in texts.items():
        key = config.keys.group.get(name)
        if key is None:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown group config name: {name}")
        try:
            value = key.parse(text)
        except ConfigError as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
        if isinstance(value, int):
            _check_group_bounds(config, name, value)
        if name == DEAD_LETTER_TOPIC and text.strip().startswith("__"):
            reason = f"{DEAD_LETTER_TOPIC}: DLQ topic name must not start with '__'"
            raise KafkaError(ErrorCode.INVALID_CONFIG, reason)


def _check_group_bounds(config: BrokerConfig, name: str, value: int) -> None:
    """The bounds of consumer.session.timeout.ms are group.consumer.min.session.timeout.ms and ...max..."""
    kind, _, rest = name.partition(".")
    lowest, highest = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"
    minimum = config.value_of(lowest) if lowest in config.keys.broker else None
    maximum = config.value_of(highest) if highest in config.keys.broker else None
    if isinstance(minimum, int) and value < minimum:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"{name} must be greater than or equal to {lowest}")
    if isinstance(maximum, int) and value > maximum:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"{name} must be less than or equal to {highest}")
