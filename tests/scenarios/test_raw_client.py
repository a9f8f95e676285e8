"""Every scenario with the raw client, also with the producer rules of older Kafkas."""

from contextlib import closing

import pytest

from fauxka.scenarios.brokers.scenario_broker import create_topic
from fauxka.scenarios.clients.client import ClientOptions
from fauxka.scenarios.clients.raw_client import RawClient
from fauxka.scenarios.report.timeline import Moment
from fauxka.scenarios.scenario_files import scenario_names
from fauxka.scenarios.steps import Batch
from fauxka.testing import Broker

from .runs import describe_failure, run_scenario

ROWS = {
    "success", "one-lost-ack", "lost-ack", "hang", "lost-request", "overtaken", "cache-missed", "producer-restart",
    "other-partition", "gap", "whole-batch", "epoch-bump", "idle-expiry", "unknown-producer", "crash",
    "not-idempotent", "sequence-wrap", "zombie", "aborted-transaction", "failover", "coordinator-failover",
    "unclean-failover", "isolated-leader", "min-isr", "rolling-restart", "revoked-acl", "token-expiry", "throttled",
    "processed-twice", "skipped", "commit-moved-back", "hanging-transaction",
}  # fmt: skip
# The raw client has no TLS.
WITH_TLS = {"expired-certificate"}
OLDER_AND_NEWER = ["0.11", "1.0", "1.1", "2.4", "2.5", "4.4", "4.5"]
# The scenarios whose result depends on the Kafka version.
BY_VERSION = ["idle-expiry", "unknown-producer", "whole-batch", "epoch-bump", "gap"]


def test_all_scenarios_are_found() -> None:
    assert set(scenario_names()) == ROWS | WITH_TLS


@pytest.mark.parametrize("name", sorted(ROWS))
def test_expectations_hold(name: str) -> None:
    report = run_scenario(name, "raw")

    assert report.passed, describe_failure(report)
    assert report.checks


@pytest.mark.parametrize("version", OLDER_AND_NEWER)
@pytest.mark.parametrize("name", BY_VERSION)
def test_the_expectations_of_another_version_are_met(name: str, version: str) -> None:
    report = run_scenario(name, "raw", version)

    assert report.passed, describe_failure(report)
    assert report.as_version == version


def test_kafka_1_0_recognises_a_batch_older_than_the_cached_ones() -> None:
    report = run_scenario("cache-missed", "raw", "1.0")

    assert report.passed, describe_failure(report)
    assert report.verdict["records"]["duplicates"] == 0


def test_the_retry_of_a_lost_ack_gets_the_original_offset() -> None:
    report = run_scenario("lost-ack", "raw")

    decided = [(moment.decision, moment.base_offset) for moment in report.timeline if moment.batch and moment.decision]
    assert decided[-4:] == [("appended", 133), ("appended", 143), ("duplicate", 133), ("duplicate", 143)]


def test_a_response_after_the_request_timeout_is_not_lost() -> None:
    notes: list[str] = []
    with Broker() as broker:
        create_topic(broker.bootstrap_servers, "events", 1, {})
        broker.faults.slow_answers(200, api="Produce")
        address, request_ms = broker.bootstrap_servers, 1
        options = ClientOptions(
            address, "events", True, request_ms, 10_000, lambda _, text: notes.append(text), confirms_loss=True
        )
        with closing(RawClient(options)) as client:
            client.send(Batch("A", 0, 4), 0)
            client.settle(retries=True)

        assert notes == []
        assert len(broker.journal.entries(api="Produce")) == 1


def test_the_same_scenario_gives_the_same_timeline_twice() -> None:
    first, second = run_scenario("overtaken", "raw"), run_scenario("overtaken", "raw")

    assert without_times(first.timeline) == without_times(second.timeline)


def without_times(timeline: list[Moment]) -> list[tuple[object, ...]]:
    fields = ("kind", "who", "text", "lost", "why_lost", "batch", "decision", "error", "base_offset", "cached")
    return [tuple(getattr(moment, field) for field in fields) for moment in timeline]
