"""Transactions as they are listed and described, and markers written straight from a client."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..case_recorder import Answer, Case, CaseRecorder, Json
from ..raw_apis_transactions import (
    ADD_PARTITIONS_TO_TXN,
    DESCRIBE_PRODUCERS,
    DESCRIBE_TRANSACTIONS,
    LIST_TRANSACTIONS,
    WRITE_TXN_MARKERS,
)
from ..raw_schema import Struct, Value
from .transaction_scene import (
    READ_COMMITTED,
    Identity,
    TransactionalProducer,
    record_log,
    record_producers,
)

HOUR_MS = 3_600_000
# An id that no broker gives out so early.
MARKER_PRODUCER_ID = 777777


def record_offsets(recorder: CaseRecorder, case: str, topic: str) -> None:
    """Record the high watermark and the last stable offset."""
    answer = Answer(high_watermark=recorder.log_end_offset(topic))
    last_stable_offset = recorder.log_end_offset(topic, isolation_level=READ_COMMITTED)
    recorder.record(case, None, answer, last_stable_offset=last_stable_offset)


def first_sequences_and_lists(recorder: CaseRecorder) -> None:
    """New partitions that start with another sequence than 0, then what is listed of all transactions so far."""
    topic = recorder.create_topic()
    implicit = TransactionalProducer(recorder, "unk")
    implicit.produce("U60 v12, new partition, sequence 3", topic, 3, version=12)
    implicit.produce("U61 v12, sequence 0 after that", topic, 0, version=12)
    explicit = TransactionalProducer(recorder, "unk1")
    explicit.add_partitions({topic: [0]})
    explicit.produce("U62 v11 (added), new partition, sequence 3", topic, 3)
    _lists(recorder, explicit)


def _list(recorder: CaseRecorder, version: int, **filters: Value) -> Struct:
    return recorder.connection.call(LIST_TRANSACTIONS, version, filters)


def _ids(recorder: CaseRecorder, answer: Struct) -> list[Json]:
    """The transactional ids of this run."""
    ids = (state.text("transactional_id") for state in answer.structs("transaction_states"))
    return [*sorted(transactional_id for transactional_id in ids if recorder.run_id in transactional_id)]


def _lists(recorder: CaseRecorder, producer: TransactionalProducer) -> None:
    answer = _list(recorder, 0)
    unknown: list[Json] = [*answer.texts("unknown_state_filters")]
    recorder.record(
        "D01 ListTransactions v0 all (count of this run)",
        None,
        Answer(answer.integer("error_code")),
        n=len(_ids(recorder, answer)),
        unknown=unknown,
    )
    answer = _list(recorder, 0, state_filters=["Ongoing", "Bogus"])
    unknown = [*answer.texts("unknown_state_filters")]
    filtered = Answer(answer.integer("error_code"))
    recorder.record("D02 state filter", None, filtered, ids=_ids(recorder, answer), unknown=unknown)
    answer = _list(recorder, 0, producer_id_filters=[producer.identity.producer_id])
    recorder.record("D03 pid filter", None, Answer(answer.integer("error_code")), ids=_ids(recorder, answer))
    answer = _list(recorder, 1, duration_filter=HOUR_MS, state_filters=["Ongoing"])
    count = len(_ids(recorder, answer))
    recorder.record("D04 duration filter 1h", None, Answer(answer.integer("error_code")), n=count)
    answer = _list(recorder, 2, transactional_id_pattern=f"tx-{recorder.run_id}-v.*")
    ids = _ids(recorder, answer)
    recorder.record("D05 pattern filter (v2)", None, Answer(answer.integer("error_code")), ids=ids)
    answer = _list(recorder, 2, transactional_id_pattern="[")
    recorder.record("D06 bad pattern", None, Answer(answer.integer("error_code")))


def producers_that_are_not_there(recorder: CaseRecorder) -> None:
    topic = recorder.create_topic()
    topics: Value = [{"name": topic, "partitions": [0, 5]}, {"name": recorder.unique("missing"), "partitions": [0]}]
    answer = recorder.connection.call(DESCRIBE_PRODUCERS, 0, {"topics": topics})
    parts: list[Json] = [
        [partition.integer("index"), partition.integer("error_code")]
        for topic_answered in answer.structs("topics")
        for partition in topic_answered.structs("partitions")
    ]
    recorder.record("D07 DescribeProducers errors", None, Answer(), parts=parts)


def verify_only(recorder: CaseRecorder) -> None:
    """AddPartitionsToTxn from version 4 on is meant for brokers; without an authorizer anyone may ask."""
    ongoing, finished = _describe(recorder, "unk1"), _describe(recorder, "v2e")
    topic = ongoing.structs("topics")[0].text("name")
    nobody = Identity(recorder.unique("nobody"), 1, 0)
    transactions: list[Mapping[str, Value]] = [
        {**identity.fields(), "verify_only": True, "topics": [{"name": topic, "partitions": [0]}]}
        for identity in (_identity_of(ongoing), _identity_of(finished), nobody)
    ]
    answer = recorder.connection.call(ADD_PARTITIONS_TO_TXN, 4, {"transactions": transactions})
    results = sorted(
        (
            transaction.text("transactional_id"),
            transaction.structs("topics")[0].structs("partitions")[0].integer("error_code"),
        )
        for transaction in answer.structs("results_by_transaction")
    )
    recorder.record(
        "D08 AddPartitionsToTxn v4 verify-only: in txn, not in txn, unknown id",
        None,
        Answer(answer.integer("error_code")),
        res=[list(result) for result in results],
    )


def _describe(recorder: CaseRecorder, name: str) -> Struct:
    """The coordinator's state of an earlier producer of this run."""
    body: Mapping[str, Value] = {"transactional_ids": [f"tx-{recorder.run_id}-{name}"]}
    return recorder.connection.call(DESCRIBE_TRANSACTIONS, 0, body).structs("transaction_states")[0]


