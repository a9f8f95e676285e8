"""Benchmarks of the pipeline: the decoder on one core; on local[2] the data source, Spark's kafka format, and an audit.

The data source also reads the same folder from an S3 server on this machine, if go is there to compile one.

A record has a key of 8 bytes and a value of 92 random bytes, which hardly compress; a batch has 160 records (16 KB) by
default. The decoder's figures are CPU time. Spark's are wall time after enough rounds for the virtual machine to
compile, and of the first round.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from fauxka.protocol.batches.record_batch import Compression, parse_header, stamped_prefix
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch

from .goals import verdict_text
from .measurement import Figures
from .object_server import object_server, object_server_missing
from .process_tree import own_cpu_seconds, process_ids, program_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fauxka.pipeline.decode.views import ViewName

PARTS = ("decoder", "store", "spark", "ledger")

RECORD_COUNT = 1_000_000
# The decoder decodes pieces of this size, so a part of the records is enough for it.
DECODED_COUNT = 320_000
BATCH_RECORDS = 160
# Several splits of 32 MB.
STORED_COUNT = 1_280_000
PARTITIONS = 4

DECODER_GOAL = 2.5e6
SOURCE_GOAL = 1.2e6
CONNECTOR_FACTOR_GOAL = 3
LEDGER_SECONDS_GOAL = 5.0
# Of a task that reads from an S3 server on this machine, beside one that reads a file.
STORED_GOAL = 0.8

# The virtual machine compiles during these rounds. Only the first of them is reported.
WARMING_ROUNDS = 12

# The columns of the kafka format, which always reads all of them.
KAFKA_COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestamp_type int"
)
SAME_COLUMNS = "data source, path, its columns"
BATCHES = "data source, path, batches"
_VIEWS: tuple[ViewName, ...] = ("records", "batches")
LOCAL, STORED, NOTHING_AHEAD = "path", "s3", "s3 with nothing ahead"
READY = "Arrow batches without decoding"
# About as many as the data source has in an Arrow batch.
READY_ROWS = 16_000
LEDGER_KEYS = 10_000
# The columns that the audit of a ledger reads, with the key as event id.
LEDGER_COLUMNS = (
    "topic string, partition int, offset bigint, timestamp timestamp, key binary, batch_base_offset bigint, "
    "is_control boolean, damage string"
)
LEDGER = "ledger of 1 M events, log of 1 M records"


@dataclass(frozen=True, slots=True)
class DecoderCase:
    """A view, codec and batch size to decode."""

    name: str
    view: ViewName
    codec: Compression = Compression.NONE
    batch_records: int = BATCH_RECORDS
    goal: float | None = None


DECODER_CASES = (
    DecoderCase("records", "records", goal=DECODER_GOAL),
    DecoderCase("batches, with CRC", "batches", goal=DECODER_GOAL),
    DecoderCase("records, 1 MB batches", "records", batch_records=10_000),
    *(DecoderCase(f"records, {count:,} a batch", "records", batch_records=count) for count in (1, 10, 100, 1000)),
    *(DecoderCase(f"records, {codec.name.lower()}", "records", codec) for codec in Compression if codec),
)


def main(names: Sequence[str], round_count: int) -> dict[str, Figures]:
    """Measure the named parts, or all, print the figures and the goals, and return the medians."""
    results: dict[str, Figures] = {}
    if not names or "decoder" in names:
        results |= {case.name: _measure_decoder(case, round_count) for case in DECODER_CASES}
    if not names or "store" in names:
        results |= _measure_store(round_count)
    by_spark = {"spark": _measure_source, "ledger": _measure_ledger}
    chosen = [measure for part, measure in by_spark.items() if not names or part in names]
    if chosen:
        with _log_in_spark() as log:
            for measure in chosen:
                results |= measure(log, round_count)
    return results


def log_bytes(count: int, codec: Compression, batch_records: int) -> bytes:
    """Return the bytes of a log with count records."""
    generator = random.Random(7)
    records = [
        Record(generator.randbytes(92), f"{index:08d}".encode(), 1_700_000_000_000 + index)
        for index in range(batch_records)
    ]
    batch = build_batch(records, BatchOptions(compression=codec, producer_id=1, producer_epoch=0, base_sequence=0))
    length, rest = parse_header(batch).length, batch[16:]
    return b"".join(stamped_prefix(base, length, 0) + rest for base in range(0, count, batch_records))


def _measure_decoder(case: DecoderCase, round_count: int) -> Figures:
    from fauxka.pipeline.decode.decoder import Decoder
    from fauxka.pipeline.decode.row_source import RowSource
    from fauxka.pipeline.decode.views import columns_of

    data = memoryview(log_bytes(DECODED_COUNT, case.codec, case.batch_records))
    decoder = Decoder(case.view, columns_of(case.view))
    rates: list[float] = []
    # The first round, with newly allocated memory, is not counted.
    for _ in range(round_count + 1):
        begin = time.process_time()
        rows = sum(part.num_rows for part in decoder.decode(data, RowSource("t", 0)))
        rates.append(DECODED_COUNT / (time.process_time() - begin))
        assert rows == (DECODED_COUNT if case.view == "records" else DECODED_COUNT // case.batch_records), (
            f"{rows} rows were decoded"
        )
    rate = statistics.median(rates[1:])
    _print_rate(f"decoder, {case.name}", rate, case.goal)
    return {"records/s": rate}


def _measure_store(round_count: int) -> dict[str, Figures]:
    """Measure the readers of one task without Spark: the same file on this machine and in an object store, in turn."""
    missing = object_server_missing()
    if missing is not None:
        print(f"no object store: {missing} is missing")
        return {}
    with TemporaryDirectory(prefix="fauxka-bench-") as folder:
        file = Path(folder, "log", "t-0", f"{0:020d}.log")
        file.parent.mkdir(parents=True)
        file.write_bytes(log_bytes(STORED_COUNT, Compression.NONE, BATCH_RECORDS))
        with object_server(Path(folder)) as variables:
            os.environ.update(variables)
            seconds: dict[tuple[str, ViewName], list[float]] = {
                (place, view): [] for view in _VIEWS for place in (LOCAL, STORED, NOTHING_AHEAD)
            }
            # The first round, which connects, is not counted.
            for _ in range(round_count + 1):
                for (place, view), measured in seconds.items():
                    path = f"{folder}/log" if place == LOCAL else "s3://log"
                    measured.append(_seconds_to_read(path, view, is_ahead=place != NOTHING_AHEAD))
    rates = {case: STORED_COUNT / statistics.median(measured[1:]) for case, measured in seconds.items()}
    for (place, view), rate in rates.items():
        share = rate / rates[LOCAL, view]
        verdict = "" if (place, view) != (STORED, "records") else f"   goal {STORED_GOAL}"
        _print_rate(f"one task, {place}, {view}", rate, None, f"   {share:.2f} x the local one{verdict}")
    return {f"one task, {place}, {view}": {"records/s": rate} for (place, view), rate in rates.items()}


def _seconds_to_read(path: str, view: ViewName, *, is_ahead: bool) -> float:
    """Return the seconds of one task. is_ahead: whether ranges of a stored file are requested ahead."""
    from fauxka.pipeline.decode.decoder import Decoder
    from fauxka.pipeline.decode.views import columns_of
    from fauxka.pipeline.read.file_splits import FileSplit
    from fauxka.pipeline.read.log_splits import open_log
    from fauxka.pipeline.read.object_store import ArrowFiles
    from fauxka.pipeline.read.options import parse_options

    decoder = Decoder(view, columns_of(view))
    # Planned before, because a file without an index is read for it, and the driver does it for all tasks.
    splits = open_log(parse_options({"path": path})).splits()
    begin = time.perf_counter()
    for split in splits:
        assert isinstance(split, FileSplit), "the log is a folder"
        if isinstance(split.store, ArrowFiles) and not is_ahead:
            split = replace(split, store=split.store._replace(ahead=0))
        for _ in split.read(decoder):
            pass
    return time.perf_counter() - begin


def _print_rate(name: str, rate: float, goal: float | None, more: str = "") -> None:
    verdict = "" if goal is None else f"   goal {goal / 1e6:.1f} M: {verdict_text(rate >= goal)}"
    print(f"{name:40} {rate / 1e6:6.2f} M records/s{more}{verdict}")


@dataclass(frozen=True, slots=True)
class _Log:
    """A topic in a data folder, a broker that serves it, and a Spark session."""

    spark: SparkSession
    folder: str
    bootstrap: str
    # The same folder in an object store; None without a server.
    stored: str | None

    def frame(self, view: ViewName, schema: str | None = None, **options: str) -> DataFrame:
        """Return a frame of the topic, read from its folder unless options name a broker."""
        options = options or {"path": self.folder}
        reader = self.spark.read.format("fauxka-log").options(topics="t", view=view, **options)
        return (reader if schema is None else reader.schema(schema)).load()


@contextmanager
def _log_in_spark() -> Generator[_Log]:
    from fauxka.pipeline.cluster.spark_session import start_session
    from fauxka.testing import Broker

    with TemporaryDirectory(prefix="fauxka-bench-") as folder:
        _write_log(Path(folder, "log"))
        with _object_store(Path(folder)) as stored, Broker(data_dir=Path(folder, "log")) as broker:
            spark = start_session("local[2]", with_kafka=True, settings={"spark.driver.memory": "2g"})
            try:
                yield _Log(spark, f"{folder}/log", broker.bootstrap_servers, stored)
            finally:
                spark.stop()


@contextmanager
def _object_store(folder: Path) -> Generator[str | None]:
    """Serve the log by S3 on this machine during the block, to Spark's workers too. Yields its URI."""
    missing = object_server_missing()
    if missing is not None:
        print(f"no object store: {missing} is missing")
        yield None
        return
    with object_server(folder) as variables:
        os.environ.update(variables)
        yield "s3://log"


