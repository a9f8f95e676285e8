"""A transactional producer made of single requests, and what the transaction cases record of broker and log."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from ..case_recorder import Answer, Case, CaseRecorder, Json
from ..raw_apis_transactions import (
    ADD_PARTITIONS_TO_TXN,
    DESCRIBE_TRANSACTIONS,
    END_TXN,
    INIT_PRODUCER_ID,
)
from ..raw_batches import CONTROL_BIT, StoredBatch, batch, stored_batches
from ..raw_client import find_coordinator
from ..raw_schema import Struct, Value

CONCURRENT_TRANSACTIONS = 51
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR
COORDINATOR_ERRORS = (14, 15, 16)
READ_COMMITTED = 1


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a request claims to come from."""

    transactional_id: str
    producer_id: int
    producer_epoch: int

    def fields(self) -> dict[str, Value]:
        return {
            "transactional_id": self.transactional_id,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
        }


class Producing(TypedDict, total=False):
    """How a batch is sent; left out: version 11, partition 0, one record, in the transaction."""

    version: int
    partition: int
    record_count: int
    is_transactional: bool


class TransactionalProducer:
    """One transactional id with its producer id and epoch; the epoch is moved on by the cases themselves."""

    def __init__(self, recorder: CaseRecorder, name: str) -> None:
        self.recorder = recorder
        transactional_id = f"tx-{recorder.run_id}-{name}"
        answer = self._init(transactional_id)
        self.identity = Identity(transactional_id, answer.integer("producer_id"), answer.integer("producer_epoch"))
        recorder.label_of_producer(self.identity.producer_id)

    def _init(self, transactional_id: str) -> Struct:
        connection = self.recorder.connection
        for _ in self.recorder.attempts():
            answer = connection.call(INIT_PRODUCER_ID, 5, {"transactional_id": transactional_id})
            if answer.integer("error_code") not in (*COORDINATOR_ERRORS, CONCURRENT_TRANSACTIONS):
                assert answer.integer("error_code") == 0, answer
                return answer
            find_coordinator(connection, transactional_id, key_type=1)
        raise TimeoutError(f"no producer id for {transactional_id}")

    @property
    def producer_epoch(self) -> int:
        return self.identity.producer_epoch

    def with_epoch(self, difference: int) -> Identity:
        """This producer in another epoch than its own."""
        return replace(self.identity, producer_epoch=self.producer_epoch + difference)

    def with_other_producer_id(self) -> Identity:
        return replace(self.identity, producer_id=self.identity.producer_id + 1)

    def with_unknown_transactional_id(self) -> Identity:
        return replace(self.identity, transactional_id=self.recorder.unique("nobody"))

    def move_to(self, answer: Struct) -> None:
        """Take the producer id and epoch that EndTxn version 5 answered."""
        self.identity = replace(
            self.identity, producer_id=answer.integer("producer_id"), producer_epoch=answer.integer("producer_epoch")
        )

    # Producing

    def produce(self, case: str, topic: str, base_sequence: int, **producing: Unpack[Producing]) -> None:
        """Send a batch of this producer and record the answer, the high watermark and the last stable offset."""
        recorder = self.recorder
        version, partition = producing.get("version", 11), producing.get("partition", 0)
        record_count = producing.get("record_count", 1)
        is_transactional = producing.get("is_transactional", True)
        answer = recorder.produce(
            topic,
            self._batch(base_sequence, record_count, is_transactional=is_transactional),
            version=version,
            partition=partition,
            transactional_id=self.identity.transactional_id if is_transactional else None,
        )
        sent: Case = {
            "ver": version,
            "epoch_minus_current": 0,
            "base_sequence": base_sequence,
            "records": record_count,
            "transactional": is_transactional,
        }
        recorder.record(
            case,
            sent,
            replace(
                recorder.answer_of(answer, recorder.started_ms),
                high_watermark=recorder.log_end_offset(topic, partition),
            ),
            last_stable_offset=recorder.log_end_offset(topic, partition, isolation_level=READ_COMMITTED),
            error_message=answer.optional_text("error_message"),
        )

    def _batch(self, base_sequence: int, record_count: int, *, is_transactional: bool) -> bytes:
        return batch(
            record_count,
            self.recorder.started_ms,
            producer_id=self.identity.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=base_sequence,
            is_transactional=is_transactional,
        )

    # The transaction

    def add_partitions(
        self,
        topics: Mapping[str, list[int]],
        *,
        case: str | None = None,
        version: int = 3,
        identity: Identity | None = None,
    ) -> None:
        """AddPartitionsToTxn as a client sends it, recorded when there is a case."""
        whom = identity or self.identity
        named: Value = [{"name": name, "partitions": partitions} for name, partitions in topics.items()]
        body: Mapping[str, Value] = {**whom.fields(), "topics": named}
        answer = self.recorder.connection.call(ADD_PARTITIONS_TO_TXN, version, body)
        results = sorted(
            (partition.integer("index"), partition.integer("error_code"))
            for topic in answer.structs("topics")
            for partition in topic.structs("partitions")
        )
        if case is not None:
            worst = max((error_code for _, error_code in results), default=0)
            sent: Case = {"ver": version, "epoch_minus_current": whom.producer_epoch - self.producer_epoch}
            self.recorder.record(case, sent, Answer(worst), partitions=[list(result) for result in results])

    def end(
        self, *, committed: bool, case: str | None = None, version: int = 4, identity: Identity | None = None
    ) -> Struct:
        """EndTxn, repeated while another transaction is being completed, recorded when there is a case."""
        whom = identity or self.identity
        for _ in self.recorder.attempts():
            answer = self.recorder.connection.call(END_TXN, version, {**whom.fields(), "committed": committed})
            if answer.integer("error_code") != CONCURRENT_TRANSACTIONS:
                break
        else:
            raise TimeoutError("the transaction before this one does not end")
        if case is not None:
            sent: Case = {
                "ver": version,
                "commit": committed,
                "epoch_minus_current": whom.producer_epoch - self.producer_epoch,
            }
            self.recorder.record(case, sent, Answer(answer.integer("error_code")), **self._next_producer(answer))
        return answer

    def _next_producer(self, answer: Struct) -> Case:
        """The producer id and epoch of an EndTxn answer; None before version 5."""
        if "producer_id" not in answer:
            return {"producer_id": None, "producer_epoch": None}
        return {
            "producer_id": self.recorder.label_of_producer(answer.integer("producer_id")),
            "producer_epoch": answer.integer("producer_epoch"),
        }

    def commit(self) -> None:
        """Commit in the style of before KIP-890 and wait until the markers are written."""
        self.end(committed=True)
        self.wait_for("CompleteCommit")

    def wait_for(self, state: str) -> Struct:
        """Wait until the coordinator says that the transaction is in this state."""
        for _ in self.recorder.attempts():
            answer = self._describe()
            if answer.text("transaction_state") == state:
                return answer
        raise TimeoutError(f"{self.identity.transactional_id} is not in {state}")

    def _describe(self) -> Struct:
        body: Mapping[str, Value] = {"transactional_ids": [self.identity.transactional_id]}
        return self.recorder.connection.call(DESCRIBE_TRANSACTIONS, 0, body).structs("transaction_states")[0]

    def state(self, case: str, wanted: str | None = None) -> None:
        """Record what DescribeTransactions says, once the transaction is in the wanted state."""
        answer = self.wait_for(wanted) if wanted is not None else self._describe()
        # Which partition of __consumer_offsets it is depends on the group's name, which is another in each run.
        partitions: list[int | str] = []
        for topic in answer.structs("topics"):
            is_internal = topic.text("name").startswith("__")
            partitions += ["offsets-partition"] if is_internal else topic.integers("partitions")
        self.recorder.record(
            case,
            {"txn": "describe"},
            Answer(answer.integer("error_code")),
            state=answer.text("transaction_state"),
            producer_epoch=answer.integer("producer_epoch"),
            producer_id=self.recorder.label_of_producer(answer.integer("producer_id")),
            partitions=[*sorted(partitions, key=str)],
            has_start_time=answer.integer("transaction_start_time_ms") > 0,
        )


