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

TOPIC = "reported"
PARTITION_COUNT = 4
# Few enough to be worked off in a moment when the broker is back.
OUTSTANDING_MAX = 300
VALUE_BYTES_MAX = 300
POLL_SECONDS = 0.002
FLUSH_SECONDS_MAX = 60.0
# Far longer than a restart, so that no record is given up for its age.
DELIVERY_MS_MAX = 120_000
# Quick enough to be there again while the broker lives, which may be for 20 ms.
RECONNECT_MS, RECONNECT_MS_MAX = 5, 20
# In a report: the broker had the record from an earlier attempt, and librdkafka was not told where.
OFFSET_NOT_TOLD = -1
# It would write a line for each refused connection and each fatal error, which are what this is about.
QUIET = logging.Logger("librdkafka", level=logging.CRITICAL + 1)


@dataclass(slots=True)
class SentRecord:
    """A record that was given to librdkafka.

    life: of the producer that sent it; number: counts the records of a life in a partition.
    offset: where it was reported to be, OFFSET_NOT_TOLD where the report had none; None where no report said that it
    is stored.
    """

    partition: int
    life: int
    number: int
    offset: int | None = None


@dataclass(slots=True)
class ReportingProducer:
    """One producer after the other, fed by a thread of its own."""

    address: str
    random: Random
    records: dict[bytes, SentRecord] = field(default_factory=dict[bytes, SentRecord])
    fatal_errors: list[str] = field(default_factory=list[str])
    # Set while the producer of this life has had a report: a new one takes a second until it has its producer id.
    is_reporting: threading.Event = field(default_factory=threading.Event)
    _outstanding: int = 0
    _is_fatal: bool = False
    _is_stopping: bool = False
    _is_abandoned: bool = False
    _failure: BaseException | None = None
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="reporting producer")
        self._thread.start()

    def stop(self) -> None:
        """Return when everything that was sent is reported; the broker has to be there."""
        self._is_stopping = True
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def abandon(self) -> None:
        """Stop after a failure of something else, without waiting for a broker that may be gone."""
        self._is_stopping = self._is_abandoned = True
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._is_stopping:
                self._live(len(self.fatal_errors))
        except BaseException as error:
            self._failure = error

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
            # What it still has would never be sent, or nobody waits for it.
            producer.purge()
        deadline = time.monotonic() + FLUSH_SECONDS_MAX
        while self._outstanding and not self._is_abandoned:
            assert time.monotonic() < deadline, f"{self._outstanding} records were never reported"
            self._poll(producer, POLL_SECONDS)

    def _poll(self, producer: Producer, seconds: float) -> None:
        """Serve the reports that have come; a fatal error is raised here as well."""
        try:
            producer.poll(seconds)
        except KafkaException as error:
            self._failed(cast(KafkaError, error.args[0]))

    def _new_producer(self) -> Producer:
        return Producer(
            {
                "bootstrap.servers": self.address,
                "enable.idempotence": True,
                # One request at a time in half of the lives, where every retry is one the broker can know.
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
            # Fatal since the last poll: this record was not taken.
            del self.records[name]
            self._outstanding -= 1
            self._failed(cast(KafkaError, error.args[0]))

    def _failed(self, error: KafkaError) -> None:
        if not self._is_fatal and (error.fatal() or error.code() == KafkaError._FATAL):
            self._is_fatal = True
            self.fatal_errors.append(error.str())
