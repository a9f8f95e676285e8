"""DescribeConfigs 1-4, IncrementalAlterConfigs 0-1, AlterConfigs 0-2: python -m tests.golden.capture_configs HOST:PORT.

Needs a fresh broker with default configuration and node.id=1.
"""

from collections.abc import Sequence

from fauxka.protocol.messages import alter_configs
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from .capture_recorder import Recorder, main

UNKNOWN, TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 0, 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
DESCRIBE_VERSIONS = range(1, 5)
NEWEST = 4
Resource = tuple[int, str, list[str] | None]
Change = tuple[str, int, str | None]
BROKER_KEYS = [
    "log.retention.ms",
    "log.retention.hours",
    "num.partitions",
    "node.id",
    "message.max.bytes",
    "log.segment.bytes",
    "unclean.leader.election.enable",
    "compression.type",
    "log.cleanup.policy",
    "ssl.keystore.password",
    "auto.create.topics.enable",
    "group.initial.rebalance.delay.ms",
]


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.create_topic("plain")
    recorder.create_topic("configured", retention_ms="1000", cleanup_policy="compact,delete")
    _describe_topics(recorder)
    _describe_brokers(recorder)
    _describe_others(recorder)
    _describe_several(recorder)
    _change_topics(recorder)
    _change_lists(recorder)
    _refused_changes(recorder)
    _change_other_resources(recorder)
    _change_loggers(recorder)
    _change_brokers(recorder)
    _replace(recorder)


def describing(*resources: Resource, synonyms: bool = True, documentation: bool = False) -> DescribeConfigsRequest:
    """Return a DescribeConfigs request; a resource is (type, name, keys or None for all)."""
    asked = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
        for kind, name, keys in resources
    ]
    return DescribeConfigsRequest(resources=asked, include_synonyms=synonyms, include_documentation=documentation)


def _describe_topics(recorder: Recorder) -> None:
    some = ["retention.ms", "cleanup.policy", "segment.bytes", "no.such.key"]
    for version in DESCRIBE_VERSIONS:
        recorder.case("some keys of a topic", version, describing((TOPIC, "configured", some)))
        recorder.case("without synonyms", version, describing((TOPIC, "configured", some), synonyms=False))
        recorder.case("unknown topic", version, describing((TOPIC, "not-there", None)))
    recorder.case("all keys of a topic", 1, describing((TOPIC, "plain", None)))
    recorder.case("all keys of a topic", NEWEST, describing((TOPIC, "plain", None)))
    recorder.case("all keys of a configured topic", NEWEST, describing((TOPIC, "configured", None)))
    recorder.case("an empty list of keys", NEWEST, describing((TOPIC, "plain", [])))
    recorder.case("the same key twice", NEWEST, describing((TOPIC, "plain", ["retention.ms"] * 2)))
    recorder.case("with documentation", NEWEST, describing((TOPIC, "plain", some), documentation=True))
    for name in ("", "with blank", ".", "a" * 250):
        recorder.case(f"topic name of {len(name)} characters", NEWEST, describing((TOPIC, name, None)))


def _describe_brokers(recorder: Recorder) -> None:
    for version in DESCRIBE_VERSIONS:
        recorder.case("some keys of the broker", version, describing((BROKER, "1", BROKER_KEYS)))
        recorder.case("some keys without synonyms", version, describing((BROKER, "1", BROKER_KEYS), synonyms=False))
    recorder.case("all keys of the broker", NEWEST, describing((BROKER, "1", None)))
    for name in ("", "2", "-1", "abc", "01", " 1"):
        recorder.case(f"broker {name!r}", NEWEST, describing((BROKER, name, ["log.retention.ms"])))
    recorder.case("all keys of the default broker", NEWEST, describing((BROKER, "", None)))
    recorder.case("with documentation", NEWEST, describing((BROKER, "1", ["log.retention.ms"]), documentation=True))


