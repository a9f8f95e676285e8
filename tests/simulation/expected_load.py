"""The expected result of loading a partition's folder, an independent implementation of Kafka's rules.

Source: LogLoader.load and recoverLog, LogSegment.recover, UnifiedLog.rebuildProducerState, ProducerStateManager's
truncateAndReload, loadFromSnapshot, takeSnapshot and removeStraySnapshots, Kafka 4.3.0. It covers only batches
outside transactions.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from crc32c import crc32c

from .stored_batches import SEQUENCES, StoredBatch, batches_in

REMEMBERED = 5

# first sequence, last sequence, base offset, last offset.
Remembered = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Producer:
    epoch: int
    batches: tuple[Remembered, ...]
    timestamp: int


# By producer id.
Known = dict[int, Producer]


@dataclass(frozen=True, slots=True)
class Start:
    """The state before the folder is read: LoadState, and the time for the expiry of producers."""

    is_clean: bool
    recovery_point: int
    log_start_offset: int
    now_ms: int
    expiration_ms: int
    is_recovery_point_known: bool


@dataclass(slots=True)
class Expected:
    batches: list[StoredBatch]
    log_start_offset: int
    log_end_offset: int
    leader_epochs: list[tuple[int, int]]
    producers: Known
    snapshot_offsets: list[int]


@dataclass(slots=True)
class Segment:
    base: int
    size: int
    batches: list[StoredBatch]
    has_index: bool
    indexed_timestamp: int

    @property
    def has_newer_batch(self) -> bool:
        return any(batch.max_timestamp > self.indexed_timestamp for batch in self.batches)

    @property
    def end(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else self.base

    @property
    def is_torn(self) -> bool:
        return sum(batch.size for batch in self.batches) < self.size


@dataclass(slots=True)
class ProducerMap:
    """Kafka's ProducerStateManager; snapshots: the files, shared with later instances. None is a corrupt file."""

    snapshots: dict[int, Known | None]
    start: Start
    known: Known = field(default_factory=dict[int, Producer])
    map_end: int = 0
    snapshot_end: int = 0

    def rebuild(self, segments: list[Segment], log_start: int, end: int, *, is_clean: bool) -> None:
        snapshotted = [segment.base for segment in segments[-2:]]
        if not self.snapshots and is_clean:
            for offset in [*snapshotted, end]:
                self.map_end = offset
                self.take_snapshot()
            return
        is_empty_before = not self.known and self.map_end >= end
        self.truncate_and_reload(log_start, end)
        if end > self.map_end and not is_empty_before:
            for index, segment in enumerate(segments):
                is_last = index + 1 == len(segments)
                if not (segment.base < end and (is_last or segments[index + 1].base > self.map_end)):
                    continue
                self.map_end = max(segment.base, self.map_end, log_start)
                if segment.base in snapshotted:
                    self.take_snapshot()
                self.take([batch for batch in segment.batches if batch.last_offset >= self.map_end])
        self.map_end = end
        self.take_snapshot()

    def truncate_and_reload(self, log_start: int, end: int) -> None:
        for offset in list(self.snapshots):
            if offset > end or offset <= log_start:
                del self.snapshots[offset]
        if end == self.map_end:
            return
        self.known = {}
        while self.snapshots:
            newest = max(self.snapshots)
            entries = self.snapshots[newest]
            if entries is not None:
                self.known = {
                    producer_id: producer
                    for producer_id, producer in entries.items()
                    if self.start.now_ms - producer.timestamp < self.start.expiration_ms
                }
                self.snapshot_end = self.map_end = newest
                return
            del self.snapshots[newest]
        self.snapshot_end = self.map_end = log_start

    def take(self, batches: list[StoredBatch]) -> None:
        for batch in batches:
            if batch.producer_id >= 0:
                self.known[batch.producer_id] = after_batch(self.known.get(batch.producer_id), batch)

    def take_snapshot(self) -> None:
        if self.map_end > self.snapshot_end:
            self.snapshots[self.map_end] = newest_only(self.known)
            self.snapshot_end = self.map_end


def after_batch(producer: Producer | None, batch: StoredBatch) -> Producer:
    kept = producer.batches if producer is not None and producer.epoch == batch.producer_epoch else ()
    added = (batch.first_sequence, batch.last_sequence, batch.base_offset, batch.last_offset)
    return Producer(batch.producer_epoch, (*kept, added)[-REMEMBERED:], batch.max_timestamp)


def newest_only(known: Known) -> Known:
    return {
        producer_id: Producer(producer.epoch, producer.batches[-1:], producer.timestamp)
        for producer_id, producer in known.items()
    }


