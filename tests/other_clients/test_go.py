"""The client for Go, clients/go: its own tests, with franz-go against brokers in processes of their own."""

import re
from pathlib import Path

import pytest

from ..projects import run_in_project
from ..serving_process import environment, serving

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "go"
# The first run of a machine downloads and compiles the packages.
SECONDS_MAX = 280
# Replicas for a failover, and no wait of 3 s for the members of a group.
ONE_NODE = ("--admin-port", "0", "-c", "group.initial.rebalance.delay.ms=0")
THREE_NODES = (*ONE_NODE, "--nodes", "3", "-c", "default.replication.factor=3")


@pytest.mark.go
def test_client_does_what_its_tests_say(tmp_path: Path) -> None:
    one, three = tmp_path / "one", tmp_path / "three"
    one.mkdir()
    three.mkdir()
    with serving(one, *ONE_NODE) as broker, serving(three, *THREE_NODES) as cluster:
        variables = {
            "FAUXKA_ADMIN": str(broker.admin),
            "FAUXKA_BOOTSTRAP": broker.bootstrap,
            "FAUXKA_CLUSTER_ADMIN": str(cluster.admin),
            "FAUXKA_CLUSTER_BOOTSTRAP": cluster.bootstrap,
        }
        command = ("go", "test", "-count=1", "-v", "-skip", "InAContainer", "./...")

        output = run_in_project(CLIENT, environment(variables), *command, seconds_max=SECONDS_MAX)

    passed = re.findall(r"^--- (\w+): Test", output, re.MULTILINE)
    assert set(passed) == {"PASS"}
