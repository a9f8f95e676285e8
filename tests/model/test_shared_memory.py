"""Files in memory that share their blocks have the bytes that independent files would have."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from fauxka.storage.file_systems.memory_file import MemoryFile

FILES = 3
# Blocks have 4 KiB first.
SIZES = st.integers(1, 9_000)


@dataclass(frozen=True)
class Append:
    """Bytes of its own for one file."""

    file: int
    size: int


@dataclass(frozen=True)
class Share:
    """What another file has after the end of this one, or a part of it."""

    file: int
    source: int
    part: float


@dataclass(frozen=True)
class Truncate:
    """The removal of a part of one file."""

    file: int
    part: float


INDEXES, PARTS = st.integers(0, FILES - 1), st.floats(0, 1)
STEPS = st.lists(
    st.builds(Append, INDEXES, SIZES) | st.builds(Share, INDEXES, INDEXES, PARTS) | st.builds(Truncate, INDEXES, PARTS),
    max_size=25,
)


@given(STEPS)
def test_files_that_share_memory_keep_their_own_content(steps: list[Append | Share | Truncate]) -> None:
    files, contents = [MemoryFile() for _ in range(FILES)], [b""] * FILES
    # Views that were read stay valid.
    read: list[tuple[list[memoryview], bytes]] = []
    for number, step in enumerate(steps):
        file, content = files[step.file], contents[step.file]
        match step:
            case Append(size=size):
                data = bytes([number]) * size
                assert file.append(data[:1], memoryview(data[1:])) == len(content)
                contents[step.file] = content + data
            case Share(source=source, part=part):
                contents[step.file] = shared(file, content, files[source], contents[source], part)
            case Truncate(part=part):
                size = int(len(content) * part)
                file.truncate(size)
                contents[step.file] = content[:size]
        for each, expected in zip(files, contents, strict=True):
            views = each.views(0, each.size)
            assert b"".join(views) == expected
            read.append((views, expected))
    for views, expected in read:
        assert b"".join(views) == expected


def shared(file: MemoryFile, content: bytes, source: MemoryFile, wanted: bytes, part: float) -> bytes:
    """Share a part of what source has after the content of file, where it begins with that; return the content."""
    if source is file or wanted[: len(content)] != content:
        return content
    end = len(content) + int((len(wanted) - len(content)) * part)
    if file.append_shared(source, end):
        return wanted[:end]
    assert file.size == len(content)
    return content


def test_a_file_follows_another_without_a_copy() -> None:
    leader, follower = MemoryFile(), MemoryFile()
    for number in range(100):
        leader.append(b"%d" % number, bytes(5_000))
        assert follower.append_shared(leader, leader.size)
    (own,), (others,) = leader.views(10, 100), follower.views(10, 100)
    assert own.obj is others.obj
