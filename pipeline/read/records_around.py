"""The records of a partition around an offset, without Spark: a look at what a finding is about.

Records of aborted transactions, transaction markers and damaged batches are among them. Batches without a readable
offset are those between the records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ...client.errors import BrokerError
from ...storage.log_files import PartitionName, partition_folder
from ..bad_option import BadOption
from ..decode.decoder import Decoder
from ..decode.row_source import OFFSET_MAX
from ..decode.views import Column, columns_of
from .fetch_splits import DataLossError
from .log_splits import open_log, read_split
from .options import LATEST, parse_options

# Columns that say no more than others, and columns that only some rows have.
_LEFT_OUT = frozenset({"timestamp_type", "base_sequence", "codec", "valid_crc"})
_ONLY_IF_SET = frozenset({"headers", "damage"})

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """An offset of a partition."""

    name: PartitionName
    offset: int

    def __str__(self) -> str:
        """Return the text that parse_place accepts."""
        return f"{partition_folder(*self.name)}:{self.offset}"


def parse_place(text: str) -> RecordPlace:
    """Return the place of TOPIC-PARTITION:OFFSET. Raises BadOption."""
    name, _, offset = text.rpartition(":")
    topic, _, partition = name.rpartition("-")
    is_number = all(number.isascii() and number.isdecimal() for number in (partition, offset))
    if not topic or not is_number or int(partition) >= 2**31 or int(offset) > OFFSET_MAX:
        raise BadOption(f"at: must be TOPIC-PARTITION:OFFSET, such as orders-0:5, not {text}")
    return RecordPlace(PartitionName(topic, int(partition)), int(offset))


def records_around(options: Mapping[str, str], place: RecordPlace, around: int) -> Iterator[Row]:
    """Yield the rows from `around` offsets in front of a place to as many behind it, as plain data for JSON.

    options: of the data source, without topics. An offset in front of the log or behind its end has the first or the
    last records instead. Raises BadOption.
    """
    try:
        yield from _records_around({**options, "topics": place.name.topic_name}, place, around)
    except (BrokerError, DataLossError) as error:
        raise BadOption(str(error)) from error
    except BadOption as error:
        # The topic is that of the place.
        raise BadOption(re.sub("^topics:", "at:", str(error))) from error
    except OSError as error:
        raise BadOption(f"path: {error.filename} cannot be read: {error.strerror}") from error


def _records_around(options: Mapping[str, str], place: RecordPlace, around: int) -> Iterator[Row]:
    starts, ends = open_log(parse_options(options)).whole_range()
    if place.name not in ends:
        raise BadOption(f"at: there is no partition {partition_folder(*place.name)}")
    first, end = starts[place.name], ends[place.name]
    wanted_first = max(first, min(place.offset, end) - around)
    wanted_end = min(max(place.offset, first) + around, OFFSET_MAX - 1) + 1
    # LATEST spares the other partitions.
    others = {str(name.partition): LATEST for name in ends}
    partition = str(place.name.partition)
    chosen = parse_options(
        {
            **options,
            "startingOffsets": json.dumps({place.name.topic_name: {**others, partition: wanted_first}}),
            "endingOffsets": json.dumps({place.name.topic_name: {partition: wanted_end}}),
            # Retention may remove the first of them meanwhile.
            "failOnDataLoss": "false",
        }
    )
    columns = [
        Column(one.name, "bigint" if one.kind == "timestamp" else one.kind)
        for one in columns_of("records")
        if one.name not in _LEFT_OUT
    ]
    decoder = Decoder("records", columns)
    for split in open_log(chosen).splits():
        for batch in read_split(split, decoder, chosen.security):
            rows = cast("list[Row]", cast(Any, batch).to_pylist())
            yield from (_plain(row) for row in rows if row["partition"] == place.name.partition)


def _plain(row: Row) -> Row:
    """Return a row without empty optional fields, and with bytes as text."""
    plain = {name: _text(value) for name, value in row.items() if value is not None or name not in _ONLY_IF_SET}
    if "headers" in plain:
        headers = cast("list[dict[str, object]]", plain["headers"])
        plain["headers"] = [[header["key"], _text(header["value"])] for header in headers]
    return plain


def _text(value: object) -> object:
    """Return bytes as text, or as 0x and hexadecimal digits, like the event id `key`."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"0x{value.hex()}"
