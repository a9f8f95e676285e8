"""Benchmarks of a broker in a test: start and reset: `python -m benchmarks --fixture`."""

import json
import statistics
import subprocess
import sys
import time

from fauxka.testing import Broker

from . import goals, report
from .many_partitions import produce_to_each
from .measurement import Figures
from .targets import CHECKOUT, FAUXKA, bytecode_environment

STARTS_PER_ROUND = 5
RESETS_PER_ROUND = 20
PARTITIONS = 100
TOPIC = "load"


def main(round_count: int) -> dict[str, Figures]:
    """Measure, and print the table and the goals."""
    print(report.machine())
    results = {FAUXKA: {**starts(round_count * STARTS_PER_ROUND), **resets(round_count * RESETS_PER_ROUND)}}
    print(report.table(results), report.checklist(results, goals.FIXTURE_GOALS), sep="\n\n")
    return results


def starts(count: int) -> Figures:
    """Return the medians over count processes; one before them, not counted, compiles the bytecode."""
    _first_start()
    started = [_first_start() for _ in range(count)]
    return {
        "import fauxka.testing, ms": statistics.median(each["import_ms"] for each in started),
        goals.READY_MS: statistics.median(each["ready_ms"] for each in started),
    }


def _first_start() -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.ready_broker"]
    output = subprocess.check_output(command, cwd=CHECKOUT, env=bytecode_environment())
    figures: dict[str, float] = json.loads(output)
    return figures


def resets(count: int) -> Figures:
    """Return the medians of resets of one broker, after a small test and after a large one."""
    with Broker({"num.partitions": str(PARTITIONS)}) as broker:
        return {
            "reset of an empty broker, ms": _reset_ms(broker, count, partition_count=0),
            goals.RESET_MS: _reset_ms(broker, count, partition_count=1),
            goals.RESET_MANY_MS: _reset_ms(broker, count, partition_count=PARTITIONS),
        }


def _reset_ms(broker: Broker, count: int, partition_count: int) -> float:
    """Return the median of resets, each after one batch in each of partition_count partitions."""
    took: list[float] = []
    port = int(broker.bootstrap_servers.rpartition(":")[2])
    for _ in range(count):
        if partition_count:
            broker.call(lambda: broker.cluster.controller.create_topic(TOPIC, partition_count))
            produce_to_each(port, TOPIC, partition_count)
        start = time.perf_counter()
        broker.reset()
        took.append((time.perf_counter() - start) * 1000)
    return statistics.median(took)
