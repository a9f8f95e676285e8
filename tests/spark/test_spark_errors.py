"""The reason of a failed Spark job is one line for a user: no names of Java, Python or Py4J."""

import pytest
from pyspark.errors import PySparkException

from fauxka.pipeline.cluster.spark_errors import failure_reason

pytestmark = pytest.mark.spark

OF_A_WORKER = """Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure:
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in read
fauxka.client.errors.ConnectionFailed: broker 127.0.0.1:9: no connection: Connection refused
"""
OF_JAVA = """An error occurred while calling o64.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:1)
Caused by: java.io.IOException: No space left on device
\tat java.io.FileOutputStream.write(FileOutputStream.java:1)
"""
WITHOUT_A_REASON = """An error occurred while calling o64.get.
: java.util.NoSuchElementException
\tat scala.None$.get(Option.scala:1)
"""
OF_A_CONNECT_SERVER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):
  File "/tmp/job.py", line 41, in read
fauxka.pipeline.bad_option.BadOption: path: a worker has no /data; all workers must read it
 SQLSTATE: 38000

JVM stacktrace:
org.apache.spark.api.python.PythonException
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:1)
"""
WITHOUT_A_DRIVER = """An error occurred while calling o58.load.
: java.lang.ClassNotFoundException: no.such.Driver
\tat java.base/java.net.URLClassLoader.findClass(URLClassLoader.java:445)
"""
WITHOUT_A_FORMAT = """An error occurred while calling o58.load.
: org.apache.spark.SparkClassNotFoundException: [DATA_SOURCE_NOT_FOUND] Failed to find the source: x. SQLSTATE: 42K02
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.dataSourceNotFoundError(QueryExecutionErrors.scala:1)
Caused by: java.lang.ClassNotFoundException: x.DefaultSource
"""
OF_SQL = "[PATH_NOT_FOUND] Path does not exist: file:/nowhere. SQLSTATE: 42K03"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PySparkException(OF_A_WORKER), "broker 127.0.0.1:9: no connection: Connection refused"),
        (PySparkException(OF_JAVA), "No space left on device"),
        (PySparkException(WITHOUT_A_REASON), "Spark failed"),
        (PySparkException(OF_A_CONNECT_SERVER), "path: a worker has no /data; all workers must read it"),
        (PySparkException(WITHOUT_A_DRIVER), "there is no class no.such.Driver; is its jar in spark.jars?"),
        (PySparkException(WITHOUT_A_FORMAT), "Failed to find the source: x."),
        (PySparkException(OF_SQL), "Path does not exist: file:/nowhere."),
        (PySparkException(""), "Spark failed"),
        (ConnectionError("py4j.java_gateway"), "Spark's JVM has ended"),
    ],
)
def test_the_innermost_reason_is_told(error: Exception, reason: str) -> None:
    assert failure_reason(error) == reason