def _describe_others(recorder: Recorder) -> None:
    for name in ("1", "", "2", "abc"):
        loggers = ["kafka", "root", "kafka.no.such.logger"]
        recorder.case(f"loggers of broker {name!r}", NEWEST, describing((BROKER_LOGGER, name, loggers)))
    for kind in (UNKNOWN, 1, 3, 64, -1):
        recorder.case(f"resource type {kind}", NEWEST, describing((kind, "1", None)))
    for kind in (CLIENT_METRICS, GROUP):
        for name in ("some", ""):
            recorder.case(f"resource type {kind} named {name!r}", NEWEST, describing((kind, name, None)))
            recorder.case(f"resource type {kind} named {name!r}", 1, describing((kind, name, None)))


def _describe_several(recorder: Recorder) -> None:
    recorder.case("no resources", NEWEST, describing())
    key = ["retention.ms"]
    several = ((TOPIC, "plain", key), (TOPIC, "not-there", key), (BROKER, "1", key), (TOPIC, "configured", key))
    recorder.case("several resources", NEWEST, describing(*several))
    recorder.case(
        "the same topic twice", NEWEST, describing((TOPIC, "plain", key), (TOPIC, "plain", ["segment.bytes"]))
    )


def changing(
    *resources: tuple[int, str, Sequence[Change]], validate_only: bool = False
) -> IncrementalAlterConfigsRequest:
    """Return an IncrementalAlterConfigs request; a change is (key, operation, value)."""
    asked = [
        AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[
                AlterableConfig(name=key, config_operation=operation, value=value) for key, operation, value in changes
            ],
        )
        for kind, name, changes in resources
    ]
    return IncrementalAlterConfigsRequest(resources=asked, validate_only=validate_only)


def _look(recorder: Recorder, kind: int, name: str, *keys: str) -> None:
    recorder.settle()
    recorder.case("what came of it", NEWEST, describing((kind, name, list(keys))))


def _change_topics(recorder: Recorder) -> None:
    for version in range(2):
        name = f"changed-v{version}"
        recorder.create_topic(name)
        steps: dict[str, list[Change]] = {
            "set": [("retention.ms", SET, "5000")],
            "set again": [("retention.ms", SET, "6000")],
            "set two": [("segment.bytes", SET, "1048576"), ("retention.ms", SET, "7000")],
            "delete": [("retention.ms", DELETE, None)],
            "delete what is not set": [("retention.ms", DELETE, None)],
            "delete with a value": [("segment.bytes", DELETE, "1")],
            "set to the default": [("retention.ms", SET, "604800000")],
        }
        for case, changes in steps.items():
            only = changing((TOPIC, name, changes), validate_only=True)
            recorder.case(f"{case}, validate only", version, only)
            recorder.case(case, version, changing((TOPIC, name, changes)))
            _look(recorder, TOPIC, name, "retention.ms", "segment.bytes")


def _change_lists(recorder: Recorder) -> None:
    recorder.create_topic("lists")
    steps: dict[str, list[Change]] = {
        "append to the default": [("cleanup.policy", APPEND, "compact")],
        "append what is there": [("cleanup.policy", APPEND, "compact")],
        "subtract": [("cleanup.policy", SUBTRACT, "delete")],
        "subtract what is not there": [("cleanup.policy", SUBTRACT, "delete")],
        "append two": [("cleanup.policy", APPEND, "delete,compact")],
        "subtract all": [("cleanup.policy", SUBTRACT, "delete,compact")],
        "append nonsense": [("cleanup.policy", APPEND, "nonsense")],
        "append to an empty list": [("leader.replication.throttled.replicas", APPEND, "0:1")],
        "append an empty string": [("leader.replication.throttled.replicas", APPEND, "")],
        "append null": [("leader.replication.throttled.replicas", APPEND, None)],
        "subtract null": [("leader.replication.throttled.replicas", SUBTRACT, None)],
        "append another": [("leader.replication.throttled.replicas", APPEND, "1:1")],
        "subtract the first": [("leader.replication.throttled.replicas", SUBTRACT, "0:1")],
        "subtract the last": [("leader.replication.throttled.replicas", SUBTRACT, "1:1")],
    }
    for case, changes in steps.items():
        recorder.case(case, 1, changing((TOPIC, "lists", changes)))
        _look(recorder, TOPIC, "lists", "cleanup.policy", "leader.replication.throttled.replicas")


