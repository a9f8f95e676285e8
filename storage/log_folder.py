"""The files of a partition's folder: clean-up before loading, and the leader epoch checkpoint.

Source: LogLoader.load, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .checkpoints.checkpoint_files import LEADER_EPOCH_CHECKPOINT, decode_leader_epochs, encode_leader_epochs
from .corrupt_file import CorruptFileError
from .file_systems.file_system import TEMPORARY_SUFFIX, FileSystem, read_whole
from .leader_epoch_cache import LeaderEpochCache
from .log_files import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    LOG_SUFFIX,
    SEGMENT_SUFFIXES,
    SNAPSHOT_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    TRANSACTION_INDEX_SUFFIX,
    base_offset_of,
    is_log_file,
    segment_path,
)
from .segments.batch_scan import scan_batches

_INDEX_SUFFIXES = (INDEX_SUFFIX, TIME_INDEX_SUFFIX, TRANSACTION_INDEX_SUFFIX)


def finish_interrupted_changes(file_system: FileSystem, folder: str) -> None:
    """Finish deletions and segment swaps that a crash interrupted, and delete unfinished files.

    Kafka also deletes foreign files with such suffixes, or stops at their names.
    The replaced segments are deleted before the .swap files are renamed, so a second crash here does no harm.
    """
    names = [name for name in file_system.names_in(folder) if is_log_file(name)]
    for name in names:
        if name.endswith((DELETED_SUFFIX, TEMPORARY_SUFFIX)):
            file_system.delete(f"{folder}/{name}")
    swaps = _drop_unfinished_swaps(file_system, folder, names)
    bases = _base_offsets_of(swaps, LOG_SUFFIX + SWAP_SUFFIX)
    if bases:
        end = max(_end_offset_of_swap(file_system, folder, base) for base in bases)
        for suffix in (*SEGMENT_SUFFIXES, SNAPSHOT_SUFFIX):
            _delete_between(file_system, folder, suffix, min(bases), end)
    for name in swaps:
        file_system.rename(f"{folder}/{name}", f"{folder}/{name.removesuffix(SWAP_SUFFIX)}")


def _drop_unfinished_swaps(file_system: FileSystem, folder: str, names: Sequence[str]) -> list[str]:
    """Delete unfinished cleaned segments, and return the names of the files to swap in.

    The files of a cleaned segment are renamed to .swap one by one. If one is still named .cleaned, no replaced file has
    been deleted yet, and all of them are dropped.
    Source: LogLoader.removeTempFilesAndCollectSwapFiles, Kafka 4.3.0.
    """
    cleaned = [base for suffix in SEGMENT_SUFFIXES for base in _base_offsets_of(names, suffix + CLEANED_SUFFIX)]
    swaps: list[str] = []
    for suffix in SEGMENT_SUFFIXES:
        for base_offset in _base_offsets_of(names, suffix + SWAP_SUFFIX):
            path = segment_path(folder, base_offset, suffix + SWAP_SUFFIX)
            if base_offset >= min(cleaned, default=base_offset + 1):
                file_system.delete(path)
            else:
                swaps.append(path.removeprefix(f"{folder}/"))
    for name in names:
        if name.endswith(CLEANED_SUFFIX):
            file_system.delete(f"{folder}/{name}")
    return swaps


def _end_offset_of_swap(file_system: FileSystem, folder: str, base_offset: int) -> int:
    file = file_system.open(segment_path(folder, base_offset, LOG_SUFFIX + SWAP_SUFFIX))
    end = base_offset
    for header, _, _ in scan_batches(file, 0, file.size, is_crc_checked=False):
        end = header.last_offset + 1
    file.close()
    return end


def _delete_between(file_system: FileSystem, folder: str, suffix: str, start: int, end: int) -> None:
    """Delete the files of one kind with start <= offset < end."""
    for base_offset in _base_offsets_of(file_system.names_in(folder), suffix):
        if start <= base_offset < end:
            file_system.delete(segment_path(folder, base_offset, suffix))


def segment_base_offsets(file_system: FileSystem, folder: str) -> list[int]:
    """Return the sorted base offsets of the segments in the folder; deletes index files without a log file."""
    names = file_system.names_in(folder)
    base_offsets = sorted(_base_offsets_of(names, LOG_SUFFIX))
    for suffix in _INDEX_SUFFIXES:
        for base_offset in _base_offsets_of(names, suffix):
            if base_offset not in base_offsets:
                file_system.delete(segment_path(folder, base_offset, suffix))
    return base_offsets


def _base_offsets_of(names: Sequence[str], suffix: str) -> list[int]:
    return [base for name in names if (base := base_offset_of(name, suffix)) is not None]


def load_leader_epochs(file_system: FileSystem, folder: str) -> LeaderEpochCache:
    """Return the checkpointed epochs; none if the file is damaged, because recovery finds them in the batches."""
    path = f"{folder}/{LEADER_EPOCH_CHECKPOINT}"
    if not file_system.exists(path):
        return LeaderEpochCache()
    try:
        return LeaderEpochCache(decode_leader_epochs(read_whole(file_system, path)))
    except CorruptFileError:
        return LeaderEpochCache()


def store_leader_epochs(file_system: FileSystem, folder: str, leader_epochs: LeaderEpochCache) -> None:
    """Write the epochs to the checkpoint; raises OSError.

    A replaced file is synced at once: a power loss must not lose the epochs of batches that were flushed before.
    """
    path = f"{folder}/{LEADER_EPOCH_CHECKPOINT}"
    content = encode_leader_epochs(leader_epochs.entries())
    file_system.replace(path, content, is_synced=file_system.exists(path))


def leader_epoch_sync_steps(file_system: FileSystem, folder: str) -> list[Callable[[], None]]:
    """Return the steps that sync the leader epoch checkpoint."""
    path = f"{folder}/{LEADER_EPOCH_CHECKPOINT}"
    return [file_system.open(path).begin_sync(is_written_again=True)] if file_system.exists(path) else []
