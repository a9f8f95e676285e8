"""What is known about a log beside its records: bounds and facts of its partitions, and which logs were truncated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...client.errors import BrokerError
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..read.file_log import FileLog
from ..read.log_splits import open_log
from ..read.options import LogOptions, parse_options
from .log_bounds import LogBounds, bounds_of_files, bounds_on_broker
from .log_directories import partition_files
from .log_ends import TruncatedLog, end_claims, truncated_logs
from .log_facts import LogFacts, log_facts


@dataclass(frozen=True, slots=True)
class LogState:
    """bounds, facts: of each partition. truncated, high_watermarks: of a folder; a broker does not report them."""

    bounds: list[LogBounds]
    facts: list[LogFacts]
    truncated: list[TruncatedLog] = field(default_factory=list[TruncatedLog])
    high_watermarks: dict[PartitionName, int] = field(default_factory=dict[PartitionName, int])


def read_state(options: Mapping[str, str]) -> LogState:
    """Return the state of a log. options: of the data source. Raises BadOption."""
    parsed = parse_options(options)
    log = open_log(parsed)
    try:
        if isinstance(log, FileLog):
            return _state_of_files(log, parsed)
        bounds = bounds_on_broker(log, parsed)
    except BrokerError as error:
        raise BadOption(str(error)) from error
    except OSError as error:
        raise BadOption(f"path: {error.filename} cannot be read: {error.strerror}") from error
    return LogState(bounds, log_facts(bounds, ()))


def _state_of_files(log: FileLog, options: LogOptions) -> LogState:
    found = log.segments()
    files = list(partition_files(found, options))
    bounds = bounds_of_files(found)
    claims = end_claims(files)
    # Behind the claims: a log that is still written has grown since, and never shrinks.
    _, ends = log.whole_range()
    watermarks = {one.name: one.directory.high_watermarks.get(one.name) for one in files}
    known = {name: offset for name, offset in watermarks.items() if offset is not None}
    return LogState(bounds, log_facts(bounds, files), truncated_logs(claims, ends), known)
