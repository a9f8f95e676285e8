"""The brokers for the clients of the admin API in other languages, each with the tests of its own project."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..serving_process import environment, serving

OPTIONS = ("--admin-port", "0", "-c", "group.initial.rebalance.delay.ms=0")
CLUSTER_OPTIONS = ("--nodes", "3", "-c", "default.replication.factor=3")


@pytest.fixture
def variables(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What leads a project's tests to one broker, and to one of three nodes."""
    folders = [tmp_path / "one", tmp_path / "three"]
    for folder in folders:
        folder.mkdir()
    with serving(folders[0], *OPTIONS) as one, serving(folders[1], *OPTIONS, *CLUSTER_OPTIONS) as three:
        assert one.admin is not None and three.admin is not None, "an admin API was asked for"
        yield environment(
            {
                "FAUXKA_ADMIN": one.admin,
                "FAUXKA_BOOTSTRAP": one.bootstrap,
                "FAUXKA_CLUSTER_ADMIN": three.admin,
                "FAUXKA_CLUSTER_BOOTSTRAP": three.bootstrap,
            }
        )
