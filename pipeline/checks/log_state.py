"""What is known about a log beside its records: bounds and facts of its partitions, and which logs were truncated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...client.errors import BrokerError
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..read.file_log import FileLog
from ..read.log_splits import open_log
from ..read.options import parse_options
from .audited_range import AuditedRange
from .findings import findings_of
from .log_bounds import LogBounds, bounds_of_files, bounds_on_broker
from .log_directories import partition_files
from .log_ends import TRUNCATED_LOG, TruncatedLog, end_claims, truncated_logs
from .log_facts import LogFacts, log_facts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_TRUNCATED_SCHEMA = "topic string, partition int, offset bigint, missing bigint, cause string, detail string"
_TRUNCATED_COLUMNS = ("topic", "partition", "offset", "cause", "detail")


@dataclass(frozen=True, slots=True)
class LogState:
    """bounds, facts: of each partition. truncated, high_watermarks: of a folder; a broker does not report them."""

    bounds: list[LogBounds]
    facts: list[LogFacts]
    truncated: list[TruncatedLog] = field(default_factory=list[TruncatedLog])
    high_watermarks: dict[PartitionName, int] = field(default_factory=dict[PartitionName, int])

    def truncated_findings(self, spark: SparkSession, audited: AuditedRange) -> DataFrame | None:
        """Return a finding for each truncated log whose end is in the audited range; None without one."""
        seen = [one for one in self.truncated if PartitionName(one.topic, one.partition) not in audited.cut_ends]
        if not seen:
            return None
        rows = spark.createDataFrame(seen, _TRUNCATED_SCHEMA)
        columns: dict[str, str | Column] = {name: name for name in _TRUNCATED_COLUMNS}
        columns["count"] = "missing"
        return findings_of(rows, "log", TRUNCATED_LOG, columns)


def read_state(options: Mapping[str, str]) -> LogState:
    """Return the state of a log. options: of the data source. Raises BadOption."""
    parsed = parse_options(options)
    log = open_log(parsed)
    try:
        if isinstance(log, FileLog):
            return _state_of_files(log)
        bounds = bounds_on_broker(log, parsed)
    except BrokerError as error:
        raise BadOption(str(error)) from error
    except OSError as error:
        raise BadOption(f"path: {error.filename} cannot be read: {error.strerror}") from error
    return LogState(bounds, log_facts(bounds, ()))


def _state_of_files(log: FileLog) -> LogState:
    found = log.segments()
    files = list(partition_files(found))
    bounds = bounds_of_files(found)
    claims = end_claims(files)
    # Behind the claims: a log that is still written has grown since, and never shrinks.
    _, ends = log.whole_range()
    watermarks = {one.name: one.directory.high_watermarks.get(one.name) for one in files}
    known = {name: offset for name, offset in watermarks.items() if offset is not None}
    return LogState(bounds, log_facts(bounds, files), truncated_logs(claims, ends), known)
