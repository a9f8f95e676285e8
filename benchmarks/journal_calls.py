"""The cost of the journal per request, measured without a broker.

    python -m benchmarks.journal_calls

Rounds with and without the journal alternate; the result is the median of the differences. The ring is full and the
decisions are new objects, as in a broker, because most of the cost is memory that is not in the processor cache.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time_ns

from fauxka.faults.journal.journal import REQUESTS_MAX_DEFAULT, Journal
from fauxka.faults.journal.journal_record import PENDING, RESPONDED
from fauxka.protocol.batches.record_batch import BatchHeader
from fauxka.protocol.error_codes import KafkaError
from fauxka.storage.append_result import AppendResult
from fauxka.storage.producers.producer_state_entry import CachedBatch

from .goals import verdict_text

ROUNDS = 9
REQUESTS = 50_000
# 5 % of the CPU time of a small request (docs/performance.md).
HANDLED_US_MAX = 1.5


@dataclass(slots=True)
class Peer:
    """A connection."""

    connection_id: int = 1
    node_id: int = 1
    listener_name: str = "PLAINTEXT"
    client_host: str = "127.0.0.1"
    client_software: str = "librdkafka 2.14"
    mechanism: str | None = None
    principal: str = "User:ANONYMOUS"
    is_closed_by_client: bool = False


@dataclass(slots=True)
class Request:
    """A request with the fields that the journal reads."""

    connection: Peer = field(default_factory=Peer)
    client_id: str | None = "benchmark"
    kept_client_id: str | None = "benchmark"
    api_key: int = 0
    api_version: int = 9
    correlation_id: int = 0
    now_ms: int = 0
    error_code: int = 0
    kept_body: bytes | None = None
    kept_response: object = None
    arrived_ns: int = 0
    took_ns: int = 0
    batches: list[tuple[str, int, AppendResult | KafkaError]] | None = None


def produce(journal: Journal | None) -> None:
    """Record Produce requests with one decision each."""
    request = Request()
    cached: tuple[CachedBatch, ...] = ()
    for number in range(1000, 1000 + REQUESTS):
        header = BatchHeader((0, 149, 0, 2, 123456789 + number, 0, 0, number, number, 4000, 0, number, 1))
        cached = (*cached[-4:], CachedBatch(number, number, number, number, number))
        request.batches = [("orders", 0, AppendResult((number, number), -1, 0, header, cached))]
        if journal is not None:
            journal.handled(request, 230, RESPONDED)


def poll(journal: Journal | None) -> None:
    """Record Fetch requests that wait before their response."""
    request = Request(api_key=1)
    for _ in range(REQUESTS):
        if journal is not None:
            journal.answered(journal.handled(request, 80, PENDING))


def added_us(run: Callable[[Journal | None], None]) -> float:
    """Return the median time that the journal adds to a request."""
    journal = Journal(REQUESTS_MAX_DEFAULT)
    run(journal)
    differences: list[float] = []
    for _ in range(ROUNDS):
        start = process_time_ns()
        run(None)
        middle = process_time_ns()
        run(journal)
        differences.append((process_time_ns() - middle - (middle - start)) / REQUESTS / 1000)
    return statistics.median(differences)


def main() -> None:
    """Measure and print."""
    produce_us = added_us(produce)
    verdict = verdict_text(produce_us <= HANDLED_US_MAX)
    print(f"the journal adds {produce_us:.2f} us to a Produce (goal: at most {HANDLED_US_MAX} us): {verdict}")
    print(f"and {added_us(poll):.2f} us to a Fetch that waits")


if __name__ == "__main__":
    main()
