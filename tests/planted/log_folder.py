"""Writes a planted log as a folder of segment files with its ledgers, as a broker leaves it after a clean shutdown."""

import json
from dataclasses import dataclass
from pathlib import Path
from struct import pack

from fauxka.protocol.batches.record_batch import HEADER_SIZE, MAGIC_POSITION, MAGIC_V2, parse_header
from fauxka.storage.checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
    encode_clean_shutdown,
    encode_leader_epochs,
    encode_offsets,
)
from fauxka.storage.log_files import SNAPSHOT_SUFFIX, file_name, partition_folder

from .planted_log import PlantedLog

SEGMENTS_MAX = 3
LOG_FOLDER = "log"
_CHECKPOINTS = {"high_watermark": REPLICATION_OFFSET_CHECKPOINT, "recovery_point": RECOVERY_POINT_CHECKPOINT}


@dataclass(frozen=True)
class LogFolder:
    """The paths of a log folder, its ledger of sent events and its journal."""

    log: Path
    sent: Path
    journal: Path


def write_log(log: PlantedLog, folder: Path) -> LogFolder:
    """Write the log and its ledgers. Each partition has several segments.

    folder: a new one, or with a data folder in it, whose logs are replaced.
    """
    written = LogFolder(folder / LOG_FOLDER, folder / "sent.jsonl", folder / "journal.jsonl")
    for partition, batches in log.batches.items():
        cuts = [at for at in range(1, len(batches)) if (partition, at) not in log.uncut and is_batch(batches[at])]
        partition_path = written.log / partition_folder(*partition)
        _prepare_folder(partition_path)
        chosen = sorted(log.random.sample(cuts, min(SEGMENTS_MAX - 1, len(cuts))))
        for first, end in zip([0, *chosen], [*chosen, len(batches)], strict=True):
            tail = log.tails.get(partition, b"") if end == len(batches) else b""
            _write_segment(partition_path, batches[first:end], tail)
        if partition in log.leader_epochs:
            epochs = encode_leader_epochs(log.leader_epochs[partition])
            (partition_path / LEADER_EPOCH_CHECKPOINT).write_bytes(epochs)
    (written.log / CLEAN_SHUTDOWN).write_bytes(encode_clean_shutdown(0))
    (written.log / CLEANER_OFFSET_CHECKPOINT).write_bytes(encode_offsets(log.cleaned))
    _write_reached(log, written.log)
    written.sent.write_text(_lines(log.ledger))
    written.journal.write_text(_lines(log.journal))
    return written


def _write_reached(log: PlantedLog, folder: Path) -> None:
    """Write the files that say that a log reached further."""
    for cause, name in _CHECKPOINTS.items():
        offsets = {partition: offset for partition, (of, offset) in log.reached.items() if of == cause}
        (folder / name).write_bytes(encode_offsets(offsets))
    for partition, (cause, offset) in log.reached.items():
        if cause == "producer_snapshot":
            (folder / partition_folder(*partition) / file_name(offset, SNAPSHOT_SUFFIX)).write_bytes(b"")


def _prepare_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.name != PARTITION_METADATA:
            file.unlink()


def is_batch(content: bytes) -> bool:
    """Whether the content has the header of a batch."""
    return len(content) >= HEADER_SIZE and content[MAGIC_POSITION] == MAGIC_V2


def _write_segment(folder: Path, batches: list[bytes], tail: bytes) -> None:
    """Write a log file, and an index with an entry for each batch but the first."""
    base_offset = parse_header(batches[0]).base_offset
    path = folder / f"{base_offset:020d}.log"
    path.write_bytes(b"".join(batches) + tail)
    entries, position = b"", 0
    for batch in batches:
        if position and is_batch(batch):
            entries += pack(">ii", parse_header(batch).last_offset - base_offset, position)
        position += len(batch)
    path.with_suffix(".index").write_bytes(entries)


def _lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
