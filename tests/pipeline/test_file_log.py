"""Folders of segment files: selected files, splits, and start and end places."""

import json
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read import file_splits
from fauxka.pipeline.read.file_log import FileLog, Place
from fauxka.pipeline.read.log_splits import open_log
from fauxka.protocol.batches.record_batch import HEADER_SIZE
from fauxka.storage.log_files import PartitionName

from .logs_on_disk import GOLDEN, batch, batches, options_of, read, rows_of, write_segment
from .plain_rows import plain_records

NAME = PartitionName("t", 0)


def file_log(folder: Path, **options: object) -> FileLog:
    log = open_log(options_of(path=folder, **options))
    assert isinstance(log, FileLog)
    return log


def offsets(rows: list[dict[str, object]]) -> list[object]:
    return [row["offset"] for row in rows]


def test_a_kafka_folder_returns_every_record_of_its_topics() -> None:
    rows = read(path=GOLDEN)

    expected = [
        (row["offset"], row["key"], row["value"])
        for log in sorted([*GOLDEN.glob("compacted-0/*.log"), *GOLDEN.glob("demo-0/*.log")])
        for row in plain_records(log.read_bytes())
    ]
    assert [(row["offset"], row["key"], row["value"]) for row in rows] == expected
    assert len(expected) == 18
    assert {row["topic"] for row in rows} == {"compacted", "demo"}


def test_an_internal_topic_is_read_if_it_is_named() -> None:
    rows = read(path=GOLDEN, topics="__transaction_state")

    assert {(row["topic"], row["partition"]) for row in rows} == {
        ("__transaction_state", 0),
        ("__transaction_state", 1),
    }


@pytest.mark.parametrize("place", ["demo-0", "demo-0/00000000000000000002.log", "*mo-0", "demo-*/*2.log"])
def test_a_partition_a_file_and_a_pattern_are_read(place: str) -> None:
    rows = read(path=GOLDEN / place)

    assert {row["topic"] for row in rows} == {"demo"}
    assert set(range(2, 13)) <= set(offsets(rows))


def test_files_other_than_segments_are_ignored(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 2))
    for name in ("t-0/00000000000000000004.log.deleted", "t-0/00000000000000000000.log.cleaned", "t-0/x.log"):
        (tmp_path / name).write_bytes(b"not a segment")
    for folder in (
        "t-0.0123456789abcdef0123456789abcdef-delete",
        "t-1.0123456789abcdef0123456789abcdef-stray",
        "other",
    ):
        write_segment(tmp_path / folder, batches(0, 2))
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\nt 0 4\n")

    rows = read(path=tmp_path)

    assert offsets(rows) == [0, 1, 2, 3]


@pytest.mark.parametrize("index_every", [0, 1, 7])
def test_a_large_file_is_cut_at_the_beginning_of_batches(tmp_path: Path, index_every: int) -> None:
    stored = batches(0, 200, bytes(40))
    write_segment(tmp_path / "t-0", stored, index_every=index_every)

    splits = file_log(tmp_path, splitBytes=4096).splits()

    ends = {sum(map(len, stored[:count])) for count in range(201)}
    assert len(splits) > 5
    assert {split.end for split in splits} <= ends
    assert all(split.end - split.start <= 4096 + 8 * len(stored[0]) for split in splits)
    assert offsets(rows_of(splits)) == list(range(400))
    positions = [row["position"] for row in rows_of(splits, "batches")]
    assert positions == sorted(ends)[:-1]


def test_an_index_that_points_between_batches_is_not_used(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", batches(0, 100, bytes(40)), index_every=1)
    content = path.with_suffix(".index").read_bytes()
    path.with_suffix(".index").write_bytes(bytes((*content[:7], content[7] ^ 3, *content[8:])))
    moved = b"".join(
        content[at : at + 4] + (int.from_bytes(content[at + 4 : at + 8], "big") + 1).to_bytes(4, "big")
        for at in range(0, 99 * 8, 8)
    )
    path.with_suffix(".index").write_bytes(moved)

    rows = rows_of(file_log(tmp_path, splitBytes=2048).splits())

    assert offsets(rows) == list(range(200))
    assert not any(row["damage"] for row in rows)


def test_damage_in_a_large_file_without_index_stays_in_its_piece(tmp_path: Path) -> None:
    stored = batches(0, 200, bytes(40))
    stored[50] = bytes(300)
    write_segment(tmp_path / "t-0", stored)

    rows = rows_of(file_log(tmp_path, splitBytes=4096).splits())

    assert offsets(rows) == [*range(100), None, *range(102, 400)]


def test_starting_and_ending_offsets_limit_the_rows(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 5))
    write_segment(tmp_path / "t-0", batches(10, 5))
    write_segment(tmp_path / "t-1", batches(0, 2))

    rows = read(
        path=tmp_path, startingOffsets=json.dumps({"t": {"0": 7}}), endingOffsets=json.dumps({"t": {"0": 13, "1": 3}})
    )

    assert [(row["partition"], row["offset"]) for row in rows] == [
        *((0, offset) for offset in range(7, 13)),
        *((1, offset) for offset in range(3)),
    ]


