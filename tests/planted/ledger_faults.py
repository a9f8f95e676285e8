"""Differences between the log and what a ledger or a journal says was sent and answered."""

from .event_faults import IDEMPOTENT, clean_batch
from .events import EVENTS_MAX, NO_PRODUCER, STARTS, WRITTEN, Answer, Sender, Stored
from .planted_log import PlantedLog

# An offset behind the end of every log.
FAR_AWAY = 1_000_000
_UNRECORDED = Answer(is_recorded=False)


def _append_by(log: PlantedLog, producer_id: int, answer: Answer = WRITTEN) -> Stored:
    partition = log.any_partition()
    return log.append(partition, log.new_events(partition), Sender(producer_id, answer=answer))


def lost(log: PlantedLog) -> None:
    """Events are acknowledged but not stored; another batch has their offsets."""
    partition = log.any_partition()
    absent = log.place(partition, log.new_events(partition), Sender(log.new_producer()))
    log.acknowledge(absent)
    log.respond(absent)
    log.expect_in_ledgers("lost", absent)


def expired(log: PlantedLog) -> None:
    """Events are acknowledged at offsets that retention has deleted."""
    partition = log.random.choice([name for name, start in STARTS.items() if start > EVENTS_MAX])
    events = log.new_events(partition)
    offset = log.random.randint(0, STARTS[partition] - len(events))
    absent = Stored(partition, events, offset, log.new_producer(), 0, 0)
    log.acknowledge(absent)
    log.respond(absent)
    log.expect_in_ledgers("expired", absent, cause="retention")


def failed_and_absent(log: PlantedLog) -> None:
    """Events failed and are not stored. This is not a fault."""
    partition = log.any_partition()
    absent = log.place(partition, log.new_events(partition), Sender(log.new_producer()))
    log.fail(absent.events, "MESSAGE_TOO_LARGE")
    log.respond(absent, Answer(error="MESSAGE_TOO_LARGE", base_offset=-1))


def failed_and_stored(log: PlantedLog) -> None:
    """Events failed but are stored."""
    stored = _append_by(log, IDEMPOTENT, Answer(error="REQUEST_TIMED_OUT", base_offset=-1))
    log.fail(stored.events, "REQUEST_TIMED_OUT")
    log.expect_in_ledgers("ambiguous_success", stored)


def offset_differs(log: PlantedLog) -> None:
    """Events are stored at other offsets than acknowledged."""
    stored = _append_by(log, IDEMPOTENT, Answer(base_offset=FAR_AWAY))
    log.acknowledge(stored, FAR_AWAY)
    for delta, event in enumerate(stored.events):
        log.expect_of_ledger("offset_differs", event, stored.base_offset + delta, other=FAR_AWAY + delta)
    log.expect_of_journal("offset_differs", stored, other=FAR_AWAY)


def unknown(log: PlantedLog) -> None:
    """Events are stored but in no ledger."""
    log.expect_in_ledgers("unknown_event", _append_by(log, NO_PRODUCER, _UNRECORDED))


def reordered(log: PlantedLog) -> None:
    """A batch is stored behind another one that was sent later."""
    partition = log.any_partition()
    events = log.new_events(partition)
    in_front = clean_batch(log, partition)
    stored = log.append(partition, events, Sender(log.new_producer()))
    log.acknowledge(stored)
    other = in_front.base_offset + len(in_front.events) - 1
    for delta, event in enumerate(events):
        log.expect_of_ledger("reordered", event, stored.base_offset + delta, other=other)


def requests_reordered(log: PlantedLog) -> None:
    """The batches of two requests are stored in another order than the requests."""
    partition, producer_id, request = log.any_partition(), log.new_producer(), log.new_request()
    in_front = log.append(partition, log.new_events(partition), Sender(producer_id))
    stored = log.append(partition, log.new_events(partition), Sender(producer_id, answer=Answer(request)))
    for batch in (in_front, stored):
        log.acknowledge(batch)
    # All records of the earlier batch have the same request, so the last of them overtook.
    other = in_front.base_offset + len(in_front.events) - 1
    for delta in range(len(stored.events)):
        log.expect_of_journal("reordered", _only(stored, delta), other=other)


def _only(stored: Stored, delta: int) -> Stored:
    """Return the batch with one of its events only."""
    place = (stored.base_offset + delta, stored.producer_id, stored.epoch, stored.sequence + delta)
    return Stored(stored.partition, stored.events[delta : delta + 1], *place)
