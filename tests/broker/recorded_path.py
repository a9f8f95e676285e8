"""Records what a node does with the bytes of a connection, to compare compiled modules with their sources."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.dispatch.dispatch import Dispatcher
from fauxka.broker.network.busy_poll import BusyPoll
from fauxka.broker.network.connection import Connection
from fauxka.broker.network.connection_turns import ConnectionTurns
from fauxka.broker.network.listeners import Listener
from fauxka.broker.network.receive_buffers import ReceiveBuffers
from fauxka.broker.network.shared_parts import SharedParts
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.faults.journal.journal import Journal
from fauxka.protocol.compared_fields import ComparedFields
from fauxka.storage.append_decision import describe_decision

from .kept_transport import KeptTransport

NOW_MS = 1_700_000_000_000
TOPIC = "events"
FRAME_BYTES_MAX = 1_000_000


def record_path(reads: Sequence[str]) -> list[Any]:
    """Return the responses to the reads, the journal, the batches in the logs and the producers, as JSON has them.

    reads: what the connection reads at once, in hexadecimal.
    """
    scheduled: list[Callable[[], None]] = []
    journal = Journal(1000)
    cluster = Cluster(BrokerConfig.from_entries({}), clock=AdjustableClock(NOW_MS))
    cluster.controller.create_topic(TOPIC, 2)
    turns = ConnectionTurns(scheduled.append, slice_ns=10**15)
    shared = SharedParts(
        Dispatcher(observer=cast(Any, journal)), BusyPoll(0, 1, turns.writes), ReceiveBuffers(), turns, ignore
    )
    info = ConnectionInfo(1, Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092))
    connection = Connection(shared, RequestContext(cluster.node, info), frame_bytes_max=FRAME_BYTES_MAX)
    transport = KeptTransport()
    connection.connection_made(transport)
    for read in reads:
        data = bytes.fromhex(read)
        room = connection.get_buffer(-1)
        room[: len(data)] = data
        connection.buffer_updated(len(data))
        while scheduled:
            scheduled.pop(0)()
        if transport.closed:
            break
    rows: list[Any] = [transport.written.hex(), transport.closed]
    for request_id, row in journal.records():
        decided = [
            (topic, index, plain(each), describe_decision(cast(Any, each))) for topic, index, each in row.batches or ()
        ]
        numbers = (row.api_key, row.api_version, row.correlation_id, row.size, row.at_ms, row.error_code, row.state)
        rows.append([request_id, row.client_id, *numbers, decided])
    for partition in cluster.node.replicas.partitions_of(cluster.image.topics[TOPIC]):
        log = partition.find_log()
        if log is not None:
            stored = log.read(0, 10**9, upper_offset=log.log_end_offset, min_one_batch=True)
            producers = [plain(entry) for entry in log.producers.active_producers()]
            rows.append([partition.index, b"".join(stored.views).hex(), log.log_end_offset, producers])
    rows.append([counts_of(journal), connection.last_read_ns > 0])
    return json.loads(json.dumps(rows))  # type: ignore[no-any-return]


def ignore(_connection: object) -> None:
    """Do nothing when a connection is closed."""


def plain(value: object) -> Any:
    """Return a value without classes of the product: each as the list of its fields."""
    if isinstance(value, Exception):
        return [type(value).__name__, str(value)]
    parts = value.fields() if isinstance(value, ComparedFields) else value
    return [plain(part) for part in cast("Iterable[object]", parts)] if isinstance(parts, tuple) else parts


def counts_of(journal: Any) -> list[Any]:
    return [
        [each.partition, each.producer_id, each.appended, each.refused, each.duplicates_recognised, each.first_offset]
        for each in journal.deliveries.counts.of_topic(TOPIC)
    ]
