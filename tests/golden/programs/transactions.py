"""Transactions in the style of before KIP-890: AddPartitionsToTxn first, Produce up to 11, EndTxn up to 4."""

from collections.abc import Callable
from functools import partial

from ..case_recorder import CaseRecorder
from ..raw_batches import batch
from . import transactions_described, transactions_implicit, transactions_offsets
from .transaction_scene import READ_COMMITTED, TransactionalProducer, record_log, record_producers


def groups(recorder: CaseRecorder) -> list[Callable[[], None]]:
    """The groups of cases; the labels of producer ids run through all of them."""
    parts = [
        two_transactions,
        verification_remembers_the_sequence,
        duplicate_opens_a_transaction,
        plain_batch_between_transactions,
        nothing_to_end,
        overlapping_transactions,
        *transactions_offsets.PARTS,
        *transactions_implicit.PARTS,
        *transactions_described.PARTS,
    ]
    return [partial(part, recorder) for part in parts]


def _produce_plain(recorder: CaseRecorder, topic: str) -> None:
    """A record of no producer, in between."""
    recorder.produce(topic, batch(1, recorder.started_ms))


def two_transactions(recorder: CaseRecorder) -> None:
    producer = TransactionalProducer(recorder, "a")
    topic = recorder.create_topic(partitions=2)
    _before_the_first(producer, topic)
    _first(producer, topic)
    _wrong_identities(producer, topic)
    _after_the_first(producer, topic)
    _second(producer, topic)


def _before_the_first(producer: TransactionalProducer, topic: str) -> None:
    recorder = producer.recorder
    producer.state("T01 after init")
    for case, version in (("T02", 9), ("T03", 10), ("T04", 11)):
        producer.produce(f"{case} produce before AddPartitionsToTxn, v{version}", topic, 0, version=version)
    producer.add_partitions(
        {topic: [0], recorder.unique("missing"): [0]}, case="T05 AddPartitionsToTxn, one topic missing"
    )
    producer.state("T06 nothing was added")


def _first(producer: TransactionalProducer, topic: str) -> None:
    recorder = producer.recorder
    producer.add_partitions({topic: [0]}, case="T07 AddPartitionsToTxn p0")
    producer.add_partitions({topic: [0]}, case="T08 AddPartitionsToTxn p0 again")
    producer.state("T09 ongoing")
    producer.produce("T10 first batch", topic, 0, record_count=2)
    producer.produce("T11 second batch", topic, 2, record_count=2)
    producer.produce("T12 duplicate of the first batch", topic, 0, record_count=2)
    producer.produce("T13 gap", topic, 9)
    producer.produce("T14 non-transactional batch, same producer, in the transaction", topic, 4, is_transactional=False)
    producer.produce("T15 partition 1 not added, v11", topic, 0, partition=1)
    producer.produce("T16 partition 1 not added, v10", topic, 0, partition=1, version=10)
    record_producers(recorder, "T17 producers", topic)
    _produce_plain(recorder, topic)
    record_log(recorder, "T18 read_uncommitted", topic)
    record_log(recorder, "T19 read_committed", topic, isolation_level=READ_COMMITTED)


def _wrong_identities(producer: TransactionalProducer, topic: str) -> None:
    older, other_id = producer.with_epoch(-1), producer.with_other_producer_id()
    nobody = producer.with_unknown_transactional_id()
    producer.end(committed=True, case="T20 EndTxn wrong epoch (+1), v4", identity=producer.with_epoch(1))
    producer.end(committed=True, case="T21 EndTxn wrong epoch (-1), v4", identity=older)
    producer.end(committed=True, case="T22 EndTxn wrong epoch (-1), v1", version=1, identity=older)
    producer.end(committed=True, case="T23 EndTxn wrong pid", identity=other_id)
    producer.end(committed=True, case="T24 EndTxn unknown transactional id", identity=nobody)
    partition = {topic: [1]}
    producer.add_partitions(partition, case="T25 AddPartitionsToTxn wrong epoch, v3", identity=older)
    producer.add_partitions(partition, case="T26 AddPartitionsToTxn wrong epoch, v1", version=1, identity=older)
    producer.add_partitions(partition, case="T27 AddPartitionsToTxn wrong pid", identity=other_id)
    producer.add_partitions(partition, case="T28 AddPartitionsToTxn unknown transactional id", identity=nobody)


def _after_the_first(producer: TransactionalProducer, topic: str) -> None:
    recorder = producer.recorder
    producer.end(committed=True, case="T29 EndTxn commit, v4")
    producer.state("T30 completed", "CompleteCommit")
    record_log(recorder, "T31 log with the commit marker", topic)
    record_log(recorder, "T32 read_committed", topic, isolation_level=READ_COMMITTED)
    record_producers(recorder, "T33 producers after the commit", topic)
    producer.end(committed=True, case="T34 EndTxn commit again, v4")
    producer.end(committed=False, case="T35 EndTxn abort after commit, v4")
    producer.produce("T36 produce after commit without AddPartitions, v11", topic, 4)
    producer.produce("T37 produce after commit without AddPartitions, v10", topic, 4, version=10)


