"""What every golden program records its cases with: topics of its own, produce and look, one JSON object a case."""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypedDict, TypeVar, Unpack

from ..wire.wire_connection import ConnectionClosedError
from . import raw_apis, raw_apis_transactions
from .error_names import error_name
from .raw_batches import StoredBatch, stored_batches
from .raw_client import RawConnection
from .raw_schema import Struct, Value

Json: TypeAlias = "int | float | str | bool | list[Json] | dict[str, Json] | None"
Case: TypeAlias = dict[str, Json]
TopicRecords: TypeAlias = tuple[str, Sequence[tuple[int, bytes]]]

# What the steps of a case work with.
Scene = TypeVar("Scene")

RETRY_PAUSE_SECONDS = 0.02
# How far the broker's clock and ours, read before and after the request, may be apart (both are this machine's).
CLOCK_SLACK_MS = 5
LATEST_TIMESTAMP = -1
# Farther than this from now, a timestamp is one that a program chose and can be compared as it is.
FAR_FROM_NOW_MS = 1_000_000_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def in_order(*steps: Callable[[Scene], object]) -> Callable[[Scene], None]:
    """Return the step that takes all of these."""

    def run(scene: Scene) -> None:
        for step in steps:
            step(scene)

    return run


class Sending(TypedDict, total=False):
    """How a batch is sent; left out: acks -1, version 11, partition 0, no transactional id, the topic's own id."""

    acks: int
    version: int
    transactional_id: str | None
    partition: int
    timeout_ms: int
    topic_id: bytes


# The names by which the captures say how a batch was sent. The topic id differs from run to run and is left out.
CAPTURED_NAMES = {
    "acks": "acks",
    "version": "ver",
    "transactional_id": "txn_id",
    "partition": "part",
    "timeout_ms": "timeout",
}


def captured_sending(sending: Sending) -> Case:
    return {CAPTURED_NAMES[name]: _as_json(value) for name, value in sending.items() if name in CAPTURED_NAMES}


def _as_json(value: object) -> Json:
    assert value is None or isinstance(value, int | str)
    return value


@dataclass(frozen=True, slots=True)
class Answer:
    """The fields that every case has, those of a Produce answer; None where a case has no such thing."""

    error: int | str = 0
    base_offset: int | None = None
    log_append_time: int | str | None = None
    log_start_offset: int | None = None
    high_watermark: int | str | None = None


class TopicNotCreatedError(RuntimeError):
    """A topic of a case was not created. error_code: of the response."""

    def __init__(self, name: str, answer: Struct) -> None:
        super().__init__(f"{name} was not created: {answer}")
        self.error_code = answer.integer("error_code")


@dataclass(frozen=True, slots=True)
class Heading:
    """The case's id, what it says was sent, and the maximum timestamp of the batch that the answer is about."""

    case: str
    sent: Case
    stored_timestamp: int


