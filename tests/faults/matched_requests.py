"""Requests with real batches, for tests of matching."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fauxka.faults.record_damage import FetchedRecords
from fauxka.protocol.batches.record_batch import Compression, parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.request_facts import BatchFacts, RequestFacts


@dataclass
class Connection:
    node_id: int = 1
    listener_name: str = "PLAINTEXT"
    connection_id: int = 1
    client_host: str = "127.0.0.1"
    client_software: str = ""
    mechanism: str | None = None
    principal: str = "User:ANONYMOUS"
    is_closed_by_client: bool = False


@dataclass
class Request:
    """facts_in_body: the content of the body. times_read: how often the body was decoded."""

    connection: Connection = field(default_factory=Connection)
    client_id: str | None = "client"
    api_name: str = "Produce"
    api_version: int = 9
    mechanism: str | None = None
    principal: str = "User:ANONYMOUS"
    facts_in_body: RequestFacts = field(default_factory=RequestFacts)
    times_read: int = 0
    is_long: bool = False
    matched_ahead: dict[object, object] = field(default_factory=dict[object, object])
    fetched: Sequence[FetchedRecords] = ()

    @property
    def facts(self) -> RequestFacts:
        self.times_read += 1
        return self.facts_in_body


def batch_facts(
    topic: str = "orders",
    partition: int = 0,
    *,
    records: list[Record] | None = None,
    producer_id: int = 7,
    producer_epoch: int = 0,
    base_sequence: int = 0,
    compression: Compression = Compression.NONE,
) -> BatchFacts:
    """Build a batch, of one record by default, and return its facts."""
    options = BatchOptions(producer_id, producer_epoch, base_sequence, compression)
    data = build_batch(records or [Record(b"value")], options)
    header = parse_header(data)
    return BatchFacts(
        topic,
        partition,
        producer_id,
        producer_epoch,
        base_sequence,
        header.last_sequence,
        header.records_count,
        memoryview(data),
    )


def produce(*batches: BatchFacts, transactional_id: str | None = None, client_id: str | None = "client") -> Request:
    """Return a Produce request with these batches."""
    pairs = [(batch.topic, batch.partition) for batch in batches]
    facts = RequestFacts(
        tuple(dict.fromkeys(topic for topic, _ in pairs)),
        tuple(dict.fromkeys(pairs)),
        transactional_id,
        batches=list(batches),
    )
    return Request(facts_in_body=facts, client_id=client_id)


def naming(api_name: str, facts: RequestFacts) -> Request:
    """Return a request of another API with these fields."""
    return Request(api_name=api_name, facts_in_body=facts)
