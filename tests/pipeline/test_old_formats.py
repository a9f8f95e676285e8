"""Messages of magic 0 and 1 in a log are read as records without a producer, beside batches of magic 2."""

import json
import struct
import zlib
from pathlib import Path

import pytest

from fauxka.pipeline.checks.log_state import read_state
from fauxka.pipeline.read import file_splits
from fauxka.pipeline.read.file_store import LocalFile
from fauxka.protocol.batches import compression
from fauxka.protocol.batches.message_sets import message_set_of, stored_batch_of, stored_message
from fauxka.protocol.batches.record_batch import HEADER_SIZE, Compression, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch, iterate_records
from fauxka.storage.checkpoints.checkpoint_files import REPLICATION_OFFSET_CHECKPOINT, encode_offsets

from .logs_on_disk import batch, read
from .plain_rows import Row, decoded

NO_TIME = -1
RECORDS = [Record(b"tea", b"k", 1_500_000_000_000), Record(None, None, 1_500_000_000_007)]
CODECS = [codec for codec in Compression if codec is not Compression.ZSTD]
# A message of magic 1: its timestamp type is LogAppendTime.
APPEND_TIME = 0x08


def messages(magic: int, codec: Compression, first_offset: int = 5) -> bytes:
    """Return RECORDS as messages from first_offset on: two of them, or a wrapper."""
    built = build_batch(RECORDS, BatchOptions(base_offset=first_offset, compression=codec))
    return message_set_of([built], magic, first_offset)


def wrapper(offset: int, magic: int, attributes: int, timestamp: int, inner: bytes) -> bytes:
    time = struct.pack(">q", timestamp) if magic else b""
    payload = compression.compress(Compression.GZIP, inner)
    checked = bytes((magic, attributes | Compression.GZIP)) + time + struct.pack(">ii", -1, len(payload)) + payload
    return struct.pack(">qiI", offset, len(checked) + 4, zlib.crc32(checked)) + checked


def contents(rows: list[Row]) -> list[tuple[object, ...]]:
    return [(row["offset"], row["key"], row["value"], row["timestamp"]) for row in rows]


def timestamps(magic: int) -> list[int]:
    return [record.timestamp if magic else NO_TIME for record in RECORDS]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
def test_messages_between_batches_are_records_without_a_producer(magic: int, codec: Compression) -> None:
    log = batch(3) + messages(magic, codec) + batch(7)

    rows = decoded(log, "records")

    assert contents(rows)[2:4] == [
        (5 + index, record.key, record.value, time)
        for index, (record, time) in enumerate(zip(RECORDS, timestamps(magic), strict=True))
    ]
    assert [row["offset"] for row in rows] == list(range(3, 9))
    assert {(row["damage"], row["valid_crc"]) for row in rows} == {(None, True)}
    assert {(row["producer_id"], row["sequence"], row["codec"]) for row in rows[2:4]} == {(-1, -1, codec.name.lower())}


@pytest.mark.parametrize("magic", [0, 1])
def test_the_batches_view_has_the_messages_with_their_place_and_size(magic: int) -> None:
    old = messages(magic, Compression.NONE)
    sizes = [parse_header(old.ljust(HEADER_SIZE, b"\0")).size]
    sizes.append(len(old) - sizes[0])

    rows = decoded(batch(3) + old + batch(7), "batches")

    assert [(row["base_offset"], row["last_offset"], row["magic"]) for row in rows] == [
        (3, 4, 2),
        (5, 5, magic),
        (6, 6, magic),
        (7, 8, 2),
    ]
    assert [row["batch_bytes"] for row in rows[1:3]] == sizes
    assert {(row["leader_epoch"], row["base_sequence"]) for row in rows[1:3]} == {(-1, -1)}
    assert rows[1]["crc"] == int.from_bytes(old[12:16], "big")


def test_a_cleaned_wrapper_keeps_its_offsets_and_a_broker_sets_the_time_of_all() -> None:
    first, second = (messages(1, Compression.NONE, offset) for offset in (0, 4))
    size = parse_header(first.ljust(HEADER_SIZE, b"\0")).size
    # The offsets 0 and 5 in the wrapper; the last one is at 25.
    old = wrapper(25, 1, APPEND_TIME, 99, first[:size] + second[size:])

    rows = decoded(old, "records")

    assert [(row["offset"], row["timestamp"], row["timestamp_type"]) for row in rows] == [(20, 99, 1), (25, 99, 1)]


def test_a_wrapper_with_a_right_crc_and_no_messages_is_damaged() -> None:
    rows = decoded(batch(3) + wrapper(5, 1, 0, 0, b"no message") + batch(6), "records")

    assert [(row["offset"], row["damage"]) for row in rows][2] == (
        None,
        "a message of magic 1: a compressed message without a message in it",
    )


