"""The ledger of sent events, written by an application: parquet, JSON lines, or a topic with JSON values.

A sink of the audited topic is no ledger. Compared as one, a row that the sink lacks would be an unknown event, and a
row that it has twice one event. So a table of other columns without any that only a ledger has is refused.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from ...client.errors import BrokerError
from ..bad_option import BadOption
from ..cluster.stored_files import content_files, find_store
from ..cluster.stored_frames import base_name, parquet_columns, read_lines, read_parquet
from ..read.log_frame import read_log
from ..read.object_store import ArrowFiles
from ..read.store_address import local_path_of
from .audited_topics import AuditedTopics

# error: null for an acknowledged event. ordinal: the number of the event in the sending order of its key.
# partition, offset: as acknowledged, or null.
SENT_KINDS: dict[str, str] = {
    "event_id": "string",
    "key": "string",
    "ordinal": "bigint",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "error": "string",
}
SENT_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in SENT_KINDS.items())

# The columns that a sink does not have.
_OF_LEDGERS = ("ordinal", "error")

_NUMBERS = [name for name, kind in SENT_KINDS.items() if kind != "string"]
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_ALLOWED = {"string": ("string", "binary", *_WHOLE), "int": _WHOLE, "bigint": _WHOLE}
_ALLOWED_IN_ARRAYS = tuple(f"array<{kind}>" for kind in ("string", *_WHOLE))
_TOPIC = re.compile(r"topic://(?P<bootstrap>[^/]+)/(?P<topic>[^/]+)")
_SHAPE = (
    "must be PATH of parquet files, PATH.jsonl of JSON lines, or topic://HOST:PORT/TOPIC;"
    " parquet:PATH and json:PATH set the format"
)
_NO_LEDGER = "fauxka compare finds what a sink lost or duplicated of a topic"
# What a table of a database begins with, which may be a sink.
_JDBC = "jdbc:"
# The length of an invalid line in an error message.
_SHOWN_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class LedgerIds:
    """How the event ids of a ledger are written.

    parts: of the event id; with more than one, event_id is a JSON array of texts and numbers, as text, or an array in
    JSON lines and parquet. is_empty_an_id: an event_id of no characters is one.
    """

    parts: int = 1
    is_empty_an_id: bool = False


ONE_PART = LedgerIds()


def check_sent(text: str) -> None:
    """Raise BadOption if text is no place of a ledger, or a path on this machine that does not exist."""
    form, place = _form_of(text)
    if form == "topic":
        return
    if place.startswith(_JDBC):
        raise BadOption(f"sent: {_SHAPE}; not {text}. {_NO_LEDGER}")
    if find_store("sent", place) is not None:
        _stored_files(place)
        return
    local = local_path_of(place)
    if local is not None and not glob.glob(local):
        raise BadOption(f"sent: there is no {place}")


def _stored_files(text: str) -> tuple[ArrowFiles, list[str]] | None:
    """Return an object store and the files in it; None for a path that Spark reads. Raises BadOption."""
    found = find_store("sent", text)
    if found is None:
        return None
    store, place = found
    try:
        files = content_files(store, place)
    except OSError as error:
        raise BadOption(f"sent: {error.filename} cannot be read: {error.strerror}") from error
    if not files:
        raise BadOption(f"sent: there is no {place}")
    return store, sorted(files)


def read_sent(
    spark: SparkSession,
    text: str,
    topics: AuditedTopics | None = None,
    *,
    ids: LedgerIds = ONE_PART,
    connection: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return a ledger with the columns of SENT_KINDS, without topic if no line has one. Reads all lines once.

    text: a path (.jsonl, .ndjson and .json are JSON lines, any other is parquet), or topic://HOST:PORT/TOPIC.
    topics: lines of other topics are left out, and a line without a topic is of the audited one. connection: options
    for the broker of a topic (connection_options). Raises BadOption with the first line that has no event_id or a
    partition, offset or ordinal that is not a number, and for lines without a topic in an audit of several.
    """
    form, place = _form_of(text)
    try:
        if form == "topic":
            lines = _from_lines(_lines_of_topic(spark, place, connection or {}))
        elif form == "parquet":
            lines = _from_table(*_table_at(spark, place), text, ids.parts)
        else:
            lines = _from_lines(_text_at(spark, place))
        if ids.parts > 1:
            lines = _with_array_ids(lines, ids.parts)
        return _checked(lines if ids.is_empty_an_id else _without_empty_ids(lines, ids.parts), text, topics)
    except BrokerError as error:
        raise BadOption(f"sent: {error}") from error
    except (PySparkException, OSError, ValueError) as error:
        if isinstance(error, BadOption):
            raise
        raise BadOption(f"sent: {text} cannot be read: {str(error).splitlines()[0]}") from error


def _table_at(spark: SparkSession, place: str) -> tuple[DataFrame, list[str]]:
    """Return a table and the names of its columns. Of one in an object store only those of a ledger are read."""
    stored = _stored_files(place)
    if stored is not None:
        return read_parquet(spark, *stored, tuple(SENT_KINDS)), parquet_columns(*stored)
    table = spark.read.parquet(place)
    return table, table.columns


def _text_at(spark: SparkSession, place: str) -> DataFrame:
    stored = _stored_files(place)
    return spark.read.text(place) if stored is None else read_lines(spark, *stored)


def _form_of(text: str) -> tuple[str, str]:
    if text.startswith("topic://"):
        if _TOPIC.fullmatch(text) is None:
            raise BadOption(f"sent: {_SHAPE}; not {text}")
        return "topic", text
    form, _, place = text.partition(":")
    if form in ("parquet", "json") and place:
        return form, place
    if not text:
        raise BadOption(f"sent: {_SHAPE}")
    return "json" if PurePath(base_name(text)).suffix in (".jsonl", ".ndjson", ".json") else "parquet", text


