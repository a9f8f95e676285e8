"""How the cost of a small request grows: `python -m benchmarks --growth [PART ...]`.

connections: idempotent producers, each on a connection and with a partition of its own, and with one request in flight.
partitions, topics: one producer and five requests in flight; the partitions take turns. A real Kafka takes minutes to
create 10,000 of them and is measured with up to 100.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import load_program
from .comparison import compare
from .load_program import Case, Produced
from .measurement import CPU_US, P50_US, P99_US, REQUESTS_PER_S, SMALL, Figures, figure_name
from .process_tree import cpu_seconds
from .targets import KAFKA_NAME, RunningTarget

REQUESTS = 20_000
CONNECTIONS = (1, 4, 16, 64)
COUNTS = (1, 100, 10_000)
KAFKA_COUNT_MAX = 100
# Requests before the measurement: two or more for each partition, which creates its log.
FEW_REQUESTS = 2_000

TOGETHER = tuple(
    Case(f"{count} connections", REQUESTS, SMALL, in_flight=1, producers=count, topics=count) for count in CONNECTIONS
)
SPREAD_PARTITIONS = tuple(
    Case(f"{count:,} partitions", REQUESTS, SMALL, in_flight=5, partitions=count) for count in COUNTS
)
SPREAD_TOPICS = tuple(Case(f"{count:,} topics", REQUESTS, SMALL, in_flight=5, topics=count) for count in COUNTS)
Produce = Callable[[int, str, Case], Produced]
PARTS: dict[str, tuple[Produce, tuple[Case, ...]]] = {
    "connections": (load_program.produce_together, TOGETHER),
    "partitions": (load_program.produce, SPREAD_PARTITIONS),
    "topics": (load_program.produce, SPREAD_TOPICS),
}


def main(names: list[str], round_count: int) -> dict[str, Figures]:
    """Measure the named parts, or all; print and return the medians."""
    return compare(round_count, lambda broker, target_name: _measure(broker, target_name, names or list(PARTS)))


def _measure(broker: RunningTarget, target_name: str, names: list[str]) -> Figures:
    figures: Figures = {}
    for name in names:
        produce, cases = PARTS[name]
        for case in cases:
            targets = case.topics * case.partitions
            if target_name == KAFKA_NAME and targets > KAFKA_COUNT_MAX:
                continue
            topic = f"growth-{name}-{targets}"
            few = replace(case, requests=max(2 * targets, FEW_REQUESTS))
            many = replace(case, requests=few.requests + REQUESTS)
            # The load program asks for each topic first. The difference of two loads excludes that.
            produce(broker.port, topic, few)
            _, cpu_of_few = _produce(broker, topic, few, produce)
            produced, cpu_of_many = _produce(broker, topic, many, produce)
            figures[figure_name(case, REQUESTS_PER_S)] = produced.requests_per_s
            figures[figure_name(case, CPU_US)] = (cpu_of_many - cpu_of_few) / REQUESTS * 1e6
            if case in TOGETHER:
                figures[figure_name(case, P50_US)] = produced.p50_us
                figures[figure_name(case, P99_US)] = produced.p99_us
    return figures


def _produce(broker: RunningTarget, topic: str, case: Case, produce: Produce) -> tuple[Produced, float]:
    """Return the figures of the load program, and the seconds of processor time of the broker."""
    before = cpu_seconds(broker.process_id)
    produced = produce(broker.port, topic, case)
    return produced, cpu_seconds(broker.process_id) - before
