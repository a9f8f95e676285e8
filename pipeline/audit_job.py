"""The audit of a log: both views read, every audit that can be made of them, and their findings as one frame.

A log that is still written is read up to where it ended when the audit began, so that all audits see the same records.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from .bad_option import BadOption
from .broker_connection import BrokerError
from .event_audit import audit_events, events_of
from .event_id import check_event_id, event_id_column
from .fetch_log import FetchLog
from .findings import all_findings
from .journal_ledger import audit_journal, read_journal
from .ledger_audit import audit_ledger
from .log_frame import read_log
from .log_splits import open_log
from .options import parse_options
from .sent_ledger import read_sent
from .sequence_audit import audit_sequences
from .spark_session import has_data_sources
from .views import ViewName

# Of a record that is not read yet: its bytes in a log, where nothing but its offset is known.
_RECORD_BYTES_ASSUMED = 100
# Of the log, what one task of a shuffle is to have.
_SHUFFLE_TASK_BYTES = 32 * 1024 * 1024
# Each task of a stage costs the driver some memory.
_SHUFFLE_TASKS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """What to audit: options as the data source takes them, and what else is known of the log.

    event_id: as event_id_column reads it; without it events are not told apart. sent: as read_sent reads it.
    journal, journal_token: as read_journal reads it.
    """

    options: Mapping[str, str]
    event_id: str | None = None
    sent: str | None = None
    journal: str | None = None
    journal_token: str | None = None

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
    if not splits:
        raise BadOption(f"path: there is nothing to read in {options.path}")
    return CheckedRequest(request, sum(split.end - split.start for split in splits))


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
    return CheckedRequest(replace(request, options=options), records * _RECORD_BYTES_ASSUMED)


def shuffle_tasks(size: int, cores: int) -> int:
    """Return how many tasks a shuffle of a log of that size gets: each its share, and no core without one."""
    return min(max(cores, -(-size // _SHUFFLE_TASK_BYTES)), _SHUFFLE_TASKS_MAX)


def read_view(spark: SparkSession, options: Mapping[str, str], view: ViewName) -> DataFrame:
    """Return a view of the log, whatever this Spark can read it with."""
    chosen = {**options, "view": view}
    if has_data_sources(spark):
        return spark.read.format("fauxka-log").options(**chosen).load()
    return read_log(spark, chosen)


def audit(spark: SparkSession, request: AuditRequest) -> DataFrame:
    """Return the findings of every audit that the request makes possible; see findings.py. Raises BadOption."""
    batches = read_view(spark, request.options, "batches")
    records = read_view(spark, request.options, "records")
    found = audit_sequences(batches)
    if request.event_id is not None:
        event_id = event_id_column(request.event_id)
        found = all_findings(found, audit_events(records, event_id, batches))
        if request.sent is not None:
            found = all_findings(found, audit_ledger(records, read_sent(spark, request.sent), event_id, batches))
    if request.journal is not None:
        journal = read_journal(spark, request.journal, request.journal_token)
        found = all_findings(found, audit_journal(records, journal, batches))
    return found


def has_event_ids(spark: SparkSession, request: AuditRequest) -> bool:
    """Whether any record has the event id that is asked for; reads no further than the first that has one."""
    assert request.event_id is not None, "it is asked for"
    records = read_view(spark, request.options, "records")
    events = events_of(records, event_id_column(request.event_id))
    return not events.where("event_id is not null").isEmpty()
