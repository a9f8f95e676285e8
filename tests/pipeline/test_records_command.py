"""`fauxka records`: the records around offsets of segment files and of a broker."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Producer

from fauxka.pipeline.records_command import records
from fauxka.testing import Broker

from .logs_on_disk import batches, write_segment

MESSAGES = 20


def run(*arguments: str) -> Result:
    return CliRunner().invoke(records, arguments)


def rows_in(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def offsets_in(result: Result) -> list[object]:
    return [row["offset"] for row in rows_in(result)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A topic with the offsets 10 to 19 in two segments of a partition, and others in another one."""
    write_segment(tmp_path / "my-topic-3", batches(10, 3), index_every=1)
    write_segment(tmp_path / "my-topic-3", batches(16, 2, value=b"\xff\x00"), index_every=1)
    write_segment(tmp_path / "my-topic-0", batches(0, 50))
    return tmp_path


@pytest.mark.parametrize(
    ("offset", "around", "expected"),
    [
        (15, 2, [13, 14, 15, 16, 17]),
        (12, 0, [12]),
        (10, 1, [10, 11]),
        (3, 1, [10, 11]),
        (99, 2, [18, 19]),
        (2**63 - 1, 1, [19]),
        (12, 1000, list(range(10, 20))),
    ],
)
def test_the_offsets_around_a_place_are_shown(log: Path, offset: int, around: int, expected: list[int]) -> None:
    result = run("--path", str(log), "--at", f"my-topic-3:{offset}", "--around", str(around))

    assert offsets_in(result) == expected
    assert ("there is no record at" in result.stderr) == (offset not in expected)


def test_several_places_are_shown_in_order(log: Path) -> None:
    result = run("--path", str(log), "--around", "0", "--at", "my-topic-3:18", "--at", "my-topic-0:7")

    assert [(row["partition"], row["offset"]) for row in rows_in(result)] == [(3, 18), (0, 7)]


def test_a_record_around_two_places_is_shown_once(log: Path) -> None:
    result = run("--path", str(log), "--around", "1", "--at", "my-topic-3:13", "--at", "my-topic-3:12")

    assert offsets_in(result) == [12, 13, 14, 11]


def test_bytes_that_are_no_text_are_digits(log: Path) -> None:
    (row,) = rows_in(run("--path", str(log), "--at", "my-topic-3:17", "--around", "0"))

    assert (row["key"], row["value"], row["timestamp"]) == (None, "0xff00", 1000)
    assert "damage" not in row


def test_a_damaged_batch_is_shown(tmp_path: Path) -> None:
    first, second = batches(0, 2)
    write_segment(tmp_path / "t-0", [first, second[:-1] + bytes([second[-1] ^ 1])])

    shown = rows_in(run("--path", str(tmp_path), "--at", "t-0:2"))

    assert [(row["offset"], "damage" in row) for row in shown] == [(0, False), (1, False), (2, True)]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(config={"num.partitions": "2"}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})
        for number in range(MESSAGES):
            producer.produce("t", f"value {number}", "\x1b[2J", partition=1, headers=[("id", str(number).encode())])
        assert producer.flush(30) == 0
        yield broker


@pytest.mark.parametrize(("offset", "expected"), [(7, [6, 7, 8]), (MESSAGES + 5, [MESSAGES - 1])])
def test_records_of_a_broker_are_shown(broker: Broker, offset: int, expected: list[int]) -> None:
    result = run("--bootstrap", broker.bootstrap_servers, "--at", f"t-1:{offset}", "--around", "1")

    rows = rows_in(result)
    assert [(row["offset"], row["headers"]) for row in rows] == [(one, [["id", str(one)]]) for one in expected]
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("my-topic-9:1", "at: there is no partition my-topic-9"),
        ("other-0:1", "at: {path} has no topic other"),
        *((text, f"at: must be TOPIC-PARTITION:OFFSET, such as orders-0:5, not {text}") for text in ("t-0", "t:1", "")),
        ("t-0:-1", "at: must be TOPIC-PARTITION:OFFSET, such as orders-0:5, not t-0:-1"),
        ("t-0:9223372036854775808", "at: must be TOPIC-PARTITION:OFFSET, such as orders-0:5, not t-0:922"),
    ],
)
def test_another_place_is_one_line(log: Path, place: str, reason: str) -> None:
    result = run("--path", str(log), "--at", place)

    assert result.exit_code == 1
    assert reason.format(path=log) in result.output


def test_a_broker_without_the_topic_is_one_line(broker: Broker) -> None:
    result = run("--bootstrap", broker.bootstrap_servers, "--at", "none-0:1")

    assert result.exit_code == 1
    assert f"at: the broker {broker.bootstrap_servers} has no topic none" in result.output
