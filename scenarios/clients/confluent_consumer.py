"""confluent-kafka's Consumer as the consumer of a scenario."""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Collection
from typing import Any

from .client import EVENT_HEADER, SETTLE_SECONDS_MAX, ClientStuck
from .consumer import ConsumerOptions
from .login import librdkafka_config

BACKOFF_MS = 20
POLL_SECONDS = 0.1
# librdkafka leaves no group while it looks for the coordinator: the next member waits for the end of the session.
# This is the shortest that a broker accepts (group.min.session.timeout.ms).
SESSION_MS = 6_000
# A consumer without a group needs the option, but does not use it.
_NO_GROUP = "none"

# The notes of the timeline replace its log.
_silent = logging.getLogger("fauxka.scenarios.confluent_consumer")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


class ConfluentConsumer:
    """Drives confluent_kafka.Consumer."""

    def __init__(self, options: ConsumerOptions) -> None:
        """Start the consumer; it joins its group with the first poll. Raises ImportError."""
        package = self._package = importlib.import_module("confluent_kafka")
        self.events: list[str] = []
        self.resets: list[str] = []
        self._options = options
        self._has_uncommitted = False
        self._consumer: Any = package.Consumer(
            {
                **librdkafka_config(options.login),
                "bootstrap.servers": options.bootstrap_servers,
                "client.id": options.process,
                "group.id": options.group or _NO_GROUP,
                "isolation.level": "read_committed",
                "session.timeout.ms": SESSION_MS,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": int(POLL_SECONDS * 1000),
                "retry.backoff.ms": BACKOFF_MS,
                "retry.backoff.max.ms": 4 * BACKOFF_MS,
                "fetch.error.backoff.ms": BACKOFF_MS,
                "reconnect.backoff.ms": BACKOFF_MS,
                "reconnect.backoff.max.ms": 4 * BACKOFF_MS,
            },
            logger=_silent,
        )
        if options.group is None:
            self._consumer.assign([package.TopicPartition(options.topic, 0, package.OFFSET_BEGINNING)])
        else:
            self._consumer.subscribe([options.topic])

    def read_until(self, events: Collection[str]) -> None:
        """Read until all these events were seen."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while not set(events) <= set(self.events):
            if time.monotonic() > deadline:
                raise ClientStuck(f"{self._options.process} reads nothing more")
            message = self._consumer.poll(POLL_SECONDS)
            if message is not None and message.error() is None:
                self._take(message)

    def commit(self, offset: int | None = None) -> None:
        """Commit an offset, by default the one behind what was read."""
        if self._options.group is None:
            return
        if offset is not None:
            place = self._package.TopicPartition(self._options.topic, 0, offset)
            self._consumer.commit(offsets=[place], asynchronous=False)
        # It refuses to commit without new offsets.
        elif self._has_uncommitted:
            self._consumer.commit(asynchronous=False)
            self._has_uncommitted = False

    def read_error(self) -> str:
        """Read until an error of the topic, and return its name."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while time.monotonic() < deadline:
            message = self._consumer.poll(POLL_SECONDS)
            if message is not None and message.error() is not None:
                return str(message.error().name())
            if message is not None:
                self._take(message)
        raise ClientStuck(f"{self._options.process} gets no error")

    def kill(self) -> None:
        """Close the connections without leaving the group."""
        # A consumer that is deleted before it was closed does not leave (RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE).
        self._consumer = None

    def close(self) -> None:
        """Leave the group, and close the connections."""
        if self._consumer is not None:
            self._consumer.close()

    def _take(self, message: Any) -> None:
        headers = dict(message.headers() or [])
        self.events.append(bytes(headers[EVENT_HEADER]).decode())
        self._has_uncommitted = True
