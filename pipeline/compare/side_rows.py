"""The rows of a side: the records of a log without markers, damaged batches and aborted transactions, or a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from ...client.errors import BrokerError
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..checks.audited_range import AuditedRange, find_range
from ..checks.decoded_fields import with_decoded_fields
from ..checks.event_audit import is_event
from ..checks.event_id_parts import parse_row_id
from ..checks.log_bounds import LogBounds
from ..checks.log_order import BATCH_COLUMNS_READ
from ..checks.log_state import read_state
from ..checks.log_views import read_view
from ..checks.observed_batches import has_aborts
from ..checks.task_sizes import with_bounded_splits
from ..checks.transaction_spans import BATCH_OF_RECORD, aborted_batches, without_aborted
from ..cluster.spark_errors import SOURCE_ERRORS, failure_reason
from ..cluster.stored_files import content_files, find_store
from ..cluster.stored_frames import read_parquet
from ..read.log_splits import open_log
from ..read.options import parse_options
from ..read.stored_listing import with_listing
from .sides import PARQUET, LogSide, Side, TableSide

_UNCOMMITTED = {"isolationLevel": "read_uncommitted"}


@dataclass(frozen=True, slots=True)
class OpenedLog:
    """A log with a fixed end. options: of the data source, with a listing of files. size: in bytes, approximately.

    audited: the range, from whose start the log is read. ends: the end of each partition; first_open: the first offset
    of its earliest open transaction, where reading ends.
    """

    options: Mapping[str, str]
    audited: AuditedRange
    bounds: tuple[LogBounds, ...]
    size: int
    ends: Mapping[PartitionName, int]
    first_open: Mapping[PartitionName, int]


def open_side(side: LogSide, topics: Collection[str] | None, wanted: Mapping[str, str]) -> OpenedLog:
    """Return a log with the present end of each partition. Raises BadOption.

    topics: default: all of the side. wanted: options of the data source for a range, from whose start it is read.
    """
    options = dict(side.options) if topics is None else {**side.options, "topics": ",".join(sorted(topics))}
    try:
        options = with_listing(options)
        parsed = parse_options(options)
        first_open = open_log(parsed).open_transaction_offsets()
        audited = _find_part(options, wanted)
        # Later, so that a log that grows ends behind the start.
        whole = find_range(open_log(parsed), parsed)
        if not whole.ends:
            raise BadOption(f"{side.place} has no topics to read")
        start = {"startingOffsets": "earliest"} if wanted else {}
        read = replace(whole, starts=audited.starts)
        chosen, size = with_bounded_splits(read.reading_options({**options, **start}))
        bounds = tuple(read_state(options).bounds)
        # Later than the end of reading, so that no record is taken for one behind the end of the log.
        _, ends = open_log(parse_options({**options, **_UNCOMMITTED})).whole_range()
    except (BadOption, BrokerError) as error:
        raise BadOption(f"{side.name}: {error}") from error
    except OSError as error:
        raise BadOption(f"{side.name}: {error.filename or side.place} cannot be read: {error.strerror}") from error
    return OpenedLog(chosen, audited, bounds, size, ends, first_open)


def _find_part(options: Mapping[str, str], wanted: Mapping[str, str]) -> AuditedRange:
    has_end = any(name.startswith("ending") for name in wanted)
    kept = {name: value for name, value in options.items() if not (has_end and name == "endingOffsets")}
    parsed = parse_options({**kept, **wanted})
    return find_range(open_log(parsed), parsed)


def read_rows(spark: SparkSession, side: Side, opened: OpenedLog | None) -> DataFrame:
    """Return the rows of a side, with the fields of its event id. opened: of a log. Raises BadOption."""
    if isinstance(side, TableSide):
        rows = _read_table(spark, side)
    else:
        assert opened is not None, "a log is opened before it is read"
        rows = _read_log(spark, opened)
    return with_fields(rows, side)


def with_fields(rows: DataFrame, side: Side) -> DataFrame:
    """Return the rows of a side with the decoded fields of its event id. Raises BadOption."""
    event_id = side.columns.event_id
    if event_id is None:
        return rows
    kinds = dict(rows.dtypes)
    for part in parse_row_id(event_id):
        kind = kinds.get(part.content)
        if part.is_decoded and kind != "binary":
            found = f"has none; it has {', '.join(sorted(kinds))}" if kind is None else f"has one of {kind}"
            raise BadOption(
                f"{side.name}-event-id: {part.text} needs a column {part.content} of binary, and {side.place} {found}"
            )
    return with_decoded_fields(rows, event_id, side.columns.schemas)


def read_aborted_rows(spark: SparkSession, opened: OpenedLog) -> DataFrame | None:
    """Return the records of aborted transactions of a log; None if it has no such transaction. Reads the log again."""
    options = {**opened.options, **_UNCOMMITTED}
    batches = read_view(spark, options, "batches", BATCH_COLUMNS_READ)
    if not _has_aborts(batches):
        return None
    events = read_view(spark, options, "records").where(is_event())
    return events.join(aborted_batches(batches), BATCH_OF_RECORD, "left_semi")


def _read_log(spark: SparkSession, opened: OpenedLog) -> DataFrame:
    events = read_view(spark, opened.options, "records").where(is_event())
    if "path" not in opened.options:
        return events
    # A folder without transaction indexes does not say which of its transactions were aborted.
    batches = read_view(spark, opened.options, "batches", BATCH_COLUMNS_READ)
    return without_aborted(events, batches if _has_aborts(batches) else None)


def _has_aborts(batches: DataFrame) -> bool:
    found = batches.agg(has_aborts().alias("has_aborts")).first()
    return found is not None and found["has_aborts"]


def _read_table(spark: SparkSession, side: TableSide) -> DataFrame:
    try:
        stored = find_store(side.name, side.path) if side.path is not None and side.format == PARQUET else None
        if stored is None:
            rows = spark.read.format(side.format).options(**side.options).load(side.path)
            # Spark Connect looks for the table only now.
            _ = rows.schema
            return rows
        store, place = stored
        files = sorted(content_files(store, place))
        if not files:
            raise BadOption(f"{side.name}: there is no {place}")
        return read_parquet(spark, store, files)
    except SOURCE_ERRORS as error:
        raise BadOption(f"{side.name}: {side.place} cannot be read: {failure_reason(error)}") from error
    except OSError as error:
        raise BadOption(f"{side.name}: {error.filename} cannot be read: {error.strerror}") from error
    except BadOption:
        raise
    except ValueError as error:
        # Of pyarrow, for a file that is no parquet.
        reason = str(error).partition("\n")[0]
        raise BadOption(f"{side.name}: {side.place} cannot be read: {reason}") from error