def _refused_changes(recorder: Recorder) -> None:
    recorder.create_topic("refused")
    changes: dict[str, list[Change]] = {
        "an unknown key": [("no.such.key", SET, "1")],
        "an unknown key deleted": [("no.such.key", DELETE, None)],
        "an unknown key appended": [("no.such.key", APPEND, "1")],
        "no number": [("retention.ms", SET, "abc")],
        "null": [("retention.ms", SET, None)],
        "below the least": [("retention.ms", SET, "-2")],
        "append to a number": [("retention.ms", APPEND, "1")],
        "subtract from a number": [("retention.ms", SUBTRACT, "1")],
        "an unknown operation": [("retention.ms", 4, "1")],
        "a negative operation": [("retention.ms", -1, "1")],
        "the same key twice": [("retention.ms", SET, "1"), ("retention.ms", SET, "2")],
        "set and deleted": [("retention.ms", SET, "1"), ("retention.ms", DELETE, None)],
        "good and bad": [("retention.ms", SET, "1"), ("segment.bytes", SET, "x")],
        "a key of the broker": [("log.retention.ms", SET, "1")],
        "an empty key": [("", SET, "1")],
        "no changes": [],
        "a policy that is none": [("cleanup.policy", SET, "remove")],
        "an empty policy": [("cleanup.policy", SET, "")],
        "remote storage": [("remote.storage.enable", SET, "true")],
    }
    for version in range(2):
        for case, asked in changes.items():
            recorder.case(case, version, changing((TOPIC, "refused", asked)))
    _look(recorder, TOPIC, "refused", "retention.ms", "segment.bytes")


def _change_other_resources(recorder: Recorder) -> None:
    good: list[Change] = [("retention.ms", SET, "1")]
    cases: dict[str, Sequence[tuple[int, str, Sequence[Change]]]] = {
        "unknown topic": [(TOPIC, "not-there", good)],
        "empty topic name": [(TOPIC, "", good)],
        "invalid topic name": [(TOPIC, "with blank", good)],
        "known and unknown topics": [(TOPIC, "not-there", good), (TOPIC, "plain", good)],
        "the same topic twice": [(TOPIC, "plain", good), (TOPIC, "plain", [("segment.bytes", SET, "1048576")])],
        "the same topic three times": [(TOPIC, "plain", good)] * 3,
        "no resources": [],
        "resource type 0": [(UNKNOWN, "plain", good)],
        "resource type 1": [(1, "plain", good)],
        "resource type 64": [(64, "plain", good)],
        "resource type -1": [(-1, "plain", good)],
        "logger": [(BROKER_LOGGER, "1", [("kafka", SET, "DEBUG")])],
        "logger, unknown level": [(BROKER_LOGGER, "1", [("kafka", SET, "LOUD")])],
        "logger of another broker": [(BROKER_LOGGER, "2", [("kafka", SET, "DEBUG")])],
        "client metrics": [(CLIENT_METRICS, "some", [("interval.ms", SET, "1000")])],
        "client metrics, unknown key": [(CLIENT_METRICS, "some", good)],
        "client metrics, no name": [(CLIENT_METRICS, "", [("interval.ms", SET, "1000")])],
        "group": [(GROUP, "some", [("consumer.session.timeout.ms", SET, "50000")])],
        "group, unknown key": [(GROUP, "some", good)],
        "group, out of bounds": [(GROUP, "some", [("consumer.session.timeout.ms", SET, "1")])],
        "group, no name": [(GROUP, "", [("consumer.session.timeout.ms", SET, "50000")])],
    }
    for version in range(2):
        for case, resources in cases.items():
            recorder.case(case, version, changing(*resources))
    recorder.settle()
    recorder.case("the metrics after that", NEWEST, describing((CLIENT_METRICS, "some", None)))
    recorder.case("the group after that", NEWEST, describing((GROUP, "some", None)))
    recorder.case("the logger after that", NEWEST, describing((BROKER_LOGGER, "1", ["kafka"])))


