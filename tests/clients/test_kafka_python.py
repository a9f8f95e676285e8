"""kafka-python 3."""

from collections.abc import Iterator

import pytest

from .client import Client
from .client_contract import ClientContract
from .kafka_python_client import KafkaPythonClient

pytestmark = pytest.mark.clients


@pytest.fixture
def client(bootstrap: str) -> Iterator[Client]:
    driver = KafkaPythonClient(bootstrap)
    yield driver
    driver.close()


class TestKafkaPython(ClientContract):
    pass
