"""The findings of `fauxka audit` for a planted log, read from its folder or from a broker that serves the folder."""

import importlib
import io
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import fields
from pathlib import Path

import pyarrow.parquet as parquet

from fauxka.pipeline.audit_run import AuditRun, run_audit
from fauxka.pipeline.checks.audit_job import AuditRequest
from fauxka.pipeline.report.audit_outputs import AuditOutputs
from fauxka.pipeline.report.verdict_run import VerdictRun
from fauxka.testing import Broker

from .events import COMPACTED, HEADER, START_MS, Found
from .log_folder import LOG_FOLDER, LogFolder, write_log
from .planted_log import PlantedLog

# The types of this module are incomplete.
admin = importlib.import_module("confluent_kafka.admin")

MASTER = "local[2]"
# Small splits, so that many batches are at the edge of one.
SPLIT_BYTES = 64 * 1024
SPLIT_RECORDS = 2_000
# Open transactions of the log began less than their timeout before.
AS_OF_MS = START_MS + 60_000
CREATE_SECONDS_MAX = 30
_COMPACTED = {"cleanup.policy": "compact"}
# The runs are too short for the optimising compiler.
SETTINGS = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.ui.enabled": "false"}

NAMES = [field.name for field in fields(Found)]


def findings_in_files(log: PlantedLog, folder: Path) -> Counter[Found]:
    """Return the findings of the log as segment files. folder: a new one."""
    written = write_log(log, folder)
    return _findings({"path": str(written.log), "splitBytes": str(SPLIT_BYTES)}, written, folder)


def findings_of_broker(log: PlantedLog, folder: Path) -> Counter[Found]:
    """Return the findings of the topics of a broker that serves the log. folder: a new one."""
    data = folder / LOG_FOLDER
    with Broker(data_dir=data) as broker:
        client = admin.AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
        for topic in {partition.topic_name for partition in log.batches}:
            partitions = sum(partition.topic_name == topic for partition in log.batches)
            config = _COMPACTED if topic == COMPACTED.topic_name else {}
            client.create_topics([admin.NewTopic(topic, partitions, 1, config=config)])[topic].result(
                CREATE_SECONDS_MAX
            )
    written = write_log(log, folder)
    # The cleaner would clean the compacted topic further.
    with Broker(config={"log.cleaner.enable": "false"}, data_dir=data) as broker:
        options = {"bootstrap": broker.bootstrap_servers, "splitRecords": str(SPLIT_RECORDS)}
        return _findings(options, written, folder)


def _findings(options: dict[str, str], written: LogFolder, folder: Path) -> Counter[Found]:
    request = AuditRequest(options, f"header:{HEADER}", str(written.sent), str(written.journal), as_of_ms=AS_OF_MS)
    out = folder / "findings"
    with redirect_stdout(io.StringIO()):
        run_audit(AuditRun(request, VerdictRun(MASTER, SETTINGS, AuditOutputs(parquet=str(out)))), io.StringIO())
    table = parquet.read_table(out, columns=NAMES)  # pyright: ignore[reportUnknownMemberType]
    return Counter(Found(**row) for row in table.to_pylist())
