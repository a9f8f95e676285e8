"""A cluster of two workers without fauxka: the same commands and the same job, only with --master."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from confluent_kafka import Producer

from fauxka.pipeline.cluster.spark_archive import ARCHIVE_NAME
from fauxka.testing import Broker

from ..clients.confluent_client import ConfluentClient
from ..clients.topics import create_topic
from ..object_store import CREDENTIALS, running_bucket
from ..pipeline.logs_on_disk import read
from ..serving_process import Ended, environment, run
from .copied_log import EVENTS, PARTITIONS, write_copied_log
from .standalone_cluster import Cluster, pyspark_home, standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

RUN_SECONDS_MAX = 400
WORKERS = 2
# Each job is a JVM beside those of the daemons.
SMALL = {"spark.executor.memory": "512m", "spark.driver.memory": "1g"}
# The job is too short for the optimising compiler.
QUICK = {**SMALL, **{f"spark.{end}.extraJavaOptions": "-XX:TieredStopAtLevel=1" for end in ("driver", "executor")}}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    # Splits have the endpoint of a store, and no credentials.
    with standalone_cluster(folder, worker_count=WORKERS, variables=CREDENTIALS) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_copied_log(tmp_path_factory.mktemp("log"))


def command(cluster: Cluster, name: str, *arguments: str) -> Ended:
    settings = (f"{key}={value}" for key, value in QUICK.items())
    conf = [word for setting in settings for word in ("-c", setting)]
    return run(
        *(name, "--master", cluster.master, *conf, *arguments),
        variables=cluster.variables,
        seconds_max=RUN_SECONDS_MAX,
    )


def test_the_workers_python_has_no_fauxka_of_its_own(cluster: Cluster, tmp_path: Path) -> None:
    ended = subprocess.run(
        [str(cluster.python), "-c", "import numpy, pyarrow, fastcrc, fauxka"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'fauxka'"


def test_an_audit_of_files_runs_on_the_cluster(cluster: Cluster, log: Path) -> None:
    ended = command(cluster, "audit", "--path", str(log), "--event-id", "key")

    assert ended.exit_code == 1, ended.log
    lines = ended.output.splitlines()
    assert (
        lines[1]
        == f"  orders: {2 * EVENTS} records in 8 batches of {PARTITIONS} partitions, from 0 producers with an id"
    )
    assert lines[-1] == f"Verdict: {EVENTS} findings: {EVENTS} duplicate (idempotence off)"


def test_workers_read_and_write_an_object_store_by_themselves(cluster: Cluster, log: Path, tmp_path: Path) -> None:
    with running_bucket(tmp_path) as bucket:
        uri = bucket.upload(log, "data")
        of_store = replace(cluster, more=bucket.variables)

        there = command(of_store, "audit", "--path", uri, "--event-id", "key")
        here = command(cluster, "audit", "--path", str(log), "--event-id", "key")
        once = command(
            of_store, "dedup", "--from", "orders", "--path", uri, "--event-id", "key", "--to", f"{uri}-once", "--batch"
        )

        assert there.exit_code == 1, there.log
        assert there.output == here.output.replace(str(log), uri)
        assert once.exit_code == 0, once.log
        found = sorted(str(row["event_id"]) for row in bucket.parquet_rows("data-once"))
    assert found == sorted(f"event {number}" for number in range(EVENTS))


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """A broker with two copies of every event."""
    with Broker(config={"num.partitions": str(PARTITIONS)}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        for number in [*range(EVENTS)] * 2:
            producer.produce("orders", key=f"event {number}", value=b"v", partition=number % PARTITIONS)
        assert producer.flush(RUN_SECONDS_MAX) == 0
        yield broker


def test_an_audit_of_a_broker_runs_on_the_cluster(cluster: Cluster, broker: Broker) -> None:
    ended = command(
        cluster, "audit", "--bootstrap", broker.bootstrap_servers, "--topics", "orders", "--event-id", "key"
    )

    assert ended.exit_code == 1, ended.log
    assert ended.output.splitlines()[-1].startswith(f"Verdict: {EVENTS} findings: {EVENTS} duplicate")


def test_dedup_to_a_topic_runs_on_the_cluster(cluster: Cluster, broker: Broker, tmp_path: Path) -> None:
    address = broker.bootstrap_servers
    once = create_topic(ConfluentClient(address), address, "once", PARTITIONS)
    place = ("--from", "orders", "--bootstrap", address, "--to", once, "--event-id", "key")

    ended = command(cluster, "dedup", *place, "--checkpoint", str(tmp_path / "place"), "--available-now", "--no-why")

    assert ended.exit_code == 0, ended.log
    assert f"kept {EVENTS}, in {once}" in ended.output
    rows = read(bootstrap=address, topics=once)
    assert sorted(str(row["key"]) for row in rows) == sorted(
        str(f"event {number}".encode()) for number in range(EVENTS)
    )


# Functions of the main module are pickled by value, so their imports run on the workers.
JOB = """
import os
import sys

import pyarrow as pa

from fauxka import pipeline


def places(batches):
    import fauxka

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"package": [fauxka.__file__], "folder": [os.getcwd()]})


log, out = sys.argv[1:]
spark = pipeline.session()
for view in ("records", "batches"):
    spark.read.format("fauxka-log").option("view", view).load(log).write.parquet(f"{out}/{view}")
spark.range(0, 8, 1, 4).mapInArrow(places, "package string, folder string").write.parquet(f"{out}/places")
spark.stop()
"""


@pytest.fixture(scope="module")
def written(cluster: Cluster, log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a job of spark-submit, whose driver has the package only from the archive too."""
    folder = tmp_path_factory.mktemp("submitted")
    archive, job, out = folder / ARCHIVE_NAME, folder / "job.py", folder / "out"
    job.write_text(JOB)
    made = run("spark-archive", str(archive))
    assert (made.exit_code, made.output) == (0, f"{archive}\n"), made.log
    # Waits for both executors before the first task.
    settings = {**QUICK, "spark.scheduler.minRegisteredResourcesRatio": "1.0"}
    conf = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]

    submit = (str(pyspark_home() / "bin" / "spark-submit"), "--master", cluster.master, *conf)

    ended = subprocess.run(
        [*submit, "--py-files", str(archive), str(job), str(log), str(out)],
        env={**environment(cluster.variables), "SPARK_HOME": str(pyspark_home())},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    return out


def test_the_workers_of_a_submitted_job_have_the_package_from_the_archive(written: Path) -> None:
    places = rows_in(written / "places")

    assert {Path(str(row["package"])).parts[-3:] for row in places} == {(ARCHIVE_NAME, "fauxka", "__init__.py")}
    assert len({row["folder"] for row in places}) == WORKERS


@pytest.mark.parametrize("view", ["records", "batches"])
def test_a_submitted_job_reads_the_same_rows_as_one_process(written: Path, log: Path, view: str) -> None:
    there = rows_in(written / view)

    here = read(path=log, view=view)
    columns = ("partition", "offset", "key") if view == "records" else ("partition", "base_offset", "records_count")
    assert rows_of(there, columns) == rows_of(here, columns)


def rows_in(folder: Path) -> list[Mapping[str, object]]:
    """The rows of a folder of parquet, read without Spark."""
    table = parquet.read_table(folder)  # pyright: ignore[reportUnknownMemberType]
    return [*table.to_pylist()]


def rows_of(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> list[tuple[str, ...]]:
    return sorted(tuple(str(row[column]) for column in columns) for row in rows)
