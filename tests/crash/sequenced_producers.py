"""A raw client with several idempotent producers, each with one batch in flight.

A batch without an acknowledgement is sent again, with the same bytes and sequence, until it is acknowledged. Every
response must have no error: a broker that lost a batch or the state of a producer would return one.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from ..golden import raw_apis
from ..golden.raw_apis_transactions import INIT_PRODUCER_ID
from ..golden.raw_client import RawConnection
from ..golden.raw_schema import Api, Struct, Value

TOPIC = "sequenced"
PARTITION_COUNT = 3
# The number of producers with a batch in flight; every connection replaces one of them.
ACTIVE_PRODUCERS = 6
PRODUCE_VERSION, INIT_PRODUCER_ID_VERSION, DELETE_RECORDS_VERSION = 9, 3, 2
NO_ERROR = 0
RECORDS_MAX = 4
VALUE_BYTES_MAX = 600
# One of many batches has this size, so that its write is more than a page.
LARGE_VALUE_BYTES = 12_000
LARGE_EVERY = 25
# One DeleteRecords after this many acknowledged batches, where records are deleted.
DELETE_EVERY = 60
# After base offset, length and leader epoch, a batch is stored as it was sent.
STAMPED_BYTES = 16
# A broker responds within milliseconds; a longer wait fails the test.
RESPONSE_SECONDS_MAX = 20.0


@dataclass(slots=True)
class SequencedProducer:
    """One producer of one partition: its batches in order, the last of which may be in flight."""

    producer_id: int
    partition: int
    next_sequence: int = 0
    batches: list[bytes] = field(default_factory=list[bytes])
    base_offsets: list[int] = field(default_factory=list[int])

    @property
    def in_flight(self) -> bytes | None:
        return self.batches[-1] if len(self.batches) > len(self.base_offsets) else None

    def next_batch(self, random: Random) -> bytes:
        """Build the next batch."""
        assert self.in_flight is None
        size = LARGE_VALUE_BYTES if random.randrange(LARGE_EVERY) == 0 else random.randrange(VALUE_BYTES_MAX)
        now_ms = time.time_ns() // 1_000_000
        number = len(self.batches)
        records = [
            Record(b"producer %d batch %d record %d " % (self.producer_id, number, index) + bytes(size), None, now_ms)
            for index in range(random.randint(1, RECORDS_MAX))
        ]
        options = BatchOptions(producer_id=self.producer_id, producer_epoch=0, base_sequence=self.next_sequence)
        batch = build_batch(records, options)
        self.next_sequence += len(records)
        self.batches.append(batch)
        return batch


@dataclass(slots=True)
class SequencedProducers:
    """All producers so far, of which only the last ones produce."""

    address: str
    random: Random
    is_deleting: bool = False
    producers: list[SequencedProducer] = field(default_factory=list[SequencedProducer])
    retries: int = 0
    # The offset of the last DeleteRecords, by partition.
    deleted_offsets: dict[int, int] = field(default_factory=dict[int, int])
    _acknowledged: int = 0
    _connection: RawConnection | None = None
    _owed: deque[tuple[Api, int, Callable[[Struct], None]]] = field(
        default_factory=deque[tuple[Api, int, Callable[[Struct], None]]]
    )

    def produce_until_closed(self) -> None:
        """Connect, repeat the batches in flight, and produce until the connection is lost."""
        try:
            self._connect()
            self._renew_producers()
            for producer in self.producers[-ACTIVE_PRODUCERS:]:
                self._send_batch(producer, producer.next_batch(self.random))
            while True:
                self._receive()
        except ConnectionError:
            self._disconnect()

    def finish(self) -> None:
        """Connect, and wait until nothing is in flight, without sending new batches."""
        self._connect()
        self._disconnect()

    def _connect(self) -> None:
        """Connect and repeat the batches in flight on the last connection until they are acknowledged."""
        self._connection = RawConnection(self.address, client_id="crash", seconds_max=RESPONSE_SECONDS_MAX)
        waiting = [producer for producer in self.producers if producer.in_flight is not None]
        self.retries += len(waiting)
        for producer in waiting:
            assert producer.in_flight is not None
            self._send_batch(producer, producer.in_flight, is_last=True)
        while self._owed:
            self._receive()

    def _disconnect(self) -> None:
        self._owed.clear()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _renew_producers(self) -> None:
        """Add a producer, or the initial ones; the oldest one stops producing."""
        count = 1 if self.producers else ACTIVE_PRODUCERS
        for _ in range(count):
            self._send(INIT_PRODUCER_ID, INIT_PRODUCER_ID_VERSION, {"transactional_id": None}, self._initialized)
        while self._owed:
            self._receive()

    def _initialized(self, answer: Struct) -> None:
        assert answer.integer("error_code") == NO_ERROR, answer
        producer_id = answer.integer("producer_id")
        given = {producer.producer_id for producer in self.producers}
        assert producer_id not in given, f"producer id {producer_id} was given a second time"
        self.producers.append(SequencedProducer(producer_id, len(self.producers) % PARTITION_COUNT))

    def _send_batch(self, producer: SequencedProducer, batch: bytes, *, is_last: bool = False) -> None:
        def answered(answer: Struct) -> None:
            result = answer.structs("topics")[0].structs("partitions")[0]
            which = f"batch {len(producer.base_offsets)} of producer {producer.producer_id}"
            assert result.integer("error_code") == NO_ERROR, f"{which}: {result}"
            producer.base_offsets.append(result.integer("base_offset"))
            self._acknowledged += 1
            if is_last:
                return
            if self.is_deleting and self._acknowledged % DELETE_EVERY == 0:
                self._send_delete_records(producer)
            self._send_batch(producer, producer.next_batch(self.random))

        partitions: list[Value] = [{"index": producer.partition, "records": batch}]
        body: Mapping[str, Value] = {"acks": -1, "topics": [{"name": TOPIC, "partitions": partitions}]}
        self._send(raw_apis.PRODUCE, PRODUCE_VERSION, body, answered)

    def _send_delete_records(self, producer: SequencedProducer) -> None:
        """Delete records up to a drawn offset after the last deleted one."""
        partition = producer.partition
        before = self.deleted_offsets.get(partition, 0)
        offset = self.random.randint(before, max(before, producer.base_offsets[-1]))
        self.deleted_offsets[partition] = offset

        def answered(answer: Struct) -> None:
            result = answer.structs("topics")[0].structs("partitions")[0]
            assert result.integer("error_code") == NO_ERROR, result
            assert result.integer("low_watermark") >= offset, result

        partitions: list[Value] = [{"index": partition, "offset": offset}]
        body: Mapping[str, Value] = {"topics": [{"name": TOPIC, "partitions": partitions}]}
        self._send(raw_apis.DELETE_RECORDS, DELETE_RECORDS_VERSION, body, answered)

    def _send(self, api: Api, version: int, body: Mapping[str, Value], answered: Callable[[Struct], None]) -> None:
        assert self._connection is not None
        self._owed.append((api, version, answered))
        self._connection.send_frame(self._connection.request(api, version, body))

    def _receive(self) -> None:
        assert self._connection is not None
        response = self._connection.receive_frame()
        api, version, answered = self._owed.popleft()
        answered(self._connection.parse(api, version, response))
