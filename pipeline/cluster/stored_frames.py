"""Frames of Spark in an object store, read and written by the tasks with pyarrow, without the jars of Hadoop's clients.

- A written folder has one object for each partition of the frame, named by its number, and the marker _SUCCESS behind
  them. An object appears whole, so a repeated task replaces its object by one with the same rows.
- A folder name such as topic=orders is a column of the parquet files in it, as Spark and Hive write them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from itertools import chain
from tempfile import NamedTemporaryFile
from typing import Any, Protocol, cast
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as parquet
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from ..bad_option import BadOption
from ..decode.arrow_types import arrow
from ..read.object_store import ArrowFiles
from ..sessions.session_kind import kind_of
from ..sessions.worker_process import freeze_imported_objects

MARKER = "_SUCCESS"
# Hive's, for a column that is null.
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
# Newer releases of pyspark ask for the time zone of timestamps. Older ones take UTC.
_TIME_ZONE: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")

_FILE_SCHEMA = "file string"
_LINE_SCHEMA = "value string"
# The bytes of a text that a task has in memory.
_TEXT_BYTES = 8 * 1024 * 1024


def check_new(name: str, store: ArrowFiles, place: str, reason: str) -> None:
    """Raise BadOption if there is an object at or below a URI. reason: the end of its message."""
    try:
        listed = store.list_files(place).files_below_roots()
    except OSError as error:
        raise BadOption(f"{name}: {error.filename} cannot be read: {error.strerror}") from error
    if listed:
        raise BadOption(f"{name}: {place} exists already{reason}")


def write_parquet(name: str, frame: DataFrame, store: ArrowFiles, folder: str) -> None:
    """Write a folder of parquet, and its marker last. Deletes the objects of an earlier attempt.

    name: of the option, for the BadOption of a store that fails.
    """
    with _store_failures(name):
        before = store.list_files(folder).files_below_roots()
    written = {row["file"] for row in frame.mapInArrow(_write_partition(name, store, folder), _FILE_SCHEMA).collect()}
    if not written:
        # Without a file, no reader knows the columns.
        written = {_write_file(name, store, _part(folder, 0), _arrow_schema(frame.schema), ())}
    with _store_failures(name):
        for path in sorted(before.keys() - written):
            store.delete(path)
        content = {"files": sorted(path.removeprefix(f"{folder}/") for path in written)}
        store.write(f"{folder}/{MARKER}", json.dumps(content).encode())


def has_marker(name: str, store: ArrowFiles, folder: str) -> bool:
    """Whether a folder was written to its end. Raises BadOption."""
    with _store_failures(name):
        return store.list_files(folder).is_file(f"{folder}/{MARKER}")


@contextmanager
def _store_failures(name: str) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        raise BadOption(f"{name}: {error.filename} cannot be written: {error.strerror}") from error


def _write_partition(
    name: str, store: ArrowFiles, folder: str
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow that writes the rows of a task to one object and returns its URI."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_imported_objects()
        context = TaskContext.get()
        assert context is not None, "runs in a task"
        rows = (batch for batch in batches if batch.num_rows)
        first = next(rows, None)
        if first is None:
            return
        path = _write_file(name, store, _part(folder, context.partitionId()), first.schema, chain([first], rows))
        yield pa.RecordBatch.from_pydict({"file": [path]})

    return write


def _part(folder: str, number: int) -> str:
    return f"{folder}/part-{number:05d}.parquet"


def _write_file(name: str, store: ArrowFiles, path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> str:
    """Write the batches as a file of parquet, and return its URI. Raises BadOption."""
    # On the disk, because the rows of a task may not fit in memory and an object must appear whole.
    with NamedTemporaryFile(prefix="fauxka-part-", suffix=".parquet") as file:
        with parquet.ParquetWriter(file.name, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        with _store_failures(name):
            store.upload(file.name, path)
    return path


def read_parquet(
    spark: SparkSession, store: ArrowFiles, files: list[str], wanted: Sequence[str] | None = None
) -> DataFrame:
    """Return the wanted columns of parquet files; all by default, or if the first of wanted is missing. Raises OSError.

    Each file is read by one task. The first file has the columns of all.
    """
    schema = _schema_of(store, files[0])
    folders = _folder_columns(files)
    every = [*schema.names, *(name for name in folders if name not in schema.names)]
    names = [name for name in wanted or () if name in every]
    names = names if wanted and wanted[0] in names else every
    stored = [name for name in names if name in schema.names]
    added = [name for name in names if name not in schema.names]
    kinds = from_arrow_schema(_with_fields(_selected(schema, stored), {name: folders[name] for name in added}))
    to = _arrow_schema(kinds)

    def read(path: str) -> Iterator[pa.RecordBatch]:
        values = _folder_values(path)
        with _open(store, path) as file:
            for batch in _parquet_file(file).iter_batches(columns=stored):
                table = pa.Table.from_batches([batch]).select(stored)
                for name in added:
                    column = pa.array([values.get(name)] * batch.num_rows, pa.string())
                    table = table.append_column(name, column)
                yield from table.cast(to).to_batches()

    return kind_of(spark).rows_of_tasks(files, read, kinds)


def parquet_columns(store: ArrowFiles, files: list[str]) -> list[str]:
    """Return the names of the columns of parquet files, of which the first has those of all. Raises OSError."""
    return [*_schema_of(store, files[0]).names, *_folder_columns(files)]


def _schema_of(store: ArrowFiles, path: str) -> pa.Schema:
    with _open(store, path) as file:
        return _parquet_file(file).schema_arrow


def _folder_columns(files: Iterable[str]) -> dict[str, pa.DataType]:
    """Return the columns that names of folders are, and their types: whole numbers or strings, as Spark has them."""
    columns: dict[str, set[str | None]] = {}
    for path in files:
        for name, value in _folder_values(path).items():
            columns.setdefault(name, set()).add(value)
    is_number = {name: all(one is None or _WHOLE_NUMBER.fullmatch(one) for one in columns[name]) for name in columns}
    return {name: pa.int64() if is_number[name] else pa.string() for name in columns}


def _folder_values(path: str) -> dict[str, str | None]:
    pairs = (folder.partition("=") for folder in path.split("/")[:-1])
    return {
        unquote(name): None if value == _NULL_PARTITION else unquote(value)
        for name, separator, value in pairs
        if name and separator
    }


class _ParquetFile(Protocol):
    """What is used of a file of parquet, which the stubs of pyarrow type in part."""

    schema_arrow: pa.Schema

    def iter_batches(self, *, columns: list[str]) -> Iterator[pa.RecordBatch]: ...


def _parquet_file(file: pa.NativeFile) -> _ParquetFile:
    return cast(_ParquetFile, parquet.ParquetFile(file))


def _arrow_schema(schema: StructType) -> pa.Schema:
    converted: pa.Schema = to_arrow_schema(schema, **_TIME_ZONE)
    return converted


def _selected(schema: pa.Schema, names: list[str]) -> pa.Schema:
    selected: pa.Schema = arrow.Table.from_batches([], schema).select(names).schema
    return selected


def _with_fields(schema: pa.Schema, fields: Mapping[str, pa.DataType]) -> pa.Schema:
    extended: pa.Schema = arrow.schema([*schema, *fields.items()])
    return extended


def read_lines(spark: SparkSession, store: ArrowFiles, files: list[str]) -> DataFrame:
    """Return the lines of text files as the column value. Each file is read by one task."""

    def read(path: str) -> Iterator[pa.RecordBatch]:
        for lines in _lines_of(store, path):
            texts = [line.removesuffix(b"\r").decode(errors="replace") for line in lines]
            yield pa.RecordBatch.from_pydict({"value": pa.array(texts, pa.string())})

    return kind_of(spark).rows_of_tasks(files, read, _LINE_SCHEMA)


def _open(store: ArrowFiles, path: str) -> pa.NativeFile:
    return pa.PythonFile(store.open_stream(path), "r")


def open_text(store: ArrowFiles, path: str) -> pa.NativeFile:
    """Open a file from its beginning, decompressed if its name says so. Raises OSError."""
    opened = _open(store, path)
    try:
        codec = arrow.Codec.detect(path)
    except (TypeError, ValueError):
        # By the version of pyarrow, for a name without the suffix of a codec.
        return opened
    return pa.CompressedInputStream(opened, codec.name)


def _lines_of(store: ArrowFiles, path: str) -> Generator[list[bytes], None, None]:
    rest = b""
    with open_text(store, path) as stream:
        while content := stream.read(_TEXT_BYTES):
            *lines, rest = (rest + content).split(b"\n")
            yield lines
    yield [rest] if rest else []


def base_name(uri: str) -> str:
    """Return the last name of a URI."""
    return os.path.basename(uri.partition("?")[0])
