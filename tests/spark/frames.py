"""Small frames of both views for tests; columns that a row omits have the values of an ordinary producer."""

from datetime import UTC, datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual  # pyright: ignore[reportUnknownVariableType]

from fauxka.pipeline.decode.views import schema_of

START = datetime(2026, 1, 1, tzinfo=UTC)

_BATCH: dict[str, object] = {
    "topic": "t",
    "partition": 0,
    "leader_epoch": 0,
    "magic": 2,
    "codec": "none",
    "timestamp_type": 0,
    "is_transactional": False,
    "is_control": False,
    "has_delete_horizon": False,
    "producer_id": 7,
    "producer_epoch": 0,
    "batch_bytes": 100,
    "valid_crc": True,
}
_RECORD: dict[str, object] = {
    "topic": "t",
    "partition": 0,
    "offset": 0,
    "timestamp": START,
    "timestamp_type": 0,
    "headers": [],
    "producer_id": 7,
    "producer_epoch": 0,
    "is_transactional": False,
    "is_control": False,
    "leader_epoch": 0,
    "codec": "none",
    "valid_crc": True,
}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def micros(seconds: float) -> int:
    """Return the time as microseconds since 1970."""
    return (at(seconds) - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)


def batch(base_offset: int, base_sequence: int, count: int = 5, **others: object) -> dict[str, object]:
    """Return a row of the batches view."""
    last_sequence = (base_sequence + count - 1) % 2**31 if base_sequence >= 0 else -1
    row = _BATCH | {
        "base_offset": base_offset,
        "last_offset": base_offset + count - 1,
        "last_offset_delta": count - 1,
        "base_sequence": base_sequence,
        "last_sequence": last_sequence,
        "records_count": count,
        "base_timestamp": at(base_offset),
        "max_timestamp": at(base_offset),
    }
    return row | others


def transactional(base_offset: int, base_sequence: int, count: int = 5, **others: object) -> dict[str, object]:
    return batch(base_offset, base_sequence, count, is_transactional=True, **others)


def marker(base_offset: int, control_type: str, **others: object) -> dict[str, object]:
    return transactional(base_offset, -1, 1, is_control=True, control_type=control_type, **others)


def batches(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    return _frame(spark, "batches", rows)


def record(offset: int, key: str | bytes | None, sequence: int | None = None, **others: object) -> dict[str, object]:
    """Return a row of the records view: the only record of its batch, with its offset as the default sequence."""
    content = key.encode() if isinstance(key, str) else key
    sequence = offset if sequence is None else sequence
    row = _RECORD | {
        "offset": offset,
        "key": content,
        "timestamp": at(offset),
        "sequence": sequence,
        "base_sequence": sequence,
        "batch_base_offset": offset,
    }
    return row | others


def records(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    return _frame(spark, "records", rows)


def assert_same(actual: DataFrame, expected: DataFrame) -> None:
    """Compare rows in any order."""
    assertDataFrameEqual(actual, expected)


def assert_found(spark: SparkSession, findings: DataFrame, schema: str, *expected: tuple[object, ...]) -> None:
    """Compare the columns of findings that schema names."""
    names = [column.split()[0] for column in schema.split(", ")]
    assert_same(findings.select(*names), spark.createDataFrame(list(expected), schema))


def _frame(spark: SparkSession, view: str, rows: tuple[dict[str, object], ...]) -> DataFrame:
    schema = schema_of("batches" if view == "batches" else "records")
    names = [column.split()[0] for column in schema.split(", ")]
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], schema)
