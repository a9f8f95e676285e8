"""aiokafka, whose event loop runs in a thread of its own, so that groups are kept alive between two calls."""

import asyncio
import importlib
import threading
import traceback
from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from fauxka.scenarios.clients.aiokafka_client import cancel_others

from .client import (
    HEARTBEAT_MS,
    PATIENCE_MS,
    REQUEST_BYTES_MAX,
    SESSION_MS,
    STEP_SECONDS_MAX,
    UNKNOWN_TOPIC_OR_PARTITION,
    ClientError,
    GroupMember,
    send_all,
)
from .records import Headers, Record, StoredRecord

# The package ships no types; what is used of it is said below.
aiokafka = importlib.import_module("aiokafka")
aiokafka_admin = importlib.import_module("aiokafka.admin")
aiokafka_config_resource = importlib.import_module("aiokafka.admin.config_resource")
aiokafka_errors = importlib.import_module("aiokafka.errors")

# What the client reports without a code of Kafka's: a commit that a rebalance has overtaken.
NO_CODE = -1

T = TypeVar("T")

POLL_MS = 100

# No request of these tests takes long; the producer gives an unknown topic up after its own, shorter one.
REQUEST_TIMEOUT_MS = 10_000


class TopicPartition(NamedTuple):
    """aiokafka.TopicPartition, which is a named tuple as well and equal to this one."""

    topic: str
    partition: int


class FoundOffset(Protocol):
    """A record found by its timestamp."""

    offset: int


class ConsumerRecord(Protocol):
    """A record as the consumer returns it."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


class RecordMetadata(Protocol):
    """Where a record went."""

    offset: int


class Producer(Protocol):
    """aiokafka.AIOKafkaProducer."""

    async def start(self) -> None:
        """Connect."""
        ...

    async def stop(self) -> None:
        """Send what is queued, and close."""
        ...

    async def send(
        self,
        topic: str,
        *,
        value: bytes | None,
        key: bytes | None,
        headers: list[tuple[str, bytes | None]],
        partition: int,
        timestamp_ms: int,
    ) -> asyncio.Future[RecordMetadata]:
        """Queue one record."""
        ...


class Connections(Protocol):
    """aiokafka.client.AIOKafkaClient."""

    async def close(self) -> None:
        """Close the connections."""
        ...


class Consumer(Protocol):
    """aiokafka.AIOKafkaConsumer."""

    _client: Connections

    async def start(self) -> None:
        """Connect, and join the group if there is one."""
        ...

    async def stop(self) -> None:
        """Leave the group, and close."""
        ...

    def assign(self, partitions: list[TopicPartition]) -> None:
        """Read these partitions, without a group."""
        ...

    def assignment(self) -> set[TopicPartition]:
        """Return the partitions assigned by the user or by the group."""
        ...

    async def end_offsets(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the high watermarks."""
        ...

    async def offsets_for_times(
        self, timestamps: dict[TopicPartition, int]
    ) -> dict[TopicPartition, FoundOffset | None]:
        """Return the first record at each timestamp or after it."""
        ...

    async def getmany(self, *, timeout_ms: int) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Return what came."""
        ...

    async def commit(self) -> None:
        """Commit the positions."""
        ...


class Answer(Protocol):
    """What an administrator returns: the decoded response, whose shape is that of the request's version."""

    def to_object(self) -> dict[str, Any]:
        """Return it as plain data."""
        ...


class Admin(Protocol):
    """aiokafka.admin.AIOKafkaAdminClient."""

    async def start(self) -> None:
        """Connect."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...

    async def create_topics(self, new_topics: list[object]) -> Answer:
        """Take NewTopic objects."""
        ...

    async def delete_topics(self, topics: list[str]) -> Answer:
        """Take names."""
        ...

    async def create_partitions(self, topic_partitions: Mapping[str, object]) -> Answer:
        """Take NewPartitions objects; raises for what was refused."""
        ...

    async def describe_topics(self) -> list[dict[str, Any]]:
        """Return the metadata of all topics."""
        ...

    async def describe_configs(self, config_resources: list[object]) -> list[Answer]:
        """Take ConfigResource objects."""
        ...

    async def alter_configs(self, config_resources: list[object]) -> list[Answer]:
        """Take ConfigResource objects; all other keys of the resource return to their defaults."""
        ...


class EventLoopBridge:
    """An event loop in a thread."""

    def __init__(self) -> None:
        """Start it."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aiokafka")
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, and wait for its result."""
        bounded = asyncio.wait_for(coroutine, STEP_SECONDS_MAX)
        return asyncio.run_coroutine_threadsafe(bounded, self._loop).result(2 * STEP_SECONDS_MAX)

    def close(self) -> None:
        """Stop the loop, wait for its thread, and cancel the tasks that are left, as asyncio.run does."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STEP_SECONDS_MAX)
        self._loop.run_until_complete(cancel_others())
        self._loop.close()


