"""kafka-python as the producer of a scenario; with idempotence it has one batch of a partition on its way at a time."""

from __future__ import annotations

import importlib
import logging
import time
import warnings
from typing import Any

from ..scenario import Batch
from .client import (
    SETTLE_SECONDS_MAX,
    ClientOptions,
    ClientStuck,
    ClientUnavailable,
    Delivery,
    events_of,
    headers_of,
    value_of,
)

# Long enough for the events of a batch to be handed over, so that they go out together.
LINGER_MS = 25
BACKOFF_MS = 20
POLL_SECONDS = 0.01


class KafkaPythonClient:
    """Drives kafka.KafkaProducer."""

    is_pipelining = False
    batch_events_max: int | None = None

    def __init__(self, options: ClientOptions) -> None:
        """Raises ClientUnavailable where the package is missing."""
        try:
            with warnings.catch_warnings():
                # It reads its own files by functions that Python means to take away.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._package = importlib.import_module("kafka")
        except ImportError as error:
            raise ClientUnavailable("the client kafka-python needs the package kafka-python") from error
        # What it logs is told as notes or is noise.
        logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
        self.deliveries: list[Delivery] = []
        self._options = options
        self._waiting: list[tuple[Delivery, Any]] = []
        self._producer = self._new_producer()

    def _new_producer(self) -> Any:
        options = self._options
        return self._package.KafkaProducer(
            bootstrap_servers=options.bootstrap_servers,
            enable_idempotence=options.is_idempotent,
            acks="all",
            linger_ms=LINGER_MS,
            request_timeout_ms=options.request_ms,
            delivery_timeout_ms=options.delivery_ms,
            retry_backoff_ms=BACKOFF_MS,
            reconnect_backoff_ms=BACKOFF_MS,
            reconnect_backoff_max_ms=4 * BACKOFF_MS,
        )

    def send(self, batch: Batch, partition: int) -> None:
        """Hand the events over."""
        delivery = Delivery(batch.name, partition)
        self.deliveries.append(delivery)
        for event in events_of(batch):
            try:
                future = self._producer.send(
                    self._options.topic,
                    value=value_of(event),
                    partition=partition,
                    headers=list(headers_of(batch, event)),
                )
            except Exception as error:
                # A producer that gave up for good takes nothing more; any of its errors may come here.
                delivery.error = type(error).__name__
                return
            self._waiting.append((delivery, future))

    def settle(self, *, retries: bool) -> None:
        """Wait for all reports."""
        self._wait(SETTLE_SECONDS_MAX)
        if self._waiting:
            raise ClientStuck(f"kafka-python has no answer to {len(self._waiting)} events after {SETTLE_SECONDS_MAX} s")

    def give_up(self) -> None:
        """Wait as long as the application wants to: its futures may stay open behind delivery_timeout_ms."""
        self._wait(self._options.delivery_ms / 1000)
        self._options.note("the application's patience is over: it gives up")
        self._waiting = []

    def restart(self) -> None:
        """Drop everything that is queued and on its way."""
        self._end()
        self._producer = self._new_producer()

    def close(self) -> None:
        """Drop what is left."""
        self._end()

    def _end(self) -> None:
        """End the thread that sends before the producer, whose close waits for what is on its way, or raises."""
        self._waiting = []
        sender = self._producer._sender
        sender.force_close()
        sender.join(SETTLE_SECONDS_MAX)
        self._producer.close(timeout=0)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not all(future.is_done for _, future in self._waiting) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        for delivery, future in self._waiting:
            if future.is_done:
                take_result(delivery, future)
        self._waiting = [(delivery, future) for delivery, future in self._waiting if not future.is_done]


def take_result(delivery: Delivery, future: Any) -> None:
    """Fill in a delivery: the offset of its first event, or the first error."""
    if future.failed():
        delivery.error, delivery.offset = type(future.exception).__name__, None
    elif delivery.offset is None and delivery.error in ("none", "NONE"):
        delivery.error, delivery.offset = "NONE", future.value.offset
