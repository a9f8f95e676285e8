"""Transactions that were committed, aborted, or have no end."""

from .event_faults import TRANSACTIONAL
from .events import EVENTS_MAX, START_MS, Found, Sender, Stored
from .planted_log import PlantedLog

# Longer than the maximum of a transaction's timeout, 15 minutes.
HANGING_MS = 3_600_000


def committed(log: PlantedLog) -> None:
    """A committed transaction in two batches."""
    for stored in _transaction(log, is_commit=True):
        log.acknowledge(stored)


def aborted(log: PlantedLog) -> None:
    """The events of an aborted transaction are sent again in a committed one."""
    batches = _transaction(log, is_commit=False)
    events = [event for stored in batches for event in stored.events]
    partition = batches[0].partition
    stored = log.append(partition, events, Sender(TRANSACTIONAL, is_transactional=True))
    log.end_transaction(partition, TRANSACTIONAL, is_commit=True)
    log.acknowledge(stored)


def aborted_and_acknowledged(log: PlantedLog) -> None:
    """The events of an aborted transaction are acknowledged in the ledger."""
    for stored in _transaction(log, is_commit=False):
        log.acknowledge(stored)
        for delta, event in enumerate(stored.events):
            offset = stored.base_offset + delta
            log.expect_of_ledger("lost", event, offset, other=offset, cause="aborted_transaction")


def _transaction(log: PlantedLog, *, is_commit: bool) -> tuple[Stored, Stored]:
    """Append a transaction in two batches and its marker."""
    partition = log.any_partition()
    events = log.new_events(partition, EVENTS_MAX)
    sender = Sender(TRANSACTIONAL, is_transactional=True)
    first = log.append(partition, events[:1], sender)
    second = log.append(partition, events[1:], sender)
    marker = log.end_transaction(partition, TRANSACTIONAL, is_commit=is_commit)
    if not is_commit:
        offsets = (first.base_offset, marker)
        log.expect(Found("log", "aborted_transaction", None, *partition, *offsets, count=len(events)))
    return first, second


def open_transaction(log: PlantedLog) -> None:
    """A transaction has no marker."""
    _append_without_end(log, "open_transaction", log.next_timestamp_ms)


def hanging_transaction(log: PlantedLog) -> None:
    """A transaction has no marker, and its timeout is over."""
    _append_without_end(log, "hanging_transaction", START_MS - HANGING_MS)


def _append_without_end(log: PlantedLog, kind: str, timestamp_ms: int) -> None:
    partition = log.any_partition()
    sender = Sender(log.new_producer(), is_transactional=True, timestamp_ms=timestamp_ms)
    stored = log.append(partition, log.new_events(partition), sender)
    log.acknowledge(stored)
    log.expect(Found("log", kind, None, *partition, stored.base_offset, count=len(stored.events)))
