"""An idempotent producer and a consumer with a topic of their own, beside the fuzzed connections.

No drawn request names this topic, and it sets each config that a default of the broker could change. So every
acknowledged record must be fetched once and in order.
"""

from __future__ import annotations

import threading

from fauxka.protocol.batches.record_batch import LOG_OVERHEAD, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch, decode_batch

from ..broker.blocking_client import BlockingClient
from ..protocol.batch_bytes import NOW_MS

TOPIC = "control"
CONFIGS = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "1048588",
    "message.timestamp.after.max.ms": "9223372036854775807",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": "-1",
    "segment.bytes": "1048576",
}
RECORDS_OF_A_BATCH = 3
# The consumer reads behind the producer, and reads the whole topic at the end.
BATCHES_OF_A_FETCH = 20
PAUSE_SECONDS = 0.005
END_SECONDS_MAX = 60.0


class ControlTopic:
    """The producer and the consumer, in a thread."""

    def __init__(self, address: str) -> None:
        self._client = BlockingClient(address)
        created = self._client.create_topic(TOPIC, 1, CONFIGS)
        assert created.error_code == 0, created
        self._producer_id = self._client.producer_id()
        self._acknowledged = 0
        self._consumed = 0
        self._failure: Exception | None = None
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def check(self) -> int:
        """Return how many records were acknowledged. Raises the exception that ended the producer or the consumer."""
        if self._failure is not None:
            raise self._failure
        return self._acknowledged

    def end(self) -> int:
        """Stop, read the whole topic once more, and return how many records were acknowledged. Raises as check does."""
        self._stop()
        self.check()
        self._consumed = 0
        self._consume()
        return self._acknowledged

    def close(self) -> None:
        self._stop()
        self._client.__exit__()

    def _stop(self) -> None:
        self._is_ending.set()
        self._thread.join(END_SECONDS_MAX)

    def _run(self) -> None:
        try:
            while not self._is_ending.wait(PAUSE_SECONDS):
                self._produce()
                if self._acknowledged % (RECORDS_OF_A_BATCH * BATCHES_OF_A_FETCH) == 0:
                    self._consume()
        except Exception as error:
            self._failure = error

    def _produce(self) -> None:
        first = self._acknowledged
        records = [Record(b"%d" % number, timestamp=NOW_MS) for number in range(first, first + RECORDS_OF_A_BATCH)]
        options = BatchOptions(producer_id=self._producer_id, producer_epoch=0, base_sequence=first)
        response = self._client.produce(TOPIC, build_batch(records, options))
        assert response.error_code == 0, f"the control producer got {response}"
        assert response.base_offset == first, f"records {first} and later were stored at offset {response.base_offset}"
        self._acknowledged = first + RECORDS_OF_A_BATCH

    def _consume(self) -> None:
        """Fetch from the last consumed record to the last acknowledged one. Raises AssertionError."""
        while self._consumed < self._acknowledged:
            response = self._client.fetch(TOPIC, self._consumed)
            assert response.error_code == 0, f"the control consumer got error code {response.error_code}"
            data = response.records or b""
            assert data, f"no records at offset {self._consumed} of {self._acknowledged}"
            while data:
                size = parse_header(data).length + LOG_OVERHEAD
                for record in decode_batch(data[:size]):
                    if record.offset >= self._consumed:
                        expected = b"%d" % self._consumed
                        is_next = (record.offset, record.value) == (self._consumed, expected)
                        assert is_next, f"expected record {expected!r} at {self._consumed}, got {record}"
                        self._consumed += 1
                data = data[size:]
