"""A search of the journal delays no client, also that of a request of many batches."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import cast

import pytest

from fauxka.admin.control import Control
from fauxka.admin.methods.journal import BrokerJournal
from fauxka.admin.operations.journal_operations import (
    JournalFilter,
    JournalQuery,
    count_journal,
    read_journal,
    stream_journal,
)
from fauxka.faults.journal.journal import Journal
from fauxka.faults.journal.journal_record import RESPONDED
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.append_result import AppendResult

from ..broker.loop_pauses import PAUSE_SECONDS_MAX, measured_loop
from ..broker.running_node import Node
from ..faults.journal_scene import TOPIC, FakeRequest

PARTITIONS = 100_000
# Requests of one batch that take as long together as that of many.
REQUESTS = 50_000


def control_of(*requests: FakeRequest) -> Control:
    journal = Journal(len(requests))
    for request in requests:
        journal.handled(request, request.size, RESPONDED)
    return cast(Control, SimpleNamespace(journal=journal))


@pytest.fixture(scope="module", params=["one request", "many requests"])
def control(request: pytest.FixtureRequest) -> Control:
    refused = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no such partition")
    batches: list[tuple[str, int, AppendResult | KafkaError]] = [
        (TOPIC, partition, refused) for partition in range(PARTITIONS)
    ]
    if request.param == "one request":
        return control_of(FakeRequest(batches=batches))
    return control_of(*(FakeRequest(batches=batches[:1]) for _ in range(REQUESTS)), FakeRequest(batches=batches[-1:]))


async def count(control: Control) -> int:
    query = JournalFilter(topic=TOPIC, partition=PARTITIONS - 1)
    return (await count_journal(control, query)).count


async def read(control: Control) -> int:
    query = JournalQuery(topic=TOPIC, partition=PARTITIONS - 1)
    return len((await read_journal(control, query)).items)


async def stream(control: Control) -> int:
    query = JournalQuery(topic=TOPIC, partition=PARTITIONS - 1)
    pieces = cast(AsyncGenerator[bytes], stream_journal(control, query))
    return sum([piece.count(b'"api"') async for piece in pieces])


@pytest.mark.pauses
@pytest.mark.parametrize("search", [count, read, stream])
def test_search_of_the_journal_does_not_hold_the_event_loop(
    search: Callable[[Control], Awaitable[int]], control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    with measured_loop(monkeypatch) as (loop, pauses), Node(loop=loop) as node:
        pauses.longest = 0.0

        found = node.run(lambda: search(control))

        assert found == 1
        assert pauses.longest < PAUSE_SECONDS_MAX


@pytest.mark.pauses
def test_count_of_a_test_does_not_hold_the_event_loop(control: Control, monkeypatch: pytest.MonkeyPatch) -> None:
    with measured_loop(monkeypatch) as (loop, pauses), Node(loop=loop) as node:

        def send(operation: Callable[..., object], arguments: Mapping[str, object], /) -> object:
            return node.run(lambda: cast("Awaitable[object]", operation(control, **arguments)))

        pauses.longest = 0.0

        found = BrokerJournal(send).count(topic=TOPIC, partition=PARTITIONS - 1)

        assert found == 1
        assert pauses.longest < PAUSE_SECONDS_MAX
