"""The decision table of a partition's producer state, without transactions: producer id x epoch x sequence."""

from collections.abc import Callable
from functools import partial

from ..case_recorder import CaseRecorder
from ..raw_batches import GZIP
from . import idempotence_logs
from .producer_scene import ProducerBatch, ProducerScene, known

LAST_SEQUENCE = 2147483647
LAST_PRODUCER_ID = 9223372036854775807
LAST_EPOCH = 32767
FIRST_EPOCH = -32768


def groups(recorder: CaseRecorder) -> list[Callable[[], None]]:
    """The groups of cases, each on a topic of its own."""
    parts = [unknown_producer, known_producer, epochs, sequence_wrap, *idempotence_logs.PARTS]
    return [partial(part, recorder) for part in parts]


def unknown_producer(recorder: CaseRecorder) -> None:
    scene = ProducerScene(recorder, recorder.create_topic())
    scene.check_all(
        ("A01 unknown pid, seq 0", ProducerBatch(1000, 0, 0)),
        ("A02 unknown pid, seq 5 (nonzero)", ProducerBatch(1001, 0, 5)),
        ("A03 unknown pid, epoch 7, seq 0", ProducerBatch(1002, 7, 0)),
        ("A04 unknown pid, epoch 7, seq 100", ProducerBatch(1003, 7, 100)),
        ("A05 unknown pid, seq int32 max, 1 record", ProducerBatch(1004, 0, LAST_SEQUENCE, 1)),
        ("A06 pid set, seq -1", ProducerBatch(1005, 0, -1)),
        ("A07 pid set, seq -2", ProducerBatch(1005, 0, -2)),
        ("A08 pid -1 but epoch 3 seq 3 (not idempotent)", ProducerBatch(-1, 3, 3)),
        ("A09 pid -1 epoch 3 seq 3 again (appends twice)", ProducerBatch(-1, 3, 3)),
        ("A10 pid -2", ProducerBatch(-2, 0, 0)),
        ("A11 pid -2 again", ProducerBatch(-2, 0, 0)),
        ("A12 pid set, epoch -1, seq 0", ProducerBatch(1006, -1, 0)),
        ("A13 pid set, epoch -1, same again", ProducerBatch(1006, -1, 0)),
        ("A14 pid set, epoch -1, gap", ProducerBatch(1006, -1, 50)),
    )
    scene.state("A15 state after epoch -1 batches", 1006)
    scene.check_all(
        ("A16 pid set, epoch -2", ProducerBatch(1007, -2, 0)),
        ("A17 pid int64 max", ProducerBatch(LAST_PRODUCER_ID, 0, 0)),
        ("A18 epoch int16 max", ProducerBatch(1008, LAST_EPOCH, 0)),
    )


def known_producer(recorder: CaseRecorder) -> None:
    scene = ProducerScene(recorder, recorder.create_topic())
    for index in range(5):
        scene.check(f"B0{index + 1} fill batch {index + 1}", known(2 * index))
    for index in range(5):
        scene.check(f"B1{index} duplicate of cached batch {index + 1}", known(2 * index))
    _sequences_around_the_cache(scene)
    _duplicates_that_differ(scene)
    _other_record_counts(scene)
    _acks_zero(scene)


def _sequences_around_the_cache(scene: ProducerScene) -> None:
    scene.check_all(
        ("B15 gap", known(12)),
        ("B16 first seq matches a cached batch, last does not", known(8, 3)),
        ("B17 subset of a cached batch", known(8, 1)),
        ("B18 last seq matches, first does not", known(9, 1)),
        ("B19 spans two cached batches exactly", known(6, 4)),
        ("B20 overlaps last cached and continues", known(9, 2)),
        ("B21 next in sequence after the errors", known(10)),
        ("B22 oldest batch fell out of the cache (6th behind)", known(0)),
        ("B23 now oldest cached", known(2)),
    )


def _duplicates_that_differ(scene: ProducerScene) -> None:
    now = scene.now
    older = ProducerBatch(1, 0, 10, timestamp=now - 5000, stored_timestamp=now)
    scene.check_all(
        ("B24 duplicate, different payload", known(10, value=b"completely different")),
        ("B25 duplicate, different timestamp (answer carries the stored one)", older),
        ("B26 duplicate, gzip instead of none", known(10, codec=GZIP)),
        ("B27 duplicate, bad CRC", known(10, has_wrong_crc=True)),
        ("B28 duplicate, timestamp 2h in the future", ProducerBatch(1, 0, 10, timestamp=now + 7_200_000)),
    )
    scene.check("B29 duplicate, acks=1", known(10), acks=1)
    scene.check("B30 duplicate, acks=-1 v3", known(10), version=3)
    scene.check("B31 duplicate, acks=-1 v13", known(10), version=13)
    scene.check_all(
        ("B32 duplicate, bigger than max.message.bytes", known(10, value=b"x" * 600_000)),
        ("B33 duplicate, seq -1", known(-1)),
        (
            "B34 duplicate flag irrelevant: transactional bit, no txn id -> see validation",
            known(10, is_transactional=True),
        ),
    )
    scene.state("B35 state", 1)


