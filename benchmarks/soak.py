"""Resident memory under a long load with retention: `python -m benchmarks --soak SECONDS [CASE ...]`.

Each case is a producer with a connection and a topic of its own. All of them send as fast as they can for the whole
time. Retention deletes old segments. How far behind it is depends on the load of the machine, so the bytes in the logs
are measured too: what resident memory has beyond them must not grow. Medians are compared, because segments may be
deleted between the two readings of a sample.
"""

from __future__ import annotations

import os
import time
from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from statistics import median

from fauxka.client.broker_connection import BrokerConnection
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse

from . import report
from .load_program import Case, sustained
from .measurement import LARGE_PIPELINED, MB_PER_S, MIDDLE_PIPELINED, SMALL_PIPELINED, Figures, figure_name
from .process_tree import resident_mib
from .targets import FAUXKA, RunningTarget, Target, fauxka, running

PARTS: Mapping[str, Case] = {"small": SMALL_PIPELINED, "middle": MIDDLE_PIPELINED, "large": LARGE_PIPELINED}

MIB = 1024 * 1024
# retention.bytes and segment.bytes of each topic.
RETENTION_MIB, SEGMENT_MIB = 64, 16
# Kafka's default of five minutes would let the logs grow by hundreds of gigabytes.
RETENTION_INTERVAL_MS = 200
SETTINGS = (
    f"log.retention.bytes={RETENTION_MIB * MIB}",
    f"log.segment.bytes={SEGMENT_MIB * MIB}",
    f"log.retention.check.interval.ms={RETENTION_INTERVAL_MS}",
)
SAMPLE_SECONDS = 1.0
# A shorter run has no sample in the second half of its settling time.
SECONDS_MIN = 15
# A row of the table has the largest of its samples.
SAMPLES_OF_A_ROW = 15
# Memory may grow in the first two minutes, or in the first fifth of a shorter run.
SETTLING_SECONDS_MAX, SETTLING_SHARE = 120.0, 0.2
# The last part of a run, which is compared with the second half of the settling time.
FINAL_SHARE = 0.2
# How much resident memory beyond the logs may grow, as a share of the resident memory.
GROWTH_SHARE_MAX = 0.1

START_MIB, GROWTH = "resident MiB at the start", "growth of resident memory beyond the logs"
DESCRIBE_LOG_DIRS_VERSION = 4
RESPONSE_SECONDS_MAX = 60.0
RESPONSE_BYTES_MAX = MIB


@dataclass(frozen=True, slots=True)
class Sample:
    """Seconds since the load began, the broker's resident memory, and the bytes of all batches in the logs."""

    seconds: float
    resident_mib: float
    logs_mib: float

    @property
    def beyond_logs_mib(self) -> float:
        """Resident memory without the bytes in the logs."""
        return self.resident_mib - self.logs_mib


def seconds_of_run(text: str) -> int:
    """Return the seconds of an argument. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < SECONDS_MIN:
        raise ArgumentTypeError(f"expected at least {SECONDS_MIN} seconds, got {text!r}")
    return int(text)


def main(seconds: int, names: Sequence[str]) -> dict[str, Figures]:
    """Run the named cases, or all, for some seconds; print the table and the verdict, and return the figures."""
    cases = [PARTS[name] for name in names or PARTS]
    print(f"{report.machine()}; load before the run {os.getloadavg()[0]:.1f}")
    print(f"{', '.join(case.name for case in cases)}; {', '.join(SETTINGS)}", flush=True)
    with running(Target(FAUXKA, fauxka(*SETTINGS))) as broker:
        figures, samples = measure(broker, cases, seconds)
    print(*(f"{name}: {value:,.1f}" for name, value in figures.items()), sep="\n")
    growth = growth_share(samples, settling_seconds(seconds))
    verdict = "flat" if growth <= GROWTH_SHARE_MAX else "NOT FLAT"
    print(f"{verdict}: beyond the logs {growth:+.0%} of resident memory; flat is {GROWTH_SHARE_MAX:+.0%} at most")
    return {FAUXKA: {**figures, GROWTH: growth}}


def measure(broker: RunningTarget, cases: Sequence[Case], seconds: int) -> tuple[Figures, list[Sample]]:
    """Run the load and return its rates, and the samples of the whole time. Raises LoadError."""
    figures: Figures = {START_MIB: resident_mib(broker.process_id)}
    samples: list[Sample] = []
    with ExitStack() as stack:
        loads = [
            stack.enter_context(sustained(broker.port, f"soak-{case.content.records}", case, seconds)) for case in cases
        ]
        print(f"{'seconds':>8} {'resident MiB':>13} {'logs MiB':>9} {'beyond':>9}")
        for sample in take_samples(broker, seconds):
            samples.append(sample)
            if len(samples) % SAMPLES_OF_A_ROW == 0:
                _print_row(samples[-SAMPLES_OF_A_ROW:])
        for case, load in zip(cases, loads, strict=True):
            figures[figure_name(case, MB_PER_S)] = load.wait().mb_per_s
    return figures, samples


def take_samples(broker: RunningTarget, seconds: int) -> Iterator[Sample]:
    """Yield a sample every SAMPLE_SECONDS."""
    start = time.monotonic()
    connection = BrokerConnection(
        "127.0.0.1", broker.port, timeout_seconds=RESPONSE_SECONDS_MAX, response_bytes_max=RESPONSE_BYTES_MAX
    )
    with closing(connection):
        for number in range(1, int(seconds / SAMPLE_SECONDS) + 1):
            time.sleep(max(0.0, start + number * SAMPLE_SECONDS - time.monotonic()))
            logs_mib = _logs_mib(connection)
            yield Sample(time.monotonic() - start, resident_mib(broker.process_id), logs_mib)


def _logs_mib(connection: BrokerConnection) -> float:
    request = DescribeLogDirsRequest(topics=None)
    response = connection.send_request(
        ApiKey.DESCRIBE_LOG_DIRS, DESCRIBE_LOG_DIRS_VERSION, request, DescribeLogDirsResponse.read
    )
    topics = [topic for folder in response.results for topic in folder.topics]
    return sum(partition.partition_size for topic in topics for partition in topic.partitions) / MIB


def _print_row(samples: Sequence[Sample]) -> None:
    """Print the largest numbers of some samples."""
    resident = max(sample.resident_mib for sample in samples)
    logs = max(sample.logs_mib for sample in samples)
    beyond = max(sample.beyond_logs_mib for sample in samples)
    print(f"{samples[-1].seconds:8.0f} {resident:13.0f} {logs:9.0f} {beyond:9.0f}", flush=True)


def settling_seconds(seconds: float) -> float:
    """Return how long memory may grow in a run of some seconds."""
    return min(SETTLING_SECONDS_MAX, seconds * SETTLING_SHARE)


def growth_share(samples: Sequence[Sample], settling: float) -> float:
    """Return the growth beyond the logs from the settling time to the end, as a share of the resident memory before."""
    settled = [sample for sample in samples if settling / 2 <= sample.seconds <= settling]
    final = samples[-max(1, int(len(samples) * FINAL_SHARE)) :]
    growth_mib = median(sample.beyond_logs_mib for sample in final) - median(
        sample.beyond_logs_mib for sample in settled
    )
    return growth_mib / median(sample.resident_mib for sample in settled)
