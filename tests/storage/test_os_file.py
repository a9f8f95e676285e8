"""One file on disk: atomic appends, and reads of limited size."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from errno import EIO, ENOSPC
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.storage.file_systems.os_file_system import OsFileSystem

from ..run_counts import examples


class FullDisk:
    """Limits the bytes that the write calls of the operating system accept."""

    def __init__(self) -> None:
        self.bytes_left: int | None = None
        self.is_short_write_an_error = False
        self.is_cut_refused = False
        self._ftruncate = os.ftruncate
        self._pwrite = os.pwrite

    def pwritev(self, descriptor: int, pieces: Sequence[bytes | memoryview], position: int) -> int:
        return self.pwrite(descriptor, b"".join(pieces), position)

    def pwrite(self, descriptor: int, data: bytes | memoryview, position: int) -> int:
        if self.bytes_left is None:
            return self._pwrite(descriptor, data, position)
        written = self._pwrite(descriptor, data[: self.bytes_left], position)
        self.bytes_left -= written
        if written == 0 or (self.is_short_write_an_error and written < len(data)):
            raise OSError(ENOSPC, "No space left on device")
        return written

    def ftruncate(self, descriptor: int, size: int) -> None:
        if self.is_cut_refused:
            raise OSError(EIO, "Input/output error")
        self._ftruncate(descriptor, size)


@contextmanager
def full_disk() -> Generator[FullDisk]:
    disk = FullDisk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "pwritev", disk.pwritev)
        patch.setattr(os, "pwrite", disk.pwrite)
        patch.setattr(os, "ftruncate", disk.ftruncate)
        yield disk


writes = st.tuples(
    st.just("append"), st.integers(1, 70), st.integers(0, 5000), st.none() | st.integers(0, 5100), st.booleans()
)
others = st.tuples(
    st.sampled_from(["truncate", "preallocate", "close", "read", "reopen"]),
    st.integers(0, 9000),
    st.integers(0, 100),
    st.none(),
    st.booleans(),
)


@given(st.lists(writes | others, max_size=25), st.booleans())
@settings(derandomize=True, max_examples=examples(250), deadline=None)
def test_file_holds_whole_appends_only_however_writes_fail(
    operations: list[tuple[str, int, int, int | None, bool]], is_short_write_an_error: bool
) -> None:
    model = bytearray()
    room = 0
    with tempfile.TemporaryDirectory() as folder, full_disk() as disk:
        disk.is_short_write_an_error = is_short_write_an_error
        files = OsFileSystem(folder)
        file = files.open("a-0/1.log")
        for number, (operation, size, body_size, bytes_left, is_cut_refused) in enumerate(operations):
            data = bytes([number + 1]) * size + bytes([number + 101]) * body_size
            disk.bytes_left, disk.is_cut_refused = bytes_left, is_cut_refused
            try:
                match operation:
                    case "append":
                        assert file.append(data[:size], memoryview(data)[size:]) == len(model)
                        model += data
                    case "truncate":
                        file.truncate(min(size, len(model)))
                        del model[size:]
                        room = 0
                    case "preallocate":
                        file.preallocate(size)
                        room = max(size, room)
                    case "reopen":
                        disk.is_cut_refused = False
                        file.truncate(len(model))
                        room = 0
                        files = OsFileSystem(folder)
                        file = files.open("a-0/1.log")
                    case "close":
                        file.close()
                    case _:
                        position = min(size, len(model))
                        assert bytes(file.read(position, len(model) - position)) == model[position:]
            except OSError as error:
                assert error.errno in (ENOSPC, EIO)
            assert file.size == len(model)
            assert b"".join(file.views(0, file.size)) == model
        disk.bytes_left, disk.is_cut_refused = None, False

        file.append(b"last", b"")

        on_disk = Path(folder, "a-0/1.log").read_bytes()
        assert on_disk[: len(model) + 4] == bytes(model) + b"last"
        assert not any(on_disk[len(model) + 4 :])
        assert len(on_disk) <= max(len(model) + 4, room)


def test_torn_tail_is_truncated_at_once(tmp_path: Path) -> None:
    file = OsFileSystem(tmp_path).open("1.log")
    file.append(b"whole", b"")

    with full_disk() as disk, pytest.raises(OSError, match="No space"):
        disk.bytes_left = 3
        file.append(b"head", b"body")

    assert ((tmp_path / "1.log").read_bytes(), file.size) == (b"whole", 5)


def test_remaining_torn_tail_is_truncated_before_the_next_write(tmp_path: Path) -> None:
    file = OsFileSystem(tmp_path).open("1.log")
    file.append(b"whole", b"")
    with full_disk() as disk:
        disk.bytes_left, disk.is_cut_refused = 6, True
        with pytest.raises(OSError, match="No space"):
            file.append(b"head", b"body")
        torn = (tmp_path / "1.log").read_bytes()
        disk.bytes_left = None
        with pytest.raises(OSError, match="Input/output"):
            file.append(b"refused", b"")
        still_torn = (tmp_path / "1.log").read_bytes()

    position = file.append(b"x", b"")

    assert (torn, still_torn) == (b"wholeheadbo", b"wholeheadbo")
    assert ((tmp_path / "1.log").read_bytes(), position) == (b"wholex", 5)


def test_torn_tail_in_preallocated_space_becomes_zeros(tmp_path: Path) -> None:
    file = OsFileSystem(tmp_path).open("1.index")
    file.preallocate(20)
    file.append(b"12", b"")

    with full_disk() as disk, pytest.raises(OSError, match="No space"):
        disk.bytes_left = 3
        file.append(b"garbage", b"")

    assert (tmp_path / "1.index").read_bytes() == b"12" + bytes(18)


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite

    def three_bytes(descriptor: int, pieces: Sequence[bytes], position: int) -> int:
        return write(descriptor, b"".join(pieces)[:3], position)

    def two_bytes(descriptor: int, data: memoryview, position: int) -> int:
        return write(descriptor, data[:2], position)

    monkeypatch.setattr(os, "pwritev", three_bytes)
    monkeypatch.setattr(os, "pwrite", two_bytes)
    file = OsFileSystem(tmp_path).open("1.log")

    file.append(b"head", memoryview(b"and body"))

    assert (tmp_path / "1.log").read_bytes() == b"headand body"


def test_short_reads_are_continued_and_missing_bytes_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = os.pread

    def three_bytes(descriptor: int, size: int, position: int) -> bytes:
        return read(descriptor, min(size, 3), position)

    monkeypatch.setattr(os, "pread", three_bytes)
    file = OsFileSystem(tmp_path).open("1.log")
    file.append(b"0123456789", b"")

    whole = bytes(file.read(1, 8))
    os.truncate(tmp_path / "1.log", 5)

    assert whole == b"12345678"
    with pytest.raises(OSError, match="4 of 8 bytes at 1 are missing"):
        file.read(1, 8)


def test_preallocated_space_uses_no_disk_blocks(tmp_path: Path) -> None:
    file = OsFileSystem(tmp_path).open("1.index")

    file.preallocate(10_485_760)
    file.append(b"12345678", b"")

    status = (tmp_path / "1.index").stat()
    assert (status.st_size, file.size) == (10_485_760, 8)
    assert status.st_blocks * 512 < 100_000
    file.truncate(8)
    assert (tmp_path / "1.index").stat().st_size == 8


def test_views_have_limited_size(tmp_path: Path) -> None:
    file = OsFileSystem(tmp_path).open("1.log")
    file.append(b"", bytes(2_500_000))

    assert [len(view) for view in file.views(0, 2_500_000)] == [1_048_576, 1_048_576, 402_848]
