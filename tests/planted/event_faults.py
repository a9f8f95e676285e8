"""Copies of events, and records without an event id."""

from fauxka.storage.log_files import PartitionName

from .events import NO_PRODUCER, REPEATING, STARTS, Found, Sender, Stored
from .planted_log import PlantedLog

# Producers that are used throughout the log.
IDEMPOTENT = 7
TRANSACTIONAL = 8
# An audit reports more than 1,000 copies that are most records of a topic as one finding.
REPEATED_IDS = 30
REPEATED_RECORDS = 1_300
REPEATED_IN_BATCH = 50


def clean_batch(log: PlantedLog, partition: PartitionName | None = None, count: int | None = None) -> Stored:
    """Append an acknowledged batch without a fault."""
    partition = log.any_partition() if partition is None else partition
    events = log.new_events(partition, count)
    producer_id = log.random.choice([NO_PRODUCER, IDEMPOTENT, log.new_producer()])
    stored = log.append(partition, events, Sender(producer_id))
    log.acknowledge(stored)
    return stored


def pause(log: PlantedLog) -> None:
    """Append some clean batches."""
    for _ in range(log.random.randint(0, 2)):
        clean_batch(log)


def _first_copies(log: PlantedLog, producer_id: int, partition: PartitionName | None = None) -> Stored:
    """Append an acknowledged batch, of which the caller appends a copy."""
    partition = log.any_partition() if partition is None else partition
    stored = log.append(partition, log.new_events(partition), Sender(producer_id))
    log.acknowledge(stored)
    pause(log)
    return stored


def _append_copy(
    log: PlantedLog, first: Stored, cause: str, sender: Sender, partition: PartitionName | None = None
) -> Stored:
    """Append the events again, and expect their duplicates."""
    copy = log.append(partition or first.partition, first.events, sender)
    for delta, event in enumerate(first.events):
        offsets = (copy.base_offset + delta, first.base_offset + delta)
        log.expect(Found("event", "duplicate", cause, *copy.partition, *offsets, event.event_id))
    return copy


def not_deduplicated(log: PlantedLog) -> None:
    """The same batch with the same sequences, which a broker should have detected as a duplicate."""
    first = _first_copies(log, log.new_producer())
    copy = _append_copy(log, first, "not_deduplicated", Sender(first.producer_id, sequence=0))
    offsets = (copy.base_offset, first.base_offset)
    log.expect(Found("sequence", "repeat", None, *copy.partition, *offsets, count=len(copy.events)))


def re_sequenced(log: PlantedLog) -> None:
    """A producer times out, raises its epoch and resends the same batch from sequence 0."""
    timestamp_ms = log.next_timestamp_ms
    first = _first_copies(log, IDEMPOTENT)
    log.epochs[IDEMPOTENT] = log.epochs.get(IDEMPOTENT, 0) + 1
    _append_copy(log, first, "re_sequenced_after_epoch_bump", Sender(IDEMPOTENT, timestamp_ms=timestamp_ms))


def given_up_and_sent_again(log: PlantedLog) -> None:
    """A producer drops a batch and raises its epoch, and the application sends the events again."""
    first = _first_copies(log, IDEMPOTENT)
    log.epochs[IDEMPOTENT] = log.epochs.get(IDEMPOTENT, 0) + 1
    _append_copy(log, first, "sent_again", Sender(IDEMPOTENT))


def sent_again(log: PlantedLog) -> None:
    """The application sends its events twice."""
    log.acknowledge(_append_copy(log, _first_copies(log, IDEMPOTENT), "sent_again", Sender(IDEMPOTENT)))


def producer_restarted(log: PlantedLog) -> None:
    """Another producer sends the same events."""
    _append_copy(log, _first_copies(log, IDEMPOTENT), "producer_restarted", Sender(log.new_producer()))


def other_partition(log: PlantedLog) -> None:
    """The application sends the same events to another partition."""
    partition = log.random.choice([name for name in STARTS if name.partition > 0])
    first = _first_copies(log, IDEMPOTENT, partition)
    _append_copy(log, first, "other_partition", Sender(IDEMPOTENT), partition._replace(partition=0))


def idempotence_off(log: PlantedLog) -> None:
    """A retry without idempotence."""
    _append_copy(log, _first_copies(log, NO_PRODUCER), "idempotence_off", Sender(NO_PRODUCER))


def no_event_id(log: PlantedLog) -> None:
    """Records have no event id."""
    partition = log.any_partition()
    stored = log.append(partition, log.new_events(partition), Sender(has_event_ids=False))
    found = Found("event", "no_event_id", None, *partition, stored.base_offset, count=len(stored.events))
    log.expect_in_partition(found, partition)


def repeated_event_id(log: PlantedLog) -> None:
    """The event id of a topic repeats in most records, so it identifies no event. Only once in a log."""
    if REPEATING in log.batches:
        return
    log.batches[REPEATING], log.offsets[REPEATING] = [], 0
    # Keys of their own, so that the order of the events does not count.
    events = [log.new_events(REPEATING, 1, f"sensor-{number}")[0] for number in range(REPEATED_IDS)]
    log.acknowledge(log.append(REPEATING, events, Sender(log.new_producer())))
    copies = REPEATED_RECORDS - REPEATED_IDS
    for first in range(0, copies, REPEATED_IN_BATCH):
        count = min(REPEATED_IN_BATCH, copies - first)
        log.append(REPEATING, log.random.choices(events, k=count), Sender(log.new_producer()))
    log.expect(Found("event", "repeated_event_id", None, REPEATING.topic_name, None, None, count=copies))
