"""The pipeline on the other supported versions of pyspark, each in its own environment."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from confluent_kafka import Producer

from fauxka.pipeline.cluster.spark_jar_lock import LOCKS
from fauxka.protocol.batches import records
from fauxka.protocol.batches.records import BatchOptions, Record
from fauxka.testing import Broker

from ..pipeline.logs_on_disk import read, write_segment
from ..spark.connect_server import ConnectServer
from .environments import Environment, SparkVersion, environment_of

pytestmark = [pytest.mark.spark_versions, pytest.mark.timeout(1800)]

# A session takes 15 seconds, or thirty times that on a busy machine.
RUN_SECONDS_MAX = 600
# The other tests use 4.2.0. 3.5 does not support a newer Python.
VERSIONS = [SparkVersion("3.5.9", "3.11"), *map(SparkVersion, ("4.0.5", "4.1.4", "4.2.1", "4.3.0"))]
PROGRAM = Path(__file__).with_name("version_job.py")
TOPIC = "orders"
EVENTS = 10
SENT = 50
# What an audit of the log finds.
FOUND = {("duplicate", "idempotence_off"): EVENTS, ("damaged_batch", "wrong_crc"): EVENTS}
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")


@pytest.fixture(scope="module", params=VERSIONS, ids=lambda version: version.pyspark)
def environment(request: pytest.FixtureRequest) -> Environment:
    version: SparkVersion = request.param
    return environment_of(version)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with two copies of each event and a damaged batch."""
    folder = tmp_path_factory.mktemp("log")
    damaged = bytearray(batch(2 * EVENTS))
    damaged[-1] ^= 1
    write_segment(folder / f"{TOPIC}-0", [batch(0), batch(EVENTS), bytes(damaged)])
    return folder


def batch(base_offset: int) -> bytes:
    content = [Record(b"v", key=f"event {number}".encode(), timestamp=1000) for number in range(EVENTS)]
    return records.build_batch(content, BatchOptions(base_offset=base_offset))


@dataclass(frozen=True)
class Written:
    """The output of the job of one version."""

    version: str
    folder: Path
    bootstrap: str


@pytest.fixture(scope="module")
def written(environment: Environment, log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    out = tmp_path_factory.mktemp("out")
    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        for number in range(SENT):
            producer.produce(TOPIC, key=f"event {number}", value=b"v")
        assert producer.flush(RUN_SECONDS_MAX) == 0
        arguments = (str(PROGRAM), str(log), broker.bootstrap_servers, TOPIC, str(out))

        ended = environment.run(*arguments, seconds_max=RUN_SECONDS_MAX)

        assert ended.exit_code == 0, ended.log
        yield Written(ended.output.strip(), out, broker.bootstrap_servers)


def test_it_is_that_version(environment: Environment, written: Written) -> None:
    assert written.version == environment.version.pyspark


@pytest.mark.parametrize("view", ["records", "batches"])
@pytest.mark.parametrize("way", ["frame", "source"])
def test_the_rows_of_a_log_equal_those_of_the_plain_decoder(
    environment: Environment, written: Written, log: Path, view: str, way: str
) -> None:
    if way == "source" and not environment.version.has_data_sources:
        assert not (written.folder / way).exists(), "its rows come by mapInArrow alone"
        return

    there = rows_in(written.folder / way / view)

    here = read(path=log, view=view)
    columns = [name for name in here[0] if "timestamp" not in name]
    assert rows_of(there, columns) == rows_of(here, columns)


def test_one_copy_of_each_event_stays(environment: Environment, written: Written) -> None:
    ways = ["batch", "stream"] if environment.version.has_data_sources else ["batch"]

    kept = {way: [str(row["event_id"]) for row in rows_in(written.folder / way)] for way in ways}

    once = sorted(f"event {number}" for number in range(EVENTS))
    assert {way: sorted(event_ids) for way, event_ids in kept.items()} == dict.fromkeys(ways, once)


def test_the_rows_of_a_topic_equal_those_of_the_kafka_format(written: Written) -> None:
    columns = ("partition", "offset", "key", "value")

    fetched = rows_of(rows_in(written.folder / "fetched"), columns)

    assert len(fetched) == SENT
    assert fetched == rows_of(rows_in(written.folder / "kafka"), columns)


def test_an_audit_finds_the_copies_and_the_damage(environment: Environment, log: Path) -> None:
    arguments = ("-m", "fauxka", "audit", *QUICK, "--path", str(log), "--event-id", "key", "--json", "-")

    ended = environment.run(*arguments, seconds_max=RUN_SECONDS_MAX)

    assert ended.exit_code == 1, ended.log
    assert groups_in(ended.output) == FOUND


def test_an_audit_on_its_connect_server_finds_the_same(environment: Environment, log: Path, tmp_path: Path) -> None:
    arguments = ("--path", str(log), "--event-id", "key", "--json", "-")
    if not environment.version.has_data_sources:
        refused = environment.run(
            "-m", "fauxka", "audit", "--master", "sc://nowhere", *arguments, seconds_max=RUN_SECONDS_MAX
        )
        assert refused.log == f"fauxka: master: sc:// needs pyspark 4, not {environment.version.pyspark}\n"
        return

    with ConnectServer(environment.python, home=environment.home).running(tmp_path) as address:
        ended = environment.run(
            *("-m", "fauxka", "audit", "--master", address, *arguments), seconds_max=RUN_SECONDS_MAX
        )

    assert ended.exit_code == 1, ended.log
    assert groups_in(ended.output) == FOUND


def test_the_jars_are_of_its_scala_and_its_hadoop(environment: Environment) -> None:
    program = (
        "from fauxka.pipeline.dedup.checkpoint_jars import check_checkpoint_jars\n"
        "check_checkpoint_jars('s3a://bucket/place', {})"
    )

    ended = environment.run("-c", program, seconds_max=RUN_SECONDS_MAX)

    names = [jar.name for jar in (environment.home / "jars").iterdir()]
    lock = LOCKS[".".join(environment.version.pyspark.split(".")[:2])]
    (scala,) = (name for name in names if name.startswith("scala-library-"))
    (hadoop,) = (name for name in names if name.startswith("hadoop-client-api-"))
    assert scala.startswith(f"scala-library-{lock.scala}.")
    assert f"org.apache.hadoop:hadoop-aws:{Path(hadoop).stem.rpartition('-')[2]}," in ended.log


@pytest.mark.parametrize("way", ["mvn", "ivy"])
def test_the_locked_jars_are_downloaded(environment: Environment, tmp_path: Path, way: str) -> None:
    arguments = ("-m", "fauxka", "spark-jars", "--dest", str(tmp_path), "--via", way)

    ended = environment.run(*arguments, seconds_max=RUN_SECONDS_MAX)

    lock = LOCKS[".".join(environment.version.pyspark.split(".")[:2])]
    assert (ended.exit_code, ended.output) == (0, f"{tmp_path}\n"), ended.log
    assert [jar.file_name for jar in lock.jars if not jar.is_in(tmp_path)] == []


def groups_in(verdict: str) -> dict[tuple[str, str], int]:
    """The records of each kind and cause of a verdict in JSON."""
    return {(group["kind"], group["cause"]): group["records"] for group in json.loads(verdict)["groups"]}


def rows_in(folder: Path) -> list[Mapping[str, object]]:
    """The rows of a folder of parquet, read without Spark."""
    table = parquet.read_table(folder)  # pyright: ignore[reportUnknownMemberType]
    return [*table.to_pylist()]


def rows_of(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> list[tuple[str, ...]]:
    return sorted(tuple(str(row[column]) for column in columns) for row in rows)
