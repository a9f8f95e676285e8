"""Run with one version of pyspark: reads the log and the broker in every supported way, and writes parquet.

    python version_job.py LOG BOOTSTRAP TOPIC OUT

Prints the version of Spark, and nothing else.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from fauxka import pipeline
from fauxka.pipeline.cluster.spark_session import has_data_sources
from fauxka.pipeline.dedup.dedup_job import DedupJob, follow, run_batch, start_stream
from fauxka.pipeline.read.log_frame import read_log

SETTINGS = {"spark.driver.memory": "1g", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}


def write_views(spark: SparkSession, log: str, out: Path) -> None:
    """Write both views of a folder, read by mapInArrow and by the data source."""
    for view in ("records", "batches"):
        options = {"path": log, "view": view}
        read_log(spark, options).write.parquet(str(out / "frame" / view))
        if has_data_sources(spark):
            rows = spark.read.format("fauxka-log").options(**options).load()
            rows.write.parquet(str(out / "source" / view))


def write_once(spark: SparkSession, log: str, topic: str, out: Path) -> None:
    """Write one copy of each event of a folder, as a batch and as a stream."""
    source = {"path": log, "topics": topic}
    run_batch(spark, DedupJob(source, "key", str(out / "batch"), None, "1 hour", None))
    if has_data_sources(spark):
        stream = DedupJob(source, "key", str(out / "stream"), None, "1 hour", None)
        follow(start_stream(spark, stream, is_endless=False), lambda: False, lambda _: None)


def write_topic(spark: SparkSession, bootstrap: str, topic: str, out: Path) -> None:
    """Write a topic, read by this package and by Spark's kafka format."""
    read_log(spark, {"bootstrap": bootstrap, "topics": topic}).write.parquet(str(out / "fetched"))
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
    spark.read.format("kafka").options(**options).load().write.parquet(str(out / "kafka"))


def main() -> None:
    """Run all steps in one session."""
    log, bootstrap, topic, out = sys.argv[1:]
    spark = pipeline.session("local[2]", with_kafka=True, settings=SETTINGS)
    write_views(spark, log, Path(out))
    write_once(spark, log, topic, Path(out))
    write_topic(spark, bootstrap, topic, Path(out))
    print(spark.version)
    spark.stop()


if __name__ == "__main__":
    main()
