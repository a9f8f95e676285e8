"""Segment files of a side that are deleted during a comparison."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fauxka.pipeline.compare.deleted_rows import DeletedRows, find_deleted_rows
from fauxka.pipeline.compare.side_rows import open_side
from fauxka.pipeline.compare.sides import LogSide, SideArguments, parse_side
from fauxka.pipeline.compare.topic_map import parse_topic_map
from fauxka.pipeline.read import stored_listing
from fauxka.pipeline.read.segment_files import PartitionSegments, find_segments
from fauxka.pipeline.read.stored_listing import DeletedFiles

from ..pipeline.logs_on_disk import batches, write_segment

# Plain functions of modules that import pyspark.
pytestmark = [pytest.mark.spark, pytest.mark.slice]

MIRRORED = parse_topic_map(["*=primary.*"])


@pytest.fixture
def side(tmp_path: Path) -> LogSide:
    """The right side: two segments of a topic."""
    for base in (0, 10):
        write_segment(tmp_path / "log" / "primary.orders-0", batches(base, 5))
    parsed = parse_side("right", SideArguments(str(tmp_path / "log")))
    assert isinstance(parsed, LogSide)
    return parsed


def test_a_side_is_listed_once_when_it_is_opened(side: LogSide, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    find = find_segments

    def counting(
        path: str, is_wanted: Callable[[str], bool], attempts: int | None = None, *, tier: str | None = None
    ) -> PartitionSegments:
        listed.append(path)
        return find(path, is_wanted, attempts, tier=tier)

    monkeypatch.setattr(stored_listing, "find_segments", counting)

    open_side(side, {"primary.orders"}, {"startingOffsets": "earliest"})

    assert listed == [side.place]


def test_a_deleted_file_is_reported_with_the_topic_of_the_left_side(side: LogSide) -> None:
    opened = open_side(side, None, {})
    (Path(side.place) / "primary.orders-0" / f"{0:020d}.log").unlink()

    deleted = find_deleted_rows("right", opened, MIRRORED.left_of)

    assert deleted.files == (DeletedFiles("primary.orders", 0, 1, 0, 10),)
    assert deleted.topics == {"orders"}
    assert deleted.notes == (
        "deleted from the right side during this comparison: 1 file of primary.orders-0, from offset 0 to 9."
        " Of its topic only late records and those without an event id are judged",
    )


def test_without_a_deleted_file_nothing_is_reported(side: LogSide) -> None:
    assert find_deleted_rows("right", open_side(side, None, {}), str) == DeletedRows()
    assert find_deleted_rows("left", None, str) == DeletedRows()


def test_a_side_that_cannot_be_listed_again_is_a_note(side: LogSide) -> None:
    opened = open_side(side, None, {})
    shutil.rmtree(side.place)
    Path(side.place).write_text("no folder")

    deleted = find_deleted_rows("right", opened, str)

    assert not deleted.files
    assert [note.partition(":")[0] for note in deleted.notes] == [
        "unknown whether files of the right side were deleted meanwhile"
    ]
