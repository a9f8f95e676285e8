"""read_committed over files and a broker, compared with a plain evaluation of the markers."""

from itertools import pairwise
from pathlib import Path
from random import Random
from struct import pack

import pytest

from fauxka.pipeline.read.committed import OpenTransactions
from fauxka.pipeline.read.file_log import FileLog
from fauxka.pipeline.read.segment_files import find_segments
from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from fauxka.protocol.batches.record_batch import parse_header, stamped_prefix
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.storage.producers.producer_snapshot import encode_snapshot
from fauxka.storage.producers.producer_state_entry import ProducerStateEntry
from fauxka.testing import Broker

from .logs_on_disk import GOLDEN, options_of, read, rows_of, write_segment

PRODUCERS = range(1, 4)
STEPS = 60


class Transactions:
    """A log of interleaved transactions, and its committed records."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.batches: list[bytes] = []
        self.offset = 0
        self.open: dict[int, list[int]] = {}
        self.committed: set[int] = set()
        # Producer, first offset and marker of each aborted transaction; and the open transactions before each offset.
        self.aborted: list[tuple[int, int, int]] = []
        self.open_at: dict[int, dict[int, int]] = {}
        for _ in range(STEPS):
            self.open_at[self.offset] = {producer: offsets[0] for producer, offsets in self.open.items()}
            self.step()

    def step(self) -> None:
        producer, action = self.random.choice(PRODUCERS), self.random.random()
        if action < 0.2:
            self.committed |= set(self.append(None))
        elif action < 0.7:
            self.open.setdefault(producer, []).extend(self.append(producer))
        elif producer in self.open:
            self.end(producer, is_commit=action < 0.85)

    def append(self, producer: int | None) -> list[int]:
        count = self.random.randint(1, 3)
        options = BatchOptions(
            base_offset=self.offset,
            producer_id=-1 if producer is None else producer,
            producer_epoch=-1 if producer is None else 0,
            base_sequence=-1 if producer is None else self.offset,
            is_transactional=producer is not None,
        )
        self.batches.append(build_batch([Record(b"v")] * count, options))
        first, self.offset = self.offset, self.offset + count
        return list(range(first, self.offset))

    def end(self, producer: int, *, is_commit: bool) -> None:
        offsets = self.open.pop(producer)
        if is_commit:
            self.committed |= set(offsets)
        else:
            self.aborted.append((producer, offsets[0], self.offset))
        marker = EndTransactionMarker(is_commit, 0)
        built = build_marker_batch(marker, producer_id=producer, producer_epoch=0, timestamp=0)
        self.batches.append(stamped_prefix(self.offset, len(built) - 12, 0) + built[16:])
        self.offset += 1

    @property
    def stable_offset(self) -> int:
        return min((offsets[0] for offsets in self.open.values()), default=self.offset)

    @property
    def expected(self) -> list[int]:
        return sorted(offset for offset in self.committed if offset < self.stable_offset)

    def write(self, folder: Path, *, has_snapshots: bool = True) -> None:
        """Write segments with transaction indexes as Kafka has them: an entry where the marker is."""
        cuts = [0, *sorted(self.random.sample(range(1, len(self.batches)), 3)), len(self.batches)]
        for first, end in pairwise(cuts):
            path = write_segment(folder, self.batches[first:end])
            start = parse_header(self.batches[first]).base_offset
            last = parse_header(self.batches[end - 1]).last_offset
            entries = [one for one in self.aborted if start <= one[2] <= last]
            if entries:
                content = b"".join(pack(">hqqqq", 0, *one, one[2]) for one in entries)
                path.with_suffix(".txnindex").write_bytes(content)
            if has_snapshots and first:
                path.with_suffix(".snapshot").write_bytes(self.snapshot(start))

    def snapshot(self, offset: int) -> bytes:
        opened = self.open_at[offset]
        return encode_snapshot(
            ProducerStateEntry(producer, 0, (), 0, (0, first_offset)) for producer, first_offset in opened.items()
        )


def transactional(offset: int) -> bytes:
    return build_batch([Record(b"v")], BatchOptions(base_offset=offset, producer_id=7, is_transactional=True))


def committed_offsets(**options: object) -> list[object]:
    rows = read(isolationLevel="read_committed", **options)
    return [row["offset"] for row in rows if not row["is_control"]]


def test_a_kafka_log_is_read_up_to_its_open_transaction_without_its_aborted_one() -> None:
    everything = [row["offset"] for row in read(path=GOLDEN, topics="demo") if not row["is_control"]]

    offsets = committed_offsets(path=GOLDEN, topics="demo")

    assert offsets == [offset for offset in everything if isinstance(offset, int) and offset < 9 and offset != 7]
    assert 7 in everything
    assert [*FileLog(options_of(path=GOLDEN, isolationLevel="read_committed")).open_transaction_offsets().values()] == [
        9
    ]


@pytest.mark.parametrize("has_snapshots", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_files_return_committed_records(tmp_path: Path, seed: int, has_snapshots: bool) -> None:
    log = Transactions(seed)
    log.write(tmp_path / "t-0", has_snapshots=has_snapshots)

    assert committed_offsets(path=tmp_path, splitBytes=1024) == log.expected


def test_the_random_logs_have_aborted_and_open_transactions() -> None:
    logs = [Transactions(seed) for seed in range(20)]

    assert all(log.aborted for log in logs)
    assert {bool(log.open) for log in logs} == {True, False}


@pytest.mark.parametrize("seed", range(5))
def test_a_broker_returns_committed_records(tmp_path: Path, seed: int) -> None:
    log = Transactions(seed)
    log.write(tmp_path / "t-0")
    with Broker(import_logs=tmp_path) as broker:
        assert committed_offsets(bootstrap=broker.bootstrap_servers, topics="t", splitRecords=7) == log.expected


@pytest.mark.parametrize("seed", range(5))
def test_a_stream_of_growing_files_returns_each_committed_record_once(tmp_path: Path, seed: int) -> None:
    log = Transactions(seed)
    options = options_of(path=tmp_path, isolationLevel="read_committed")
    stream, at, offsets = FileLog(options), None, list[object]()
    for end in [*range(5, len(log.batches), 5), len(log.batches)]:
        path = write_segment(tmp_path / "t-0", log.batches[:end])
        last = parse_header(log.batches[end - 1]).last_offset
        # The aborted transactions that have a marker.
        entries = [pack(">hqqqq", 0, *one, one[2]) for one in log.aborted if one[2] <= last]
        path.with_suffix(".txnindex").write_bytes(b"".join(entries))
        ends = stream.ends()
        splits = FileLog(options).splits_between(at or {}, ends)
        offsets += [row["offset"] for row in rows_of(splits) if not row["is_control"]]
        at = ends

    assert offsets == log.expected


def test_batches_before_a_snapshot_are_not_read(tmp_path: Path) -> None:
    opened = [transactional(0), transactional(5)]
    write_segment(tmp_path / "t-0", opened[:1])
    later = write_segment(tmp_path / "t-0", opened[1:])
    later.with_suffix(".snapshot").write_bytes(encode_snapshot([]))
    (segments,) = find_segments(str(tmp_path), lambda _: True).values()

    first = OpenTransactions().update(segments)

    assert first is not None
    assert first.offset == 5


def test_a_snapshot_of_an_older_transaction_leads_to_its_segment(tmp_path: Path) -> None:
    opened = [transactional(0), transactional(5)]
    write_segment(tmp_path / "t-0", opened[:1])
    later = write_segment(tmp_path / "t-0", opened[1:])
    later.with_suffix(".snapshot").write_bytes(encode_snapshot([ProducerStateEntry(7, 0, (), 0, (0, 0))]))
    (segments,) = find_segments(str(tmp_path), lambda _: True).values()

    first = OpenTransactions().update(segments)

    assert first is not None
    assert first.offset == 0
