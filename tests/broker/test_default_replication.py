"""default.replication.factor above the number of nodes: no topic is created, and the log names the key."""

import pytest

from fauxka.testing import Broker

from ..golden.capture_metadata import asking
from ..serving_process import run
from ..wire.message_client import MessageClient

KEY = "default.replication.factor"


def test_topic_is_not_created_on_demand_and_the_log_names_the_key(caplog: pytest.LogCaptureFixture) -> None:
    with Broker({KEY: 3}) as broker:
        connection = MessageClient(broker.bootstrap_servers)
        connection.call(asking("orders", auto=True), 12)
        connection.close()

        assert "orders" not in [topic.name for topic in broker.topics.list()]
    assert "topic orders is not created: INVALID_REPLICATION_FACTOR" in caplog.text
    assert caplog.text.strip().endswith(f"{KEY} is 3")


def test_seed_topic_is_refused_in_one_line() -> None:
    ended = run("serve", "--port", "0", "-c", f"{KEY}=3", "--seed-topic", "orders")

    assert ended.exit_code == 2
    assert "--seed-topic: INVALID_REPLICATION_FACTOR: Unable to replicate" in ended.log
    assert f"{KEY} is 3" in ended.log
