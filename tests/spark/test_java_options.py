"""The options of Spark's JVM on one machine."""

from pathlib import Path

import pytest

from fauxka.pipeline.cluster.java_options import ARROW_OPTIONS, options_of_one_machine

pytestmark = pytest.mark.spark

G1 = "-Dx=y -XX:+UseG1GC"


@pytest.fixture(autouse=True)
def defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give Spark an empty configuration folder."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path / "spark-defaults.conf"


def test_the_parallel_collector_is_the_default() -> None:
    given = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:-UseG1GC"}

    assert options_of_one_machine(given) == f"{ARROW_OPTIONS} -XX:+UseParallelGC"


def test_a_collector_of_the_user_is_the_only_one() -> None:
    assert options_of_one_machine({"spark.driver.extraJavaOptions": G1}) == ARROW_OPTIONS


def test_a_collector_of_the_environment_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", G1)

    assert options_of_one_machine({}) == ARROW_OPTIONS


def test_a_collector_of_spark_defaults_is_the_only_one(defaults: Path) -> None:
    defaults.write_text(f"spark.driver.extraJavaOptions {G1}\n")

    assert options_of_one_machine({}) == ARROW_OPTIONS


def test_a_job_of_few_rows_is_compiled_quickly_only() -> None:
    usual = f"{ARROW_OPTIONS} -XX:+UseParallelGC"

    assert options_of_one_machine({}, row_count=2_000_000) == f"{usual} -XX:TieredStopAtLevel=1"
    assert options_of_one_machine({}, row_count=2_000_001) == usual
    assert options_of_one_machine({}) == usual
