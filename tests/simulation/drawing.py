"""Draws the log configuration, the batches and the faults of a simulation."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from random import Random

from fauxka.faults.files.operation_kind import CHANGES, SYNCS, OperationKind
from fauxka.protocol.batches.compression import compress
from fauxka.protocol.batches.record_batch import Compression
from fauxka.storage.log_config import LONG_MAX, LogConfig

from ..faulty_files.file_fault_rules import Fail, FileFaultRule, LoseSync, Stop, Tear, disk_full, read_only
from ..protocol.batch_bytes import batch, record

HOUR_MS = 3_600_000
SUFFIXES = ("", "", "", ".log", ".index", ".timeindex", ".snapshot", "-checkpoint", ".tmp", ".deleted")
ERRORS = (errno.EIO, errno.ENOSPC, errno.EROFS)


@dataclass(frozen=True, slots=True)
class Sent:
    """A batch that a producer sends, perhaps repeatedly."""

    data: bytes
    first_sequence: int
    count: int
    epoch: int


@dataclass(slots=True)
class Producer:
    """An idempotent producer: its next sequence, its sent batches and its pending batch."""

    producer_id: int
    epoch: int = 0
    next_sequence: int = 0
    sent: list[Sent] = field(default_factory=list[Sent])
    unanswered: Sent | None = None


def draw_config(random: Random) -> LogConfig:
    """Return a configuration with small segments and small retention limits."""
    return LogConfig(
        segment_bytes=random.choice((900, 900, 1500, 4000)),
        index_interval_bytes=random.choice((0, 100, 300)),
        segment_index_bytes=random.choice((48, 96, 480)),
        retention_bytes=random.choice((-1, -1, 1000, 3000)),
        retention_ms=random.choice((-1, HOUR_MS)),
        flush_messages=random.choice((LONG_MAX, 1, 1, 7)),
        file_delete_delay_ms=random.choice((0, 60_000)),
        producer_id_expiration_ms=random.choice((24 * HOUR_MS, 24 * HOUR_MS, HOUR_MS // 2)),
    )


def draw_batch(random: Random, number: int, now_ms: int, *, producer_id: int, epoch: int, sequence: int) -> Sent:
    """Return a batch whose records contain its number, so that no two batches are equal."""
    count = random.choice((1, 1, 1, 2, 3, 5))
    value = b"%d:" % number + bytes(random.choice((0, 10, 40, 120)))
    payload = b"".join(record(value, b"k%d" % index, offset_delta=index) for index in range(count))
    codec = random.choice((Compression.NONE, Compression.NONE, Compression.NONE, *Compression))
    data = batch(
        compress(codec, payload),
        count=count,
        attributes=codec.value,
        base_timestamp=now_ms,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
    )
    return Sent(data, sequence, count, epoch)


def draw_from(random: Random, producer: Producer, number: int, now_ms: int) -> Sent:
    """Return the next batch of the producer: mostly a valid one, sometimes an invalid one."""
    kind = random.random()
    if producer.unanswered is not None and kind < 0.8:
        return producer.unanswered
    if producer.sent and kind > 0.85:
        return random.choice(producer.sent[-8:])
    sequence, epoch = producer.next_sequence, producer.epoch
    if kind < 0.05:
        sequence += random.choice((1, 3))
    elif kind < 0.1:
        epoch, sequence = epoch + 1, random.choice((0, 0, 0, 2))
    return draw_batch(random, number, now_ms, producer_id=producer.producer_id, epoch=epoch, sequence=sequence)


def draw_stop(random: Random, operations_max: int) -> FileFaultRule:
    """Return a rule that stops the machine before, during or after one of the next operations."""
    kinds = CHANGES
    effect: Stop | Tear = Stop(is_done=random.random() < 0.5)
    skip = random.randrange(operations_max)
    if random.random() < 0.4:
        kinds = frozenset({OperationKind.WRITE, OperationKind.REPLACE})
        effect = Tear(random.choice((0, 1, 7, 8, 20, 61, random.randrange(300))), Stop())
        skip //= 2
    return FileFaultRule(effect=effect, kinds=kinds, skip=skip)


def draw_fault(random: Random, *, may_lie: bool) -> FileFaultRule:
    """Return a rule that makes operations fail, or syncs do nothing if that is allowed."""
    kind = random.random()
    if kind < 0.15:
        return random.choice((disk_full, read_only))()
    fail = Fail(random.choice(ERRORS))
    if kind < 0.4:
        lies = may_lie and random.random() < 0.3
        return FileFaultRule(effect=LoseSync() if lies else fail, kinds=SYNCS, skip=random.randrange(4))
    suffix = random.choice(SUFFIXES)
    times = random.choice((1, 1, 2, 5, None))
    if kind < 0.65:
        size = random.choice((0, 1, 7, 8, 61, random.randrange(300), 10_000))
        torn = frozenset({OperationKind.WRITE, OperationKind.REPLACE})
        return FileFaultRule(effect=Tear(size, fail), kinds=torn, suffix=suffix, skip=random.randrange(4), times=times)
    kinds = random.choice((CHANGES, CHANGES, frozenset({random.choice(sorted(CHANGES, key=lambda each: each.value))})))
    return FileFaultRule(effect=fail, kinds=kinds, suffix=suffix, skip=random.randrange(6), times=times)
