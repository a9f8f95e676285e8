"""Memory files: append, read, truncate and copy across block borders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.storage.file_systems.memory_file import MemoryFile
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem

from ..run_counts import examples

pieces = st.lists(st.tuples(st.integers(0, 70), st.integers(0, 3) | st.integers(0, 90_000)), max_size=12)


def pattern(size: int, start: int) -> bytes:
    return bytes((start + index * 7) % 251 for index in range(min(size, 251))) * (size // 251 + 1)


@given(pieces, st.data())
@settings(derandomize=True, max_examples=examples(60), deadline=None)
def test_file_returns_the_appended_bytes_at_any_position(
    appended: list[tuple[int, int]], choose: st.DataObject
) -> None:
    file, model = MemoryFile(), b""
    for head_size, body_size in appended:
        head, body = pattern(head_size, 3)[:head_size], pattern(body_size, len(model))[:body_size]
        assert file.append(head, memoryview(body)) == len(model)
        model += head + body
    position = choose.draw(st.integers(0, len(model)))
    size = choose.draw(st.integers(0, len(model) - position))

    views, read = file.views(position, size), file.read(position, size)

    assert file.size == len(model)
    assert b"".join(views) == model[position : position + size]
    assert bytes(read) == model[position : position + size]


@given(pieces, st.data())
@settings(derandomize=True, max_examples=examples(60), deadline=None)
def test_truncated_file_continues_at_the_cut_and_keeps_earlier_views(
    appended: list[tuple[int, int]], choose: st.DataObject
) -> None:
    file, model = MemoryFile(), b""
    for head_size, body_size in appended:
        head, body = bytes(head_size), pattern(body_size, 1)[:body_size]
        file.append(head, body)
        model += head + body
    before = file.views(0, len(model))
    size = choose.draw(st.integers(0, len(model)))

    file.truncate(size)
    file.append(b"x" * 100, b"y" * 5000)

    assert b"".join(file.views(0, file.size)) == model[:size] + b"x" * 100 + b"y" * 5000
    assert b"".join(before) == model


def test_read_views_are_read_only() -> None:
    file = MemoryFile()
    file.append(b"head", b"body")

    with pytest.raises(TypeError):
        file.views(0, 8)[0][0] = 1


def test_views_stay_valid_when_the_file_grows_or_is_deleted() -> None:
    files = MemoryFileSystem()
    file = files.open("folder/name")
    file.append(b"", b"a" * 5000)
    views = file.views(0, 5000)

    file.append(b"", b"b" * 100_000)
    files.delete("folder/name")

    assert b"".join(views) == b"a" * 5000


def test_empty_file_has_no_block_and_a_large_one_few() -> None:
    file = MemoryFile()
    views_of_nothing = file.views(0, 0)
    file.append(b"", bytes(20 * 2**20))

    assert views_of_nothing == []
    assert len(file.views(0, file.size)) <= 25


def test_names_belong_to_their_folder() -> None:
    files = MemoryFileSystem()
    files.open("a-0/2").append(b"two", b"")
    files.open("a-0/1")
    files.open("b-0/1")

    files.rename("a-0/2", "b-0/3")

    assert (files.folders(), files.names_in("a-0"), files.names_in("b-0")) == (["a-0", "b-0"], ["1"], ["1", "3"])
    assert bytes(files.open("b-0/3").read(0, 3)) == b"two"
    assert files.exists("b-0/3") and not files.exists("a-0/2")


def test_deleted_folder_does_not_exist_nor_its_files() -> None:
    files = MemoryFileSystem()
    files.open("a-0/1")

    files.delete_folder("a-0")
    files.delete_folder("a-0")
    files.delete("a-0/1")

    assert (files.folders(), files.names_in("a-0")) == ([], [])


@given(pieces, pieces, pieces, st.data())
@settings(derandomize=True, max_examples=examples(60), deadline=None)
def test_copy_and_original_are_independent(
    shared: list[tuple[int, int]],
    to_original: list[tuple[int, int]],
    to_copy: list[tuple[int, int]],
    choose: st.DataObject,
) -> None:
    original = MemoryFile()
    before = grown(original, b"", shared)

    copy = original.copy()
    cut = choose.draw(st.integers(0, len(before)))
    copy.truncate(cut)
    of_original, of_copy = grown(original, before, to_original), grown(copy, before[:cut], to_copy)

    assert bytes(original.read(0, original.size)) == of_original
    assert bytes(copy.read(0, copy.size)) == of_copy


def grown(file: MemoryFile, content: bytes, appended: list[tuple[int, int]]) -> bytes:
    for head_size, body_size in appended:
        head, body = pattern(head_size, 3)[:head_size], pattern(body_size, len(content))[:body_size]
        file.append(head, memoryview(body))
        content += head + body
    return content


def test_copied_folders_are_independent() -> None:
    files = MemoryFileSystem()
    files.open("folder/file").append(b"before", b"")

    copy = files.copy()
    files.open("folder/file").append(b" and after", b"")
    files.delete_folder("folder")
    copy.open("folder/other").append(b"new", b"")

    assert copy.names_in("folder") == ["file", "other"]
    assert bytes(copy.open("folder/file").read(0, 6)) == b"before"
    assert files.folders() == []


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
def test_files_that_are_left_keep_only_the_pages_with_bytes() -> None:
    # One byte more than the first four blocks, so that the last block has a megabyte and one byte.
    content = bytes(4096 + 4 * 4096 + 16 * 4096 + 64 * 4096 + 1)
    files = [MemoryFile() for _ in range(50)]
    before = resident_bytes()
    for file in files:
        file.append(b"", content)
    filled = resident_bytes() - before

    for file in files:
        file.truncate(file.size)
    left = resident_bytes() - before

    assert filled > 50 * 1024 * 1024
    assert left < filled / 2
    assert files[0].read(0, len(content)) == content


def test_file_is_appended_to_after_its_unused_pages_were_dropped() -> None:
    file = MemoryFile()
    first, second = b"first" * 80_000, b"second" * 80_000
    file.append(b"", first)
    file.truncate(file.size)

    file.append(b"", second)

    assert file.read(0, file.size) == first + second
