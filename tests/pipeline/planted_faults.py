"""Faults to plant in a log. Each function also adds the expected findings; an audit must find no others."""

from collections.abc import Callable, Sequence
from random import Random

from .planted_log import EVENTS_MAX, NO_PRODUCER, PARTITIONS, STARTS, Event, Found, PlantedLog, Sender

# Producers that are used throughout the log.
IDEMPOTENT = 7
TRANSACTIONAL = 8
# An offset behind the end of every log.
FAR_AWAY = 1_000_000


def clean_batch(log: PlantedLog, partition: int | None = None) -> None:
    """Append an acknowledged batch without a fault."""
    partition = log.any_partition() if partition is None else partition
    events = log.new_events(partition)
    producer_id = log.random.choice([NO_PRODUCER, IDEMPOTENT, log.new_producer()])
    log.acknowledge(events, partition, log.append(partition, events, Sender(producer_id)))


def _first_copies(log: PlantedLog, producer_id: int) -> tuple[list[Event], int]:
    """Append an acknowledged batch, of which the caller appends a copy."""
    partition = log.any_partition()
    events = log.new_events(partition)
    base_offset = log.append(partition, events, Sender(producer_id))
    log.acknowledge(events, partition, base_offset)
    return events, base_offset


def _pause(log: PlantedLog) -> None:
    for _ in range(log.random.randint(0, 2)):
        clean_batch(log)


def _expect_copies(
    log: PlantedLog, events: Sequence[Event], cause: str, partition: int, offsets: tuple[int, int]
) -> None:
    first, copy = offsets
    for delta, event in enumerate(events):
        log.expect(Found("event", "duplicate", cause, partition, copy + delta, first + delta, event.event_id))


def not_deduplicated(log: PlantedLog) -> None:
    """The same batch with the same sequences, which a broker should have detected as a duplicate."""
    events, first = _first_copies(log, producer_id := log.new_producer())
    _pause(log)
    partition = events[0].partition
    copy = log.append(partition, events, Sender(producer_id, sequence=0))
    _expect_copies(log, events, "not_deduplicated", partition, (first, copy))
    log.expect(Found("sequence", "repeat", None, partition, copy, first, count=len(events)))


def re_sequenced(log: PlantedLog) -> None:
    """A producer times out, raises its epoch and resends the same batch from sequence 0."""
    timestamp_ms = log.next_timestamp_ms
    events, first = _first_copies(log, IDEMPOTENT)
    _pause(log)
    log.epochs[IDEMPOTENT] = log.epochs.get(IDEMPOTENT, 0) + 1
    partition = events[0].partition
    copy = log.append(partition, events, Sender(IDEMPOTENT, timestamp_ms=timestamp_ms))
    _expect_copies(log, events, "re_sequenced_after_epoch_bump", partition, (first, copy))


def given_up_and_sent_again(log: PlantedLog) -> None:
    """A producer drops a batch and raises its epoch, and the application sends the events again."""
    events, first = _first_copies(log, IDEMPOTENT)
    _pause(log)
    log.epochs[IDEMPOTENT] = log.epochs.get(IDEMPOTENT, 0) + 1
    partition = events[0].partition
    copy = log.append(partition, events, Sender(IDEMPOTENT))
    _expect_copies(log, events, "sent_again", partition, (first, copy))


def sent_again(log: PlantedLog) -> None:
    """The application sends its events twice."""
    events, first = _first_copies(log, IDEMPOTENT)
    _pause(log)
    partition = events[0].partition
    copy = log.append(partition, events, Sender(IDEMPOTENT))
    log.acknowledge(events, partition, copy)
    _expect_copies(log, events, "sent_again", partition, (first, copy))


def producer_restarted(log: PlantedLog) -> None:
    """Another producer sends the same events."""
    events, first = _first_copies(log, IDEMPOTENT)
    _pause(log)
    partition = events[0].partition
    copy = log.append(partition, events, Sender(log.new_producer()))
    _expect_copies(log, events, "producer_restarted", partition, (first, copy))


