"""A confluent-kafka consumer of a group, in a thread: what it reads must never leave the log."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException

from .checked_thread import CheckedThread
from .reporting_producer import QUIET, RECONNECT_MS, RECONNECT_MS_MAX

POLL_SECONDS = 0.02
READ_SECONDS_MAX = 60.0
COMMIT_MS = 50
GROUP = "readers"


@dataclass(slots=True)
class GroupReader:
    """The only member of its group. offsets: the name of the record it has read at each partition and offset."""

    address: str
    topic: str
    offsets: dict[tuple[int, int], bytes] = field(default_factory=dict[tuple[int, int], bytes])
    _is_stopping: bool = False
    _thread: CheckedThread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = CheckedThread("group reader", self._run)

    def start(self) -> None:
        self._thread.start()

    def wait_until_read(self, wanted: Iterable[tuple[int, int]]) -> None:
        """Wait until every partition and offset of wanted is read; the nodes must be running."""
        missing = set(wanted)
        deadline = time.monotonic() + READ_SECONDS_MAX
        while missing and self._thread.failure is None:
            missing -= self.offsets.keys()
            assert time.monotonic() < deadline, f"{len(missing)} records were never read, first {min(missing)}"
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Leave the group; raises what the reader failed with."""
        self._is_stopping = True
        self._thread.finish()

    def _run(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": GROUP,
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": COMMIT_MS,
                "reconnect.backoff.ms": RECONNECT_MS,
                "reconnect.backoff.max.ms": RECONNECT_MS_MAX,
                "logger": QUIET,
            }
        )
        try:
            consumer.subscribe([self.topic])
            while not self._is_stopping:
                self._poll(consumer)
        finally:
            consumer.close()

    def _poll(self, consumer: Consumer) -> None:
        message = consumer.poll(POLL_SECONDS)
        if message is None:
            return
        error = message.error()
        if error is not None:
            if error.fatal():
                raise KafkaException(error)
            return
        partition, offset, value = message.partition(), message.offset(), message.value()
        assert partition is not None and offset is not None and value is not None
        name = value.partition(b" ")[0]
        read_before = self.offsets.setdefault((partition, offset), name)
        assert read_before == name, f"{self.topic}-{partition} had {read_before!r} at {offset}, then {name!r}"
