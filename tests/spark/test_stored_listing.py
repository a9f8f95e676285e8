"""One listing of a log for all passes of a job, and the files that are deleted meanwhile."""

import json
import shutil
import zlib
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audit_job import AuditRequest
from fauxka.pipeline.checks.deleted_files import deletion_note, find_deleted_files
from fauxka.pipeline.checks.replica_audit import replica_options
from fauxka.pipeline.read.file_log import FileLog
from fauxka.pipeline.read.file_store import LocalFiles, LocalListing
from fauxka.pipeline.read.options import parse_options
from fauxka.pipeline.read.stored_listing import (
    DeletedFiles,
    find_deleted,
    options_of_partitions,
    segments_of,
    with_listing,
)
from fauxka.storage.log_files import PartitionName

from ..pipeline.logs_on_disk import GOLDEN, batches, read, write_segment

# Plain functions of modules that import pyspark.
pytestmark = [pytest.mark.spark, pytest.mark.slice]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two partitions of two segments each."""
    for partition in range(2):
        for base in (0, 10):
            write_segment(tmp_path / "log" / f"t-{partition}", batches(base, 5, bytes(600)), index_every=1)
    return tmp_path / "log"


def listed(folder: Path, **more: str) -> dict[str, str]:
    return with_listing({"path": str(folder), **more})


def test_a_listed_log_has_the_same_rows() -> None:
    options = with_listing({"path": str(GOLDEN), "topics": "demo"})

    assert read(**options) == read(path=GOLDEN, topics="demo")
    assert (
        FileLog(parse_options(options)).segments()
        == FileLog(parse_options({"path": str(GOLDEN), "topics": "demo"})).segments()
    )


def test_files_and_batches_that_are_added_later_are_not_read(folder: Path) -> None:
    options = listed(folder)
    before = read(**options)

    write_segment(folder / "t-0", batches(20, 5))
    with (folder / "t-1" / f"{10:020d}.log").open("ab") as file:
        file.write(b"".join(batches(20, 5)))

    assert read(**options) == before
    assert len(read(path=folder)) > len(before)


def test_a_broker_has_no_listing() -> None:
    options = {"bootstrap": "127.0.0.1:9092"}

    assert with_listing(options) == options


@pytest.mark.parametrize("limits", [{}, {"splitBytes": "1024"}, {"startingOffsets": json.dumps({"t": {"0": 3}})}])
def test_a_deleted_file_has_no_rows_and_is_reported(folder: Path, limits: dict[str, str]) -> None:
    options = listed(folder, **limits)
    (folder / "t-0" / f"{0:020d}.log").unlink()

    offsets = [row["offset"] for row in read(**options) if row["partition"] == 0]
    deleted = find_deleted(parse_options(options))

    assert offsets == list(range(10, 20))
    assert deleted == [DeletedFiles("t", 0, 1, 0, 10)]
    assert str(deleted[0]) == "1 file of t-0, from offset 0 to 9"


def test_the_ends_are_those_of_the_files_that_are_left(folder: Path) -> None:
    options = listed(folder)
    (folder / "t-0" / f"{10:020d}.log").unlink()

    starts, ends = FileLog(parse_options(options)).whole_range()

    assert ends == {PartitionName("t", 0): 10, PartitionName("t", 1): 20}
    assert starts == {PartitionName("t", 0): 0, PartitionName("t", 1): 0}


def test_a_file_that_a_shorter_one_replaced_is_reported_and_one_that_grew_is_not(folder: Path) -> None:
    options = listed(folder)
    shorter, longer = (folder / f"t-{partition}" / f"{0:020d}.log" for partition in range(2))
    shorter.write_bytes(shorter.read_bytes()[:-1])
    longer.write_bytes(longer.read_bytes() + b"x")

    assert find_deleted(parse_options(options)) == [DeletedFiles("t", 0, 1, 0, 10)]


def test_a_folder_that_is_gone_is_deleted_and_one_that_cannot_be_listed_is_an_error(folder: Path) -> None:
    options = parse_options(listed(folder))
    assert find_deleted(options) == []

    folder.rename(folder.parent / "elsewhere")
    assert find_deleted(options) == [DeletedFiles("t", partition, 2, 0, None) for partition in range(2)]
    folder.mkdir()
    with pytest.raises(BadOption, match="neither is nor contains"):
        find_deleted(options)


def test_the_replica_of_a_listed_log_has_a_listing_of_its_own_files(folder: Path) -> None:
    replica = folder.parent / "replica"
    write_segment(replica / "t-0", batches(0, 3))
    write_segment(replica / "other-0", batches(0, 3))

    options = replica_options(listed(folder, topics="t"), str(replica))

    assert [row["offset"] for row in read(**options)] == list(range(6))
    assert segments_of(parse_options(options)).keys() == {PartitionName("t", 0)}
    write_segment(replica / "t-0", batches(6, 3))
    assert len(read(**options)) == 6


def test_each_partition_has_a_listing_of_its_own_and_an_empty_one_has_none(folder: Path) -> None:
    (folder / "t-2").mkdir()
    (folder / "t-2" / f"{0:020d}.log").touch()

    parts = options_of_partitions(listed(folder))

    assert list(parts) == [PartitionName("t", 0), PartitionName("t", 1)]
    assert {row["partition"] for row in read(**parts[PartitionName("t", 1)])} == {1}


def test_the_listing_of_a_log_is_decoded_once_for_all_partitions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = listed(folder)
    decoded: list[bytes] = []
    decompress = zlib.decompress

    def decompress_counted(data: bytes) -> bytes:
        decoded.append(data)
        return decompress(data)

    monkeypatch.setattr(zlib, "decompress", decompress_counted)

    assert len(options_of_partitions(options)) == 2

    assert len(decoded) == 1


def test_deleted_files_of_a_partition_are_looked_for_in_its_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_of_partitions(listed(folder))[PartitionName("t", 0)]
    (folder / "t-0" / f"{10:020d}.log").unlink()
    shorter = folder / "t-0" / f"{0:020d}.log"
    shorter.write_bytes(shorter.read_bytes()[:-1])
    places: list[str] = []

    def list_files(_: LocalFiles, path: str) -> LocalListing:
        places.append(path)
        return LocalListing(path)

    monkeypatch.setattr(LocalFiles, "list_files", list_files)

    assert find_deleted(parse_options(options)) == [DeletedFiles("t", 0, 2, 0, None)]
    assert places == [str(folder / "t-0")]


def test_a_note_has_the_number_of_files_and_the_replica() -> None:
    notes = [deletion_note(DeletedFiles("t", 0, files, 0, 10)) for files in (1, 2)]
    of_replica = deletion_note(DeletedFiles("t", 0, 1, 0, 10, replica="/b"))

    assert notes[0].startswith("1 file of t-0, from offset 0 to 9 was deleted during this audit: lost events, ")
    assert notes[1].startswith("2 files of t-0, from offset 0 to 9 were deleted during this audit: lost events, ")
    assert of_replica == (
        "1 file of t-0 in /b, from offset 0 to 9 was deleted during this audit:"
        " the replicas of the partition are not judged"
    )


def test_deleted_files_of_the_log_and_of_replicas_are_found(folder: Path) -> None:
    replica = folder.parent / "replica"
    shutil.copytree(folder, replica)
    options = listed(folder)
    of_replica = replica_options(options, str(replica))
    request = AuditRequest(options, replicas=(str(replica),), replica_logs=(of_replica,))
    (folder / "t-0" / f"{0:020d}.log").unlink()
    (replica / "t-1" / f"{10:020d}.log").unlink()

    assert find_deleted_files(request) == [
        DeletedFiles("t", 0, 1, 0, 10),
        DeletedFiles("t", 1, 1, 10, None, replica=str(replica)),
    ]


@pytest.mark.parametrize("listing", ["x", "eA==", "ä", "eNoDAAAAAAE="])
def test_a_listing_that_no_audit_has_made_is_refused(folder: Path, listing: str) -> None:
    with pytest.raises(BadOption, match=f"^listing: must be the listing that an audit has made, not {listing}$"):
        read(path=folder, listing=listing)
