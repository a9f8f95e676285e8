"""InitProducerId: every version, KIP-360 and the codes of fencing."""

from collections.abc import Callable
from functools import partial

from ...wire.wire_connection import ConnectionClosedError
from ..case_recorder import Answer, Case, CaseRecorder, Json
from ..raw_apis_transactions import ADD_PARTITIONS_TO_TXN, DESCRIBE_TRANSACTIONS, INIT_PRODUCER_ID
from ..raw_batches import batch
from ..raw_client import find_coordinator
from ..raw_schema import Struct, Value

CONCURRENT_TRANSACTIONS = 51
LONGEST_TIMEOUT_MS = 900_000
# The names by which the captures say what was sent.
CAPTURED_NAMES = {
    "transactional_id": "txn_id",
    "transaction_timeout_ms": "timeout",
    "producer_id": "pid",
    "producer_epoch": "epoch",
}


def groups(recorder: CaseRecorder) -> list[Callable[[], None]]:
    """The groups of cases; the labels of producer ids run through all of them."""
    parts = [without_transactional_id, with_transactional_id, unknown_ids, ongoing_transaction, unstable_version]
    return [partial(part, recorder) for part in parts]


def _ask(recorder: CaseRecorder, version: int = 5, **body: Value) -> Struct:
    return recorder.connection.call(INIT_PRODUCER_ID, version, {"transactional_id": None, **body})


def _check(recorder: CaseRecorder, case: str, version: int = 5, **body: Value) -> Struct:
    """Ask for a producer id and record the answer."""
    answer = _ask(recorder, version, **body)
    body.setdefault("transactional_id", None)
    sent: Case = {"ver": version}
    for name, value in body.items():
        sent[CAPTURED_NAMES[name]] = _captured(recorder, name, value)
    _record(recorder, case, sent, answer)
    return answer


def _captured(recorder: CaseRecorder, name: str, value: Value) -> Json:
    assert value is None or isinstance(value, int | str)
    if name == "producer_id" and isinstance(value, int) and recorder.has_label(value):
        return recorder.label_of_producer(value)
    return value


def _record(recorder: CaseRecorder, case: str, sent: Case, answer: Struct) -> None:
    recorder.record(
        case,
        sent,
        Answer(answer.integer("error_code")),
        producer_id=recorder.label_of_producer(answer.integer("producer_id")),
        producer_epoch=answer.integer("producer_epoch"),
    )


def _describe(recorder: CaseRecorder, case: str, transactional_id: str) -> None:
    answer = recorder.connection.call(DESCRIBE_TRANSACTIONS, 0, {"transactional_ids": [transactional_id]})
    state = answer.structs("transaction_states")[0]
    error_code, producer_id = state.integer("error_code"), state.integer("producer_id")
    recorder.record(
        case,
        {"txn_id": transactional_id},
        Answer(error_code),
        state=state.text("transaction_state"),
        timeout=state.integer("transaction_timeout_ms"),
        start_is_minus1=state.integer("transaction_start_time_ms") == -1,
        producer_id=producer_id if error_code else recorder.label_of_producer(producer_id),
        producer_epoch=state.integer("producer_epoch"),
        topics=len(state.structs("topics")),
    )


def without_transactional_id(recorder: CaseRecorder) -> None:
    for version in range(6):
        _check(recorder, f"I01 no transactional id, v{version}", version)
    first = _check(recorder, "I02 first of two").integer("producer_id")
    second = _check(recorder, "I03 second of two").integer("producer_id")
    recorder.record("I04 second pid - first pid", None, Answer(), diff=second - first)
    _check(recorder, "I05 no transactional id, pid and epoch given", producer_id=first, producer_epoch=3)
    _check(recorder, "I06 no transactional id, pid without epoch", producer_id=first, producer_epoch=-1)
    _check(recorder, "I07 no transactional id, epoch without pid", producer_id=-1, producer_epoch=3)
    _check(recorder, "I08 no transactional id, timeout -5 (not checked)", transaction_timeout_ms=-5)
    _check(recorder, "I09 transactional id empty", transactional_id="")


