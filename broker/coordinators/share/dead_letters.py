"""Dead-letter queues of share groups (KIP-1191): records that a group will never get are copied to a topic.

- A record becomes a dead letter when a member rejects it, or when it was delivered as often as the group allows.
- The topic is errors.deadletterqueue.topic.name of the group. Its partition is that of the record, modulo their number.
- A dead letter has six headers. Key and value are those of the record if errors.deadletterqueue.copy.record.enable is
  set for the group, else null. The headers of the record are not copied.
- The queue has ranges of offsets, in the order in which they became dead letters. One range is written at a time, in
  steps. A crash loses what is not yet written.
- A dead letter that cannot be written is logged and dropped: the record is archived all the same.
Source: ShareGroupDLQStateManager and SharePartition.initiateDLQAndArchive, Kafka 4.4.0;
tests/golden/dead_letters-4.4.0.jsonl.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ....faults.consumption.events import ShareChange, ShareEnd
from ....protocol.batches.records import Record
from ....protocol.error_codes import KafkaError
from ...metadata.features import SHARE_VERSION
from ...metadata.topic_validation import find_topic_name_error
from ...replica.record_reader import OffsetRange, StoredRecord, UnreadableError, read_page
from ...replica.record_writer import NewRecord, RecordsRefused, append_records
from ...runtime.long_work import LongWork, step

if TYPE_CHECKING:
    from ....protocol.stored_records.share_state_records import ShareKey
    from ...metadata.metadata_image import TopicImage
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from .settings import ShareGroupSettings
    from .share_nodes import ShareNodes

logger = logging.getLogger(__name__)

# The level of share.version with dead-letter queues.
DEAD_LETTERS_SINCE = 2
ENABLED_KEY = "errors.deadletterqueue.group.enable"
PREFIX_KEY = "errors.deadletterqueue.topic.name.prefix"
CREATION_KEY = "errors.deadletterqueue.auto.create.topics.enable"
# The configs of a topic that the broker creates.
NEW_TOPIC_CONFIGS: Mapping[str, str] = {ENABLED_KEY: "true", "message.timestamp.type": "CreateTime"}
REJECTED = "Offset rejected by client."
TOO_MANY_DELIVERIES = "Offset delivery count exceeded the threshold."
# The dead letters of one write, and the bytes of keys, values and headers that are read for it.
RECORDS_PER_WRITE = 500
BYTES_PER_WRITE = 1024 * 1024


class DeadRange(NamedTuple):
    """Consecutive records of a partition that became dead letters together. reason: the text of the last header."""

    group_id: str
    source: Partition
    first: int
    last: int
    delivery_count: int
    reason: str


class DeadLetterRefused(Exception):
    """A dead letter cannot be written. The message has Kafka's reason."""


