"""Deduplication as a stream and as a batch, to parquet and to a topic, stopped, repeated and killed."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.dedup.dedup_job import (
    DedupCounts,
    DedupJob,
    check_same_job,
    copies_by_cause,
    follow,
    run_batch,
    start_stream,
)
from fauxka.pipeline.dedup.dedup_sinks import TopicSink
from fauxka.pipeline.read.log_frame import read_log
from fauxka.testing import Broker

from ..clients.confluent_client import ConfluentClient
from ..clients.topics import create_topic

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

PARTITIONS = 2


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(config={"num.partitions": str(PARTITIONS)}) as broker:
        yield broker


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    register(spark)
    return spark


def new_topic(broker: Broker) -> str:
    return create_topic(ConfluentClient(broker.bootstrap_servers), broker.bootstrap_servers, "dedup", PARTITIONS)


def send(spark: SparkSession, broker: Broker, topic: str, first: int, end: int, copies: int) -> None:
    """Write events with that many copies of each."""
    rows = spark.range(first, end).select(
        f.lit(topic).alias("topic"),
        f.concat(f.lit("event "), f.col("id")).alias("key"),
        f.concat(f.lit("value "), f.col("id")).alias("value"),
        f.explode(f.sequence(f.lit(1), f.lit(copies))).alias("copy"),
    )
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    rows.drop("copy").write.format("kafka").options(**options).save()


def job_of(broker: Broker, topic: str, to: str, **more: str) -> DedupJob:
    source = {"bootstrap": broker.bootstrap_servers, "topics": topic}
    return DedupJob(source, "key", to, more.get("to_bootstrap"), "1 hour", more.get("checkpoint"))


def run_available(spark: SparkSession, job: DedupJob) -> DedupCounts:
    return follow(start_stream(spark, job, is_endless=False), lambda: False, lambda _: None)


def ids(spark: SparkSession, path: Path) -> list[str]:
    return sorted(row["event_id"] for row in spark.read.parquet(str(path)).select("event_id").collect())


def events(first: int, end: int) -> list[str]:
    return sorted(f"event {number}" for number in range(first, end))


def test_a_stream_keeps_one_copy_over_its_runs(session: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = new_topic(broker)
    job = job_of(broker, topic, str(tmp_path / "out"))

    send(session, broker, topic, 0, 30, 2)
    first = run_available(session, job)
    send(session, broker, topic, 20, 40, 1)
    second = run_available(session, job)

    assert first == DedupCounts(records_read=60, kept=30)
    assert second == DedupCounts(records_read=20, kept=10)
    assert ids(session, tmp_path / "out") == events(0, 40)


def test_a_checkpoint_belongs_to_one_job(session: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = new_topic(broker)
    job = job_of(broker, topic, str(tmp_path / "out"))
    check_same_job(session, job)

    check_same_job(session, job)
    with pytest.raises(BadOption, match=r"checkpoint: .* with event id key and not event id header:id$"):
        check_same_job(session, replace(job, event_id="header:id"))
    with pytest.raises(BadOption, match=r"checkpoint: .* with event id key and not event id key \(or empty\)$"):
        check_same_job(session, replace(job, is_empty_an_id=True))


def test_a_checkpoint_knows_its_source_and_target_by_their_ids(
    session: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic, target = new_topic(broker), new_topic(broker)
    port = broker.bootstrap_servers.rpartition(":")[2]
    places = {"to_bootstrap": broker.bootstrap_servers, "checkpoint": str(tmp_path / "checkpoint")}
    job = job_of(broker, topic, target, **places)
    check_same_job(session, job)

    check_same_job(session, replace(job, source={"bootstrap": f"localhost:{port}", "topics": topic}))
    for name in (topic, target):
        broker.topics.delete(name)
        broker.topics.create(name)
        of_old = rf"checkpoint: .*{'source' if name == topic else 'target'} {name} of cluster \S+ (\S+)"
        with pytest.raises(BadOption, match=rf"{of_old} and not .*{name} of cluster \S+ (?!\1)"):
            check_same_job(session, job)
        if name == topic:
            job = replace(job, checkpoint=str(tmp_path / "second"))
            check_same_job(session, job)


def test_the_same_topic_of_another_broker_is_another_source(
    session: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic = new_topic(broker)
    job = job_of(broker, topic, str(tmp_path / "out"))
    check_same_job(session, job)

    with Broker() as other:
        other.topics.create(topic)
        with pytest.raises(BadOption, match=r"checkpoint: .* is of another job, with source"):
            check_same_job(session, job_of(other, topic, str(tmp_path / "out")))


def test_a_copied_folder_is_the_same_source_and_another_one_is_not(session: SparkSession, tmp_path: Path) -> None:
    for name in ("data", "other"):
        with Broker(data_dir=tmp_path / name) as broker:
            broker.topics.create("orders")
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    out = str(tmp_path / "out")
    jobs = {
        name: DedupJob({"path": str(tmp_path / name), "topics": "orders"}, "key", out, None, "1 hour", None)
        for name in ("data", "copy", "other")
    }
    check_same_job(session, jobs["data"])

    check_same_job(session, jobs["copy"])
    with pytest.raises(BadOption, match=r"checkpoint: .* with source orders of folder"):
        check_same_job(session, jobs["other"])


def test_empty_event_ids_are_kept_and_counted(session: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = new_topic(broker)
    rows = session.createDataFrame([("a",), ("a",), ("",), ("",), (None,)], "key string").withColumn(
        "value", f.lit("x")
    )
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": topic}
    rows.write.format("kafka").options(**options).save()
    job = job_of(broker, topic, str(tmp_path / "out"))

    counts = run_batch(session, job)
    compared = run_batch(session, replace(job, to=str(tmp_path / "compared"), is_empty_an_id=True))

    assert counts == DedupCounts(records_read=5, without_event_id=3, empty_ids=2, kept=4)
    assert compared == DedupCounts(records_read=5, without_event_id=1, kept=3)


def test_the_causes_of_copies_are_those_of_the_audit(session: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = new_topic(broker)
    job = job_of(broker, topic, str(tmp_path / "out"))
    send(session, broker, topic, 0, 10, 2)
    send(session, broker, topic, 0, 3, 1)

    causes = copies_by_cause(session, job)

    assert sum(causes.values()) == 13
    assert causes["sent_again"] >= 10


def test_a_batch_keeps_one_copy_and_needs_a_new_folder(session: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = new_topic(broker)
    job = job_of(broker, topic, str(tmp_path / "out"))
    send(session, broker, topic, 0, 30, 3)

    counts = run_batch(session, job)

    assert counts == DedupCounts(records_read=90, kept=30)
    assert ids(session, tmp_path / "out") == events(0, 30)
    with pytest.raises(BadOption, match=r"to: .*out exists already"):
        run_batch(session, job)


def test_a_batch_to_a_topic_keeps_one_copy_and_counts(session: SparkSession, broker: Broker) -> None:
    topic, target = new_topic(broker), new_topic(broker)
    job = job_of(broker, topic, target, to_bootstrap=broker.bootstrap_servers)
    send(session, broker, topic, 0, 30, 3)

    counts = run_batch(session, job)

    assert counts == DedupCounts(records_read=90, kept=30)
    verdict = broker.verdict(target, "key")
    assert (verdict.records.in_log, verdict.records.distinct) == (30, 30)


def test_a_stream_to_a_topic_keeps_keys_values_and_headers(
    session: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic, target = new_topic(broker), new_topic(broker)
    job = job_of(broker, topic, target, to_bootstrap=broker.bootstrap_servers, checkpoint=str(tmp_path))
    send(session, broker, topic, 0, 30, 2)

    counts = run_available(session, job)

    written = topic_rows(session, broker, target)
    assert counts == DedupCounts(records_read=60, kept=30)
    assert written.count() == 30
    assert written.exceptAll(topic_rows(session, broker, topic).distinct()).isEmpty()


def topic_rows(spark: SparkSession, broker: Broker, topic: str) -> DataFrame:
    options = {"bootstrap": broker.bootstrap_servers, "topics": topic}
    return read_log(spark, options).select("key", "value", "headers")


def test_a_repeated_micro_batch_adds_only_missing_events_to_a_topic(
    session: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic, target = new_topic(broker), new_topic(broker)
    send(session, broker, topic, 0, 30, 1)
    rows = read_log(session, {"bootstrap": broker.bootstrap_servers, "topics": topic})
    batch = rows.withColumn("event_id", f.col("key").cast("string"))
    key = f.col("key").cast("string")
    sink = TopicSink({"bootstrap": broker.bootstrap_servers, "topics": target}, key, str(tmp_path / "mark"))

    sink.write(batch.where("event_id > 'event 2'"), 7)
    sink.write(batch, 7)

    assert topic_rows(session, broker, target).count() == 30
    assert topic_rows(session, broker, target).distinct().count() == 30


def test_the_next_micro_batch_is_not_compared_with_the_one_before(
    session: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic, target = new_topic(broker), new_topic(broker)
    send(session, broker, topic, 0, 5, 1)
    rows = read_log(session, {"bootstrap": broker.bootstrap_servers, "topics": topic})
    batch = rows.withColumn("event_id", f.col("key").cast("string"))
    key = f.col("key").cast("string")
    sink = TopicSink({"bootstrap": broker.bootstrap_servers, "topics": target}, key, str(tmp_path / "mark"))

    sink.write(batch, 7)
    sink.write(batch, 8)

    assert topic_rows(session, broker, target).count() == 10
