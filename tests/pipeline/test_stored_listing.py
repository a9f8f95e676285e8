"""One listing of a log for all passes of a job, and the files that are deleted meanwhile."""

import json
from pathlib import Path

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read.file_log import FileLog
from fauxka.pipeline.read.options import parse_options
from fauxka.pipeline.read.stored_listing import DeletedFiles, find_deleted, with_listing
from fauxka.storage.log_files import PartitionName

from .logs_on_disk import GOLDEN, batches, read, write_segment


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
