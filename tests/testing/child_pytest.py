"""Test helper: pytest runs with the plugin in a folder of their own."""

import pytest

# A process of its own, because tests check what the plugin imports. Other plugins take seconds to load.
PLUGINS = ("-p", "fauxka.pytest_plugin", "-p", "pytest_asyncio.plugin", "-p", "xdist", "-p", "no:cacheprovider")
RUN_SECONDS_MAX = 120

SEND = """
import pytest
from confluent_kafka import Producer

def send(bootstrap, topic="orders", partition=0):
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "retry.backoff.ms": 10})
    producer.produce(topic, value="one coffee", partition=partition)
    assert producer.flush(30) == 0
"""


def prepare(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return the folder for tests, without the options of this run."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\naddopts = --strict-markers\nasyncio_default_fixture_loop_scope = function\n")
    return pytester


def run_tests(run: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run the tests in the folder."""
    return run.runpytest_subprocess(*PLUGINS, *arguments, timeout=RUN_SECONDS_MAX)
