"""kafka-transactions.sh and kafka-features.sh of Kafka 4.3 ask fauxka what they ask a Kafka."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ..broker.transactional_client import TransactionalClient
from .kafka_process import SCRIPT

pytestmark = pytest.mark.reference

TOOL_SECONDS_MAX = 120


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


def printed(broker: Broker, tool: str, *arguments: str) -> list[list[str]]:
    """What a command-line class of Kafka prints, as rows of words."""
    command = [str(SCRIPT), "tool", f"org.apache.kafka.tools.{tool}", "--bootstrap-server", broker.bootstrap_servers]
    ended = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=TOOL_SECONDS_MAX, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return [line.split() for line in ended.stdout.splitlines()]


def test_a_transaction_is_listed_described_and_terminated(broker: Broker) -> None:
    with TransactionalClient(broker.bootstrap_servers) as client:
        client.create_topic("events")
        client.begin()

        listed = printed(broker, "TransactionsCommand", "list", "--transactional-id-pattern", "t.")
        described = printed(broker, "TransactionsCommand", "describe", "--transactional-id", "tx")
        printed(broker, "TransactionsCommand", "forceTerminateTransaction", "--transactionalId", "tx")

        assert listed[1:] == [["tx", "1", "0", "Ongoing"]]
        assert (described[1][:6], described[1][-1]) == (["1", "tx", "0", "0", "Ongoing", "60000"], "events-0")
        # It begins as the producer: the transaction is aborted first, and the epoch raised once more then.
        state = client.state()
        assert (state.transaction_state, state.producer_epoch) == ("Empty", 2)


def test_a_marker_is_written_for_an_administrator(broker: Broker) -> None:
    with TransactionalClient(broker.bootstrap_servers) as client:
        client.create_topic("hanging")
        producer = ["--producer-id", "77", "--producer-epoch", "3", "--coordinator-epoch", "0"]

        printed(broker, "TransactionsCommand", "abort", "--topic", "hanging", "--partition", "0", *producer)

        assert client.fetch("hanging").high_watermark == 1


def test_the_level_of_transactions_is_described(broker: Broker) -> None:
    features = printed(broker, "FeatureCommand", "describe")

    (levels,) = (row for row in features if row[1] == "transaction.version")
    # The epoch is the number of metadata changes so far, as in Kafka.
    described, _, epoch = " ".join(levels).rpartition(" Epoch: ")
    assert described == (
        "Feature: transaction.version SupportedMinVersion: 0 SupportedMaxVersion: 2 FinalizedVersionLevel: 2"
    )
    assert epoch == str(broker.cluster.image.offset)
