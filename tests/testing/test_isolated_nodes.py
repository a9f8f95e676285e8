"""Nodes that are cut off from their clients, the controller or each other while they die, return, and are reset."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from fauxka.testing import Broker

from ..broker.blocking_client import BlockingClient

NODES = [1, 2, 3]


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker({"default.replication.factor": "3"}, nodes=3) as started:
        yield started


def serves_clients(broker: Broker, node: int) -> bool:
    with BlockingClient(broker.nodes()[node - 1].bootstrap) as client:
        return bool(client.metadata().brokers)


def kill(broker: Broker) -> None:
    broker.crash(node=2)


def stop(broker: Broker) -> None:
    broker.stop_node(2)


@pytest.mark.parametrize("end", [kill, stop])
def test_a_node_that_was_cut_off_from_its_clients_serves_them_after_a_restart(
    broker: Broker, end: Callable[[Broker], None]
) -> None:
    broker.isolate(2, ["clients"])

    end(broker)
    broker.start_node(2)

    assert broker.nodes()[1].isolated_from == []
    assert serves_clients(broker, 2)
