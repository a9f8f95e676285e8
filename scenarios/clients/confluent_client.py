"""confluent-kafka, the Python binding of librdkafka, as the producer of a scenario.

Its batches have one event each. With idempotence, librdkafka sends another batch of a partition only while fewer than
five events are in flight: it compares RD_KAFKA_IDEMP_MAX_INFLIGHT with a count of messages (seen with 2.16.0).
"""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...protocol.error_codes import ErrorCode
from ..steps import Batch
from .client import (
    SETTLE_SECONDS_MAX,
    ClientOptions,
    ClientStuck,
    Delivery,
    events_of,
    headers_of,
    value_of,
)
from .login import librdkafka_config

# Long enough for all events of a batch to join it.
LINGER_MS = 25
BACKOFF_MS = 20
POLL_SECONDS = 0.01
_PURGED = ("_PURGE_QUEUE", "_PURGE_INFLIGHT")

# The notes of the timeline replace its log.
_silent = logging.getLogger("fauxka.scenarios.confluent")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


class ConfluentClient:
    """Drives confluent_kafka.Producer."""

    is_pipelining = True
    batch_events_max: int | None = 1

    def __init__(self, options: ClientOptions) -> None:
        """Start the producer. Raises ImportError."""
        self._package = importlib.import_module("confluent_kafka")
        self.deliveries: list[Delivery] = []
        self._options = options
        self._gave_up = False
        self._has_noted_tls = False
        self._producer = self._new_producer()

    def _new_producer(self) -> Any:
        options = self._options
        producer = self._package.Producer(
            {
                **({} if options.transactional_id is None else {"transactional.id": options.transactional_id}),
                **librdkafka_config(options.login),
                **({} if options.ca is None else {"security.protocol": "SSL", "ssl.ca.location": options.ca}),
                "bootstrap.servers": options.bootstrap_servers,
                "client.id": options.client_id,
                "enable.idempotence": options.is_idempotent,
                "acks": options.acks,
                "linger.ms": LINGER_MS,
                "socket.timeout.ms": options.request_ms,
                "request.timeout.ms": options.request_ms,
                "message.timeout.ms": options.delivery_ms,
                "retry.backoff.ms": BACKOFF_MS,
                "retry.backoff.max.ms": 4 * BACKOFF_MS,
                "reconnect.backoff.ms": BACKOFF_MS,
                "reconnect.backoff.max.ms": 4 * BACKOFF_MS,
                "error_cb": self._take_error,
                "throttle_cb": self._take_throttle,
            },
            logger=_silent,
        )
        if options.transactional_id is not None:
            producer.init_transactions(SETTLE_SECONDS_MAX)
        return producer

    def begin_transaction(self) -> None:
        """Begin a transaction, without a request."""
        self._producer.begin_transaction()

    def end_transaction(self, *, commit: bool) -> str:
        """Wait for the batches in flight, and commit or abort; returns the error name."""
        try:
            if commit:
                self._producer.commit_transaction(SETTLE_SECONDS_MAX)
            else:
                self._producer.abort_transaction(SETTLE_SECONDS_MAX)
        except self._package.KafkaException as error:
            return str(error.args[0].name())
        return ErrorCode.NONE.name

    def _take_error(self, error: Any) -> None:
        if error.name() == "_SSL" and not self._has_noted_tls:
            self._has_noted_tls = True
            self._options.note("librdkafka reports _SSL and connects again: the broker's certificate is not valid")
        if error.fatal() and not self._gave_up:
            self._gave_up = True
            self._options.note(f"librdkafka stops with a fatal error: {error.str().split(' (')[0]}")

    def _take_throttle(self, event: Any) -> None:
        # Reported once more when it is over.
        if event.throttle_time > 0:
            self._options.note("librdkafka reports a throttle time")

    def send(self, batch: Batch, partition: int) -> None:
        """Send the events of a batch."""
        delivery = Delivery(batch.name, partition)
        self.deliveries.append(delivery)
        for event in events_of(batch):
            try:
                self._producer.produce(
                    self._options.topic,
                    value=value_of(event),
                    partition=partition,
                    headers=list(headers_of(batch, event)),
                    on_delivery=reporting_to(delivery),
                )
            except self._package.KafkaException as error:
                # After a fatal error the producer refuses all events.
                delivery.error = error.args[0].name()
                return
        self._producer.poll(0)

    def settle(self, *, retries: bool) -> None:
        """Wait for all delivery reports."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while len(self._producer):
            if time.monotonic() > deadline:
                raise ClientStuck(f"librdkafka has no response to {len(self._producer)} events")
            try:
                self._producer.flush(POLL_SECONDS)
            except self._package.KafkaException as error:
                # Raised by every call after a fatal error; the delivery reports have the result of each event.
                self._take_error(error.args[0])

    def give_up(self) -> None:
        """Wait for the producer's message.timeout.ms."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while len(self._producer) and time.monotonic() < deadline:
            self._producer.poll(POLL_SECONDS)
        self._options.note("message.timeout.ms expires: the application gives up")

    def restart(self) -> None:
        """Drop all queued and in-flight events, and start a new producer."""
        self._purge()
        self._options = self._options.restarted()
        self._producer = self._new_producer()

    def close(self) -> None:
        """Drop all queued and in-flight events."""
        self._purge()

    def _purge(self) -> None:
        self._producer.purge(in_queue=True, in_flight=True, blocking=True)
        with suppress(self._package.KafkaException):
            self._producer.flush(SETTLE_SECONDS_MAX)


def reporting_to(delivery: Delivery) -> Callable[[Any, Any], None]:
    """Return the callback that sets the offset of the first event of a delivery, or the first error."""

    def report(error: Any, message: Any) -> None:
        if error is not None:
            if error.name() not in _PURGED and delivery.error in ("none", "NONE"):
                delivery.error, delivery.offset = error.name(), None
        elif delivery.error in ("none", "NONE"):
            offset = message.offset()
            delivery.error = "NONE"
            delivery.offset = offset if delivery.offset is None else min(delivery.offset, offset)

    return report