def test_latest_offsets_return_no_rows(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 5))

    assert read(path=tmp_path, startingOffsets="latest") == []


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere", "path: there is no "),
        ("empty", "neither is nor contains the folder of a partition"),
        ("file.txt", "is not a segment file"),
    ],
)
def test_a_path_without_segments_is_one_line(tmp_path: Path, place: str, words: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("x")

    with pytest.raises(BadOption, match=words) as raised:
        read(path=tmp_path / place)

    assert "\n" not in str(raised.value)


def test_an_unknown_topic_is_one_line(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 1))

    with pytest.raises(BadOption, match=r"topics: .* has no topic u"):
        read(path=tmp_path, topics="t,u")


def test_a_stream_reads_each_batch_once_while_files_grow(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", batches(0, 3))
    log = file_log(tmp_path)
    start = log.beginnings()

    first_end = log.ends()
    first = rows_of(log.splits_between(start, first_end))
    with path.open("ab") as file:
        file.write(batch(6) + batch(8)[:-5])
    second_end = log.ends()
    second = rows_of(log.splits_between(first_end, second_end))
    with path.open("ab") as file:
        file.write(batch(8)[-5:])
    write_segment(tmp_path / "t-0", batches(10, 1))
    write_segment(tmp_path / "t-1", batches(0, 1))
    third = rows_of(log.splits_between(second_end, log.ends()))

    assert [offsets(rows) for rows in (first, second, third)] == [[0, 1, 2, 3, 4, 5], [6, 7], [8, 9, 10, 11, 0, 1]]
    assert not any(row["damage"] for row in (*first, *second, *third))


def test_a_stream_from_the_latest_offset_skips_present_records(tmp_path: Path) -> None:
    stored = batches(0, 3)
    write_segment(tmp_path / "t-0", stored, index_every=1)

    beginnings = file_log(tmp_path, startingOffsets="latest").beginnings()

    assert beginnings == {NAME: Place(0, sum(map(len, stored)))}


def test_a_stream_from_the_latest_offset_reads_what_is_appended_later(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", batches(0, 3))
    log = file_log(tmp_path, startingOffsets="latest")
    start = log.beginnings()

    with path.open("ab") as file:
        file.write(batch(6))
    write_segment(tmp_path / "t-1", batches(0, 1))

    assert offsets(rows_of(log.splits_between(start, log.ends()))) == [6, 7, 0, 1]


def test_a_segment_deleted_before_it_was_read_is_a_data_loss(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", batches(0, 3))
    log = file_log(tmp_path)
    start = log.beginnings()
    path.unlink()
    write_segment(tmp_path / "t-0", batches(6, 1))

    with pytest.raises(BadOption, match=r"t-0: the segment 0{20}\.log was deleted"):
        log.splits_between(start, log.ends())
    forgiving = file_log(tmp_path, failOnDataLoss="false")
    assert offsets(rows_of(forgiving.splits_between(start, forgiving.ends()))) == [6, 7]


def test_a_file_deleted_before_its_task_runs_has_no_rows(tmp_path: Path) -> None:
    path = write_segment(tmp_path / "t-0", batches(0, 3))
    splits = file_log(tmp_path).splits()
    path.unlink()

    assert rows_of(splits) == []


def test_a_worker_without_the_log_directory_is_an_error_and_not_an_empty_log(tmp_path: Path) -> None:
    write_segment(tmp_path / "log" / "t-0", batches(0, 3))
    splits = file_log(tmp_path / "log").splits()
    (tmp_path / "log").rename(tmp_path / "elsewhere")

    with pytest.raises(BadOption, match=r"path: a worker has no .*/log; all workers must read it"):
        rows_of(splits)


def test_a_torn_end_is_a_row_of_a_batch_query(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 1), torn=batch(2)[: HEADER_SIZE + 3])

    rows = read(path=tmp_path)

    assert offsets(rows) == [0, 1, 2]
    assert rows[-1]["damage"].startswith("cut off: 64 of ")


def test_a_split_of_any_size_is_read_in_small_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = batches(0, 200)
    write_segment(tmp_path / "t-0", [*stored[:77], b"no batch, nor any part of one", *stored[77:]], index_every=10)
    whole = read(path=tmp_path)
    monkeypatch.setattr(file_splits, "PIECE_BYTES", 1000)

    in_pieces = read(path=tmp_path)

    assert [row["offset"] for row in whole if row["damage"] is None] == [*range(400)]
    assert in_pieces == whole