class DeadLetters:
    """Writes the dead letters of the partitions that one node leads."""

    __slots__ = ("_is_writing", "_nodes", "_queue", "_replicas", "_settings", "_work")

    def __init__(self, replicas: ReplicaManager, nodes: ShareNodes, settings: ShareGroupSettings) -> None:
        """nodes: where the partitions of the topics are."""
        self._replicas = replicas
        self._nodes = nodes
        self._settings = settings
        self._queue: deque[DeadRange] = deque()
        self._work = LongWork()
        self._is_writing = False

    def add(self, key: ShareKey, source: Partition, changes: Sequence[ShareChange]) -> None:
        """Write the records among the changes that became dead letters, if the group has a topic for them."""
        is_supported = self._replicas.image.features.level_of(SHARE_VERSION) >= DEAD_LETTERS_SINCE
        if not is_supported or not self._settings.dead_letter_topic(key.group_id):
            return
        for change in changes:
            reason = _reason_of(change)
            if reason is not None:
                dead = DeadRange(key.group_id, source, change.first, change.last, change.delivery_count, reason)
                self._queue.append(dead)
        if self._queue and not self._is_writing:
            self._is_writing = True
            self._work.run(self._write_queue(), "dead letters")

    def drop(self) -> None:
        """Drop what is not yet written, because the node crashed or is reset."""
        self._queue.clear()
        self._work.drop()
        self._is_writing = False

    async def _write_queue(self) -> None:
        while self._queue:
            dead = self._queue.popleft()
            try:
                await self._write(dead)
            except (DeadLetterRefused, KafkaError, RecordsRefused, UnreadableError, OSError) as error:
                topic = self._settings.dead_letter_topic(dead.group_id)
                logger.warning("no dead letters of %d-%d in %s: %s", dead.first, dead.last, topic, error)
            await step()
        self._is_writing = False

    async def _write(self, dead: DeadRange) -> None:
        topic = self._target_of(dead.group_id)
        target = self._nodes.find_partition(topic.topic_id, dead.source.index % len(topic.partitions))
        if target is None:
            raise DeadLetterRefused(f"{topic.name} has no leader that can be reached")
        position = dead.first
        while position <= dead.last:
            end = min(dead.last, position + RECORDS_PER_WRITE - 1)
            copied: dict[int, StoredRecord] = {}
            if self._settings.copies_dead_letters(dead.group_id):
                offsets = OffsetRange(position, end)
                page = await read_page(dead.source, offsets, RECORDS_PER_WRITE, BYTES_PER_WRITE)
                copied = {record.offset: record for record in page.items}
                end = end if page.next_offset is None else page.next_offset - 1
            now_ms = self._replicas.clock.now_ms()
            records = _records_of(dead, range(position, end + 1), copied, now_ms)
            await append_records([(target, record) for record in records], now_ms)
            position = end + 1

    def _target_of(self, group_id: str) -> TopicImage:
        """Return the group's topic of dead letters. Creates it if it may. Raises DeadLetterRefused, KafkaError."""
        name = self._settings.dead_letter_topic(group_id)
        config = self._replicas.config
        topic = self._replicas.image.find_topic(name)
        if topic is None and config.value_of(CREATION_KEY) is not True:
            raise DeadLetterRefused("the topic does not exist, and the cluster creates none")
        prefix = config.value_of(PREFIX_KEY)
        if isinstance(prefix, str) and not name.startswith(prefix):
            raise DeadLetterRefused(f"the name does not begin with {prefix}")
        if topic is None:
            invalid = find_topic_name_error(name)
            if invalid is not None:
                raise DeadLetterRefused(invalid)
            return self._nodes.create_topic(name, NEW_TOPIC_CONFIGS)
        if topic.configs.get(ENABLED_KEY, "false").strip().lower() != "true":
            raise DeadLetterRefused(f"the topic does not have {ENABLED_KEY}=true")
        return topic


def _reason_of(change: ShareChange) -> str | None:
    """Return why the records of a change are dead letters; None if they are not."""
    if change.end is ShareEnd.REJECTED:
        return REJECTED
    return TOO_MANY_DELIVERIES if change.is_archived else None


def _records_of(
    dead: DeadRange, offsets: range, copied: Mapping[int, StoredRecord], now_ms: int
) -> Iterator[NewRecord]:
    """Return a dead letter for each offset. copied: the records with key and value, by offset."""
    for index, offset in enumerate(offsets):
        headers = {
            "__dlq.errors.topic": dead.source.topic_name,
            "__dlq.errors.partition": str(dead.source.index),
            "__dlq.errors.offset": str(offset),
            "__dlq.errors.group": dead.group_id,
            "__dlq.errors.delivery.count": str(dead.delivery_count),
            "__dlq.errors.message": dead.reason,
        }
        of = copied.get(offset)
        record = Record(
            value=None if of is None else of.value,
            key=None if of is None else of.key,
            timestamp=now_ms,
            headers=tuple((name, text.encode()) for name, text in headers.items()),
        )
        yield NewRecord(index, record)
