"""A checkpoint in an object store is refused before Spark starts, unless Spark has the jar for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.dedup.checkpoint_jars import check_checkpoint_jars

# Plain functions of modules that import pyspark.
pytestmark = [pytest.mark.spark, pytest.mark.slice]

# Without Spark, whose start takes longer.
SECONDS_MAX = 30


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("place", ["/tmp/place", "./place", "file:///tmp/place", "hdfs://host/place", "oss://bucket/x"])
def test_a_checkpoint_that_spark_writes_by_itself_needs_nothing(place: str) -> None:
    check_checkpoint_jars(place, {})


def test_the_missing_jar_is_named_with_its_version() -> None:
    with pytest.raises(BadOption) as raised:
        check_checkpoint_jars("s3a://bucket/place", {"spark.executor.memory": "4g"})

    words = str(raised.value)
    assert words.startswith(
        "checkpoint: Spark writes s3a://bucket/place with the jar hadoop-aws, which it does not have"
    )
    assert "-c spark.jars.packages=org.apache.hadoop:hadoop-aws:3." in words
    assert "\n" not in words


@pytest.mark.parametrize(
    ("place", "jar"),
    [("gs://b/x", "gcs-connector"), ("abfs://c@a/x", "hadoop-azure"), ("abfss://c@a/x", "hadoop-azure")],
)
def test_each_store_has_its_jar(place: str, jar: str) -> None:
    with pytest.raises(BadOption, match=f"with the jar {jar}, "):
        check_checkpoint_jars(place, {})


@pytest.mark.parametrize("scheme", ["s3", "s3n", "S3"])
def test_a_scheme_that_hadoop_has_removed_is_named(scheme: str) -> None:
    with pytest.raises(BadOption, match=f"^checkpoint: .* so {scheme}://bucket/place must be s3a://bucket/place$"):
        check_checkpoint_jars(f"{scheme}://bucket/place", {})


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.jars.packages": "org.apache.hadoop:hadoop-aws:3.5.0"},
        {"spark.jars": "/opt/hadoop-aws-3.5.0.jar,/opt/bundle.jar"},
        {"spark.driver.extraClassPath": "/opt/jars/*"},
    ],
)
def test_a_given_jar_is_enough(settings: dict[str, str]) -> None:
    check_checkpoint_jars("s3a://bucket/place", settings)


def test_the_default_settings_may_name_the_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.jars.packages org.apache.hadoop:hadoop-aws:3.5.0\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))

    check_checkpoint_jars("s3a://bucket/place", {})


@pytest.mark.processes
def test_the_command_ends_before_it_connects() -> None:
    arguments = ("--from", "t", "--bootstrap", "127.0.0.1:1", "--event-id", "key", "--to", "s3://bucket/once")

    ended = subprocess.run(
        [sys.executable, "-m", "fauxka", "dedup", *arguments, "--checkpoint", "s3a://bucket/place"],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stderr.startswith("fauxka: checkpoint: Spark writes s3a://bucket/place with the jar hadoop-aws")
    assert len(ended.stderr.splitlines()) == 1
