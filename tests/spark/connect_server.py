"""A server of Spark Connect on loopback, from an installed pyspark."""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .standalone_cluster import LOOPBACK, daemon, said

# The two cores and the small heap of every test.
SETTINGS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.connect.grpc.binding.address": LOOPBACK,
    "spark.connect.grpc.binding.port": "0",
}
_SUBMIT = ("org.apache.spark.deploy.SparkSubmit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer")
# In place of a jar: the class is one of Spark.
_NO_JAR = "spark-internal"
_IS_UP = re.compile(r"Spark Connect server started at: \S+:(\d+)")


@dataclass(frozen=True)
class ConnectServer:
    """What a server is started with. python: of its workers. variables: of the environment. home: Spark's folder."""

    python: Path
    jars: Sequence[Path] = ()
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    home: Path | None = None

    @contextmanager
    def running(self, folder: Path) -> Generator[str, None, None]:
        """Run the server within the block, and yield its address. folder: for its files."""
        settings = {**SETTINGS, "spark.jars": ",".join(map(str, self.jars))}
        given = [word for key, value in settings.items() if value for word in ("--conf", f"{key}={value}")]
        # Spark gives a server the memory of a daemon, and not that of a driver.
        variables = {"PYSPARK_PYTHON": str(self.python), "SPARK_DAEMON_MEMORY": "1g", **self.variables}
        with daemon(folder, [*_SUBMIT, *given, _NO_JAR], variables, self.home) as server:
            yield f"sc://{LOOPBACK}:{said(server, _IS_UP)}"