def _other_record_counts(scene: ProducerScene) -> None:
    scene.check_all(
        ("B36 next, one record", known(12, 1)),
        ("B37 next after one record", known(13, 3)),
        ("B38 duplicate of 1-record batch", known(12, 1)),
        ("B39 duplicate of 3-record batch", known(13, 3)),
        ("B40 same pid other records count, wrong", known(13, 2)),
    )


def _acks_zero(scene: ProducerScene) -> None:
    scene.check_without_answer("B41 duplicate, acks=0", known(13, 3))
    scene.check_without_answer("B42 gap, acks=0", known(99, 3))
    scene.check_without_answer("B43 next, acks=0 (idempotent with acks=0 is accepted)", known(16, 3))
    scene.check("B44 next, acks=1 (idempotent with acks=1 is accepted)", known(19, 1), acks=1)


def epochs(recorder: CaseRecorder) -> None:
    scene = ProducerScene(recorder, recorder.create_topic())
    scene.check_all(
        ("C01 start epoch 5", ProducerBatch(1, 5, 0)),
        ("C02 continue epoch 5", ProducerBatch(1, 5, 2)),
        ("C03 lower epoch, next seq", ProducerBatch(1, 4, 4)),
        ("C04 lower epoch, seq 0", ProducerBatch(1, 4, 0)),
        ("C05 lower epoch, seq range of a cached batch", ProducerBatch(1, 4, 2)),
    )
    scene.check("C06 lower epoch, v3 (same code)", ProducerBatch(1, 4, 4), version=3)
    scene.check_all(
        ("C07 higher epoch, seq = last+1", ProducerBatch(1, 6, 4)),
        ("C08 higher epoch, seq 7", ProducerBatch(1, 6, 7)),
        ("C09 old epoch still usable after failed bump", ProducerBatch(1, 5, 4)),
        ("C10 higher epoch, seq 0", ProducerBatch(1, 6, 0)),
        ("C11 duplicate within new epoch", ProducerBatch(1, 6, 0)),
        ("C12 old epoch after bump (was cached)", ProducerBatch(1, 5, 4)),
        ("C13 epoch +10, seq 0", ProducerBatch(1, 16, 0)),
    )
    scene.state("C14 state", 1)
    scene.check_all(
        ("C15 epoch 32767, seq 0", ProducerBatch(1, LAST_EPOCH, 0)),
        ("C16 epoch -32768", ProducerBatch(1, FIRST_EPOCH, 0)),
        ("C17 epoch 0 after 32767", ProducerBatch(1, 0, 0)),
        ("C18 epoch -1 for known pid", ProducerBatch(1, -1, 2)),
    )


def sequence_wrap(recorder: CaseRecorder) -> None:
    scene = ProducerScene(recorder, recorder.create_topic())
    scene.check_all(
        ("D01 unknown pid, seq max-1, 2 records", known(LAST_SEQUENCE - 1)),
        ("D02 after max, seq 1", known(1, 1)),
        ("D03 after max, seq 0", known(0, 1)),
        ("D04 duplicate of the batch ending at max", known(LAST_SEQUENCE - 1)),
        ("D05 continue", known(1, 1)),
        ("D06 other pid, batch crossing the wrap: max-1 .. 1", ProducerBatch(2, 0, LAST_SEQUENCE - 1, 4)),
        ("D07 duplicate of the crossing batch", ProducerBatch(2, 0, LAST_SEQUENCE - 1, 4)),
        ("D08 next after crossing is 2", ProducerBatch(2, 0, 2, 1)),
        ("D09 other pid: last = max-1, then max", ProducerBatch(3, 0, LAST_SEQUENCE - 1, 1)),
        ("D10 seq max", ProducerBatch(3, 0, LAST_SEQUENCE, 1)),
        ("D11 seq 0", ProducerBatch(3, 0, 0, 1)),
    )
    scene.state("D12 state pid 3", 3)
