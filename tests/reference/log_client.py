"""A raw client that fills and reads the logs of either broker."""

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from ..golden import raw_apis
from ..golden.raw_apis_transactions import INIT_PRODUCER_ID
from ..golden.raw_client import RawConnection
from ..golden.raw_schema import Struct, Value

EARLIEST = -2
LATEST = -1
NO_ERROR = 0
# UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER.
NOT_LED_YET = (3, 5, 6)
COORDINATOR_LOAD_IN_PROGRESS = 14
# A Kafka that starts takes a few seconds until it has all it needs.
STARTED_SECONDS_MAX = 60
# In the prefix of a batch: base offset, length, leader epoch.
LENGTH_POSITION = 8
LENGTH_PREFIX_BYTES = 12


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything that a client can see of a partition's log."""

    log_start_offset: int
    log_end_offset: int
    batches: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ProduceAnswer:
    """What a broker answered to one batch."""

    error_code: int
    base_offset: int


class LogClient:
    """Speaks to one broker."""

    def __init__(self, address: str) -> None:
        self._connection = RawConnection(address)

    def close(self) -> None:
        self._connection.close()

    def create_topic(
        self,
        name: str,
        partition_count: int = 1,
        configs: Mapping[str, str] | None = None,
        replication_factor: int = 1,
    ) -> None:
        entries: list[Value] = [{"name": key, "value": value} for key, value in (configs or {}).items()]
        topic: Mapping[str, Value] = {
            "name": name,
            "num_partitions": partition_count,
            "replication_factor": replication_factor,
            "configs": entries,
        }
        answer = self._connection.call(raw_apis.CREATE_TOPICS, 5, {"topics": [topic]})
        result = answer.structs("topics")[0]
        assert result.integer("error_code") == NO_ERROR, result

    def topic_id(self, name: str) -> bytes:
        answer = self._connection.call(raw_apis.METADATA, 10, {"topics": [{"topic_id": bytes(16), "name": name}]})
        return answer.structs("topics")[0].data("topic_id")

    def produce(self, topic: str, batch: bytes, partition: int = 0) -> ProduceAnswer:
        partitions: list[Value] = [{"index": partition, "records": batch}]
        body: Mapping[str, Value] = {"acks": -1, "topics": [{"name": topic, "partitions": partitions}]}
        result = self._first_partition(self._connection.call(raw_apis.PRODUCE, 9, body))
        return ProduceAnswer(result.integer("error_code"), result.integer("base_offset"))

    def append(self, topic: str, batch: bytes, partition: int = 0) -> int:
        """Produce what has to be taken, and return its offset."""
        answer = self.produce(topic, batch, partition)
        assert answer.error_code == NO_ERROR, answer
        return answer.base_offset

    def delete_records(self, topic: str, offset: int, partition: int = 0) -> None:
        body: Mapping[str, Value] = {
            "topics": [{"name": topic, "partitions": [{"index": partition, "offset": offset}]}]
        }
        result = self._first_partition(self._connection.call(raw_apis.DELETE_RECORDS, 2, body))
        assert result.integer("error_code") == NO_ERROR, result

    def new_producer_id(self) -> int:
        body: Mapping[str, Value] = {
            "transactional_id": None,
            "transaction_timeout_ms": 0,
            "producer_id": -1,
            "producer_epoch": -1,
        }
        deadline = time.monotonic() + STARTED_SECONDS_MAX
        while (answer := self._connection.call(INIT_PRODUCER_ID, 3, body)).integer("error_code") != NO_ERROR:
            # A Kafka that starts has to get its block of ids first.
            assert answer.integer("error_code") == COORDINATOR_LOAD_IN_PROGRESS, answer
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)
        return answer.integer("producer_id")

    def stored(self, topic: str, partition: int = 0) -> Stored:
        """Fetch a whole log; the leader epochs in the batches are each broker's own, and are left out."""
        start = self._offset(topic, partition, EARLIEST)
        end = self._offset(topic, partition, LATEST)
        batches: list[bytes] = []
        next_offset = start
        while next_offset < end:
            fetched = batches_in(self._fetch(topic, partition, next_offset))
            assert fetched, f"nothing at offset {next_offset} of {topic}-{partition}, which ends at {end}"
            batches += fetched
            next_offset = last_offset_of(fetched[-1]) + 1
        return Stored(start, end, tuple(without_leader_epoch(batch) for batch in batches))

    def _fetch(self, topic: str, partition: int, offset: int) -> bytes:
        body: Mapping[str, Value] = {
            "topics": [{"name": topic, "partitions": [{"index": partition, "fetch_offset": offset}]}]
        }
        result = self._first_partition(self._connection.call(raw_apis.FETCH, 12, body))
        assert result.integer("error_code") == NO_ERROR, result
        return result.data("records")

    def wait_until_led(self, topic: str, partition: int = 0) -> None:
        """Return when the broker leads the partition: a Kafka that starts answers before it does."""
        deadline = time.monotonic() + STARTED_SECONDS_MAX
        while (answer := self._listed(topic, partition, LATEST)).integer("error_code") != NO_ERROR:
            assert answer.integer("error_code") in NOT_LED_YET and time.monotonic() < deadline, answer
            time.sleep(0.05)

    def wait_for_end(self, topic: str, offset: int, partition: int = 0) -> None:
        """Return when the log ends there: a Kafka says that a transaction is over before it writes the marker."""
        deadline = time.monotonic() + STARTED_SECONDS_MAX
        while (end := self._offset(topic, partition, LATEST)) != offset:
            assert time.monotonic() < deadline, f"{topic}-{partition} ends at {end}"
            time.sleep(0.05)

    def _offset(self, topic: str, partition: int, timestamp: int) -> int:
        result = self._listed(topic, partition, timestamp)
        assert result.integer("error_code") == NO_ERROR, result
        return result.integer("offset")

    def _listed(self, topic: str, partition: int, timestamp: int) -> Struct:
        body: Mapping[str, Value] = {
            "topics": [{"name": topic, "partitions": [{"index": partition, "timestamp": timestamp}]}]
        }
        return self._first_partition(self._connection.call(raw_apis.LIST_OFFSETS, 6, body))

    @staticmethod
    def _first_partition(answer: Struct) -> Struct:
        return answer.structs("topics")[0].structs("partitions")[0]


@contextmanager
def log_client(address: str) -> Generator[LogClient, None, None]:
    client = LogClient(address)
    try:
        yield client
    finally:
        client.close()


def batches_in(data: bytes) -> list[bytes]:
    """The whole batches that data begins with."""
    batches: list[bytes] = []
    position = 0
    while position + LENGTH_PREFIX_BYTES <= len(data):
        length = int.from_bytes(data[position + LENGTH_POSITION : position + LENGTH_PREFIX_BYTES], "big")
        end = position + LENGTH_PREFIX_BYTES + length
        if end > len(data):
            break
        batches.append(data[position:end])
        position = end
    return batches


def last_offset_of(batch: bytes) -> int:
    return int.from_bytes(batch[:8], "big") + int.from_bytes(batch[23:27], "big")


def without_leader_epoch(batch: bytes) -> bytes:
    return batch[:LENGTH_PREFIX_BYTES] + bytes(4) + batch[16:]
