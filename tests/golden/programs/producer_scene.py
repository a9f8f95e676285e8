"""What the idempotence cases share: a batch as the producer state sees it, sent and recorded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Unpack, cast

from .. import raw_apis
from ..case_recorder import Answer, Case, CaseRecorder, Heading, Json, Sending, captured_sending
from ..raw_batches import BatchFields, batch
from ..raw_schema import Value

# The names by which the captures say what was unusual in a batch.
CAPTURED_FIELDS = {
    "value": "value",
    "codec": "codec",
    "has_wrong_crc": "bad_crc",
    "is_transactional": "txn",
    "timestamp_deltas": "ts_deltas",
}


@dataclass(frozen=True, slots=True)
class ProducerBatch:
    """One batch by producer id, epoch and sequence.

    timestamp: None for the run's own.
    stored_timestamp: the maximum timestamp of the batch that the answer is about, where it is another than this one's.
    """

    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int = 2
    timestamp: int | None = None
    stored_timestamp: int | None = None
    fields: BatchFields = field(default_factory=BatchFields)

    def sent(self) -> Case:
        """What the case says was sent."""
        sent: Case = {
            "pid": self.producer_id,
            "epoch": self.producer_epoch,
            "base_sequence": self.base_sequence,
            "records": self.record_count,
        }
        for name, value in cast("dict[str, object]", self.fields).items():
            if name in CAPTURED_FIELDS:
                sent[CAPTURED_FIELDS[name]] = _captured(value)
        return sent

    def encode(self, run_timestamp: int) -> bytes:
        timestamp = run_timestamp if self.timestamp is None else self.timestamp
        fields: BatchFields = {
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
            "base_sequence": self.base_sequence,
            **self.fields,
        }
        return batch(self.record_count, timestamp, **fields)

    def expected_timestamp(self, run_timestamp: int) -> int:
        if self.stored_timestamp is not None:
            return self.stored_timestamp
        return self.fields.get("max_timestamp", run_timestamp if self.timestamp is None else self.timestamp)


def _captured(value: object) -> Json:
    """A value as the captures have it: large byte strings by their length."""
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, list):
        return [*cast("list[int]", value)]
    assert isinstance(value, int)
    return value


def known(sequence: int, count: int = 2, /, **fields: Unpack[BatchFields]) -> ProducerBatch:
    """A batch of producer 1 in epoch 0, whom most groups of cases are about."""
    return ProducerBatch(1, 0, sequence, count, fields=fields)


class ProducerScene:
    """A topic and the batches sent to it."""

    def __init__(self, recorder: CaseRecorder, topic: str) -> None:
        self.recorder = recorder
        self.topic = topic

    @property
    def now(self) -> int:
        return self.recorder.started_ms

    def check(self, case: str, sent: ProducerBatch, **sending: Unpack[Sending]) -> None:
        """Send the batch and record the answer."""
        heading = Heading(case, {**sent.sent(), **captured_sending(sending)}, sent.expected_timestamp(self.now))
        self.recorder.produce_case(heading, self.topic, sent.encode(self.now), **sending)

    def check_all(self, *rows: tuple[str, ProducerBatch]) -> None:
        """check for each row, in this order."""
        for case, sent in rows:
            self.check(case, sent)

    def check_without_answer(self, case: str, sent: ProducerBatch) -> None:
        """Send with acks 0 and record what became of connection and log."""
        is_alive = self.recorder.produce_without_answer(self.topic, sent.encode(self.now))
        answer = Answer("NO_RESPONSE", high_watermark=self.recorder.log_end_offset(self.topic))
        self.recorder.record(case, {**sent.sent(), "acks": 0}, answer, connection_alive=is_alive)

    def state(self, case: str, producer_id: int) -> None:
        """Record what DescribeProducers says of one producer."""
        producers: list[Json] = [
            {
                "pid": producer_id,
                "epoch": producer.integer("producer_epoch"),
                "last_sequence": producer.integer("last_sequence"),
                "coord_epoch": producer.integer("coordinator_epoch"),
                "txn_start": producer.integer("current_txn_start_offset"),
            }
            for producer in self.recorder.active_producers(self.topic)
            if producer.integer("producer_id") == producer_id
        ]
        answer = Answer(high_watermark=self.recorder.log_end_offset(self.topic))
        self.recorder.record(case, {"describe_producers": producer_id}, answer, producers=producers)

    def delete_records(self, case: str) -> None:
        """Move the log start to the high watermark and record it."""
        partitions: Value = [{"index": 0, "offset": -1}]
        body: Mapping[str, Value] = {"topics": [{"name": self.topic, "partitions": partitions}]}
        answer = self.recorder.connection.call(raw_apis.DELETE_RECORDS, 2, body)
        partition = answer.structs("topics")[0].structs("partitions")[0]
        self.recorder.record(
            case,
            {"offset": -1},
            Answer(partition.integer("error_code"), high_watermark=self.recorder.log_end_offset(self.topic)),
            low_watermark=partition.integer("low_watermark"),
        )