def _measure_source(log: _Log, round_count: int) -> dict[str, Figures]:
    """Measure all ways to read the topic, in turn, in one session."""
    kafka = log.spark.read.format("kafka").option("kafka.bootstrap.servers", log.bootstrap)
    frames = {
        SAME_COLUMNS: log.frame("records", KAFKA_COLUMNS),
        "data source, path, all columns": log.frame("records"),
        BATCHES: log.frame("batches"),
        **({} if log.stored is None else _stored_frames(log, log.stored)),
        "data source, bootstrap": log.frame("records", KAFKA_COLUMNS, bootstrap=log.bootstrap),
        READY: _ready_frame(log.spark),
        "kafka format": kafka.option("subscribe", "t").load(),
    }
    timings = _timings_of(frames, round_count)
    medians = {name: RECORD_COUNT / timing.median for name, timing in timings.items()}
    connector = medians["kafka format"]
    goals = {SAME_COLUMNS: SOURCE_GOAL, BATCHES: DECODER_GOAL}
    for name, rate in medians.items():
        _print_rate(f"spark, {name}", rate, goals.get(name), timings[name].in_words())
    factor = medians[SAME_COLUMNS] / connector
    verdict = verdict_text(factor >= CONNECTOR_FACTOR_GOAL)
    print(f"the data source is {factor:.1f} times as fast as the kafka format; goal {CONNECTOR_FACTOR_GOAL}: {verdict}")
    return {name: {"records/s": rate} for name, rate in medians.items()}


