"""The same topics and batches for either broker, and the same questions afterwards: which producers it remembers.

Timestamps are drawn from one moment in the near past, as Kafka forgets a producer whose last batch is older than a day.
A topic rolls its segments by segment.ms, which counts in the records' own time, so that small batches make many.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from ..golden.raw_batches import batch
from .drawn_batches import DrawnBatches
from .log_client import LogClient, ProduceAnswer, Stored

HOUR_MS = 3_600_000
# All batches of a scene lie in these hours before its start, so that none of them is in the future.
SCENE_HOURS = 10

PLAIN, CODECS, PRODUCERS, ROLLED, LARGE, DRAWN, SHORTENED, EMPTIED, UNTOUCHED = TOPICS = (
    "plain",
    "codecs.of-kafka",
    "producers",
    "rolled",
    "large",
    "drawn",
    "shortened",
    "emptied",
    "untouched",
)
PARTITION_COUNTS = dict.fromkeys(TOPICS, 1) | {PLAIN: 2}
CONFIGS = {"retention.ms": "-1", "index.interval.bytes": "100"}
ROLLING_CONFIGS = {**CONFIGS, "segment.ms": str(HOUR_MS)}
# The smallest that Kafka takes.
SEGMENT_BYTES = 1024 * 1024
CONFIGS_OF = dict.fromkeys(TOPICS, CONFIGS) | {
    ROLLED: ROLLING_CONFIGS,
    DRAWN: ROLLING_CONFIGS,
    SHORTENED: ROLLING_CONFIGS,
    LARGE: {**CONFIGS, "segment.bytes": str(SEGMENT_BYTES)},
}

# Far above what a fresh broker gives away in a test, and the same for both brokers.
FIRST_PRODUCER, REPEATING_PRODUCER, RAISED_PRODUCER, WRAPPING_PRODUCER, LEAVING_PRODUCER = range(7000, 7005)
# For a fauxka whose log goes to an unread pipe: each refused or repeated batch is a line.
QUIET = ("--log-level", "error")

DRAWN_SEED = 20261121
DRAWN_COUNT = 300
SEQUENCE_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Question:
    """A batch whose response shows the broker's state of its producer.

    is_in_batches: the newest batches in the log tell the answer; otherwise it takes a memory beyond them.
    """

    about: str
    topic: str
    batch: bytes
    is_in_batches: bool = True


@dataclass(slots=True)
class LogScene:
    """A moment, and what is sent as if it were then."""

    start_ms: int = field(default_factory=lambda: int(time.time() * 1000) - SCENE_HOURS * HOUR_MS)
    drawn_answers: list[list[ProduceAnswer]] = field(default_factory=list[list[ProduceAnswer]])

    def fill(self, client: LogClient) -> None:
        """Create the topics and append all batches."""
        for topic in TOPICS:
            client.create_topic(topic, PARTITION_COUNTS[topic], CONFIGS_OF[topic])
        for partition in range(PARTITION_COUNTS[PLAIN]):
            for size in (1, 10, 100, 1):
                client.append(PLAIN, self.batch(size, 0), partition)
        for codec in Compression:
            client.append(CODECS, self._batch_with_headers(codec))
        self._fill_producers(client)
        self._fill_rolled(client)
        self.drawn_answers.append([client.produce(DRAWN, drawn) for drawn in self.drawn()])
        for _ in range(5):
            client.append(LARGE, batch(1, self.start_ms, value=bytes(SEGMENT_BYTES * 2 // 5)))
        for topic, kept_from in ((SHORTENED, 7), (EMPTIED, 20)):
            for hours in range(4):
                client.append(topic, self.batch(5, 2 * hours, producer_id=LEAVING_PRODUCER, base_sequence=5 * hours))
            client.delete_records(topic, kept_from)

    def drawn(self) -> list[bytes]:
        """Batches of which some are repeated and some refused; the same at each call."""
        return DrawnBatches(DRAWN_SEED, self.start_ms, self.start_ms + SCENE_HOURS * HOUR_MS).take(DRAWN_COUNT)

    def batch(
        self, count: int, hours: float, *, producer_id: int = -1, base_sequence: int = -1, producer_epoch: int = 0
    ) -> bytes:
        """A batch of so many records that are so many hours after the scene's start."""
        timestamp = self.start_ms + int(hours * HOUR_MS)
        if producer_id == -1:
            return batch(count, timestamp)
        return batch(
            count, timestamp, producer_id=producer_id, base_sequence=base_sequence, producer_epoch=producer_epoch
        )

    def _batch_with_headers(self, codec: Compression) -> bytes:
        records = [
            Record(b"value " * 50, f"key {index}".encode(), self.start_ms + index, (("h", b"1"), ("null", None)))
            for index in range(10)
        ]
        return build_batch(records, BatchOptions(compression=codec))

    def _fill_producers(self, client: LogClient) -> None:
        """Several producers in turn, with repeats, a raised epoch, and sequences that wrap."""
        for turn in range(6):
            for producer_id in (FIRST_PRODUCER, REPEATING_PRODUCER):
                sent = self.batch(2, turn / 10, producer_id=producer_id, base_sequence=2 * turn)
                client.append(PRODUCERS, sent)
                if producer_id == REPEATING_PRODUCER:
                    client.append(PRODUCERS, sent)
        for epoch in (0, 1, 4):
            client.append(
                PRODUCERS, self.batch(3, 1, producer_id=RAISED_PRODUCER, base_sequence=0, producer_epoch=epoch)
            )
        for base_sequence in (SEQUENCE_MAX - 1, 2):
            client.append(PRODUCERS, self.batch(4, 1, producer_id=WRAPPING_PRODUCER, base_sequence=base_sequence))

    def _fill_rolled(self, client: LogClient) -> None:
        """Eight segments of several batches, compressed ones among them, written by two producers and by none."""
        for hours in range(8):
            for part in range(3):
                at = hours * 1.1 + part / 100
                sequence = 2 * (3 * hours + part)
                client.append(ROLLED, self.batch(2, at, producer_id=FIRST_PRODUCER, base_sequence=sequence))
                client.append(ROLLED, self._compressed(self.start_ms + int(at * HOUR_MS)))
            client.append(ROLLED, self.batch(1, hours * 1.1, producer_id=REPEATING_PRODUCER, base_sequence=hours))

    def _compressed(self, timestamp: int) -> bytes:
        """A batch whose largest timestamp is neither its first nor its last; the same bytes whenever it is built."""
        records = [Record(b"gz" * 50, timestamp=timestamp + delta) for delta in (3, 9, 1, 9, 0)]
        return build_batch(records, BatchOptions(compression=Compression.GZIP))

    def append_more(self, client: LogClient) -> None:
        """Append behind what fill appended, as clients do that go on after a restart."""
        client.append(PRODUCERS, self.batch(2, 2, producer_id=FIRST_PRODUCER, base_sequence=12))
        client.append(PRODUCERS, self.batch(2, 2, producer_id=REPEATING_PRODUCER, base_sequence=12))
        client.append(ROLLED, self.batch(2, 9, producer_id=FIRST_PRODUCER, base_sequence=48))
        client.append(PLAIN, self.batch(3, 2))
        client.append(EMPTIED, self.batch(3, 7, producer_id=LEAVING_PRODUCER, base_sequence=20))

    def questions(self) -> list[Question]:
        """What tells a broker that knows the producers from one that does not; to be asked in this order."""
        return [
            Question("the last batch again", PRODUCERS, self._of(FIRST_PRODUCER, 10)),
            Question("the last but one again", PRODUCERS, self._of(FIRST_PRODUCER, 8), is_in_batches=False),
            Question("the first batch again", PRODUCERS, self._of(FIRST_PRODUCER, 0)),
            Question("the last batch of one who repeated all", PRODUCERS, self._of(REPEATING_PRODUCER, 10)),
            Question("a gap", PRODUCERS, self._of(FIRST_PRODUCER, 100)),
            Question("an epoch that was left", PRODUCERS, self._of(RAISED_PRODUCER, 3, producer_epoch=1)),
            Question(
                "the last batch of the raised epoch", PRODUCERS, self._of(RAISED_PRODUCER, 0, 3, producer_epoch=4)
            ),
            Question("the last batch behind the wrap", PRODUCERS, self._of(WRAPPING_PRODUCER, 2, 4)),
            Question("the last batch, in the last segment", ROLLED, self._of(FIRST_PRODUCER, 46)),
            Question("the last batch of one who is seldom", ROLLED, self._of(REPEATING_PRODUCER, 7, 1)),
            Question("one who wrote before deleted records", SHORTENED, self._of(LEAVING_PRODUCER, 15, 5)),
            Question(
                "one whose records are all deleted", EMPTIED, self._of(LEAVING_PRODUCER, 15, 5), is_in_batches=False
            ),
            Question(
                "one whose records are deleted, behind a gap",
                EMPTIED,
                self._of(LEAVING_PRODUCER, 100),
                is_in_batches=False,
            ),
            *(
                Question(f"drawn batch {number}", DRAWN, drawn, is_in_batches=False)
                for number, drawn in enumerate(self.drawn()[-30:])
            ),
            Question("the next batch", PRODUCERS, self._of(FIRST_PRODUCER, 12)),
            Question("the next batch again", PRODUCERS, self._of(FIRST_PRODUCER, 12)),
            Question("a new epoch", PRODUCERS, self._of(FIRST_PRODUCER, 0, producer_epoch=1)),
            Question("the epoch before it", PRODUCERS, self._of(FIRST_PRODUCER, 14)),
        ]

    def _of(self, producer_id: int, base_sequence: int, count: int = 2, *, producer_epoch: int = 0) -> bytes:
        return self.batch(
            count, 9.5, producer_id=producer_id, base_sequence=base_sequence, producer_epoch=producer_epoch
        )


def stored_in(client: LogClient) -> dict[str, list[Stored]]:
    """All logs, as a client sees them."""
    return {
        topic: [client.stored(topic, partition) for partition in range(PARTITION_COUNTS[topic])] for topic in TOPICS
    }


def answers_to(client: LogClient, questions: Sequence[Question]) -> dict[str, ProduceAnswer]:
    """What a broker answers to each question, by what it is about."""
    return {f"{each.topic}: {each.about}": client.produce(each.topic, each.batch) for each in questions}


def wait_until_led(client: LogClient) -> None:
    """Return when the broker leads all partitions."""
    for topic in TOPICS:
        for partition in range(PARTITION_COUNTS[topic]):
            client.wait_until_led(topic, partition)
