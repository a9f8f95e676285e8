"""The audit of a log: reads both views, runs every audit that the request allows, and returns all findings.

Rules. A finding is one row (findings.py); findings.md explains each kind.
- Damaged: a batch whose CRC is wrong or whose records cannot be read. Its records count as absent. The sequence and
  offset checks use its header only if the CRC is right.
- Gap, repeat, regression: within one producer epoch each batch continues the sequences of the previous one
  (sequence_audit.py). Missing sequences are no gap as far as the log lacks offsets too: compaction removes both.
- Duplicated: a second committed record with the same event id in the same topic (event_audit.py).
- Lost: an event that the ledger lists as acknowledged and no committed record holds, unless retention or compaction may
  have removed it, which is `expired` (ledger_audit.py).
- Reordered: an event behind one of the same key and partition that was sent later, compared by their first copies.
- Aborted transactions hold no events. An open transaction is a fault only when it has timed out
  (transaction_timeouts.py).

What breaks the rules:
- Event ids that are not unique. Each reuse is a duplicate.
- Retention or compaction that the log does not show, such as files copied without the checkpoints of their log
  directory. Removed events are then lost.
- Checks that see different records. A log that is still written is therefore read up to its end at the start of the
  audit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from ...client.errors import BrokerError
from ..bad_option import BadOption
from ..decode.id_hashes import HashedId
from ..read.connection_options import connection_options
from ..read.fetch_log import FetchLog
from ..read.file_log import FileLog
from ..read.log_splits import open_log
from ..read.options import parse_options
from ..read.stores import store_of
from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions
from .audited_range import AuditedRange, find_range
from .audited_topics import AuditedTopics
from .earlier_transactions import OPEN_KINDS, earlier_transactions
from .event_audit import audit_events, audit_screened
from .event_id_parts import parse_event_id
from .event_id_schemas import check_event_id
from .finding_kinds import Check
from .findings import all_findings
from .group_input import audit_groups, check_groups
from .identified_records import EVENT_ID, EVENT_TIME, VERSION, RecordTexts, read_identified
from .journal_ledger import audit_journal, is_address, read_journal
from .lateness_audit import audit_lateness, lateness_of_topics, with_lateness
from .ledger_audit import audit_ledger, with_audited
from .log_bounds import bounds_frame
from .log_facts import facts_frame
from .log_order import BATCH_COLUMNS_READ
from .log_state import read_state
from .log_views import read_view
from .observed_batches import newest_timestamp
from .old_formats import audit_old_formats
from .record_fields import check_field, with_field
from .replica_audit import (
    REPLICA_COLUMNS,
    audit_replica,
    compared_frame,
    compared_partitions,
    replica_options,
)
from .screened_events import CountedEvents, hashed_id
from .sent_ledger import LedgerIds, check_sent, read_sent
from .sequence_audit import audit_sequences
from .task_sizes import BATCH_BYTES_ASSUMED, RECORD_BYTES_ASSUMED, with_bounded_splits
from .transaction_timeouts import read_timeouts
from .truncation_audit import audit_truncation
from .unreadable_records import with_unreadable_records
from .version_audit import audit_versions


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The log to audit and the inputs of the checks.

    options: of the data source. event_id: see event_id_column; None skips the event checks. sent: see read_sent.
    journal, journal_token: see read_journal. as_of_ms: the time of the audit, by which an open transaction is a hanging
    one; default: default_as_of. is_empty_an_id: an event id of no characters is one. has_aborts: False skips the search
    for records of aborted transactions. has_transactions: False skips the search for their timeouts. has_unreadable:
    False skips the search for batches with a right CRC and unreadable records. has_old_format: False skips the search
    for messages of magic 0 and 1. schemas: of the fields of Avro and Protobuf in event_id. audited: the range that
    options select; default: from find_range. replicas: log directories of other brokers. groups: see audit_groups.
    version_field, event_time_field: see check_field. late_after_ms: None for no `late` findings. replica_logs: of each
    replica, the options of the data source; default: from replica_options.
    """

    options: Mapping[str, str]
    event_id: str | None = None
    sent: str | None = None
    journal: str | None = None
    journal_token: str | None = field(default=None, repr=False)
    as_of_ms: int | None = None
    is_empty_an_id: bool = False
    has_aborts: bool = True
    has_transactions: bool = True
    has_unreadable: bool = True
    has_old_format: bool = True
    schemas: SchemaOptions = NO_SCHEMAS
    audited: AuditedRange | None = None
    replicas: tuple[str, ...] = ()
    groups: str | None = None
    version_field: str | None = None
    event_time_field: str | None = None
    late_after_ms: int | None = None
    replica_logs: tuple[Mapping[str, str], ...] = ()

    @property
    def reads_records(self) -> bool:
        """Whether a check reads records, and not only batches."""
        read_for = (self.event_id, self.journal, self.version_field, self.event_time_field)
        return any(text is not None for text in read_for)

    def records(self, spark: SparkSession, options: Mapping[str, str] | None = None) -> DataFrame:
        """Return the records that the checks read (identified_records.py). options: default: those of the request."""
        texts = RecordTexts(self.event_id, self.schemas, self.is_empty_an_id, self.version_field, self.event_time_field)
        return read_identified(spark, self.options if options is None else options, texts)

    @property
    def hashed_id(self) -> HashedId | None:
        """The event id, if the checks read nothing else of a record and it can be hashed."""
        others = (self.journal, self.sent, self.version_field, self.event_time_field)
        if self.event_id is None or any(text is not None for text in others):
            return None
        return hashed_id(self.event_id, is_empty_an_id=self.is_empty_an_id)

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks of the request, for the verdict."""
        checks = ["sequences"]
        checks += [f"replica {place}" for place in self.replicas]
        if self.groups is not None:
            checks.append(f"groups {self.groups}")
        if self.event_id is not None:
            checks.append(f"events by {self.event_id}")
        if self.version_field is not None:
            checks.append(f"versions by {self.version_field}")
        if self.event_time_field is not None:
            checks.append(f"lateness by {self.event_time_field}")
        if self.sent is not None:
            checks.append(f"sent events by {self.sent}")
        if self.journal is not None:
            checks.append(f"responses by {self.journal}")
        return tuple(checks)

    @property
    def check_names(self) -> tuple[Check, ...]:
        """The names of the checks of the request, as in the findings."""
        names: list[Check] = ["sequence", "log"]
        if any(text is not None for text in (self.event_id, self.version_field, self.event_time_field)):
            names.append("event")
        if self.sent is not None or self.journal is not None:
            names.append("ledger")
        if self.groups is not None:
            names.append("group")
        return tuple(names)


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A valid request with fixed offsets for each partition, and the approximate size of the log in bytes."""

    request: AuditRequest
    size: int

    @property
    def row_count(self) -> int:
        """About the number of records or batches that become rows of Spark, unless a transaction is aborted."""
        are_records = self.request.reads_records and self.request.hashed_id is None
        return self.size // (RECORD_BYTES_ASSUMED if are_records else BATCH_BYTES_ASSUMED)