class Fetching(TypedDict, total=False):
    """How a log is read; left out: partition 0 from offset 0, uncommitted records too."""

    partition: int
    offset: int
    isolation_level: int


def record_log(recorder: CaseRecorder, case: str, topic: str, **fetching: Unpack[Fetching]) -> None:
    """Record what a fetch gives: the offsets of the partition, the aborted transactions and each batch."""
    offset, isolation_level = fetching.get("offset", 0), fetching.get("isolation_level", 0)
    partition = recorder.fetch(topic, offset, fetching.get("partition", 0), isolation_level=isolation_level)
    aborted: list[Json] | None = None
    if partition["aborted_transactions"] is not None:
        aborted = [
            {
                "pid": recorder.label_of_producer(transaction.integer("producer_id")),
                "first_offset": transaction.integer("first_offset"),
            }
            for transaction in partition.structs("aborted_transactions")
        ]
    recorder.record(
        case,
        {"fetch_offset": offset, "isolation": isolation_level},
        Answer(partition.integer("error_code"), high_watermark=partition.integer("high_watermark")),
        last_stable_offset=partition.integer("last_stable_offset"),
        log_start=partition.integer("log_start_offset"),
        aborted=aborted,
        log=[_logged(recorder, stored) for stored in stored_batches(partition.data("records"))],
    )


def _logged(recorder: CaseRecorder, stored: StoredBatch) -> Json:
    """A batch of the log; of a control batch its marker too."""
    logged: Case = {
        "offset": stored.base_offset,
        "last": stored.base_offset + stored.last_offset_delta,
        "pid": recorder.label_of_producer(stored.producer_id),
        "epoch": stored.producer_epoch,
        "seq": stored.base_sequence,
        "attrs": stored.attributes,
    }
    if stored.attributes & CONTROL_BIT and stored.records:
        logged["key"] = (stored.records[0].key or b"").hex()
        logged["value"] = (stored.records[0].value or b"").hex()
    return logged


def record_producers(recorder: CaseRecorder, case: str, topic: str) -> None:
    """Record what DescribeProducers says of all producers of partition 0."""
    producers: list[Case] = [
        {
            "pid": recorder.label_of_producer(producer.integer("producer_id")),
            "epoch": producer.integer("producer_epoch"),
            "last_sequence": producer.integer("last_sequence"),
            "coord_epoch": producer.integer("coordinator_epoch"),
            "txn_start": producer.integer("current_txn_start_offset"),
        }
        for producer in recorder.active_producers(topic)
    ]
    recorder.record(case, {"describe_producers": True}, Answer(), producers=[*sorted(producers, key=str)])
