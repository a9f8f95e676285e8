"""Offsets committed in a transaction: AddOffsetsToTxn, TxnOffsetCommit, OffsetFetch."""

from collections.abc import Callable, Mapping
from typing import TypedDict, Unpack

from ..case_recorder import Answer, CaseRecorder
from ..raw_apis_transactions import ADD_OFFSETS_TO_TXN, OFFSET_FETCH, TXN_OFFSET_COMMIT
from ..raw_client import find_coordinator
from ..raw_schema import Struct, Value
from .transaction_scene import COORDINATOR_ERRORS, Identity, TransactionalProducer


class Committing(TypedDict, total=False):
    """How an offset is committed; left out: version 3, as the producer itself, in no generation."""

    version: int
    identity: Identity
    generation_id: int
    member_id: str


def group_id_of(recorder: CaseRecorder) -> str:
    """The one group of a run."""
    return recorder.unique("grp")


def record_offset_fetch(recorder: CaseRecorder, case: str, topic: str, *, require_stable: bool) -> None:
    """Record what the group has committed for partition 0."""
    topics: Value = [{"name": topic, "partitions": [0]}]
    body: Mapping[str, Value] = {
        "groups": [{"group_id": group_id_of(recorder), "topics": topics}],
        "require_stable": require_stable,
    }
    group = recorder.connection.call(OFFSET_FETCH, 8, body).structs("groups")[0]
    topics_answered = group.structs("topics")
    partition = topics_answered[0].structs("partitions")[0] if topics_answered else group
    committed = partition.integer("committed_offset") if topics_answered else None
    answer = Answer(partition.integer("error_code"))
    recorder.record(case, {"require_stable": require_stable}, answer, committed=committed)


def record_offset_commit(
    producer: TransactionalProducer, case: str, topic: str, offset: int, **committing: Unpack[Committing]
) -> None:
    """Commit an offset of partition 0 in the producer's transaction and record the answer."""
    recorder, version = producer.recorder, committing.get("version", 3)
    partitions: Value = [{"index": 0, "committed_offset": offset, "committed_metadata": ""}]
    body: Mapping[str, Value] = {
        **committing.get("identity", producer.identity).fields(),
        "group_id": group_id_of(recorder),
        "generation_id": committing.get("generation_id", -1),
        "member_id": committing.get("member_id", ""),
        "topics": [{"name": topic, "partitions": partitions}],
    }
    for _ in recorder.attempts():
        answer = recorder.connection.call(TXN_OFFSET_COMMIT, version, body)
        error_code = answer.structs("topics")[0].structs("partitions")[0].integer("error_code")
        if error_code not in COORDINATOR_ERRORS:
            break
        find_coordinator(recorder.connection, group_id_of(recorder), key_type=0)
    else:
        raise TimeoutError("the group has no coordinator")
    recorder.record(case, {"ver": version, "offset": offset}, Answer(error_code))


def _add_offsets(producer: TransactionalProducer, identity: Identity, version: int = 3) -> Struct:
    body = {**identity.fields(), "group_id": group_id_of(producer.recorder)}
    return producer.recorder.connection.call(ADD_OFFSETS_TO_TXN, version, body)


def committed_offsets(recorder: CaseRecorder) -> None:
    producer, topic = TransactionalProducer(recorder, "c"), recorder.create_topic()
    find_coordinator(recorder.connection, group_id_of(recorder), key_type=0)
    record_offset_commit(producer, "O01 TxnOffsetCommit without AddOffsetsToTxn, v3", topic, 7)
    record_offset_commit(producer, "O02 TxnOffsetCommit without AddOffsetsToTxn, v4", topic, 7, version=4)
    older, other_id = producer.with_epoch(-1), producer.with_other_producer_id()
    for case, identity, version in (
        ("O03 AddOffsetsToTxn", producer.identity, 3),
        ("O04 AddOffsetsToTxn old epoch v3", older, 3),
        ("O05 AddOffsetsToTxn old epoch v1", older, 1),
        ("O06 AddOffsetsToTxn wrong pid", other_id, 3),
    ):
        recorder.record(case, None, Answer(_add_offsets(producer, identity, version).integer("error_code")))
    _wrong_commits(producer, topic)
    record_offset_fetch(recorder, "O10 OffsetFetch before commit", topic, require_stable=False)
    record_offset_fetch(recorder, "O11 OffsetFetch before commit, require_stable", topic, require_stable=True)
    producer.end(committed=True, case="O12 commit")
    producer.wait_for("CompleteCommit")
    record_offset_fetch(recorder, "O13 OffsetFetch after commit", topic, require_stable=True)
    _add_offsets(producer, producer.identity)
    record_offset_commit(producer, "O14 TxnOffsetCommit of 99, then abort", topic, 99)
    producer.end(committed=False)
    producer.wait_for("CompleteAbort")
    record_offset_fetch(recorder, "O15 after abort", topic, require_stable=True)


def _wrong_commits(producer: TransactionalProducer, topic: str) -> None:
    older, newer = producer.with_epoch(-1), producer.with_epoch(1)
    other_id, missing = producer.with_other_producer_id(), producer.recorder.unique("missing")
    record_offset_commit(producer, "O07 TxnOffsetCommit, v3", topic, 7)
    record_offset_commit(producer, "O08 unknown member id", topic, 7, generation_id=5, member_id="m")
    record_offset_commit(producer, "O09 unknown topic", missing, 7)
    record_offset_commit(producer, "O09a old epoch, v3", topic, 7, identity=older)
    record_offset_commit(producer, "O09b wrong pid, v3", topic, 7, identity=other_id)
    record_offset_commit(producer, "O09c old epoch, v5", topic, 7, version=5, identity=older)
    record_offset_commit(producer, "O09d wrong pid, v5", topic, 7, version=5, identity=other_id)
    record_offset_commit(producer, "O09e epoch +1, v5", topic, 7, version=5, identity=newer)


PARTS: tuple[Callable[[CaseRecorder], None], ...] = (committed_offsets,)