class CaseRecorder:
    """One run of one program against one broker.

    run_id makes names unique on the broker and is written as RUN in the cases, so that two runs can be compared.
    patience_seconds bounds each wait for a state that the broker reaches by itself.
    """

    def __init__(self, program: str, address: str, *, patience_seconds: float = 15.0) -> None:
        self.program = program
        self._address = address
        self.patience_seconds = patience_seconds
        self.run_id = uuid.uuid4().hex[:8]
        self.connection = self.connect()
        self.cases: list[Case] = []
        self.topic_ids: dict[str, bytes] = {}
        self._topics_created = 0
        self._producer_labels: dict[int, str] = {}
        # One moment for all batches of a run, so that duplicates are duplicates to the byte.
        self.started_ms = now_ms()

    def connect(self) -> RawConnection:
        return RawConnection(self._address)

    def reconnect(self) -> None:
        self.connection.close()
        self.connection = self.connect()

    def attempts(self) -> Iterator[None]:
        """Yields until patience runs out, with a pause in between: for what the broker does in the background."""
        deadline = time.monotonic() + self.patience_seconds
        while time.monotonic() < deadline:
            yield
            time.sleep(RETRY_PAUSE_SECONDS)

    # Names that differ from run to run.

    def unique(self, name: str) -> str:
        return f"{name}-{self.run_id}"

    def without_run_id(self, text: str) -> str:
        return text.replace(self.run_id, "RUN")

    def label_of_producer(self, producer_id: int) -> int | str:
        """A label for an id that the broker chose: pid#1, pid#2 ... in order of appearance; negative ids stay."""
        if producer_id < 0:
            return producer_id
        return self._producer_labels.setdefault(producer_id, f"pid#{len(self._producer_labels) + 1}")

    def has_label(self, producer_id: int) -> bool:
        return producer_id in self._producer_labels

    def name_producer(self, producer_id: int, label: str) -> None:
        self._producer_labels[producer_id] = label

    # What the broker is asked to do.

    def create_topic(self, partitions: int = 1, configs: Mapping[str, str] | None = None) -> str:
        """Create a topic and wait until its leaders serve. Nothing in it expires unless the configs say so."""
        self._topics_created += 1
        name = f"{self.program.replace('_', '-')}-{self.run_id}-{self._topics_created}"
        self.create_topic_named(name, partitions, {**(configs or {}), "retention.ms": "-1"})
        return name

    def create_topic_named(self, name: str, partitions: int, configs: Mapping[str, str]) -> None:
        topic: Mapping[str, Value] = {
            "name": name,
            "num_partitions": partitions,
            "replication_factor": 1,
            "configs": [{"name": key, "value": value} for key, value in configs.items()],
        }
        answer = self.connection.call(raw_apis.CREATE_TOPICS, 7, {"topics": [topic]}).structs("topics")[0]
        if answer.integer("error_code"):
            raise TopicNotCreatedError(name, answer)
        topic_id = answer["topic_id"]
        assert isinstance(topic_id, bytes)
        self.topic_ids[name] = topic_id
        for _ in self.attempts():
            if all(isinstance(self.log_end_offset(name, partition), int) for partition in range(partitions)):
                return
        raise TimeoutError(f"{name} has no leaders")

    def metadata(self, topic: str, *, auto_create: bool = False) -> Struct:
        body: Mapping[str, Value] = {"topics": [{"name": topic}], "allow_auto_topic_creation": auto_create}
        return self.connection.call(raw_apis.METADATA, 12, body).structs("topics")[0]

    def log_end_offset(self, topic: str, partition: int = 0, *, isolation_level: int = 0) -> int | str:
        """The latest offset a consumer sees: high watermark, or last stable offset with isolation_level 1."""
        partitions: Value = [{"index": partition, "timestamp": LATEST_TIMESTAMP}]
        body: Mapping[str, Value] = {
            "isolation_level": isolation_level,
            "topics": [{"name": topic, "partitions": partitions}],
        }
        answer = self.connection.call(raw_apis.LIST_OFFSETS, 7, body).structs("topics")[0].structs("partitions")[0]
        error_code = answer.integer("error_code")
        return f"err:{error_name(error_code)}" if error_code else answer.integer("offset")

    def produce_request(self, topic: str, records: bytes | None, sending: Sending) -> Mapping[str, Value]:
        topic_id = sending.get("topic_id", self.topic_ids.get(topic))
        partitions: Value = [{"index": sending.get("partition", 0), "records": records}]
        return {
            "transactional_id": sending.get("transactional_id"),
            "acks": sending.get("acks", -1),
            "timeout_ms": sending.get("timeout_ms", 30000),
            "topics": [{"name": topic, "topic_id": topic_id, "partitions": partitions}],
        }

    def produce(self, topic: str, records: bytes | None, **sending: Unpack[Sending]) -> Struct:
        """Send one partition's records and return that partition's answer."""
        body = self.produce_request(topic, records, sending)
        answer = self.connection.call(raw_apis.PRODUCE, sending.get("version", 11), body)
        return answer.structs("topics")[0].structs("partitions")[0]

    def produce_partitions(self, topics: Sequence[TopicRecords], transactional_id: str | None = None) -> list[Struct]:
        """Send several partitions in one request and return the topics of the answer."""
        body: Mapping[str, Value] = {
            "transactional_id": transactional_id,
            "acks": -1,
            "topics": [
                {"name": name, "partitions": [{"index": index, "records": records} for index, records in partitions]}
                for name, partitions in topics
            ],
        }
        return self.connection.call(raw_apis.PRODUCE, 11, body).structs("topics")

    def produce_without_answer(self, topic: str, records: bytes) -> bool:
        """Send with acks 0 on a connection of its own and return whether that stays open."""
        request = self.produce_request(topic, records, {"acks": 0})
        with self.connect() as connection:
            connection.send_frame(connection.request(raw_apis.PRODUCE, 11, request))
            return connection.is_alive()

    def fetch(self, topic: str, offset: int = 0, partition: int = 0, *, isolation_level: int = 0) -> Struct:
        """What one partition answers to a fetch; its records are bytes."""
        partitions: Value = [{"index": partition, "fetch_offset": offset}]
        body: Mapping[str, Value] = {
            "isolation_level": isolation_level,
            "topics": [{"name": topic, "partitions": partitions}],
        }
        return self.connection.call(raw_apis.FETCH, 12, body).structs("topics")[0].structs("partitions")[0]

    def fetch_batches(self, topic: str, offset: int = 0) -> list[StoredBatch]:
        return stored_batches(self.fetch(topic, offset).data("records"))

    def active_producers(self, topic: str, partition: int = 0) -> list[Struct]:
        body: Mapping[str, Value] = {"topics": [{"name": topic, "partitions": [partition]}]}
        answer = self.connection.call(raw_apis_transactions.DESCRIBE_PRODUCERS, 0, body)
        return answer.structs("topics")[0].structs("partitions")[0].structs("active_producers")

    # What is recorded.

    def produce_case(self, heading: Heading, topic: str, records: bytes | None, **sending: Unpack[Sending]) -> None:
        """Produce to one partition and record how it was answered, or that it was not."""
        sent_ms = now_ms()
        more: Case = {}
        try:
            partition = self.produce(topic, records, **sending)
        except (TimeoutError, ConnectionClosedError) as error:
            self.reconnect()
            answer = Answer(
                "CONNECTION_CLOSED" if isinstance(error, ConnectionClosedError) else "NO_RESPONSE_WITHIN_TIMEOUT"
            )
        else:
            answer = self.answer_of(partition, heading.stored_timestamp, sent_ms)
            more = _messages_of(partition)
        high_watermark = self.log_end_offset(topic, sending.get("partition", 0)) if topic in self.topic_ids else None
        self.record(heading.case, heading.sent, replace(answer, high_watermark=high_watermark), **more)

    def answer_of(self, partition: Struct, stored_timestamp: int | None, sent_ms: int | None = None) -> Answer:
        """The fields of a Produce answer; its log_append_time as which moment it is, since the moment itself varies.

        stored_timestamp: what the stored batch has as its maximum.
        sent_ms: when the request was sent; None if the broker's own clock is not expected.
        """
        log_append_time = partition.get("log_append_time")
        assert log_append_time is None or isinstance(log_append_time, int)
        log_start_offset = partition.get("log_start_offset")
        assert log_start_offset is None or isinstance(log_start_offset, int)
        return Answer(
            partition.integer("error_code"),
            partition.integer("base_offset"),
            _moment(log_append_time, stored_timestamp, sent_ms),
            log_start_offset,
        )

    def record(self, case: str, sent: Case | None, answer: Answer, **more: Json) -> None:
        """Add one case, with the run's own names taken out."""
        whole: Case = {
            "case": case,
            "sent": sent,
            "error_code": answer.error,
            "error": error_name(answer.error) if isinstance(answer.error, int) else answer.error,
            "base_offset": answer.base_offset,
            "log_append_time": answer.log_append_time,
            "log_start_offset": answer.log_start_offset,
            "high_watermark_after": answer.high_watermark,
            **more,
        }
        self.cases.append({"program": self.program, **json.loads(self.without_run_id(json.dumps(whole)))})


def _messages_of(partition: Struct) -> Case:
    """The error message and the number of refused records, where there are any."""
    more: Case = {}
    if message := partition.optional_text("error_message"):
        more["error_message"] = message
    if record_errors := partition.structs("record_errors"):
        more["record_errors"] = len(record_errors)
    return more


def _moment(log_append_time: int | None, stored_timestamp: int | None, sent_ms: int | None) -> int | str | None:
    if log_append_time is None or log_append_time == -1:
        return log_append_time
    if log_append_time == stored_timestamp:
        return "batch.max_timestamp"
    if sent_ms is not None and sent_ms - CLOCK_SLACK_MS <= log_append_time <= now_ms() + CLOCK_SLACK_MS:
        return "broker.now"
    return log_append_time if abs(log_append_time - now_ms()) > FAR_FROM_NOW_MS else "other.timestamp"


def fields_of_partitions(topic: Struct, *names: str) -> Json:
    """These fields of each partition of an answer, by partition: brokers answer in any order."""
    partitions = sorted(topic.structs("partitions"), key=lambda partition: partition.integer("index"))
    return [[_as_json(partition.get(name)) for name in names] for partition in partitions]