def _identity_of(state: Struct) -> Identity:
    return Identity(state.text("transactional_id"), state.integer("producer_id"), state.integer("producer_epoch"))


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker as WriteTxnMarkers carries it."""

    producer_id: int
    producer_epoch: int
    committed: bool
    partition: int = 0
    coordinator_epoch: int = 0
    version: int = 1
    transaction_version: int = 0


def _write_marker(recorder: CaseRecorder, case: str, topic: str, marker: Marker) -> None:
    body: Mapping[str, Value] = {
        "producer_id": marker.producer_id,
        "producer_epoch": marker.producer_epoch,
        "transaction_result": marker.committed,
        "topics": [{"name": topic, "partitions": [marker.partition]}],
        "coordinator_epoch": marker.coordinator_epoch,
        "transaction_version": marker.transaction_version,
    }
    answer = recorder.connection.call(WRITE_TXN_MARKERS, marker.version, {"markers": [body]})
    partition = answer.structs("markers")[0].structs("topics")[0].structs("partitions")[0]
    sent: Case = {
        "ver": marker.version,
        "transaction_version": marker.transaction_version,
        "epoch": marker.producer_epoch,
        "coordinator_epoch": marker.coordinator_epoch,
    }
    is_there = marker.partition == 0
    recorder.record(
        case,
        sent,
        Answer(partition.integer("error_code"), high_watermark=recorder.log_end_offset(topic) if is_there else None),
        last_stable_offset=recorder.log_end_offset(topic, isolation_level=READ_COMMITTED) if is_there else None,
    )


def markers(recorder: CaseRecorder) -> None:
    topic = recorder.create_topic()
    for case, marker in (
        ("W01 marker for an unknown producer", Marker(MARKER_PRODUCER_ID, 0, True)),
        ("W02 same again", Marker(MARKER_PRODUCER_ID, 0, True)),
        ("W03 lower epoch after epoch 5", Marker(MARKER_PRODUCER_ID, 5, False)),
        ("W04 lower epoch", Marker(MARKER_PRODUCER_ID, 4, False)),
        ("W05 coordinator epoch 9", Marker(MARKER_PRODUCER_ID, 5, True, coordinator_epoch=9)),
        ("W06 coordinator epoch 8", Marker(MARKER_PRODUCER_ID, 5, True, coordinator_epoch=8)),
        ("W07 unknown partition", Marker(MARKER_PRODUCER_ID, 5, True, partition=9)),
        (
            "W08 v2 TV2 marker, same epoch, no transaction open (retry is tolerated)",
            Marker(MARKER_PRODUCER_ID, 5, True, coordinator_epoch=9, version=2, transaction_version=2),
        ),
    ):
        _write_marker(recorder, case, topic, marker)
    producer = TransactionalProducer(recorder, "wtm")
    producer.produce("W09 open a transaction", topic, 0, version=12)
    same_epoch = Marker(producer.identity.producer_id, producer.producer_epoch, False, version=2, transaction_version=2)
    _write_marker(recorder, "W10 v2 TV2 marker, same epoch, transaction open", topic, same_epoch)
    older_style = Marker(producer.identity.producer_id, producer.producer_epoch, False, version=2)
    _write_marker(recorder, "W11 v2 TV0 marker, same epoch, transaction open", topic, older_style)
    record_producers(recorder, "W12 producers", topic)
    record_log(recorder, "W13 log", topic)


PARTS: tuple[Callable[[CaseRecorder], None], ...] = (
    first_sequences_and_lists,
    producers_that_are_not_there,
    verify_only,
    markers,
)