def check_request(request: AuditRequest) -> CheckedRequest:
    """Return the request with the range of its partitions. Does not use Spark. Raises BadOption."""
    _check_inputs(request)
    options = parse_options(request.options)
    log = open_log(options)
    try:
        audited = find_range(log, options)
        if isinstance(log, FetchLog) and not audited.ends:
            raise BadOption(f"bootstrap: {request.options['bootstrap']} has no topics to read")
        chosen, size = with_bounded_splits(audited.reading_options(request.options))
    except BrokerError as error:
        raise BadOption(str(error)) from error
    except OSError as error:
        raise BadOption(f"path: {error.filename or options.path} cannot be read: {error.strerror}") from error
    request = replace(request, options=chosen, audited=audited)
    request = replace(request, replica_logs=_replica_logs(request))
    if isinstance(log, FileLog) and not size and not audited.is_cut:
        raise BadOption(f"path: {options.path} contains no batches")
    return CheckedRequest(request, size)


def _check_inputs(request: AuditRequest) -> None:
    if request.event_id is not None:
        check_event_id(request.event_id, request.schemas)
    elif request.schemas.is_set:
        raise BadOption("event-id: a schema of keys or values needs --event-id, such as avro:id")
    _check_fields(request)
    if request.groups is not None:
        check_groups(request.options, request.groups)
    if request.sent is not None:
        if request.event_id is None:
            raise BadOption("sent: a ledger of sent events needs --event-id to find its events in the log")
        check_sent(request.sent)
    if request.journal is not None and not is_address(request.journal):
        _check_journal(request.journal)