def other_partition(log: PlantedLog) -> None:
    """The application sends the same events to another partition."""
    events, first = _first_copies(log, IDEMPOTENT)
    _pause(log)
    partition = (events[0].partition + 1) % PARTITIONS
    copy = log.append(partition, events, Sender(IDEMPOTENT))
    _expect_copies(log, events, "other_partition", partition, (first, copy))


def idempotence_off(log: PlantedLog) -> None:
    """A retry without idempotence."""
    events, first = _first_copies(log, NO_PRODUCER)
    _pause(log)
    partition = events[0].partition
    copy = log.append(partition, events, Sender(NO_PRODUCER))
    _expect_copies(log, events, "idempotence_off", partition, (first, copy))


def lost(log: PlantedLog) -> None:
    """Events are acknowledged but not stored; another batch has their offsets."""
    partition = log.any_partition()
    events = log.new_events(partition)
    offset = log.offsets[partition]
    log.acknowledge(events, partition, offset)
    for delta, event in enumerate(events):
        log.expect_ledger_finding("lost", event, offset + delta)


def expired(log: PlantedLog) -> None:
    """Events are acknowledged at offsets that retention has deleted."""
    partition = max(range(PARTITIONS), key=STARTS.__getitem__)
    events = log.new_events(partition)
    offset = log.random.randrange(STARTS[partition] - len(events) + 1)
    log.acknowledge(events, partition, offset)
    for delta, event in enumerate(events):
        log.expect_ledger_finding("expired", event, offset + delta, cause="retention")


def failed_and_absent(log: PlantedLog) -> None:
    """Events failed and are not stored. This is not a fault."""
    log.fail(log.new_events(log.any_partition()), "MESSAGE_TOO_LARGE")


def failed_and_stored(log: PlantedLog) -> None:
    """Events failed but are stored."""
    partition = log.any_partition()
    events = log.new_events(partition)
    offset = log.append(partition, events, Sender(IDEMPOTENT))
    log.fail(events, "REQUEST_TIMED_OUT")
    for delta, event in enumerate(events):
        log.expect_ledger_finding("ambiguous_success", event, offset + delta)


def offset_differs(log: PlantedLog) -> None:
    """Events are stored at other offsets than acknowledged."""
    partition = log.any_partition()
    events = log.new_events(partition)
    offset = log.append(partition, events, Sender(IDEMPOTENT))
    log.acknowledge(events, partition, FAR_AWAY)
    for delta, event in enumerate(events):
        log.expect_ledger_finding("offset_differs", event, offset + delta, other=FAR_AWAY + delta)


def unknown(log: PlantedLog) -> None:
    """Events are stored but not in the ledger."""
    partition = log.any_partition()
    events = log.new_events(partition)
    offset = log.append(partition, events, Sender(NO_PRODUCER))
    for delta, event in enumerate(events):
        log.expect_ledger_finding("unknown_event", event, offset + delta)


def reordered(log: PlantedLog) -> None:
    """A batch is stored behind another one that was sent later."""
    partition = log.any_partition()
    events = log.new_events(partition)
    clean_batch(log, partition)
    in_front = log.offsets[partition] - 1
    offset = log.append(partition, events, Sender(NO_PRODUCER))
    log.acknowledge(events, partition, offset)
    for delta, event in enumerate(events):
        log.expect_ledger_finding("reordered", event, offset + delta, other=in_front)


def damaged(log: PlantedLog) -> None:
    """A batch has a flipped bit, so its events are lost."""
    partition = log.any_partition()
    events = log.new_events(partition)
    offset = log.append(partition, events, Sender(IDEMPOTENT))
    log.acknowledge(events, partition, offset)
    stored = bytearray(log.batches[partition][-1])
    stored[-1 - log.random.randrange(10)] ^= 1 << log.random.randrange(8)
    log.batches[partition][-1] = bytes(stored)
    log.expect(Found("log", "damaged_batch", "wrong_crc", partition, offset, count=len(events)))
    for delta, event in enumerate(events):
        log.expect_ledger_finding("lost", event, offset + delta)


