"""DescribeConfigs has the keys, defaults, sources and synonyms of the real broker of each captured release."""

import json

import pytest

from fauxka.testing import Broker

from .capture_release_configs import Line, captured_releases, describe, file_of

# The configs of the captured brokers, as the script that starts them sets them.
CONFIG = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "fauxka.busy.poll.us": "0",
}
FOLDERS = {"log.dirs": "/tmp/kafka"}
# A broker with ZooKeeper before 3.3, one with its own controller since.
FIRST_WITH_CONTROLLER = (3, 3)
WITH_ZOOKEEPER = {
    "zookeeper.connect": "127.0.0.1:2181",
    "zookeeper.connection.timeout.ms": "60000",
    "zookeeper.session.timeout.ms": "30000",
    "broker.id": "1",
}
WITH_CONTROLLER = {
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
}
# From 4.3 on, the brokers were started without this key.
FIRST_WITH_DEFAULT_MAP = (4, 3)
FIRST_WITH_SHARE_STATE = (4, 1)
SHARE_STATE = {
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


def config_of(release: str) -> dict[str, str]:
    number = tuple(int(part) for part in release.split("."))
    mode = WITH_CONTROLLER if number >= FIRST_WITH_CONTROLLER else WITH_ZOOKEEPER
    config = {**CONFIG, **FOLDERS, **mode, **(SHARE_STATE if number >= FIRST_WITH_SHARE_STATE else {})}
    if number >= FIRST_WITH_DEFAULT_MAP:
        del config["listener.security.protocol.map"]
    return config


def comparable(lines: list[Line]) -> dict[tuple[object, object], Line]:
    """Return the lines without what the addresses and folders of the machine decide, and without the keys of fauxka."""
    found: dict[tuple[object, object], Line] = {}
    for line in lines:
        if not str(line["name"]).startswith("fauxka."):
            found[line["of"], line["name"]] = line
    return found


@pytest.mark.parametrize("release", captured_releases())
def test_configs_of_a_release_are_those_of_the_real_broker(release: str) -> None:
    captured = comparable([json.loads(line) for line in file_of(release).read_text().splitlines()])

    with Broker(config_of(release), as_version=release) as broker:
        described = comparable(list(describe(broker.bootstrap_servers, release)))

    assert differences(captured, described) == []


def differences(captured: dict[tuple[object, object], Line], described: dict[tuple[object, object], Line]) -> list[str]:
    """Return a line for each entry that differs."""
    return [
        f"{of} {name}: captured {captured.get((of, name))}, described {described.get((of, name))}"
        for of, name in sorted(captured.keys() | described.keys(), key=str)
        if captured.get((of, name)) != described.get((of, name))
    ]
