"""The jars with which Spark writes a checkpoint to an object store.

Spark writes the checkpoint of a stream by Hadoop's file systems, whose connectors are not in pyspark. Without one Spark
fails a while after its start, with an error of Java, so this is checked before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..bad_option import BadOption
from ..cluster.spark_jars import pyspark_folder
from ..read.store_address import is_uri

# The names of the jars by the schemes of Hadoop's file systems.
_CONNECTORS = {"s3a": "hadoop-aws", "gs": "gcs-connector", "abfs": "hadoop-azure", "abfss": "hadoop-azure"}
# Hadoop has removed their file systems.
_OLD_SCHEMES = ("s3", "s3n")
# Coordinates of the connectors that are released with Hadoop.
_PACKAGE = "org.apache.hadoop:{jar}:{version}"
_HADOOP_JAR = "hadoop-client-api-"
# Settings that put jars in front of Spark's own. Their jars can have any name.
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
_DEFAULTS = "spark-defaults.conf"


def check_checkpoint_jars(checkpoint: str, settings: Mapping[str, str]) -> None:
    """Raise BadOption for a checkpoint in an object store that Spark has no jar for. settings: of the command."""
    scheme = checkpoint.partition(":")[0].lower() if is_uri(checkpoint) else ""
    if scheme in _OLD_SCHEMES:
        rest = checkpoint.partition(":")[2]
        raise BadOption(f"checkpoint: Spark writes to S3 by s3a, so {checkpoint} must be s3a:{rest}")
    jar = _CONNECTORS.get(scheme)
    if jar is None or _is_class_path_given(settings) or any(jar in place for place in _jars_of_spark(settings)):
        return
    package = _PACKAGE.format(jar=jar, version=_hadoop_version()) if jar.startswith("hadoop") else f"<its {jar}>"
    raise BadOption(
        f"checkpoint: Spark writes {checkpoint} with the jar {jar}, which it does not have; set"
        f" -c spark.jars.packages={package}, or a folder that the driver and all workers can write"
    )


def _is_class_path_given(settings: Mapping[str, str]) -> bool:
    return any(settings.get(key) for key in _CLASS_PATHS)


def _jars_of_spark(settings: Mapping[str, str]) -> Iterator[str]:
    """Yield texts that name the jars of Spark: files, settings, and the file of default settings."""
    yield from settings.values()
    yield os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    homes = [Path(home) for home in (os.environ.get("SPARK_HOME"), pyspark_folder()) if home]
    yield from (jar.name for home in homes for jar in home.glob("jars/*.jar"))
    folders = (
        [Path(os.environ["SPARK_CONF_DIR"])] if "SPARK_CONF_DIR" in os.environ else [home / "conf" for home in homes]
    )
    for folder in folders:
        file = folder / _DEFAULTS
        if file.is_file():
            yield file.read_text(errors="replace")


def _hadoop_version() -> str:
    """Return the version of Hadoop in pyspark, which that of the connector must be."""
    names = [jar.stem for jar in pyspark_folder().glob(f"jars/{_HADOOP_JAR}*.jar")]
    return names[0].removeprefix(_HADOOP_JAR) if names else "VERSION"