@pytest.mark.parametrize(
    ("outer", "magic", "offsets"), [(5, 0, (0, 2**31)), (5, 1, (0, 2**31)), (5, 1, (0, 6)), (2**40, 1, (3, 2**31 + 3))]
)
def test_a_wrapper_whose_offsets_fit_no_batch_is_damaged(outer: int, magic: int, offsets: tuple[int, int]) -> None:
    whole = messages(magic, Compression.NONE)
    size = parse_header(whole.ljust(HEADER_SIZE, b"\0")).size
    inner = b"".join(struct.pack(">q", offset) + whole[8:size] for offset in offsets)

    rows = decoded(wrapper(outer, magic, 0, 0, inner) + batch(7), "records")

    assert "no batch has the offsets" in str(rows[0]["damage"])
    assert [(row["offset"], row["damage"]) for row in rows[1:]] == [(7, None), (8, None)]


def test_bytes_that_are_cut_off_or_have_a_wrong_crc_are_no_message() -> None:
    old = messages(1, Compression.NONE)

    assert stored_message(old) is not None
    assert stored_message(old[:30]) is None
    assert stored_message(old[:20] + b"\xff" + old[21:]) is None
    assert stored_message(batch(0)) is None


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message_becomes_a_batch_at_its_offset(magic: int) -> None:
    old = messages(magic, Compression.GZIP, 40)

    stored = list(iterate_records(stored_batch_of(old)))

    assert [(one.offset, one.value) for one in stored] == [(40, b"tea"), (41, None)]


def old_segment(folder: Path, magic: int) -> Path:
    """Write a log that ends with messages, as its broker left it."""
    old = b"".join(messages(magic, codec, 2 * number) for number, codec in enumerate(CODECS))
    (folder / "t-0").mkdir()
    path = folder / "t-0" / f"{0:020d}.log"
    path.write_bytes(old)
    (folder / REPLICATION_OFFSET_CHECKPOINT).write_bytes(encode_offsets({("t", 0): 2 * len(CODECS)}))
    return path


@pytest.mark.parametrize("magic", [0, 1])
def test_a_log_of_messages_only_has_an_end_and_is_not_truncated(tmp_path: Path, magic: int) -> None:
    old_segment(tmp_path, magic)

    assert read_state({"path": str(tmp_path)}).truncated == []


def test_a_cut_log_of_messages_is_truncated(tmp_path: Path) -> None:
    path = old_segment(tmp_path, 1)
    path.write_bytes(path.read_bytes()[:-1])

    (found,) = read_state({"path": str(tmp_path)}).truncated

    assert (found.offset, found.missing) == (6, 2)


def test_messages_are_found_by_offset_and_by_time(tmp_path: Path) -> None:
    old_segment(tmp_path, 1)

    by_offset = read(path=tmp_path, startingOffsets=json.dumps({"t": {"0": 3}}), splitBytes=1024)
    by_time = read(path=tmp_path, startingTimestamp=RECORDS[1].timestamp)

    assert [row["offset"] for row in by_offset] == [3, 4, 5, 6, 7]
    assert [row["offset"] for row in by_time] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("border", range(100, 107))
def test_two_parts_of_a_log_have_each_record_once(tmp_path: Path, magic: int, codec: Compression, border: int) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    old = b"".join(messages(magic, codec, offset) for offset in (100, 102))
    (folder / f"{98:020d}.log").write_bytes(batch(98) + old + batch(104))
    offsets = json.dumps({"t": {"0": border}})

    parts = [read(path=tmp_path, endingOffsets=offsets), read(path=tmp_path, startingOffsets=offsets)]

    assert [row["offset"] for row in parts[0]] == list(range(98, border))
    assert [row["offset"] for row in parts[1]] == list(range(border, 106))


@pytest.mark.parametrize(("is_old", "bytes_max"), [(True, 100), (False, 1000)])
def test_messages_are_read_in_smaller_pieces_than_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_old: bool, bytes_max: int
) -> None:
    monkeypatch.setattr(file_splits, "OLD_PIECE_BYTES", 100)
    monkeypatch.setattr(file_splits, "PIECE_BYTES", 1000)
    (tmp_path / "t-0").mkdir()
    firsts = range(0, 60, 2)
    stored = [messages(1, Compression.NONE, first) if is_old else batch(first) for first in firsts]
    (tmp_path / "t-0" / f"{0:020d}.log").write_bytes(b"".join(stored))
    sizes: list[int] = []
    read_at = LocalFile.read_at

    def read_counted(file: LocalFile, position: int, size: int) -> bytes:
        sizes.append(size)
        return read_at(file, position, size)

    monkeypatch.setattr(LocalFile, "read_at", read_counted)

    assert [row["offset"] for row in read(path=tmp_path)] == list(range(60))
    assert max(sizes) == bytes_max
