"""The operations of AsyncBroker that wait: on the event loop of the test, which they never hold for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from fauxka.admin.errors import CallError
from fauxka.broker.replica import record_reader
from fauxka.protocol.batches.compression import compress
from fauxka.protocol.batches.record_batch import Compression
from fauxka.testing import AsyncBroker, SeedFields

from ..broker.loop_pauses import PAUSE_SECONDS_MAX, LoopPauses, measured_loop
from ..broker.transactional_client import SECONDS_MAX, TransactionalClient
from ..protocol.batch_bytes import batch, records


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[AsyncBroker]:
    async with AsyncBroker() as running:
        yield running


@pytest.mark.asyncio
async def test_topics_are_created_seeded_read_and_deleted(broker: AsyncBroker) -> None:
    created = await broker.topics.create("orders", partitions=2)
    places = await broker.topics.seed("orders", [{"value": "a"}, {"value": "b"}])

    found = await broker.records("orders", 1)
    deleted = await broker.topics.delete("orders")

    assert (created.name, [place.partition for place in places]) == ("orders", [0, 1])
    assert [each.value for each in found] == [b"b"]
    assert (deleted.name, await broker.topics.list()) == ("orders", [])


@pytest.mark.asyncio
async def test_export_reads_over_the_loop_that_awaits_it(broker: AsyncBroker, tmp_path: Path) -> None:
    await broker.topics.create("orders")

    exported = await broker.export(tmp_path / "kafka")

    assert exported.dir == str(tmp_path / "kafka")


@pytest.mark.asyncio
async def test_deletion_of_a_transactional_id_ends_with_a_crash(tmp_path: Path) -> None:
    async with AsyncBroker({"log.flush.interval.messages": "1"}, data_dir=tmp_path) as broker:
        await broker.topics.create("events", partitions=1)
        await asyncio.to_thread(open_transaction, broker.bootstrap_servers)
        await broker.files.add(action="slow", ms=500, operation="fsync", file_kind="log")

        deleted = asyncio.create_task(broker.transactions.delete("tx"))
        # One turn of the loop, in which the abort is appended.
        await asyncio.sleep(0)
        await broker.crash()

        with pytest.raises(CallError, match="the node has crashed"):
            await asyncio.wait_for(deleted, SECONDS_MAX)


def open_transaction(bootstrap_servers: str) -> None:
    with TransactionalClient(bootstrap_servers) as client:
        client.find_coordinator()
        producer = client.init()
        client.add((producer.producer_id, producer.producer_epoch))


@pytest.mark.asyncio
async def test_unknown_transactional_id_and_topic_are_errors(broker: AsyncBroker) -> None:
    with pytest.raises(CallError, match="there is no transaction"):
        await broker.transactions.delete("transfers")
    with pytest.raises(CallError, match="there is no topic"):
        await broker.records("orders")


@pytest.mark.asyncio
async def test_read_that_a_crash_interrupts_is_an_error(broker: AsyncBroker) -> None:
    await broker.topics.create("orders")
    await broker.topics.seed("orders", [{"value": "a"}])
    reading = asyncio.create_task(broker.records("orders"))
    await asyncio.sleep(0)

    await broker.crash()

    with pytest.raises(CallError, match="the node has crashed, was reset, or failed"):
        await reading


@pytest.mark.asyncio
async def test_read_of_a_topic_that_is_deleted_meanwhile_is_an_error(broker: AsyncBroker) -> None:
    await broker.topics.create("orders")
    await broker.topics.seed("orders", [{"value": "a"}])
    reading = asyncio.create_task(broker.records("orders"))
    await asyncio.sleep(0)

    await broker.topics.delete("orders")

    with pytest.raises(CallError, match="the topic orders was deleted"):
        await reading


def append(broker: AsyncBroker, data: bytes) -> None:
    """Append a batch, in a thread, while no request uses the partition."""
    partition = broker.cluster.node.replicas.partition_of("long", 0)
    now_ms = broker.cluster.clock.now_ms()
    validated = partition.log.validate_in_thread(memoryview(data), now_ms, lambda: None)
    partition.append(memoryview(data), now_ms, validated)


@pytest.mark.pauses
@pytest.mark.parametrize(
    ("value_bytes", "count", "from_offset", "returned"),
    [
        pytest.param(None, 300_000, 299_990, 10, id="the end of a long batch"),
        pytest.param(record_reader.RECORD_BYTES_MAX, 1, 0, 1, id="a large record"),
        pytest.param(1, 50_000, 0, 50_000, id="many records"),
    ],
)
def test_long_read_does_not_hold_the_event_loop(
    value_bytes: int | None, count: int, from_offset: int, returned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    payload = records(count, None if value_bytes is None else bytes(value_bytes))
    data = batch(compress(Compression.ZSTD, payload), attributes=Compression.ZSTD, count=count)

    async def read(pauses: LoopPauses) -> int:
        async with AsyncBroker() as broker:
            await broker.topics.create("long", partitions=1)
            await asyncio.to_thread(append, broker, data)
            pauses.longest = 0.0
            return len(await broker.records("long", from_offset=from_offset))

    with measured_loop(monkeypatch) as (loop, pauses):
        found = loop.run_until_complete(read(pauses))
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    assert found == returned
    assert pauses.longest < PAUSE_SECONDS_MAX


@pytest.mark.pauses
def test_long_seed_does_not_hold_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[SeedFields] = [{"key": f"{number}"} for number in range(10_000)]

    async def seed(pauses: LoopPauses) -> int:
        async with AsyncBroker() as broker:
            await broker.topics.create("long", partitions=1000)
            call = broker.topics.seed("long", given)
            pauses.longest = 0.0
            return len(await call)

    with measured_loop(monkeypatch) as (loop, pauses):
        found = loop.run_until_complete(seed(pauses))
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    assert found == 10_000
    assert pauses.longest < PAUSE_SECONDS_MAX
