"""The offset of a time: the same in the files of a broker as in its ListOffsets responses, which are Kafka's."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import Producer

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.read.log_splits import open_log
from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.testing import Broker

from .logs_on_disk import options_of, read, write_segment
from .test_fetch_log import delete_records_before

START_MS = 1_700_000_000_000
MESSAGES = 600
# Between the records, before the first one and behind the last one.
TIMES = [START_MS + seconds * 500 for seconds in range(-4, MESSAGES + 20, 7)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Broker]:
    config = {"log.segment.bytes": str(1024 * 1024), "log.index.interval.bytes": "2000", "log.retention.ms": "-1"}
    with Broker(config=config, data_dir=folder) as broker:
        broker.topics.create("t", partitions=2)
        produce(broker.bootstrap_servers)
        yield broker


def produce(bootstrap: str) -> None:
    """Send records of increasing and of mixed times, to a partition each, in several segments."""
    producer = Producer({"bootstrap.servers": bootstrap, "batch.num.messages": 7, "compression.type": "lz4"})
    random = Random(7)
    for number in range(MESSAGES):
        value = random.randbytes(4000)
        producer.produce("t", value, partition=0, timestamp=START_MS + number * 500)
        producer.produce("t", value, partition=1, timestamp=START_MS + random.randrange(MESSAGES) * 500)
    assert producer.flush(30) == 0


def ranges(place: dict[str, str], time: int) -> tuple[object, object]:
    """Return the offsets of a time as a start and as an end."""
    strategy = {"startingOffsetsByTimestampStrategy": "latest"}
    starts, _ = open_log(options_of(**place, **strategy, startingTimestamp=time)).chosen_range()
    log = open_log(options_of(**place, endingTimestamp=time))
    _, ends = log.chosen_range()
    _, last = log.whole_range()
    return starts, {name: min(end, last[name]) for name, end in ends.items()}


@pytest.mark.deep
@pytest.mark.slice
def test_files_have_the_offsets_that_their_broker_returns(broker: Broker, folder: Path) -> None:
    assert len(list((folder / "t-0").glob("*.log"))) > 1, "the log has several segments"
    on_broker = {"bootstrap": broker.bootstrap_servers, "topics": "t"}
    in_files = {"path": str(folder), "topics": "t"}

    found = [ranges(on_broker, time) for time in TIMES]

    assert [ranges(in_files, time) for time in TIMES] == found
    assert len({str(one) for one in found}) > MESSAGES // 8, "the times have many different offsets"


def test_files_without_indexes_have_the_same_offsets(broker: Broker, folder: Path, tmp_path: Path) -> None:
    for path in folder.glob("t-*/*.log"):
        copy = tmp_path / path.relative_to(folder)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())

    assert [ranges({"path": str(tmp_path)}, time) for time in TIMES] == [
        ranges({"bootstrap": broker.bootstrap_servers, "topics": "t"}, time) for time in TIMES
    ]


def test_a_range_of_times_has_the_same_records_in_files_and_on_the_broker(broker: Broker, folder: Path) -> None:
    times = {"startingTimestamp": START_MS + 30_250, "endingTimestamp": START_MS + 90_000}

    rows = read(path=folder, topics="t", **times)

    assert [row["offset"] for row in rows if row["partition"] == 0] == list(range(61, 180))
    fetched = read(bootstrap=broker.bootstrap_servers, topics="t", **times)
    assert [(row["partition"], row["offset"]) for row in rows] == [(row["partition"], row["offset"]) for row in fetched]


def test_a_time_before_the_log_start_is_at_the_log_start(tmp_path: Path) -> None:
    with Broker(config={"num.partitions": "1"}, data_dir=tmp_path) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "batch.num.messages": 5})
        for number in range(20):
            producer.produce("t", b"v", timestamp=START_MS + number)
        assert producer.flush(30) == 0
        delete_records_before(broker, 12)

        on_broker = ranges({"bootstrap": broker.bootstrap_servers, "topics": "t"}, START_MS + 3)
    in_files = ranges({"path": str(tmp_path), "topics": "t"}, START_MS + 3)

    assert in_files == on_broker
    assert in_files[0] == {("t", 0): 12}


def test_a_time_within_a_compressed_batch_is_at_its_record(tmp_path: Path) -> None:
    options = BatchOptions(base_offset=0, compression=Compression.GZIP)
    first = build_batch([Record(b"v", timestamp=START_MS), Record(b"v", timestamp=START_MS + 10)], options)
    write_segment(tmp_path / "t-0", [first])

    assert ranges({"path": str(tmp_path)}, START_MS + 5) == ({("t", 0): 1}, {("t", 0): 1})


def test_a_time_behind_all_records_is_an_error_or_the_end(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", [build_batch([Record(b"v", timestamp=START_MS)], BatchOptions())])
    later = {"path": tmp_path, "startingTimestamp": START_MS + 1}

    with pytest.raises(BadOption, match=r"startingTimestamp: t-0 has no record at or behind 1700000000001; "):
        read(**later)

    assert read(**later, startingOffsetsByTimestampStrategy="latest") == []
    assert len(read(path=tmp_path, endingTimestamp=START_MS + 1)) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"startingTimestamp": "noon"}, "startingTimestamp: must be milliseconds since 1970, not noon"),
        ({"endingTimestamp": "-1"}, "endingTimestamp: must be milliseconds since 1970, not -1"),
        (
            {"startingTimestamp": "1", "startingOffsets": "earliest"},
            "set only one of the options startingOffsets and startingTimestamp, not both",
        ),
        (
            {"startingTimestamp": "1", "startingOffsetsByTimestampStrategy": "none"},
            "startingOffsetsByTimestampStrategy: must be error or latest, not none",
        ),
    ],
)
def test_a_bad_time_is_one_line(options: dict[str, str], words: str) -> None:
    with pytest.raises(BadOption) as raised:
        options_of(path="p", **options)

    assert str(raised.value) == words


def test_a_damaged_batch_belongs_to_the_range_of_its_position(tmp_path: Path) -> None:
    """The offset in its header can be wrong, so the files of a range are cut by position."""
    stored = [build_batch([Record(b"v")] * 2, BatchOptions(base_offset=offset)) for offset in range(0, 10, 2)]
    damaged = bytearray(stored[1])
    damaged[3] = damaged[-1] = 0x55
    torn = stored[4][:70]
    write_segment(tmp_path / "t-0", [stored[0], bytes(damaged), *stored[2:4]], torn=torn)

    def view(start: int, end: int) -> list[tuple[object, object]]:
        offsets = {
            "startingOffsets": json.dumps({"t": {"0": start}}),
            "endingOffsets": json.dumps({"t": {"0": end}}),
        }
        rows = read(path=tmp_path, view="batches", **offsets)
        return [(row["base_offset"], row["damage"] is None) for row in rows]

    wrong = int.from_bytes(damaged[:8])
    assert view(0, 4) == [(0, True), (wrong, False)]
    assert view(6, 8) == [(6, True), (8, False)]


def test_a_damaged_header_does_not_move_the_end(tmp_path: Path) -> None:
    stored = [build_batch([Record(b"v")] * 2, BatchOptions(base_offset=offset)) for offset in range(0, 6, 2)]
    damaged = bytearray(stored[2])
    damaged[3] = damaged[-1] = 0x55
    write_segment(tmp_path / "t-0", [*stored[:2], bytes(damaged)])

    _, ends = open_log(options_of(path=tmp_path)).whole_range()

    assert ends == {("t", 0): 4}
