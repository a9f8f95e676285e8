"""Folders of segment files, as a broker writes them."""

from pathlib import Path
from struct import pack

from fauxka.client.client_security import PLAINTEXT, ClientSecurity
from fauxka.pipeline.decode.decoder import Decoder
from fauxka.pipeline.decode.views import Column, ViewName, columns_of
from fauxka.pipeline.read.fetch_splits import FetchSplit
from fauxka.pipeline.read.file_splits import FileSplit
from fauxka.pipeline.read.log_splits import open_log, read_split
from fauxka.pipeline.read.options import LogOptions, parse_options
from fauxka.protocol.batches import records
from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.batches.records import BatchOptions, Record

from .plain_rows import Row, replace_kind

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-4.3.0-data-dir"


def batch(base_offset: int, count: int = 2, value: bytes = b"v") -> bytes:
    return records.build_batch([Record(value, timestamp=1000)] * count, BatchOptions(base_offset=base_offset))


def batches(first: int, count: int, value: bytes = b"v") -> list[bytes]:
    """Return batches of two records each."""
    return [batch(first + 2 * index, value=value) for index in range(count)]


def write_segment(folder: Path, batches: list[bytes], *, index_every: int = 0, torn: bytes = b"") -> Path:
    """Write a log file, and with index_every an index with an entry for every index_every batches."""
    folder.mkdir(parents=True, exist_ok=True)
    base_offset = parse_header(batches[0]).base_offset
    path = folder / f"{base_offset:020d}.log"
    path.write_bytes(b"".join(batches) + torn)
    position = len(batches[0])
    entries = b""
    for number, one in enumerate(batches[1:], 1):
        if index_every and number % index_every == 0:
            entries += pack(">ii", parse_header(one).last_offset - base_offset, position)
        position += len(one)
    if index_every:
        # As that of an active segment: longer than its entries.
        path.with_suffix(".index").write_bytes(entries + bytes(800))
    return path


def options_of(**options: object) -> LogOptions:
    return parse_options({name: str(value) for name, value in options.items()})


def rows_of(
    splits: list[FileSplit] | list[FetchSplit], view: ViewName = "records", security: ClientSecurity = PLAINTEXT
) -> list[Row]:
    """Return the rows of splits in order, timestamps in milliseconds."""
    columns = [Column(column.name, replace_kind(column.kind)) for column in columns_of(view)]
    return [
        row
        for split in splits
        for part in read_split(split, Decoder(view, columns), security)
        for row in part.to_pylist()
    ]


def read(**options: object) -> list[Row]:
    """Return the rows of the log that the options select."""
    parsed = options_of(**options)
    return rows_of(open_log(parsed).splits(), parsed.view, parsed.security)
