"""confluent-kafka."""

from collections.abc import Iterator

import pytest

from .client import Client
from .client_contract import ClientContract
from .confluent_client import ConfluentClient

pytestmark = pytest.mark.clients


@pytest.fixture
def client(bootstrap: str) -> Iterator[Client]:
    driver = ConfluentClient(bootstrap)
    yield driver
    driver.close()


class TestConfluentKafka(ClientContract):
    pass
