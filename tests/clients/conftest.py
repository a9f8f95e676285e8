"""The broker that the clients talk to, and a topic for a test."""

from collections.abc import Iterator

import pytest

from ..reference.broker_under_test import bootstrap
from .client import Client
from .records import PARTITION_COUNT
from .topics import create_topic

__all__ = ["bootstrap"]

pytest.register_assert_rewrite(f"{__package__}.client_contract")


@pytest.fixture
def topic(client: Client, bootstrap: str) -> Iterator[str]:
    """An empty topic of three partitions, deleted after the test."""
    name = create_topic(client, bootstrap, "records", PARTITION_COUNT)
    yield name
    client.delete_topic(name)
