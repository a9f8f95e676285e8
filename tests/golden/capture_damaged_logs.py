"""What a broker answers from logs whose segments were damaged while it was stopped.

python -m tests.golden.capture_damaged_logs writes damaged_logs-4.3.0.jsonl from a real Kafka: a line for each damage,
each density of the index and each kind of stop. tests/broker/test_damaged_logs.py asks fauxka.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TextIO

from crc32c import crc32c

from ..reference.kafka_process import kafka_process
from . import raw_apis, raw_batches
from .damaged_logs import (
    BATCHES,
    DAMAGES,
    FIRST_TIMESTAMP,
    HOUR_MS,
    LOG_END,
    RECORDS,
    SEGMENTS,
    TOPICS,
    batch_of,
    damage_log,
)
from .raw_client import RawConnection
from .raw_schema import Struct, Value

GOLDEN = Path(__file__).parent / "damaged_logs-4.3.0.jsonl"

CREATE_TOPICS_VERSION, FETCH_VERSION, LIST_OFFSETS_VERSION, PRODUCE_VERSION = 5, 12, 6, 9
EARLIEST, LATEST = -2, -1
# The time of the last record of the second, closed segment.
LATE_IN_CLOSED = FIRST_TIMESTAMP + 2 * HOUR_MS + (BATCHES - 1) * 1000
NO_ERROR = 0
# UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER: of a broker that is starting.
NOT_LED_YET = (3, 5, 6)
STARTED_SECONDS_MAX = 60
# Checkpoints only at a clean shutdown, so that it is known what a killed broker recovers.
CONFIG = {
    "auto.create.topics.enable": "false",
    "log.flush.offset.checkpoint.interval.ms": "3600000",
    "log.flush.start.offset.checkpoint.interval.ms": "3600000",
}
CONSUMED_FETCHES_MAX = 50
REFUSED = "the broker does not start"

# How the broker is stopped before the damage. "killed" recovers every segment; "stopped, started, killed" only the
# active one, because the closed ones are before the recovery point.
STOPPED, KILLED, KILLED_AGAIN = STOPS = ("stopped", "killed", "stopped, started, killed")

# A topic and a damage.
Place = tuple[str, str]


def _in_all_topics(*damages: str) -> list[Place]:
    return [(topic, damage) for topic in TOPICS for damage in damages]


# Kafka ends with exit code 1: a CorruptRecordException in the first case, "Split operation is only permitted for
# segments with overflow" in the others.
REFUSED_BY_KAFKA = {
    STOPPED: [("sparse", "active: zeroed from the second to the third batch")],
    KILLED: _in_all_topics(
        "closed: base offset 15 becomes 2^40 + 15",
        "closed: base offset 15 becomes negative",
        "active: base offset 27 becomes 2^40 + 27",
        "active: base offset 27 becomes negative",
    ),
    KILLED_AGAIN: _in_all_topics("active: base offset 27 becomes 2^40 + 27", "active: base offset 27 becomes negative"),
}

Json = str | int | list[str] | dict[str, str]


class RunningBroker(Protocol):
    """A broker process on a data folder."""

    @property
    def address(self) -> str:
        """Host and port."""
        ...

    def kill(self) -> None:
        """Send SIGKILL and wait for the end of the process."""
        ...


# Runs a broker on a data folder inside the with block, and stops it cleanly. Raises RuntimeError if it does not start.
RunBroker = Callable[[Path], AbstractContextManager[RunningBroker]]


class Asker:
    """Asks one broker about its logs."""

    def __init__(self, address: str) -> None:
        self._connection = RawConnection(address)

    def close(self) -> None:
        self._connection.close()

    def fill(self) -> None:
        """Create the topics and fill every log."""
        for topic, index_interval_bytes in TOPICS.items():
            configs: list[Value] = [
                {"name": "segment.ms", "value": str(HOUR_MS)},
                {"name": "retention.ms", "value": "-1"},
                {"name": "index.interval.bytes", "value": index_interval_bytes},
            ]
            created: Mapping[str, Value] = {
                "name": topic,
                "num_partitions": len(DAMAGES),
                "replication_factor": 1,
                "configs": configs,
            }
            answer = self._connection.call(raw_apis.CREATE_TOPICS, CREATE_TOPICS_VERSION, {"topics": [created]})
            assert answer.structs("topics")[0].integer("error_code") == NO_ERROR, answer
            self.wait_until_led(topic)
            for number in range(SEGMENTS * BATCHES):
                for partition in range(len(DAMAGES)):
                    assert self.produce(topic, partition, batch_of(number)) == str(number * RECORDS)

    def wait_until_led(self, topic: str) -> None:
        """Return when the broker leads all partitions: a Kafka that starts answers before it does."""
        deadline = time.monotonic() + STARTED_SECONDS_MAX
        for partition in range(len(DAMAGES)):
            while self._listed(topic, partition, LATEST).integer("error_code") in NOT_LED_YET:
                assert time.monotonic() < deadline, f"{topic}-{partition} has no leader"
                time.sleep(0.05)

    def wait_until_ready(self) -> None:
        """Return when the broker leads all partitions of all topics."""
        for topic in TOPICS:
            self.wait_until_led(topic)

    def about(self, topic: str, partition: int) -> dict[str, Json]:
        """Return all answers about a log. The last question appends a batch."""
        return {
            "earliest": self._offset(topic, partition, EARLIEST),
            "latest": self._offset(topic, partition, LATEST),
            "late in the closed segment": self._offset(topic, partition, LATE_IN_CLOSED),
            "fetched": {
                str(offset): self._fetched(topic, partition, offset).text for offset in range(0, LOG_END + 1, RECORDS)
            },
            "consumed": self._consumed(topic, partition),
            "appended at": self.produce(topic, partition, batch_of(SEGMENTS * BATCHES)),
        }

    def produce(self, topic: str, partition: int, batch: bytes) -> str:
        """Return the base offset, or the error."""
        body: Mapping[str, Value] = {
            "acks": -1,
            "topics": [{"name": topic, "partitions": [{"index": partition, "records": batch}]}],
        }
        answer = _first_partition(self._connection.call(raw_apis.PRODUCE, PRODUCE_VERSION, body))
        error_code = answer.integer("error_code")
        return f"error {error_code}" if error_code else str(answer.integer("base_offset"))

    def _offset(self, topic: str, partition: int, timestamp: int) -> str:
        answer = self._listed(topic, partition, timestamp)
        error_code = answer.integer("error_code")
        return f"error {error_code}" if error_code else str(answer.integer("offset"))

    def _listed(self, topic: str, partition: int, timestamp: int) -> Struct:
        body: Mapping[str, Value] = {
            "topics": [{"name": topic, "partitions": [{"index": partition, "timestamp": timestamp}]}]
        }
        return _first_partition(self._connection.call(raw_apis.LIST_OFFSETS, LIST_OFFSETS_VERSION, body))

    def _fetched(self, topic: str, partition: int, offset: int) -> "Fetched":
        body: Mapping[str, Value] = {
            "topics": [{"name": topic, "partitions": [{"index": partition, "fetch_offset": offset}]}]
        }
        answer = _first_partition(self._connection.call(raw_apis.FETCH, FETCH_VERSION, body))
        error_code = answer.integer("error_code")
        records = answer["records"]
        return Fetched(error_code, records if isinstance(records, bytes) else b"")

    def _consumed(self, topic: str, partition: int) -> list[str]:
        """Return what a consumer reads that continues after the last whole batch of each response, until it cannot."""
        consumed: list[str] = []
        offset = 0
        for _ in range(CONSUMED_FETCHES_MAX):
            fetched = self._fetched(topic, partition, offset)
            whole = [batch for batch in fetched.batches if batch.last_offset >= offset]
            if not whole:
                return [*consumed, f"at {offset}: {fetched.text}"]
            for batch in whole:
                if not batch.is_crc_right:
                    return [*consumed, f"at {offset}: {batch.text}"]
                consumed.append(batch.text)
                offset = batch.last_offset + 1
        return [*consumed, "no end"]


@dataclass(frozen=True, slots=True)
class FetchedBatch:
    """A whole batch of a response."""

    base_offset: int
    last_offset: int
    magic: int
    is_crc_right: bool

    @property
    def text(self) -> str:
        text = f"{self.base_offset}..{self.last_offset}"
        text += "" if self.magic == 2 else f" magic {self.magic}"
        return text if self.is_crc_right else f"{text} wrong CRC"


class Fetched:
    """The error, the whole batches and the size of the rest in a response."""

    def __init__(self, error_code: int, records: bytes) -> None:
        self.error_code = error_code
        self.batches: list[FetchedBatch] = []
        position = 0
        while position + raw_batches.HEADER_BYTES <= len(records):
            length = int.from_bytes(records[position + 8 : position + 12], "big", signed=True)
            end = position + raw_batches.LENGTH_PREFIX_BYTES + length
            if not position + raw_batches.HEADER_BYTES <= end <= len(records):
                break
            self.batches.append(_batch_in(records[position:end]))
            position = end
        self.rest = len(records) - position

    @property
    def text(self) -> str:
        words = [f"error {self.error_code}"] if self.error_code else []
        words += [batch.text for batch in self.batches]
        words += [f"{self.rest} bytes of a batch"] if self.rest else []
        return ", ".join(words) or "nothing"


def _batch_in(data: bytes) -> FetchedBatch:
    base_offset = int.from_bytes(data[:8], "big", signed=True)
    last_offset_delta = int.from_bytes(data[23:27], "big", signed=True)
    is_crc_right = int.from_bytes(data[17:21], "big") == crc32c(data[raw_batches.CRC_START :])
    return FetchedBatch(base_offset, base_offset + last_offset_delta, data[16], is_crc_right)


def _first_partition(answer: Struct) -> Struct:
    return answer.structs("topics")[0].structs("partitions")[0]


@contextmanager
def _asking(run: RunBroker, data: Path) -> Generator[tuple[RunningBroker, Asker], None, None]:
    with run(data) as broker:
        asker = Asker(broker.address)
        try:
            yield broker, asker
        finally:
            asker.close()


def capture(run: RunBroker, folder: Path, stop: str, output: TextIO, *, refused: Collection[Place] = ()) -> None:
    """Fill logs, stop the broker in that way, damage them, and ask it when it runs again.

    folder: empty, for the data folders. refused: the damaged logs with which the broker is expected not to start.
    """
    data = folder / "data"
    _fill_and_stop(run, data, stop)
    for place in refused:
        copy = folder / "copy"
        shutil.copytree(data, copy)
        damage_log(copy, *place)
        assert not _starts(run, copy), f"started with {place}"
        shutil.rmtree(copy)
    places = [(topic, damage) for topic in TOPICS for damage in DAMAGES]
    for place in places:
        if place not in refused:
            damage_log(data, *place)
    with _asking(run, data) as (_, asker):
        asker.wait_until_ready()
        for topic, damage in places:
            answers = REFUSED if (topic, damage) in refused else asker.about(topic, list(DAMAGES).index(damage))
            line = {"stop": stop, "index": topic, "damage": damage, "answers": answers}
            output.write(json.dumps(line) + "\n")


def _fill_and_stop(run: RunBroker, data: Path, stop: str) -> None:
    with _asking(run, data) as (broker, asker):
        asker.fill()
        if stop == KILLED:
            broker.kill()
    if stop == KILLED_AGAIN:
        with _asking(run, data) as (broker, asker):
            asker.wait_until_ready()
            broker.kill()


def _starts(run: RunBroker, data: Path) -> bool:
    try:
        with run(data):
            return True
    except RuntimeError:
        return False


def capture_from_kafka(folder: Path, output: TextIO) -> None:
    """Ask a real Kafka after each kind of stop. folder: empty, for its data and logs."""
    for number, stop in enumerate(STOPS):
        own_folder = folder / str(number)
        own_folder.mkdir()
        run = partial(kafka_process, folder / f"{number}.log", CONFIG)
        capture(run, own_folder, stop, output, refused=REFUSED_BY_KAFKA[stop])


def main() -> None:
    """Write the golden file."""
    with tempfile.TemporaryDirectory() as folder, GOLDEN.open("w") as output:
        capture_from_kafka(Path(folder), output)


if __name__ == "__main__":
    main()