def with_transactional_id(recorder: CaseRecorder) -> None:
    transactional_id = f"tx-{recorder.run_id}-1"
    _ensure_transaction_log(recorder)
    for timeout_ms in (0, -1, LONGEST_TIMEOUT_MS + 1):
        case = f"I10 timeout {timeout_ms}"
        _check(recorder, case, transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
    _check(
        recorder,
        "I11 timeout 900000 (maximum), new id",
        transactional_id=transactional_id,
        transaction_timeout_ms=LONGEST_TIMEOUT_MS,
    )
    _describe(recorder, "I12 describe", transactional_id)
    _check(recorder, "I13 again without pid", transactional_id=transactional_id)
    _check(recorder, "I14 again without pid, v0", 0, transactional_id=transactional_id)
    answer = _check(recorder, "I15 again without pid, v4", 4, transactional_id=transactional_id)
    _with_own_producer_id(recorder, transactional_id, answer.integer("producer_id"), answer.integer("producer_epoch"))
    transactional_id_2 = f"tx-{recorder.run_id}-2"
    _check(
        recorder,
        "I28 unknown transactional id with pid and epoch given",
        transactional_id=transactional_id_2,
        producer_id=answer.integer("producer_id"),
        producer_epoch=77,
    )
    _describe(recorder, "I29 describe", transactional_id_2)


def _ensure_transaction_log(recorder: CaseRecorder) -> None:
    transactional_id = recorder.unique("warm")
    for _ in recorder.attempts():
        if _ask(recorder, transactional_id=transactional_id).integer("error_code") == 0:
            return
        find_coordinator(recorder.connection, transactional_id, key_type=1)


def _with_own_producer_id(recorder: CaseRecorder, transactional_id: str, producer_id: int, epoch: int) -> None:
    """KIP-360: the producer says who it believes to be."""

    def check(case: str, producer_epoch: int, *, version: int = 5, producer_id: int = producer_id) -> Struct:
        return _check(
            recorder,
            case,
            version,
            transactional_id=transactional_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
        )

    check("I16 KIP-360: current pid and epoch", epoch)
    check("I17 retry of I16 (previous epoch): no second bump", epoch)
    check("I18 older epoch", epoch - 1)
    check("I19 older epoch, v4", epoch - 1, version=4)
    check("I20 older epoch, v3 (older error code)", epoch - 1, version=3)
    check("I21 epoch above current", epoch + 9)
    other = producer_id + 100_000
    recorder.name_producer(other, "pid#other")
    check("I22 other pid", epoch, producer_id=other)
    check("I23 other pid, v3", epoch, version=3, producer_id=other)
    check("I24 pid without epoch", -1)
    answer = _check(recorder, "I25 without pid: bump, previous epoch is forgotten", transactional_id=transactional_id)
    current_epoch = answer.integer("producer_epoch")
    check("I26 previous epoch after I25", current_epoch - 1)
    check("I27 current epoch", current_epoch)


def unknown_ids(recorder: CaseRecorder) -> None:
    _describe(recorder, "I30 describe unknown id", recorder.unique("nobody"))
    _describe(recorder, "I31 describe empty id", "")


def ongoing_transaction(recorder: CaseRecorder) -> None:
    transactional_id, topic = f"tx-{recorder.run_id}-3", recorder.create_topic()
    answer = _check(recorder, "I40 init", transactional_id=transactional_id)
    producer_id, epoch = answer.integer("producer_id"), answer.integer("producer_epoch")
    body: dict[str, Value] = {
        "transactional_id": transactional_id,
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "topics": [{"name": topic, "partitions": [0]}],
    }
    recorder.connection.call(ADD_PARTITIONS_TO_TXN, 3, body)
    first, second = (_transactional_batch(recorder, answer, base_sequence) for base_sequence in (0, 1))
    produced = recorder.produce(topic, first, transactional_id=transactional_id)
    recorder.record("I41 produce in the transaction", None, _answer_of(recorder, topic, produced))
    _check(
        recorder,
        "I42 init again while the transaction is ongoing (abort is started)",
        transactional_id=transactional_id,
    )
    _retry_until_aborted(recorder, transactional_id)
    _record_log(recorder, topic)
    for case, version in (
        ("I45 produce with the fenced epoch v11", 11),
        ("I46 produce with the fenced epoch v12", 12),
    ):
        produced = recorder.produce(topic, second, transactional_id=transactional_id, version=version)
        message = produced.optional_text("error_message")
        recorder.record(case, None, _answer_of(recorder, topic, produced), error_message=message)
    _check(
        recorder,
        "I47 KIP-360 with the fenced epoch",
        transactional_id=transactional_id,
        producer_id=producer_id,
        producer_epoch=epoch,
    )


def _answer_of(recorder: CaseRecorder, topic: str, produced: Struct) -> Answer:
    high_watermark = recorder.log_end_offset(topic)
    return Answer(produced.integer("error_code"), produced.integer("base_offset"), high_watermark=high_watermark)


def _transactional_batch(recorder: CaseRecorder, producer: Struct, base_sequence: int) -> bytes:
    return batch(
        1,
        recorder.started_ms,
        producer_id=producer.integer("producer_id"),
        producer_epoch=producer.integer("producer_epoch"),
        base_sequence=base_sequence,
        is_transactional=True,
    )


def _retry_until_aborted(recorder: CaseRecorder, transactional_id: str) -> None:
    for _ in recorder.attempts():
        answer = _ask(recorder, transactional_id=transactional_id)
        if answer.integer("error_code") != CONCURRENT_TRANSACTIONS:
            recorder.record(
                "I43 retry until it succeeds",
                {"txn_id": transactional_id},
                Answer(answer.integer("error_code")),
                producer_id=recorder.label_of_producer(answer.integer("producer_id")),
                producer_epoch=answer.integer("producer_epoch"),
            )
            return
    raise TimeoutError("the transaction is never aborted")


def _record_log(recorder: CaseRecorder, topic: str) -> None:
    log: list[Json] = []
    for stored in recorder.fetch_batches(topic):
        key = stored.records[0].key if stored.records else None
        log.append(
            {
                "offset": stored.base_offset,
                "epoch": stored.producer_epoch,
                "seq": stored.base_sequence,
                "attrs": stored.attributes,
                "key": key.hex() if key else None,
            }
        )
    answer = Answer(high_watermark=recorder.log_end_offset(topic))
    recorder.record("I44 log of the partition", None, answer, log=log)


def unstable_version(recorder: CaseRecorder) -> None:
    result: int | str
    with recorder.connect() as connection:
        try:
            result = connection.call(INIT_PRODUCER_ID, 6, {"transactional_id": None}).integer("error_code")
        except ConnectionClosedError:
            result = "CONNECTION_CLOSED"
    recorder.record("I50 v6 (2PC, unstable, not enabled)", {"ver": 6}, Answer(result))