def _check_fields(request: AuditRequest) -> None:
    fields = {"version-field": request.version_field, "event-time-field": request.event_time_field}
    for option, text in fields.items():
        if text is not None:
            check_field(option, text)
    if request.late_after_ms is not None and request.event_time_field is None:
        raise BadOption("late-after: needs --event-time-field")


def _replica_logs(request: AuditRequest) -> tuple[Mapping[str, str], ...]:
    if request.replicas and _range_of(request).is_cut:
        raise BadOption(f"replica: {request.replicas[0]} is compared with the whole log, without --since and --until")
    return tuple(replica_options(request.options, place) for place in request.replicas)


def _check_journal(text: str) -> None:
    store, place = store_of("journal", text)
    try:
        is_file = store.list_files(place).is_file(place)
    except OSError as error:
        raise BadOption(f"journal: {error.filename} cannot be read: {error.strerror}") from error
    if not is_file:
        raise BadOption(f"journal: {text} is neither a file nor the address of an admin API")


def audit(
    spark: SparkSession,
    request: AuditRequest,
    records: DataFrame | None = None,
    counted: CountedEvents | None = None,
) -> DataFrame:
    """Return the findings of every audit that the request allows. Raises BadOption.

    records: of the request; persisted, they are decoded once. counted: the events, if they have been counted; screened
    only if no transaction is aborted.
    """
    batches = read_view(spark, request.options, "batches", BATCH_COLUMNS_READ)
    records = request.records(spark) if records is None else records
    judged = with_unreadable_records(batches, records) if request.reads_records and request.has_unreadable else batches
    audited = _range_of(request)
    state = read_state(request.options)
    ranges = audited.frame(spark) if audited.is_cut else None
    found = _sequence_findings(spark, request, audited, judged, facts_frame(spark, state.facts))
    truncated = audit_truncation(spark, state.truncated, audited)
    if truncated is not None:
        found = all_findings(found, truncated)
    for place, options in zip(request.replicas, request.replica_logs or _replica_logs(request), strict=True):
        compared = compared_frame(spark, compared_partitions(state, read_state(options)))
        log, replica = (read_view(spark, one, "batches", REPLICA_COLUMNS) for one in (request.options, options))
        found = all_findings(found, audit_replica(log, replica, compared, place))
    if request.groups is not None:
        commits = audit_groups(
            spark, request.options, request.groups, state.bounds, lambda: read_view(spark, request.options, "batches")
        )
        found = all_findings(found, commits)
    with_aborted = batches if request.has_aborts else None
    event_id = f.col(EVENT_ID)
    if request.event_id is not None:
        found = all_findings(found, _event_findings(spark, request, records, with_aborted, counted))
    found = all_findings(found, *_field_findings(request, records, with_aborted))
    if request.sent is None and request.journal is None:
        return found
    bounds = bounds_frame(spark, state.bounds)
    topics = AuditedTopics(parse_options(request.options), frozenset(one.topic for one in state.bounds))
    if request.sent is not None and request.event_id is not None:
        ids = LedgerIds(len(parse_event_id(request.event_id)), request.is_empty_an_id)
        sent = read_sent(spark, request.sent, topics, ids=ids, connection=connection_options(request.options))
        sent = sent if ranges is None else with_audited(sent, ranges)
        found = all_findings(found, audit_ledger(records, sent, event_id, with_aborted, bounds))
    if request.journal is not None:
        journal = read_journal(spark, request.journal, request.journal_token, topics)
        journal = journal if ranges is None else with_audited(journal, ranges)
        found = all_findings(found, audit_journal(records, journal, with_aborted, bounds))
    return found


