"""The pipeline: its decoder on one core, and the data source on local[2] beside Spark's own kafka format.

A record has a key of 8 bytes and a value of 92 that no codec makes smaller by much; a batch has 160 records (16 KB)
where nothing else is said. The decoder's figures are CPU time, which other programs do not take; Spark's are wall time.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fauxka.protocol.record_batch import Compression, parse_header, stamped_prefix
from fauxka.protocol.records import BatchOptions, Record, build_batch

from .measurement import Figures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fauxka.pipeline.views import ViewName

PARTS = ("decoder", "spark")

RECORD_COUNT = 1_000_000
# A part of the records is enough for the decoder: it works through pieces of this size.
DECODED_COUNT = 320_000
BATCH_RECORDS = 160
PARTITIONS = 4

DECODER_GOAL = 2.5e6
SOURCE_GOAL = 1.2e6
CONNECTOR_FACTOR_GOAL = 3

# What the kafka format gives, which has no fewer columns for fewer being asked for.
KAFKA_COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestamp_type int"
)
SAME_COLUMNS = "data source, path, its columns"


@dataclass(frozen=True, slots=True)
class DecoderCase:
    """What is decoded."""

    name: str
    view: ViewName
    codec: Compression = Compression.NONE
    batch_records: int = BATCH_RECORDS
    goal: float | None = None


DECODER_CASES = (
    DecoderCase("records", "records", goal=DECODER_GOAL),
    DecoderCase("batches, with CRC", "batches", goal=DECODER_GOAL),
    DecoderCase("records, 1 MB batches", "records", batch_records=10_000),
    DecoderCase("records, 10 a batch", "records", batch_records=10),
    *(DecoderCase(f"records, {codec.name.lower()}", "records", codec) for codec in Compression if codec),
)


def main(names: Sequence[str], round_count: int) -> dict[str, Figures]:
    """Measure the parts, all without a name, print the figures and the goals, and return the medians."""
    results: dict[str, Figures] = {}
    if not names or "decoder" in names:
        results |= {case.name: _measure_decoder(case, round_count) for case in DECODER_CASES}
    if not names or "spark" in names:
        results |= _measure_spark(round_count)
    return results


def log_bytes(count: int, codec: Compression, batch_records: int) -> bytes:
    """Return batches as a log has them."""
    generator = random.Random(7)
    records = [
        Record(generator.randbytes(92), f"{index:08d}".encode(), 1_700_000_000_000 + index)
        for index in range(batch_records)
    ]
    batch = build_batch(records, BatchOptions(compression=codec, producer_id=1, producer_epoch=0, base_sequence=0))
    length, rest = parse_header(batch).length, batch[16:]
    return b"".join(stamped_prefix(base, length, 0) + rest for base in range(0, count, batch_records))


def _measure_decoder(case: DecoderCase, round_count: int) -> Figures:
    from fauxka.pipeline.decoder import Decoder
    from fauxka.pipeline.row_source import RowSource
    from fauxka.pipeline.views import columns_of

    data = memoryview(log_bytes(DECODED_COUNT, case.codec, case.batch_records))
    decoder = Decoder(case.view, columns_of(case.view))
    rates: list[float] = []
    # The first round is not counted: its memory is new.
    for _ in range(round_count + 1):
        begin = time.process_time()
        rows = sum(part.num_rows for part in decoder.decode(data, RowSource("t", 0)))
        rates.append(DECODED_COUNT / (time.process_time() - begin))
        assert rows == (DECODED_COUNT if case.view == "records" else DECODED_COUNT // case.batch_records), (
            "all rows are there"
        )
    rate = statistics.median(rates[1:])
    _tell(f"decoder, {case.name}", rate, case.goal)
    return {"records/s": rate}


def _tell(name: str, rate: float, goal: float | None) -> None:
    verdict = "" if goal is None else f"   goal {goal / 1e6:.1f} M: {'reached' if rate >= goal else 'MISSED'}"
    print(f"{name:40} {rate / 1e6:6.2f} M records/s{verdict}")


def _measure_spark(round_count: int) -> dict[str, Figures]:
    """Measure in one session, in turn, what each gives of the same topic."""
    from fauxka.pipeline.spark_session import start_session
    from fauxka.testing import Broker

    with TemporaryDirectory(prefix="fauxka-bench-") as folder:
        _write_log(Path(folder))
        with Broker(data_dir=folder) as broker:
            spark = start_session("local[2]", with_kafka=True, settings={"spark.driver.memory": "2g"})
            try:
                ours = spark.read.format("fauxka-log").option("topics", "t")
                same = spark.read.format("fauxka-log").option("topics", "t").schema(KAFKA_COLUMNS)
                kafka = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap_servers)
                frames = {
                    SAME_COLUMNS: same.load(folder),
                    "data source, path, all columns": ours.load(folder),
                    "data source, path, batches": ours.option("view", "batches").load(folder),
                    "data source, bootstrap": same.option("bootstrap", broker.bootstrap_servers).load(),
                    "kafka format": kafka.option("subscribe", "t").load(),
                }
                return _measure_frames(frames, round_count)
            finally:
                spark.stop()


def _measure_frames(frames: dict[str, DataFrame], round_count: int) -> dict[str, Figures]:
    rates: dict[str, list[float]] = {name: [] for name in frames}
    for _ in range(round_count + 1):
        for name, frame in frames.items():
            begin = time.perf_counter()
            # Makes every column of every row, and writes none.
            frame.write.format("noop").mode("overwrite").save()
            rates[name].append(RECORD_COUNT / (time.perf_counter() - begin))
    medians = {name: statistics.median(measured[1:]) for name, measured in rates.items()}
    connector = medians["kafka format"]
    for name, rate in medians.items():
        _tell(f"spark, {name}", rate, SOURCE_GOAL if name == SAME_COLUMNS else None)
    factor = medians[SAME_COLUMNS] / connector
    print(f"the data source is {factor:.1f} times as fast as the kafka format; goal {CONNECTOR_FACTOR_GOAL}")
    return {name: {"records/s": rate} for name, rate in medians.items()}


def _write_log(folder: Path) -> None:
    """Write the topic through a broker, so that its folder is one that a broker serves."""
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
