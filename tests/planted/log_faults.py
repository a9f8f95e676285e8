"""Damage, missing offsets, and sequences and epochs of producers that do not follow each other."""

import struct
from dataclasses import replace

from fauxka.protocol.batches.record_batch import HEADER_SIZE, Compression, parse_header, sealed_header
from fauxka.protocol.batches.records import build_batch, encode_record
from fauxka.storage.log_files import PartitionName

from .event_faults import IDEMPOTENT, clean_batch, pause
from .events import COMPACTED, EVENTS_MAX, Found, Sender, Stored
from .planted_log import PlantedLog

MISSING_MAX = 9
# Of the three bits, five values are codecs.
UNKNOWN_CODEC = 7
# A message of format 1 without its offset, size and CRC: magic, attributes, timestamp, no key, a value.
_OLD_MESSAGE = struct.pack(">bbqii", 1, 0, 1_600_000_000_000, -1, 3) + b"old"


def damaged(log: PlantedLog) -> None:
    """A batch has a flipped bit, so its events are lost."""
    stored = _append_lost(log, log.any_partition())
    content = bytearray(log.batches[stored.partition][-1])
    content[-1 - log.random.randrange(10)] ^= 1 << log.random.randrange(8)
    log.batches[stored.partition][-1] = bytes(content)
    _expect_damage(log, stored, "wrong_crc")


def unknown_codec(log: PlantedLog) -> None:
    """A batch has a right CRC and an unknown codec, so its events are lost."""
    stored = _append_lost(log, log.any_partition())
    _replace_records(log, stored, attributes=UNKNOWN_CODEC)
    _expect_damage(log, stored, "unreadable_records")


def unreadable(log: PlantedLog) -> None:
    """A batch has a right CRC around bytes that are no records, so its events are lost."""
    stored = _append_lost(log, log.any_partition())
    _replace_records(log, stored, records=b"\xff" * 40)
    _expect_damage(log, stored, "unreadable_records")


def _append_lost(log: PlantedLog, partition: PartitionName) -> Stored:
    """Append an acknowledged batch that the caller damages."""
    stored = log.append(partition, log.new_events(partition), Sender(IDEMPOTENT))
    log.acknowledge(stored)
    log.expect_in_ledgers("lost", stored)
    return stored


def _replace_records(
    log: PlantedLog, stored: Stored, *, attributes: int | None = None, records: bytes | None = None
) -> None:
    """Seal the last batch of the partition again, with other attributes or records."""
    content = log.batches[stored.partition][-1]
    header = parse_header(content)
    header = header if attributes is None else header.replaced(attributes=attributes)
    records = content[HEADER_SIZE:] if records is None else records
    log.batches[stored.partition][-1] = sealed_header(header, records) + records


def _expect_damage(log: PlantedLog, stored: Stored, cause: str) -> None:
    found = Found("log", "damaged_batch", cause, *stored.partition, stored.base_offset, count=len(stored.events))
    log.expect(found)


def old_format(log: PlantedLog) -> None:
    """A message of the format before Kafka 0.11 is between two batches."""
    _insert(log, struct.pack(">qii", 0, len(_OLD_MESSAGE) + 4, 0) + _OLD_MESSAGE, "old_format")


def no_batch(log: PlantedLog) -> None:
    """Zeros are between two batches."""
    _insert(log, bytes(log.random.randint(HEADER_SIZE, 4 * HEADER_SIZE)), "no_batch")


def _insert(log: PlantedLog, content: bytes, cause: str) -> None:
    partition = log.any_partition()
    clean_batch(log, partition)
    log.keep_in_segment(partition)
    log.store(partition, content, 0)
    # Two pieces of damage side by side could be one finding.
    clean_batch(log, partition)
    log.expect(Found("log", "damaged_batch", cause, *partition, None))


def cut_off(log: PlantedLog) -> None:
    """The last batch of a partition is incomplete, so its events are lost. Once for each partition."""
    # append_tails sets it, behind everything else.
    log.tails[log.any_partition()] = b""


def append_tails(log: PlantedLog) -> None:
    """Append the incomplete batches of cut_off. To be called after the last append."""
    for partition in log.tails:
        stored = _append_lost(log, partition)
        log.cut_off_events[partition] = len(stored.events)
        content = log.batches[partition].pop()
        log.tails[partition] = content[: log.random.randint(HEADER_SIZE, len(content) - 1)]
        _expect_damage(log, stored, "cut_off")


def missing_offsets(log: PlantedLog) -> None:
    """A batch is missing with its offsets, so its events are lost."""
    partition = log.any_partition()
    before = clean_batch(log, partition)
    absent = log.place(partition, log.new_events(partition), Sender(log.new_producer()))
    log.acknowledge(absent)
    log.respond(absent)
    log.expect_in_ledgers("lost", absent)
    log.offsets[partition] += len(absent.events)
    log.keep_in_segment(partition)
    after = clean_batch(log, partition)
    offsets = (after.base_offset, before.base_offset + len(before.events) - 1)
    found = Found("log", "missing_offsets", None, *partition, *offsets, count=len(absent.events))
    log.expect_in_partition(found, partition)