def _sequence_findings(
    spark: SparkSession, request: AuditRequest, audited: AuditedRange, batches: DataFrame, facts: DataFrame
) -> DataFrame:
    """Return the findings of sequences, offsets, leader epochs and transactions. facts: of FACTS_SCHEMA."""
    ranges = audited.frame(spark) if audited.is_cut else None
    as_of_ms = request.as_of_ms
    if as_of_ms is None:
        is_cut = bool(audited.cut_ends)
        as_of_ms = default_as_of(request.options, lambda: newest_timestamp(batches), is_end_cut=is_cut)
    earlier = earlier_transactions(request.options, audited)
    has_timeouts = request.has_transactions or earlier is not None
    timeouts = read_timeouts(spark, request.options) if has_timeouts else None
    as_of = f.timestamp_millis(f.lit(as_of_ms))
    found = audit_sequences(batches, as_of, timeouts, ranges, facts)
    if request.has_old_format:
        found = all_findings(found, audit_old_formats(batches))
    if earlier is None:
        return found
    first_batches = read_view(spark, earlier, "batches", BATCH_COLUMNS_READ)
    still_open = audit_sequences(first_batches, as_of, timeouts).where(f.col("kind").isin(*OPEN_KINDS))
    return all_findings(found, still_open)


def _event_findings(
    spark: SparkSession,
    request: AuditRequest,
    records: DataFrame,
    with_aborted: DataFrame | None,
    counted: CountedEvents | None,
) -> DataFrame:
    event_id = f.col(EVENT_ID)
    if counted is None or counted.screened is None:
        return audit_events(records, event_id, with_aborted, None if counted is None else counted.counts)
    options = counted.screened.options
    repeated = None if options is None else request.records(spark, options)
    return audit_screened(repeated, event_id, counted.counts)


def _field_findings(request: AuditRequest, records: DataFrame, with_aborted: DataFrame | None) -> Iterator[DataFrame]:
    """Yield the findings of versions and event times. with_aborted: the batches, if a transaction was aborted."""
    if request.version_field is not None:
        yield audit_versions(with_field(records, f.col(VERSION), with_aborted))
    if request.event_time_field is not None:
        timed = with_lateness(with_field(records, f.col(EVENT_TIME), with_aborted))
        yield audit_lateness(timed, request.late_after_ms)


def topic_lateness(spark: SparkSession, request: AuditRequest, records: DataFrame) -> DataFrame | None:
    """Return how late the records of each topic are (lateness_of_topics); None without an event time.

    records: of the request; persisted, they are decoded once.
    """
    if request.event_time_field is None:
        return None
    batches = read_view(spark, request.options, "batches", BATCH_COLUMNS_READ) if request.has_aborts else None
    return lateness_of_topics(with_lateness(with_field(records, f.col(EVENT_TIME), batches)))


def _range_of(request: AuditRequest) -> AuditedRange:
    if request.audited is not None:
        return request.audited
    options = parse_options(request.options)
    try:
        return find_range(open_log(options), options)
    except BrokerError as error:
        raise BadOption(str(error)) from error


def default_as_of(options: Mapping[str, str], newest: Callable[[], int | None], *, is_end_cut: bool = False) -> int:
    """Return the default time of the audit in milliseconds: now for a broker, the newest timestamp for files.

    The newest timestamp gives a folder the same findings at any later time. A producer can write any timestamp, so the
    last modification of a file is the upper limit; it is the time itself if there is no timestamp.
    newest: returns the newest timestamp or None; not called for a broker. is_end_cut: the log has later records, which
    can end a transaction, so the time is the newest timestamp for a broker too. Raises BadOption.
    """
    log = open_log(parse_options(options))
    latest_ms = round(time.time() * 1000)
    if isinstance(log, FetchLog):
        if not is_end_cut:
            return latest_ms
    else:
        changed = (segment.modified_ms for segments in log.segments().values() for segment in segments)
        latest_ms = round(max(changed, default=time.time() * 1000))
    newest_timestamp_ms = newest()
    return latest_ms if newest_timestamp_ms is None else min(newest_timestamp_ms, latest_ms)
