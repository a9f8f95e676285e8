"""aiokafka."""

from collections.abc import Iterator

import pytest

from .aiokafka_client import AiokafkaClient
from .client import Client
from .client_contract import ClientContract

pytestmark = pytest.mark.clients


@pytest.fixture
def client(bootstrap: str) -> Iterator[Client]:
    driver = AiokafkaClient(bootstrap)
    yield driver
    driver.close()


class TestAiokafka(ClientContract):
    pass