def offset_regression(log: PlantedLog) -> None:
    """A batch has offsets that are in the log already, as if two replicas were in one folder."""
    partition = log.any_partition()
    clean_batch(log, partition, EVENTS_MAX)
    last_offset = log.offsets[partition] - 1
    # A key of its own, because the offsets do not show the order of its events.
    events = log.new_events(partition, key=f"second-replica-{log.event_count}")
    log.offsets[partition] -= len(events)
    log.keep_in_segment(partition)
    stored = log.append(partition, events, Sender(log.new_producer()))
    log.acknowledge(stored)
    log.keep_in_segment(partition)
    clean_batch(log, partition)
    offsets = (stored.base_offset, last_offset)
    log.expect(Found("log", "offset_regression", None, *partition, *offsets, count=len(events)))


def sequence_gap(log: PlantedLog) -> None:
    """A producer skips sequences."""
    partition, producer_id = log.any_partition(), log.new_producer()
    missing = log.random.randint(1, MISSING_MAX)
    before = _append_at(log, partition, producer_id, 0)
    pause(log)
    stored = _append_at(log, partition, producer_id, EVENTS_MAX + missing)
    _expect_gap(log, stored, before, missing)


def sequence_regression(log: PlantedLog) -> None:
    """Three batches of a producer are stored in the order first, third, second."""
    partition, producer_id = log.any_partition(), log.new_producer()
    first = _append_at(log, partition, producer_id, 0)
    pause(log)
    third = _append_at(log, partition, producer_id, 2 * EVENTS_MAX)
    pause(log)
    second = _append_at(log, partition, producer_id, EVENTS_MAX)
    _expect_gap(log, third, first, EVENTS_MAX)
    offsets = (second.base_offset, third.base_offset + EVENTS_MAX - 1)
    log.expect(Found("sequence", "regression", None, *partition, *offsets, count=EVENTS_MAX))


def epoch_regression(log: PlantedLog) -> None:
    """A producer appends after another one with its id and a newer epoch has."""
    partition, producer_id = log.any_partition(), log.new_producer()
    offset = 0
    for epoch in (0, 1, 0):
        log.epochs[producer_id] = epoch
        stored = log.append(partition, log.new_events(partition, EVENTS_MAX), Sender(producer_id))
        log.acknowledge(stored)
        offset = stored.base_offset
    log.expect(Found("sequence", "epoch_regression", None, *partition, offset, count=EVENTS_MAX))


def _append_at(log: PlantedLog, partition: PartitionName, producer_id: int, sequence: int) -> Stored:
    stored = log.append(partition, log.new_events(partition, EVENTS_MAX), Sender(producer_id, sequence))
    log.acknowledge(stored)
    return stored


def _expect_gap(log: PlantedLog, stored: Stored, before: Stored, missing: int) -> None:
    offsets = (stored.base_offset, before.base_offset + len(before.events) - 1)
    log.expect(Found("sequence", "gap", None, *stored.partition, *offsets, count=missing))


def compacted(log: PlantedLog) -> None:
    """Cleaning has removed a batch and records of the next one, which were acknowledged."""
    partition = COMPACTED
    if partition not in log.batches:
        log.batches[partition], log.offsets[partition] = [], 0
    before = clean_batch(log, partition)
    sender = Sender(log.new_producer())
    removed = log.place(partition, log.new_events(partition), sender)
    log.acknowledge(removed)
    log.respond(removed)
    log.expect_in_ledgers("expired", removed, cause="compaction")
    log.offsets[partition] += len(removed.events)
    log.keep_in_segment(partition)
    emptied = log.place(partition, log.new_events(partition, EVENTS_MAX), sender)
    log.acknowledge(emptied)
    log.respond(emptied)
    _store_first_and_last(log, emptied, sender)
    log.cleaned[partition] = log.offsets[partition]
    offsets = (emptied.base_offset, before.base_offset + len(before.events) - 1)
    found = Found("log", "compacted_offsets", None, *partition, *offsets, count=len(removed.events))
    log.expect_in_partition(found, partition)


def _store_first_and_last(log: PlantedLog, stored: Stored, sender: Sender) -> None:
    """Store a batch from which cleaning has removed all records but the first and the last."""
    kept = (0, len(stored.events) - 1)
    records = [log.record_of(stored.events[delta], log.next_timestamp_ms) for delta in kept]
    options = replace(log.options_of(stored, sender), compression=Compression.NONE)
    header = parse_header(build_batch(records, options))
    content = b"".join(encode_record(record, delta, 0) for record, delta in zip(records, kept, strict=True))
    header = header.replaced(last_offset_delta=kept[-1])
    log.store(stored.partition, sealed_header(header, content) + content, len(stored.events))
    for delta in range(1, kept[-1]):
        offset = stored.base_offset + delta
        for event_id in (stored.events[delta].event_id, stored.event_in_journal(delta)):
            log.expect(Found("ledger", "expired", "compaction", *stored.partition, offset, None, event_id))
