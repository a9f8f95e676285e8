"""Benchmarks of logs on disk: `python -m benchmarks --disk [PART ...]`.

Files are written to TMPDIR, which must be on the measured disk and needs 8 GB; each part deletes its files.
"""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from . import goals, load_program, many_partitions, measurement, report
from .load_program import Case
from .measurement import Figures, figure_name
from .process_tree import memory_mib, peak_memory_mib
from .targets import (
    FAUXKA,
    FAUXKA_ON_DISK,
    KAFKA_NAME,
    RunningTarget,
    Target,
    fauxka,
    fauxka_on_disk,
    kafka,
    kafka_missing,
    running,
    running_in,
)

Results: TypeAlias = dict[str, Figures]

ON_DISK = Target(FAUXKA_ON_DISK, fauxka_on_disk())
APPENDED = (measurement.SMALL_PIPELINED, measurement.MIDDLE_PIPELINED, measurement.LARGE_PIPELINED)
FLUSHED_ALONE = Case("fsync always, 1 producer", 2_000, measurement.SMALL, in_flight=1)
FLUSHED_TOGETHER = Case("fsync always, 64 producers", 20_000, measurement.SMALL, in_flight=1, producers=64)
# Less than a GB each; the result is scaled to a GB.
RECOVERED = (
    Case("recovery, batches of 160 B", 300_000, measurement.SMALL, in_flight=50),
    Case("recovery, batches of 16 KB", 30_000, measurement.MIDDLE, in_flight=5),
)
# Produced five times, because the load program has all requests of a case in memory.
GIGABYTE = Case("1 GB", 61_400, measurement.MIDDLE, in_flight=5)
GIGABYTES = 5
PARTITIONS = 10_000
MILLION_PRODUCERS = Case("producers", 1_000_000, measurement.SMALL, in_flight=50, producers=1_000_000)
# Six batches per producer: the cache of five is full.
BUSY_PRODUCERS = Case("busy producers", 600_000, measurement.SMALL, in_flight=50, producers=100_000)
TOPIC = "load"
MB_OF_GB, BYTES_OF_MIB = 1000, 1024 * 1024


def main(names: list[str], round_count: int) -> Results:
    """Measure the named parts, or all, and print the table and the goals."""
    results: Results = {FAUXKA: {}, FAUXKA_ON_DISK: {}, KAFKA_NAME: {}}
    load = os.getloadavg()[0]
    print(f"{report.machine()}; data in {tempfile.gettempdir()}; load before the run {load:.1f}")
    for name in names or list(PARTS):
        for target_name, figures in PARTS[name](round_count).items():
            results[target_name].update(figures)
    measured = {name: figures for name, figures in results.items() if figures}
    print(report.table(measured), report.checklist(measured, goals.DISK_GOALS), sep="\n\n")
    return results


def throughput(round_count: int) -> Results:
    """Measure append and fetch in memory, on disk and in a real Kafka, in turn."""
    targets = [Target(FAUXKA, fauxka()), ON_DISK, Target(KAFKA_NAME, kafka(), kafka_missing())]
    rounds: dict[str, list[Figures]] = {target.name: [] for target in targets if target.missing is None}
    for _ in range(round_count):
        for target in targets:
            if target.missing is None:
                with running(target) as broker:
                    rounds[target.name].append(_append_and_fetch(broker))
    return {name: measurement.medians(figures) for name, figures in rounds.items()}


def _append_and_fetch(broker: RunningTarget) -> Figures:
    figures: Figures = {}
    measurement.produce_case(broker, measurement.WARM_UP, figures={})
    for case in APPENDED:
        all_figures: Figures = {}
        measurement.produce_case(broker, case, all_figures)
        for quantity in (measurement.MB_PER_S, measurement.CPU_US):
            figures[figure_name(case, quantity)] = all_figures[figure_name(case, quantity)]
        figures[figure_name(case, measurement.FETCH_MB_PER_S)] = measurement.fetch_case(broker, case, seconds=0)
    return figures


def flushed(round_count: int) -> Results:
    """Measure appends with a sync before each acknowledgement, by one producer and by many on one partition."""
    targets = [
        Target(FAUXKA_ON_DISK, fauxka_on_disk("--fsync", "always")),
        Target(KAFKA_NAME, kafka("log.flush.interval.messages=1"), kafka_missing()),
    ]
    rounds: dict[str, list[Figures]] = {target.name: [] for target in targets if target.missing is None}
    for _ in range(round_count):
        for target in targets:
            if target.missing is None:
                with running(target) as broker:
                    rounds[target.name].append(_append_flushed(broker))
    results = {name: measurement.medians(figures) for name, figures in rounds.items()}
    results[FAUXKA_ON_DISK]["one write of 160 B and fdatasync, without a broker: us"] = _bare_flush_us()
    return results


def _append_flushed(broker: RunningTarget) -> Figures:
    figures: Figures = {}
    load_program.produce(broker.port, "warm-up", measurement.WARM_UP)
    for case in (FLUSHED_ALONE, FLUSHED_TOGETHER):
        produced = load_program.produce_together(broker.port, TOPIC, case)
        figures[figure_name(case, measurement.REQUESTS_PER_S)] = produced.requests_per_s
        figures[figure_name(case, measurement.P50_US)] = produced.p50_us
        figures[figure_name(case, measurement.P99_US)] = produced.p99_us
    return figures