def _lines_of_topic(spark: SparkSession, text: str, connection: Mapping[str, str]) -> DataFrame:
    found = _TOPIC.fullmatch(text)
    assert found is not None, "_form_of has checked the address"
    # Lines in aborted transactions do not count.
    place = {
        **connection,
        "bootstrap": found["bootstrap"],
        "topics": found["topic"],
        "isolationLevel": "read_committed",
    }
    records = read_log(spark, place)
    return records.where(~f.col("is_control")).select(f.col("value").cast("string").alias("value"))


def _from_lines(lines: DataFrame) -> DataFrame:
    parsed = lines.where(f.length(f.trim("value")) > 0).select("value", f.from_json("value", SENT_SCHEMA).alias("line"))
    is_bad = f.col("line.event_id").isNull()
    for name in _NUMBERS:
        is_bad |= f.get_json_object("value", f"$.{name}").isNotNull() & f.col(f"line.{name}").isNull()
    names = f.json_object_keys("value")
    is_ledger = f.coalesce(f.arrays_overlap(names, f.lit(list(_OF_LEDGERS))), f.lit(False))
    other = f.get(f.array_except(names, f.lit(list(SENT_KINDS))), 0)
    bad_line = f.when(is_bad, f.col("value"))
    return parsed.select("line.*", bad_line.alias("bad_line"), is_ledger.alias("is_ledger"), other.alias("other"))


def _from_table(table: DataFrame, names: list[str], text: str, parts: int) -> DataFrame:
    kinds = dict(table.dtypes)
    if "event_id" not in kinds:
        raise BadOption(f"sent: {text} has no column event_id; it has {', '.join(kinds)}. {_NO_LEDGER}")
    for name, kind in SENT_KINDS.items():
        allowed = (*_ALLOWED[kind], *(_ALLOWED_IN_ARRAYS if name == "event_id" and parts > 1 else ()))
        if name in kinds and kinds[name] not in (*allowed, "void"):
            raise BadOption(f"sent: column {name} of {text} is {' or '.join(allowed)}, not {kinds[name]}")
    if kinds["event_id"].startswith("array"):
        table = table.withColumn("event_id", f.to_json(f.col("event_id").cast("array<string>")))
    columns = [
        (f.col(name) if name in kinds else f.lit(None)).cast(kind).alias(name) for name, kind in SENT_KINDS.items()
    ]
    other = next((name for name in names if name not in SENT_KINDS), None)
    return table.select(*columns).withColumns(
        {
            "bad_line": f.when(f.col("event_id").isNull(), "event_id is null"),
            "is_ledger": f.lit(any(name in kinds for name in _OF_LEDGERS)),
            "other": f.lit(other).cast("string"),
        }
    )


def _with_array_ids(lines: DataFrame, parts: int) -> DataFrame:
    """Write each event_id as event_id_column does; a line without a text for each part is a bad one."""
    has_parts = f.coalesce(f.size(_parts()) == parts, f.lit(False)) & ~f.exists(_parts(), lambda part: part.isNull())
    message = f.concat(f.lit(f"event_id is not an array of {parts} parts: "), "event_id")
    columns = {"bad_line": f.coalesce("bad_line", f.when(~has_parts, message)), "event_id": f.to_json(_parts())}
    return lines.withColumns(columns)


def _parts() -> Column:
    return f.from_json("event_id", "array<string>")


def _without_empty_ids(lines: DataFrame, parts: int) -> DataFrame:
    is_empty, what = f.col("event_id") == "", "event_id is empty"
    if parts > 1:
        is_empty, what = f.exists(_parts(), lambda part: part == ""), "event_id has an empty part"
    message = f.when(is_empty, f"{what}, which --empty-id-is-an-id accepts")
    return lines.withColumn("bad_line", f.coalesce("bad_line", message))


def _checked(lines: DataFrame, text: str, topics: AuditedTopics | None) -> DataFrame:
    found = lines.agg(
        f.min("bad_line").alias("bad_line"),
        f.count("event_id").alias("ids"),
        f.collect_set("topic").alias("topics"),
        f.max(f.col("topic").isNull()).alias("has_line_without_topic"),
        f.max("is_ledger").alias("is_ledger"),
        f.min("other").alias("other"),
    ).first()
    assert found is not None, "an aggregate returns one row"
    if found["bad_line"] is not None:
        pointer = "" if found["ids"] else f". No line has an event_id; {_NO_LEDGER}"
        raise BadOption(f"sent: {text} has an invalid line: {found['bad_line'][:_SHOWN_CHARACTERS]}{pointer}")
    if found["other"] is not None and not found["is_ledger"]:
        raise BadOption(
            f"sent: {text} has neither ordinal nor error, and has {found['other']}: it is no ledger. {_NO_LEDGER};"
            " a ledger with columns of its own needs error, which is null for an acknowledged event"
        )
    sent = lines.drop("bad_line", "is_ledger", "other")
    if topics is None:
        return sent if found["topics"] else sent.drop("topic")
    if found["has_line_without_topic"] and topics.only_name is None:
        raise BadOption(
            f"sent: lines of {text} have no topic, and {len(topics.names)} topics are audited;"
            " set topic in each line, or name one topic with --topics"
        )
    audited = [name for name in found["topics"] if topics.has(name)]
    is_audited = f.col("topic").isNull() | f.col("topic").isin(audited)
    return sent.where(is_audited).withColumn("topic", f.coalesce("topic", f.lit(topics.only_name)))
