"""The two sides of a comparison as the command line gives them; checked before Spark starts.

A side is one of:

    topic://HOST:PORT/TOPIC     topics of a cluster; several are separated by commas, and without any all are read
    PATH, URI                   segment files: a log directory, the folder of a partition, or one file
    PATH, URI of anything else  a folder or file of parquet
    jdbc:...                    a table by JDBC, whose name is in the option dbtable
    any text with a format      what spark.read.format(FORMAT).load(TEXT) reads
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from ..bad_option import BadOption
from ..cluster.stored_files import content_files, find_store
from ..command_config import command_config_option
from ..read.segment_files import find_segments
from ..read.store_address import has_known_scheme
from ..read.stores import store_of
from ..repeated_command import without_secrets
from ..schemas.schema_options import NO_SCHEMAS, SchemaOptions

SideName = Literal["left", "right"]

LOG_FORMAT: Final = "log"
PARQUET: Final = "parquet"
JDBC: Final = "jdbc"

_TOPIC = re.compile(r"topic://(?P<bootstrap>[^/]+)(?:/(?P<topics>[^/]*))?")
_SHAPE = "must be topic://HOST:PORT/TOPIC, a path or URI of segment files or of parquet, or jdbc:..., not"
# The names of Spark's options for what to read by JDBC, in lower case.
_TABLE_OPTIONS = frozenset({"dbtable", "query"})
_JDBC_PREFIX = "jdbc:"


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a side mean. Each is a SQL expression over the rows, or None.

    event_id: see event_id_parts. schemas: of its decoded parts. offsets: the names of the columns with topic, partition
    and offset of the record in the left log, or without the topic. key, value, time: default for a log: those of the
    record. order: the order of the rows of a table. where: the rows to read. is_compacted: the side has only the last
    version of each key.
    """

    event_id: str | None = None
    schemas: SchemaOptions = NO_SCHEMAS
    offsets: tuple[str, ...] = ()
    key: str | None = None
    value: str | None = None
    time: str | None = None
    order: str | None = None
    where: str | None = None
    is_compacted: bool = False


@dataclass(frozen=True, slots=True)
class SideArguments:
    """The arguments of the command line for a side. place: as it is given; shown_place: without secrets."""

    place: str
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    command_config: str | None = None
    topics: str | None = None
    columns: Columns = Columns()

    @property
    def shown_place(self) -> str:
        """The place in a message."""
        return without_secrets(self.place)


@dataclass(frozen=True, slots=True)
class LogSide:
    """A side that is a log. place: without secrets. options: of the data source."""

    name: SideName
    place: str
    options: Mapping[str, str]
    columns: Columns = Columns()


@dataclass(frozen=True, slots=True)
class TableSide:
    """A side that is a table. place: without secrets. format, options, path: of Spark's reader; a null path is none."""

    name: SideName
    place: str
    format: str
    options: Mapping[str, str]
    path: str | None
    columns: Columns = Columns()


Side = LogSide | TableSide


def parse_side(name: SideName, given: SideArguments, shared: Mapping[str, str] | None = None) -> Side:
    """Return a side. shared: options of the data source for both sides. Raises BadOption."""
    found = _TOPIC.fullmatch(given.place)
    if found is not None or given.format == LOG_FORMAT or (given.format is None and _is_log(name, given.place)):
        return _log_side(name, given, shared or {}, found)
    for option, value in (("topics", given.topics), ("command-config", given.command_config)):
        if value is not None:
            raise BadOption(f"{name}-{option}: is for a log, and {given.shown_place} is a table")
    return _table_side(name, given)


def _log_side(
    name: SideName, given: SideArguments, shared: Mapping[str, str], address: re.Match[str] | None
) -> LogSide:
    if given.format not in (None, LOG_FORMAT):
        raise BadOption(f"{name}-format: must be {LOG_FORMAT} for {given.shown_place}, not {given.format}")
    if given.columns.order is not None:
        raise BadOption(f"{name}-order: is for a table; the records of a log have offsets")
    options = {**shared, **given.options, "isolationLevel": "read_committed", "endingOffsets": "latest"}
    topics = given.topics
    if address is not None:
        options["bootstrap"] = address["bootstrap"]
        options |= command_config_option(given.command_config, f"{name}-command-config")
        if topics is not None and address["topics"]:
            raise BadOption(f"{name}-topics: {given.shown_place} names topics already")
        topics = address["topics"] or topics
    else:
        if given.command_config is not None:
            raise BadOption(f"{name}-command-config: is for a broker, and {given.shown_place} is a path")
        options["path"] = given.place
    if topics is not None:
        options["topics"] = topics
    return LogSide(name, given.shown_place, options, given.columns)


def _table_side(name: SideName, given: SideArguments) -> TableSide:
    options = dict(given.options)
    if given.format in (None, JDBC) and given.place.startswith(_JDBC_PREFIX):
        if not _TABLE_OPTIONS & {option.lower() for option in options}:
            raise BadOption(f"{name}-option: {given.shown_place} needs dbtable=TABLE or query=SELECT")
        return TableSide(name, given.shown_place, JDBC, {**options, "url": given.place}, None, given.columns)
    form = given.format or PARQUET
    if form == PARQUET and options and find_store(name, given.place) is not None:
        raise BadOption(
            f"{name}-option: {next(iter(options))} is for Spark's reader, without which {given.shown_place} is read"
        )
    return TableSide(name, given.shown_place, form, options, given.place, given.columns)


def _is_log(name: SideName, place: str) -> bool:
    """Whether a place has segment files. Raises BadOption if nothing is there."""
    if not place or place.startswith("topic:"):
        raise BadOption(f"{name}: {_SHAPE} {without_secrets(place)}")
    if place.startswith(_JDBC_PREFIX) or not has_known_scheme(place):
        return False
    if not _exists(name, place):
        raise BadOption(f"{name}: there is no {without_secrets(place)}")
    try:
        find_segments(place, lambda _: True)
    except BadOption:
        # A folder without partitions, or a file that is no segment.
        return False
    return True


def _exists(name: SideName, place: str) -> bool:
    try:
        stored = find_store(name, place)
        if stored is not None:
            return bool(content_files(*stored))
        store, local = store_of(name, place)
        return bool(store.list_files(local).roots())
    except OSError as error:
        raise BadOption(f"{name}: {error.filename} cannot be read: {error.strerror}") from error
