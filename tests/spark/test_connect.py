"""The commands and functions on a server of Spark Connect: the same results as in a classic session."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from confluent_kafka import Producer

from fauxka.pipeline.cluster.spark_jars import fetch_jars
from fauxka.testing import Broker

from ..clients.confluent_client import ConfluentClient
from ..clients.topics import create_topic
from ..pipeline.logs_on_disk import read
from ..serving_process import Ended, run
from .connect_server import ConnectServer
from .copied_log import EVENTS, write_copied_log
from .standalone_cluster import python_without_fauxka

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

RUN_SECONDS_MAX = 400
CLASSIC = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose Python has no fauxka, and which has no jars but Spark's."""
    folder = tmp_path_factory.mktemp("server")
    with ConnectServer(python_without_fauxka(folder / "python")).running(folder) as address:
        yield address


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_copied_log(tmp_path_factory.mktemp("log"))


def command(name: str, *arguments: str) -> Ended:
    return run(name, *arguments, seconds_max=RUN_SECONDS_MAX)


def test_an_audit_has_the_same_verdict(server: str, log: Path) -> None:
    arguments = ("--path", str(log), "--event-id", "key", "--as-of", "2026-01-01T00:00:00Z", "--json", "-")

    there = command("audit", "--master", server, *arguments)
    here = command("audit", *CLASSIC, *arguments)

    assert there.exit_code == here.exit_code == 1, there.log
    assert json.loads(there.output) == json.loads(here.output)
    assert [(one["kind"], one["records"]) for one in json.loads(there.output)["groups"]] == [("duplicate", EVENTS)]


def test_a_batch_deduplication_writes_the_same_rows(server: str, log: Path, tmp_path: Path) -> None:
    arguments = ("--from", "orders", "--path", str(log), "--event-id", "key", "--batch")

    there = command("dedup", "--master", server, *arguments, "--to", str(tmp_path / "there"))
    here = command("dedup", *CLASSIC, *arguments, "--to", str(tmp_path / "here"))

    assert there.exit_code == 0, there.log
    assert there.output == here.output.replace(str(tmp_path / "here"), str(tmp_path / "there"))
    assert kept_in(tmp_path / "there") == kept_in(tmp_path / "here")
    assert len(kept_in(tmp_path / "there")) == EVENTS


def test_a_comparison_has_the_same_verdict(server: str, log: Path, tmp_path: Path) -> None:
    rows = read(path=log)[1:]
    columns = {name: [row[name] for row in rows] for name in ("topic", "partition", "offset")}
    sink = write_parquet(tmp_path / "sink.parquet", columns)
    arguments = (str(log), str(sink), "--caught-up", "--json", "-")

    there = command("compare", "--master", server, *arguments)
    here = command("compare", *CLASSIC, *arguments)

    assert there.exit_code == here.exit_code == 1, there.log
    assert json.loads(there.output) == json.loads(here.output)
    assert [(one["kind"], one["findings"]) for one in json.loads(there.output)["groups"]] == [("lost", 1)]


# A user's program, whose session it is.
PROGRAM = """
import sys

from pyspark.sql import SparkSession
from fauxka import pipeline
from fauxka.pipeline.checks.audit_job import AuditRequest, audit, check_request
from fauxka.pipeline.dedup.dedup_job import DedupJob, run_batch

address, log, out = sys.argv[1:]
spark = SparkSession.builder.remote(address).getOrCreate()
assert pipeline.session() is spark
print(spark.read.format("fauxka-log").load(log).count())
print(audit(spark, check_request(AuditRequest({"path": log}, "key")).request).count())
print(run_batch(spark, DedupJob({"path": log, "topics": "orders"}, "key", out, None, "1 hour", None)).kept)
print(spark.range(1).count())
spark.stop()
"""


def test_an_existing_session_is_used(server: str, log: Path, tmp_path: Path) -> None:
    program = (sys.executable, "-c", PROGRAM)

    ended = run(server, str(log), str(tmp_path / "out"), command=program, seconds_max=RUN_SECONDS_MAX)

    assert ended.exit_code == 0, ended.log
    assert ended.output.split() == [str(2 * EVENTS), str(EVENTS), str(EVENTS), "1"]


# Prints the number of inputs that the tasks have read, the number of tasks, and the bytes that each task gets as its
# function.
INPUTS_PROGRAM = """
import sys

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from fauxka import pipeline
from fauxka.pipeline.sessions.session_kind import kind_of

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
pipeline.session()

def read(content):
    yield pa.RecordBatch.from_pydict({"task": [TaskContext.get().partitionId()], "number": [content[0]]})

inputs = [bytes([number]) * 50_000 for number in range(20)]
rows = kind_of(spark).rows_of_tasks(inputs, read, "task long, number long")
found = rows.collect()
print(len({row.number for row in found}), len({row.task for row in found}))
print(len(rows._plan.to_proto(spark.client).root.hint.input.map_partitions.func.python_udf.command))
spark.stop()
"""
FUNCTION_BYTES_MAX = 20_000


