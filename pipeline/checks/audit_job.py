"""The audit of a log: reads both views, runs every audit that the request allows, and returns all findings.

Rules. A finding is one row (findings.py); findings.md explains each kind.
- Damaged: a batch whose CRC is wrong or whose records cannot be read. Its records count as absent. The sequence and
  offset checks use its header only if the CRC is right.
- Gap, repeat, regression: within one producer epoch each batch continues the sequences of the previous one
  (sequence_audit.py). Missing sequences are no gap as far as the log lacks offsets too: compaction removes both.
- Duplicated: a second committed record with the same event id in the same topic (event_audit.py).
- Lost: an event that the ledger lists as acknowledged and no committed record holds, unless retention or compaction may
  have removed it, which is `expired` (audit/ledger_audit.py).
- Reordered: an event behind one of the same key and partition that was sent later, compared by their first copies.
- Aborted transactions hold no events. An open transaction is a fault only when it has timed out
  (audit/transaction_timeouts.py).

What breaks the rules:
- Event ids that are not unique. Each reuse is a duplicate.
- Retention or compaction that the log does not show, such as files copied without the checkpoints of their log
  directory. Removed events are then lost.
- Checks that see different records. A log that is still written is therefore read up to its end at the start of the
  audit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ...client.errors import BrokerError
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..cluster.spark_session import has_data_sources
from ..decode.views import WAIT_COLUMNS, ViewName, columns_of
from ..read.connection_options import connection_options
from ..read.fetch_log import FetchLog
from ..read.log_frame import read_log
from ..read.log_splits import open_log
from ..read.options import SPLIT_BYTES_DEFAULT, SPLIT_RECORDS_DEFAULT, parse_options
from ..read.stores import store_of
from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions
from .audited_range import AuditedRange, find_range
from .audited_topics import AuditedTopics
from .decoded_fields import with_decoded_fields
from .earlier_transactions import OPEN_KINDS, earlier_transactions
from .event_audit import EVENT_COLUMNS, audit_events, count_events, events_of
from .event_id import contents_read_for, decode_problem, event_id_column, is_empty_id
from .event_id_parts import parse_event_id
from .event_id_schemas import check_event_id
from .finding_kinds import Check
from .findings import all_findings
from .journal_ledger import audit_journal, is_address, read_journal
from .ledger_audit import audit_ledger, with_audited
from .log_bounds import bounds_frame, read_bounds
from .log_order import BATCH_COLUMNS_READ
from .sent_ledger import LedgerIds, check_sent, read_sent
from .sequence_audit import audit_sequences
from .store_waits import wait_columns
from .transaction_timeouts import read_timeouts
from .unreadable_records import is_unreadable, with_unreadable_records

# The size of a log on a broker is estimated from its offsets.
_RECORD_BYTES_ASSUMED = 100
# The large columns of the records view.
_CONTENTS = frozenset({"key", "value", "headers"})

SPLIT_DEFAULTS = {"splitBytes": SPLIT_BYTES_DEFAULT, "splitRecords": SPLIT_RECORDS_DEFAULT}
# The bytes of the log for each task of a shuffle.
_SHUFFLE_TASK_BYTES = 32 * 1024 * 1024
# Each task of a stage takes memory on the driver.
TASKS_MAX = 20_000
# The columns that read_identified adds: the event id, whether it is empty, and why it cannot be decoded.
EVENT_ID, _IS_EMPTY, _PROBLEM = "event_id", "has_empty_id", "decode_problem"
# The columns of the records view that the checks read.
_RECORD_COLUMNS = (*EVENT_COLUMNS, "is_control", "valid_crc", "damage")


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The log to audit and the inputs of the checks.

    options: of the data source. event_id: see event_id_column; None skips the event checks. sent: see read_sent.
    journal, journal_token: see read_journal. as_of_ms: the time of the audit, by which an open transaction is a hanging
    one; default: default_as_of. is_empty_an_id: an event id of no characters is one. has_aborts: False skips the search
    for records of aborted transactions. has_transactions: False skips the search for their timeouts. has_unreadable:
    False skips the search for batches with a right CRC and unreadable records. schemas: of the fields of Avro and
    Protobuf in event_id. audited: the range that options select; default: from find_range.
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
    schemas: SchemaOptions = NO_SCHEMAS
    audited: AuditedRange | None = None

    @property
    def event_id_column(self) -> Column | None:
        """The event id as a column; None without one."""
        if self.event_id is None:
            return None
        return event_id_column(self.event_id, is_empty_an_id=self.is_empty_an_id)

    @property
    def reads_records(self) -> bool:
        """Whether a check reads records, and not only batches."""
        return self.event_id is not None or self.journal is not None

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks of the request, for the verdict."""
        checks = ["sequences"]
        if self.event_id is not None:
            checks.append(f"events by {self.event_id}")
        if self.sent is not None:
            checks.append(f"sent events by {self.sent}")
        if self.journal is not None:
            checks.append(f"responses by {self.journal}")
        return tuple(checks)

    @property
    def check_names(self) -> tuple[Check, ...]:
        """The names of the checks of the request, as in the findings."""
        names: list[Check] = ["sequence", "log"]
        if self.event_id is not None:
            names.append("event")
        if self.sent is not None or self.journal is not None:
            names.append("ledger")
        return tuple(names)


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A valid request with fixed offsets for each partition, and the approximate size of the log in bytes."""

    request: AuditRequest
    size: int


def check_request(request: AuditRequest) -> CheckedRequest:
    """Return the request with the range of its partitions. Does not use Spark. Raises BadOption."""
    _check_inputs(request)
    options = parse_options(request.options)
    log = open_log(options)
    try:
        audited = find_range(log, options)
        if isinstance(log, FetchLog) and not audited.ends:
            raise BadOption(f"bootstrap: {request.options['bootstrap']} has no topics to read")
        chosen = audited.reading_options(request.options)
        splits = open_log(parse_options(chosen)).splits()
    except BrokerError as error:
        raise BadOption(str(error)) from error
    except OSError as error:
        raise BadOption(f"path: {error.filename or options.path} cannot be read: {error.strerror}") from error
    size = sum(split.end - split.start for split in splits)
    if isinstance(log, FetchLog):
        chosen = with_split_size(chosen, "splitRecords", size)
        return CheckedRequest(replace(request, options=chosen, audited=audited), size * _RECORD_BYTES_ASSUMED)
    if not splits and not audited.is_cut:
        raise BadOption(f"path: {options.path} contains no batches")
    chosen = with_split_size(chosen, "splitBytes", size)
    return CheckedRequest(replace(request, options=chosen, audited=audited), size)


def _check_inputs(request: AuditRequest) -> None:
    if request.event_id is not None:
        check_event_id(request.event_id, request.schemas)
    elif request.schemas.is_set:
        raise BadOption("event-id: a schema of keys or values needs --event-id, such as avro:id")
    if request.sent is not None:
        if request.event_id is None:
            raise BadOption("sent: a ledger of sent events needs --event-id to find its events in the log")
        check_sent(request.sent)
    if request.journal is not None and not is_address(request.journal):
        _check_journal(request.journal)


def _check_journal(text: str) -> None:
    store, place = store_of("journal", text)
    try:
        is_file = store.list_files(place).is_file(place)
    except OSError as error:
        raise BadOption(f"journal: {error.filename} cannot be read: {error.strerror}") from error
    if not is_file:
        raise BadOption(f"journal: {text} is neither a file nor the address of an admin API")


def with_split_size(options: Mapping[str, str], name: str, size: int) -> dict[str, str]:
    """Return options that read a log of that size in at most TASKS_MAX tasks (at least one a file).

    name: splitBytes or splitRecords. A value in options is kept.
    """
    given = {option.lower(): value for option, value in options.items()}
    split_size = -(-size // TASKS_MAX)
    if name.lower() in given or split_size <= SPLIT_DEFAULTS[name]:
        return dict(options)
    return {**options, name: str(split_size)}


def shuffle_tasks(size: int, cores: int) -> int:
    """Return the number of tasks of a shuffle for a log of that size in bytes: at least one for each core."""
    return min(max(cores, -(-size // _SHUFFLE_TASK_BYTES)), TASKS_MAX)


def read_view(
    spark: SparkSession, options: Mapping[str, str], view: ViewName, columns: Collection[str] | None = None
) -> DataFrame:
    """Return a view of the log, read by the data source or, on Spark 3.5, by read_log.

    columns: names of the needed columns, because Spark prunes none of a Python source; default: all.
    """
    chosen = {**options, "view": view}
    if not has_data_sources(spark):
        return read_log(spark, chosen, columns)
    reader = spark.read.format("fauxka-log").options(**chosen)
    if columns is not None:
        every = (*columns_of(view), *WAIT_COLUMNS)
        kinds = (f"{column.name} {column.kind}" for column in every if column.name in columns)
        reader = reader.schema(", ".join(kinds))
    return reader.load()


def read_records(
    spark: SparkSession,
    options: Mapping[str, str],
    event_id: str | None,
    schemas: SchemaOptions = NO_SCHEMAS,
    more: Sequence[str] = (),
) -> DataFrame:
    """Return the records view without key, value and headers, except the contents of the event id.

    schemas: of its decoded parts, which are in another column (decoded_fields.py). more: names of WAIT_COLUMNS.
    """
    contents = _CONTENTS - (set() if event_id is None else contents_read_for(event_id))
    names = [column.name for column in columns_of("records") if column.name not in contents]
    records = read_view(spark, options, "records", [*names, *more])
    return records if event_id is None else with_decoded_fields(records, event_id, schemas)


def audit(
    spark: SparkSession, request: AuditRequest, records: DataFrame | None = None, counts: DataFrame | None = None
) -> DataFrame:
    """Return the findings of every audit that the request allows. Raises BadOption.

    records: from read_identified, which the checks read several times: persisted, they are decoded once. counts: of the
    request's events (count_events_in), if they have been counted.
    """
    batches = read_view(spark, request.options, "batches", BATCH_COLUMNS_READ)
    records = read_identified(spark, request) if records is None else records
    judged = with_unreadable_records(batches, records) if request.reads_records and request.has_unreadable else batches
    audited = _range_of(request)
    known = read_bounds(request.options) if audited.is_cut or request.sent or request.journal else []
    cleaned = {PartitionName(one.topic, one.partition): one.cleaned_before for one in known}
    ranges = audited.frame(spark, cleaned) if audited.is_cut else None
    found = _sequence_findings(spark, request, audited, judged, ranges)
    with_aborted = batches if request.has_aborts else None
    event_id = f.col(EVENT_ID)
    if request.event_id is not None:
        found = all_findings(found, audit_events(records, event_id, with_aborted, counts))
    if request.sent is None and request.journal is None:
        return found
    bounds = bounds_frame(spark, known)
    topics = AuditedTopics(parse_options(request.options), frozenset(one.topic for one in known))
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
    spark: SparkSession, request: AuditRequest, audited: AuditedRange, batches: DataFrame, ranges: DataFrame | None
) -> DataFrame:
    """Return the findings of sequences and transactions. ranges: from audited; None for the whole log."""
    as_of_ms = request.as_of_ms
    if as_of_ms is None:
        is_cut = bool(audited.cut_ends)
        as_of_ms = default_as_of(request.options, lambda: newest_timestamp(batches), is_end_cut=is_cut)
    earlier = earlier_transactions(request.options, audited)
    has_timeouts = request.has_transactions or earlier is not None
    timeouts = read_timeouts(spark, request.options) if has_timeouts else None
    as_of = f.timestamp_millis(f.lit(as_of_ms))
    found = audit_sequences(batches, as_of, timeouts, ranges)
    if earlier is None:
        return found
    first_batches = read_view(spark, earlier, "batches", BATCH_COLUMNS_READ)
    still_open = audit_sequences(first_batches, as_of, timeouts).where(f.col("kind").isin(*OPEN_KINDS))
    return all_findings(found, still_open)


def _range_of(request: AuditRequest) -> AuditedRange:
    if request.audited is not None:
        return request.audited
    options = parse_options(request.options)
    try:
        return find_range(open_log(options), options)
    except BrokerError as error:
        raise BadOption(str(error)) from error


def read_identified(spark: SparkSession, request: AuditRequest) -> DataFrame:
    """Return the records with all that the checks read of them: their event id, and no contents.

    Has the columns of _RECORD_COLUMNS, EVENT_ID, _IS_EMPTY, _PROBLEM, and wait_columns.
    """
    waits = wait_columns(request.options)
    records = read_records(spark, request.options, request.event_id, request.schemas, waits)
    event_id = request.event_id_column
    if request.event_id is None or event_id is None:
        return records.select(*_RECORD_COLUMNS, *waits)
    is_empty = f.lit(False) if request.is_empty_an_id else is_empty_id(request.event_id)
    of_id = (event_id.alias(EVENT_ID), is_empty.alias(_IS_EMPTY), decode_problem(request.event_id).alias(_PROBLEM))
    return records.select(*_RECORD_COLUMNS, *of_id, *waits)


def count_events_in(spark: SparkSession, request: AuditRequest, records: DataFrame) -> DataFrame:
    """Return the counts of the committed records with and without the requested event id (see count_events).

    records: from read_identified.
    """
    batches = read_view(spark, request.options, "batches", BATCH_COLUMNS_READ) if request.has_aborts else None
    return count_events(events_of(records, f.col(EVENT_ID), batches, f.col(_IS_EMPTY), f.col(_PROBLEM)))


def has_unreadable() -> Column:
    """Return an aggregate over records: whether a batch with a right CRC has unreadable records."""
    return f.coalesce(f.bool_or(is_unreadable()), f.lit(False))


def newest_timestamp(batches: DataFrame) -> int | None:
    """Return the newest timestamp of the batches view in milliseconds. Reads the whole frame."""
    found = batches.agg(newest_ms().alias("newest")).first()
    return None if found is None else found["newest"]


# The columns of the batches view that the aggregates below read.
OBSERVED_COLUMNS = ("max_timestamp", "valid_crc", "control_type", "is_transactional")


def newest_ms() -> Column:
    """Return an aggregate: the newest timestamp in milliseconds of the batches with a right CRC."""
    return f.max(f.when(f.col("valid_crc"), f.unix_millis("max_timestamp")))


def has_aborts() -> Column:
    """Return an aggregate: whether the batches contain an abort marker."""
    return f.coalesce(f.max(f.col("control_type") == "abort"), f.lit(False))


def has_transactions() -> Column:
    """Return an aggregate: whether the batches contain one of a transaction."""
    return f.coalesce(f.max(f.col("valid_crc") & f.col("is_transactional")), f.lit(False))


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
