"""Measures one running broker; the result is figures by name."""

import statistics
from dataclasses import replace
from typing import TypeAlias

from fauxka.protocol.batches.record_batch import Compression

from . import load_program
from .batch_content import BatchContent
from .load_program import Case
from .process_tree import cpu_seconds, memory_mib
from .targets import RunningTarget

Figures: TypeAlias = dict[str, float]

SMALL, MIDDLE, LARGE = BatchContent(1), BatchContent(150), BatchContent(8_200)
SMALL_ALONE = Case("160 B, one at a time", 20_000, SMALL, in_flight=1)
SMALL_PIPELINED = Case("160 B, pipelined (5)", 30_000, SMALL, in_flight=5)
MIDDLE_ALONE = Case("16 KB, one at a time", 3_000, MIDDLE, in_flight=1)
MIDDLE_PIPELINED = Case("16 KB, pipelined (5)", 6_000, MIDDLE, in_flight=5)
LARGE_ALONE = Case("900 KB, one at a time", 100, LARGE, in_flight=1)
LARGE_PIPELINED = Case("900 KB, pipelined (5)", 300, LARGE, in_flight=5)
MIDDLE_UNIFORM = Case("16 KB of uniform records, pipelined (5)", 6_000, BatchContent(160, is_uniform=True), in_flight=5)
LARGE_UNIFORM = Case("900 KB of uniform records, pipelined (5)", 300, BatchContent(9_000, is_uniform=True), in_flight=5)
COMPRESSED = tuple(
    Case(f"16 KB in {codec.name.lower()}, pipelined (5)", 3_000, replace(MIDDLE, compression=codec), in_flight=5)
    for codec in Compression
    if codec
)
# In the order of the run for which the goals were set: a real Kafka becomes faster with each case.
CASES = (
    SMALL_ALONE,
    SMALL_PIPELINED,
    MIDDLE_PIPELINED,
    LARGE_PIPELINED,
    MIDDLE_ALONE,
    LARGE_ALONE,
    *COMPRESSED,
    MIDDLE_UNIFORM,
    LARGE_UNIFORM,
)
# Enough for the just-in-time compiler of a real Kafka, and for the first allocations of fauxka.
WARM_UP = Case("warm-up", 2_000, BatchContent(10), in_flight=5)
# The cases that are fetched repeatedly, because the small batches are only a few MB, and for how long.
CASES_READ_AGAIN = (SMALL_PIPELINED, MIDDLE_PIPELINED, LARGE_PIPELINED)
FETCH_AGAIN_SECONDS = 0.5

REQUESTS_PER_S = "requests/s"
MB_PER_S = "MB/s"
P50_US = "p50 us"
P99_US = "p99 us"
CPU_US = "server CPU us a request"
FETCH_MB_PER_S = "fetch MB/s"
FETCH_AGAIN_MB_PER_S = "fetch again and again, MB/s"
COLD_START_MS = "cold start ms"
IDLE_MIB = "idle MiB"
LOADED_MIB = "loaded MiB"
ABOVE_STORED_MIB = "loaded minus stored MiB"


def figure_name(case: Case, quantity: str) -> str:
    """Return the name of a case's figure."""
    return f"{case.name}: {quantity}"


def measure(target: RunningTarget) -> Figures:
    """Measure a broker that has just started. Raises LoadError if the load fails."""
    figures = {COLD_START_MS: target.cold_start_ms, IDLE_MIB: memory_mib(target.process_id)}
    stored_mb = produce_case(target, WARM_UP, figures={})
    for case in CASES:
        stored_mb += produce_case(target, case, figures)
        figures[figure_name(case, FETCH_MB_PER_S)] = fetch_case(target, case, seconds=0)
    for case in CASES_READ_AGAIN:
        figures[figure_name(case, FETCH_AGAIN_MB_PER_S)] = fetch_case(target, case, FETCH_AGAIN_SECONDS)
    figures[LOADED_MIB] = memory_mib(target.process_id)
    figures[ABOVE_STORED_MIB] = figures[LOADED_MIB] - stored_mb * 1e6 / 1024 / 1024
    return figures


def fetch_case(target: RunningTarget, case: Case, seconds: float) -> float:
    """Return the MB/s of fetching the records of a case repeatedly for some seconds, or once for 0."""
    return load_program.fetch_mb_per_s(target.port, topic_of(case), case.requests * case.content.records, seconds)


def topic_of(case: Case) -> str:
    """Return the name of a topic for the batches of a case."""
    return "".join(character if character.isalnum() else "-" for character in case.name)


def produce_case(target: RunningTarget, case: Case, figures: Figures) -> float:
    """Produce a case, add its figures, and return the produced MB."""
    cpu_before = cpu_seconds(target.process_id)
    produced = load_program.produce(target.port, topic_of(case), case)
    cpu = cpu_seconds(target.process_id) - cpu_before
    figures[figure_name(case, REQUESTS_PER_S)] = produced.requests_per_s
    figures[figure_name(case, MB_PER_S)] = produced.mb_per_s
    figures[figure_name(case, P50_US)] = produced.p50_us
    figures[figure_name(case, P99_US)] = produced.p99_us
    figures[figure_name(case, CPU_US)] = cpu / case.requests * 1e6
    return produced.mb


def medians(rounds: list[Figures]) -> Figures:
    """Return each figure's median over the rounds that have it."""
    names = dict.fromkeys(name for figures in rounds for name in figures)
    return {name: statistics.median([figures[name] for figures in rounds if name in figures]) for name in names}
