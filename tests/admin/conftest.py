"""One broker with its admin API for each test module; every test starts without rules and producers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..broker.topic_client import TOPIC
from ..serving_process import Serving, serving
from .admin_client import AdminClient


@pytest.fixture(scope="module")
def export_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for exports, which does not exist before the first one."""
    return tmp_path_factory.mktemp("admin-exports").resolve() / "exports"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, export_dir: Path) -> Iterator[Serving]:
    options = ("--admin-port", "0", "--seed-topic", TOPIC, "-c", "fauxka.busy.poll.us=0")
    with serving(tmp_path_factory.mktemp("admin"), *options, "--export-dir", str(export_dir)) as started:
        yield started


@pytest.fixture
def admin(broker: Serving) -> AdminClient:
    assert broker.admin is not None
    client = AdminClient(broker.admin)
    client.delete("/v1/rules")
    client.delete("/v1/journal")
    for producer in client.get("/v1/producers")["items"]:
        client.post("/v1/producers/forget", {"producer_id": producer["producer_id"]})
    return client