def _stored_frames(log: _Log, uri: str) -> dict[str, DataFrame]:
    return {
        "data source, s3, its columns": log.frame("records", KAFKA_COLUMNS, path=uri),
        "data source, s3, batches": log.frame("batches", path=uri),
    }


def _measure_ledger(log: _Log, round_count: int) -> dict[str, Figures]:
    """Measure the audit of a complete ledger, including reading both; it has no findings."""
    from fauxka.pipeline.checks.event_id import event_id_column
    from fauxka.pipeline.checks.ledger_audit import audit_ledger

    log.spark.conf.set("spark.sql.shuffle.partitions", str(PARTITIONS))
    file = f"{log.folder}-sent.parquet"
    _write_ledger(log.spark, file)
    records = log.frame("records", LEDGER_COLUMNS)
    found = audit_ledger(records, log.spark.read.parquet(file), event_id_column("key"))
    assert found.isEmpty(), "the audit of a complete ledger has findings"
    timing = _timings_of({LEDGER: found}, round_count)[LEDGER]
    first, seconds = timing.first, timing.median
    verdict = verdict_text(seconds <= LEDGER_SECONDS_GOAL)
    print(f"{LEDGER:40} {seconds:6.2f} s   first round {first:.1f} s   goal {LEDGER_SECONDS_GOAL:.0f} s: {verdict}")
    return {LEDGER: {"seconds": seconds}}


