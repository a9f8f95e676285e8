"""The list of all faults, and logs with a drawn number of each."""

from collections.abc import Callable, Sequence
from random import Random

from .event_faults import (
    clean_batch,
    given_up_and_sent_again,
    idempotence_off,
    no_event_id,
    not_deduplicated,
    other_partition,
    pause,
    producer_restarted,
    re_sequenced,
    repeated_event_id,
    sent_again,
)
from .events import STARTS
from .file_faults import append_ends, leader_epoch_mismatch, leader_epoch_regression, old_messages, truncated_log
from .ledger_faults import (
    expired,
    failed_and_absent,
    failed_and_stored,
    lost,
    offset_differs,
    reordered,
    requests_reordered,
    unknown,
)
from .log_faults import (
    append_tails,
    compacted,
    cut_off,
    damaged,
    epoch_regression,
    missing_offsets,
    no_batch,
    offset_regression,
    old_format,
    sequence_gap,
    sequence_regression,
    unknown_codec,
    unreadable,
)
from .planted_log import PlantedLog
from .transaction_faults import aborted, aborted_and_acknowledged, committed, hanging_transaction, open_transaction

Plant = Callable[[PlantedLog], None]

# A fault for each kind and cause of finding that a broker's topic can have.
BROKER_PLANTS: tuple[Plant, ...] = (
    *(not_deduplicated, re_sequenced, given_up_and_sent_again, sent_again, producer_restarted, other_partition),
    *(idempotence_off, no_event_id, repeated_event_id),
    *(lost, expired, failed_and_absent, failed_and_stored, offset_differs, unknown, reordered, requests_reordered),
    *(damaged, unknown_codec, unreadable, missing_offsets, compacted),
    *(sequence_gap, sequence_regression, epoch_regression),
    *(committed, aborted, aborted_and_acknowledged, open_transaction, hanging_transaction),
)
# A broker checks offsets, magic and size of a batch before it returns it, so only segment files have these. A broker
# also repairs what its files say of a log.
FILE_PLANTS: tuple[Plant, ...] = (
    *(old_format, no_batch, cut_off, offset_regression),
    *(truncated_log, leader_epoch_regression, leader_epoch_mismatch, old_messages),
)
PLANTS = BROKER_PLANTS + FILE_PLANTS
# Copies of events that are all committed in the end.
COPY_PLANTS: tuple[Plant, ...] = (
    *(not_deduplicated, re_sequenced, given_up_and_sent_again, sent_again, producer_restarted, other_partition),
    *(idempotence_off, committed, aborted),
)

# The records of a clean batch in a log that is filled up.
FILL_MAX = 100


def planted_log(
    seed: int, plants: Sequence[Plant] = PLANTS, each_max: int = 3, record_count: int | None = None
) -> PlantedLog:
    """Return a log with 1 to each_max of each fault in random order, and clean batches between them.

    record_count: the approximate number of events; by default only as many as the faults need.
    """
    random = Random(seed)
    log = PlantedLog(random)
    for partition in STARTS:
        clean_batch(log, partition)
    steps = [plant for plant in plants for _ in range(random.randint(1, each_max))]
    random.shuffle(steps)
    for number, step in enumerate(steps):
        step(log)
        pause(log)
        while record_count is not None and log.event_count < record_count * (number + 1) / len(steps):
            clean_batch(log, count=random.randint(1, FILL_MAX))
    for partition in log.batches:
        clean_batch(log, partition)
    append_tails(log)
    append_ends(log)
    return log
