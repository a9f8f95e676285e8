"""Clients of the time of old releases, on brokers of these: most of them write and read message sets."""

import json
from collections.abc import Sequence

import pytest

from fauxka.testing import Broker

from .programs import c_program, go_program, python_program

pytestmark = [pytest.mark.ecosystem, pytest.mark.timeout(1800)]

# The releases of Kafka that have Produce 0 to 2 and Fetch 0 to 3: the first, and the last.
RELEASES = ("2.1", "3.9")
RECORDS = 20


def check_versions(broker: Broker, produce: int, fetch: int) -> None:
    """Check which versions of Produce and Fetch the client has used."""
    for api, version in (("Produce", produce), ("Fetch", fetch)):
        assert {request.api_version for request in broker.journal.entries(api=api)} == {version}


def written(codecs: Sequence[str]) -> list[str]:
    """Return the values that a program has written, in their order."""
    return [f"{codec}-{number}" for codec in codecs for number in range(RECORDS)]


def values(output: str) -> list[str]:
    """Return what a program has printed: a value behind each offset, and offsets without a gap."""
    lines = [line.split(" ") for line in output.splitlines()]
    assert [int(offset) for offset, _ in lines] == list(range(len(lines)))
    return [value for _, value in lines]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("speaks", "produce", "fetch"), [("0.9", 1, 1), ("0.10", 2, 2), ("1.0", 3, 4)])
def test_kafka_python_of_2019(release: str, speaks: str, produce: int, fetch: int) -> None:
    with Broker(as_version=release) as broker:
        broker.topics.create("orders", partitions=1)
        output = python_program("old_kafka_python").run(broker.bootstrap_servers, speaks)

        assert [value for _, _, value in json.loads(output)] == written(["none", "gzip"])
        check_versions(broker, produce, fetch)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("speaks", "produce", "fetch"), [("0.9.0.1", 1, 1), ("negotiated", 3, 4)])
def test_librdkafka_of_2018(release: str, speaks: str, produce: int, fetch: int) -> None:
    with Broker(as_version=release) as broker:
        broker.topics.create("orders", partitions=1)
        output = c_program("old_librdkafka").run(broker.bootstrap_servers, speaks)

        assert values(output) == written(["none", "gzip", "snappy"])
        check_versions(broker, produce, fetch)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("speaks", "produce", "fetch"), [("0.9.0.0", 0, 0), ("0.10.0.0", 2, 2), ("0.11.0.0", 3, 4)])
def test_sarama_of_2018(release: str, speaks: str, produce: int, fetch: int) -> None:
    with Broker(as_version=release) as broker:
        broker.topics.create("orders", partitions=1)
        output = go_program("old_sarama").run(broker.bootstrap_servers, speaks)

        assert values(output) == written(["none", "gzip", "snappy", *(["lz4"] if fetch else [])])
        check_versions(broker, produce, fetch)
