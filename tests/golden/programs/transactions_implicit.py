"""Transactions in the style of KIP-890: Produce 12 adds the partition itself, EndTxn 5 answers the next epoch."""

from collections.abc import Callable

from ..case_recorder import CaseRecorder
from .transaction_scene import READ_COMMITTED, TransactionalProducer, record_log, record_producers
from .transactions_offsets import record_offset_commit, record_offset_fetch


def implicit_transactions(recorder: CaseRecorder) -> None:
    """One topic for all of them: the offsets that later cases answer tell of the earlier ones."""
    producer = TransactionalProducer(recorder, "v2")
    topic = recorder.create_topic(partitions=2)
    _first(producer, topic)
    _first_is_over(producer, topic)
    _second(producer, topic)
    empty = TransactionalProducer(recorder, "v2e")
    _nothing_to_end(empty, topic)
    _offsets(empty, topic)
    _both_styles(TransactionalProducer(recorder, "mix"), topic)


def _first(producer: TransactionalProducer, topic: str) -> None:
    producer.produce("U01 produce v12 without AddPartitionsToTxn", topic, 0, record_count=2, version=12)
    producer.state("U02 state")
    producer.produce("U03 second batch v12", topic, 2, version=12)
    producer.produce("U04 duplicate of the first v12", topic, 0, record_count=2, version=12)
    producer.produce("U05 partition 1, first batch with sequence 5", topic, 5, version=12, partition=1)
    producer.produce("U06 partition 1, sequence 0", topic, 0, version=12, partition=1)
    producer.state("U07 state")


def _first_is_over(producer: TransactionalProducer, topic: str) -> None:
    recorder = producer.recorder
    answer = producer.end(committed=True, case="U08 EndTxn v5 commit: answer carries the next epoch", version=5)
    producer.end(committed=True, case="U09 EndTxn v5 commit retry with the old epoch", version=5)
    producer.state("U10 state", "CompleteCommit")
    record_log(recorder, "U11 log: marker has the bumped epoch", topic)
    record_producers(recorder, "U12 producers", topic)
    producer.end(committed=False, case="U13 EndTxn v5 abort with the old epoch after a commit", version=5)
    producer.produce("U14 produce with the old epoch v12", topic, 3, version=12)
    producer.produce("U15 duplicate of a committed batch with the old epoch v12", topic, 0, record_count=2, version=12)
    producer.move_to(answer)


def _second(producer: TransactionalProducer, topic: str) -> None:
    producer.produce("U16 new epoch, sequence goes on (3)", topic, 3, version=12)
    producer.produce("U17 new epoch, sequence 0", topic, 0, version=12)
    answer = producer.end(committed=False, case="U18 EndTxn v5 abort", version=5)
    producer.state("U19 state", "CompleteAbort")
    record_log(producer.recorder, "U20 read_committed", topic, isolation_level=READ_COMMITTED)
    producer.end(committed=True, case="U21 CompleteAbort: commit retry (old epoch)", version=5)
    producer.end(committed=False, case="U22 CompleteAbort: abort retry (old epoch)", version=5)
    producer.move_to(answer)
    producer.end(committed=True, case="U23 CompleteAbort: commit, current epoch", version=5)
    producer.move_to(
        producer.end(committed=False, case="U24 CompleteAbort: abort, current epoch (epoch bump)", version=5)
    )
    producer.state("U25 state", "CompleteAbort")


def _nothing_to_end(producer: TransactionalProducer, topic: str) -> None:
    older = producer.with_epoch(-1)
    producer.end(committed=True, case="U26 Empty: commit", version=5)
    producer.end(committed=True, case="U27 Empty: commit, epoch-1", version=5, identity=older)
    producer.end(committed=False, case="U28 Empty: abort, epoch-1", version=5, identity=older)
    producer.move_to(producer.end(committed=False, case="U29 Empty: abort (epoch bump)", version=5))
    producer.state("U30 state", "CompleteAbort")
    producer.produce("U31 produce v12", topic, 0, version=12, partition=1)
    producer.move_to(producer.end(committed=True, version=5))
    producer.wait_for("CompleteCommit")
    producer.end(committed=True, case="U32 CompleteCommit: commit, current epoch", version=5)
    producer.move_to(
        producer.end(committed=False, case="U33 CompleteCommit: abort, current epoch (epoch bump)", version=5)
    )
    producer.wait_for("CompleteAbort")
    other_id = producer.with_other_producer_id()
    producer.end(committed=False, case="U34 wrong pid", version=5, identity=other_id)
    producer.end(committed=False, case="U35 epoch +1", version=5, identity=producer.with_epoch(1))
    producer.end(committed=False, case="U36 epoch -2", version=5, identity=producer.with_epoch(-2))


def _offsets(producer: TransactionalProducer, topic: str) -> None:
    record_offset_commit(producer, "U40 TxnOffsetCommit v5 without AddOffsetsToTxn", topic, 11, version=5)
    producer.state("U41 state")
    producer.move_to(producer.end(committed=True, case="U42 commit", version=5))
    producer.wait_for("CompleteCommit")
    record_offset_fetch(producer.recorder, "U43 OffsetFetch", topic, require_stable=True)


def _both_styles(producer: TransactionalProducer, topic: str) -> None:
    producer.produce("U50 v12 then", topic, 0, version=12)
    producer.produce("U51 v11 in the same transaction, same partition", topic, 1)
    producer.produce("U52 v11 in the same transaction, partition not yet added", topic, 0, partition=1)
    producer.end(committed=True, case="U53 EndTxn v4 on a transaction started by v12")
    producer.state("U54 state", "CompleteCommit")
    producer.produce("U55 next v12 with the same epoch, sequence 2", topic, 2, version=12)
    producer.end(committed=False, version=5)


PARTS: tuple[Callable[[CaseRecorder], None], ...] = (implicit_transactions,)
