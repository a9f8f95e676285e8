"""What the tests ask of a Kafka client, whichever it is: each driver says it in its client's own words."""

import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import ClassVar, Protocol, TypeVar

from .records import Record, StoredRecord

# How long anything that a client does may take. A client that needs longer hangs.
STEP_SECONDS_MAX = 30.0

# How often a member of a group asks whether it has to join again: the shortest rebalance waits for the next time.
HEARTBEAT_MS = 200

# How long a group waits for a member that says nothing any more: the shortest that Kafka allows. A consumer that is
# closed while it joins cannot leave, as its connection waits for the answer; it may even lead the others.
SESSION_MS = 6_000

# How long a producer looks for its topic before it gives up: long, and short where the topic is known to be missing.
PATIENCE_MS = 20_000
UNKNOWN_TOPIC_MS = 1_000

# Room on the client's side for a record that the broker refuses.
REQUEST_BYTES_MAX = 10_000_000

# Kafka's codes, as far as the tests name them.
UNKNOWN_TOPIC_OR_PARTITION = 3
REQUEST_TIMED_OUT = 7
MESSAGE_TOO_LARGE = 10
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_CONFIG = 40

T = TypeVar("T")

# How long what was created or deleted may take to be seen by the next request.
METADATA_SECONDS_MAX = 5.0


class ClientError(Exception):
    """What the client reported, as the number of Kafka's error code."""

    def __init__(self, code: int, message: str) -> None:
        """code: Kafka's, or a negative one of librdkafka's own."""
        super().__init__(f"{code}: {message}")
        self.code = code


class RunningProducer(Protocol):
    """One idempotent producer of a topic."""

    def send(self, records: Sequence[Record]) -> None:
        """Send records without waiting for the responses."""
        ...

    def wait(self) -> list[int]:
        """Wait for all responses, and return the offset acknowledged for each record, in the order of sending."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class GroupMember(Protocol):
    """One consumer of a group."""

    def poll(self) -> list[StoredRecord]:
        """Do what has to be done for the group, wait a moment for records, and return what came."""
        ...

    def assigned_partitions(self) -> set[int]:
        """Return the partitions that are this member's now."""
        ...

    def commit(self) -> None:
        """Commit the offsets after what poll returned, and wait for the answer; raises ClientError if it is refused."""
        ...

    def close(self) -> list[StoredRecord]:
        """Leave the group, and return what came since the last poll if its offsets may be committed."""
        ...


class Client(Protocol):
    """Produces with idempotence, consumes, and administrates. Raises ClientError for what the broker refused."""

    # The client reports a topic that does not exist by this code.
    unknown_topic_code: ClassVar[int]

    def close(self) -> None:
        """Close what stays open between two calls."""
        ...

    def produce(
        self, topic: str, records: Sequence[Record], compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> list[int]:
        """Send with one new idempotent producer, and return the offset acknowledged for each record.

        patience_ms: how long the producer looks for a topic that it cannot find.
        """
        ...

    def start_producer(self, topic: str, compression: str = "none", patience_ms: int = PATIENCE_MS) -> RunningProducer:
        """Return a new idempotent producer. patience_ms: as in produce."""
        ...

    def consume(self, topic: str) -> list[StoredRecord]:
        """Return every record of every partition, without a group."""
        ...

    def offset_for_timestamp(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """Return the first offset with that timestamp or a later one, or None where there is none."""
        ...

    def join(self, group: str, topic: str) -> GroupMember:
        """Return a new member that begins at the earliest record where nothing was committed."""
        ...

    def create_topic(self, topic: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Create a topic."""
        ...

    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""
        ...

    def add_partitions(self, topic: str, total: int) -> None:
        """Raise the number of partitions to that total."""
        ...

    def partition_counts(self) -> dict[str, int]:
        """Return all topics, each with its number of partitions."""
        ...

    def topic_config(self, topic: str, key: str) -> str:
        """Return the value in effect of one of a topic's keys."""
        ...

    def alter_topic_config(self, topic: str, key: str, value: str) -> None:
        """Set one of a topic's keys."""
        ...


def send_all(producer: RunningProducer, records: Sequence[Record]) -> list[int]:
    """Send records, wait for the responses, close the producer, and return the offset of each record."""
    with closing(producer):
        producer.send(records)
        return producer.wait()


def unique_name(subject: str) -> str:
    """Return a name that no other test has: the broker is shared."""
    return f"{subject}-{uuid.uuid4().hex[:8]}"


def eventually(read: Callable[[], T], expected: T) -> T:
    """Read until the value is the expected one, and return the last: Kafka's metadata lag behind its answers."""
    deadline = time.monotonic() + METADATA_SECONDS_MAX
    while (value := read()) != expected and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


@contextmanager
def raises_code(code: int) -> Generator[None, None, None]:
    """Expect the block to raise a ClientError of that code."""
    try:
        yield
    except ClientError as error:
        assert error.code == code, f"expected the error code {code}, got {error}"
    else:
        raise AssertionError(f"expected the error code {code}, got none")