def test_a_task_gets_one_input_and_not_those_of_the_others(own_server: str) -> None:
    program = (sys.executable, "-c", INPUTS_PROGRAM)

    ended = run(own_server, command=program, seconds_max=RUN_SECONDS_MAX)

    assert ended.exit_code == 0, ended.log
    inputs, tasks, function_bytes = map(int, ended.output.split())
    assert (inputs, tasks) == (20, 20)
    assert 0 < function_bytes < FUNCTION_BYTES_MAX


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--master", "sc://127.0.0.1:1"), "master: no Connect server at 127.0.0.1:1: Connection refused"),
        (("--master", "sc://"), "master: must be sc://HOST:PORT for Spark Connect"),
        (("--master", "sc://127.0.0.1:x"), "master: must be sc://HOST:PORT for Spark Connect"),
    ],
)
def test_a_server_that_is_not_there_is_one_line(log: Path, arguments: tuple[str, ...], reason: str) -> None:
    ended = command("audit", *arguments, "--path", str(log))

    assert (ended.exit_code, ended.output, ended.log) == (2, "", f"fauxka: {reason}\n")


def test_the_variable_of_spark_names_the_server(log: Path) -> None:
    ended = run("audit", "--path", str(log), variables={"SPARK_REMOTE": "sc://127.0.0.1:1"})

    assert (ended.exit_code, ended.log) == (2, "fauxka: master: no Connect server at 127.0.0.1:1: Connection refused\n")


def test_another_master_precedes_the_variable_of_spark(log: Path) -> None:
    remote = {"SPARK_REMOTE": "sc://127.0.0.1:1"}

    ended = run(
        "audit", *CLASSIC, "--path", str(log), "--event-id", "key", variables=remote, seconds_max=RUN_SECONDS_MAX
    )

    assert ended.exit_code == 1, ended.log
    assert "duplicate" in ended.output


def test_a_key_of_the_server_is_one_line(server: str, log: Path) -> None:
    ended = command("audit", "--master", server, "-c", "spark.driver.memory=4g", "--path", str(log))

    reason = "conf: spark.driver.memory cannot be set by a session; start the Connect server with it"
    assert (ended.exit_code, ended.output, ended.log) == (2, "", f"fauxka: {reason}\n")


def test_a_server_without_the_kafka_format_is_one_line(server: str, log: Path) -> None:
    with Broker() as broker:
        place = ("--from", "orders", "--path", str(log), "--to", "once", "--to-bootstrap", broker.bootstrap_servers)
        broker.topics.create("once")

        ended = command("dedup", "--master", server, *place, "--event-id", "key", "--batch")

    assert ended.exit_code == 2
    assert ended.log.startswith("fauxka: the Connect server has no format kafka: start it with the jars of")
    assert len(ended.log.splitlines()) == 1


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose Python has the packages of the tests, and which has the jars of the format kafka."""
    packages = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with ConnectServer(Path(sys.executable), fetch_jars(), packages).running(tmp_path_factory.mktemp("own")) as address:
        yield address


def test_a_stream_to_a_folder_keeps_one_copy_over_its_runs(own_server: str, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    place = ("--from", "orders", "--path", str(log), "--event-id", "key", "--to", str(out))
    arguments = ("--master", own_server, *place, "--available-now", "--no-why")

    first, second = (command("dedup", *arguments) for _ in range(2))

    assert first.exit_code == second.exit_code == 0, first.log + second.log
    assert f"read {2 * EVENTS} records of orders\nkept {EVENTS}, in {out}" in first.output
    assert "read 0 records of orders\nkept 0" in second.output
    assert len(kept_in(out)) == EVENTS


@pytest.mark.parametrize("mode", [("--available-now", "--checkpoint", "place"), ("--batch",)], ids=["stream", "batch"])
def test_a_topic_gets_one_copy_by_a_stream_and_by_a_batch(
    own_server: str, tmp_path: Path, mode: tuple[str, ...]
) -> None:
    with Broker() as broker:
        address = broker.bootstrap_servers
        producer = Producer({"bootstrap.servers": address})
        for number in [*range(EVENTS)] * 2:
            producer.produce("orders", key=f"event {number}", value=b"v")
        assert producer.flush(RUN_SECONDS_MAX) == 0
        once = create_topic(ConfluentClient(address), address, "once", 1)
        place = ("--from", "orders", "--bootstrap", address, "--to", once, "--event-id", "key")
        words = (str(tmp_path / word) if word == "place" else word for word in mode)

        ended = command("dedup", "--master", own_server, *place, *words)

        assert ended.exit_code == 0, ended.log
        assert f"kept {EVENTS}, in {once}" in ended.output
        assert len({row["key"] for row in read(bootstrap=address, topics=once)}) == EVENTS


def kept_in(folder: Path) -> list[str]:
    """The event ids in a folder of parquet, read without Spark."""
    table = parquet.read_table(folder)  # pyright: ignore[reportUnknownMemberType]
    return sorted(str(row["event_id"]) for row in table.to_pylist())


def write_parquet(file: Path, columns: dict[str, list[object]]) -> Path:
    table = pa.table(columns)
    with parquet.ParquetWriter(str(file), table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    return file
