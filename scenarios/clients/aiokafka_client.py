"""aiokafka as the producer of a scenario, on an event loop in its own thread.

It has one batch per partition in flight. send_batch sends whole batches, so none is split.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import ssl
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

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

BACKOFF_MS = 20
STOP_SECONDS_MAX = 0.5

Result = TypeVar("Result")


class AiokafkaClient:
    """Drives aiokafka.AIOKafkaProducer."""

    is_pipelining = False
    batch_events_max: int | None = None

    def __init__(self, options: ClientOptions) -> None:
        """Start the producer. Raises ImportError."""
        self._package = importlib.import_module("aiokafka")
        self.deliveries: list[Delivery] = []
        # The notes of the timeline replace its log.
        logging.getLogger("aiokafka").setLevel(logging.CRITICAL + 1)
        self._options = options
        self._loop = asyncio.new_event_loop()
        # The futures of the batches have the exceptions of the producer's tasks.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = threading.Thread(target=self._loop.run_forever, name="aiokafka", daemon=True)
        self._thread.start()
        self._waiting: list[tuple[Delivery, asyncio.Future[Any]]] = []
        self._producer = self._run(self._new_producer())

    async def _new_producer(self) -> Any:
        options = self._options
        context = None if options.ca is None else ssl.create_default_context(cafile=options.ca)
        producer = self._package.AIOKafkaProducer(
            bootstrap_servers=options.bootstrap_servers,
            **({} if context is None else {"security_protocol": "SSL", "ssl_context": context}),
            client_id=options.client_id,
            enable_idempotence=options.is_idempotent,
            acks="all" if options.acks == "all" else int(options.acks),
            request_timeout_ms=options.request_ms,
            retry_backoff_ms=BACKOFF_MS,
            **({} if options.login is None else login_options(options.login)),
        )
        await producer.start()
        return producer

    def send(self, batch: Batch, partition: int) -> None:
        """Send a batch."""
        delivery = Delivery(batch.name, partition)
        self.deliveries.append(delivery)
        self._run(self._send(batch, delivery))

    async def _send(self, batch: Batch, delivery: Delivery) -> None:
        builder = self._producer.create_batch()
        for event in events_of(batch):
            builder.append(key=None, value=value_of(event), timestamp=None, headers=list(headers_of(batch, event)))
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while time.monotonic() < deadline:
            try:
                future = await self._producer.send_batch(builder, self._options.topic, partition=delivery.partition)
            except self._package.errors.KafkaTimeoutError:
                # The queue is full while another batch is in flight.
                continue
            except Exception as error:
                # A producer whose sender has ended refuses batches with any of its exceptions.
                delivery.error = type(error).__name__
                return
            self._waiting.append((delivery, future))
            return
        raise ClientStuck(f"aiokafka did not accept {batch.name} within {SETTLE_SECONDS_MAX} s")

    def settle(self, *, retries: bool) -> None:
        """Wait for all responses."""
        if self._run(self._wait(SETTLE_SECONDS_MAX)):
            raise ClientStuck(f"aiokafka has batches without a response after {SETTLE_SECONDS_MAX} s")

    def give_up(self) -> None:
        """Wait for the delivery timeout of the application."""
        self._run(self._wait(self._options.delivery_ms / 1000))
        self._options.note("the application's delivery timeout expires: it gives up")
        self._waiting = []

    async def _wait(self, seconds: float) -> int:
        futures = [future for _, future in self._waiting]
        if futures:
            await asyncio.wait(futures, timeout=seconds)
        left = [(delivery, future) for delivery, future in self._waiting if not future.done()]
        for delivery, future in self._waiting:
            if future.done() and not future.cancelled():
                apply_result(delivery, future)
        self._waiting = left
        return len(left)

    def restart(self) -> None:
        """Drop all queued and in-flight batches, and start a new producer."""
        self._run(self._end())
        self._options = self._options.restarted()
        self._producer = self._run(self._new_producer())

    async def _end(self) -> None:
        """Close the connections before the producer, which would send its queue when it stops."""
        self._waiting = []
        await self._producer.client.close()
        # stop fails without a connection, with any exception.
        with suppress(Exception):
            await asyncio.wait_for(self._producer.stop(), STOP_SECONDS_MAX)

    def close(self) -> None:
        """Stop the producer and its loop."""
        self._run(self._end())
        self._run(cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SETTLE_SECONDS_MAX)
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(2 * SETTLE_SECONDS_MAX)


def login_options(login: Login) -> dict[str, object]:
    """Return the options of aiokafka for a login."""
    options: dict[str, object] = {"security_protocol": SECURITY_PROTOCOL, "sasl_mechanism": login.mechanism}
    if login.mechanism != OAUTHBEARER:
        return {**options, "sasl_plain_username": login.user, "sasl_plain_password": login.password}
    provider: Any = importlib.import_module("aiokafka.abc").AbstractTokenProvider

    async def token(self: object) -> str:
        return await asyncio.to_thread(login.fetch_token)

    return {**options, "sasl_oauth_token_provider": type("TokenProvider", (provider,), {"token": token})()}


def apply_result(delivery: Delivery, future: asyncio.Future[Any]) -> None:
    """Set the offset of the first event of a delivery, or its error."""
    error = future.exception()
    if error is not None:
        delivery.error = type(error).__name__
        return
    delivery.error = "NONE"
    delivery.offset = future.result().offset


async def cancel_others() -> None:
    """Cancel all other tasks of the loop."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
