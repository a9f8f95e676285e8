"""One broker with its admin API for a file of tests, without rules at the start of each."""

from collections.abc import Iterator

import pytest

from ..serving_process import Serving, serving
from .admin_client import AdminClient


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("admin"), "--admin-port", "0", "-c", "fauxka.busy.poll.us=0") as started:
        yield started


@pytest.fixture
def admin(broker: Serving) -> AdminClient:
    assert broker.admin is not None
    client = AdminClient(broker.admin)
    client.delete("/v1/rules")
    client.delete("/v1/journal")
    return client
