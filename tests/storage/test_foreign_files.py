"""Links and foreign files in the folders of logs: nothing but the log's own files is ever changed or deleted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from errno import ELOOP, ENOTEMPTY, ESTALE
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.storage.append_refused import AppendRefused
from fauxka.storage.file_systems.os_file_system import OsFileSystem
from fauxka.storage.file_systems.own_folder import delete_own_folder
from fauxka.storage.log_config import CleanupPolicy, LogConfig
from fauxka.storage.log_files import file_name, is_log_file
from fauxka.storage.log_manager import OFFSET_CHECKPOINTS, LogManager

from ..protocol.batch_bytes import NOW_MS, batch, records
from ..run_counts import examples
from .cleaned_logs import COMPACTING, CleanedLog
from .logs import append

FOLDER = "topic-0"
DAY_MS = 86_400_000
FOREIGN = b"not of a log\n" * 1000
# Two batches a segment.
CONFIG = LogConfig(segment_bytes=1000, retention_ms=DAY_MS, file_delete_delay_ms=0, index_interval_bytes=1)
FIRST, NEXT = file_name(0, ".log"), file_name(6, ".log")


def fill(logs: LogManager) -> None:
    log = logs.find("topic", 0)
    assert log is not None
    for _ in range(6):
        append(log, batch(records(1, bytes(400), b"k"), base_timestamp=NOW_MS))


class Place:
    """A data folder with a log of three segments, and a folder of foreign files outside it."""

    def __init__(self, root: Path) -> None:
        self.data, self.outside = root / "data", root / "outside"
        self.folder = self.data / FOLDER
        self.outside.mkdir()
        (self.outside / "important.txt").write_bytes(FOREIGN)
        self.logs = LogManager(OsFileSystem(self.data))
        self.logs.create("topic", 0, CONFIG, now_ms=NOW_MS, topic_id=bytes(range(16)))
        fill(self.logs)

    def load(self) -> None:
        """Load the log as another process."""
        self.logs = LogManager(OsFileSystem(self.data))
        self.logs.prepare_loading()
        if self.folder.is_dir():
            self.logs.load("topic", 0, CONFIG, now_ms=NOW_MS)

    def foreign_contents(self) -> list[tuple[str, bytes]]:
        """Return the name and content of each foreign file outside and in the folders of logs, in any of them."""
        return sorted(
            (name, content)
            for folder, _, names in os.walk(self.data.parent)
            for name in names
            if (path := Path(folder, name)).is_file() and not path.is_symlink()
            if b"not of a log" in (content := path.read_bytes()) or not is_log_file(name)
            if name not in OFFSET_CHECKPOINTS and not name.startswith(".")
        )


# -- what is put into the folder


def put_file(place: Place, name: str) -> None:
    (place.folder / name).write_bytes(FOREIGN)


def put_folder(place: Place, name: str) -> None:
    (place.folder / name).mkdir(exist_ok=True)
    (place.folder / name / FIRST).write_bytes(FOREIGN)


def put_link_to_file(place: Place, name: str) -> None:
    (place.folder / name).symlink_to(place.outside / "important.txt")


def put_link_to_folder(place: Place, name: str) -> None:
    target = place.outside / f"folder of {name}"
    target.mkdir()
    (target / FIRST).write_bytes(FOREIGN)
    (place.folder / name).symlink_to(target)


def put_hard_link(place: Place, name: str) -> None:
    os.link(place.outside / "important.txt", place.folder / name)


def move_folder_behind_link(place: Place, name: str) -> None:
    if not place.folder.is_symlink():
        place.folder.rename(place.outside / "moved")
        place.folder.symlink_to(place.outside / "moved")


def move_segment_behind_link(place: Place, name: str) -> None:
    if (place.folder / FIRST).is_file() and not (place.folder / FIRST).is_symlink():
        (place.folder / FIRST).rename(place.outside / "segment")
        (place.folder / FIRST).symlink_to(place.outside / "segment")


PUTS: list[Callable[[Place, str], None]] = [
    put_file,
    put_folder,
    put_link_to_file,
    put_link_to_folder,
    put_hard_link,
    move_folder_behind_link,
]
FOREIGN_NAMES = [
    "important.txt",
    "notes.deleted",
    "notes.tmp",
    "notes.swap",
    "notes.cleaned",
    "0.log",
    f"{FIRST}.txt",
    f"{FIRST}.gz",
    f"copy of {FIRST}",
    f"{FIRST}\n",
    "leader-epoch-checkpoint.old",
    "-rf",
]


# -- what a broker does


def delete(place: Place) -> None:
    place.logs.delete("topic", 0, now_ms=NOW_MS)
    place.logs.delete_due_files(NOW_MS)


def retain(place: Place) -> None:
    place.logs.enforce_retention(NOW_MS + 2 * DAY_MS)
    place.logs.delete_due_files(NOW_MS + 3 * DAY_MS)


def truncate(place: Place) -> None:
    place.logs.truncate("topic", 0, 3, now_ms=NOW_MS)


def restart_at(place: Place) -> None:
    place.logs.restart_at("topic", 0, 100, now_ms=NOW_MS)


def append_more(place: Place) -> None:
    fill(place.logs)


def close(place: Place) -> None:
    place.logs.close()


def load(place: Place) -> None:
    place.load()


def kill_in_deletion(place: Place) -> None:
    place.logs.delete("topic", 0, now_ms=NOW_MS)
    place.load()


OPERATIONS: list[Callable[[Place], None]] = [
    delete,
    retain,
    truncate,
    restart_at,
    append_more,
    close,
    load,
    kill_in_deletion,
]


def carry_out(place: Place, operation: Callable[[Place], None]) -> None:
    """Run an operation. It may fail because of what is there, or because the log is deleted."""
    with suppress(OSError, KeyError, AssertionError, AppendRefused):
        operation(place)


@settings(max_examples=examples(200))
@given(
    puts=st.dictionaries(st.sampled_from(FOREIGN_NAMES), st.sampled_from(PUTS), max_size=5),
    moves_segment=st.booleans(),
    operations=st.lists(st.sampled_from(OPERATIONS), max_size=5),
)
def test_what_was_there_before_is_unchanged_by_any_operations(
    puts: dict[str, Callable[[Place, str], None]], moves_segment: bool, operations: list[Callable[[Place], None]]
) -> None:
    with tempfile.TemporaryDirectory() as root:
        place = Place(Path(root))
        place.logs.close()
        for name, put in puts.items():
            put(place, name)
        if moves_segment:
            move_segment_behind_link(place, "")
        before = [each for each in place.foreign_contents() if each[0] != "segment"]
        place.load()

        for operation in [*operations, delete]:
            carry_out(place, operation)

        assert [each for each in place.foreign_contents() if each[0] != "segment"] == before


# -- what comes between two operations


def swap_folder(place: Place, name: str) -> None:
    """Replace the folder by a link to one with files of the same names."""
    other = place.outside / "other"
    other.mkdir()
    for each in [*(path.name for path in place.folder.iterdir()), NEXT, f"{FIRST}.deleted"]:
        (other / each).write_bytes(FOREIGN)
    place.folder.rename(place.outside / "moved")
    place.folder.symlink_to(other)


def replace_folder(place: Place, name: str) -> None:
    """Put another folder with files of the same names in the place of the folder."""
    swap_folder(place, name)
    place.folder.unlink()
    (place.outside / "other").rename(place.folder)


def swap_file(place: Place, name: str) -> None:
    """Replace a file by a link to a foreign one."""
    with suppress(FileNotFoundError):
        (place.folder / name).unlink()
    (place.folder / name).symlink_to(place.outside / "important.txt")


def swap_checkpoint(place: Place, name: str) -> None:
    """Put links to a foreign file in the place of the checkpoints and of their temporary names."""
    for checkpoint in OFFSET_CHECKPOINTS:
        for path in (place.data / checkpoint, place.data / f"{checkpoint}.tmp"):
            with suppress(FileNotFoundError):
                path.unlink()
            path.symlink_to(place.outside / "important.txt")


SWAPS: list[Callable[[Place, str], None]] = [swap_folder, replace_folder, swap_checkpoint, swap_file]
OWN_NAMES = [
    FIRST,
    file_name(0, ".index"),
    file_name(2, ".timeindex"),
    file_name(4, ".log"),
    file_name(4, ".index"),
    file_name(4, ".snapshot"),
    file_name(5, ".log"),
    NEXT,
    file_name(6, ".index"),
    file_name(6, ".timeindex"),
    file_name(6, ".txnindex"),
    file_name(100, ".log"),
    f"{FIRST}.deleted",
    f"{FIRST}.cleaned",
    f"{FIRST}.swap",
    "leader-epoch-checkpoint",
    "leader-epoch-checkpoint.tmp",
    "partition.metadata",
]
# A new process takes what it finds under the names of a log for the log.
WITHIN_A_PROCESS = [operation for operation in OPERATIONS if operation not in (load, kill_in_deletion)]


@settings(max_examples=examples(200))
@given(
    steps=st.lists(
        st.tuples(st.sampled_from([None, *SWAPS]), st.sampled_from(OWN_NAMES), st.sampled_from(WITHIN_A_PROCESS)),
        max_size=4,
    )
)
def test_links_and_folders_that_come_between_operations_are_not_followed(
    steps: list[tuple[Callable[[Place, str], None] | None, str, Callable[[Place], None]]],
) -> None:
    with tempfile.TemporaryDirectory() as root:
        place = Place(Path(root))
        for swap, name, operation in [*steps, (None, "", delete)]:
            if swap is not None:
                with suppress(OSError):
                    swap(place, name)
            before = place.foreign_contents()

            carry_out(place, operation)

            assert place.foreign_contents() == before


@settings(max_examples=examples(24))
@given(name=st.sampled_from([file_name(base, suffix) for base in (0, 1, 2) for suffix in (".log", ".index")]))
@pytest.mark.parametrize("ending", ["", ".cleaned", ".swap", ".deleted"])
def test_cleaner_follows_no_link_that_comes_between_operations(ending: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        outside = Path(root, "important.txt")
        outside.write_bytes(FOREIGN)
        Path(root, "data").mkdir()
        cleaned = CleanedLog(COMPACTING, OsFileSystem(Path(root, "data")))
        for value in ("1", "2", "3"):
            cleaned.put(("key", value))
            cleaned.roll()
        place = Path(root, "data", FOLDER, name + ending)
        place.unlink(missing_ok=True)
        place.symlink_to(outside)

        with suppress(OSError, AssertionError):
            cleaned.clean()
        cleaned.logs.delete_due_files(NOW_MS + DAY_MS)

        assert outside.read_bytes() == FOREIGN


# -- single cases


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_folder_behind_a_link_keeps_what_is_not_of_the_log(place: Place) -> None:
    place.logs.close()
    put_file(place, "important.txt")
    put_folder(place, "sub")
    move_folder_behind_link(place, "")
    place.load()

    delete(place)

    assert [path.name for path in place.data.iterdir() if path.name.startswith("topic")] == []
    assert sorted(path.name for path in (place.outside / "moved").iterdir()) == ["important.txt", "sub"]


def test_folder_with_foreign_files_stays_and_is_reported(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("e", "d", "c", "b"):
        put_file(place, name)

    delete(place)

    (kept,) = place.data.glob("topic-0.*-delete")
    assert sorted(path.name for path in kept.iterdir()) == ["b", "c", "d", "e"]
    assert caplog.messages == [f"{kept.name}: not empty: 'b', 'c', 'd' and 1 more stay"]


def test_start_with_a_folder_that_stays_is_no_error(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    put_folder(place, "sub")
    delete(place)
    caplog.clear()

    LogManager(OsFileSystem(place.data)).prepare_loading()

    (kept,) = place.data.glob("topic-0.*-delete")
    assert caplog.messages == [f"{kept.name}: not empty: 'sub' stay"]


def test_replaced_folder_is_neither_renamed_nor_emptied(place: Place) -> None:
    swap_folder(place, "")

    with pytest.raises(OSError, match="replaced") as raised:
        place.logs.delete("topic", 0, now_ms=NOW_MS)

    assert raised.value.errno == ESTALE
    assert place.folder.is_symlink()


def test_folder_that_is_replaced_after_its_renaming_is_not_emptied(place: Place) -> None:
    place.logs.delete("topic", 0, now_ms=NOW_MS)
    (renamed,) = place.data.glob("topic-0.*-delete")
    place.folder = renamed
    swap_folder(place, "")

    place.logs.delete_due_files(NOW_MS)

    assert {path.read_bytes() for path in (place.outside / "other").iterdir()} == {FOREIGN}


def test_new_partition_is_not_created_in_a_folder_with_files(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / f"{FIRST}.deleted").write_bytes(FOREIGN)
    logs = LogManager(OsFileSystem(tmp_path))

    with pytest.raises(OSError, match="has files") as raised:
        logs.create("topic", 0, LogConfig(), now_ms=NOW_MS)

    assert raised.value.errno == ENOTEMPTY
    assert os.listdir(tmp_path / FOLDER) == [f"{FIRST}.deleted"]


def test_link_that_was_not_there_before_is_not_opened(tmp_path: Path) -> None:
    files = OsFileSystem(tmp_path)
    files.open(f"a-0/{FIRST}").append(b"1", b"")
    (tmp_path / "a-0" / NEXT).symlink_to(tmp_path / "a-0" / FIRST)

    with pytest.raises(OSError, match="a link that was not there before") as raised:
        files.open(f"a-0/{NEXT}")

    assert raised.value.errno == ELOOP
    assert OsFileSystem(tmp_path).open(f"a-0/{NEXT}").size == 1


def test_dangling_link_in_the_place_of_a_file_creates_nothing(tmp_path: Path) -> None:
    (tmp_path / "a-0").mkdir()
    (tmp_path / "a-0" / FIRST).symlink_to(tmp_path / "nothing")

    with pytest.raises(OSError):
        OsFileSystem(tmp_path).open(f"a-0/{FIRST}")

    assert not (tmp_path / "nothing").exists()


def test_temporary_file_of_a_replacement_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "important.txt").write_bytes(FOREIGN)
    (tmp_path / "checkpoint.tmp").symlink_to(tmp_path / "important.txt")

    OsFileSystem(tmp_path).replace("checkpoint", b"new", is_synced=True)

    assert (tmp_path / "important.txt").read_bytes() == FOREIGN
    assert (tmp_path / "checkpoint").read_bytes() == b"new"


@pytest.mark.parametrize("is_dangling", [True, False])
def test_link_in_the_place_of_the_folder_is_unlinked(tmp_path: Path, is_dangling: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if not is_dangling:
        target.mkdir()
        (target / "own").touch()
        (target / "other").touch()
    link.symlink_to(target)

    delete_own_folder(link, lambda name: name == "own")

    assert not os.path.lexists(link)
    assert is_dangling or [path.name for path in target.iterdir()] == ["other"]


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        (FIRST, True),
        (f"{FIRST}.deleted", True),
        (file_name(7, ".timeindex.cleaned"), True),
        (file_name(7, ".txnindex.swap"), True),
        (file_name(7, ".snapshot.tmp"), True),
        ("leader-epoch-checkpoint", True),
        ("partition.metadata.tmp", True),
        ("notes.deleted", False),
        ("0.log", False),
        (f"{FIRST}.bak", False),
        (f"{FIRST}\n", False),
        ("important.txt", False),
        ("", False),
    ],
)
def test_names_of_a_logs_own_files(name: str, is_own: bool) -> None:
    assert is_log_file(name) is is_own


def test_compacted_log_is_deleted_whole(tmp_path: Path) -> None:
    config = LogConfig(cleanup_policies=frozenset({CleanupPolicy.COMPACT}), file_delete_delay_ms=0)
    logs = LogManager(OsFileSystem(tmp_path))
    logs.create("topic", 0, config, now_ms=NOW_MS, topic_id=bytes(range(16)))
    fill(logs)

    logs.delete("topic", 0, now_ms=NOW_MS)
    logs.delete_due_files(NOW_MS)

    assert list(tmp_path.iterdir()) == []