def _bare_flush_us() -> float:
    """Return the median time of a write and fdatasync without a broker."""
    taken: list[float] = []
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(FLUSHED_ALONE.requests):
            start = time.perf_counter()
            file.write(bytes(160))
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - start)
    return sorted(taken)[len(taken) // 2] * 1e6


def recovery(round_count: int) -> Results:
    """Measure the start-up time with a log to recover, minus that with an empty one."""
    figures: Figures = {}
    for case in RECOVERED:
        with _folder() as folder:
            with running_in(folder, ON_DISK) as broker:
                # Compiles the bytecode.
                load_program.produce(broker.port, "warm-up", measurement.WARM_UP)
            with running_in(folder, ON_DISK) as broker:
                empty_ms = broker.cold_start_ms
                produced = load_program.produce(broker.port, TOPIC, case)
                _kill(broker)
            with running_in(folder, ON_DISK) as broker:
                seconds = (broker.cold_start_ms - empty_ms) / 1000
            gigabytes = produced.mb / MB_OF_GB
            figures[f"{case.name}: s/GB"] = seconds / gigabytes
            figures[f"{case.name}: us a batch"] = seconds / case.requests * 1e6
    return {FAUXKA_ON_DISK: figures}


def large_log(round_count: int) -> Results:
    """Measure shutdown, start-up and fetch with 5 GB."""
    figures: Figures = {}
    with _folder() as folder:
        with running_in(folder, ON_DISK) as broker:
            for _ in range(GIGABYTES):
                load_program.produce(broker.port, TOPIC, GIGABYTE)
            figures["peak MiB while 5 GB are produced"] = peak_memory_mib(broker.process_id)
            end = time.perf_counter()
        figures["clean stop with 5 GB, s"] = time.perf_counter() - end
        with running_in(folder, ON_DISK) as broker:
            figures[goals.LARGE_START_MS] = broker.cold_start_ms
            end_offset = GIGABYTES * GIGABYTE.requests * GIGABYTE.content.records
            figures["fetch 5 GB, MB/s"] = load_program.fetch_mb_per_s(broker.port, TOPIC, end_offset, seconds=0)
            figures[goals.LARGE_PEAK_MIB] = peak_memory_mib(broker.process_id)
            _kill(broker)
        with running_in(folder, ON_DISK) as broker:
            figures["start on 5 GB after SIGKILL, flushed before: ms"] = broker.cold_start_ms
    return {FAUXKA_ON_DISK: figures}


def partitions(round_count: int) -> Results:
    """Measure start-up and shutdown with 10,000 partitions of one batch each."""
    figures: Figures = {}
    name = f"{PARTITIONS:,} partitions"
    seeded = Target(FAUXKA_ON_DISK, fauxka_on_disk("--seed-topic", f"{TOPIC}:{PARTITIONS}"))
    with _folder() as folder:
        with running_in(folder, seeded) as broker:
            figures[f"{name}: create, ms"] = broker.cold_start_ms
            many_partitions.produce_to_each(broker.port, TOPIC, PARTITIONS)
            _kill(broker)
        with running_in(folder, ON_DISK) as broker:
            figures[f"{name}: start after SIGKILL, ms"] = broker.cold_start_ms
            end = time.perf_counter()
        figures[f"{name}: clean stop, s"] = time.perf_counter() - end
        with running_in(folder, ON_DISK) as broker:
            figures[f"{name}: start after a clean stop, ms"] = broker.cold_start_ms
            figures[f"{name}: MiB"] = memory_mib(broker.process_id)
    return {FAUXKA_ON_DISK: figures}


def producers(round_count: int) -> Results:
    """Measure the memory and start-up time of many producers on a partition."""
    figures: Figures = {}
    with _folder() as folder:
        with running_in(folder, ON_DISK) as broker:
            load_program.produce(broker.port, TOPIC, measurement.WARM_UP)
            before = memory_mib(broker.process_id)
            load_program.produce(broker.port, TOPIC, MILLION_PRODUCERS)
            figures[goals.PRODUCERS_MIB] = memory_mib(broker.process_id)
            grown = figures[goals.PRODUCERS_MIB] - before
            figures["bytes a producer, one batch remembered"] = grown * BYTES_OF_MIB / MILLION_PRODUCERS.producers
            end = time.perf_counter()
        figures["1,000,000 producers: clean stop, s"] = time.perf_counter() - end
        with running_in(folder, ON_DISK) as broker:
            figures["1,000,000 producers: start after a clean stop, ms"] = broker.cold_start_ms
            figures["1,000,000 producers: MiB after that start"] = memory_mib(broker.process_id)
    with running(ON_DISK) as broker:
        load_program.produce(broker.port, TOPIC, measurement.WARM_UP)
        before = memory_mib(broker.process_id)
        load_program.produce(broker.port, TOPIC, BUSY_PRODUCERS)
        grown = memory_mib(broker.process_id) - before
        figures["bytes a producer, five batches remembered"] = grown * BYTES_OF_MIB / BUSY_PRODUCERS.producers
    return {FAUXKA_ON_DISK: figures}


@contextmanager
def _folder() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="fauxka-benchmark-") as folder:
        yield Path(folder)


def _kill(broker: RunningTarget) -> None:
    os.kill(broker.process_id, signal.SIGKILL)


PARTS: dict[str, Callable[[int], Results]] = {
    "throughput": throughput,
    "flushed": flushed,
    "recovery": recovery,
    "large": large_log,
    "partitions": partitions,
    "producers": producers,
}