def _second(producer: TransactionalProducer, topic: str) -> None:
    recorder = producer.recorder
    producer.add_partitions({topic: [0, 1]}, case="T40 second transaction")
    producer.produce("T41 same epoch, sequence goes on", topic, 4)
    producer.produce("T42 partition 1 starts at 0", topic, 0, partition=1)
    producer.end(committed=False, case="T43 EndTxn abort")
    producer.state("T44 aborted", "CompleteAbort")
    record_log(recorder, "T45 log", topic)
    record_log(recorder, "T46 read_committed from 0", topic, isolation_level=READ_COMMITTED)
    record_log(recorder, "T47 read_committed p1", topic, partition=1, isolation_level=READ_COMMITTED)
    record_log(recorder, "T48 read_committed beyond the log end", topic, offset=99, isolation_level=READ_COMMITTED)
    producer.end(committed=False, case="T49 EndTxn abort again, v4")
    producer.end(committed=True, case="T50 EndTxn commit after abort, v4")


def verification_remembers_the_sequence(recorder: CaseRecorder) -> None:
    """A rejected transactional batch leaves a verification entry that remembers its sequence."""
    producer, topic = TransactionalProducer(recorder, "ver"), recorder.create_topic()
    producer.add_partitions({topic: [0]})
    producer.produce("T60 sequence 0..3 in a transaction", topic, 0, record_count=4)
    producer.commit()
    producer.produce("T61 retry of the whole committed batch, v11, no transaction open", topic, 0, record_count=4)
    producer.add_partitions({topic: [0]}, case="T62 next transaction")
    producer.produce("T63 next sequence (4) is refused: the entry remembers sequence 0", topic, 4)
    producer.produce(
        "T64 the committed batch again, now the partition is in the open transaction", topic, 0, record_count=4
    )
    producer.produce("T65 sequence 4 again", topic, 4)


def duplicate_opens_a_transaction(recorder: CaseRecorder) -> None:
    producer, topic = TransactionalProducer(recorder, "ver2"), recorder.create_topic()
    producer.add_partitions({topic: [0]})
    producer.produce("T66 sequence 0..3 in a transaction", topic, 0, record_count=4)
    producer.commit()
    producer.produce(
        "T67 retry of the committed batch through v12: answered as duplicate, but opens a transaction",
        topic,
        0,
        record_count=4,
        version=12,
    )
    producer.state("T68 coordinator state")


def plain_batch_between_transactions(recorder: CaseRecorder) -> None:
    producer, topic = TransactionalProducer(recorder, "ver3"), recorder.create_topic()
    producer.add_partitions({topic: [0]})
    producer.produce("T69 sequence 0 in a transaction", topic, 0)
    producer.commit()
    producer.produce(
        "T70 non-transactional batch with the next sequence after the commit", topic, 1, is_transactional=False
    )
    producer.add_partitions({topic: [0]})
    producer.produce("T71 then transactional again", topic, 2)


def nothing_to_end(recorder: CaseRecorder) -> None:
    producer = TransactionalProducer(recorder, "b")
    producer.end(committed=True, case="T51 EndTxn commit in state Empty, v4")
    producer.end(committed=False, case="T52 EndTxn abort in state Empty, v4")


def overlapping_transactions(recorder: CaseRecorder) -> None:
    """The last stable offset stays at the first transaction that is still open."""
    topic = recorder.create_topic()
    first, second = TransactionalProducer(recorder, "o1"), TransactionalProducer(recorder, "o2")
    first.add_partitions({topic: [0]})
    second.add_partitions({topic: [0]})
    first.produce("L01 A writes", topic, 0)
    second.produce("L02 B writes", topic, 0)
    _produce_plain(recorder, topic)
    first.produce("L03 A writes", topic, 1)
    first.end(committed=False)
    first.wait_for("CompleteAbort")
    record_log(recorder, "L04 A aborted, B open: LSO stays at B", topic, isolation_level=READ_COMMITTED)
    second.commit()
    record_log(recorder, "L05 B committed", topic, isolation_level=READ_COMMITTED)
    transactions_described.record_offsets(recorder, "L06 ListOffsets latest, read_committed", topic)
    record_log(recorder, "L07 read_committed from offset 3", topic, offset=3, isolation_level=READ_COMMITTED)
    record_log(recorder, "L08 read_committed from offset 5", topic, offset=5, isolation_level=READ_COMMITTED)