def _ready_frame(spark: SparkSession) -> DataFrame:
    """Return the same rows without decoding."""
    from .ready_source import ReadySource

    spark.dataSource.register(ReadySource)
    options = {"records": RECORD_COUNT, "partitions": PARTITIONS, "rows": READY_ROWS}
    return spark.read.format(ReadySource.name()).schema(KAFKA_COLUMNS).options(**options).load()


class _Round(NamedTuple):
    """Wall time of a query, and CPU time of Spark's virtual machine and of its Python workers, in seconds."""

    wall: float
    machine: float
    workers: float


@dataclass(frozen=True, slots=True)
class _Timing:
    """The wall time of the first round, and medians after the warming rounds, in seconds."""

    first: float
    median: float
    machine: float
    workers: float

    def in_words(self) -> str:
        """Return the first round, and the CPU time of a record, which other work on the machine hardly changes."""
        cpu = " + ".join(f"{seconds / RECORD_COUNT * 1e9:.0f}" for seconds in (self.machine, self.workers))
        return f"   first round {self.first:.1f} s   CPU ns a record: JVM + Python {cpu}"


def _timings_of(frames: dict[str, DataFrame], round_count: int) -> dict[str, _Timing]:
    """Return the time to compute every column of every row without writing them."""
    rounds: dict[str, list[_Round]] = {name: [] for name in frames}
    for _ in range(round_count + WARMING_ROUNDS):
        for name, frame in frames.items():
            rounds[name].append(_round_of(frame))
    timings: dict[str, _Timing] = {}
    for name, measured in rounds.items():
        warm = measured[WARMING_ROUNDS:]
        medians = (statistics.median(column) for column in zip(*warm, strict=True))
        timings[name] = _Timing(measured[0].wall, *medians)
    return timings


def _round_of(frame: DataFrame) -> _Round:
    before, begin = _cpu_of_children(), time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    wall = time.perf_counter() - begin
    used = {process: seconds - before.get(process, 0.0) for process, seconds in _cpu_of_children().items()}
    machine = sum(seconds for process, seconds in used.items() if program_of(process) == "java")
    return _Round(wall, machine, sum(used.values()) - machine)


def _cpu_of_children() -> dict[int, float]:
    """Return the CPU time of Spark's processes. The broker is in the process of the benchmark."""
    return {process: own_cpu_seconds(process) for process in process_ids(os.getpid()) if process != os.getpid()}


def _write_ledger(spark: SparkSession, file: str) -> None:
    from pyspark.sql import functions as f

    number = f.col("id")
    spark.range(0, RECORD_COUNT, 1, PARTITIONS).select(
        f.lpad(number.cast("string"), 8, "0").alias("event_id"),
        f.concat(f.lit("key-"), (number % LEDGER_KEYS).cast("string")).alias("key"),
        number.alias("ordinal"),
        f.lit("t").alias("topic"),
        (number % PARTITIONS).cast("int").alias("partition"),
        f.floor(number / PARTITIONS).alias("offset"),
        f.lit(None).cast("string").alias("error"),
    ).write.parquet(file)


def _write_log(folder: Path) -> None:
    """Produce the topic to a broker with this data folder."""
    from confluent_kafka import Producer

    from fauxka.testing import Broker

    value = random.Random(7).randbytes(92)
    with Broker(config={"num.partitions": str(PARTITIONS)}, data_dir=folder) as broker:
        settings = {"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 20, "batch.size": 16_384}
        producer = Producer({**settings, "batch.num.messages": BATCH_RECORDS, "queue.buffering.max.messages": 200_000})
        for number in range(RECORD_COUNT):
            while True:
                try:
                    producer.produce("t", value, f"{number:08d}", partition=number % PARTITIONS)
                    break
                except BufferError:
                    producer.poll(1)
        assert producer.flush(120) == 0, "all records are written"
