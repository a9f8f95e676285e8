"""The columns and SQL expressions that a user names for a side, over its rows; each is checked before a job.

A name with a dot is that of a field in a struct. One that has a dot itself is in backticks, as in SQL.
"""

from __future__ import annotations

from pyspark.errors import ParseException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType

from ..bad_option import BadOption
from ..checks.event_id import row_id_column
from ..checks.event_id_parts import COLUMN, parse_row_id
from ..cluster.spark_errors import failure_reason
from .sides import LogSide, Side, SideName

# The columns of a log with the place of a record, in the order of the option --offset-columns.
IN_LOG = ("topic", "partition", "offset")

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_TIMES = ("timestamp", "timestamp_ntz")
# Numbers that stand for a whole one, such as those of a column with nulls in pandas, and digits.
_NUMBERS = (*_WHOLE, "float", "double", "decimal", "string")
_KINDS = {"topic": "string", "partition": "int", "offset": "bigint"}


def expression(rows: DataFrame, option: str, text: str, sql: str | None = None) -> Column:
    """Return a SQL expression as a column over rows. option, text: for the message of the BadOption.

    sql: default: text.
    """
    try:
        column = f.expr(text if sql is None else sql)
        _ = rows.select(column).schema
    except ParseException:
        raise BadOption(f"{option}: {text} is not a SQL expression") from None
    except PySparkException as error:
        raise BadOption(f"{option}: {text}: {failure_reason(error)}") from None
    return column


def condition(rows: DataFrame, option: str, text: str) -> Column:
    """Return a SQL expression that is true or false. Raises BadOption."""
    column = expression(rows, option, text)
    try:
        kind = kind_of(rows.where(column), column)
    except PySparkException as error:
        raise BadOption(f"{option}: {text}: {failure_reason(error)}") from None
    if kind != "boolean":
        raise BadOption(f"{option}: {text} must be true or false, not {kind}")
    return column


def time_column(rows: DataFrame, option: str, text: str) -> Column:
    """Return a SQL expression that is a time. Raises BadOption."""
    column = expression(rows, option, text)
    kind = kind_of(rows, column)
    if kind in _WHOLE:
        raise BadOption(f"{option}: {text} must be a time, not {kind}; timestamp_millis({text}) is one of milliseconds")
    if kind not in (*_TIMES, "date", "string", "void"):
        raise BadOption(f"{option}: {text} must be a time, not {kind}")
    return column


def order_column(rows: DataFrame, side: SideName, text: str) -> Column:
    """Return a SQL expression by which the rows of a table are in order, as a whole number. Raises BadOption."""
    column = expression(rows, f"{side}-order", text)
    kind = kind_of(rows, column)
    if kind in _TIMES:
        return f.unix_micros(column.cast("timestamp"))
    if kind in _WHOLE:
        return column
    raise BadOption(f"{side}-order: {text} must be a whole number or a timestamp, not {kind}")


def as_bytes(rows: DataFrame, option: str, text: str) -> list[Column]:
    """Return SQL expressions, separated by commas, as binary columns: binary as it is, all else as its text."""
    whole = expression(rows, option, text, f"struct({text})")
    fields = rows.select(whole.alias("whole")).select("whole.*").schema.fields
    columns = [whole.getField(field.name) for field in fields]
    return [
        column if isinstance(field.dataType, BinaryType) else column.cast("string").cast("binary")
        for column, field in zip(columns, fields, strict=True)
    ]


def id_column(rows: DataFrame, option: str, text: str, *, is_empty_an_id: bool) -> Column:
    """Return an event id as a string column. Raises BadOption."""
    try:
        names = [part.name for part in parse_row_id(text) if part.source == COLUMN]
        binary = frozenset(name for name in names if kind_of(rows, f.col(name)) == "binary")
        column = row_id_column(text, is_empty_an_id=is_empty_an_id, binary=binary)
        _ = rows.select(column).schema
    except PySparkException as error:
        raise BadOption(f"{option}: {text}: {failure_reason(error)}") from None
    return column


def place_columns(rows: DataFrame, side: Side) -> dict[str, Column]:
    """Return the topic, the partition and the offset of each row, without the topic if the side has no column for it.

    Those of a table are of the left log, those of a log are its own. A text that is no whole number is null. Raises
    BadOption for a column that is missing or has another type.
    """
    if isinstance(side, LogSide):
        return {name: f.col(name) for name in IN_LOG}
    names = zip(reversed(IN_LOG), reversed(side.columns.offsets), strict=False)
    return {name: _place_column(rows, side, name, column) for name, column in names}


def _place_column(rows: DataFrame, side: Side, name: str, column: str) -> Column:
    top = column.partition(".")[0]
    if top not in rows.columns and not column.startswith("`"):
        listed = ", ".join(sorted(rows.columns))
        raise BadOption(f"offset-columns: {side.place} has no column {column}; it has {listed}")
    try:
        kind = kind_of(rows, f.col(column))
    except PySparkException as error:
        raise BadOption(f"offset-columns: {column} of {side.place}: {failure_reason(error)}") from None
    if name == "topic":
        if kind not in ("string", "binary", *_WHOLE, "date"):
            raise BadOption(f"offset-columns: {column} of {side.place} must be the name of a topic, not {kind}")
        return f.col(column).cast("string")
    if kind.partition("(")[0] not in _NUMBERS:
        raise BadOption(f"offset-columns: {column} of {side.place} must be a whole number, not {kind}")
    path = column if "`" in column else ".".join(f"`{part}`" for part in column.split("."))
    return f.expr(f"try_cast({path} as {_KINDS[name]})")


def kind_of(rows: DataFrame, column: Column) -> str:
    """Return the SQL type of a column."""
    return rows.select(column.alias("kind")).schema["kind"].dataType.simpleString()
