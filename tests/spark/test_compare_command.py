"""`fauxka compare` as a process: its outputs and exit codes, invalid input, and topics of two brokers."""

import json
import shlex
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from confluent_kafka import Producer

from fauxka.testing import Broker

from ..pipeline.logs_on_disk import GOLDEN
from ..serving_process import Ended, run
from .compared_sides import TOPIC, Sent, Source, clean, make_source, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

START_SECONDS_MAX = 60
COMPARE_SECONDS_MAX = 400
DELIVERED_SECONDS_MAX = 60
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
NAMES = ("topic", "partition", "offset", "id", "customer", "payload", "written_at", "row_number")


def compare(*arguments: str) -> Ended:
    return run("compare", *QUICK, *arguments, seconds_max=COMPARE_SECONDS_MAX)


def write_sink(folder: Path, arrived: list[Sent]) -> Path:
    folder.mkdir()
    columns = list(zip(*rows_of(arrived), strict=True))
    table = pa.table(dict(zip(NAMES, map(list, columns), strict=True)))
    with parquet.ParquetWriter(str(folder / "part-0.parquet"), table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    return folder


def write_source(folder: Path) -> Source:
    source = make_source(Random(1))
    source.write(folder)
    return source


@pytest.mark.slice
def test_a_sink_with_a_lost_and_a_doubled_row(tmp_path: Path) -> None:
    source = write_source(tmp_path / "log")
    arrived = clean(source).arrived
    lost, doubled = arrived[5], arrived[9]
    sink = write_sink(tmp_path / "sink", [one for one in [*arrived, doubled] if one != lost])
    files = {name: tmp_path / f"verdict.{name}" for name in ("json", "xml", "html")}

    ended = compare(
        *(str(tmp_path / "log"), str(sink), "--json", str(files["json"]), "--junit", str(files["xml"])),
        *("--html", str(files["html"]), "--parquet", str(tmp_path / "found")),
    )

    assert ended.exit_code == 1, ended.log
    lines = ended.output.splitlines()
    count = len(arrived)
    assert lines[0] == f"Comparison of {tmp_path / 'log'} with {sink}: by offsets"
    assert lines[1] == (
        f"  orders: {count:,} records on the left side, {count:,} on the right side, {count - 1:,} arrived"
    )
    place = f"  orders-{lost.partition} offset {lost.offset} key {lost.key}: "
    assert f"{place}not on the right side; the last of its partition that arrived is at offset " in ended.output
    assert lines[-1] == "Verdict: 2 findings: 1 duplicated (written twice), 1 lost"
    verdict = json.loads(files["json"].read_text())
    assert [(group["kind"], group["cause"], group["findings"]) for group in verdict["groups"]] == [
        ("duplicated", "written_twice", 1),
        ("lost", None, 1),
    ]
    shown = run(*shlex.split(verdict["groups"][1]["command"])[1:])
    assert lost.offset in [json.loads(line)["offset"] for line in shown.output.splitlines()]
    assert "commit offsets only after" in verdict["groups"][1]["advice"]
    suite = ElementTree.fromstring(files["xml"].read_text())
    assert [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None] == [
        "lost",
        "duplicated",
    ]
    assert f"Comparison of {tmp_path / 'log'} with" in files["html"].read_text()
    assert list((tmp_path / "found").glob("*.parquet")) != []

    again = compare(str(tmp_path / "log"), str(sink), "--baseline", str(files["json"]))

    assert again.exit_code == 0, again.log + again.output
    assert again.output.splitlines()[-1] == "Verdict: 2 findings, 2 known, 0 new; 0 of the baseline are gone"


def test_the_topics_of_two_brokers(tmp_path: Path) -> None:
    with Broker() as primary, Broker() as backup:
        ends = {primary: "orders", backup: "primary.orders"}
        for broker, topic in ends.items():
            broker.topics.create(topic, partitions=2)
        for number in range(20):
            send(primary, "orders", number)
            if number != 7:
                send(backup, "primary.orders", number)
        flush()

        ended = compare(
            *(f"topic://{primary.bootstrap_servers}", f"topic://{backup.bootstrap_servers}"),
            *("--by", "position", "--topic-map", "*=primary.*", "--json", "-"),
        )

    assert ended.exit_code == 1, ended.log
    (group,) = json.loads(ended.output)["groups"]
    assert (group["kind"], group["findings"]) == ("lost", 1)
    assert [(one["topic"], one["event_id"]) for one in group["examples"]] == [("orders", "customer-1")]


PRODUCERS: dict[str, Producer] = {}


def send(broker: Broker, topic: str, number: int) -> None:
    address = broker.bootstrap_servers
    producer = PRODUCERS.setdefault(address, Producer({"bootstrap.servers": address, "linger.ms": 5}))
    producer.produce(topic, key=f"customer-{number % 3}", value=f"order {number}")


def flush() -> None:
    for producer in PRODUCERS.values():
        assert producer.flush(DELIVERED_SECONDS_MAX) == 0
    PRODUCERS.clear()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("{log}",), "Missing argument 'RIGHT'."),
        (("/nowhere", "{log}"), "left: there is no /nowhere"),
        (("topic://127.0.0.1:1/t", "{log}"), "left: broker 127.0.0.1:1: no connection: Connection refused"),
        (("{log}", "{log}", "--left-topics", "other"), "left: topics: {log} has no topic other"),
        (("{log}", "{log}", "--left-event-id", "key"), "right-event-id: is missing; --event-id sets it for both sides"),
        (
            ("{log}", "{log}", "--event-id", "column:id"),
            "left-event-id: column:NAME is for a table, and {log} is a log",
        ),
        (("{log}", "{log}", "--by", "position", "--event-id", "key"), "left-event-id: is for records that are matched"),
        (
            ("{log}", "{log}", "--event-id", "avro:id"),
            "left-event-id: avro:id needs --value-schema or --schema-registry",
        ),
        (
            ("{log}", "{log}", "--late-after", "soon"),
            "late-after: must be a duration such as 5m, in ms, s, m, h or d, not soon",
        ),
        (("{log}", "{sink}", "--by", "position"), "right-key: is missing; rows are matched by the position of a value"),
        (("{log}", "{sink}", "--late-after", "1h"), "late-after: needs --right-time, the time of a row of {sink}"),
        (
            ("{log}", "{sink}", "--left-event-id", "key", "--right-event-id", "column:id", "--since", "1h"),
            "since: needs --right-time, the time of a row of {sink}",
        ),
        (("{log}", "{log}", "--since", "soon"), "since: must be a time such as 2026-01-31T12:00:00Z"),
        (("{log}", "{log}", "--since", "1h", "--until", "2h"), "until: 2h is not later than since: 1h"),
        (("{log}", "{log}", "--right-value", " "), "right-value: must not be empty"),
        (("{log}", "{log}", "--value-schema", "x.avsc"), "value-schema: the event id of neither side needs it"),
        (("{log}", "{log}", "--topic-map", "x"), "topic-map: must be LEFT=RIGHT, each with one * or none"),
        (("{log}", "{log}", "--right-option", "x"), "right-option: must be KEY=VALUE, not x"),
        (("{log}", "{log}", "--fail-on", "loss"), "fail-on: must be none, or some of"),
        (("{log}", "{sink}", "--offset-columns", "o"), "offset-columns: must be the columns TOPIC,PARTITION,OFFSET"),
        (
            ("{log}", "{sink}", "--offset-columns", "p,o"),
            "right-offset-columns: must be TOPIC,PARTITION,OFFSET, because the other side has 2 topics",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    (tmp_path / "sink").mkdir()
    places = {"log": str(GOLDEN), "sink": str(tmp_path / "sink")}

    ended = run("compare", *(one.format(**places) for one in arguments), seconds_max=START_SECONDS_MAX)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.startswith(f"fauxka: {reason.format(**places)}")
    assert len(ended.log.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("--offset-columns", "topic,p,offset"),
            "offset-columns: {sink} has no column p; it has customer, id, offset,",
        ),
        (("--right-value", "no_such"), "right-value: no_such: A column, variable, or function parameter"),
        (("--event-id", "header:id", "--right-event-id", "column:no"), "right-event-id: column:no: "),
        (("--optional", "((", "--left-topics", TOPIC), "optional: (( is not a SQL expression"),
    ],
)
def test_what_a_table_does_not_have_is_one_line(arguments: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    source = write_source(tmp_path / "log")
    sink = write_sink(tmp_path / "sink", clean(source).arrived[:3])

    ended = compare(str(tmp_path / "log"), str(sink), *arguments)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.splitlines()[-1].startswith(f"fauxka: {reason.format(sink=sink)}")
    assert "Traceback" not in ended.log
    assert "Exception" not in ended.log
