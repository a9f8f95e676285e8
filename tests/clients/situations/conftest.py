"""A broker with a topic of ten records, and readers of each client."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fauxka.testing import Broker

from ..confluent_client import admin
from ..group_readers import READERS, TOPIC, MakeReader, Reader
from .situation import CONFIG, GROUP, append

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let kafka-python leave sockets open; a thread of it may keep one into the test of another client."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect the garbage of a test before the next one."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker(CONFIG) as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Broker:
    """One with ten records in the only partition."""
    shared.reset()
    shared.topics.create(TOPIC, partitions=1, configs={"retention.ms": -1})
    append(shared, 10)
    return shared


@pytest.fixture
def share_broker(broker: Broker) -> Broker:
    """One whose share group begins at the first record."""
    client: Any = admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    entry = admin.ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=admin.AlterConfigOpType.SET)
    group = admin.ConfigResource(admin.ConfigResource.Type.GROUP, GROUP, incremental_configs=[entry])
    for future in client.incremental_alter_configs([group]).values():
        future.result()
    return broker


@pytest.fixture
def two_partitions(shared: Broker) -> Broker:
    """One with ten records in each of two partitions."""
    shared.reset()
    shared.topics.create(TOPIC, partitions=2)
    for partition in range(2):
        append(shared, 10, partition)
    return shared


@pytest.fixture(params=READERS.values(), ids=list(READERS))
def make_reader(request: pytest.FixtureRequest) -> Iterator[MakeReader]:
    """Makes readers, which are closed at the end of a test that has failed before it closed them."""
    readers: list[Reader] = []

    def make(*arguments: Any, **options: Any) -> Reader:
        readers.append(request.param(*arguments, **options))
        return readers[-1]

    yield make
    for reader in readers:
        with suppress(reader.error):
            reader.close()
