"""One fixture, two brokers: the same test talks to fauxka, and in the group `reference` to a real Kafka."""

import os
from collections.abc import Iterator

import pytest

from .kafka_process import running_kafka

# What both brokers are started with. A mistyped topic has to stay unknown; a group need not wait for latecomers.
CONFIG = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": "0"}

# The address of a broker that runs already, to be used in place of a fauxka of our own.
BOOTSTRAP_VARIABLE = "FAUXKA_TEST_BOOTSTRAP"


@pytest.fixture(scope="session", params=["fauxka", pytest.param("kafka", marks=pytest.mark.reference)])
def bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that runs for the whole session, so tests take names of their own."""
    given = os.environ.get(BOOTSTRAP_VARIABLE)
    if request.param == "kafka":
        with running_kafka(tmp_path_factory.mktemp("kafka") / "kafka.log", CONFIG) as address:
            yield address
    elif given:
        yield given
    else:
        yield from _own_broker()


def _own_broker() -> Iterator[str]:
    from fauxka.testing import Broker

    with Broker(config=CONFIG) as broker:
        yield broker.bootstrap_servers