def _change_loggers(recorder: Recorder) -> None:
    changes: dict[str, list[Change]] = {
        "unknown level": [("root", SET, "LOUD")],
        "level in small letters": [("root", SET, "debug")],
        "null level": [("root", SET, None)],
        "deleted": [("root", DELETE, None)],
        "appended": [("root", APPEND, "DEBUG")],
        "subtracted": [("root", SUBTRACT, "DEBUG")],
        "good and unknown": [("root", SET, "WARN"), ("kafka.no.such.logger", SET, "WARN")],
        "twice": [("root", SET, "WARN"), ("root", SET, "INFO")],
        "set": [("root", SET, "FATAL")],
    }
    for case, asked in changes.items():
        only = changing((BROKER_LOGGER, "1", asked), validate_only=True)
        recorder.case(f"root logger: {case}, validate only", 1, only)
        recorder.case(f"root logger: {case}", 1, changing((BROKER_LOGGER, "1", asked)))
        recorder.case("the root logger after that", NEWEST, describing((BROKER_LOGGER, "1", ["root"])))
    for name in ("", "abc"):
        recorder.case(f"loggers of broker {name!r}", 1, changing((BROKER_LOGGER, name, changes["set"])))
    recorder.case("root logger: back", 1, changing((BROKER_LOGGER, "1", [("root", SET, "ERROR")])))


def _change_brokers(recorder: Recorder) -> None:
    steps: dict[str, tuple[str, list[Change]]] = {
        "log.retention.ms of this broker": ("1", [("log.retention.ms", SET, "5000")]),
        "log.retention.ms of all brokers": ("", [("log.retention.ms", SET, "9000")]),
        "this broker's deleted": ("1", [("log.retention.ms", DELETE, None)]),
        "all brokers' deleted": ("", [("log.retention.ms", DELETE, None)]),
        "message.max.bytes of all brokers": ("", [("message.max.bytes", SET, "2000000")]),
        "message.max.bytes deleted": ("", [("message.max.bytes", DELETE, None)]),
        "append to a list": ("", [("log.cleanup.policy", APPEND, "compact")]),
        "the list deleted": ("", [("log.cleanup.policy", DELETE, None)]),
    }
    for case, (name, changes) in steps.items():
        recorder.case(f"{case}, validate only", 1, changing((BROKER, name, changes), validate_only=True))
        recorder.case(case, 1, changing((BROKER, name, changes)))
        keys = ("log.retention.ms", "message.max.bytes", "log.cleanup.policy", "log.retention.minutes")
        _look(recorder, BROKER, "1", *keys)
        _look(recorder, BROKER, "", *keys)
        _look(recorder, TOPIC, "configured", "retention.ms", "max.message.bytes", "cleanup.policy")
        _look(recorder, TOPIC, "refused", "retention.ms", "max.message.bytes", "cleanup.policy")
    refused: dict[str, tuple[str, list[Change]]] = {
        "a key that is read only": ("1", [("num.partitions", SET, "3")]),
        "a key that is read only, all brokers": ("", [("num.partitions", SET, "3")]),
        "node.id": ("1", [("node.id", SET, "3")]),
        "an unknown key": ("1", [("no.such.key", SET, "3")]),
        "a key of topics": ("1", [("retention.ms", SET, "3")]),
        "no number": ("1", [("log.retention.ms", SET, "abc")]),
        "below the least": ("1", [("log.segment.bytes", SET, "3")]),
        "another broker": ("2", [("log.retention.ms", SET, "5000")]),
        "no broker id": ("abc", [("log.retention.ms", SET, "5000")]),
        "per-broker key for all": ("", [("ssl.keystore.password", SET, "secret")]),
        "null": ("1", [("log.retention.ms", SET, None)]),
        "append to a number": ("1", [("log.retention.ms", APPEND, "1")]),
        "an unknown operation": ("1", [("log.retention.ms", 4, "1")]),
        "an unknown operation, all brokers": ("", [("log.retention.ms", 4, "1")]),
        "listeners of all brokers": ("", [("listeners", SET, "PLAINTEXT://:1")]),
        "min.insync.replicas of this broker": ("1", [("min.insync.replicas", SET, "1")]),
        "min.insync.replicas of all brokers deleted": ("", [("min.insync.replicas", DELETE, None)]),
    }
    for case, (name, changes) in refused.items():
        recorder.case(case, 1, changing((BROKER, name, changes), validate_only=True))
        recorder.case(case, 1, changing((BROKER, name, changes)))
    _look(recorder, BROKER, "1", "log.retention.ms", "num.partitions", "no.such.key", "retention.ms")
    _look(recorder, BROKER, "2", "log.retention.ms")


