"""Every scenario with real clients."""

import gc

import pytest

from fauxka.scenarios.scenario_files import load_scenario, scenario_names

from .runs import describe_failure, run_scenario

pytestmark = pytest.mark.clients

# Scenarios that take seconds and have the same result with each real client; they run with one.
ONCE = {"hang", "crash", "other-partition"}


def rows_of(client: str) -> list[str]:
    return [name for name in scenario_names() if client not in load_scenario(name).unable]


@pytest.mark.parametrize("name", rows_of("confluent"))
def test_confluent_kafka_shows_the_expected_behaviour(name: str) -> None:
    report = run_scenario(name, "confluent")

    assert report.client == "confluent"
    assert report.passed, describe_failure(report)


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(set(rows_of("aiokafka")) - ONCE))
def test_aiokafka_shows_the_expected_behaviour(name: str) -> None:
    report = run_scenario(name, "aiokafka")

    assert report.client == "aiokafka"
    assert report.passed, describe_failure(report)


@pytest.mark.deep
# It does not close the socket of a connection that is refused, or whose certificate it refuses.
@pytest.mark.filterwarnings(
    # "in" up to Python 3.13, "while finalizing socket" since.
    "ignore:Exception ignored .*<(socket.socket|ssl.SSL):pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("name", sorted(set(rows_of("kafka-python")) - ONCE))
def test_kafka_python_shows_the_expected_behaviour(name: str) -> None:
    report = run_scenario(name, "kafka-python")
    # Finds such sockets here, not in a later test.
    gc.collect()

    assert report.client == "kafka-python"
    assert report.passed, describe_failure(report)


@pytest.mark.parametrize("version", ["0.11", "2.4", "4.5"])
def test_confluent_kafka_meets_the_expectations_of_another_version(version: str) -> None:
    report = run_scenario("idle-expiry", "confluent", version)

    assert report.passed, describe_failure(report)