def expected_load(files: dict[str, bytes], start: Start) -> Expected:
    """Return the expected state of a log loaded from files, which are given by name."""
    segments = segments_of(files)
    snapshots = {offset: decoded_snapshot(data) for offset, data in numbered(files, ".snapshot").items()}
    epochs = decoded_epochs(files.get("leader-epoch-checkpoint", b""))
    recovered = first_recovered(segments, start)
    for index in range(recovered, len(segments)):
        segment = segments[index]
        if start.is_recovery_point_known and index > recovered and segment.base > segments[index - 1].end:
            # Unlike Kafka, which continues after the gap.
            del segments[index:]
            break
        producers = ProducerMap(snapshots, start)
        producers.rebuild(segments[:index], start.log_start_offset, segment.base, is_clean=False)
        for batch in segment.batches:
            assign(epochs, batch.leader_epoch, batch.base_offset)
        producers.take(segment.batches)
        producers.map_end = segment.end
        producers.take_snapshot()
        if segment.is_torn:
            del segments[index + 1 :]
            break
    if segments[-1].end < start.log_start_offset:
        segments = [Segment(start.log_start_offset, 0, [], has_index=True, indexed_timestamp=-1)]
        snapshots.clear()
    end = segments[-1].end
    log_start = max(start.log_start_offset, segments[0].base)
    remove_stray(snapshots, segments)
    producers = ProducerMap(snapshots, start)
    producers.rebuild(segments, log_start, end, is_clean=start.is_clean)
    return Expected(
        [batch for segment in segments for batch in segment.batches],
        log_start,
        end,
        epochs_between(epochs, log_start, end),
        producers.known,
        sorted(snapshots),
    )


def segments_of(files: dict[str, bytes]) -> list[Segment]:
    logs = numbered(files, ".log") or {0: b""}
    segments: list[Segment] = []
    for base, data in sorted(logs.items()):
        batches = [batch for batch in batches_in(data) if batch.last_offset >= base]
        has_index = f"{base:020d}.index" in files
        times = files.get(f"{base:020d}.timeindex", b"")
        entry = times[: len(times) // 12 * 12][-12:]
        segments.append(Segment(base, len(data), batches, has_index, int.from_bytes(entry[:8], "big") if entry else -1))
    return segments


def first_recovered(segments: list[Segment], start: Start) -> int:
    """Return the first segment to recover.

    Unlike Kafka, the end of the last segment is checked after a clean shutdown, all segments after one without an index
    are recovered with it, and a segment is recovered if its time index may not have been synced.
    """
    first = len(segments)
    if not start.is_clean:
        first = max(0, sum(1 for segment in segments if segment.base <= start.recovery_point) - 1)
        if first and segments[first - 1].has_newer_batch:
            first -= 1
    elif segments[-1].is_torn:
        first = len(segments) - 1
    return min([first, *(index for index, segment in enumerate(segments) if not segment.has_index)])


def remove_stray(snapshots: dict[int, Known | None], segments: list[Segment]) -> None:
    bases = {segment.base for segment in segments}
    stray = [offset for offset in sorted(snapshots) if offset not in bases]
    for offset in stray:
        if offset != stray[-1] or offset <= max(bases):
            del snapshots[offset]


def numbered(files: dict[str, bytes], suffix: str) -> dict[int, bytes]:
    return {
        int(name.removesuffix(suffix)): data
        for name, data in files.items()
        if name.endswith(suffix) and len(name) == 20 + len(suffix) and name[:20].isdigit()
    }


def decoded_snapshot(data: bytes) -> Known | None:
    """Return the producers in a snapshot; None if it is corrupt."""
    if len(data) < 10:
        return None
    version, crc, count = struct.unpack_from(">hIi", data)
    if version != 1 or crc32c(data[6:]) != crc or len(data) != 10 + 46 * count:
        return None
    known: Known = {}
    for index in range(count):
        producer_id, epoch, last_sequence, last_offset, delta, timestamp, _, _ = struct.unpack_from(
            ">qhiqiqiq", data, 10 + 46 * index
        )
        newest = ((last_sequence - delta) % SEQUENCES, last_sequence, last_offset - delta, last_offset)
        known[producer_id] = Producer(epoch, (newest,) if last_offset >= 0 else (), timestamp)
    return known


def decoded_epochs(data: bytes) -> list[tuple[int, int]]:
    """Return the epochs of a checkpoint; none if it is damaged."""
    lines = data.decode("latin-1").split("\n")
    try:
        count = int(lines[1])
        found = [(int(epoch), int(offset)) for epoch, offset in (line.split(" ") for line in lines[2:-1])]
    except (ValueError, IndexError):
        return []
    epochs: list[tuple[int, int]] = []
    if lines[0] == "0" and lines[-1] == "" and count == len(found):
        for epoch, offset in found:
            assign(epochs, epoch, offset)
    return epochs


def assign(epochs: list[tuple[int, int]], epoch: int, offset: int) -> None:
    if epoch >= 0 and (not epochs or epoch > epochs[-1][0]):
        while epochs and epochs[-1][1] >= offset:
            epochs.pop()
        epochs.append((epoch, offset))


def epochs_between(epochs: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the epochs that start at or before end and do not end before start.

    Kafka also drops one that starts at end, because its broker always starts a new epoch.
    """
    left = [entry for entry in epochs if entry[1] <= end]
    begun = [epoch for epoch, offset in left if offset <= start]
    return [(epoch, start) for epoch in begun[-1:]] + [entry for entry in left if entry[1] > start]