class AiokafkaClient:
    """Drives AIOKafkaProducer, AIOKafkaConsumer and AIOKafkaAdminClient."""

    unknown_topic_code: ClassVar[int] = UNKNOWN_TOPIC_OR_PARTITION

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port"."""
        self._bootstrap = bootstrap
        self._loop = EventLoopBridge()
        self._admin = self._loop.run(self._started_admin())

    def close(self) -> None:
        """Close the administrator and the loop."""
        self._loop.run(self._admin.close())
        self._loop.close()

    def produce(
        self, topic: str, records: Sequence[Record], compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> list[int]:
        """Send all, and wait for the answer of each."""
        return send_all(self.start_producer(topic, compression, patience_ms), records)

    def start_producer(
        self, topic: str, compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> "AiokafkaProducer":
        """Start a producer."""
        return AiokafkaProducer(self._loop, self._loop.run(self._started_producer(compression, patience_ms)), topic)

    def consume(self, topic: str) -> list[StoredRecord]:
        """Read each partition up to the high watermark that it has now."""
        return self._loop.run(self._consume(topic, self.partition_counts()[topic]))

    def offset_for_timestamp(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """Ask with a consumer."""
        found = self._loop.run(self._find(TopicPartition(topic, partition), timestamp_ms))
        return None if found is None else found.offset

    def join(self, group: str, topic: str) -> GroupMember:
        """Subscribe with a new consumer."""
        return self._loop.run(self._join(group, topic))

    def create_topic(self, topic: str, partition_count: int, configs: Mapping[str, str]) -> None:
        """Create a topic with one replica."""
        new = aiokafka_admin.NewTopic(topic, partition_count, 1, topic_configs=dict(configs))
        _check(self._loop.run(self._admin.create_topics([new])).to_object()["topic_errors"])

    def delete_topic(self, topic: str) -> None:
        """Delete a topic."""
        _check(self._loop.run(self._admin.delete_topics([topic])).to_object()["topic_error_codes"])

    def add_partitions(self, topic: str, total: int) -> None:
        """Raise the number of partitions."""
        with _reporting_errors():
            self._loop.run(self._admin.create_partitions({topic: aiokafka_admin.NewPartitions(total)}))

    def partition_counts(self) -> dict[str, int]:
        """Ask for the metadata of all topics."""
        described = self._loop.run(self._admin.describe_topics())
        return {metadata["topic"]: len(metadata["partitions"]) for metadata in described}

    def topic_config(self, topic: str, key: str) -> str:
        """Describe the topic, which brings all keys."""
        [answer] = self._loop.run(self._admin.describe_configs([_topic_resource(topic, None)]))
        _check(answer.to_object()["resources"])
        [resource] = answer.to_object()["resources"]
        values: dict[str, str] = {entry["config_names"]: entry["config_value"] for entry in resource["config_entries"]}
        return values[key]

    def alter_topic_config(self, topic: str, key: str, value: str) -> None:
        """Set one key, by the request that sets back all others."""
        [answer] = self._loop.run(self._admin.alter_configs([_topic_resource(topic, {key: value})]))
        _check(answer.to_object()["resources"])

    async def _started_admin(self) -> Admin:
        admin: Admin = aiokafka_admin.AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        return admin

    async def _started_producer(self, compression: str, patience_ms: int) -> Producer:
        producer: Producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=self._bootstrap,
            enable_idempotence=True,
            compression_type=None if compression == "none" else compression,
            max_request_size=REQUEST_BYTES_MAX,
            request_timeout_ms=patience_ms,
        )
        await producer.start()
        return producer

    async def _consume(self, topic: str, partition_count: int) -> list[StoredRecord]:
        partitions = [TopicPartition(topic, index) for index in range(partition_count)]
        async with self._started_consumer() as consumer:
            consumer.assign(partitions)
            count = sum((await consumer.end_offsets(partitions)).values())
            stored: list[StoredRecord] = []
            while len(stored) < count:
                stored.extend(await _poll(consumer))
            return stored

    async def _find(self, partition: TopicPartition, timestamp_ms: int) -> FoundOffset | None:
        async with self._started_consumer() as consumer:
            return (await consumer.offsets_for_times({partition: timestamp_ms}))[partition]

    @asynccontextmanager
    async def _started_consumer(self) -> AsyncGenerator[Consumer, None]:
        consumer = self._consumer(None)
        await consumer.start()
        try:
            yield consumer
        finally:
            await consumer.stop()

    async def _join(self, group: str, topic: str) -> "AiokafkaMember":
        consumer = self._consumer(group, topic)
        # start() waits for the group, and the group waits for all its members: it goes on while others are polled.
        return AiokafkaMember(self._loop, consumer, asyncio.ensure_future(consumer.start()))

    def _consumer(self, group: str | None, *topics: str) -> Consumer:
        consumer: Consumer = aiokafka.AIOKafkaConsumer(
            *topics,
            bootstrap_servers=self._bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
        )
        return consumer


class AiokafkaProducer:
    """A producer of one topic."""

    def __init__(self, loop: EventLoopBridge, producer: Producer, topic: str) -> None:
        """producer: started."""
        self._loop = loop
        self._producer = producer
        self._topic = topic
        self._responses: list[asyncio.Future[RecordMetadata]] = []

    def send(self, records: Sequence[Record]) -> None:
        """Queue records."""
        with _reporting_errors():
            self._loop.run(self._send(records))

    def wait(self) -> list[int]:
        """Return the offset of each record."""
        with _reporting_errors():
            return self._loop.run(self._wait())

    def close(self) -> None:
        """Close it."""
        self._loop.run(self._producer.stop())

    async def _send(self, records: Sequence[Record]) -> None:
        self._responses += [await _send(self._producer, self._topic, record) for record in records]

    async def _wait(self) -> list[int]:
        return [(await response).offset for response in self._responses]


class AiokafkaMember:
    """A consumer of a group."""

    def __init__(self, loop: EventLoopBridge, consumer: Consumer, started: asyncio.Future[None]) -> None:
        """started: done once the consumer is in the group for the first time."""
        self._loop = loop
        self._consumer = consumer
        self._started = started

    def poll(self) -> list[StoredRecord]:
        """Return what came."""
        return self._loop.run(self._poll())

    def assigned_partitions(self) -> set[int]:
        """Return the partitions of the last rebalance."""
        return {assigned.partition for assigned in self._consumer.assignment()}

    def commit(self) -> None:
        """Commit positions."""
        try:
            self._loop.run(self._consumer.commit())
        except aiokafka_errors.KafkaError as error:
            raise ClientError(NO_CODE, repr(error)) from error

    def close(self) -> list[StoredRecord]:
        """Leave the group."""
        self._loop.run(self._close())
        return []

    async def _poll(self) -> list[StoredRecord]:
        done, _ = await asyncio.wait([self._started], timeout=POLL_MS / 1000)
        return await _poll(self._consumer) if done else []

    async def _close(self) -> None:
        await self._started
        try:
            await self._consumer.stop()
        except asyncio.CancelledError as error:
            if not _is_of_fetch_backoff(error):
                raise
            # The step that stop() has not reached.
            await self._consumer._client.close()  # pyright: ignore[reportPrivateUsage]


def _is_of_fetch_backoff(error: asyncio.CancelledError) -> bool:
    """Return whether stop() raised this because it came less than retry_backoff_ms after a failed fetch.

    A defect of aiokafka 0.14.0 (consumer/fetcher.py), also with a real Kafka 4.3.0 that is killed. After a failed fetch
    Fetcher._proc_fetch_request sleeps in its `except Errors.KafkaError`, which its `except asyncio.CancelledError` does
    not cover. Fetcher.close cancels this task and awaits it.
    """
    return any(frame.f_code.co_name == "_proc_fetch_request" for frame, _ in traceback.walk_tb(error.__traceback__))


async def _send(producer: Producer, topic: str, record: Record) -> asyncio.Future[RecordMetadata]:
    return await producer.send(
        topic,
        value=record.value,
        key=record.key,
        headers=list(record.headers),
        partition=record.partition,
        timestamp_ms=record.timestamp_ms,
    )


async def _poll(consumer: Consumer) -> list[StoredRecord]:
    polled = await consumer.getmany(timeout_ms=POLL_MS)
    return [_stored(record) for records in polled.values() for record in records]


def _stored(record: ConsumerRecord) -> StoredRecord:
    headers: Headers = tuple((name, value) for name, value in record.headers)
    return StoredRecord(record.offset, Record(record.partition, record.key, record.value, headers, record.timestamp))


def _topic_resource(topic: str, configs: dict[str, str] | None) -> object:
    topic_type = aiokafka_config_resource.ConfigResourceType.TOPIC
    resource: object = aiokafka_config_resource.ConfigResource(topic_type, topic, configs)
    return resource


def _check(results: list[dict[str, Any]]) -> None:
    """Raise for what was refused: the administrator hands over the codes as they came."""
    for result in results:
        if result["error_code"] != 0:
            raise ClientError(result["error_code"], str(result))


@contextmanager
def _reporting_errors() -> Generator[None, None, None]:
    try:
        yield
    except aiokafka_errors.BrokerResponseError as error:
        raise ClientError(error.errno, str(error)) from error
