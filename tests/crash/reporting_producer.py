"""confluent-kafka with enable.idempotence: the log must contain the batches with a delivery report.

librdkafka has several requests in flight. A restarted broker recognises only the newest batch of a producer, as Kafka
does. If it stored several batches whose responses were lost, the retry of the first is out of order, a fatal error in
librdkafka. The producer is then replaced, and its unreported batches may or may not be stored.
"""

import logging
import threading
import time
from dataclasses import dataclass, field
from random import Random
from typing import cast

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from .checked_thread import CheckedThread

TOPIC = "reported"
PARTITION_COUNT = 4
# Few enough to be sent quickly when the broker is back.
OUTSTANDING_MAX = 300
VALUE_BYTES_MAX = 300
POLL_SECONDS = 0.002
FLUSH_SECONDS_MAX = 60.0
# Far longer than a restart, so that no record expires.
DELIVERY_MS_MAX = 120_000
# Fast enough to reconnect during the life of a broker, which may be 20 ms.
RECONNECT_MS, RECONNECT_MS_MAX = 5, 20
# In a report: the broker had the record from an earlier attempt and returned no offset.
OFFSET_NOT_TOLD = -1
# It would log each refused connection and each fatal error, which are expected here.
QUIET = logging.Logger("librdkafka", level=logging.CRITICAL + 1)


@dataclass(slots=True)
class SentRecord:
    """A record that was sent with librdkafka.

    life: of the producer that sent it; number: counts the records of a life in a partition.
    offset: the reported offset, OFFSET_NOT_TOLD if the report had none; None without a successful report.
    """

    partition: int
    life: int
    number: int
    offset: int | None = None


@dataclass(slots=True)
class ReportingProducer:
    """Consecutive producers that send from a thread."""

    address: str
    random: Random
    records: dict[bytes, SentRecord] = field(default_factory=dict[bytes, SentRecord])
    fatal_errors: list[str] = field(default_factory=list[str])
    # Set once the current producer has a report; a new one needs a second to get its producer id.
    is_reporting: threading.Event = field(default_factory=threading.Event)
    _outstanding: int = 0
    _is_fatal: bool = False
    _is_stopping: bool = False
    _is_abandoned: bool = False
    _thread: CheckedThread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = CheckedThread("reporting producer", self._run)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Wait until every sent record is reported; the broker must be running."""
        self._is_stopping = True
        self._thread.finish()

    def abandon(self) -> None:
        """Stop after another failure, without waiting for the broker."""
        self._is_stopping = self._is_abandoned = True
        self._thread.join()

    def _run(self) -> None:
        while not self._is_stopping:
            self._live(len(self.fatal_errors))

    def _live(self, life: int) -> None:
        """Produce until told to stop or until a fatal error."""
        self._is_fatal = False
        self.is_reporting.clear()
        producer = self._new_producer()
        numbers = [0] * PARTITION_COUNT
        while not self._is_stopping and not self._is_fatal:
            if self._outstanding < OUTSTANDING_MAX:
                self._send(producer, life, numbers)
            self._poll(producer, 0 if self._outstanding < OUTSTANDING_MAX else POLL_SECONDS)
        if self._is_fatal or self._is_abandoned:
            # Its remaining records would never be sent or are not needed.
            producer.purge()
        deadline = time.monotonic() + FLUSH_SECONDS_MAX
        while self._outstanding and not self._is_abandoned:
            assert time.monotonic() < deadline, f"{self._outstanding} records were never reported"
            self._poll(producer, POLL_SECONDS)

    def _poll(self, producer: Producer, seconds: float) -> None:
        """Process the delivery reports; raises a fatal error."""
        try:
            producer.poll(seconds)
        except KafkaException as error:
            self._failed(cast(KafkaError, error.args[0]))

    def _new_producer(self) -> Producer:
        return Producer(
            {
                "bootstrap.servers": self.address,
                "enable.idempotence": True,
                # One request at a time in half of the lives, so that the broker can recognise every retry.
                "max.in.flight.requests.per.connection": self.random.choice([1, 5]),
                "linger.ms": self.random.choice([0, 1, 5]),
                "batch.num.messages": self.random.choice([1, 10, 100]),
                "message.timeout.ms": DELIVERY_MS_MAX,
                "reconnect.backoff.ms": RECONNECT_MS,
                "reconnect.backoff.max.ms": RECONNECT_MS_MAX,
                "retry.backoff.ms": RECONNECT_MS,
                "retry.backoff.max.ms": RECONNECT_MS_MAX,
                "error_cb": self._failed,
                "logger": QUIET,
            }
        )

    def _send(self, producer: Producer, life: int, numbers: list[int]) -> None:
        partition = self.random.randrange(PARTITION_COUNT)
        number = numbers[partition]
        numbers[partition] += 1
        record = SentRecord(partition, life, number)
        name = b"%d/%d/%d" % (life, partition, number)
        self.records[name] = record
        self._outstanding += 1

        def delivered(error: KafkaError | None, message: Message) -> None:
            self._outstanding -= 1
            if error is not None:
                self._failed(error)
                return
            offset = message.offset()
            self.is_reporting.set()
            record.offset = OFFSET_NOT_TOLD if offset is None or offset < 0 else offset

        value = name + b" " + bytes(self.random.randrange(VALUE_BYTES_MAX))
        try:
            producer.produce(TOPIC, value, partition=partition, on_delivery=delivered)
        except KafkaException as error:
            # A fatal error since the last poll: this record was not accepted.
            del self.records[name]
            self._outstanding -= 1
            self._failed(cast(KafkaError, error.args[0]))

    def _failed(self, error: KafkaError) -> None:
        if not self._is_fatal and (error.fatal() or error.code() == KafkaError._FATAL):
            self._is_fatal = True
            self.fatal_errors.append(error.str())
