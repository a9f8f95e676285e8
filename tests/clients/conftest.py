"""The broker that the clients talk to, and a topic for a test."""

from collections.abc import Iterator

import pytest

from ..reference.broker_under_test import bootstrap
from .client import Client, eventually, unique_name
from .records import PARTITION_COUNT

__all__ = ["bootstrap"]

pytest.register_assert_rewrite(f"{__package__}.client_contract")


@pytest.fixture
def topic(client: Client) -> Iterator[str]:
    """An empty topic of three partitions, deleted after the test."""
    name = unique_name("records")
    client.create_topic(name, PARTITION_COUNT, {})
    eventually(lambda: name in client.partition_counts(), True)
    yield name
    client.delete_topic(name)
