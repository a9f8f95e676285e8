"""AsyncBroker on the event loop of the test."""

import asyncio
import importlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from fauxka.testing import AsyncBroker

# The package has no type hints.
aiokafka = importlib.import_module("aiokafka")

pytestmark = [pytest.mark.clients, pytest.mark.asyncio]


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[AsyncBroker]:
    async with AsyncBroker() as running:
        yield running


async def send(bootstrap: str, value: bytes = b"one coffee", *, is_idempotent: bool = True) -> int:
    async with aiokafka.AIOKafkaProducer(
        bootstrap_servers=bootstrap, enable_idempotence=is_idempotent, acks="all", retry_backoff_ms=10
    ) as producer:
        stored = await producer.send_and_wait("orders", value, key=b"order-1")
    return int(stored.offset)


async def test_a_lost_ack_is_sent_again_and_recognised(broker: AsyncBroker) -> None:
    async with broker.faults.lost_ack(topic="orders") as lost:
        offset = await send(broker.bootstrap_servers)

    assert (offset, await lost.await_hits()) == (0, 1)
    assert (await broker.verdict("orders")).batches.duplicates_recognised == 1


async def test_await_hits_does_not_block_the_broker(broker: AsyncBroker) -> None:
    rule = await broker.faults.observed(api="Produce")
    sending = asyncio.create_task(send(broker.bootstrap_servers))

    assert await rule.await_hits(timeout_ms=20_000) == 1
    await sending


async def test_await_hits_times_out_with_the_near_misses(broker: AsyncBroker) -> None:
    rule = await broker.faults.lost_ack(topic="payments")
    await send(broker.bootstrap_servers)

    with pytest.raises(TimeoutError, match="1 request first differed at topic: orders, not payments"):
        await rule.await_hits(timeout_ms=1)


async def test_released_requests_continue(broker: AsyncBroker) -> None:
    holding = await broker.faults.held(topic="orders")
    sending = asyncio.create_task(send(broker.bootstrap_servers))
    await holding.await_hits(timeout_ms=20_000)

    verdict = await broker.verdict("orders")
    await broker.held.release()

    assert (verdict.records.in_log, await sending) == (0, 0)


async def test_a_crash_and_a_restart_are_on_the_same_loop(broker: AsyncBroker) -> None:
    await send(broker.bootstrap_servers)

    await broker.crash()
    was_running = broker.is_running
    await broker.restart()

    assert (was_running, broker.is_running) == (False, True)
    assert await send(broker.bootstrap_servers) == 1


async def test_two_brokers_share_a_loop(broker: AsyncBroker) -> None:
    async with AsyncBroker() as other:
        await send(broker.bootstrap_servers)

        assert (await broker.journal.count(api="Produce"), await other.journal.count(api="Produce")) == (1, 0)


async def test_key_set_of_a_server_on_the_same_loop_is_there_after_the_start(caplog: pytest.LogCaptureFixture) -> None:
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"keys":[]}')
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        keys = {"sasl.oauthbearer.jwks.endpoint.url": f"http://127.0.0.1:{port}/keys"}
        async with AsyncBroker(keys, security_protocol="SASL_PLAINTEXT", users={"alice": "secret"}):
            fetched = len(requests)

    assert fetched == 1
    assert "cannot be fetched" not in caplog.text
