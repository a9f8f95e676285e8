"""kafka-python as the producer of a scenario; with idempotence it has one batch per partition in flight."""

from __future__ import annotations

import importlib
import logging
import time
import warnings
from typing import Any

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
from .login import OAUTHBEARER, SECURITY_PROTOCOL, Login

# Long enough for all events of a batch to join it: to send a hundred takes 10 ms, and more under load.
LINGER_MS = 100
BACKOFF_MS = 20
POLL_SECONDS = 0.01


class KafkaPythonClient:
    """Drives kafka.KafkaProducer."""

    is_pipelining = False
    batch_events_max: int | None = None

    def __init__(self, options: ClientOptions) -> None:
        """Start the producer. Raises ImportError."""
        with warnings.catch_warnings():
            # It imports with deprecated functions of Python.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._package = importlib.import_module("kafka")
        # The notes of the timeline replace its log.
        logging.getLogger("kafka").setLevel(logging.CRITICAL + 1)
        self.deliveries: list[Delivery] = []
        self._options = options
        self._waiting: list[tuple[Delivery, Any]] = []
        self._producer = self._new_producer()

    def _new_producer(self) -> Any:
        options = self._options
        return self._package.KafkaProducer(
            bootstrap_servers=options.bootstrap_servers,
            **({} if options.ca is None else {"security_protocol": "SSL", "ssl_cafile": options.ca}),
            client_id=options.client_id,
            enable_idempotence=options.is_idempotent,
            acks="all" if options.acks == "all" else int(options.acks),
            linger_ms=LINGER_MS,
            request_timeout_ms=options.request_ms,
            delivery_timeout_ms=options.delivery_ms,
            retry_backoff_ms=BACKOFF_MS,
            reconnect_backoff_ms=BACKOFF_MS,
            reconnect_backoff_max_ms=4 * BACKOFF_MS,
            **({} if options.login is None else login_options(options.login)),
        )

    def send(self, batch: Batch, partition: int) -> None:
        """Send the events of a batch."""
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
                # After a fatal error the producer refuses all events, with any of its exceptions.
                delivery.error = type(error).__name__
                return
            self._waiting.append((delivery, future))

    def settle(self, *, retries: bool) -> None:
        """Wait for all futures."""
        self._wait(SETTLE_SECONDS_MAX)
        if self._waiting:
            count = len(self._waiting)
            raise ClientStuck(f"kafka-python has no response to {count} events after {SETTLE_SECONDS_MAX} s")

    def give_up(self) -> None:
        """Wait for the delivery timeout of the application; futures may stay open after delivery_timeout_ms."""
        self._wait(self._options.delivery_ms / 1000)
        self._options.note("the application's delivery timeout expires: it gives up")
        self._waiting = []

    def restart(self) -> None:
        """Drop all queued and in-flight events, and start a new producer."""
        self._end()
        self._options = self._options.restarted()
        self._producer = self._new_producer()

    def close(self) -> None:
        """Drop all queued and in-flight events."""
        self._end()

    def _end(self) -> None:
        """Stop the sender thread before the producer, whose close would wait for in-flight events or raise."""
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
                apply_result(delivery, future)
        self._waiting = [(delivery, future) for delivery, future in self._waiting if not future.is_done]


def login_options(login: Login) -> dict[str, object]:
    """Return the options of kafka-python for a login."""
    options: dict[str, object] = {"security_protocol": SECURITY_PROTOCOL, "sasl_mechanism": login.mechanism}
    if login.mechanism != OAUTHBEARER:
        return {**options, "sasl_plain_username": login.user, "sasl_plain_password": login.password}
    provider: Any = importlib.import_module("kafka.net.sasl.oauth").AbstractTokenProvider

    def token(self: object) -> str:
        return login.fetch_token()

    return {**options, "sasl_oauth_token_provider": type("TokenProvider", (provider,), {"token": token})()}


def apply_result(delivery: Delivery, future: Any) -> None:
    """Set the offset of the first event of a delivery, or the first error."""
    if future.failed():
        delivery.error, delivery.offset = type(future.exception).__name__, None
    elif delivery.offset is None and delivery.error in ("none", "NONE"):
        delivery.error, delivery.offset = "NONE", future.value.offset
