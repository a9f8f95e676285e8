"""What DescribeConfigs returns of fauxka itself: documentation, and the listeners that the broker has bound."""

from __future__ import annotations

import pytest

from fauxka.broker.handlers.cluster import describe_configs
from fauxka.broker.handlers.cluster.describe_configs import PROTOCOL_MAP
from fauxka.broker.metadata.config_entries import ConfigSource
from fauxka.broker.network.listeners import Listener
from fauxka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
)

from ..running_node import Node
from ..steps import result_of
from .admin_scene import BROKER, THIS_BROKER, TOPIC, AdminScene

GROUP, CLIENT_METRICS = 32, 16


def described(
    scene: AdminScene, kind: int, name: str, *, documentation: bool = True
) -> dict[str, DescribeConfigsResourceResult]:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True, include_documentation=documentation)
    response = result_of(describe_configs.handle(scene.context(4), request))
    return {entry.name: entry for entry in response.results[0].configs}


@pytest.mark.parametrize(
    ("kind", "name", "key", "line"),
    [
        (TOPIC, "t", "retention.ms", "The age at which records are deleted; -1 for no limit."),
        (TOPIC, "t", "remote.storage.enable", None),
        (BROKER, THIS_BROKER, "node.id", "The id of the broker."),
        (BROKER, THIS_BROKER, "num.io.threads", None),
        (
            GROUP,
            "g",
            "share.isolation.level",
            "Whether a share group reads the records of open and aborted transactions.",
        ),
        (
            GROUP,
            "g",
            "streams.num.standby.replicas",
            "The standby tasks of each task with state in a streams group. For this group.",
        ),
        (GROUP, "g", "streams.assignor.name", None),
        (CLIENT_METRICS, "m", "interval.ms", None),
    ],
)
def test_documentation_is_that_of_keys_with_an_effect(kind: int, name: str, key: str, line: str | None) -> None:
    scene = AdminScene()
    scene.topic("t")

    assert described(scene, kind, name)[key].documentation == line


def test_documentation_is_null_unless_requested() -> None:
    entries = described(AdminScene(), BROKER, THIS_BROKER, documentation=False)

    assert {entry.documentation for entry in entries.values()} == {None}


def listening(config: dict[str, str], *listeners: Listener) -> dict[str, DescribeConfigsResourceResult]:
    scene = AdminScene(config)
    scene.cluster.node.listeners = listeners
    return described(scene, BROKER, THIS_BROKER)


def values_of(entry: DescribeConfigsResourceResult) -> tuple[str | None, list[tuple[str | None, int]]]:
    """Return the value, and value and source of each synonym; the first is the source of the value."""
    assert entry.config_source == entry.synonyms[0].source
    return entry.value, [(synonym.value, synonym.source) for synonym in entry.synonyms]


def test_listeners_are_those_that_are_bound() -> None:
    entries = listening(
        {"listeners": "IN://:0,OUT://:0"},
        Listener("IN", "", 41001, "localhost", 41001),
        Listener("OUT", "::1", 41002, "kafka.test", 9094),
    )

    bound = "IN://:41001,OUT://[::1]:41002"
    assert values_of(entries["listeners"]) == (
        bound,
        [(bound, ConfigSource.STATIC_BROKER), ("PLAINTEXT://:9092", ConfigSource.DEFAULT)],
    )
    advertised = "IN://localhost:41001,OUT://kafka.test:9094"
    assert values_of(entries["advertised.listeners"]) == (advertised, [(advertised, ConfigSource.STATIC_BROKER)])


def test_names_of_listeners_are_in_the_protocol_map() -> None:
    plain = listening({}, Listener("PLAINTEXT", "127.0.0.1", 41001, "127.0.0.1", 41001))[PROTOCOL_MAP]
    named = listening({}, Listener("IN", "127.0.0.1", 41001, "127.0.0.1", 41001))[PROTOCOL_MAP]
    mapped = listening({PROTOCOL_MAP: "IN:PLAINTEXT"}, Listener("IN", "127.0.0.1", 41001, "127.0.0.1", 41001))

    assert plain.config_source == ConfigSource.DEFAULT
    assert (named.value, named.config_source) == (f"{plain.value},IN:PLAINTEXT", ConfigSource.STATIC_BROKER)
    assert mapped[PROTOCOL_MAP].value == "IN:PLAINTEXT"


def test_dynamic_listeners_have_precedence_over_the_bound_ones() -> None:
    scene = AdminScene()
    scene.cluster.node.listeners = [Listener("PLAINTEXT", "127.0.0.1", 41001, "127.0.0.1", 41001)]
    assert scene.change(BROKER, THIS_BROKER, "listeners", "PLAINTEXT://127.0.0.1:41009") == 0

    entry = described(scene, BROKER, THIS_BROKER)["listeners"]

    assert values_of(entry) == (
        "PLAINTEXT://127.0.0.1:41009",
        [
            ("PLAINTEXT://127.0.0.1:41009", ConfigSource.BROKER),
            ("PLAINTEXT://127.0.0.1:41001", ConfigSource.STATIC_BROKER),
            ("PLAINTEXT://:9092", ConfigSource.DEFAULT),
        ],
    )


def test_running_broker_describes_its_port_also_after_a_restart() -> None:
    with Node() as node, node.client() as client:
        address = f"PLAINTEXT://{node.address}"
        before = [client.config(BROKER, "1", key) for key in ("listeners", "advertised.listeners")]

        node.crash()
        node.restart()

        with node.client() as second:
            after = [second.config(BROKER, "1", key) for key in ("listeners", "advertised.listeners")]
    assert before == after == [address, address]
