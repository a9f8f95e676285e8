"""Files of an object store are read in ranges, of which a few are fetched ahead."""

import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType
from typing import Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.pipeline.decode.views import ViewName
from fauxka.pipeline.read import ranges_ahead
from fauxka.pipeline.read.file_log import FileLog
from fauxka.pipeline.read.file_store import LocalFiles
from fauxka.pipeline.read.ranges_ahead import read_ranges

from .logs_on_disk import batches, options_of, rows_of, write_segment

CONTENT = bytes(range(256)) * 400
WAIT_SECONDS_MAX = 10


class CountedFile:
    """A file in memory. sizes: of the requests so far. fails_at: a position that cannot be read."""

    def __init__(self, content: bytes = CONTENT) -> None:
        self.content = content
        self.size = len(content)
        self.sizes: list[int] = []
        self.fails_at: int | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass

    def read_at(self, position: int, size: int) -> bytes:
        with self._lock:
            self.sizes.append(size)
        if self.fails_at is not None and position <= self.fails_at < position + size:
            raise OSError(5, "the store is gone", "a")
        return self.content[position : position + size]

    read_ahead_at = read_at

    def find_batch(self, position: int, base_offset_min: int) -> int | None:
        raise NotImplementedError


@pytest.fixture(scope="module", autouse=True)
def small_ranges() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges_ahead, "RANGE_BYTES", 8000)
        patch.setattr(ranges_ahead, "FIRST_RANGE_BYTES", 1000)
        yield


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_ranges_are_the_bytes_in_their_order(ahead: int) -> None:
    found = list(read_ranges(CountedFile(), 17, len(CONTENT) - 5, 50_000, ahead))

    assert b"".join(found) == CONTENT[17:-5]
    assert max(map(len, found)) == (50_000 if ahead == 0 else 8000)


def test_the_first_range_is_short_and_a_short_file_is_one() -> None:
    long, longer_than_one, short = CountedFile(), CountedFile(), CountedFile()

    list(read_ranges(long, 0, 30_000, 50_000, 1))
    list(read_ranges(longer_than_one, 0, 8500, 50_000, 1))
    list(read_ranges(short, 0, 8000, 50_000, 1))

    assert long.sizes == [1000, 8000, 8000, 8000, 5000]
    assert longer_than_one.sizes == [1000, 7500]
    assert short.sizes == [8000]


@pytest.mark.parametrize("ahead", [1, 2, 3])
def test_no_more_ranges_than_ahead_are_requested_before_they_are_wanted(ahead: int) -> None:
    file = CountedFile()
    ranges = read_ranges(file, 0, len(CONTENT), 50_000, ahead)

    for taken in range(1, 6):
        next(ranges)
        assert len(file.sizes) <= taken + ahead - 1
    ranges.close()

    assert len(file.sizes) <= 5 + ahead - 1


def test_a_range_is_fetched_while_another_one_is_decoded() -> None:
    requested = threading.Event()

    class Watched(CountedFile):
        def read_at(self, position: int, size: int) -> bytes:
            if position > 0:
                requested.set()
            return super().read_at(position, size)

    ranges = read_ranges(Watched(), 0, len(CONTENT), 50_000, 2)
    next(ranges)

    assert requested.wait(WAIT_SECONDS_MAX)


def test_the_failure_of_a_range_is_raised_behind_the_ranges_before_it() -> None:
    file = CountedFile()
    file.fails_at = 9500
    ranges = read_ranges(file, 0, len(CONTENT), 50_000, 2)

    assert [len(next(ranges)), len(next(ranges))] == [1000, 8000]
    with pytest.raises(OSError, match="the store is gone"):
        next(ranges)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), damage=st.integers(0, 3), view=st.sampled_from(["records", "batches"]))
def test_a_file_has_the_same_rows_in_ranges(
    tmp_path_factory: pytest.TempPathFactory, seed: int, damage: int, view: ViewName
) -> None:
    draw = random.Random(seed)
    folder = tmp_path_factory.mktemp("log")
    file = write_segment(folder / "t-0", batches(0, draw.randint(1, 120), bytes(draw.choice([10, 900, 9000]))))
    content = bytearray(file.read_bytes())
    for _ in range(damage):
        place = draw.randrange(len(content))
        length = draw.choice([1, 40, 3000])
        content[place : place + length] = draw.randbytes(len(content[place : place + length]))
    file.write_bytes(content[: len(content) - draw.randint(0, 30) * (damage > 1)])
    splits = FileLog(options_of(path=folder)).splits()

    in_ranges = rows_of([replace(split, store=LocalFiles(ahead=2)) for split in splits], view)

    assert in_ranges == rows_of(splits, view)
    assert in_ranges
