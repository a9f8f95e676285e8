"""What real Kafka answered to the group APIs, and what it kept of groups, asked of fauxka again, and after a crash.

Every field of every answer is the same, and so are the records of every group.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from fauxka.testing import Broker

from ...each_case import each_case
from ...golden.capture_groups import GOLDEN, GOLDEN_LOG, GROUP_CONFIG, SEGMENT, capture, capture_again
from ...golden.offsets_log import lines_by_group
from ...wire.message_client import MessageClient

Line = dict[str, object]
MANY_BYTES = 10_000_000
# The last version with topic names.
FETCH_VERSION = 12

GOLDEN_LINES: list[Line] = [json.loads(line) for line in GOLDEN.read_text().splitlines()]

READY_AT_ONCE = (
    "Kafka creates a coordinator's topic when it is first asked for it, and answers COORDINATOR_NOT_AVAILABLE until "
    "it is there; ours is there at once, and no client has to retry"
)
DIFFERENCES = {
    "first coordinator: of groups": READY_AT_ONCE,
    "first coordinator: of transactions": READY_AT_ONCE,
}


KEPT_BY_KAFKA = lines_by_group(GOLDEN_LOG.read_bytes())
# Its timers ran during the last requests, so that their effects may be visible or not.
STILL_RUNNING = {"lost-leader"}


@dataclass(frozen=True)
class Asked:
    """The lines of the same program, run against fauxka, and the records of __consumer_offsets before its crash."""

    lines: list[Line]
    kept: dict[str, list[str]]


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    """Run the program once for all tests."""
    output = io.StringIO()
    with Broker(GROUP_CONFIG) as broker:
        captured = capture(broker.bootstrap_servers, output)
        kept = lines_by_group(_consumed(broker.bootstrap_servers))
        broker.crash()
        broker.restart()
        capture_again(broker.bootstrap_servers, output, captured)
    yield Asked([json.loads(line) for line in output.getvalue().splitlines()], kept)


@pytest.fixture
def lines(asked: Asked) -> list[Line]:
    """The lines."""
    return asked.lines


def _consumed(bootstrap: str) -> bytes:
    """Return the records of __consumer_offsets-0, as a consumer fetches them."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=MANY_BYTES)
    request = FetchRequest(
        replica_id=-1,
        max_bytes=MANY_BYTES,
        min_bytes=1,
        max_wait_ms=0,
        topics=[FetchTopic(topic="__consumer_offsets", partitions=[partition])],
    )
    connection = MessageClient(bootstrap)
    response = connection.call(request, FETCH_VERSION)
    connection.close()
    assert isinstance(response, FetchResponse)
    return bytes(response.responses[0].partitions[0].records or b"")


def test_the_program_sends_the_same_requests(lines: list[Line]) -> None:
    asked = [{**line, "answer": None} for line in lines]

    assert asked == [{**line, "answer": None} for line in GOLDEN_LINES]


@each_case(
    range(len(GOLDEN_LINES)), lambda number: f"{GOLDEN_LINES[number]['case']} v{GOLDEN_LINES[number]['version']}"
)
def test_the_response_is_kafkas(number: int, lines: list[Line]) -> None:
    expected = GOLDEN_LINES[number]
    is_different = str(expected["case"]) in DIFFERENCES

    assert (lines[number]["answer"] == expected["answer"]) is not is_different, lines[number]["answer"]


def test_the_same_groups_are_stored(asked: Asked) -> None:
    assert asked.kept.keys() == KEPT_BY_KAFKA.keys()


@each_case(KEPT_BY_KAFKA)
def test_the_records_of_a_group_are_kafkas(group_id: str, asked: Asked) -> None:
    ours, theirs = asked.kept[group_id], KEPT_BY_KAFKA[group_id]
    count = min(len(ours), len(theirs)) if group_id in STILL_RUNNING else None

    assert ours[:count] == theirs[:count]


def test_every_listed_difference_is_a_case() -> None:
    assert {str(line["case"]) for line in GOLDEN_LINES} >= DIFFERENCES.keys()


def test_groups_of_a_real_kafka_are_served_from_its_logs(tmp_path: Path) -> None:
    folder = tmp_path / SEGMENT.parent
    folder.mkdir()
    shutil.copy(GOLDEN_LOG, tmp_path / SEGMENT)

    with Broker(GROUP_CONFIG, import_logs=tmp_path) as broker:
        groups = broker.call(lambda: broker.cluster.node.coordinators.groups.list_groups((), ()))
        committed = broker.call(
            lambda: broker.cluster.node.coordinators.groups.offsets.find("kept-stable", "group-topic", 1)
        )

    states = {group.group_id: group.group_state for group in groups}
    assert (states["kept-stable"], states["kept-left"], "kept-deleted" in states) == ("Stable", "Empty", False)
    assert committed is not None
    assert (committed.offset, committed.leader_epoch) == (21, 4)