def sequence_gap(log: PlantedLog) -> None:
    """A producer skips sequences."""
    partition = log.any_partition()
    producer_id, missing = log.new_producer(), log.random.randint(1, 9)
    offset = before = 0
    for sequence in (0, EVENTS_MAX + missing):
        events = log.new_events(partition, EVENTS_MAX)
        offset = log.append(partition, events, Sender(producer_id, sequence))
        log.acknowledge(events, partition, offset)
        if sequence == 0:
            before = offset + EVENTS_MAX - 1
            _pause(log)
    log.expect(Found("sequence", "gap", None, partition, offset, before, count=missing))


def committed(log: PlantedLog) -> None:
    """A committed transaction in two batches."""
    _transaction(log, is_commit=True)


def aborted(log: PlantedLog) -> None:
    """The events of an aborted transaction are sent again in a committed one."""
    events, partition = _transaction(log, is_commit=False)
    offset = log.append(partition, events, Sender(TRANSACTIONAL, is_transactional=True))
    log.end_transaction(partition, TRANSACTIONAL, is_commit=True)
    log.acknowledge(events, partition, offset)


def aborted_and_acknowledged(log: PlantedLog) -> None:
    """The events of an aborted transaction are acknowledged in the ledger."""
    events, partition = _transaction(log, is_commit=False)
    first = log.offsets[partition] - 1 - len(events)
    log.acknowledge(events, partition, first)
    for delta, event in enumerate(events):
        offset = first + delta
        log.expect_ledger_finding("lost", event, offset, other=offset, cause="aborted_transaction")


def _transaction(log: PlantedLog, *, is_commit: bool) -> tuple[list[Event], int]:
    """Append a transaction in two batches and its marker; return its events and its partition."""
    partition = log.any_partition()
    events = log.new_events(partition, EVENTS_MAX)
    sender = Sender(TRANSACTIONAL, is_transactional=True)
    first = log.append(partition, events[:1], sender)
    log.append(partition, events[1:], sender)
    marker = log.end_transaction(partition, TRANSACTIONAL, is_commit=is_commit)
    if is_commit:
        log.acknowledge(events, partition, first)
    else:
        log.expect(Found("log", "aborted_transaction", None, partition, first, marker, count=len(events)))
    return events, partition


def open_transaction(log: PlantedLog) -> None:
    """A transaction has no marker."""
    partition = log.any_partition()
    events = log.new_events(partition)
    offset = log.append(partition, events, Sender(log.new_producer(), is_transactional=True))
    log.acknowledge(events, partition, offset)
    log.expect(Found("log", "open_transaction", None, partition, offset, count=len(events)))


PLANTS: tuple[Callable[[PlantedLog], None], ...] = (
    *(not_deduplicated, re_sequenced, given_up_and_sent_again, sent_again, producer_restarted, other_partition),
    *(idempotence_off, lost, failed_and_absent, failed_and_stored, offset_differs, unknown, reordered),
    *(expired, damaged, sequence_gap, committed, aborted, aborted_and_acknowledged, open_transaction),
)


def planted_log(seed: int, plants: Sequence[Callable[[PlantedLog], None]] = PLANTS, each_max: int = 3) -> PlantedLog:
    """Return a log with 1 to each_max of each fault in random order, and clean batches between them."""
    random = Random(seed)
    log = PlantedLog(random)
    for partition in range(PARTITIONS):
        clean_batch(log, partition)
    steps = [plant for plant in plants for _ in range(random.randint(1, each_max))]
    random.shuffle(steps)
    for step in steps:
        step(log)
        _pause(log)
    return log
