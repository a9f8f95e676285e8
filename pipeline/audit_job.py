"""The audit of a log: both views read, every audit that can be made of them, and their findings as one frame.

A log that is still written is read up to where it ended when the audit began, so that all audits see the same records.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from .audit.journal_ledger import audit_journal, read_journal
from .audit.ledger_audit import audit_ledger
from .audit.log_bounds import read_bounds
from .audit.log_order import BATCH_COLUMNS_READ
from .audit.sent_ledger import read_sent
from .bad_option import BadOption
from .decode.views import ViewName, columns_of
from .event_audit import audit_events, events_of
from .event_id import check_event_id, content_read_for, event_id_column
from .findings import all_findings
from .log_frame import read_log
from .options import SPLIT_BYTES_DEFAULT, SPLIT_RECORDS_DEFAULT, parse_options
from .sequence_audit import audit_sequences
from .source.broker_connection import BrokerError
from .source.fetch_log import FetchLog
from .source.log_splits import open_log
from .spark.spark_session import has_data_sources

# Of a record that is not read yet: its bytes in a log, where nothing but its offset is known.
_RECORD_BYTES_ASSUMED = 100
# The columns of the records view that are as large as the records.
_CONTENTS = frozenset({"key", "value", "headers"})

SPLIT_DEFAULTS = {"splitBytes": SPLIT_BYTES_DEFAULT, "splitRecords": SPLIT_RECORDS_DEFAULT}
# Of the log, what one task of a shuffle is to have.
_SHUFFLE_TASK_BYTES = 32 * 1024 * 1024
# Each task of a stage costs the driver some memory, of a shuffle and of what reads the log alike.
TASKS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What to audit: options as the data source takes them, and what else is known of the log.

    event_id: as event_id_column reads it; without it events are not told apart. sent: as read_sent reads it.
    journal, journal_token: as read_journal reads it. as_of_ms: against what time an open transaction is a hanging one;
    without it the one of default_as_of. has_aborts: whether a transaction may have been aborted; an audit that knows of
    none need not look at each record whether its was.
    """

    options: Mapping[str, str]
    event_id: str | None = None
    sent: str | None = None
    journal: str | None = None
    journal_token: str | None = None
    as_of_ms: int | None = None
    has_aborts: bool = True

    @property
    def checks(self) -> tuple[str, ...]:
        """What is looked at, in words."""
        checks = ["sequences"]
        if self.event_id is not None:
            checks.append(f"events by {self.event_id}")
        if self.sent is not None:
            checks.append(f"what was sent by {self.sent}")
        if self.journal is not None:
            checks.append(f"what was answered by {self.journal}")
        return tuple(checks)


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request for a log that is there: with an end for each partition, and about how many bytes that is."""

    request: AuditRequest
    size: int


def checked(request: AuditRequest) -> CheckedRequest:
    """Return the request as it can be run; Spark is not needed to say so. Raises BadOption."""
    if request.sent is not None and request.event_id is None:
        raise BadOption("a ledger of what was sent needs --event-id, to know its events in the log")
    if request.event_id is not None:
        check_event_id(request.event_id)
    if request.journal is not None and "://" not in request.journal and not os.path.isfile(request.journal):
        raise BadOption(f"journal: {request.journal} is no file, and no address of an admin API")
    options = parse_options(request.options)
    log = open_log(options)
    try:
        if isinstance(log, FetchLog):
            return _checked_topics(request, log)
        splits = log.splits()
    except BrokerError as error:
        raise BadOption(str(error)) from error
    except OSError as error:
        raise BadOption(f"path: {error.filename or options.path} cannot be read: {error.strerror}") from error
    if not splits:
        raise BadOption(f"path: there is nothing to read in {options.path}")
    size = sum(split.end - split.start for split in splits)
    return CheckedRequest(replace(request, options=with_split_size(request.options, "splitBytes", size)), size)


def _checked_topics(request: AuditRequest, log: FetchLog) -> CheckedRequest:
    ends = log.ends()
    if not ends:
        raise BadOption(f"bootstrap: there are no topics to read on {request.options['bootstrap']}")
    options = dict(request.options)
    if "endingoffsets" not in {name.lower() for name in options}:
        offsets: dict[str, dict[str, int]] = {}
        for name, end in ends.items():
            offsets.setdefault(name.topic_name, {})[str(name.partition)] = end
        options["endingOffsets"] = json.dumps(offsets)
    records = sum(split.end - split.start for split in log.splits())
    options = with_split_size(options, "splitRecords", records)
    return CheckedRequest(replace(request, options=options), records * _RECORD_BYTES_ASSUMED)


def with_split_size(options: Mapping[str, str], name: str, size: int) -> dict[str, str]:
    """Return options by which a log of that size is read by no more than TASKS_MAX tasks, or one a file if more.

    name: of the option that says how much one task reads; what is given for it stays.
    """
    given = {option.lower(): value for option, value in options.items()}
    split_size = -(-size // TASKS_MAX)
    if name.lower() in given or split_size <= SPLIT_DEFAULTS[name]:
        return dict(options)
    return {**options, name: str(split_size)}


def shuffle_tasks(size: int, cores: int) -> int:
    """Return how many tasks a shuffle of a log of that size gets: each its share, and no core without one."""
    return min(max(cores, -(-size // _SHUFFLE_TASK_BYTES)), TASKS_MAX)


def read_view(
    spark: SparkSession, options: Mapping[str, str], view: ViewName, columns: Collection[str] | None = None
) -> DataFrame:
    """Return a view of the log, whatever this Spark can read it with.

    columns: those that are needed, of which Spark tells a source in Python nothing; all without it.
    """
    chosen = {**options, "view": view}
    if not has_data_sources(spark):
        return read_log(spark, chosen, columns)
    reader = spark.read.format("fauxka-log").options(**chosen)
    if columns is not None:
        kinds = (f"{column.name} {column.kind}" for column in columns_of(view) if column.name in columns)
        reader = reader.schema(", ".join(kinds))
    return reader.load()


def read_records(spark: SparkSession, options: Mapping[str, str], event_id: str | None) -> DataFrame:
    """Return the records view with all but the contents of records, of which the event id is in one column at most."""
    contents = _CONTENTS - (set() if event_id is None else {content_read_for(event_id)})
    return read_view(
        spark, options, "records", [column.name for column in columns_of("records") if column.name not in contents]
    )


def audit(spark: SparkSession, request: AuditRequest) -> DataFrame:
    """Return the findings of every audit that the request makes possible; see findings.py. Raises BadOption."""
    batches = read_view(spark, request.options, "batches", BATCH_COLUMNS_READ)
    records = read_records(spark, request.options, request.event_id)
    as_of_ms = request.as_of_ms
    if as_of_ms is None:
        as_of_ms = default_as_of(request.options, lambda: newest_timestamp(batches))
    found = audit_sequences(batches, f.timestamp_millis(f.lit(as_of_ms)))
    has_ledger = request.sent is not None or request.journal is not None
    bounds = read_bounds(spark, request.options) if has_ledger else None
    with_aborted = batches if request.has_aborts else None
    if request.event_id is not None:
        event_id = event_id_column(request.event_id)
        found = all_findings(found, audit_events(records, event_id, with_aborted))
        if request.sent is not None:
            sent = read_sent(spark, request.sent)
            found = all_findings(found, audit_ledger(records, sent, event_id, with_aborted, bounds))
    if request.journal is not None:
        journal = read_journal(spark, request.journal, request.journal_token)
        found = all_findings(found, audit_journal(records, journal, with_aborted, bounds))
    return found


def newest_timestamp(batches: DataFrame) -> int | None:
    """Return the newest timestamp of a frame of the batches view, in milliseconds; reads all of it."""
    found = batches.agg(newest_ms().alias("newest")).first()
    return None if found is None else found["newest"]


# The columns of the batches view that newest_ms and has_aborts read.
LOOKED_AT_COLUMNS = ("max_timestamp", "valid_crc", "control_type")


def newest_ms() -> Column:
    """Return the newest timestamp of batches as an aggregate, in milliseconds; the damaged ones may have any."""
    return f.max(f.when(f.col("valid_crc"), f.unix_millis("max_timestamp")))


def has_aborts() -> Column:
    """Return whether a marker among batches ends a transaction that was aborted, as an aggregate."""
    return f.coalesce(f.max(f.col("control_type") == "abort"), f.lit(False))


def default_as_of(options: Mapping[str, str], newest: Callable[[], int | None]) -> int:
    """Return the time of the audit in milliseconds: now for a broker, and for files that of what was written last.

    That is the newest timestamp, so that a folder has the same findings tomorrow; but no later than the last change of
    a file, since a producer may write any time; that change alone where there are no timestamps.
    newest: returns the newest timestamp; it is not called for a broker. Raises BadOption.
    """
    log = open_log(parse_options(options))
    if isinstance(log, FetchLog):
        return round(time.time() * 1000)
    paths = (segment.path for segments in log.segments().values() for segment in segments)
    changed_ms = round(max(map(os.path.getmtime, paths), default=time.time()) * 1000)
    newest_timestamp_ms = newest()
    return changed_ms if newest_timestamp_ms is None else min(newest_timestamp_ms, changed_ms)


def has_event_ids(spark: SparkSession, request: AuditRequest) -> bool:
    """Whether any record has the event id that is asked for; reads no further than the first that has one."""
    assert request.event_id is not None, "it is asked for"
    records = read_records(spark, request.options, request.event_id)
    events = events_of(records, event_id_column(request.event_id))
    return not events.where("event_id is not null").isEmpty()
