"""The end of a partition's log beside everything that says how far the log once reached.

- A high watermark or a recovery point is never behind the end of a log: Kafka lowers both before it truncates a log. A
  log of which a broker crashed may end behind them; what is in front of the recovery point was flushed to the disk.
- An entry of an index names a batch, so the log has that batch. A producer snapshot has the state up to its offset.
- An epoch begins at the end of the log, so its start offset is never behind it.
- SIGKILL loses nothing of these: the system writes what a process has written. Only a lost or cut file does, or a
  machine that stops.
- What the files say is read before the end of the log, because a log that is still written grows.
- Entries of a topic that was deleted remain in the checkpoint of the high watermarks for up to five seconds.

Source: LogManager.truncateTo, LocalLog.append, ReplicaManager.checkpointHighWatermarks, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ...storage.log_files import INDEX_SUFFIX, SNAPSHOT_SUFFIX, TIME_INDEX_SUFFIX, PartitionName, base_offset_of
from ..read.segment_files import Segment
from .log_directories import PartitionFiles

TRUNCATED_LOG = "truncated_log"

# The causes of findings: what says that the log reached further, the strongest first.
HIGH_WATERMARK = "high_watermark"
RECOVERY_POINT = "recovery_point"
LOG_START = "log_start_offset"
LEADER_EPOCH = "leader_epoch"
OFFSET_INDEX = "offset_index"
TIME_INDEX = "time_index"
SNAPSHOT = "producer_snapshot"

_INDEX_ENTRY = np.dtype([("offset", ">i4"), ("position", ">i4")])
_TIME_INDEX_ENTRY = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])


class EndClaim(NamedTuple):
    """An offset that the log of a partition reached. cause: what says so. end_offset: the log's end, at least."""

    cause: str
    end_offset: int


class TruncatedLog(NamedTuple):
    """A log that ends in front of what its files say. offset: its end. missing: the number of offsets behind it."""

    topic: str
    partition: int
    offset: int
    missing: int
    cause: str
    detail: str


Claims = Mapping[PartitionName, list[EndClaim]]


def end_claims(files: Iterable[PartitionFiles]) -> Claims:
    """Return what the files of each partition say about the end of its log. Raises OSError."""
    return {one.name: list(_claims_of(one)) for one in files}


def truncated_logs(claims: Claims, ends: Mapping[PartitionName, int]) -> list[TruncatedLog]:
    """Return the logs that end in front of a claim. ends: the offset behind each log, read after the claims."""
    found: list[TruncatedLog] = []
    for name, of_partition in claims.items():
        end = ends.get(name)
        beyond = [] if end is None else [claim for claim in of_partition if claim.end_offset > end]
        if end is None or not beyond:
            continue
        reached = max(claim.end_offset for claim in beyond)
        words = ", ".join(f"{claim.cause.replace('_', ' ')} {claim.end_offset}" for claim in beyond)
        detail = f"the log ends at offset {end}, but its files say that it reached further: {words}"
        found.append(TruncatedLog(*name, end, reached - end, beyond[0].cause, detail))
    return found


def _claims_of(files: PartitionFiles) -> Iterator[EndClaim]:
    """Yield the claims in the order of the causes."""
    checkpoints = (
        (HIGH_WATERMARK, files.directory.high_watermarks),
        (RECOVERY_POINT, files.directory.recovery_points),
        (LOG_START, files.directory.log_starts),
    )
    for cause, offsets in checkpoints:
        if files.name in offsets:
            yield EndClaim(cause, offsets[files.name])
    if files.leader_epochs:
        yield EndClaim(LEADER_EPOCH, files.leader_epochs[-1][1])
    # A cut file in front of the last one leaves a hole, which the batches show.
    last = files.segments[-1]
    for cause, suffix in ((OFFSET_INDEX, INDEX_SUFFIX), (TIME_INDEX, TIME_INDEX_SUFFIX)):
        entry = _last_index_entry(last, suffix, files.names)
        if entry is not None:
            yield EndClaim(cause, entry + 1)
    snapshots = (base_offset_of(name, SNAPSHOT_SUFFIX) for name in files.names)
    newest = max((offset for offset in snapshots if offset is not None), default=None)
    if newest is not None:
        yield EndClaim(SNAPSHOT, newest)


def _last_index_entry(segment: Segment, suffix: str, names: frozenset[str]) -> int | None:
    """Return the offset of an index's last entry; None without one, or if the entries are not in order.

    The index of an active segment is preallocated, with zeros behind the entries.
    """
    path = segment.path_of(suffix)
    if path.rpartition("/")[2] not in names:
        return None
    try:
        content = segment.store.read(path)
    except (FileNotFoundError, PermissionError):
        return None
    kind = _INDEX_ENTRY if suffix == INDEX_SUFFIX else _TIME_INDEX_ENTRY
    entries = np.frombuffer(content, kind, count=len(content) // kind.itemsize)
    # No entry has the position 0 or the time 0 with the first offset.
    is_used = entries["position"] != 0 if suffix == INDEX_SUFFIX else (entries["timestamp"] != 0)
    unused = np.flatnonzero(~is_used)
    entries = entries[: int(unused[0])] if len(unused) else entries
    offsets = entries["offset"].astype(np.int64)
    keys = entries["position" if suffix == INDEX_SUFFIX else "timestamp"].astype(np.int64)
    if not len(entries) or offsets[0] < 0 or (np.diff(offsets) < 0).any() or (np.diff(keys) <= 0).any():
        return None
    return segment.base_offset + int(offsets[-1])
