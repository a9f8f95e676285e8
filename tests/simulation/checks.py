"""Invariants of a log, checked against its files and against the model."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from fauxka.storage.partition_log import PartitionLog

from .expected_load import Expected
from .model import PartitionModel, TakenBatch
from .stored_batches import StoredBatch, batches_in


def check_loaded(log: PartitionLog, expected: Expected) -> None:
    """Check that a loaded log equals the expected load of its files."""
    assert log.log_end_offset == expected.log_end_offset, (log.log_end_offset, expected.log_end_offset)
    assert log.log_start_offset == expected.log_start_offset, (log.log_start_offset, expected.log_start_offset)
    epochs = log.leader_epochs.entries()
    assert epochs == expected.leader_epochs, f"leader epochs {epochs}, not {expected.leader_epochs}"
    known = {
        entry.producer_id: (entry.producer_epoch, tuple(batch.fields()[:4] for batch in entry.batches))
        for entry in log.producers.active_producers()
    }
    wanted = {producer_id: (producer.epoch, producer.batches) for producer_id, producer in expected.producers.items()}
    assert known == wanted, f"producers {known}, not {wanted}"


def check_log(log: PartitionLog, model: PartitionModel, random: Random) -> None:
    """Check offsets, producers and every readable batch."""
    end, producers = state_of(log)
    assert end == model.log_end_offset, f"the log ends at {end}, not at {model.log_end_offset}"
    assert log.log_start_offset == model.log_start_offset
    assert producers == model.producers.producers, f"producers {producers}, not {model.producers.producers}"
    found = [taken_batch(batch) for batch in read_batches(log, random.choice((1, 300, 5000)))]
    start = log.log_start_offset
    wanted = [batch for batch in model.taken if batch.last_offset >= start]
    assert found == wanted, f"{len(found)} batches, not {len(wanted)}"
    check_look_up(log, wanted, random)
    model.deleted_offset = max(model.deleted_offset, start)
    # A kill may restore deleted records, but not their leader epochs, which were dropped with them.
    known = [batch for batch in wanted if batch.base_offset >= model.deleted_offset]
    epochs = [(batch.base_offset, log.leader_epochs.epoch_of(batch.base_offset)) for batch in known]
    written = [(batch.base_offset, batch.leader_epoch) for batch in known]
    assert epochs == written, f"leader epochs {epochs}, not {written}"


def check_look_up(log: PartitionLog, batches: list[TakenBatch], random: Random) -> None:
    """Check the lookup by the timestamps of batches; all records of a batch have the same timestamp."""
    bases = [segment.base_offset for segment in log.segments]
    # As in Kafka, only one segment is searched, even one before the log start that is not deleted yet.
    if not batches or any(base <= log.log_start_offset for base in bases[1:]):
        return
    timestamp = random.choice(batches).timestamp + random.choice((-1, 0, 0, 1))
    found = log.offset_for_timestamp(timestamp)
    wanted = next((batch.base_offset for batch in batches if batch.timestamp >= timestamp), None)
    wanted = None if wanted is None else max(wanted, log.log_start_offset)
    assert (found and found.offset) == wanted, f"time {timestamp}: {found}, not offset {wanted}"


def read_batches(log: PartitionLog, max_bytes: int) -> Iterator[StoredBatch]:
    """Yield the batches of fetches of max_bytes from the log start to its end."""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        fetched = log.read(offset, max_bytes, upper_offset=log.log_end_offset, min_one_batch=True)
        batches = batches_in(b"".join(fetched.views))
        assert batches, f"nothing whole at {offset}, and the log ends at {log.log_end_offset}"
        assert offset <= batches[0].last_offset, f"offset {batches[0].last_offset} is served for {offset}"
        yield from batches
        offset = batches[-1].last_offset + 1


def taken_batch(batch: StoredBatch) -> TakenBatch:
    return TakenBatch(batch.base_offset, batch.last_offset, batch.leader_epoch, batch.checked)


def state_of(log: PartitionLog) -> tuple[int, dict[int, tuple[int, list[tuple[int, int, int]]]]]:
    """Return the log end offset, and the producers in the format of the model."""
    return log.log_end_offset, {
        entry.producer_id: (
            entry.producer_epoch,
            [(batch.base_sequence, batch.last_sequence, batch.base_offset) for batch in entry.batches],
        )
        for entry in log.producers.active_producers()
    }