def replacing(
    *resources: tuple[int, str, dict[str, str | None]], validate_only: bool = False
) -> alter_configs.AlterConfigsRequest:
    """Return an AlterConfigs request."""
    asked = [
        alter_configs.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[alter_configs.AlterableConfig(name=key, value=value) for key, value in configs.items()],
        )
        for kind, name, configs in resources
    ]
    return alter_configs.AlterConfigsRequest(resources=asked, validate_only=validate_only)


def _replace(recorder: Recorder) -> None:
    for version in range(3):
        name = f"replaced-v{version}"
        recorder.create_topic(name, retention_ms="1000", segment_bytes="1048576")
        steps: dict[str, dict[str, str | None]] = {
            "one of two kept": {"retention.ms": "2000"},
            "an unknown key": {"no.such.key": "1"},
            "no number": {"retention.ms": "abc"},
            "null": {"retention.ms": None},
            "nothing": {},
        }
        for case, configs in steps.items():
            recorder.case(f"{case}, validate only", version, replacing((TOPIC, name, configs), validate_only=True))
            recorder.case(case, version, replacing((TOPIC, name, configs)))
            _look(recorder, TOPIC, name, "retention.ms", "segment.bytes")
    newest = 2
    good: dict[str, str | None] = {"retention.ms": "1"}
    cases: dict[str, list[tuple[int, str, dict[str, str | None]]]] = {
        "unknown topic": [(TOPIC, "not-there", good)],
        "empty topic name": [(TOPIC, "", good)],
        "the same topic twice": [(TOPIC, "plain", good), (TOPIC, "plain", good)],
        "known and unknown": [(TOPIC, "not-there", good), (TOPIC, "plain", good)],
        "no resources": [],
        "resource type 0": [(UNKNOWN, "plain", good)],
        "resource type 64": [(64, "plain", good)],
        "logger": [(BROKER_LOGGER, "1", {"kafka": "DEBUG"})],
        "group": [(GROUP, "some-other", {"consumer.session.timeout.ms": "50000"})],
        "client metrics": [(CLIENT_METRICS, "some-other", {"interval.ms": "1000"})],
        "broker": [(BROKER, "1", {"log.retention.ms": "5000"})],
        "all brokers": [(BROKER, "", {"log.retention.ms": "6000"})],
        "all brokers, nothing": [(BROKER, "", {})],
        "broker, read only key": [(BROKER, "1", {"num.partitions": "5"})],
        "broker, nothing": [(BROKER, "1", {})],
        "another broker": [(BROKER, "2", {"log.retention.ms": "5000"})],
    }
    for case, resources in cases.items():
        recorder.case(f"replaced: {case}", newest, replacing(*resources))
        _look(recorder, BROKER, "1", "log.retention.ms", "num.partitions")


if __name__ == "__main__":
    main(capture)
