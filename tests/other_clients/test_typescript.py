"""The client of the admin API in TypeScript, with the tests of its own project against two brokers."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..projects import run_in_project
from ..serving_process import Serving, environment, serving

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
# The first run of a machine downloads the packages.
SECONDS_MAX = 280
NO_DELAY = ("--set", "group.initial.rebalance.delay.ms=0")
THREE_NODES = ("--nodes", "3", "--set", "default.replication.factor=3")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A copy of the client's folder, in which npm may leave what it makes."""
    folder = shutil.copytree(CLIENT, tmp_path / "client", ignore=shutil.ignore_patterns("node_modules", "dist"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Serving]:
    (tmp_path / "broker").mkdir()
    with serving(tmp_path / "broker", "--admin-port", "0", *NO_DELAY) as broker:
        yield broker


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Serving]:
    (tmp_path / "cluster").mkdir()
    with serving(tmp_path / "cluster", "--admin-port", "0", *THREE_NODES) as cluster:
        yield cluster


@pytest.mark.node
def test_tests_of_the_client_in_typescript(broker: Serving, cluster: Serving, project: Path) -> None:
    variables = {
        **environment(),
        "FAUXKA_ADMIN": str(broker.admin),
        "FAUXKA_BOOTSTRAP": broker.bootstrap,
        "FAUXKA_CLUSTER_ADMIN": str(cluster.admin),
        "FAUXKA_CLUSTER_BOOTSTRAP": cluster.bootstrap,
    }
    installing = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run_in_project(project, variables, *installing, seconds_max=SECONDS_MAX)

    output = run_in_project(project, variables, "npm", "test", seconds_max=SECONDS_MAX)

    assert "# fail 0\n" in output
    assert re.search(r"^# pass [1-9]", output, re.MULTILINE)
