"""Logs that end in front of what their files say, leader epochs that do not follow each other, and old formats."""

from dataclasses import replace

from fauxka.protocol.batches.message_sets import message_set_of
from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import build_batch
from fauxka.storage.log_files import PartitionName

from .event_faults import IDEMPOTENT, clean_batch
from .events import REELECTED, Found, Sender, Stored
from .planted_log import PlantedLog

# What says that a log reached further.
REACHED = ("high_watermark", "recovery_point", "producer_snapshot")
BEHIND_END_MAX = 20


def truncated_log(log: PlantedLog) -> None:
    """A partition ends in front of one of its files. Once for each partition."""
    # append_ends sets it, behind everything else.
    log.reached[log.any_partition()] = (log.random.choice(REACHED), 0)


def append_ends(log: PlantedLog) -> None:
    """Set the files of truncated_log. To be called after the last append."""
    for partition, (cause, _) in log.reached.items():
        count = log.random.randint(1, BEHIND_END_MAX)
        end = log.offsets[partition] - log.cut_off_events.get(partition, 0)
        log.reached[partition] = (cause, end + count)
        log.expect(Found("log", "truncated_log", cause, *partition, end, count=count))


def leader_epoch_regression(log: PlantedLog) -> None:
    """The leader of an older epoch appends after that of a newer one."""
    partition = log.any_partition()
    newer = _append(log, partition, log.leader_epoch(partition) + log.random.randint(1, 9))
    older = clean_batch(log, partition)
    offsets = (older.base_offset, newer.base_offset + len(newer.events) - 1)
    log.expect(Found("log", "leader_epoch_regression", None, *partition, *offsets, count=len(older.events)))


def leader_epoch_mismatch(log: PlantedLog) -> None:
    """The checkpoint has a newer leader epoch for a batch than the batch has."""
    if REELECTED not in log.batches:
        log.batches[REELECTED], log.offsets[REELECTED] = [], 0
        log.leader_epochs[REELECTED] = [(0, 0)]
        clean_batch(log, REELECTED)
    epoch = log.leader_epoch(REELECTED)
    log.leader_epochs[REELECTED].append((epoch + 1, log.offsets[REELECTED]))
    stored = _append(log, REELECTED, epoch)
    clean_batch(log, REELECTED)
    found = Found("log", "leader_epoch_mismatch", None, *REELECTED, stored.base_offset, count=len(stored.events))
    log.expect_in_partition(found, REELECTED)


def _append(log: PlantedLog, partition: PartitionName, leader_epoch: int) -> Stored:
    """Append an acknowledged batch of a leader with another epoch."""
    stored = log.append(partition, log.new_events(partition), Sender(IDEMPOTENT, leader_epoch=leader_epoch))
    log.acknowledge(stored)
    return stored


def old_messages(log: PlantedLog) -> None:
    """Messages of magic 0 or 1 are between two batches. They have no headers, so they have no event ids."""
    partition = log.any_partition()
    clean_batch(log, partition)
    log.keep_in_segment(partition)
    stored = log.place(partition, log.new_events(partition), Sender())
    records = [log.record_of(event, log.next_timestamp_ms) for event in stored.events]
    # No message can be compressed with zstd.
    codec = log.random.choice([Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
    batch = build_batch(records, replace(log.options_of(stored, Sender()), compression=codec))
    magic = log.random.randrange(2)
    log.store(partition, message_set_of([batch], magic, stored.base_offset), len(records))
    log.respond(stored)
    last_offset = stored.base_offset + len(records) - 1
    log.expect(Found("log", "old_format", None, *partition, stored.base_offset, last_offset, count=len(records)))
    without = Found("event", "no_event_id", None, *partition, stored.base_offset, count=len(records))
    log.expect_in_partition(without, partition)
    clean_batch(log, partition)
